// SPDX-License-Identifier: BSD-3-Clause
// Messages that are answered once they have had their effect, and waiting for those sent so far. That
// is not the same as waiting for as many answers: what another thread sends to another PE meanwhile
// may be answered first. So messages belong to one of two phases. Who waits sees three changes of
// phase, each made when nothing of the phase to come is left from its last turn; whatever was sent
// before is answered then, and what is sent meanwhile keeps nobody waiting. Two are too few: who makes the
// second may have looked before this thread's message was counted. (tests/model/answers.c)
//
// In sequentially consistent order, all of it: what is counted is seen by who looks after a later phase.
#ifndef SHOAL_CORE_ANSWERS_H
#define SHOAL_CORE_ANSWERS_H

#include "wait.h"
#include "world.h"

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

struct answers {
    _Atomic uint32_t phase;     // its lowest bit counts
    _Atomic int64_t missing[2]; // in each
};

// Before the message is sent. Returns its phase, 0 or 1, which the answer brings back.
static inline unsigned answers_expect(struct answers *a)
{
    unsigned phase = atomic_load(&a->phase) & 1;
    atomic_fetch_add(&a->missing[phase], 1);
    return phase;
}

// It was not sent.
static inline void answers_forget(struct answers *a, unsigned phase)
{
    atomic_fetch_sub_explicit(&a->missing[phase], 1, memory_order_relaxed);
}

static inline void answers_came(struct answers *a, unsigned phase, uint64_t n)
{
    // Pairs with the loads in answers_all.
    atomic_fetch_sub_explicit(&a->missing[phase & 1], (int64_t)n, memory_order_release);
    bell_check(&world_ctl(world.me)->bell);
}

static inline bool answers_all_in(struct answers *a, unsigned phase)
{
    return atomic_load(&a->missing[phase & 1]) <= 0;
}

static inline bool answers_all(struct answers *a)
{
    return answers_all_in(a, 0) && answers_all_in(a, 1);
}

// Any number of threads may wait, and one in a handler that another wait of it runs.
static inline void answers_wait(struct answers *a)
{
    enum { CHANGES = 3 };
    uint32_t first = atomic_load(&a->phase), now;
    struct waiter w = waiter_start(&world_ctl(world.me)->bell);
    while (!answers_all(a)) {
        now = atomic_load(&a->phase);
        if (now - first >= CHANGES)
            return;
        if (answers_all_in(a, now + 1))
            atomic_compare_exchange_strong(&a->phase, &now, now + 1);
        else
            waiter_step(&w);
    }
}

#endif
