// SPDX-License-Identifier: BSD-3-Clause
// Active target synchronization: fences, and post, start, complete, wait. Each pair of processes has
// two words that only grow, in the memory of the one that waits for them; it remembers how far it has
// got. So epochs with different groups overlap as they like, and nothing is matched.
#include "check.h"
#include "error.h"
#include "request.h"
#include "rma.h"
#include "win.h"

enum {
    FENCE_ASSERTS = MPI_MODE_NOSTORE | MPI_MODE_NOPUT | MPI_MODE_NOPRECEDE | MPI_MODE_NOSUCCEED,
    POST_ASSERTS = MPI_MODE_NOCHECK | MPI_MODE_NOSTORE | MPI_MODE_NOPUT,
    START_ASSERTS = MPI_MODE_NOCHECK,
};

static int check_assert(const char *call, struct win *w, int assert, int known)
{
    if (likely(!(assert & ~known)))
        return MPI_SUCCESS;
    return raise_on_win(w, MPI_ERR_ASSERT, call, "assert %#x has bits without a meaning here",
                        assert);
}

// ---- Fence. Also one that nothing precedes is a barrier: what follows may touch memory that its
// owner used until its own fence.
MPI_DEFINE(int, Win_fence, int assert, MPI_Win win)
{
    static const char call[] = "MPI_Win_fence";
    struct win *w;
    int error = win_check(call, win, &w);
    if (!error)
        error = check_assert(call, w, assert, FENCE_ASSERTS);
    if (error)
        return error;
    if (unlikely(w->epoch > EPOCH_FENCE || w->posted))
        return raise_on_win(w, MPI_ERR_RMA_SYNC, call, "an epoch of another kind is open: %s",
                            w->posted ? "MPI_Win_wait ends it" : "complete or unlock it first");
    // On a node the words that follow order what was stored (word_add).
    if (unlikely(w->is_far))
        error = win_flush(call, w, -1);
    shim_lock_take(&w->lock);
    win_close_touched(w);
    w->epoch = MPI_MODE_NOSUCCEED & assert ? EPOCH_NONE : EPOCH_FENCE;
    shim_lock_give(&w->lock);
    int alone = MPI_MODE_NOPRECEDE | MPI_MODE_NOSUCCEED;
    if ((alone & assert) != alone)
        win_barrier(w);
    return error;
}

// ---- Groups: those of the window's that a call names
static int check_group(const char *call, struct win *w, MPI_Group handle, struct group **out)
{
    struct group *g = group_of(handle);
    if (!g)
        return raise_on_win(w, MPI_ERR_GROUP, call, "group is %s",
                            handle == MPI_GROUP_NULL ? "MPI_GROUP_NULL"
                                                     : "not a group, or a freed one");
    for (int i = 0; i < g->size; i++)
        if (group_rank(w->group, group_pe(g, i)) == MPI_UNDEFINED)
            return raise_on_win(w, MPI_ERR_GROUP, call,
                                "member %d of the group does not belong to the window", i);
    *out = g;
    return MPI_SUCCESS;
}

static struct target *member(struct win *w, const struct group *g, int i)
{
    return &w->target[group_rank(w->group, group_pe(g, i))];
}

// This process's word in the control of t.
static void tell(struct win *w, struct target *t, bool completed)
{
    word_add(t, completed ? CONTROL(peer[w->rank].completed) : CONTROL(peer[w->rank].posted), 1);
}

static int check_call(const char *call, MPI_Win win, MPI_Group group, int assert, int known,
                      struct win **w, struct group **g)
{
    int error = win_check(call, win, w);
    if (!error)
        error = check_group(call, *w, group, g);
    if (!error)
        error = check_assert(call, *w, assert, known);
    return error;
}

// ---- Exposure
MPI_DEFINE(int, Win_post, MPI_Group group, int assert, MPI_Win win)
{
    static const char call[] = "MPI_Win_post";
    struct win *w;
    struct group *g;
    int error = check_call(call, win, group, assert, POST_ASSERTS, &w, &g);
    if (error)
        return error;
    if (w->posted)
        return raise_on_win(w, MPI_ERR_RMA_SYNC, call,
                            "the window is posted already: MPI_Win_wait ends that");
    object_keep(g);
    w->posted = g;
    for (int i = 0; i < g->size; i++)
        tell(w, member(w, g, i), false);
    return MPI_SUCCESS;
}

