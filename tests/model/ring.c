// SPDX-License-Identifier: BSD-3-Clause
// The change from the shared channel to a ring, and the doorbell, of lib/core/inbox.c.
//
// Two threads of one PE send, a third of it polls and so hears of the ring that the receiver made.
// Both channels have two slots and give back one by one (channel.c looks closer at them); what the
// sending PE remembers of the receiver is a record under a lock. The receiver polls for ever; it
// may tidy up whenever it looks at a ring in every poll.
// TIMEOUT: 180
#include "explore.h"

enum { SLOTS = 2, RING_AFTER = 1, LAST_CHANNEL = 2 };
enum { SHARED, RING };

// A channel's words; the ring's come after those of the shared one.
enum { TICKET, DRAINED, TURN, ENVELOPE = TURN + SLOTS, CHANNEL = ENVELOPE + SLOTS };
enum { DOORBELL = LAST_CHANNEL * CHANNEL, OFFER, WORDS };
static const char *const word_names[WORDS] = {"shared ticket",      "shared drained",
                                              "shared turn[0]",     "shared turn[1]",
                                              "shared envelope[0]", "shared envelope[1]",
                                              "ring ticket",        "ring drained",
                                              "ring turn[0]",       "ring turn[1]",
                                              "ring envelope[0]",   "ring envelope[1]",
                                              "doorbell",           "offer"};

enum { SENDER_A, SENDER_B, POLLER, RECEIVER, THREADS };
static const char *const thread_names[THREADS] = {"sender a", "sender b", "poller", "receiver"};
static const uint8_t messages[][2] = {
    {2, 1}, {3, 0}, {2, 2}, {4, 0}, {3, 2}}; // of a and b, by scenario

enum kind { DATA, WANTING, OPEN }; // WANTING: data, and a ring is asked for

enum mistake {
    NONE,
    NO_MEMBARRIER,
    LOOK_BEFORE_CLEAR,
    NO_LOOK,
    OPEN_WHEN_MADE,
    NO_OPEN_MESSAGE,
    UNLOCKED_BETWEEN,
    BELL_FIRST,
    BELL_UNSEEN
};

enum step {
    // a sender
    TAKE_LOCK,
    CHOOSE,
    READ_TICKET,
    READ_DRAINED,
    CLAIM,
    WRITE_ENVELOPE,
    PUBLISH_OPEN,
    CHANGE,
    WHILE_FULL,
    PUBLISH,
    LOOK_AT_BELL,
    RING_BELL,
    // the poller
    WAIT_FOR_OFFER,
    ACCEPT,
    // the receiver
    LOOK_SHARED,
    LOOK_BELL,
    LOOK_RING,
    TAKE,
    COPY,
    GIVE_BACK,
    POLL_RINGS,
    CLEAR_BELL,
    FENCE,
    LOOK_AGAIN,
    DONE
};

struct thread {
    uint8_t at;
    uint8_t left;    // messages to send, or to come
    uint8_t kind;    // of message
    uint8_t channel; // of the two
    uint8_t ticket, drained, envelope;
};

struct state {
    struct memory m;
    struct thread thread[THREADS];
    struct { // struct peer of the senders' PE
        uint8_t lock, sent, ring, made, asked;
    } peer;
    struct { // the receiver's own
        uint8_t head[LAST_CHANNEL], made, is_open, is_used, active, tidy, received;
    } r;
};

static int word(int channel, int which)
{
    return channel * CHANNEL + which;
}

static int slot(int channel, int which, uint8_t ticket)
{
    return word(channel, which + ticket % SLOTS);
}

static void start(void *state)
{
    struct state *s = state;
    for (int t = SENDER_A; t <= SENDER_B; t++) {
        s->thread[t].left = messages[variant.scenario][t];
        s->thread[t].at = s->thread[t].left ? TAKE_LOCK : DONE;
        s->thread[RECEIVER].left += s->thread[t].left;
    }
    s->thread[POLLER].at = WAIT_FOR_OFFER;
    s->thread[RECEIVER].at = LOOK_SHARED;
}

