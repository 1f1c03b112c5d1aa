// SPDX-License-Identifier: BSD-3-Clause
// Passive target synchronization: the target does nothing. MPI_Win_lock takes the target's lock.
// MPI_Win_lock_all takes a shared lock of each target when it is first used, so that its cost does
// not grow with the window; where the program may use the memory by plain loads and stores, which nobody
// sees, at once: its own, all of MPI_Win_allocate_shared, and what it has asked MPI_Win_shared_query for.
#include "check.h"
#include "error.h"
#include "rma.h"
#include "win.h"

#include <sched.h>

enum { LAPS = 512 };

// With w->lock held.
static void touch(struct win *w, struct target *t, unsigned access)
{
    t->next_touched = w->touched;
    w->touched = (int)(t - w->target);
    target_set_access(t, access);
}

void win_close_touched(struct win *w)
{
    while (w->touched >= 0) {
        struct target *t = &w->target[w->touched];
        unsigned access = target_access(t);
        w->touched = t->next_touched;
        target_set_access(t, 0);
        claim_leave(w, t);
        if (access & ACCESS_HELD)
            lock_give(t, false);
    }
}

// One thread takes the lock, others that come to the same target meanwhile wait for it. The epoch may end
// meanwhile, when it is for an address.
static void open_locked(struct win *w, struct target *t)
{
    uint32_t epoch = w->lock_alls;
    while (t->is_opening) {
        shim_lock_give(&w->lock);
        sched_yield();
        shim_lock_take(&w->lock);
    }
    if (target_access(t))
        return;
    t->is_opening = true;
    shim_lock_give(&w->lock);
    lock_take(t, false);
    shim_lock_take(&w->lock);
    t->is_opening = false;
    if (w->epoch == EPOCH_LOCK_ALL && w->lock_alls == epoch)
        touch(w, t, ACCESS_OPEN | ACCESS_PASSIVE | ACCESS_HELD);
    else
        lock_give(t, false);
}

// With w->lock held, in an epoch of MPI_Win_lock_all.
static void open_in_all(struct win *w, struct target *t)
{
    if (w->is_nocheck)
        touch(w, t, ACCESS_OPEN | ACCESS_PASSIVE);
    else
        open_locked(w, t);
}

bool win_is_between(const struct win *w)
{
    return w->epoch == EPOCH_NONE || (w->epoch == EPOCH_FENCE && w->touched < 0);
}

int win_open(const char *call, struct win *w, struct target *t)
{
    shim_lock_take(&w->lock);
    bool is_open = target_access(t) != 0;
    if (!is_open && w->epoch == EPOCH_FENCE) {
        touch(w, t, w->is_alone ? ACCESS_OPEN | ACCESS_EXCLUSIVE : ACCESS_OPEN);
        is_open = true;
    } else if (!is_open && w->epoch == EPOCH_LOCK_ALL) {
        open_in_all(w, t);
        is_open = true;
    }
    shim_lock_give(&w->lock);
    if (is_open)
        return MPI_SUCCESS;
    return raise_on_win(w, MPI_ERR_RMA_SYNC, call,
                        "no epoch is open for rank %d: call MPI_Win_lock, MPI_Win_lock_all, "
                        "MPI_Win_start or MPI_Win_fence first",
                        (int)(t - w->target));
}

void win_give_address(struct win *w, struct target *t)
{
    if (t == &w->target[w->rank] || w->flavor == MPI_WIN_FLAVOR_SHARED)
        return;
    shim_lock_take(&w->lock);
    t->is_queried = w->has_queried = true;
    if (w->epoch == EPOCH_LOCK_ALL && !target_access(t))
        open_in_all(w, t);
    shim_lock_give(&w->lock);
}

// At once in MPI_Win_lock_all.
static bool is_plain(struct win *w, int i)
{
    shim_lock_take(&w->lock);
    bool is = i == w->rank || w->flavor == MPI_WIN_FLAVOR_SHARED || w->target[i].is_queried;
    shim_lock_give(&w->lock);
    return is;
}

// ---- What may be asked of a window now
static int check_locks(const char *call, struct win *w, int assert)
{
    if (assert & ~MPI_MODE_NOCHECK)
        return raise_on_win(w, MPI_ERR_ASSERT, call,
                            "assert is %#x: only MPI_MODE_NOCHECK has a meaning here", assert);
    if (w->no_locks)
        return raise_on_win(w, MPI_ERR_RMA_SYNC, call, "the window was made with no_locks");
    return MPI_SUCCESS;
}

int win_raise_open(const char *call, struct win *w)
{
    return raise_on_win(w, MPI_ERR_RMA_SYNC, call, "an epoch is open: %s ends it",
                        w->epoch == EPOCH_FENCE      ? "MPI_Win_fence"
                        : w->epoch == EPOCH_START    ? "MPI_Win_complete"
                        : w->epoch == EPOCH_LOCK_ALL ? "MPI_Win_unlock_all"
                                                     : "MPI_Win_unlock");
}

