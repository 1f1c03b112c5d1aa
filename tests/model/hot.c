// SPDX-License-Identifier: BSD-3-Clause
// The lines of a ring, of lib/core/inbox.c and inbox_poll.c: each message says where the next one
// will be, in the next slot or, when all before it are known to be taken out, in a hot one.
//
// Two threads of one PE send; of the other one, one thread takes out and another answers, now and
// then, with the number of messages taken out. The ring has three slots and the two hot ones (with
// two, no more could be on their way than fit into the hot ones), and gives back one by one.
// TIMEOUT: 180
#include "explore.h"

enum { SLOTS = 3, HOT = SLOTS, LINES = SLOTS + 2 };

enum {
    DRAINED,
    RECEIVED,
    ANSWER,
    TURN,
    JUMP = TURN + LINES,
    CONTENT = JUMP + LINES,
    WORDS = CONTENT + LINES
};
static const char *const word_names[WORDS] = {
    "drained", "received",   "answer",     "turn[0]",    "turn[1]",    "turn[2]",
    "turn[3]", "turn[4]",    "jump[0]",    "jump[1]",    "jump[2]",    "jump[3]",
    "jump[4]", "content[0]", "content[1]", "content[2]", "content[3]", "content[4]"};

enum { SENDER_A, SENDER_B, RECEIVER, ANSWERER, THREADS };
static const char *const thread_names[THREADS] = {"sender a", "sender b", "receiver", "answerer"};
static const uint8_t messages[][2] = {{3, 3}, {6, 0}, {2, 3}}; // of a and b, by scenario

enum mistake {
    NONE,
    HOT_UNKNOWN,
    HOT_COUNTED_ROUND,
    ONE_HOT,
    COUNTED_FIRST,
    NO_WINDOW,
    POSITION_KEPT,
    NO_JUMP_BACK,
    TURN_RELAXED
};

enum step {
    // a sender
    TAKE_LOCK,
    READ_DRAINED,
    LOOK_AT_ANSWER,
    WRITE_CONTENT,
    PUBLISH,
    WHILE_FULL,
    // the receiver
    IS_READY,
    COUNT_FIRST,
    COPY,
    COPY_JUMP,
    COUNT,
    GIVE_BACK,
    // the answerer
    READ_RECEIVED,
    TELL,
    DONE
};

struct thread {
    uint8_t at;
    uint8_t left; // messages to send, or to come; answers
    uint8_t line, number;
    uint8_t drained, content, jump;
};

struct state {
    struct memory m;
    struct thread thread[THREADS];
    struct { // struct peer of the senders' PE
        uint8_t lock, sent, line, position;
    } peer;
};

static void start(void *state)
{
    struct state *s = state;
    for (int t = SENDER_A; t <= SENDER_B; t++) {
        s->thread[t].left = messages[variant.scenario][t];
        s->thread[t].at = s->thread[t].left ? TAKE_LOCK : DONE;
        s->thread[RECEIVER].left += s->thread[t].left;
    }
    s->peer.position = 1;
    s->thread[RECEIVER].at = IS_READY;
    s->thread[ANSWERER].at = READ_RECEIVED;
    s->thread[ANSWERER].left = 3;
}

// ---- claim_next, with the record locked
static bool all_taken(const struct state *s, uint8_t taken)
{
    switch ((enum mistake)variant.mistake) {
    case HOT_UNKNOWN: return taken > 0;
    case HOT_COUNTED_ROUND: return taken % 2 == s->peer.sent % 2;
    default: return taken == s->peer.sent;
    }
}

static void choose_next(struct state *s, int t, uint8_t taken)
{
    uint8_t line = s->peer.line, jump = 0;
    if (all_taken(s, taken)) {
        s->peer.line = line == HOT && variant.mistake != ONE_HOT ? HOT + 1 : HOT;
        jump = s->peer.line + 1;
    } else {
        s->peer.line = s->peer.position;
        s->peer.position = (uint8_t)((s->peer.position + (variant.mistake != POSITION_KEPT)) %
                                     SLOTS);
        if (line >= HOT && variant.mistake != NO_JUMP_BACK)
            jump = s->peer.line + 1;
    }
    store(&s->m, t, JUMP + line, jump, RELAXED);
}

static enum step claim(struct state *s, int t)
{
    struct thread *me = &s->thread[t];
    if (me->at == READ_DRAINED) {
        me->drained = load(&s->m, t, DRAINED, ACQUIRE);
        if (s->peer.sent - me->drained < SLOTS || variant.mistake == NO_WINDOW)
            return LOOK_AT_ANSWER;
        s->peer.lock = 0;
        return WHILE_FULL;
    }
    me->line = s->peer.line;
    choose_next(s, t, load(&s->m, t, ANSWER, ACQUIRE));
    me->number = ++s->peer.sent;
    s->peer.lock = 0;
    return WRITE_CONTENT;
}

