// SPDX-License-Identifier: BSD-3-Clause
// The words of controls: adding to them, waiting for them, and what is made of them: the lock, the
// lock of accumulates, the barrier. All grow or are changed by atomics of the runtime, or on a node
// by the processor's, which the runtime says are atomic against each other.
#include "partner.h"
#include "request.h"
#include "transfer.h"
#include "win.h"

#include <stdlib.h>
#include <string.h>

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

// At another node, whatever its program does, and without waiting until it is done, which word_settle does.
static void word_signal(struct target *t, size_t offset, int op, uint64_t value)
{
    shoal_rptr_t at = shoal_rptr_add(t->control_at, (ptrdiff_t)offset);
    int status = shoal_put(at, &value, 0,
                           &(shoal_comp_t){.signal = &at, .signal_value = value, .signal_op = op},
                           NULL);
    if (status != SHOAL_OK)
        failed(status);
}

// ---- Told to another node by a message that is not answered: where the word is, and what is put before it changes,
// each with its bytes behind it.
struct put {
    shoal_rptr_t to;
    uint64_t n;
};

static size_t bytes_of_put(size_t n)
{
    return sizeof(struct put) + (n + sizeof(uint64_t) - 1) / sizeof(uint64_t) * sizeof(uint64_t);
}

static bool is_own(shoal_rptr_t at)
{
    return at.pe == shim_pe();
}

static void on_word(const shoal_am_t *am)
{
    const char *from = am->payload;
    shoal_rptr_t at;
    struct put put;
    int status = SHOAL_OK;
    if (am->n < sizeof at)
        return;
    memcpy(&at, from, sizeof at);
    from += sizeof at;
    if (!is_own(at))
        return;
    for (size_t left = am->n - sizeof at, n; left && !status; from += n, left -= n) {
        if (left < sizeof put)
            return;
        memcpy(&put, from, sizeof put);
        if (!is_own(put.to) || put.n > left || (n = bytes_of_put(put.n)) > left)
            return;
        status = shoal_put(put.to, from + sizeof put, put.n, NULL, NULL);
    }
    if (!status)
        status = shoal_atomic(at, SHOAL_SUM, SHOAL_UINT64, &am->arg, NULL, NULL, NULL, NULL);
    if (status != SHOAL_OK)
        failed(status);
}

int win_word_up(void)
{
    return shoal_am_register(AM_WORD, on_word, NULL);
}

// By the runtime, which wakes a process that sleeps; at another node when its program is in the library, as it is
// when it waits for the word. Earlier stores of this process are visible to whoever sees the word.
void word_add(struct target *t, size_t offset, uint64_t n)
{
    shoal_rptr_t at = shoal_rptr_add(t->control_at, (ptrdiff_t)offset);
    if (!t->control) {
        transfer_tell(at.pe, AM_WORD, n, &at, sizeof at);
        return;
    }
    int status = shoal_atomic(at, SHOAL_SUM, SHOAL_UINT64, &n, NULL, NULL, NULL, NULL);
    if (status != SHOAL_OK)
        failed(status);
}

bool word_add_after(struct target *t, size_t offset, uint64_t n, const shoal_part_t part[],
                    size_t parts)
{
    shoal_rptr_t at = shoal_rptr_add(t->control_at, (ptrdiff_t)offset);
    size_t bytes = sizeof at;
    for (size_t i = 0; i < parts; i++)
        bytes += bytes_of_put(part[i].n);
    if (bytes > partner_of(at.pe)->am_max)
        return false;
    char *payload = transfer_memory(bytes), *to = payload;
    to = (char *)memcpy(to, &at, sizeof at) + sizeof at;
    for (size_t i = 0, n; i < parts; i++, to += n) {
        n = bytes_of_put(part[i].n);
        memset(to + n - sizeof(uint64_t), 0, sizeof(uint64_t)); // behind the last byte
        memcpy(to, &(struct put){part[i].remote, part[i].n}, sizeof(struct put));
        memcpy(to + sizeof(struct put), part[i].local, part[i].n);
    }
    transfer_tell(at.pe, AM_WORD, n, payload, bytes);
    free(payload);
    return true;
}

void word_settle(struct win *w)
{
    int status = w->is_far ? shoal_quiet(-1) : SHOAL_OK;
    if (status != SHOAL_OK)
        failed(status);
    for (int i = 0; w->is_far && i < w->size; i++) // a start may not have waited for its post
        word_wait_own(&w->control->peer[i].posted, w->target[i].posted);
}

static uint64_t word_fetch_add(struct target *t, size_t offset, uint64_t n)
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
    shoal_waits("MPI window", -1, -1);
    int status = shoal_wait(1, events, 1, NULL, NULL);
    shoal_waits(NULL, -1, -1);
    if (status != SHOAL_OK)
        failed(status);
}

// ---- The lock of MPI_Win_lock. Fair: who finds it taken queues, and who finds a queue too. The first of the
// queue says in the word, over and over, that somebody waits, for those who do not look at the queue, as from
// afar: else one of these might give the lock back and take it again for ever.
#define LOCK_WRITER (UINT64_C(1) << 63)
#define LOCK_WAITED (UINT64_C(1) << 62)
enum { PATIENCE = 300 }; // looks

