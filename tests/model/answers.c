// SPDX-License-Identifier: BSD-3-Clause
// The two phases of lib/core/answers.h: threads of a process that send messages and wait until those are
// answered, whatever others send and await meanwhile. The network answers what was sent in any order.
#include "explore.h"

enum { PHASE, MISSING_0, MISSING_1, WORDS };
static const char *const word_names[WORDS] = {"phase", "missing[0]", "missing[1]"};

enum { SENDERS = 3, NETWORK = SENDERS, THREADS, MOST_SENT = 2 };
static const char *const thread_names[THREADS] = {"thread a", "thread b", "thread c", "network"};

enum mistake { NONE, TWO_CHANGES, NOT_LOOKED_AT };

enum step { READ_PHASE, COUNT, SEND, BEGIN, LOOK_0, LOOK_1, LOOK_PHASE, LOOK_NEXT, CHANGE, DONE };

struct state {
    struct memory m;
    struct thread {
        uint8_t at, sent, answered;
        uint8_t phase;         // of the message that is being sent
        uint8_t of[MOST_SENT]; // 1 + the phase of each that is under way
        uint8_t first, now;    // in the wait
    } thread[SENDERS];
};

// The scenario's decimal digits: messages of each thread; a thread with none does nothing.
static int to_send(int t)
{
    int n = variant.scenario;
    for (; t; t--)
        n /= 10;
    return n % 10;
}

static void start(void *state)
{
    struct state *s = state;
    for (int t = 0; t < SENDERS; t++)
        s->thread[t].at = to_send(t) ? READ_PHASE : DONE;
}

static enum step wait_on(struct state *s, int t)
{
    struct thread *me = &s->thread[t];
    int changes = variant.mistake == TWO_CHANGES ? 2 : 3;
    switch ((enum step)me->at) {
    case BEGIN: me->first = load(&s->m, t, PHASE, SEQ_CST); return LOOK_0;
    case LOOK_0: return load(&s->m, t, MISSING_0, SEQ_CST) ? LOOK_PHASE : LOOK_1;
    case LOOK_1: return load(&s->m, t, MISSING_1, SEQ_CST) ? LOOK_PHASE : DONE;
    case LOOK_PHASE:
        me->now = load(&s->m, t, PHASE, SEQ_CST);
        if (me->now - me->first >= changes)
            return DONE;
        return variant.mistake == NOT_LOOKED_AT ? CHANGE : LOOK_NEXT;
    case LOOK_NEXT: return load(&s->m, t, MISSING_0 + (me->now + 1) % 2, SEQ_CST) ? LOOK_0 : CHANGE;
    default: compare_exchange(&s->m, t, PHASE, &me->now, me->now + 1, SEQ_CST); return LOOK_0;
    }
}

static enum step send_or_wait(struct state *s, int t)
{
    struct thread *me = &s->thread[t];
    switch ((enum step)me->at) {
    case READ_PHASE: me->phase = load(&s->m, t, PHASE, SEQ_CST) % 2; return COUNT;
    case COUNT: fetch_add(&s->m, t, MISSING_0 + me->phase, 1, SEQ_CST); return SEND;
    case SEND:
        note(t, "sends a message of phase %d", me->phase);
        me->of[me->sent++] = (uint8_t)(1 + me->phase);
        return me->sent < to_send(t) ? READ_PHASE : BEGIN;
    default: return wait_on(s, t);
    }
}

// The answer to the message that is chosen comes.
static bool answer(struct state *s, int choice)
{
    struct thread *of = &s->thread[choice / MOST_SENT];
    uint8_t *phase = &of->of[choice % MOST_SENT];
    if (!*phase)
        return false;
    fetch_add(&s->m, NETWORK, MISSING_0 + *phase - 1, -1, RELEASE);
    note(NETWORK, "has answered %s", thread_names[choice / MOST_SENT]);
    *phase = 0;
    of->answered++;
    return true;
}

static bool step(void *state, int t, int choice)
{
    struct state *s = state;
    if (t == NETWORK)
        return answer(s, choice);
    struct thread *me = &s->thread[t];
    if (choice || me->at == DONE)
        return false;
    me->at = (uint8_t)send_or_wait(s, t);
    if (me->at == DONE)
        expect(me->answered == me->sent, "a wait has ended before a message was answered");
    return true;
}

static void end(const void *state)
{
    const struct state *s = state;
    for (int t = 0; t < SENDERS; t++)
        expect(s->thread[t].at == DONE, "somebody waits for ever");
}

static const struct variant variants[] = {
    {NONE, SC, 22, "two threads, two messages each"},
    {NONE, SC, 111, "three threads, a message each"},
    {NONE, SC, 112, "three threads, one of which sends two"},
    {NONE, ARM, 22, "two threads, two messages each"},
    {TWO_CHANGES, SC, 11, "two changes of phase are enough"},
    {NOT_LOOKED_AT, SC, 11, "the phase changes whatever is left of the next"},
};

int main(int argc, char **argv)
{
    static const struct model answers = {.size = sizeof(struct state),
                                         .threads = THREADS,
                                         .choices = SENDERS * MOST_SENT,
                                         .start = start,
                                         .step = step,
                                         .end = end,
                                         .thread_names = thread_names,
                                         .word_names = word_names};
    return explore_all(&answers, variants, sizeof variants / sizeof *variants, argc, argv);
}
