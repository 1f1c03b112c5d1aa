// SPDX-License-Identifier: BSD-3-Clause
// The shared channel of lib/core/inbox.c: claim, publish, take, give_back, and the numbers of a
// pair's messages.
//
// PE 0 sends from two threads, PE 1 from one; a receiver takes what comes. The words of a slot are
// as the code writes them: who and which number in one, the payload in another, the turn last.
// TIMEOUT: 180
#include "explore.h"

enum { MAX_SLOTS = 4, PES = 2 };

enum {
    TICKET,
    DRAINED,
    TURN,
    ENVELOPE = TURN + MAX_SLOTS,
    PAYLOAD = ENVELOPE + MAX_SLOTS,
    LOCK = PAYLOAD + MAX_SLOTS, // of the PE's record of the receiver
    SENT = LOCK + PES,
    WORDS = SENT + PES
};
static const char *const word_names[WORDS] = {
    "ticket",      "drained",     "turn[0]",     "turn[1]",     "turn[2]",    "turn[3]",
    "envelope[0]", "envelope[1]", "envelope[2]", "envelope[3]", "payload[0]", "payload[1]",
    "payload[2]",  "payload[3]",  "pe 0 lock",   "pe 1 lock",   "pe 0 sent",  "pe 1 sent"};

enum { RECEIVER = 3, THREADS };
static const char *const thread_names[THREADS] = {"pe 0, a", "pe 0, b", "pe 1", "receiver"};

static const struct scenario {
    uint8_t slots, messages[RECEIVER]; // to be sent by each thread
} scenarios[] = {{2, {1, 2, 2}}, {4, {3, 0, 3}}, {2, {2, 2, 1}}};

enum mistake {
    NONE,
    NO_LOCK,
    NO_LOOK_AT_DRAINED,
    LOOK_ONCE,
    TICKET_STORED,
    TURN_FIRST,
    TURN_RELAXED,
    ANY_TURN,
    GIVEN_BACK_FIRST,
    GIVEN_BACK_TWICE,
    NUMBER_AFTER_UNLOCK
};

enum step {
    // a sender
    TAKE_LOCK,
    READ_TICKET,
    READ_DRAINED,
    CLAIM,
    READ_SENT,
    WRITE_ENVELOPE,
    WRITE_SENT,
    UNLOCK,
    UNLOCK_FULL,
    WHILE_FULL,
    FILL,
    PUBLISH,
    // the receiver
    IS_READY,
    COPY_ENVELOPE,
    COPY_PAYLOAD,
    GIVE_BACK,
    DONE
};

struct thread {
    uint8_t at;
    uint8_t left;    // messages to send; receiver: to come
    uint8_t ticket;  // receiver: head
    uint8_t drained; // receiver: given_back
    uint8_t number;
    uint8_t envelope; // receiver: the copy
};

struct state {
    struct memory m;
    struct thread thread[THREADS];
    uint8_t copied;        // messages taken out, whole
    uint8_t received[PES]; // the last number of each
};

static const struct scenario *scenario(void)
{
    return &scenarios[variant.scenario];
}

static int pe_of(int t)
{
    return t / 2;
}

static int slot_of(uint8_t ticket)
{
    return ticket & (scenario()->slots - 1);
}

// What the message says: who sent it, and its number.
static uint8_t envelope_of(int pe, uint8_t number)
{
    return (uint8_t)(number << 1 | pe);
}

static uint8_t payload_of(uint8_t envelope)
{
    return (uint8_t)(envelope + 100);
}

static void start(void *state)
{
    struct state *s = state;
    for (int t = 0; t < RECEIVER; t++) {
        s->thread[t].left = scenario()->messages[t];
        s->thread[t].at = s->thread[t].left ? TAKE_LOCK : DONE;
        s->thread[RECEIVER].left += s->thread[t].left;
    }
    s->thread[RECEIVER].at = IS_READY;
}

// ---- claim_shared_next, with the lock of the PE's record
static enum step claimed(struct state *s, int t)
{
    struct thread *me = &s->thread[t];
    note(t, "claims ticket %d", me->ticket);
    expect(me->ticket < s->copied + scenario()->slots, "a slot is claimed that was not read yet");
    return variant.mistake == NUMBER_AFTER_UNLOCK ? UNLOCK : READ_SENT;
}

