// SPDX-License-Identifier: BSD-3-Clause
// Pages of channels that are used for the first time. One fault a page costs more than the messages in it,
// on some virtual machines a hundred times as much: a sender has the kernel map those of several slots at
// once. Nothing depends on it.
#ifndef SHOAL_CORE_INBOX_PAGES_H
#define SHOAL_CORE_INBOX_PAGES_H

#include "cpus.h"
#include "inbox.h"
#include "inbox_channel.h"
#include "peers.h"

#include <sys/mman.h>

enum { SLOTS_AT_ONCE = 20, POPULATE_WRITE = 23 }; // MADV_POPULATE_WRITE, of Linux 5.14
enum { SHORT_PART = 7 }; // a ring's short payloads: all at once
_Static_assert(RING_LINES <= SHORT_PART * SLOTS_AT_ONCE, "a bit each in struct peer");

// Where the payloads of n bytes of these slots are.
static NOINLINE void pages_populate(struct channel *c, uint32_t slots, size_t slot, size_t end,
                                    size_t n)
{
    end = end < slots ? end : slots;
    uintptr_t from = (uintptr_t)payload_of(c, slots, slot, n) / page_size() * page_size();
    madvise((void *)from, (uintptr_t)payload_of(c, slots, end, n) - from, POPULATE_WRITE);
}

// Before a payload of n bytes is put in the ring's next slot.
static inline void pages_of_ring(struct peer *peer, size_t n)
{
    bool is_short = n <= LIMIT_AM_SHORT;
    uint32_t part = is_short ? SHORT_PART : peer->slot / SLOTS_AT_ONCE, bit = UINT32_C(1) << part;
    if (likely(peer->populated & bit))
        return;
    peer->populated = (uint8_t)(peer->populated | bit);
    size_t slot = is_short ? 0 : (size_t)part * SLOTS_AT_ONCE;
    pages_populate(peer->ring, RING_LINES, slot, is_short ? RING_LINES : slot + SLOTS_AT_ONCE, n);
}

// Before one is put there, in a slot of a shared channel. The pages are there for all senders then, and the kernel
// maps those around the one that is read.
static inline void pages_of_shared(const struct inbox_room *room, const unsigned char *there,
                                   size_t n)
{
    if (room->ticket < LIMIT_INBOX_SLOTS && room->ticket % SLOTS_AT_ONCE == 0)
        pages_populate(room->channel, LIMIT_INBOX_SLOTS, room->ticket,
                       room->ticket + SLOTS_AT_ONCE, n);
    (void)*(const volatile unsigned char *)there;
}

#endif