// ---- claim_next, with the record locked
static enum step choose(struct state *s, struct thread *me)
{
    if (s->peer.made && variant.mistake == NO_OPEN_MESSAGE) {
        s->peer.ring = 1;
        s->peer.made = 0;
    }
    me->kind = DATA;
    me->channel = s->peer.ring ? RING : SHARED;
    if (s->peer.made) {
        me->kind = OPEN;
        me->channel = SHARED;
    }
    return READ_TICKET;
}

static enum step claim(struct state *s, int t)
{
    struct thread *me = &s->thread[t];
    int c = me->channel;
    switch ((enum step)me->at) {
    case READ_TICKET: me->ticket = load(&s->m, t, word(c, TICKET), RELAXED); return READ_DRAINED;
    case READ_DRAINED:
        me->drained = load(&s->m, t, word(c, DRAINED), ACQUIRE);
        if (me->ticket - me->drained < SLOTS)
            return CLAIM;
        s->peer.lock = 0;
        return WHILE_FULL;
    case CLAIM:
        if (compare_exchange(&s->m, t, word(c, TICKET), &me->ticket, me->ticket + 1, RELAXED))
            return WRITE_ENVELOPE;
        return READ_DRAINED;
    default:
        if (me->kind == DATA && s->peer.sent + 1 >= RING_AFTER && !s->peer.asked)
            me->kind = WANTING;
        me->envelope = (uint8_t)((s->peer.sent + 1) << 2 | me->kind);
        store(&s->m, t, slot(c, ENVELOPE, me->ticket), me->envelope, RELAXED);
        if (me->kind == OPEN)
            return PUBLISH_OPEN;
        s->peer.sent++;
        s->peer.asked |= me->kind == WANTING;
        s->peer.lock = 0;
        return variant.mistake == BELL_FIRST && c == RING ? LOOK_AT_BELL : PUBLISH;
    }
}

static enum step open_ring(struct state *s, int t)
{
    struct thread *me = &s->thread[t];
    if (me->at == PUBLISH_OPEN) {
        store(&s->m, t, slot(SHARED, TURN, me->ticket), me->ticket + 1, RELEASE);
        s->peer.sent++;
        if (variant.mistake == UNLOCKED_BETWEEN) {
            s->peer.lock = 0;
            s->peer.made = 0;
            return CHANGE;
        }
    }
    s->peer.ring = 1;
    s->peer.made = 0;
    return variant.mistake == UNLOCKED_BETWEEN ? TAKE_LOCK : CHOOSE;
}

static enum step sent(struct thread *me)
{
    *me = (struct thread){.left = (uint8_t)(me->left - 1)};
    return me->left ? TAKE_LOCK : DONE;
}

static enum step commit(struct state *s, int t)
{
    struct thread *me = &s->thread[t];
    bool bell_first = variant.mistake == BELL_FIRST;
    switch ((enum step)me->at) {
    case PUBLISH:
        store(&s->m, t, slot(me->channel, TURN, me->ticket), me->ticket + 1, RELEASE);
        return me->channel == RING && !bell_first ? LOOK_AT_BELL : sent(me);
    case LOOK_AT_BELL:
        if (!load(&s->m, t, DOORBELL, RELAXED) && variant.mistake != BELL_UNSEEN)
            return RING_BELL;
        return bell_first ? PUBLISH : sent(me);
    default: exchange(&s->m, t, DOORBELL, 1, RELEASE); return bell_first ? PUBLISH : sent(me);
    }
}

static enum step sender(struct state *s, int t)
{
    struct thread *me = &s->thread[t];
    switch ((enum step)me->at) {
    case TAKE_LOCK: s->peer.lock = 1; return choose(s, me);
    case CHOOSE: return choose(s, me);
    case READ_TICKET:
    case READ_DRAINED:
    case CLAIM:
    case WRITE_ENVELOPE: return claim(s, t);
    case WHILE_FULL: load(&s->m, t, word(me->channel, DRAINED), ACQUIRE); return TAKE_LOCK;
    case PUBLISH_OPEN:
    case CHANGE: return open_ring(s, t);
    default: return commit(s, t);
    }
}

