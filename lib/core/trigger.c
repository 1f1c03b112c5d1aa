// SPDX-License-Identifier: BSD-3-Clause
// Arming, releasing and cancelling works. See trigger.h for the protocol.
#include "trigger.h"

#include "counter.h"
#include "deferred.h"
#include "help.h"
#include "log.h"
#include "net.h"
#include "wait.h"
#include "work_heap.h"

#include <pthread.h>
#include <stdlib.h>
#include <string.h>

// ---- Works that are free. Any PE returns a work to its owner's list; the owner takes that whole
// list when it has none left, so that no link is ever popped by two.
static pthread_mutex_t pool_lock = PTHREAD_MUTEX_INITIALIZER;
static uint64_t pool_free;  // a list
static uint32_t pool_fresh; // works never used so far

struct work *trigger_new(void)
{
    struct work_pool *pool = &slice_of(world.me)->works;
    struct work *w = NULL;
    pthread_mutex_lock(&pool_lock);
    if (!pool_free)
        // Pairs with the release in trigger_free: the work is no longer used.
        pool_free = atomic_exchange_explicit(&pool->returned, 0, memory_order_acquire);
    if (pool_free) {
        w = ref_at(pool_free);
        pool_free = atomic_load_explicit(&w->link, memory_order_relaxed);
    } else if (pool_fresh < LIMIT_WORKS) {
        w = &pool->work[pool_fresh++];
    }
    pthread_mutex_unlock(&pool_lock);
    if (!w)
        return NULL;
    ORDERED_ELSEWHERE(); // another PE freed the work
    w->owner = world.me;
    return w;
}

void trigger_push(_Atomic uint64_t *list, struct work *w)
{
    uint64_t head = atomic_load_explicit(list, memory_order_relaxed);
    do
        atomic_store_explicit(&w->link, head, memory_order_relaxed);
    while (!atomic_compare_exchange_weak_explicit(list, &head, ref_of(w), memory_order_seq_cst,
                                                  memory_order_relaxed));
}

uint64_t trigger_reversed(uint64_t newest)
{
    uint64_t oldest = 0;
    while (newest) {
        struct work *w = ref_at(newest);
        uint64_t older = atomic_load_explicit(&w->link, memory_order_relaxed);
        atomic_store_explicit(&w->link, oldest, memory_order_relaxed);
        oldest = newest;
        newest = older;
    }
    return oldest;
}

void trigger_free(struct work *w)
{
    atomic_fetch_add_explicit(&w->generation, 1, memory_order_relaxed);
    atomic_store_explicit(&w->state, WORK_FREE, memory_order_relaxed);
    ORDERED_ELSEWHERE(); // its owner arms it next, and another thread of ours may run it then
    trigger_push(&slice_of(w->owner)->works.returned, w);
}

// ---- Running
// Somebody else may go on with the counter: pairs with the acquire loads of both counts.
static void leave_hands(struct counter *c, uint32_t state)
{
    if (state == WORK_ONWARD)
        atomic_fetch_sub_explicit(&c->onward, 1, memory_order_release);
    if (state == WORK_ONWARD || state == WORK_HANDED)
        atomic_fetch_sub_explicit(&c->handed, 1, memory_order_release);
}

void trigger_finish(struct work *w, int status)
{
    struct counter *done = w->done ? ref_at(w->done) : NULL;
    struct counter *on = ref_at(atomic_load_explicit(&w->counter, memory_order_relaxed));
    uint32_t state = atomic_load_explicit(&w->state, memory_order_relaxed);
    int owner = w->owner;
    trigger_free(w);
    leave_hands(on, state);
    if (done)
        counter_add(done, owner, status == SHOAL_OK, status != SHOAL_OK);
}

static void hand_over(struct work *w, struct counter *c, int pe)
{
    if (help_is_gone(pe)) {
        trigger_finish(w, operation_end(&w->op, SHOAL_EFAULT));
        return;
    }
    c->doer = pe;
    atomic_fetch_add_explicit(&c->handed, 1, memory_order_relaxed);
    trigger_hand(w, pe, WORK_HANDED);
}

// To the PE that can do it: needs, or for one on another node whoever reaches the memory here.
static void pass_on(struct work *w, struct counter *c, int needs)
{
    if (world_is_here(needs))
        hand_over(w, c, needs);
    else if (w->op.has_local && !place_here(w->op.local))
        hand_over(w, c, w->op.local.pe);
    else
        trigger_finish(w, operation_end(&w->op, help_run(&w->op, needs)));
}

