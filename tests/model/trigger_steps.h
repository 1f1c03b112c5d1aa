// SPDX-License-Identifier: BSD-3-Clause
// The steps of trigger.c's model below run_due and cancel: the pool, arming, counting, the lock, and
// the heap.
#ifndef TESTS_MODEL_TRIGGER_STEPS_H
#define TESTS_MODEL_TRIGGER_STEPS_H

#include "trigger_state.h"

// ---- trigger_new, trigger_free, trigger_arm
static enum step given_out(struct state *s, struct thread *me)
{
    expect(!s->owned[me->w], "a work is given out twice");
    s->owned[me->w] = 1;
    return FILL_THRESHOLD;
}

static enum step new_work(struct state *s, int t)
{
    struct thread *me = &s->thread[t];
    if (me->at == POOL_LINK) {
        me->w = me->pool;
        me->pool = load(&s->m, t, of_work(me->w, LINK), RELAXED);
        return given_out(s, me);
    }
    if (!me->pool && variant.mistake == RETURNED_STORED && !me->seen) {
        me->seen = load(&s->m, t, RETURNED, ACQUIRE);
        if (me->seen)
            return NEW;
    } else if (!me->pool && variant.mistake == RETURNED_STORED) {
        me->pool = me->seen;
        me->seen = 0;
        store(&s->m, t, RETURNED, 0, RELEASE);
    } else if (!me->pool) {
        me->pool = exchange(&s->m, t, RETURNED, 0, ACQUIRE);
    }
    if (me->pool)
        return POOL_LINK;
    me->w = ++s->fresh;
    return given_out(s, me);
}

static enum step free_work(struct state *s, int t)
{
    struct thread *me = &s->thread[t];
    if (me->at == FREE_GENERATION) {
        if (is_canceller(t) && !me->running)
            me->w = s->handle;
        fetch_add(&s->m, t, of_work(me->w, GENERATION), 1, RELAXED);
        return FREE_STATE;
    }
    store(&s->m, t, of_work(me->w, STATE), WORK_FREE, RELAXED);
    me->list = RETURNED;
    s->owned[me->w] = 0;
    return PUSH;
}

static enum step push(struct state *s, int t)
{
    struct thread *me = &s->thread[t];
    uint8_t head = load(&s->m, t, me->list, RELAXED);
    store(&s->m, t, of_work(me->w, LINK), head, RELAXED);
    compare_exchange(&s->m, t, me->list, &head, me->w,
                     variant.mistake == PUSH_RELAXED ? RELAXED : RELEASE);
    me->list = 0;
    return back(me);
}

// Forgets the sum, so that there are fewer states.
static bool is_due(struct thread *me, uint8_t threshold)
{
    bool due = me->sum >= threshold;
    me->sum = 0;
    return due;
}

static enum step take(struct state *s, int t);

static void plan_to_arm(struct thread *me)
{
    later(me, ARM_LOOK);
    switch ((enum mistake)variant.mistake) {
    case LOOK_BEFORE_LOWER:
        later(me, LOWER);
        later(me, SUM_SUCCESS);
        later(me, PUSH);
        break;
    case LOWER_BEFORE_PUSH:
        later(me, SUM_SUCCESS);
        later(me, PUSH);
        later(me, LOWER);
        break;
    default:
        later(me, SUM_SUCCESS);
        later(me, LOWER);
        later(me, PUSH);
    }
}

static enum step arm(struct state *s, int t)
{
    struct thread *me = &s->thread[t];
    switch ((enum step)me->at) {
    case FILL_THRESHOLD:
        s->use_of[me->w] = me->use;
        me->threshold = threshold_of(s, me->w);
        me->c = scenario()->use[me->use].counter;
        store(&s->m, t, of_work(me->w, THRESHOLD), me->threshold, RELAXED);
        return FILL_STATE;
    case FILL_STATE:
        store(&s->m, t, of_work(me->w, STATE), WORK_ARMED, RELAXED);
        if (me->use == 0)
            s->handle_generation = peek(&s->m, t, of_work(me->w, GENERATION));
        me->list = (uint8_t)of_counter(me->c, ARRIVED);
        plan_to_arm(me);
        return back(me);
    default:
        note(t, "has armed use %d", me->use);
        s->handle = me->use == 0 ? me->w : s->handle;
        s->in_time[me->use] = true_sum(s, me->c) < threshold_of(s, me->w);
        later(me, ++me->use < scenario()->uses ? NEW : DONE);
        return is_due(me, threshold_of(s, me->w)) ? take(s, t) : back(me);
    }
}

// ---- counter.h, lower_next
static enum step sum(struct state *s, int t)
{
    struct thread *me = &s->thread[t];
    if (me->at == SUM_SUCCESS) {
        me->sum = load(&s->m, t, of_counter(me->c, SUCCESS), SEQ_CST);
        return SUM_FAILURE;
    }
    me->sum = (uint8_t)(me->sum + load(&s->m, t, of_counter(me->c, FAILURE), SEQ_CST));
    if (me->depth == 1 && variant.mistake == LOOK_BEFORE_ADD)
        return ADD_LOOK;
    return back(me);
}

static enum step add(struct state *s, int t)
{
    struct thread *me = &s->thread[t];
    bool looks_first = variant.mistake == LOOK_BEFORE_ADD;
    if (me->at == ADD) {
        me->c = me->adds / COUNTER;
        fetch_add(&s->m, t, me->adds, me->running ? 1 : scenario()->amount[t - ADDER_A], SEQ_CST);
        if (looks_first)
            return me->seen ? TAKE : back(me);
        return call(me, SUM_SUCCESS, ADD_LOOK);
    }
    uint8_t next = load(&s->m, t, of_counter(me->c, NEXT), SEQ_CST);
    if (looks_first) {
        me->seen = me->sum + 1 >= next;
        return ADD;
    }
    return is_due(me, next) ? TAKE : back(me);
}

