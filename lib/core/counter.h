// SPDX-License-Identifier: BSD-3-Clause
// Counting events: {success, failure}, in shared memory, so that any PE of the node adds to them
// directly. Whoever makes one reach a threshold runs what is armed there (trigger.h).
#ifndef SHOAL_CORE_COUNTER_H
#define SHOAL_CORE_COUNTER_H

#include "slice.h"
#include "trigger.h"

#include <stdbool.h>

static inline struct counter *counter_at(int pe, shoal_ct_t ct)
{
    return &slice_of(pe)->counter[ct];
}

// A number in use at this PE; a peer's counter is only known to be a number that can be.
static inline bool counter_is_number(shoal_ct_t ct)
{
    return ct != SHOAL_CT_NONE && ct < LIMIT_COUNTERS;
}

static inline bool counter_is_own(shoal_ct_t ct)
{
    return counter_is_number(ct) && atomic_load_explicit(&counter_at(world.me, ct)->users,
                                                         memory_order_relaxed);
}

// seq_cst, here and in trigger.c: of "I add, then look for works" and "I announce a work, then look
// at the sum" at least one sees the other.
static inline uint64_t counter_sum(const struct counter *c)
{
    return atomic_load_explicit(&c->success, memory_order_seq_cst) +
           atomic_load_explicit(&c->failure, memory_order_seq_cst);
}

// pe: whose it is.
static inline void counter_changed(struct counter *c, int pe)
{
    if (unlikely(counter_sum(c) >= atomic_load_explicit(&c->next, memory_order_seq_cst)))
        trigger_release(c);
    peer_wake(pe);
}

static inline void counter_add(struct counter *c, int pe, uint64_t success, uint64_t failure)
{
    if (likely(success))
        atomic_fetch_add_explicit(&c->success, success, memory_order_seq_cst);
    if (unlikely(failure))
        atomic_fetch_add_explicit(&c->failure, failure, memory_order_seq_cst);
    counter_changed(c, pe);
}

static inline void counter_set(struct counter *c, int pe, shoal_ct_value_t to)
{
    atomic_store_explicit(&c->failure, to.failure, memory_order_seq_cst);
    atomic_store_explicit(&c->success, to.success, memory_order_seq_cst);
    counter_changed(c, pe);
}

// A free number of this PE; collective over the team: one that is free on every member. 0: none.
// Free again: what is armed on it is cancelled first.
shoal_ct_t counter_alloc(struct shoal_team *team);
void counter_free(struct shoal_team *team, shoal_ct_t ct);
void counter_down(void); // frees those of this PE that the program has left, with what is armed on them

#endif