static void run(struct work *w, struct counter *c)
{
    int needs;
    if (unlikely(net.facts.chain_max) && deferred_start(w))
        return;
    int status = operation_run(&w->op, &needs);
    if (status == SHOAL_EAGAIN)
        pass_on(w, c, needs);
    else
        trigger_finish(w, status);
}

void trigger_wait_for_deferred(const struct counter *c)
{
    struct waiter wait = waiter_start(&world_ctl(world.me)->bell);
    while (trigger_has_deferred(c))
        waiter_step(&wait);
}

// What another PE has to do comes first: this goes there as well, to be done in order. So does what the network
// runs of the same counter; its owner knows when that is done.
static void run_in_turn(struct work *w, struct counter *c)
{
    // Pairs with leave_hands.
    if (unlikely(atomic_load_explicit(&c->handed, memory_order_acquire)) &&
        !help_is_gone(c->doer)) {
        hand_over(w, c, c->doer);
        return;
    }
    if (unlikely(trigger_has_deferred(c))) {
        if (w->owner != world.me) {
            hand_over(w, c, w->owner);
            return;
        }
        trigger_wait_for_deferred(c);
    }
    run(w, c);
}

// ---- The lock: never waited for, but by those who cancel.
static bool take(struct counter *c)
{
    uint32_t lock = atomic_load_explicit(&c->lock, memory_order_relaxed);
    for (;;) {
        uint32_t want = lock == LOCK_FREE ? LOCK_HELD : LOCK_HELD_AGAIN;
        // A note is written also over another: the holder takes in the latest.
        if (atomic_compare_exchange_weak_explicit(&c->lock, &lock, want, memory_order_acq_rel,
                                                  memory_order_relaxed)) {
            ORDERED_ELSEWHERE();
            return lock == LOCK_FREE;
        }
    }
}

// False: somebody left a note, look again.
static bool give(struct counter *c)
{
    ORDERED_ELSEWHERE();
    uint32_t held = LOCK_HELD;
    if (atomic_compare_exchange_strong_explicit(&c->lock, &held, LOCK_FREE, memory_order_acq_rel,
                                                memory_order_acquire))
        return true;
    // An exchange, not a store: it takes in what the author of the latest note did before.
    atomic_exchange_explicit(&c->lock, LOCK_HELD, memory_order_acq_rel);
    return false;
}

static void lower_next(struct counter *c, uint64_t threshold)
{
    uint64_t next = atomic_load_explicit(&c->next, memory_order_seq_cst);
    while (threshold < next &&
           !atomic_compare_exchange_weak_explicit(&c->next, &next, threshold, memory_order_seq_cst,
                                                  memory_order_seq_cst))
        ;
}

// Moves what was armed since into the heap, oldest first.
static void collect(struct counter *c)
{
    // Pairs with trigger_push: the works are filled in. seq_cst: after next was raised, or a work armed
    // between the two would be forgotten.
    uint64_t oldest = trigger_reversed(
        atomic_exchange_explicit(&c->arrived, 0, memory_order_seq_cst));
    ORDERED_ELSEWHERE();
    while (oldest) {
        struct work *w = ref_at(oldest);
        oldest = atomic_load_explicit(&w->link, memory_order_relaxed);
        work_heap_insert(c, w);
    }
}

// With the lock held. next is raised before the list is taken: a work armed later lowers it again.
static void run_due(struct counter *c)
{
    uint64_t next;
    do {
        atomic_store_explicit(&c->next, UINT64_MAX, memory_order_seq_cst);
        collect(c);
        struct work *w;
        while ((w = work_heap_least(c)) && w->threshold <= counter_sum(c)) {
            work_heap_remove(c, w);
            atomic_store_explicit(&w->state, WORK_RELEASED, memory_order_relaxed);
            run_in_turn(w, c);
        }
        lower_next(c, w ? w->threshold : UINT64_MAX);
        next = atomic_load_explicit(&c->next, memory_order_seq_cst);
    } while (next != UINT64_MAX && counter_sum(c) >= next); // a sum may be UINT64_MAX as well
}

// Counters that this thread holds and has to run, in the order they came due.
struct queue {
    struct counter **counter;
    size_t first, end, room;
};
static TLS_FAST struct queue queue;

static void enqueue(struct counter *c)
{
    if (queue.end == queue.room && queue.first) {
        memmove(queue.counter, queue.counter + queue.first,
                (queue.end - queue.first) * sizeof *queue.counter);
        queue.end -= queue.first;
        queue.first = 0;
    }
    if (queue.end == queue.room) {
        size_t room = queue.room ? 2 * queue.room : 16;
        struct counter **grown = realloc(queue.counter, room * sizeof *grown);
        if (!grown)
            fatal("no memory to run triggered operations (%zu counters)", room);
        queue.counter = grown;
        queue.room = room;
    }
    queue.counter[queue.end++] = c;
}

