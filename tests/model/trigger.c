// SPDX-License-Identifier: BSD-3-Clause
// Arming, releasing and cancelling works: lib/core/trigger.c and counter.h.
//
// A thread takes works from the pool and arms them; there may be fewer than it arms, then it waits
// for one to come back and uses it again. Two threads add to the counters, a fourth cancels what was
// armed first by its handle. In the chained scenarios a work counts its end on the second counter,
// on which others are armed.
//
// The heap is one word, a set of works, that only the holder of the lock touches: so it is seen by
// the next holder only if the lock orders it. Order within it is by threshold, then by arrival.
// TIMEOUT: 180
#include "explore.h"

enum { COUNTERS = 2, WORKS = 3, USES = 3, NOTHING = 0, HIGHEST = 255 };

// A counter's words, the pool's, then each work's. A work is referred to by its index + 1.
enum { SUCCESS, FAILURE, NEXT, ARRIVED, LOCK, HEAP, COUNTER };
enum { RETURNED = COUNTERS * COUNTER, WORK };
enum { LINK, STATE, GENERATION, THRESHOLD, WORK_WORDS };
enum { WORDS = WORK + WORKS * WORK_WORDS };
static const char *const word_names[WORDS] = {
    "success",       "failure",      "next",     "arrived",       "lock",
    "heap",          "success'",     "failure'", "next'",         "arrived'",
    "lock'",         "heap'",        "returned", "link[1]",       "state[1]",
    "generation[1]", "threshold[1]", "link[2]",  "state[2]",      "generation[2]",
    "threshold[2]",  "link[3]",      "state[3]", "generation[3]", "threshold[3]"};
_Static_assert((int)(int)(int)(int)(int)WORDS <= MAX_WORDS, "words of the memory");

enum { LOCK_FREE, LOCK_HELD, LOCK_HELD_AGAIN };
enum { WORK_FREE, WORK_ARMED, WORK_RELEASED };

enum { ARMER, ADDER_A, ADDER_B, CANCELLER, THREADS };
static const char *const thread_names[THREADS] = {"armer", "adder a", "adder b", "canceller"};

static const struct scenario {
    struct {
        uint8_t counter, threshold;
        bool counts; // its end, on counter 1
    } use[USES];
    uint8_t uses, works;        // armed; in the pool
    uint8_t word[2], amount[2]; // that the adders add to, and how much
    bool cancels;
} scenarios[] = {
    {{{0, 1, false}, {0, 2, false}, {0, 2, false}}, 3, 2, {SUCCESS, SUCCESS}, {1, 1}, true},
    {{{0, 2, false}, {0, 1, false}, {0, 0, false}}, 2, 2, {SUCCESS, FAILURE}, {1, 1}, true},
    {{{0, 2, false}, {0, 2, false}, {0, 2, false}}, 3, 2, {SUCCESS, FAILURE}, {1, 1}, false},
    {{{0, 3, false}, {0, 2, false}, {0, 0, false}}, 2, 2, {SUCCESS, FAILURE}, {1, 1}, true},
    {{{0, 1, true}, {1, 2, false}, {0, 1, true}},
     3,
     2,
     {SUCCESS, COUNTER + SUCCESS},
     {1, 1},
     false},
    {{{1, 1, false}, {0, 1, true}, {0, 0, false}}, 2, 2, {SUCCESS, SUCCESS}, {1, 1}, true},
    {{{0, 1, false}, {0, 3, false}, {0, 2, false}}, 3, 3, {SUCCESS, SUCCESS}, {1, 2}, false},
};

enum mistake {
    NONE,
    LOOK_BEFORE_LOWER,
    LOWER_BEFORE_PUSH,
    TAKEN_BEFORE_RAISED,
    NO_NOTE,
    NOTE_IGNORED,
    NO_LAST_LOOK,
    NEWEST_FIRST,
    LOOK_BEFORE_ADD,
    PUSH_RELAXED,
    GIVE_RELAXED,
    RAISE_RELAXED,
    CANCEL_UNCOLLECTED,
    CANCEL_IGNORES_NOTE,
    GENERATION_ONCE,
    RETURNED_STORED,
    ORDER_OF_ALL // no mistake: a stronger promise than shoal.h makes
};

// A loop of compare-and-exchange is one step: the attempts that fail change nothing.
enum step {
    DONE,
    // trigger_new
    NEW,
    POOL_LINK,
    // trigger_arm, push, lower_next
    FILL_THRESHOLD,
    FILL_STATE,
    ARM_LOOK,
    PUSH,
    LOWER,
    // counter_sum, counter_add, counter_changed
    SUM_SUCCESS,
    SUM_FAILURE,
    ADD,
    ADD_LOOK,
    // trigger_release: take, run_due, give
    TAKE,
    RAISE,
    RUN_LEAST,
    RUN_THRESHOLD,
    RUN_STATE,
    LAST_LOOK,
    GIVE,
    GIVE_AGAIN,
    // collect
    COLLECT,
    TURN_LOAD,
    TURN_STORE,
    INSERT_LINK,
    INSERT,
    // trigger_free
    FREE_GENERATION,
    FREE_STATE,
    // trigger_cancel
    CANCEL,
    CANCEL_HANDLE,
    HOLD,
    CANCEL_GENERATION,
    CANCEL_STATE,
    UNHOLD,
    UNHOLD_AGAIN,
    UNHOLD_STORE
};

