// SPDX-License-Identifier: BSD-3-Clause
// Matching at the receiver, and hints: a receive that is posted for one source may be told to that
// source, which then puts its message straight there.
//
// Messages of a pair are numbered, whatever way they go, and the receiver admits them in that order.
// A hint carries a stamp, how many messages of the source had been admitted when the receive was
// posted; the source follows it only if its last message by envelope is among these, so that none
// is on its way that could match the receive first. A direct message has its number too. A receive
// is not told of while there is an older one that overlaps it and (a) is for any source, or (b) for
// the same one, but not told of, or stale: an envelope was admitted since. To withdraw one that was
// told of, the receiver revokes the hint and waits for the answer, which is numbered like messages.
//
// Here everybody does anything: the receiver posts receives of all kinds, tells of them or not,
// withdraws one; senders send what they like, directly where they can and want. No memory is shared.
// What is on its way arrives in any order; only hints to one source keep theirs.
// TIMEOUT: 180
#include "explore.h"

enum { SENDERS = 2, MESSAGES = 4, RECEIVES = 3, CONTROLS = 4, ANY_TAG = 2, ANY_SOURCE = 2 };
enum { RECEIVER, SENDER_A, SENDER_B, THREADS };
static const char *const thread_names[THREADS] = {"receiver", "sender a", "sender b"};

enum mistake {
    NONE,
    NO_STAMP,
    STAMP_ONE_OFF,
    NO_RULE_A,
    UNTOLD_IGNORED,
    STALE_IGNORED,
    ADMITTED_AS_THEY_COME,
    DIRECT_UNNUMBERED,
    HINTS_OVERTAKE,
    WITHDRAWN_AT_ONCE,
    ANSWER_UNNUMBERED
};

static const struct scenario {
    uint8_t senders, messages, receives, withdrawals, tags;
} scenarios[] = {
    {1, 3, 3, 0, 2}, {1, 2, 3, 1, 2}, {2, 2, 3, 0, 1}, {2, 1, 3, 0, 2}, {2, 1, 3, 1, 1}};

enum { UNPOSTED, PENDING, MATCHED, WITHDRAWN };
struct receive {
    uint8_t status, source, tag, told, stamp, revoked;
};

enum { ENVELOPE = 1, DIRECT, ANSWER };
struct message {
    uint8_t kind, tag;
    uint8_t receive; // of a direct message or an answer
    uint8_t removed; // the answer: the hint had not been followed
    uint8_t admitted, matched;
};

enum { HINT = 1, REVOKE };
struct control {
    uint8_t kind, receive;
};

struct pair {
    struct message message[MESSAGES];
    struct control control[CONTROLS]; // on their way to the sender, in their order
    uint8_t sent, left;               // numbers used; messages to send
    uint8_t last_envelope;            // sent: its number + 1
    uint8_t hints;                    // that the sender has: bit r
    uint8_t admitted;                 // how many
    uint8_t last_admitted;            // by envelope: its number + 1
};

struct state {
    struct memory m; // not used
    struct receive receive[RECEIVES];
    struct pair pair[SENDERS];
    uint8_t posted, withdrawals;
};

// Ways a step can go: what, and which.
enum {
    POST,
    ADMIT = POST + 18,
    WITHDRAW = ADMIT + SENDERS * MESSAGES,
    RECEIVER_WAYS = WITHDRAW + RECEIVES
};
enum { HEAR, SEND = HEAR + CONTROLS, SENDER_WAYS = SEND + 4 };

static const struct scenario *scenario(void)
{
    return &scenarios[variant.scenario];
}

static void start(void *state)
{
    struct state *s = state;
    for (int i = 0; i < scenario()->senders; i++)
        s->pair[i].left = scenario()->messages;
    s->withdrawals = scenario()->withdrawals;
}

static bool tag_fits(const struct receive *r, uint8_t tag)
{
    return r->tag == ANY_TAG || r->tag == tag;
}