void trigger_release(struct counter *c)
{
    if (!take(c))
        return;
    if (!trigger_is_running()) { // the normal case: one counter, and nothing nested
        busy |= BUSY_WORKS;
        do
            run_due(c);
        while (!give(c));
        while (queue.first < queue.end) {
            c = queue.counter[queue.first++];
            do
                run_due(c);
            while (!give(c));
        }
        free(queue.counter);
        queue = (struct queue){0};
        busy &= ~(unsigned)BUSY_WORKS;
    } else {
        enqueue(c);
    }
}

void trigger_arm(struct work *w, struct counter *c, uint64_t threshold)
{
    ORDERED_ELSEWHERE();
    w->threshold = threshold;
    atomic_store_explicit(&w->counter, ref_of(c), memory_order_relaxed);
    atomic_store_explicit(&w->state, WORK_ARMED, memory_order_release); // see is_in_state
    ORDERED_ELSEWHERE();
    trigger_push(&c->arrived, w);
    lower_next(c, threshold);
    if (unlikely(counter_sum(c) >= threshold))
        trigger_release(c);
}

// ---- Cancelling
static bool try_hold(struct counter *c)
{
    uint32_t lock = LOCK_FREE;
    if (!atomic_compare_exchange_strong_explicit(&c->lock, &lock, LOCK_HELD, memory_order_acq_rel,
                                                 memory_order_relaxed))
        return false;
    ORDERED_ELSEWHERE();
    return true;
}

static void hold(struct counter *c)
{
    struct waiter wait = waiter_start(&world_ctl(world.me)->bell);
    while (!try_hold(c))
        waiter_step(&wait);
}

// What others left as a note meanwhile is run as if it were released now.
static void unhold(struct counter *c)
{
    if (!give(c)) {
        atomic_exchange_explicit(&c->lock, LOCK_FREE, memory_order_acq_rel);
        trigger_release(c);
    }
}

struct work *trigger_take_next(struct counter *c, bool is_held, uint64_t more,
                               bool (*fits)(const struct work *w))
{
    if (!is_held && !try_hold(c))
        return NULL;
    collect(c);
    struct work *w = work_heap_least(c);
    if (w && w->threshold == counter_sum(c) + more && fits(w)) {
        work_heap_remove(c, w);
        atomic_store_explicit(&w->state, WORK_DEFERRED, memory_order_relaxed);
        atomic_fetch_add_explicit(&c->deferred, 1, memory_order_relaxed);
    } else {
        w = NULL;
    }
    if (!is_held)
        unhold(c);
    return w;
}

uint64_t trigger_handle(const struct work *w)
{
    uint64_t index = (uint64_t)(w - slice_of(w->owner)->works.work) + 1;
    return index << 32 | atomic_load_explicit(&w->generation, memory_order_relaxed);
}

static bool is_in_state(const struct work *w, uint64_t handle, enum work_state state)
{
    // The state first: who sees one of a later use (trigger_arm) sees its generation, too.
    return atomic_load_explicit(&w->state, memory_order_acquire) == state &&
           atomic_load_explicit(&w->generation, memory_order_relaxed) == (uint32_t)handle;
}

int trigger_cancel(uint64_t handle)
{
    uint64_t index = handle >> 32;
    if (index == 0 || index > LIMIT_WORKS || trigger_is_running())
        return SHOAL_EINVAL;
    struct work *w = &slice_of(world.me)->works.work[index - 1];
    uint64_t on = atomic_load_explicit(&w->counter, memory_order_relaxed);
    if (atomic_load_explicit(&w->generation, memory_order_acquire) != (uint32_t)handle || !on)
        return SHOAL_ELATE;
    struct counter *c = ref_at(on);
    hold(c);
    collect(c);
    bool armed = is_in_state(w, handle, WORK_ARMED);
    if (armed) { // free before another thread can cancel it, too
        work_heap_remove(c, w);
        trigger_free(w);
    }
    unhold(c);
    struct waiter wait = waiter_start(&world_ctl(world.me)->bell);
    while (is_in_state(w, handle, WORK_DEFERRED)) // until everybody can see that it was released
        waiter_step(&wait);
    return armed ? SHOAL_OK : SHOAL_ELATE;
}

size_t trigger_cancel_all(struct counter *c)
{
    size_t count = 0;
    struct work *w;
    deferred_wait(); // what the network runs may yet count here
    hold(c);
    collect(c);
    for (; (w = work_heap_least(c)); count++) {
        work_heap_remove(c, w);
        trigger_free(w);
    }
    unhold(c);
    return count;
}
