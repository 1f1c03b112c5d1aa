// SPDX-License-Identifier: BSD-3-Clause
// Arming, releasing and cancelling works: lib/core/trigger.c and counter.h.
//
// A thread takes works from the pool and arms them; there may be fewer than it arms, then it waits
// for one to come back and uses it again. Two threads add to the counters, a fourth cancels what was
// armed first by its handle, or the second of the two does, too. In the chained scenarios a work counts its end
// on the second counter, on which others are armed.
//
// The heap is one word, a set of works, that only the holder of the lock touches: so it is seen by
// the next holder only if the lock orders it. Order within it is by threshold, then by arrival.
// TIMEOUT: 180
#include "explore.h"
#include "trigger_state.h"
#include "trigger_steps.h"

// ---- run_due
static void check_run(struct state *s, int t)
{
    const struct thread *me = &s->thread[t];
    int use = s->use_of[me->w];
    note(t, "runs use %d", use);
    s->in_time[use] = 0;
    expect(true_sum(s, me->c) >= threshold_of(s, me->w), "a work runs below its threshold");
    expect(!s->ran[use]++, "a work runs twice");
    expect(use != 0 || !s->cancelled, "a work runs that was cancelled");
    for (int earlier = 0; earlier < use; earlier++)
        if (scenario()->use[earlier].counter == me->c &&
            scenario()->use[earlier].threshold == threshold_of(s, me->w))
            expect(s->ran[earlier] || (earlier == 0 && s->cancelled),
                   "works of the same threshold run out of order");
    for (int other = 0; other < USES; other++)
        if (scenario()->use[other].counter == me->c && s->in_time[other] &&
            scenario()->use[other].threshold < threshold_of(s, me->w))
            expect(variant.mistake != ORDER_OF_ALL, "a work runs before one of a lower threshold");
}

static enum step finish(struct state *s, struct thread *me)
{
    later(me, RUN_LEAST);
    if (scenario()->use[s->use_of[me->w]].counts) {
        me->adds = OTHER_SUCCESS;
        later(me, ADD);
    }
    return FREE_GENERATION;
}

static enum step nothing_due(struct thread *me, uint8_t threshold)
{
    me->threshold = threshold;
    me->w = 0;
    if (variant.mistake == NO_LAST_LOOK)
        return call(me, LOWER, GIVE);
    later(me, LAST_LOOK);
    return call(me, LOWER, SUM_SUCCESS);
}

static enum step run_due(struct state *s, int t)
{
    struct thread *me = &s->thread[t];
    bool taken_first = variant.mistake == TAKEN_BEFORE_RAISED;
    switch ((enum step)me->at) {
    case RAISE:
        store(&s->m, t, of_counter(me->c, NEXT), HIGHEST,
              variant.mistake == RAISE_RELAXED ? RELAXED : SEQ_CST);
        return taken_first ? RUN_LEAST : call(me, COLLECT, RUN_LEAST);
    case RUN_LEAST:
        me->c = me->run_c;
        me->w = least(s, t);
        return me->w ? call(me, SUM_SUCCESS, RUN_THRESHOLD) : nothing_due(me, HIGHEST);
    case RUN_THRESHOLD:
        if (!is_due(me, load(&s->m, t, of_work(me->w, THRESHOLD), RELAXED)))
            return nothing_due(me, threshold_of(s, me->w));
        change_heap(s, t, me->w, false);
        return RUN_STATE;
    case RUN_STATE:
        store(&s->m, t, of_work(me->w, STATE), WORK_RELEASED, RELAXED);
        check_run(s, t);
        return finish(s, me);
    case LAST_LOOK:
        if (is_due(me, load(&s->m, t, of_counter(me->c, NEXT), SEQ_CST)))
            return RAISE;
        return GIVE;
    case GIVE: return give(s, t) ? given(me) : GIVE_AGAIN;
    default: exchange(&s->m, t, of_counter(me->c, LOCK), LOCK_HELD, ACQ_REL); return RAISE;
    }
}