// False: *from is what is there.
static bool word_swap(struct target *t, size_t offset, uint64_t *from, uint64_t to)
{
    _Atomic uint64_t *here = word_here(t, offset);
    if (likely(here))
        return atomic_compare_exchange_strong_explicit(here, from, to, memory_order_acquire,
                                                       memory_order_relaxed);
    uint64_t old = word_atomic(t, offset, SHOAL_CSWAP, to, *from);
    bool is_done = old == *from;
    *from = old;
    return is_done;
}

static uint64_t word_get(struct target *t, size_t offset)
{
    _Atomic uint64_t *here = word_here(t, offset);
    return likely(here) ? atomic_load_explicit(here, memory_order_acquire)
                        : word_atomic(t, offset, SHOAL_NOOP, 0, 0);
}

static void say_waited(struct target *t, uint64_t holders)
{
    while (!(holders & LOCK_WAITED) &&
           !word_swap(t, CONTROL(holders), &holders, holders | LOCK_WAITED))
        ;
}

// is_first: of the queue. Who takes the lock takes LOCK_WAITED out.
static bool try_writer(struct target *t, bool is_first)
{
    uint64_t holders = is_first ? LOCK_WAITED : 0;
    do
        if (word_swap(t, CONTROL(holders), &holders, LOCK_WRITER))
            return true;
    while (holders == 0 || (is_first && holders == LOCK_WAITED));
    if (is_first)
        say_waited(t, holders);
    return false;
}

static bool try_reader(struct target *t, bool is_first)
{
    uint64_t blocked_by = is_first ? LOCK_WRITER : LOCK_WRITER | LOCK_WAITED;
    uint64_t holders = t->control ? word_get(t, CONTROL(holders)) : 0; // from afar: a guess
    while (!(holders & blocked_by))
        if (word_swap(t, CONTROL(holders), &holders,
                      (is_first ? holders & ~LOCK_WAITED : holders) + 1))
            return true;
    if (is_first)
        say_waited(t, holders);
    return false;
}

// From afar it is not worth a way there and back to see whether there is a queue.
static bool has_queue(struct target *t)
{
    struct control *c = t->control;
    return c && atomic_load_explicit(&c->tickets, memory_order_relaxed) !=
                    atomic_load_explicit(&c->served, memory_order_relaxed);
}

// Who waits for a word of another process's control, which rings no bell here, looks at it over and
// over. The own place in the queue, when it is the first.
static uint64_t wait_in_queue(struct target *t)
{
    uint64_t ticket = word_fetch_add(t, CONTROL(tickets), 1);
    while (word_get(t, CONTROL(served)) != ticket)
        progress_look();
    return ticket;
}

static bool try_lock(struct target *t, bool exclusive, bool is_first)
{
    return exclusive ? try_writer(t, is_first) : try_reader(t, is_first);
}

static bool try_first(struct target *t, bool exclusive)
{
    for (int i = 0; i < PATIENCE; i++) {
        if (try_lock(t, exclusive, true))
            return true;
        progress_look();
    }
    return false;
}

// True: it has. Only readers have the lock, and somebody is behind.
static bool step_back(struct target *t, uint64_t ticket)
{
    uint64_t holders = word_get(t, CONTROL(holders));
    if ((holders & LOCK_WRITER) || word_get(t, CONTROL(tickets)) == ticket + 1)
        return false;
    while ((holders & LOCK_WAITED) &&
           !word_swap(t, CONTROL(holders), &holders, holders & ~LOCK_WAITED))
        ;
    word_fetch_add(t, CONTROL(served), 1);
    return true;
}

// A writer that waits long for readers lets those behind it go first, and queues again. The readers may be waiting for
// one of those: to hear from it, or at another lock for one that it holds.
static void queue_up(struct target *t, bool exclusive)
{
    shoal_waits("MPI window, for a lock", -1, -1);
    uint64_t ticket = wait_in_queue(t);
    while (!try_first(t, exclusive))
        if (exclusive && step_back(t, ticket))
            ticket = wait_in_queue(t);
    word_fetch_add(t, CONTROL(served), 1);
    shoal_waits(NULL, -1, -1);
}

void lock_take(struct target *t, bool exclusive)
{
    if (unlikely(has_queue(t) || !try_lock(t, exclusive, false)))
        queue_up(t, exclusive);
}

uint64_t lock_given(bool exclusive)
{
    return exclusive ? LOCK_WRITER : UINT64_MAX;
}

// release: the next one sees what was done under the lock. Nobody changes the word of a writer, but to say that
// somebody waits, who says it again.
void lock_give(struct target *t, bool exclusive)
{
    if (likely(exclusive && t->control))
        atomic_store_explicit(&t->control->holders, 0, memory_order_release);
    else if (t->control)
        word_fetch_add(t, CONTROL(holders), UINT64_MAX);
    else
        word_signal(t, CONTROL(holders), SHMEM_SIGNAL_ADD, lock_given(exclusive));
}

// ---- The lock of accumulates: held for one operation
void accumulate_lock(struct target *t)
{
    for (uint64_t none = 0; !word_swap(t, CONTROL(accumulate), &none, 1); none = 0)
        progress_look();
}

void accumulate_unlock(struct target *t)
{
    _Atomic uint64_t *here = word_here(t, CONTROL(accumulate));
    if (here)
        atomic_store_explicit(here, 0, memory_order_release);
    else
        word_signal(t, CONTROL(accumulate), SHMEM_SIGNAL_SET, 0);
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