static enum step claim(struct state *s, int t)
{
    struct thread *me = &s->thread[t];
    switch ((enum step)me->at) {
    case READ_TICKET: me->ticket = load(&s->m, t, TICKET, RELAXED); return READ_DRAINED;
    case READ_DRAINED:
        me->drained = load(&s->m, t, DRAINED, ACQUIRE);
        if (me->ticket - me->drained >= scenario()->slots && variant.mistake != NO_LOOK_AT_DRAINED)
            return UNLOCK_FULL;
        return CLAIM;
    default:
        if (variant.mistake == TICKET_STORED)
            store(&s->m, t, TICKET, me->ticket + 1, RELAXED);
        else if (!compare_exchange(&s->m, t, TICKET, &me->ticket, me->ticket + 1, RELAXED))
            return variant.mistake == LOOK_ONCE ? CLAIM : READ_DRAINED;
        return claimed(s, t);
    }
}

static enum step number(struct state *s, int t)
{
    struct thread *me = &s->thread[t];
    int pe = pe_of(t);
    switch ((enum step)me->at) {
    case READ_SENT:
        me->number = (uint8_t)(load(&s->m, t, SENT + pe, RELAXED) + 1);
        return WRITE_ENVELOPE;
    case WRITE_ENVELOPE:
        store(&s->m, t, ENVELOPE + slot_of(me->ticket), envelope_of(pe, me->number), RELAXED);
        return WRITE_SENT;
    default:
        store(&s->m, t, SENT + pe, me->number, RELAXED);
        return variant.mistake == NUMBER_AFTER_UNLOCK ? FILL : UNLOCK;
    }
}

static enum step sent(struct thread *me)
{
    *me = (struct thread){.left = (uint8_t)(me->left - 1)};
    return me->left ? TAKE_LOCK : DONE;
}

static enum step fill_or_publish(struct state *s, int t)
{
    struct thread *me = &s->thread[t];
    uint8_t payload = payload_of(envelope_of(pe_of(t), me->number));
    bool turn_comes_first = variant.mistake == TURN_FIRST;
    if (me->at == FILL) {
        store(&s->m, t, PAYLOAD + slot_of(me->ticket), payload, RELAXED);
        return turn_comes_first ? sent(me) : PUBLISH;
    }
    store(&s->m, t, TURN + slot_of(me->ticket), me->ticket + 1,
          variant.mistake == TURN_RELAXED ? RELAXED : RELEASE);
    return turn_comes_first ? FILL : sent(me);
}

static enum step sender(struct state *s, int t)
{
    struct thread *me = &s->thread[t];
    uint8_t is_free = 0;
    switch ((enum step)me->at) {
    case TAKE_LOCK:
        if (variant.mistake != NO_LOCK)
            compare_exchange(&s->m, t, LOCK + pe_of(t), &is_free, 1, ACQUIRE);
        return READ_TICKET;
    case READ_TICKET:
    case READ_DRAINED:
    case CLAIM: return claim(s, t);
    case READ_SENT:
    case WRITE_ENVELOPE:
    case WRITE_SENT: return number(s, t);
    case UNLOCK:
        store(&s->m, t, LOCK + pe_of(t), 0, RELEASE);
        if (variant.mistake == NUMBER_AFTER_UNLOCK)
            return READ_SENT;
        return variant.mistake == TURN_FIRST ? PUBLISH : FILL;
    case UNLOCK_FULL: store(&s->m, t, LOCK + pe_of(t), 0, RELEASE); return WHILE_FULL;
    case WHILE_FULL: load(&s->m, t, DRAINED, ACQUIRE); return TAKE_LOCK;
    default: return fill_or_publish(s, t);
    }
}

// ---- take
static bool is_ready(const struct state *s)
{
    uint8_t head = s->thread[RECEIVER].ticket, turn = peek(&s->m, RECEIVER, TURN + slot_of(head));
    return variant.mistake == ANY_TURN ? turn != 0 : turn == head + 1;
}