// ---- trigger_cancel
static enum step unhold(struct state *s, int t)
{
    struct thread *me = &s->thread[t];
    int lock = of_counter(me->c, LOCK);
    switch ((enum step)me->at) {
    case UNHOLD:
        if (me->armed && variant.mistake == FREED_LATE)
            later(me, FREE_GENERATION);
        return give(s, t) ? back(me) : UNHOLD_AGAIN;
    case UNHOLD_AGAIN: exchange(&s->m, t, lock, LOCK_HELD, ACQ_REL); return UNHOLD_STORE;
    default:
        exchange(&s->m, t, lock, LOCK_FREE, ACQ_REL);
        s->holder[me->c] = 0;
        return variant.mistake == CANCEL_IGNORES_NOTE ? back(me) : TAKE;
    }
}

static enum step cancel(struct state *s, int t)
{
    struct thread *me = &s->thread[t];
    uint8_t w = s->handle, is_free = LOCK_FREE;
    int generation = of_work(w, GENERATION);
    switch ((enum step)me->at) {
    case CANCEL: me->c = scenario()->use[s->use_of[w]].counter; return CANCEL_HANDLE;
    case CANCEL_HANDLE:
        if (load(&s->m, t, generation, ACQUIRE) == s->handle_generation)
            return HOLD;
        return back(me);
    case HOLD:
        compare_exchange(&s->m, t, of_counter(me->c, LOCK), &is_free, LOCK_HELD, ACQ_REL);
        hold(s, t, me->c);
        if (variant.mistake == CANCEL_UNCOLLECTED)
            return CANCEL_GENERATION;
        return call(me, COLLECT, CANCEL_GENERATION);
    case CANCEL_GENERATION:
        me->armed = load(&s->m, t, generation, ACQUIRE) == s->handle_generation ||
                    variant.mistake == GENERATION_ONCE;
        return CANCEL_STATE;
    default:
        me->armed &= load(&s->m, t, of_work(w, STATE), RELAXED) == WORK_ARMED;
        if (me->armed) {
            note(t, "cancels");
            expect(!s->ran[0], "a work is cancelled that has run");
            expect(!s->cancelled++, "a work is cancelled twice");
            s->in_time[0] = 0;
            change_heap(s, t, w, false);
        }
        if (!me->armed || variant.mistake == FREED_LATE)
            return UNHOLD;
        later(me, UNHOLD);
        return FREE_GENERATION;
    }
}

static bool is_held_up(const struct state *s, int t)
{
    const struct thread *me = &s->thread[t];
    switch ((enum step)me->at) {
    case NEW: return !me->pool && s->fresh == scenario()->works && !peek(&s->m, t, RETURNED);
    case CANCEL: return !s->handle;
    case HOLD: return peek(&s->m, t, of_counter(me->c, LOCK)) != LOCK_FREE;
    case DONE: return true;
    default: return false;
    }
}

static enum step next_step(struct state *s, int t)
{
    switch ((enum step)s->thread[t].at) {
    case NEW:
    case POOL_LINK: return new_work(s, t);
    case FILL_THRESHOLD:
    case FILL_STATE:
    case ARM_LOOK: return arm(s, t);
    case PUSH: return push(s, t);
    case LOWER: return lower(s, t);
    case SUM_SUCCESS:
    case SUM_FAILURE: return sum(s, t);
    case ADD:
    case ADD_LOOK: return add(s, t);
    case TAKE: return take(s, t);
    case COLLECT:
    case TURN_LOAD:
    case TURN_STORE:
    case INSERT_LINK:
    case INSERT: return collect(s, t);
    case FREE_GENERATION:
    case FREE_STATE: return free_work(s, t);
    case UNHOLD:
    case UNHOLD_AGAIN:
    case UNHOLD_STORE: return unhold(s, t);
    default: return s->thread[t].at >= CANCEL ? cancel(s, t) : run_due(s, t);
    }
}

// Steps that nobody else can see or disturb: on a list or a heap that is the thread's own, or a
// store, which is seen only when it leaves the buffer, or to a word that nobody changes or reads in
// the scenario. They go with the step before.
static bool is_local(enum step at)
{
    switch (at) {
    case SUM_FAILURE: return scenario()->word[1] % COUNTER != FAILURE;
    case FREE_GENERATION: return !scenario()->cancels;
    case POOL_LINK:
    case FILL_THRESHOLD:
    case FILL_STATE:
    case RAISE:
    case RUN_LEAST:
    case RUN_THRESHOLD:
    case RUN_STATE:
    case TURN_LOAD:
    case TURN_STORE:
    case INSERT_LINK:
    case INSERT:
    case FREE_STATE: return true;
    default: return false;
    }
}