static enum step sender(struct state *s, int t)
{
    struct thread *me = &s->thread[t];
    switch ((enum step)me->at) {
    case TAKE_LOCK: s->peer.lock = 1; return READ_DRAINED;
    case READ_DRAINED:
    case LOOK_AT_ANSWER: return claim(s, t);
    case WRITE_CONTENT: store(&s->m, t, CONTENT + me->line, me->number, RELAXED); return PUBLISH;
    case PUBLISH:
        store(&s->m, t, TURN + me->line, me->number,
              variant.mistake == TURN_RELAXED ? RELAXED : RELEASE);
        *me = (struct thread){.left = (uint8_t)(me->left - 1)};
        return me->left ? TAKE_LOCK : DONE;
    default: load(&s->m, t, DRAINED, ACQUIRE); return TAKE_LOCK;
    }
}

// ---- take
static enum step given_back(struct thread *me)
{
    me->line = me->jump ? me->jump - 1 : (me->line + 1) % SLOTS;
    me->content = me->jump = 0;
    return --me->left ? IS_READY : DONE;
}

static enum step receiver(struct state *s)
{
    struct thread *me = &s->thread[RECEIVER];
    switch ((enum step)me->at) {
    case IS_READY:
        load(&s->m, RECEIVER, TURN + me->line, ACQUIRE);
        return variant.mistake == COUNTED_FIRST ? COUNT_FIRST : COPY;
    case COPY:
        me->content = load(&s->m, RECEIVER, CONTENT + me->line, RELAXED);
        expect(me->content == me->number + 1, "a message is lost, double or out of order");
        return COPY_JUMP;
    case COPY_JUMP:
        me->jump = load(&s->m, RECEIVER, JUMP + me->line, RELAXED);
        return variant.mistake == COUNTED_FIRST ? GIVE_BACK : COUNT;
    case COUNT_FIRST: store(&s->m, RECEIVER, RECEIVED, me->number + 1, RELEASE); return COPY;
    case COUNT: store(&s->m, RECEIVER, RECEIVED, me->number + 1, RELEASE); return GIVE_BACK;
    default: store(&s->m, RECEIVER, DRAINED, ++me->number, RELEASE); return given_back(me);
    }
}

static enum step answerer(struct state *s)
{
    struct thread *me = &s->thread[ANSWERER];
    if (me->at == READ_RECEIVED) {
        me->number = load(&s->m, ANSWERER, RECEIVED, ACQUIRE);
        return TELL;
    }
    store(&s->m, ANSWERER, ANSWER, me->number, RELEASE);
    return --me->left ? READ_RECEIVED : DONE;
}

static bool is_held_up(const struct state *s, int t)
{
    const struct thread *me = &s->thread[t];
    switch ((enum step)me->at) {
    case TAKE_LOCK: return s->peer.lock;
    case WHILE_FULL: return peek(&s->m, t, DRAINED) == me->drained;
    case IS_READY: return peek(&s->m, t, TURN + me->line) != me->number + 1;
    case READ_RECEIVED: return peek(&s->m, t, RECEIVED) == me->number && s->thread[RECEIVER].left;
    case DONE: return true;
    default: return false;
    }
}

static bool step(void *state, int t, int choice)
{
    struct state *s = state;
    (void)choice;
    if (is_held_up(s, t))
        return false;
    switch (t) {
    case RECEIVER: s->thread[t].at = (uint8_t)receiver(s); break;
    case ANSWERER: s->thread[t].at = (uint8_t)answerer(s); break;
    default: s->thread[t].at = (uint8_t)sender(s, t); break;
    }
    return true;
}

static void end(const void *state)
{
    const struct state *s = state;
    for (int t = 0; t < THREADS; t++)
        expect(s->thread[t].at == DONE, "somebody waits for ever");
}

static const struct variant variants[] = {
    {NONE, SC, 0, "two threads send 6 messages"},
    {NONE, TSO, 1, "one thread sends 6 messages"},
    {NONE, ARM, 1, "one thread sends 6 messages"},
    {NONE, ARM, 2, "two threads send 5 messages"},
    {HOT_UNKNOWN, SC, 0, "a hot line while messages may be on their way"},
    {HOT_COUNTED_ROUND, SC, 1, "what is taken is compared with too few bits"},
    {ONE_HOT, SC, 0, "the same hot line twice"},
    {COUNTED_FIRST, SC, 1, "a message counts as taken before it is copied"},
    {NO_WINDOW, SC, 1, "slots are claimed without looking at drained"},
    {POSITION_KEPT, SC, 0, "the same slot twice"},
    {NO_JUMP_BACK, SC, 0, "nothing says that the next message is in the ring again"},
    {TURN_RELAXED, ARM, 1, "the turn is stored relaxed"},
};

int main(int argc, char **argv)
{
    static const struct model hot = {.size = sizeof(struct state),
                                     .threads = THREADS,
                                     .choices = 1,
                                     .start = start,
                                     .step = step,
                                     .end = end,
                                     .thread_names = thread_names,
                                     .word_names = word_names};
    return explore_all(&hot, variants, sizeof variants / sizeof *variants, argc, argv);
}