static void check_message(struct state *s, uint8_t payload)
{
    uint8_t envelope = s->thread[RECEIVER].envelope, number = envelope >> 1;
    int pe = envelope & 1;
    note(RECEIVER, "has number %d of pe %d", number, pe);
    expect(number == s->received[pe] + 1, "a message is lost, double or out of order");
    expect(payload == payload_of(envelope), "the payload is not that of the message");
    s->received[pe] = number;
    s->copied++;
}

static enum step taken(struct thread *me)
{
    me->envelope = 0;
    return --me->left ? IS_READY : DONE;
}

static enum step give_back(struct state *s)
{
    struct thread *me = &s->thread[RECEIVER];
    me->drained = me->ticket;
    store(&s->m, RECEIVER, DRAINED, me->drained + (variant.mistake == GIVEN_BACK_TWICE), RELEASE);
    return variant.mistake == GIVEN_BACK_FIRST ? COPY_ENVELOPE : taken(me);
}

static bool is_time_to_give_back(const struct thread *me)
{
    return me->ticket - me->drained >= scenario()->slots / 2;
}

static enum step receiver(struct state *s)
{
    struct thread *me = &s->thread[RECEIVER];
    bool given_back_first = variant.mistake == GIVEN_BACK_FIRST;
    int slot = slot_of((uint8_t)(me->ticket - (given_back_first && me->at != IS_READY)));
    switch ((enum step)me->at) {
    case IS_READY:
        load(&s->m, RECEIVER, TURN + slot, ACQUIRE);
        me->ticket += given_back_first;
        return given_back_first && is_time_to_give_back(me) ? GIVE_BACK : COPY_ENVELOPE;
    case COPY_ENVELOPE:
        me->envelope = load(&s->m, RECEIVER, ENVELOPE + slot, RELAXED);
        return COPY_PAYLOAD;
    case COPY_PAYLOAD:
        check_message(s, load(&s->m, RECEIVER, PAYLOAD + slot, RELAXED));
        me->ticket += !given_back_first;
        return !given_back_first && is_time_to_give_back(me) ? GIVE_BACK : taken(me);
    default: return give_back(s);
    }
}

static bool is_held_up(const struct state *s, int t)
{
    const struct thread *me = &s->thread[t];
    switch ((enum step)me->at) {
    case TAKE_LOCK: return variant.mistake != NO_LOCK && peek(&s->m, t, LOCK + pe_of(t));
    case WHILE_FULL: return peek(&s->m, t, DRAINED) == me->drained;
    case IS_READY: return !is_ready(s);
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
    s->thread[t].at = (uint8_t)(t == RECEIVER ? receiver(s) : sender(s, t));
    return true;
}

static void end(const void *state)
{
    const struct state *s = state;
    for (int t = 0; t < THREADS; t++)
        expect(s->thread[t].at == DONE, "somebody waits for ever");
    expect(s->copied == s->m.word[TICKET], "messages are left in the channel");
}

static const struct variant variants[] = {
    {NONE, SC, 2, "two slots, 5 messages"},
    {NONE, TSO, 0, "two slots, 5 messages"},
    {NONE, ARM, 0, "two slots, 5 messages"},
    {NONE, ARM, 1, "four slots, 6 messages"},
    {NO_LOCK, SC, 0, "threads of a PE do not lock"},
    {NUMBER_AFTER_UNLOCK, SC, 0, "the number is taken after the lock"},
    {NO_LOOK_AT_DRAINED, SC, 0, "claim does not look at drained"},
    {LOOK_ONCE, SC, 0, "claim does not look again at drained"},
    {TICKET_STORED, SC, 0, "the ticket is stored, not exchanged"},
    {TURN_FIRST, SC, 0, "the turn is published before the payload"},
    {TURN_RELAXED, ARM, 0, "the turn is stored relaxed"},
    {ANY_TURN, SC, 0, "any turn is taken for the next"},
    {GIVEN_BACK_FIRST, SC, 0, "a slot is given back before it is copied"},
    {GIVEN_BACK_TWICE, SC, 0, "one slot too many is given back"},
};

int main(int argc, char **argv)
{
    static const struct model channel = {.size = sizeof(struct state),
                                         .threads = THREADS,
                                         .choices = 1,
                                         .start = start,
                                         .step = step,
                                         .end = end,
                                         .thread_names = thread_names,
                                         .word_names = word_names};
    return explore_all(&channel, variants, sizeof variants / sizeof *variants, argc, argv);
}