static bool fits(const struct receive *r, int source, uint8_t tag)
{
    return (r->source == ANY_SOURCE || r->source == source) && tag_fits(r, tag);
}

// ---- What MPI promises
static void check_match(const struct state *s, int r, int source, int number)
{
    const struct message *m = &s->pair[source].message[number];
    const struct receive *to = &s->receive[r];
    note(RECEIVER, "receive %d gets number %d of sender %c", r, number, 'a' + source);
    expect(!m->matched, "a message is received twice");
    expect(to->status == PENDING && fits(to, source, m->tag), "a message goes where it must not");
    for (int i = 0; i < r; i++)
        expect(s->receive[i].status != PENDING || !fits(&s->receive[i], source, m->tag),
               "a receive is passed over that was posted before");
    for (int i = 0; i < number; i++) {
        const struct message *earlier = &s->pair[source].message[i];
        expect(earlier->kind == ANSWER || earlier->matched || !fits(to, source, earlier->tag),
               "a message overtakes another");
    }
}

static void match(struct state *s, int r, int source, int number)
{
    check_match(s, r, source, number);
    s->receive[r].status = MATCHED;
    s->pair[source].message[number].matched = 1;
}

// ---- The receiver posts
// A message that came before its receive.
static bool match_unexpected(struct state *s, int r)
{
    for (int source = 0; source < SENDERS; source++)
        for (int i = 0; i < s->pair[source].sent; i++) {
            const struct message *m = &s->pair[source].message[i];
            if (m->kind == ENVELOPE && m->admitted && !m->matched &&
                fits(&s->receive[r], source, m->tag)) {
                match(s, r, source, i);
                return true;
            }
        }
    return false;
}

static bool may_tell(const struct state *s, int r)
{
    const struct receive *it = &s->receive[r];
    for (int i = 0; i < r; i++) {
        const struct receive *older = &s->receive[i];
        bool overlap = older->tag == ANY_TAG || it->tag == ANY_TAG || older->tag == it->tag;
        if (older->status != PENDING || !overlap)
            continue;
        if (older->source == ANY_SOURCE && variant.mistake != NO_RULE_A)
            return false;
        if (older->source != it->source)
            continue;
        if (!older->told && variant.mistake != UNTOLD_IGNORED)
            return false;
        if (older->told && s->pair[it->source].last_admitted > older->stamp &&
            variant.mistake != STALE_IGNORED)
            return false;
    }
    return true;
}

static void tell(struct state *s, int source, int kind, int r)
{
    struct pair *p = &s->pair[source];
    int n = 0;
    while (p->control[n].kind)
        n++;
    p->control[n] = (struct control){(uint8_t)kind, (uint8_t)r};
    note(RECEIVER, "%s receive %d", kind == HINT ? "tells of" : "revokes", r);
}

static bool post(struct state *s, int way)
{
    int source = way % 3, tag = way / 3 % 3, tells = way / 9, r = s->posted;
    if (r == scenario()->receives || (source == 1 && scenario()->senders == 1) ||
        (tag > 0 && scenario()->tags == 1))
        return false;
    s->receive[r] = (struct receive){
        .status = PENDING, .source = (uint8_t)source, .tag = (uint8_t)tag};
    if (tells && (source == ANY_SOURCE || !may_tell(s, r)))
        return false;
    s->posted++;
    note(RECEIVER, "posts receive %d: source %c, tag %c", r, "ab*"[source], "01*"[tag]);
    if (match_unexpected(s, r) || !tells)
        return true;
    s->receive[r].told = 1;
    s->receive[r].stamp = s->pair[source].admitted;
    tell(s, source, HINT, r);
    return true;
}

// ---- The receiver admits
static void admit_envelope(struct state *s, int source, int number)
{
    s->pair[source].last_admitted = (uint8_t)(number + 1);
    for (int r = 0; r < s->posted; r++)
        if (s->receive[r].status == PENDING &&
            fits(&s->receive[r], source, s->pair[source].message[number].tag)) {
            match(s, r, source, number);
            return;
        }
}

