// SPDX-License-Identifier: BSD-3-Clause
// What this PE remembers of those it has exchanged messages with: made when they first talk.
#ifndef SHOAL_CORE_PEERS_H
#define SHOAL_CORE_PEERS_H

#include "compiler.h"

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

struct peer {
    _Atomic uint32_t lock; // of all that follows, but received
    uint32_t sent;         // messages to it
    uint64_t ring;         // reference to our channel into it, 0: the shared one
    uint64_t made;         // a ring that is offered: its reference and, in the low bits, its number
    uint64_t ring_bit;     // in its doorbell
    bool asked;            // for a ring
    uint32_t received;     // messages from it; only the thread that polls
};

// Numbers go round, past 0, which means not numbered.
static inline uint32_t number_after(uint32_t n)
{
    return n == UINT32_MAX ? 1 : n + 1;
}

struct peer *peer_of(int pe);
void peers_forget(void); // all of them

void peer_wait(struct peer *p); // until it is locked here

static inline void peer_lock(struct peer *p)
{
    uint32_t is_free = 0;
    if (unlikely(!atomic_compare_exchange_strong_explicit(&p->lock, &is_free, 1,
                                                          memory_order_acquire,
                                                          memory_order_relaxed)))
        peer_wait(p);
}

static inline void peer_unlock(struct peer *p)
{
    atomic_store_explicit(&p->lock, 0, memory_order_release);
}

#endif