// accept_ring
static enum step poller(struct state *s)
{
    if (s->thread[POLLER].at == WAIT_FOR_OFFER) {
        load(&s->m, POLLER, OFFER, ACQUIRE);
        return ACCEPT;
    }
    note(POLLER, "accepts the ring");
    s->peer.made = 1;
    return DONE;
}

// ---- Receiving
static bool is_ready(struct state *s, int channel)
{
    uint8_t head = s->r.head[channel];
    return load(&s->m, RECEIVER, slot(channel, TURN, head), ACQUIRE) == head + 1;
}

static enum step poll_shared(struct thread *me)
{
    me->channel = SHARED;
    return TAKE;
}

static enum step has_work(struct state *s, int choice)
{
    struct thread *me = &s->thread[RECEIVER];
    switch ((enum step)me->at) {
    case LOOK_SHARED:
        if (is_ready(s, SHARED))
            return poll_shared(me);
        return s->r.made ? LOOK_BELL : LOOK_SHARED;
    case LOOK_BELL:
        if (load(&s->m, RECEIVER, DOORBELL, RELAXED) && !s->r.active)
            return poll_shared(me);
        return s->r.active ? LOOK_RING : LOOK_SHARED;
    default:
        s->r.tidy = (uint8_t)choice; // it has looked often enough
        return is_ready(s, RING) || choice ? poll_shared(me) : LOOK_SHARED;
    }
}

static void handle(struct state *s, uint8_t envelope)
{
    uint8_t number = envelope >> 2;
    note(RECEIVER, "has number %d", number);
    expect(number == s->r.received + 1, "a message is lost, double or out of order");
    s->r.received = number;
    switch ((enum kind)(envelope & 3)) {
    case WANTING:
        s->r.made = 1;
        s->r.is_open = variant.mistake == OPEN_WHEN_MADE || variant.mistake == NO_OPEN_MESSAGE;
        store(&s->m, RECEIVER, OFFER, 1, RELEASE);
        s->thread[RECEIVER].left--;
        break;
    case DATA: s->thread[RECEIVER].left--; break;
    case OPEN:
        s->r.is_open = 1;
        s->r.active = 1;
        break;
    }
}

// The channel is empty: on to the ring, or to the end of the poll.
static enum step polled(struct state *s, const struct thread *me)
{
    if (me->channel == SHARED && s->r.made)
        return POLL_RINGS;
    if (me->channel == SHARED || !s->r.tidy)
        return LOOK_SHARED;
    s->r.tidy = 0;
    if (s->r.is_used) {
        s->r.is_used = 0;
        return LOOK_SHARED;
    }
    return variant.mistake == LOOK_BEFORE_CLEAR ? LOOK_AGAIN : CLEAR_BELL;
}

static enum step take(struct state *s)
{
    struct thread *me = &s->thread[RECEIVER];
    uint8_t head = s->r.head[me->channel];
    switch ((enum step)me->at) {
    case TAKE: return is_ready(s, me->channel) ? COPY : polled(s, me);
    case COPY:
        me->envelope = load(&s->m, RECEIVER, slot(me->channel, ENVELOPE, head), RELAXED);
        s->r.head[me->channel]++;
        return GIVE_BACK;
    default:
        store(&s->m, RECEIVER, word(me->channel, DRAINED), head, RELEASE);
        handle(s, me->envelope);
        s->r.is_used |= me->channel == RING;
        me->envelope = 0;
        return me->left ? TAKE : DONE;
    }
}

static enum step poll_rings(struct state *s)
{
    s->r.active |= load(&s->m, RECEIVER, DOORBELL, ACQUIRE);
    if (s->r.active && s->r.is_open) {
        s->thread[RECEIVER].channel = RING;
        return TAKE;
    }
    s->r.tidy = 0;
    return LOOK_SHARED;
}