static void admit_answer(struct state *s, const struct message *m)
{
    struct receive *r = &s->receive[m->receive];
    r->revoked = 0;
    if (r->status == PENDING && m->removed)
        r->status = WITHDRAWN;
    expect(r->status != PENDING, "an answer leaves a receive that nobody will match");
}

static bool comes_by_number(const struct message *m)
{
    if (variant.mistake == ADMITTED_AS_THEY_COME)
        return false;
    return !(m->kind == DIRECT && variant.mistake == DIRECT_UNNUMBERED) &&
           !(m->kind == ANSWER && variant.mistake == ANSWER_UNNUMBERED);
}

static bool admit(struct state *s, int source, int number)
{
    struct pair *p = &s->pair[source];
    struct message *m = &p->message[number];
    if (number >= p->sent || m->admitted)
        return false;
    for (int i = 0; i < number && comes_by_number(m); i++)
        if (!p->message[i].admitted && comes_by_number(&p->message[i]))
            return false;
    note(RECEIVER, "admits number %d of sender %c", number, 'a' + source);
    m->admitted = 1;
    p->admitted++;
    switch (m->kind) {
    case ENVELOPE: admit_envelope(s, source, number); break;
    case DIRECT: match(s, m->receive, source, number); break;
    default: admit_answer(s, m);
    }
    return true;
}

static bool withdraw(struct state *s, int r)
{
    struct receive *it = &s->receive[r];
    if (!s->withdrawals || it->status != PENDING)
        return false;
    s->withdrawals--;
    if (it->told && variant.mistake != WITHDRAWN_AT_ONCE) {
        it->revoked = 1;
        tell(s, it->source, REVOKE, r);
    } else {
        note(RECEIVER, "withdraws receive %d", r);
        it->status = WITHDRAWN;
    }
    return true;
}

// Pending receives and unexpected messages do not fit each other.
static void check_queues(const struct state *s)
{
    for (int source = 0; source < SENDERS; source++)
        for (int i = 0; i < s->pair[source].sent; i++) {
            const struct message *m = &s->pair[source].message[i];
            for (int r = 0; r < s->posted; r++)
                expect(m->kind != ENVELOPE || !m->admitted || m->matched ||
                           s->receive[r].status != PENDING || !fits(&s->receive[r], source, m->tag),
                       "a message and its receive do not meet");
        }
}

// ---- The senders
static bool hear(struct state *s, int t, int which)
{
    struct pair *p = &s->pair[t - SENDER_A];
    struct control c = p->control[which];
    if (!c.kind || (which > 0 && variant.mistake != HINTS_OVERTAKE))
        return false;
    if (c.kind == REVOKE && p->sent == MESSAGES)
        return false;
    memmove(&p->control[which], &p->control[which + 1], (size_t)(CONTROLS - 1 - which) * sizeof c);
    p->control[CONTROLS - 1] = (struct control){0};
    note(t, "hears %s of receive %d", c.kind == HINT ? "" : "the revoking", c.receive);
    if (c.kind == HINT) {
        p->hints |= (uint8_t)(1 << c.receive);
        return true;
    }
    p->message[p->sent++] = (struct message){
        .kind = ANSWER, .receive = c.receive, .removed = p->hints >> c.receive & 1};
    p->hints &= (uint8_t) ~(1 << c.receive);
    return true;
}

static bool may_follow(const struct pair *p, const struct receive *r)
{
    if (variant.mistake == NO_STAMP)
        return true;
    return r->stamp + (variant.mistake == STAMP_ONE_OFF) >= p->last_envelope;
}

// The oldest hint that the message may follow; none: how many receives there are.
static int hint_for(const struct state *s, const struct pair *p, uint8_t tag)
{
    int r = 0;
    while (r < RECEIVES &&
           !(p->hints >> r & 1 && tag_fits(&s->receive[r], tag) && may_follow(p, &s->receive[r])))
        r++;
    return r;
}