static int raise_locked(const char *call, struct win *w, int rank)
{
    return raise_on_win(w, MPI_ERR_RMA_SYNC, call,
                        "rank %d is locked already: call MPI_Win_unlock first", rank);
}

static int check_passive(const char *call, MPI_Win win, int rank, struct win **w)
{
    int error = win_check(call, win, w);
    if (!error && rank >= 0)
        error = win_check_rank(call, *w, rank);
    if (error)
        return error;
    shim_lock_take(&(*w)->lock);
    enum epoch epoch = (*w)->epoch;
    shim_lock_give(&(*w)->lock);
    bool is_one = epoch == EPOCH_LOCK && (rank < 0 || target_access(&(*w)->target[rank]));
    if (is_one || epoch == EPOCH_LOCK_ALL)
        return MPI_SUCCESS;
    return raise_on_win(*w, MPI_ERR_RMA_SYNC, call,
                        "%s: call MPI_Win_lock or MPI_Win_lock_all first",
                        rank < 0 ? "nothing is locked" : "the target is not locked");
}

// ---- Locks
// Reserves the target before the lock is taken, which may last.
static int begin_lock(const char *call, struct win *w, struct target *t)
{
    shim_lock_take(&w->lock);
    bool fits = w->epoch == EPOCH_LOCK || win_is_between(w);
    bool is_free = !target_access(t) && !t->is_opening;
    if (fits && is_free) {
        w->epoch = EPOCH_LOCK;
        w->locked++;
        t->is_opening = true;
    }
    shim_lock_give(&w->lock);
    return !fits     ? win_raise_open(call, w)
           : is_free ? MPI_SUCCESS
                     : raise_locked(call, w, (int)(t - w->target));
}

MPI_DEFINE(int, Win_lock, int lock_type, int rank, int assert, MPI_Win win)
{
    static const char call[] = "MPI_Win_lock";
    struct win *w;
    int error = win_check(call, win, &w);
    if (!error)
        error = win_check_rank(call, w, rank);
    if (error)
        return error;
    if (unlikely(lock_type != MPI_LOCK_EXCLUSIVE && lock_type != MPI_LOCK_SHARED))
        return raise_on_win(w, MPI_ERR_LOCKTYPE, call, "lock_type is %d: %s", lock_type,
                            "it must be MPI_LOCK_EXCLUSIVE or MPI_LOCK_SHARED");
    if (unlikely(assert || w->no_locks) && (error = check_locks(call, w, assert)))
        return error;
    if (rank == MPI_PROC_NULL)
        return MPI_SUCCESS;
    struct target *t = &w->target[rank];
    error = begin_lock(call, w, t);
    if (error)
        return error;
    bool exclusive = lock_type == MPI_LOCK_EXCLUSIVE;
    unsigned access = ACCESS_OPEN | ACCESS_PASSIVE | ACCESS_BY_NAME |
                      (exclusive ? ACCESS_EXCLUSIVE : 0u);
    if (!(MPI_MODE_NOCHECK & assert)) {
        lock_take(t, exclusive);
        access |= ACCESS_HELD;
    }
    shim_lock_take(&w->lock);
    t->is_opening = false;
    target_set_access(t, access);
    shim_lock_give(&w->lock);
    return MPI_SUCCESS;
}

// To another node the lock is given back in the message of the only put there was, if so.
static bool give_after_put(struct win *w, struct target *t)
{
    unsigned access = target_access(t);
    return access & ACCESS_HELD && access & ACCESS_BY_NAME &&
           rma_gather_signal(w, t, CONTROL(holders), lock_given(access & ACCESS_EXCLUSIVE));
}

MPI_DEFINE(int, Win_unlock, int rank, MPI_Win win)
{
    static const char call[] = "MPI_Win_unlock";
    struct win *w;
    int error = win_check(call, win, &w);
    if (!error)
        error = win_check_rank(call, w, rank);
    if (error || rank == MPI_PROC_NULL)
        return error;
    struct target *t = &w->target[rank];
    bool is_given = false;
    if (unlikely(w->is_far)) {
        is_given = give_after_put(w, t);
        error = win_flush(call, w, rank);
    }
    shim_lock_take(&w->lock);
    unsigned access = w->epoch == EPOCH_LOCK ? target_access(t) : 0;
    target_set_access(t, w->epoch == EPOCH_LOCK ? 0 : target_access(t));
    if (access && --w->locked == 0)
        w->epoch = EPOCH_NONE;
    shim_lock_give(&w->lock);
    if (unlikely(!access))
        return raise_on_win(w, MPI_ERR_RMA_SYNC, call, "rank %d is not locked", rank);
    claim_leave(w, t);
    if (is_given)
        return error;
    if (access & ACCESS_HELD)
        lock_give(t, (access & ACCESS_EXCLUSIVE) != 0);
    else
        atomic_thread_fence(memory_order_seq_cst);
    return error;
}

