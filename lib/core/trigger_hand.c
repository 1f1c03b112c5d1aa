// SPDX-License-Identifier: BSD-3-Clause
// Works that are handed to another PE, which has a list for them. See trigger.h. The list is taken as a whole,
// by an exchange: by the PE, or when it has left by who finds that out, so each work has one end.
#include "trigger.h"

#include "handlers.h"
#include "help.h"
#include "slice.h"

static uint64_t first_due, last_due; // a list, oldest first: taken, and not yet run
static bool is_running_due;

static struct counter *counter_of(const struct work *w)
{
    return ref_at(atomic_load_explicit(&w->counter, memory_order_relaxed));
}

static bool is_asked(const struct work *w)
{
    uint32_t state = atomic_load_explicit(&w->state, memory_order_relaxed);
    return state == WORK_ASKED || state == WORK_TAKEN_BACK;
}

// False: who asked has taken it back, and leaves it to this PE.
static bool begin_asked(struct work *w)
{
    uint32_t state = WORK_ASKED;
    if (likely(atomic_compare_exchange_strong_explicit(&w->state, &state, WORK_BEGUN,
                                                       memory_order_acq_rel, memory_order_relaxed)))
        return true;
    trigger_free(w);
    return false;
}

static void refuse_asked(struct work *w)
{
    if (begin_asked(w))
        help_answer(w, SHOAL_EFAULT);
}

static void refuse(struct work *w)
{
    if (is_asked(w))
        refuse_asked(w);
    else
        trigger_finish(w, operation_end(&w->op, SHOAL_EFAULT));
}

// Of an earlier life of the library, when nobody knows its counters any more.
static void drop(struct work *w)
{
    w->done = 0;
    if (is_asked(w))
        refuse_asked(w);
    else
        trigger_finish(w, SHOAL_EFAULT);
}

static void each(uint64_t list, void (*end)(struct work *w))
{
    while (list) {
        struct work *w = ref_at(list);
        list = atomic_load_explicit(&w->link, memory_order_relaxed);
        end(w);
    }
}

static uint64_t take_list(int pe)
{
    // Pairs with trigger_push: the works are filled in.
    uint64_t newest = atomic_exchange_explicit(&slice_of(pe)->works.handed, 0,
                                               memory_order_acq_rel);
    ORDERED_ELSEWHERE();
    return trigger_reversed(newest);
}

void trigger_refuse(int pe)
{
    // Either who hands finds that the PE has left, or the PE, which says that first, finds the work.
    atomic_thread_fence(memory_order_seq_cst);
    each(take_list(pe), refuse);
}

bool trigger_is_behind(int pe)
{
    return atomic_load_explicit(&slice_of(pe)->inbox.doorbell, memory_order_relaxed) & INBOX_WORKS;
}

void trigger_hand(struct work *w, int pe, enum work_state state)
{
    struct slice *to = slice_of(pe);
    w->life = world_life();
    atomic_store_explicit(&w->state, state, memory_order_relaxed);
    ORDERED_ELSEWHERE();
    trigger_push(&to->works.handed, w);
    // Pairs with trigger_run_handed: who sees the bit finds the work.
    atomic_fetch_or_explicit(&to->inbox.doorbell, INBOX_WORKS, memory_order_release);
    bell_check(&to->inbox.bell);
    atomic_thread_fence(memory_order_seq_cst);
    if (unlikely(help_is_gone(pe)))
        trigger_refuse(pe);
}

// ---- At the PE. All of it belongs to the thread that polls. A work that waits polls again meanwhile: what comes
// then is for later, but for what others wait for.
static void hand_onward(struct work *w, struct counter *c)
{
    if (help_is_gone(w->owner)) {
        refuse(w);
        return;
    }
    atomic_fetch_add_explicit(&c->onward, 1, memory_order_relaxed);
    trigger_hand(w, w->owner, WORK_ONWARD);
}

static void run_handed(struct work *w)
{
    struct counter *c = counter_of(w);
    bool is_mine = w->owner == world.me;
    int needs;
    if (is_mine) {
        trigger_wait_for_deferred(c);
    } else if (trigger_has_deferred(c) || atomic_load_explicit(&c->onward, memory_order_acquire)) {
        hand_onward(w, c);
        return;
    }
    int status = operation_run(&w->op, &needs);
    if (status == SHOAL_EAGAIN && !is_mine) {
        hand_onward(w, c);
        return;
    }
    if (status == SHOAL_EAGAIN)
        status = operation_end(&w->op, help_run(&w->op, needs));
    trigger_finish(w, status);
}

static void run_asked(struct work *w)
{
    if (!begin_asked(w))
        return;
    int needs, status = operation_run(&w->op, &needs);
    help_answer(w, status == SHOAL_EAGAIN ? SHOAL_EFAULT : status);
}

static void append_due(struct work *w)
{
    atomic_store_explicit(&w->link, 0, memory_order_relaxed);
    if (first_due)
        atomic_store_explicit(&((struct work *)ref_at(last_due))->link, ref_of(w),
                              memory_order_relaxed);
    else
        first_due = ref_of(w);
    last_due = ref_of(w);
}

static struct work *next_due(void)
{
    struct work *w = ref_at(first_due);
    first_due = atomic_load_explicit(&w->link, memory_order_relaxed);
    return w;
}

static int run_due(void)
{
    enum { MOST = 64 }; // and then others have their turn
    int count = 0;
    is_running_due = true;
    for (; first_due && count < MOST; count++) {
        struct work *w = next_due();
        if (w->life != world_life())
            drop(w);
        else if (handlers_are_quiet())
            refuse(w);
        else
            run_handed(w);
    }
    is_running_due = false;
    if (first_due)
        atomic_fetch_or_explicit(&slice_of(world.me)->inbox.doorbell, INBOX_WORKS,
                                 memory_order_relaxed);
    return count;
}

int trigger_run_handed(void)
{
    struct slice *mine = slice_of(world.me);
    int count = 0;
    if (likely(!(atomic_load_explicit(&mine->inbox.doorbell, memory_order_relaxed) & INBOX_WORKS)))
        return 0;
    // Pairs with trigger_hand.
    atomic_fetch_and_explicit(&mine->inbox.doorbell, ~INBOX_WORKS, memory_order_acquire);
    for (uint64_t oldest = take_list(world.me); oldest;) {
        struct work *w = ref_at(oldest);
        oldest = atomic_load_explicit(&w->link, memory_order_relaxed);
        if (is_asked(w)) {
            (handlers_are_quiet() ? refuse : run_asked)(w);
            count++;
        } else {
            append_due(w);
        }
    }
    return is_running_due ? count : count + run_due();
}

void trigger_down(void)
{
    while (first_due)
        drop(next_due());
    each(take_list(world.me), drop);
}
