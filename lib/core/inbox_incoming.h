// SPDX-License-Identifier: BSD-3-Clause
// A channel as its reader sees it: what the next message is, and how it is taken out. It belongs to the
// thread that polls (inbox_poll.c); others may look whether something is ready.
#ifndef SHOAL_CORE_INBOX_INCOMING_H
#define SHOAL_CORE_INBOX_INCOMING_H

#include "inbox_channel.h"
#include "log.h"
#include "peers.h"
#include "wait.h"

struct incoming {
    struct envelope *_Atomic next; // where message `head` will be; in a ring the one before says it
    _Atomic uint64_t head;         // messages taken out
    uint64_t give_at;              // as many, when slots are returned to the senders
    struct channel *channel;
    uint64_t bit; // of a ring, in the sets of them
    uint32_t slots;
    bool is_used;      // since the last tidying
    struct peer *peer; // of a ring's sender; NULL: of the shared channel
    int sender;
    // The payload after one that was a line: the next is likely to be one, too, and comes while its
    // envelope does. One of several lines would be taken away while it is written.
    const void *ahead;
};

static inline void begin_at(struct incoming *in, uint64_t head, size_t slot)
{
    atomic_store_explicit(&in->head, head, memory_order_relaxed);
    atomic_store_explicit(&in->next, &in->channel->envelope[slot], memory_order_relaxed);
}

static inline size_t shared_slot(uint64_t head)
{
    return head & (LIMIT_INBOX_SLOTS - 1);
}

// To a thread that does not poll, next and head may be of different messages for a moment: then it is
// not.
static inline bool is_ready(const struct incoming *in)
{
    const struct envelope *e = atomic_load_explicit(&in->next, memory_order_relaxed);
    return atomic_load_explicit(&e->turn, memory_order_acquire) ==
           atomic_load_explicit(&in->head, memory_order_relaxed) + 1;
}

// Slots are returned by halves, so that the senders' copy of the count is seldom taken away.
static NOINLINE void give_back(struct incoming *in)
{
    uint64_t head = atomic_load_explicit(&in->head, memory_order_relaxed);
    in->give_at = head + in->slots / 2;
    // Pairs with the acquire loads in is_room and find_claimable.
    atomic_store_explicit(&in->channel->drained, head, memory_order_release);
    bell_check(&in->channel->bell);
}

// Once the message has been copied: its sender may use the slot when it hears of this.
static inline uint32_t count_received(struct peer *peer)
{
    uint32_t number = atomic_load_explicit(&peer->received, memory_order_relaxed) + 1;
    // Pairs with the acquire load in next_in_ring, which tells the sender.
    atomic_store_explicit(&peer->received, number, memory_order_release);
    return number;
}

static inline void check_number(int from, uint32_t seq)
{
    uint32_t number = count_received(peer_of(from));
    if (unlikely(seq != number))
        fatal("message %u from PE %d came as number %u: the inbox is damaged", seq, from, number);
}

// True: slots are to be given back.
static inline bool advance(struct incoming *in, size_t slot)
{
    uint64_t head = atomic_load_explicit(&in->head, memory_order_relaxed) + 1;
    begin_at(in, head, slot);
    return unlikely(head == in->give_at);
}

// Of n bytes.
static inline const unsigned char *next_payload(const struct incoming *in, size_t n)
{
    const struct envelope *next = atomic_load_explicit(&in->next, memory_order_relaxed);
    uint32_t slots = in->peer ? RING_LINES : LIMIT_INBOX_SLOTS;
    return payload_of(in->channel, slots, (size_t)(next - in->channel->envelope), n);
}

// A branch, which the processor foresees: many messages in a row are on their way at once.
static inline size_t slot_after(const struct incoming *in, const struct envelope *e)
{
    if (unlikely(e->jump))
        return e->jump - 1U;
    const struct envelope *at = atomic_load_explicit(&in->next, memory_order_relaxed);
    return (size_t)(at + 1 - in->channel->envelope) & (LIMIT_RING_SLOTS - 1);
}

// A message of a ring has been copied. True, as above.
static inline bool taken_from_ring(struct incoming *in, const struct envelope *e)
{
    struct peer *peer = in->peer;
    // Pairs with the acquire load in choose_next.
    atomic_store_explicit(&peer->taken, e->taken, memory_order_release);
    size_t slot = slot_after(in, e);
    count_received(peer);
    return advance(in, slot);
}

#endif