MPI_DEFINE(int, Win_lock_all, int assert, MPI_Win win)
{
    static const char call[] = "MPI_Win_lock_all";
    struct win *w;
    int error = win_check(call, win, &w);
    if (!error)
        error = check_locks(call, w, assert);
    if (error)
        return error;
    shim_lock_take(&w->lock);
    bool fits = win_is_between(w);
    bool some = w->flavor == MPI_WIN_FLAVOR_SHARED || w->has_queried;
    if (fits) {
        w->epoch = EPOCH_LOCK_ALL;
        w->lock_alls++;
        w->is_nocheck = (MPI_MODE_NOCHECK & assert) != 0;
    }
    shim_lock_give(&w->lock);
    if (!fits)
        return win_raise_open(call, w);
    for (int i = some ? 0 : w->rank; i < (some ? w->size : w->rank + 1) && !error; i++)
        if (is_plain(w, i))
            error = win_open(call, w, &w->target[i]);
    return error;
}

MPI_DEFINE(int, Win_unlock_all, MPI_Win win)
{
    static const char call[] = "MPI_Win_unlock_all";
    struct win *w;
    int error = win_check(call, win, &w);
    if (error)
        return error;
    if (w->epoch != EPOCH_LOCK_ALL)
        return raise_on_win(w, MPI_ERR_RMA_SYNC, call, "MPI_Win_lock_all was not called");
    error = win_flush(call, w, -1);
    shim_lock_take(&w->lock);
    win_close_touched(w);
    w->epoch = EPOCH_NONE;
    shim_lock_give(&w->lock);
    if (unlikely(w->is_far))
        shoal_am_push(); // the words that give locks back
    return error;
}

// ---- Flushes. Stores are on their way when an operation returns; what remains is their order
// against what follows, also against loads: a fence of the processor.
// Programs wait for words by polling them between flushes: others must get their share of this
// process meanwhile, and of its core.
static inline void lap(void)
{
    static SHIM_OWN unsigned laps;
    if (unlikely(++laps % LAPS == 0)) {
        progress();
        sched_yield();
    }
}

int win_flush(const char *call, struct win *w, int rank)
{
    if (likely(!w->is_far)) {
        atomic_thread_fence(memory_order_seq_cst);
        return MPI_SUCCESS;
    }
    int status = rma_later_wait(w, rank);
    int quiet = shoal_quiet(rank < 0 ? -1 : w->target[rank].control_at.pe);
    if (quiet != SHOAL_OK)
        shim_fatal("operations on a window cannot be completed: %s", shoal_strerror(quiet));
    return status == SHOAL_OK ? MPI_SUCCESS
                              : raise_on_win(w, rma_error_of(status), call,
                                             "an operation has failed: %s", shoal_strerror(status));
}

static int flush(const char *call, MPI_Win win, int rank)
{
    struct win *w;
    if (unlikely(rank == MPI_PROC_NULL))
        return win_check(call, win, &w);
    int error = check_passive(call, win, rank, &w);
    if (!error) {
        lap();
        error = win_flush(call, w, rank);
    }
    return error;
}

MPI_DEFINE(int, Win_flush, int rank, MPI_Win win)
{
    // The usual case: a target that is open, of a window on this node.
    struct win *w = win_of(win);
    if (likely(w && (unsigned)rank < (unsigned)w->size && !w->is_far &&
               (target_access(&w->target[rank]) & ACCESS_PASSIVE))) {
        lap();
        claim_yield(w, &w->target[rank]);
        atomic_thread_fence(memory_order_seq_cst);
        return MPI_SUCCESS;
    }
    if (rank < 0 && rank != MPI_PROC_NULL && w)
        return win_check_rank("MPI_Win_flush", w, rank);
    return flush("MPI_Win_flush", win, rank);
}

// On a node operations end with their origin's buffers free; elsewhere they are when it is complete.
static int flush_local(const char *call, MPI_Win win, int rank)
{
    struct win *w;
    lap();
    int error = check_passive(call, win, rank, &w);
    if (unlikely(error || w->is_far))
        return error ? error : win_flush(call, w, rank);
    atomic_thread_fence(memory_order_acquire); // what later ones get is not older
    return MPI_SUCCESS;
}

MPI_DEFINE(int, Win_flush_local, int rank, MPI_Win win)
{
    static const char call[] = "MPI_Win_flush_local";
    struct win *w;
    int error = win_check(call, win, &w);
    if (!error)
        error = win_check_rank(call, w, rank);
    return error || rank == MPI_PROC_NULL ? error : flush_local(call, win, rank);
}

MPI_DEFINE(int, Win_flush_all, MPI_Win win)
{
    return flush("MPI_Win_flush_all", win, -1);
}

MPI_DEFINE(int, Win_flush_local_all, MPI_Win win)
{
    return flush_local("MPI_Win_flush_local_all", win, -1);
}

MPI_DEFINE(int, Win_sync, MPI_Win win)
{
    struct win *w;
    int error = win_check("MPI_Win_sync", win, &w);
    lap();
    if (!error)
        atomic_thread_fence(memory_order_seq_cst);
    return error;
}