static enum step retire(struct state *s)
{
    bool looks_first = variant.mistake == LOOK_BEFORE_CLEAR;
    switch ((enum step)s->thread[RECEIVER].at) {
    case CLEAR_BELL:
        exchange(&s->m, RECEIVER, DOORBELL, 0, SEQ_CST);
        if (looks_first || variant.mistake == NO_LOOK)
            s->r.active = 0;
        return looks_first ? LOOK_SHARED : FENCE;
    case FENCE:
        if (variant.mistake != NO_MEMBARRIER)
            fence_everywhere(&s->m, RECEIVER);
        return LOOK_AGAIN;
    default:
        if (is_ready(s, RING))
            return LOOK_SHARED;
        if (looks_first)
            return CLEAR_BELL;
        s->r.active = 0;
        return LOOK_SHARED;
    }
}

static enum step receiver(struct state *s, int choice)
{
    switch ((enum step)s->thread[RECEIVER].at) {
    case LOOK_SHARED:
    case LOOK_BELL:
    case LOOK_RING: return has_work(s, choice);
    case TAKE:
    case COPY:
    case GIVE_BACK: return take(s);
    case POLL_RINGS: return poll_rings(s);
    default: return retire(s);
    }
}

static bool is_held_up(const struct state *s, int t)
{
    const struct thread *me = &s->thread[t];
    switch ((enum step)me->at) {
    case TAKE_LOCK:
    case ACCEPT: return s->peer.lock;
    case WHILE_FULL: return peek(&s->m, t, word(me->channel, DRAINED)) == me->drained;
    case WAIT_FOR_OFFER: return !peek(&s->m, t, OFFER);
    case DONE: return true;
    default: return false;
    }
}

static bool step(void *state, int t, int choice)
{
    struct state *s = state;
    struct thread *me = &s->thread[t];
    if (is_held_up(s, t) || (choice && me->at != LOOK_RING))
        return false;
    if (t == RECEIVER)
        me->at = (uint8_t)receiver(s, choice);
    else
        me->at = (uint8_t)(t == POLLER ? poller(s) : sender(s, t));
    return true;
}

static void end(const void *state)
{
    const struct state *s = state;
    expect(s->thread[SENDER_A].at == DONE && s->thread[SENDER_B].at == DONE &&
               s->thread[RECEIVER].at == DONE,
           "somebody waits for ever");
}

static const struct variant variants[] = {
    {NONE, SC, 4, "two threads send 5 messages"},
    {NONE, TSO, 2, "two threads send 4 messages"},
    {NONE, ARM, 2, "two threads send 4 messages"},
    {NONE, ARM, 3, "one thread sends 4 messages"},
    {NO_MEMBARRIER, TSO, 1, "the receiver alone is fenced"},
    {LOOK_BEFORE_CLEAR, SC, 1, "the ring is looked at, then the bit cleared"},
    {NO_LOOK, SC, 1, "no look at the ring once the bit is cleared"},
    {OPEN_WHEN_MADE, SC, 0, "the ring is read before it is open"},
    {NO_OPEN_MESSAGE, SC, 0, "no message says that the ring is open"},
    {UNLOCKED_BETWEEN, SC, 0, "the record is unlocked before the change"},
    {BELL_FIRST, SC, 1, "the doorbell is looked at before publishing"},
    {BELL_UNSEEN, SC, 1, "the doorbell is not rung"},
};

int main(int argc, char **argv)
{
    static const struct model ring = {.size = sizeof(struct state),
                                      .threads = THREADS,
                                      .choices = 2,
                                      .start = start,
                                      .step = step,
                                      .end = end,
                                      .thread_names = thread_names,
                                      .word_names = word_names};
    return explore_all(&ring, variants, sizeof variants / sizeof *variants, argc, argv);
}