enum { MAX_DEPTH = 6 };

struct thread {
    uint8_t at;
    uint8_t depth, stack[MAX_DEPTH]; // steps to go on with, the last one first
    uint8_t c, w;                    // counter and work at hand
    uint8_t sum;                     // counter_sum
    uint8_t threshold;               // for lower_next
    uint8_t list;                    // for push: its word
    uint8_t seen;                    // what a word was
    uint8_t newest, oldest;          // for collect
    uint8_t running, run_c, queued;  // struct queue: the counter being run, one to come (+ 1)
    uint8_t adds;                    // the word that counter_add adds to
    uint8_t use, pool;               // the armer: what to arm next; pool_free
    uint8_t armed;                   // the canceller: what it found
};

struct state {
    struct memory m;
    struct thread thread[THREADS];
    // What really happened.
    uint8_t use_of[WORKS + 1];         // what a work is, or was last, armed for
    uint8_t owned[WORKS + 1];          // it is not in the pool
    uint8_t order[WORKS + 1], orders;  // of arrival in the heap
    uint8_t fresh;                     // works never used
    uint8_t holder[COUNTERS];          // thread + 1
    uint8_t handle, handle_generation; // of use 0, once it is armed: the work
    uint8_t ran[USES], in_time[USES];  // how often; armed before its threshold was reached
    uint8_t cancelled;                 // use 0 was
};

static const struct scenario *scenario(void)
{
    return &scenarios[variant.scenario];
}

static int of_counter(int c, int which)
{
    return c * COUNTER + which;
}

static int of_work(int w, int which)
{
    return WORK + (w - 1) * WORK_WORDS + which;
}

static uint8_t threshold_of(const struct state *s, int w)
{
    return scenario()->use[s->use_of[w]].threshold;
}

static uint8_t true_sum(const struct state *s, int c)
{
    return (uint8_t)(s->m.word[of_counter(c, SUCCESS)] + s->m.word[of_counter(c, FAILURE)]);
}

static void start(void *state)
{
    struct state *s = state;
    for (int c = 0; c < COUNTERS; c++)
        s->m.word[of_counter(c, NEXT)] = HIGHEST;
    for (int t = 0; t < THREADS; t++)
        s->thread[t].depth = 1; // below that: DONE
    s->thread[ARMER].at = NEW;
    for (int i = 0; i < 2; i++) {
        s->thread[ADDER_A + i].at = variant.mistake == LOOK_BEFORE_ADD ? SUM_SUCCESS : ADD;
        s->thread[ADDER_A + i].adds = scenario()->word[i];
        s->thread[ADDER_A + i].c = scenario()->word[i] / COUNTER;
    }
    s->thread[CANCELLER].at = scenario()->cancels ? CANCEL : DONE;
}

// ---- Calls
static void later(struct thread *me, enum step what)
{
    if (me->depth == MAX_DEPTH)
        abort();
    me->stack[me->depth++] = (uint8_t)what;
}

static enum step call(struct thread *me, enum step what, enum step then)
{
    later(me, then);
    return what;
}

static enum step back(struct thread *me)
{
    enum step then = (enum step)me->stack[--me->depth];
    me->stack[me->depth] = 0;
    return then;
}

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
        if (t == CANCELLER && !me->running)
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
        me->adds = COUNTER + SUCCESS;
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
        if (me->armed)
            later(me, FREE_GENERATION);
        return give(s, t) ? back(me) : UNHOLD_AGAIN;
    case UNHOLD_AGAIN: exchange(&s->m, t, lock, LOCK_HELD, ACQ_REL); return UNHOLD_STORE;
    default:
        store(&s->m, t, lock, LOCK_FREE, RELEASE);
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
            s->cancelled = 1;
            s->in_time[0] = 0;
            change_heap(s, t, w, false);
        }
        return UNHOLD;
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
    case FREE_STATE:
    case UNHOLD_STORE: return true;
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
    {NONE, TSO, 0, "works used again, cancelled"},
    {NONE, ARM, 1, "thresholds falling, cancelled"},
    {NONE, ARM, 2, "works used again, one threshold"},
    {NONE, ARM, 3, "out of reach, cancelled"},
    {NONE, ARM, 4, "a chain, works used again"},
    {NONE, TSO, 5, "a chain, cancelled"},
    {NONE, ARM, 6, "three thresholds"},
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
