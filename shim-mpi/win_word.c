// SPDX-License-Identifier: BSD-3-Clause
// The words of controls: adding to them, waiting for them, and what is made of them: the lock, the
// lock of accumulates, the barrier. All grow or are changed by atomics of the runtime, or on a node
// by the processor's, which the runtime says are atomic against each other.
#include "request.h"
#include "win.h"

#include <sched.h>

enum { SPINS = 200, YIELDS = 2000 };

static void failed(int status)
{
    shim_fatal("a window's control block cannot be reached: %s", shoal_strerror(status));
}

static _Atomic uint64_t *word_here(struct target *t, size_t offset)
{
    return t->control ? (_Atomic uint64_t *)((char *)t->control + offset) : NULL;
}

static uint64_t word_atomic(struct target *t, size_t offset, shoal_op_t op, uint64_t a, uint64_t b)
{
    uint64_t old;
    int status = shoal_atomic(shoal_rptr_add(t->control_at, (ptrdiff_t)offset), op, SHOAL_UINT64,
                              &a, &b, &old, NULL, NULL);
    if (status != SHOAL_OK)
        failed(status);
    return old;
}

// By the runtime, which wakes a process that sleeps. Earlier stores of this process are visible to
// whoever sees the word.
void word_add(struct target *t, size_t offset, uint64_t n)
{
    int status = shoal_atomic(shoal_rptr_add(t->control_at, (ptrdiff_t)offset), SHOAL_SUM,
                              SHOAL_UINT64, &n, NULL, NULL, NULL, NULL);
    if (status != SHOAL_OK)
        failed(status);
}

uint64_t word_fetch_add(struct target *t, size_t offset, uint64_t n)
{
    _Atomic uint64_t *here = word_here(t, offset);
    return likely(here) ? atomic_fetch_add_explicit(here, n, memory_order_acq_rel)
                        : word_atomic(t, offset, SHOAL_SUM, n, 0);
}

// acquire: what was written before the word came to that is visible.
void word_wait_own(_Atomic uint64_t *word, uint64_t least)
{
    if (atomic_load_explicit(word, memory_order_acquire) >= least)
        return;
    shoal_event_t event = {.word = (uint64_t *)word, .least = least};
    shoal_event_t *events[] = {&event};
    int status = shoal_wait(1, events, 1, NULL, NULL);
    if (status != SHOAL_OK)
        failed(status);
}

static inline void relax(void)
{
#if defined(__x86_64__)
    __builtin_ia32_pause();
#endif
}

// A step of waiting for a word of another process's control, which rings no bell here.
static void wait_step(unsigned *steps)
{
    if (++*steps < SPINS) {
        relax();
    } else {
        progress();
        sched_yield();
    }
}

// ---- The lock. Whoever holds it alone changes `read` and `write` alone, so stores will do.
static void wait_turn(struct target *t, size_t offset, uint64_t ticket)
{
    _Atomic uint64_t *here = word_here(t, offset);
    unsigned steps = 0;
    if (here)
        while (atomic_load_explicit(here, memory_order_acquire) < ticket)
            wait_step(&steps);
    else
        while (word_atomic(t, offset, SHOAL_NOOP, 0, 0) < ticket)
            progress();
}

void lock_take(struct target *t, bool exclusive)
{
    uint64_t ticket = word_fetch_add(t, CONTROL(users), 1);
    wait_turn(t, exclusive ? CONTROL(write) : CONTROL(read), ticket);
    if (exclusive)
        t->ticket = ticket;
    else
        word_fetch_add(t, CONTROL(read), 1);
}

// release: the next one sees what was done under the lock.
void lock_give(struct target *t, bool exclusive)
{
    struct control *here = t->control;
    if (!exclusive) {
        word_fetch_add(t, CONTROL(write), 1);
    } else if (likely(here)) {
        atomic_store_explicit(&here->read, t->ticket + 1, memory_order_release);
        atomic_store_explicit(&here->write, t->ticket + 1, memory_order_release);
    } else {
        word_fetch_add(t, CONTROL(read), 1);
        word_fetch_add(t, CONTROL(write), 1);
    }
}

// ---- The lock of accumulates: held for one operation
static bool try_accumulate(struct target *t)
{
    _Atomic uint64_t *here = word_here(t, CONTROL(accumulate));
    uint64_t none = 0;
    if (here)
        return atomic_compare_exchange_strong_explicit(here, &none, 1, memory_order_acquire,
                                                       memory_order_relaxed);
    return word_atomic(t, CONTROL(accumulate), SHOAL_CSWAP, 1, 0) == 0;
}

void accumulate_lock(struct target *t)
{
    unsigned steps = 0;
    while (!try_accumulate(t))
        wait_step(&steps);
}

void accumulate_unlock(struct target *t)
{
    _Atomic uint64_t *here = word_here(t, CONTROL(accumulate));
    if (here)
        atomic_store_explicit(here, 0, memory_order_release);
    else
        word_atomic(t, CONTROL(accumulate), SHOAL_SET, 0, 0);
}

// ---- The barrier: in round k a process tells the one 2^k after it, and hears from the one before.
void win_barrier(struct win *w)
{
    uint64_t count = ++w->barriers;
    int k = 0;
    for (int distance = 1; distance < w->size; distance *= 2, k++) {
        size_t offset = CONTROL(arrived) + (size_t)k * sizeof(uint64_t);
        word_add(&w->target[(w->rank + distance) % w->size], offset, 1);
        word_wait_own(&w->control->arrived[k], count);
    }
}
