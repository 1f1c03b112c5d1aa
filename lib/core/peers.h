// SPDX-License-Identifier: BSD-3-Clause
// What this PE remembers of those it has exchanged messages with: made when they first talk.
#ifndef SHOAL_CORE_PEERS_H
#define SHOAL_CORE_PEERS_H

#include "world.h"

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

struct channel;
struct peer {
    _Atomic uint32_t lock; // of all that follows, but `received` and `taken`
    uint32_t sent;         // messages to it
    struct channel *ring;  // our channel into it, NULL: the shared one
    uint64_t ticket;       // of the next message in the ring;
    uint64_t claimable;    // those before this have free slots, as far as is known
    uint64_t made;         // a ring that is offered: its reference and, in the low bits, its number
    uint64_t ring_bit;     // in its doorbell
    // Messages from it, and to it that it had taken out; only the thread that polls changes them.
    _Atomic uint32_t received, taken;
    uint16_t slot;     // of the next message in the ring
    uint16_t position; // behind the last slot that was neither of the hot ones
    uint16_t hot;      // the hot slot that was not used last
    bool asked;        // for a ring
    uint8_t populated; // bits of the ring's parts (inbox_pages.h)
};
_Static_assert(sizeof(struct peer) == CACHE_LINE, "a peer is a line");

enum { PEERS_PER_CHUNK = 64 };
struct peer_chunk {
    struct peer peer[PEERS_PER_CHUNK];
};
HIDDEN extern struct peer_chunk *_Atomic *_Atomic peer_chunks;
struct peer *peer_make(int pe); // its chunk, if there is none

static inline struct peer *peer_known(int pe) // NULL: it is not
{
    struct peer_chunk *_Atomic *table = atomic_load_explicit(&peer_chunks, memory_order_acquire);
    struct peer_chunk *chunk = likely(table != NULL)
                                   ? atomic_load_explicit(&table[(size_t)pe / PEERS_PER_CHUNK],
                                                          memory_order_acquire)
                                   : NULL;
    return likely(chunk != NULL) ? &chunk->peer[(size_t)pe % PEERS_PER_CHUNK] : NULL;
}

static inline struct peer *peer_of(int pe)
{
    struct peer *peer = peer_known(pe);
    return likely(peer != NULL) ? peer : peer_make(pe);
}

void peers_forget(void);            // all of them
uint64_t peers_sent_in_rings(void); // messages, to all of them

void peer_wait(struct peer *p); // until it is locked here

static inline void peer_lock(struct peer *p)
{
    uint32_t is_free = 0;
    if (likely(world_has_one_thread()))
        atomic_store_explicit(&p->lock, 1, memory_order_relaxed);
    else if (unlikely(!atomic_compare_exchange_strong_explicit(
                 &p->lock, &is_free, 1, memory_order_acquire, memory_order_relaxed)))
        peer_wait(p);
}

static inline void peer_unlock(struct peer *p)
{
    atomic_store_explicit(&p->lock, 0, memory_order_release);
}

#endif