static int check_posted(const char *call, MPI_Win win, struct win **w)
{
    int error = win_check(call, win, w);
    if (!error && !(*w)->posted)
        return raise_on_win(*w, MPI_ERR_RMA_SYNC, call, "MPI_Win_post was not called");
    return error;
}

static void end_exposure(struct win *w)
{
    struct group *g = w->posted;
    for (int i = 0; i < g->size; i++)
        member(w, g, i)->completed++;
    w->posted = NULL;
    group_free(g);
}

MPI_DEFINE(int, Win_wait, MPI_Win win)
{
    struct win *w;
    int error = check_posted("MPI_Win_wait", win, &w);
    if (error)
        return error;
    for (int i = 0; i < w->posted->size; i++) {
        struct target *t = member(w, w->posted, i);
        word_wait_own(&w->control->peer[t - w->target].completed, t->completed + 1);
    }
    end_exposure(w);
    return MPI_SUCCESS;
}

MPI_DEFINE(int, Win_test, MPI_Win win, int *flag)
{
    static const char call[] = "MPI_Win_test";
    struct win *w;
    int error = check_posted(call, win, &w);
    if (!error)
        error = win_check_pointer(call, w, "flag", flag);
    if (error)
        return error;
    bool done = true;
    for (int i = 0; i < w->posted->size && done; i++) {
        struct target *t = member(w, w->posted, i);
        // acquire: pairs with the addition in MPI_Win_complete.
        done = atomic_load_explicit(&w->control->peer[t - w->target].completed,
                                    memory_order_acquire) > t->completed;
    }
    if (done)
        end_exposure(w);
    else
        progress_look();
    *flag = done;
    return MPI_SUCCESS;
}

// ---- Access
static bool begin_access(struct win *w, struct group *g)
{
    shim_lock_take(&w->lock);
    bool fits = win_is_between(w);
    if (fits) {
        w->epoch = EPOCH_START;
        w->started = g;
        object_keep(g);
    }
    shim_lock_give(&w->lock);
    return fits;
}

MPI_DEFINE(int, Win_start, MPI_Group group, int assert, MPI_Win win)
{
    static const char call[] = "MPI_Win_start";
    struct win *w;
    struct group *g;
    int error = check_call(call, win, group, assert, START_ASSERTS, &w, &g);
    if (error)
        return error;
    if (!begin_access(w, g))
        return win_raise_open(call, w);
    for (int i = 0; i < g->size; i++) {
        struct target *t = member(w, g, i);
        t->posted++;
        if (!(MPI_MODE_NOCHECK & assert))
            word_wait_own(&w->control->peer[t - w->target].posted, t->posted);
        target_set_access(t, ACCESS_OPEN | ACCESS_BY_NAME);
    }
    return MPI_SUCCESS;
}

// What was put to other nodes goes with the word; who has told so is no longer ACCESS_BY_NAME. Else all is complete
// before one is told.
static int complete_far(const char *call, struct win *w)
{
    int rest = 0;
    for (int i = 0; i < w->started->size; i++) {
        struct target *t = member(w, w->started, i);
        if (rma_gather_tell(w, t, CONTROL(peer[w->rank].completed)))
            target_set_access(t, ACCESS_OPEN);
        else
            rest++;
    }
    return rest ? win_flush(call, w, -1) : MPI_SUCCESS;
}

MPI_DEFINE(int, Win_complete, MPI_Win win)
{
    static const char call[] = "MPI_Win_complete";
    struct win *w;
    int error = win_check(call, win, &w);
    if (error)
        return error;
    if (w->epoch != EPOCH_START)
        return raise_on_win(w, MPI_ERR_RMA_SYNC, call, "MPI_Win_start was not called");
    if (unlikely(w->is_far))
        error = complete_far(call, w);
    struct group *g = w->started;
    for (int i = 0; i < g->size; i++) {
        struct target *t = member(w, g, i);
        bool told = !(target_access(t) & ACCESS_BY_NAME);
        target_set_access(t, 0);
        claim_leave(w, t);
        if (!told)
            tell(w, t, true);
    }
    w->started = NULL;
    w->epoch = EPOCH_NONE;
    group_free(g);
    return error;
}