static enum step lower(struct state *s, int t)
{
    struct thread *me = &s->thread[t];
    int word = of_counter(me->c, NEXT);
    uint8_t next = load(&s->m, t, word, SEQ_CST);
    if (me->threshold < next)
        compare_exchange(&s->m, t, word, &next, me->threshold, SEQ_CST);
    me->threshold = 0;
    return back(me);
}

// ---- The lock
static void hold(struct state *s, int t, int c)
{
    expect(!s->holder[c], "two hold the lock");
    s->holder[c] = (uint8_t)(t + 1);
}

static enum step taken(struct state *s, int t)
{
    struct thread *me = &s->thread[t];
    hold(s, t, me->c);
    if (me->running) {
        expect(!me->queued, "one more counter is queued than the model has room for");
        me->queued = (uint8_t)(me->c + 1);
        return back(me);
    }
    me->running = 1;
    me->run_c = me->c;
    return RAISE;
}

static enum step take(struct state *s, int t)
{
    struct thread *me = &s->thread[t];
    int word = of_counter(me->c, LOCK);
    uint8_t lock = load(&s->m, t, word, RELAXED);
    if (lock != LOCK_FREE && variant.mistake == NO_NOTE)
        return back(me);
    int want = lock == LOCK_FREE ? LOCK_HELD : LOCK_HELD_AGAIN;
    compare_exchange(&s->m, t, word, &lock, want, ACQ_REL);
    return lock == LOCK_FREE ? taken(s, t) : back(me);
}

static enum step given(struct thread *me)
{
    if (!me->queued) {
        me->running = me->run_c = 0;
        return back(me);
    }
    me->run_c = (uint8_t)(me->queued - 1);
    me->c = me->run_c;
    me->queued = 0;
    return RAISE;
}

// Also UNHOLD. False: there was a note.
static bool give(struct state *s, int t)
{
    int c = s->thread[t].c, lock = of_counter(c, LOCK);
    uint8_t held = LOCK_HELD;
    s->holder[c] = 0;
    if (variant.mistake == NOTE_IGNORED)
        exchange(&s->m, t, lock, LOCK_FREE, ACQ_REL);
    else if (!compare_exchange(&s->m, t, lock, &held, LOCK_FREE,
                               variant.mistake == GIVE_RELAXED ? RELAXED : ACQ_REL)) {
        s->holder[c] = (uint8_t)(t + 1);
        return false;
    }
    return true;
}

// ---- The heap, with the lock held
static void change_heap(struct state *s, int t, int w, bool is_in)
{
    int c = s->thread[t].c, word = of_counter(c, HEAP), set = peek(&s->m, t, word);
    expect(s->holder[c] == t + 1, "the heap is touched without the lock");
    expect(!!(set >> w & 1) != is_in, "a work is in the heap twice, or taken from where it is not");
    store(&s->m, t, word, set ^ 1 << w, RELAXED);
    s->order[w] = is_in ? s->order[w] : 0;
}

static uint8_t least(const struct state *s, int t)
{
    uint8_t set = peek(&s->m, t, of_counter(s->thread[t].c, HEAP)), best = NOTHING;
    for (uint8_t w = 1; w <= WORKS; w++) {
        if (!(set >> w & 1))
            continue;
        int by_threshold = best ? threshold_of(s, w) - threshold_of(s, best) : -1;
        if (by_threshold < 0 || (by_threshold == 0 && s->order[w] < s->order[best]))
            best = w;
    }
    return best;
}

// Only the order among those that are in a heap counts.
static void insert(struct state *s, int t, uint8_t w)
{
    uint8_t set = 0;
    for (int c = 0; c < COUNTERS; c++)
        set |= peek(&s->m, t, of_counter(c, HEAP));
    s->orders = set ? s->orders : 0;
    s->order[w] = ++s->orders;
    change_heap(s, t, w, true);
}

static enum step turn_or_insert(struct thread *me)
{
    if (variant.mistake == NEWEST_FIRST) {
        me->oldest = me->newest;
        me->newest = NOTHING;
    }
    if (me->newest)
        return TURN_LOAD;
    return me->oldest ? INSERT_LINK : back(me);
}

static enum step collect(struct state *s, int t)
{
    struct thread *me = &s->thread[t];
    uint8_t w;
    switch ((enum step)me->at) {
    case COLLECT:
        me->newest = exchange(&s->m, t, of_counter(me->c, ARRIVED), 0, ACQUIRE);
        return turn_or_insert(me);
    case TURN_LOAD:
        me->seen = load(&s->m, t, of_work(me->newest, LINK), RELAXED);
        return TURN_STORE;
    case TURN_STORE:
        store(&s->m, t, of_work(me->newest, LINK), me->oldest, RELAXED);
        me->oldest = me->newest;
        me->newest = me->seen;
        me->seen = 0;
        return me->newest ? TURN_LOAD : INSERT_LINK;
    case INSERT_LINK:
        me->w = me->oldest;
        me->oldest = load(&s->m, t, of_work(me->w, LINK), RELAXED);
        return INSERT;
    default:
        w = me->w;
        expect(load(&s->m, t, of_work(w, THRESHOLD), RELAXED) == threshold_of(s, w),
               "a work is used before it is filled in");
        insert(s, t, w);
        me->w = 0;
        return me->oldest ? INSERT_LINK : back(me);
    }
}

#endif
