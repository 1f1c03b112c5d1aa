// SPDX-License-Identifier: BSD-3-Clause
// The sleep and the wake-up of lib/base/wait.[ch], with sleeps that nothing but a ring ends.
//
// Two threads of a process wait with one bell (`near`) for different conditions, and listen to the
// bell of the process's messages (`inbox`) as well. One writer makes the first condition true. The
// other sends a message first; whichever sleeper takes it answers, and only then the second
// condition becomes true. Writers have no fence between their store and their look at `armed`.
// TIMEOUT: 180
#include "explore.h"

enum { NEAR_ARMED, NEAR_SEQ, INBOX_ARMED, INBOX_SEQ, DONE_A, DONE_B, MESSAGE, ANSWER, WORDS };
static const char *const word_names[WORDS] = {"near.armed", "near.seq", "inbox.armed", "inbox.seq",
                                              "done[a]",    "done[b]",  "message",     "answer"};

enum { SLEEPER_A, SLEEPER_B, WRITER_A, WRITER_B, THREADS };
static const char *const thread_names[THREADS] = {"sleeper a", "sleeper b", "writer a", "writer b"};

enum { NEAR, INBOX };
#define ARMED(bell) (2 * (bell))
#define SEQ(bell) (2 * (bell) + 1)

enum mistake {
    NONE,
    NO_MEMBARRIER,
    NO_SECOND_LOOK,
    SEQ_AFTER_ARMED,
    ARMED_CLEARED_LAST,
    ONE_IS_WOKEN,
    SLEEPER_DISARMS,
    SEQ_NOT_COMPARED,
    ONE_BELL,
    RING_WITHOUT_SEQ
};

enum step {
    // a sleeper
    LOOK,
    PROGRESS,
    TAKE_MESSAGE,
    ANSWER_IT,
    READ_SEQ,
    SET_ARMED,
    MEMBARRIER,
    SLEEP,
    ASLEEP,
    DISARM,
    // a writer
    STORE,
    CHECK,
    RING_ARMED,
    RING_SEQ,
    RING_WAKE,
    WAIT_FOR_ANSWER,
    DONE
};

struct thread {
    uint8_t at;
    uint8_t bell;     // being armed, slept on or rung
    uint8_t seq[2];   // of the bells when they were armed
    uint8_t is_armed; // as in struct waiter
    uint8_t hears;    // bit b: in the kernel's queue of bell b
    uint8_t what;     // a writer: the word it stores
};

struct state {
    struct memory m;
    struct thread thread[THREADS];
};

static void start(void *state)
{
    struct state *s = state;
    s->thread[WRITER_A] = (struct thread){.at = STORE, .what = DONE_A, .bell = NEAR};
    s->thread[WRITER_B] = (struct thread){.at = STORE, .what = MESSAGE, .bell = INBOX};
}

// ---- waiter_pause
// Past the look and the progress: arm, or sleep.
static enum step arm_or_sleep(struct thread *me)
{
    me->bell = NEAR;
    if (me->is_armed)
        return SLEEP;
    return variant.mistake == SEQ_AFTER_ARMED ? SET_ARMED : READ_SEQ;
}

// The other bell, or the fence.
static enum step next_to_arm(struct thread *me)
{
    if (me->bell == INBOX || variant.mistake == ONE_BELL)
        return MEMBARRIER;
    me->bell = INBOX;
    return variant.mistake == SEQ_AFTER_ARMED ? SET_ARMED : READ_SEQ;
}

static enum step arm(struct state *s, int t)
{
    struct thread *me = &s->thread[t];
    bool seq_comes_last = variant.mistake == SEQ_AFTER_ARMED;
    if (me->at == READ_SEQ) {
        me->seq[me->bell] = load(&s->m, t, SEQ(me->bell), ACQUIRE);
        return seq_comes_last ? next_to_arm(me) : SET_ARMED;
    }
    store(&s->m, t, ARMED(me->bell), 1, SEQ_CST);
    return seq_comes_last ? READ_SEQ : next_to_arm(me);
}

static enum step woken(struct thread *me)
{
    me->is_armed = 0;
    me->hears = 0;
    memset(me->seq, 0, sizeof me->seq); // not used any more
    return variant.mistake == SLEEPER_DISARMS ? DISARM : LOOK;
}

// futex_waitv: the kernel compares and queues for one bell after the other.
static enum step fall_asleep(struct state *s, int t)
{
    struct thread *me = &s->thread[t];
    fence(&s->m, t);
    bool changed = load(&s->m, t, SEQ(me->bell), SEQ_CST) != me->seq[me->bell];
    if (changed && variant.mistake != SEQ_NOT_COMPARED)
        return woken(me);
    me->hears |= (uint8_t)(1 << me->bell);
    if (me->bell == INBOX || variant.mistake == ONE_BELL)
        return ASLEEP;
    me->bell = INBOX;
    return SLEEP;
}