static bool send(struct state *s, int t, uint8_t tag, bool directly)
{
    struct pair *p = &s->pair[t - SENDER_A];
    int r = directly ? hint_for(s, p, tag) : 0;
    if (!p->left || r == RECEIVES || tag >= scenario()->tags)
        return false;
    p->left--;
    p->message[p->sent] = (struct message){.kind = ENVELOPE, .tag = tag};
    if (directly) {
        note(t, "sends number %d, tag %d, to receive %d", p->sent, tag, r);
        expect(s->receive[r].status == PENDING,
               "a hint is followed after its receive was matched or withdrawn");
        p->message[p->sent].kind = DIRECT;
        p->message[p->sent].receive = (uint8_t)r;
        p->hints &= (uint8_t) ~(1 << r);
    } else {
        note(t, "sends number %d, tag %d", p->sent, tag);
        p->last_envelope = (uint8_t)(p->sent + 1);
    }
    p->sent++;
    return true;
}

static bool step(void *state, int t, int way)
{
    struct state *s = state;
    if (t == RECEIVER) {
        bool done = false;
        if (way < ADMIT)
            done = post(s, way - POST);
        else if (way < WITHDRAW)
            done = admit(s, (way - ADMIT) / MESSAGES, (way - ADMIT) % MESSAGES);
        else if (way < RECEIVER_WAYS)
            done = withdraw(s, way - WITHDRAW);
        check_queues(s);
        return done;
    }
    if (way < SEND)
        return hear(s, t, way - HEAR);
    return way < SENDER_WAYS && send(s, t, (way - SEND) % 2, (way - SEND) / 2);
}

static void end(const void *state)
{
    const struct state *s = state;
    for (int r = 0; r < s->posted; r++)
        expect(!s->receive[r].revoked, "the receiver waits for an answer for ever");
    for (int i = 0; i < SENDERS; i++) {
        const struct pair *p = &s->pair[i];
        expect(p->admitted == p->sent && !p->left, "a message is lost");
        for (int n = 0; n < p->sent; n++)
            expect(p->message[n].kind != DIRECT || p->message[n].matched, "a message is lost");
    }
}

static const struct variant variants[] = {
    {NONE, SC, 0, "one sender, 3 messages"},
    {NONE, SC, 1, "one sender, a withdrawal"},
    {NONE, SC, 2, "two senders, 2 messages each, one tag"},
    {NONE, SC, 3, "two senders, one message each"},
    {NONE, SC, 4, "two senders, a withdrawal, one tag"},
    {NO_STAMP, SC, 0, "the stamp is not looked at"},
    {STAMP_ONE_OFF, SC, 0, "an envelope that was not admitted is allowed"},
    {NO_RULE_A, SC, 2, "an older receive for any source is ignored"},
    {UNTOLD_IGNORED, SC, 0, "an older receive not told of is ignored"},
    {STALE_IGNORED, SC, 0, "an older receive with a stale hint is ignored"},
    {ADMITTED_AS_THEY_COME, SC, 0, "messages are admitted as they come"},
    {DIRECT_UNNUMBERED, SC, 0, "direct messages are admitted at once"},
    {HINTS_OVERTAKE, SC, 0, "hints overtake each other"},
    {WITHDRAWN_AT_ONCE, SC, 1, "a hint is not revoked"},
    {ANSWER_UNNUMBERED, SC, 1, "the answer is admitted at once"},
};

int main(int argc, char **argv)
{
    static const struct model hint = {.size = sizeof(struct state),
                                      .threads = THREADS,
                                      .choices = RECEIVER_WAYS,
                                      .start = start,
                                      .step = step,
                                      .end = end,
                                      .thread_names = thread_names};
    return explore_all(&hint, variants, sizeof variants / sizeof *variants, argc, argv);
}
