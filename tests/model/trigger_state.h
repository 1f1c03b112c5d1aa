// SPDX-License-Identifier: BSD-3-Clause
// The state of trigger.c's model: the words in memory, the scenarios, the mistakes, where a thread is.
#ifndef TESTS_MODEL_TRIGGER_STATE_H
#define TESTS_MODEL_TRIGGER_STATE_H

#include "explore.h"

enum { COUNTERS = 2, WORKS = 3, USES = 3, NOTHING = 0, HIGHEST = 255 };

// A counter's words, the pool's, then each work's. A work is referred to by its index + 1.
enum { SUCCESS, FAILURE, NEXT, ARRIVED, LOCK, HEAP, COUNTER, OTHER_SUCCESS = COUNTER };
enum { RETURNED = COUNTERS * COUNTER, WORK };
enum { LINK, STATE, GENERATION, THRESHOLD, WORK_WORDS };
enum { WORDS = WORK + WORKS * WORK_WORDS };
static const char *const word_names[WORDS] = {
    "success",       "failure",      "next",     "arrived",       "lock",
    "heap",          "success'",     "failure'", "next'",         "arrived'",
    "lock'",         "heap'",        "returned", "link[1]",       "state[1]",
    "generation[1]", "threshold[1]", "link[2]",  "state[2]",      "generation[2]",
    "threshold[2]",  "link[3]",      "state[3]", "generation[3]", "threshold[3]"};
_Static_assert((int)WORDS <= MAX_WORDS, "words of the memory");

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
    uint8_t cancels;            // how many threads do: the second one in the place of an adder
} scenarios[] = {
    {{{0, 1, false}, {0, 2, false}, {0, 0, false}}, 2, 1, {SUCCESS, SUCCESS}, {1, 1}, 1},
    {{{0, 2, false}, {0, 1, false}, {0, 0, false}}, 2, 2, {SUCCESS, FAILURE}, {1, 1}, 1},
    {{{0, 2, false}, {0, 2, false}, {0, 2, false}}, 3, 2, {SUCCESS, FAILURE}, {1, 1}, 0},
    {{{0, 3, false}, {0, 2, false}, {0, 0, false}}, 2, 2, {SUCCESS, FAILURE}, {1, 1}, 1},
    {{{0, 1, true}, {1, 2, false}, {0, 1, true}}, 3, 2, {SUCCESS, OTHER_SUCCESS}, {1, 1}, 0},
    {{{1, 1, false}, {0, 1, true}, {0, 0, false}}, 2, 2, {SUCCESS, SUCCESS}, {1, 1}, 1},
    {{{0, 1, false}, {0, 3, false}, {0, 2, false}}, 3, 3, {SUCCESS, SUCCESS}, {1, 2}, 0},
    {{{0, 1, false}, {0, 2, false}, {0, 0, false}}, 2, 2, {SUCCESS, SUCCESS}, {1, 1}, 2},
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
    FREED_LATE,
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

static bool is_canceller(int t)
{
    return t == CANCELLER || (t == ADDER_B && scenario()->cancels > 1);
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
    if (scenario()->cancels > 1)
        s->thread[ADDER_B].at = CANCEL;
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

#endif