static enum step sleeper(struct state *s, int t)
{
    struct thread *me = &s->thread[t];
    switch ((enum step)me->at) {
    case LOOK:
        if (load(&s->m, t, t == SLEEPER_A ? DONE_A : DONE_B, ACQUIRE))
            return DONE;
        return PROGRESS;
    case PROGRESS: return load(&s->m, t, MESSAGE, ACQUIRE) ? TAKE_MESSAGE : arm_or_sleep(me);
    case TAKE_MESSAGE:
        return exchange(&s->m, t, MESSAGE, 0, ACQUIRE) ? ANSWER_IT : arm_or_sleep(me);
    case ANSWER_IT: store(&s->m, t, ANSWER, 1, RELEASE); return LOOK;
    case READ_SEQ:
    case SET_ARMED: return arm(s, t);
    case MEMBARRIER:
        if (variant.mistake != NO_MEMBARRIER)
            fence_everywhere(&s->m, t);
        else
            fence(&s->m, t);
        me->is_armed = 1;
        return variant.mistake == NO_SECOND_LOOK ? arm_or_sleep(me) : LOOK;
    case SLEEP: return fall_asleep(s, t);
    case DISARM: store(&s->m, t, ARMED(NEAR), 0, RELAXED); return LOOK;
    default: return ASLEEP;
    }
}

// ---- bell_ring
static void wake(struct state *s, int t, int bell)
{
    note(t, "wakes who hears bell %d", bell);
    for (int sleeper = SLEEPER_A; sleeper <= SLEEPER_B; sleeper++) {
        struct thread *it = &s->thread[sleeper];
        if (!(it->hears >> bell & 1))
            continue;
        it->at = (uint8_t)woken(it); // also from between the two bells
        if (variant.mistake == ONE_IS_WOKEN)
            return;
    }
}

static enum step rung(struct thread *me)
{
    return me->what == MESSAGE ? WAIT_FOR_ANSWER : DONE;
}

static enum step ring(struct state *s, int t)
{
    struct thread *me = &s->thread[t];
    bool seq_comes_first = variant.mistake == ARMED_CLEARED_LAST;
    switch ((enum step)me->at) {
    case RING_ARMED:
        if (!exchange(&s->m, t, ARMED(me->bell), 0, ACQ_REL) && !seq_comes_first)
            return rung(me);
        return seq_comes_first || variant.mistake == RING_WITHOUT_SEQ ? RING_WAKE : RING_SEQ;
    case RING_SEQ:
        fetch_add(&s->m, t, SEQ(me->bell), 1, RELEASE);
        return seq_comes_first ? RING_ARMED : RING_WAKE;
    default: wake(s, t, me->bell); return rung(me);
    }
}

static enum step writer(struct state *s, int t)
{
    struct thread *me = &s->thread[t];
    switch ((enum step)me->at) {
    case STORE: store(&s->m, t, me->what, 1, RELEASE); return CHECK;
    case CHECK:
        if (!load(&s->m, t, ARMED(me->bell), RELAXED))
            return rung(me);
        return variant.mistake == ARMED_CLEARED_LAST ? RING_SEQ : RING_ARMED;
    case WAIT_FOR_ANSWER:
        load(&s->m, t, ANSWER, ACQUIRE);
        me->what = DONE_B;
        me->bell = NEAR;
        return STORE;
    default: return ring(s, t);
    }
}

static bool step(void *state, int t, int choice)
{
    struct state *s = state;
    struct thread *me = &s->thread[t];
    (void)choice;
    if (me->at == DONE || me->at == ASLEEP ||
        (me->at == WAIT_FOR_ANSWER && !peek(&s->m, t, ANSWER)))
        return false;
    me->at = (uint8_t)(t <= SLEEPER_B ? sleeper(s, t) : writer(s, t));
    return true;
}

static void end(const void *state)
{
    const struct state *s = state;
    for (int t = 0; t < THREADS; t++)
        expect(s->thread[t].at != ASLEEP, "a wake-up was lost: somebody sleeps for ever");
    for (int t = 0; t < THREADS; t++)
        expect(s->thread[t].at == DONE, "somebody waits for ever");
}

static const struct variant variants[] = {
    {NONE, SC, 0, "as it is"},
    {NONE, TSO, 0, "as it is"},
    {NONE, ARM, 0, "as it is"},
    {NO_MEMBARRIER, TSO, 0, "the sleeper alone is fenced"},
    {NO_SECOND_LOOK, SC, 0, "no look after arming"},
    {SEQ_AFTER_ARMED, SC, 0, "seq is read after arming"},
    {ARMED_CLEARED_LAST, SC, 0, "the ring counts before it clears armed"},
    {RING_WITHOUT_SEQ, SC, 0, "the ring does not count"},
    {ONE_IS_WOKEN, SC, 0, "one sleeper is woken"},
    {SLEEPER_DISARMS, SC, 0, "who is woken clears armed"},
    {SEQ_NOT_COMPARED, SC, 0, "the kernel does not compare seq"},
    {ONE_BELL, SC, 0, "the inbox's bell is not heard"},
};

int main(int argc, char **argv)
{
    static const struct model bell = {.size = sizeof(struct state),
                                      .threads = THREADS,
                                      .choices = 1,
                                      .start = start,
                                      .step = step,
                                      .end = end,
                                      .thread_names = thread_names,
                                      .word_names = word_names};
    return explore_all(&bell, variants, sizeof variants / sizeof *variants, argc, argv);
}