static bool step(void *state, int t, int choice)
{
    struct state *s = state;
    (void)choice;
    if (is_held_up(s, t))
        return false;
    do
        s->thread[t].at = (uint8_t)next_step(s, t);
    while (is_local(s->thread[t].at) && !broken);
    if (s->thread[t].at == DONE)
        s->thread[t] = (struct thread){.pool = s->thread[t].pool};
    return true;
}

// Of a list of the pool; longer than there are works when it has no end.
static int length_of(const struct state *s, uint8_t list)
{
    int n = 0;
    for (; list && n <= WORKS; n++)
        list = s->m.word[of_work(list, LINK)];
    return n;
}

static void check_pool(const struct state *s)
{
    int owned = 0;
    for (int w = 1; w <= WORKS; w++)
        owned += s->owned[w];
    expect(length_of(s, s->m.word[RETURNED]) + length_of(s, s->thread[ARMER].pool) ==
               s->fresh - owned,
           "a work that came back is lost");
}

static void end(const void *state)
{
    const struct state *s = state;
    for (int t = 0; t < THREADS; t++)
        expect(s->thread[t].at == DONE, "somebody waits for ever");
    for (int c = 0; c < COUNTERS; c++)
        expect(s->m.word[of_counter(c, LOCK)] == LOCK_FREE, "the lock is not free at the end");
    for (int use = 0; use < scenario()->uses; use++) {
        bool is_due = true_sum(s, scenario()->use[use].counter) >= scenario()->use[use].threshold;
        bool is_cancelled = use == 0 && s->cancelled;
        expect(!is_due || s->ran[use] || is_cancelled, "a work that is due did not run");
    }
    expect(!scenario()->cancels || s->ran[0] || s->cancelled,
           "cancel came too late for a work that did not run");
    check_pool(s);
}

static const struct variant variants[] = {
    {NONE, ARM, 0, "a work used again, cancelled"},
    {NONE, ARM, 1, "thresholds falling, cancelled"},
    {NONE, ARM, 2, "works used again, one threshold"},
    {NONE, ARM, 3, "out of reach, cancelled"},
    {NONE, ARM, 4, "a chain, works used again"},
    {NONE, ARM, 5, "a chain, cancelled"},
    {NONE, ARM, 6, "three thresholds"},
    {NONE, ARM, 7, "cancelled by two"},
    {LOOK_BEFORE_LOWER, TSO, 6, "arming looks at the sum, then lowers next"},
    {LOWER_BEFORE_PUSH, TSO, 6, "arming lowers next, then pushes"},
    {TAKEN_BEFORE_RAISED, TSO, 2, "the list is taken before next is raised"},
    {LOOK_BEFORE_ADD, TSO, 2, "adding looks at next, then adds"},
    {NO_NOTE, TSO, 2, "who does not get the lock leaves no note"},
    {NOTE_IGNORED, TSO, 2, "the holder does not look at the note"},
    {NO_LAST_LOOK, TSO, 6, "no look at the sum once next is lowered"},
    {NEWEST_FIRST, TSO, 2, "works are collected newest first"},
    {PUSH_RELAXED, ARM, 2, "push does not release"},
    {GIVE_RELAXED, ARM, 1, "give does not release"},
    {RAISE_RELAXED, ARM, 6, "next is raised by a relaxed store"},
    {CANCEL_UNCOLLECTED, TSO, 1, "cancel does not collect"},
    {CANCEL_IGNORES_NOTE, TSO, 1, "cancel does not look at the note"},
    {GENERATION_ONCE, TSO, 0, "the generation is looked at without the lock"},
    {FREED_LATE, TSO, 7, "a work is freed when the lock is given back"},
    {RETURNED_STORED, TSO, 2, "returned works are taken by a load and a store"},
    {ORDER_OF_ALL, TSO, 6, "order across thresholds, not promised"},
};

int main(int argc, char **argv)
{
    static const struct model trigger = {.size = sizeof(struct state),
                                         .threads = THREADS,
                                         .choices = 1,
                                         .start = start,
                                         .step = step,
                                         .end = end,
                                         .thread_names = thread_names,
                                         .word_names = word_names};
    return explore_all(&trigger, variants, sizeof variants / sizeof *variants, argc, argv);
}
