// SPDX-License-Identifier: BSD-3-Clause
// Messages between nodes. See net_message.h.
#include "net_message.h"

#include "coll_message.h"
#include "copy.h"
#include "far_region.h"
#include "log.h"
#include "net.h"
#include "net_credit.h"
#include "net_flight.h"
#include "net_part.h"
#include "net_queue.h"
#include "net_work.h"
#include "region.h"
#include "stream.h"
#include "wait.h"

#include <pthread.h>
#include <string.h>

#define TOLD (UINT64_MAX - 1) // token of what net_tell sent, and its phase
enum { LEAST_DATA = 128, WORTH_KEEPING = HOSTILE ? 16 : 1024 };

// Without the operation, where there is none.
static size_t head_size(enum net_kind kind)
{
    return kind == NET_RUN ? sizeof(struct net_head) : offsetof(struct net_head, op);
}

static size_t room_for_data(void)
{
    size_t room = net.facts.am_max - sizeof(struct net_head);
    return room < LIMIT_BOUNCE ? room : LIMIT_BOUNCE;
}

static _Atomic uint64_t messages_sent;

// ---- Sending
enum patience { TRY, LET_LEAVE, WAIT }; // LET_LEAVE: wait for the network alone, see net_let_leave

static bool try_payload(int pe, const struct transport_payload *payload, enum patience patience)
{
    struct waiter w = waiter_start(&world_ctl(world.me)->bell);
    unsigned looks = 0;
    int status;
    net_connect(pe);
    while ((status = net.transport->am(net.ep, NULL, pe, payload)) == TRANSPORT_AGAIN) {
        if (patience == TRY)
            return false;
        if (patience == WAIT) {
            waiter_step(&w);
            continue;
        }
        net_let_leave(&looks);
        if (!wait_is_ours)
            world_follow_exit();
    }
    if (status < 0 && !net_is_leaving()) // an answer that nobody waits for any more
        net_failed("a message", pe, status);
    return true;
}

// head->n bytes of data. False, only for TRY: there is no room now.
static bool try_send(int pe, const struct net_head *head, const void *data, enum patience patience)
{
    struct transport_payload payload = {head, data, head_size((enum net_kind)head->kind), head->n};
    return try_payload(pe, &payload, patience);
}

// Handlers have their turn once it has left: with many messages to handle each look for room would take long.
void net_answer(int pe, const struct net_head *head, const void *data)
{
    try_send(pe, head, data, LET_LEAVE);
}

// What was gathered for pe leaves before a message to it, and comes before it.
static bool push_first(int pe, bool waits)
{
    return !atomic_load_explicit(&stream_open, memory_order_relaxed) ||
           stream_push(&stream_default, pe, STREAM_IN_ORDER | (waits ? STREAM_WAITS : 0));
}

void net_push_first(int pe)
{
    push_first(pe, true);
}

static struct net_head head_of(int from, const struct inbox_message *m)
{
    return (struct net_head){.kind = NET_MESSAGE,
                             .id = m->id,
                             .flags = m->flags,
                             .from = from,
                             .n = (uint32_t)m->n,
                             .arg = m->arg};
}

// Bytes of a message's payload in one of the network's.
static size_t part_room(void)
{
    size_t room = net.facts.am_soon - head_size(NET_MESSAGE);
    return room < LIMIT_AM_PART ? room : LIMIT_AM_PART;
}

// In parts, when it is long. The first that has left, the others follow, whatever room there is: nobody
// has a use for some of them. The network makes room for them, whatever the receiver's program does.
static bool send_parts(int pe, struct net_head *head, const void *data, bool waits)
{
    static _Atomic uint64_t tokens;
    size_t n = head->n, room = part_room();
    if (n <= room)
        return try_send(pe, head, data, waits ? WAIT : TRY);
    head->token = atomic_fetch_add_explicit(&tokens, 1, memory_order_relaxed) + 1;
    head->long_n = n;
    head->n = (uint32_t)room;
    if (!try_send(pe, head, data, waits ? WAIT : TRY))
        return false;
    head->kind = NET_PART;
    for (size_t at = room; at < n; at += head->n) {
        head->n = (uint32_t)(n - at < room ? n - at : room);
        try_send(pe, head, (const char *)data + at, waits ? WAIT : LET_LEAVE);
    }
    return true;
}

bool net_message_send(int from, int pe, const struct inbox_message *m, bool waits)
{
    struct net_head head = head_of(from, m);
    if (m->flags & ENVELOPE_LONG) {
        head.n = 0;
        head.to = *m->to;
        head.long_n = m->n;
    }
    size_t n = head.n;
    if (!credit_use(pe, n, waits))
        return false;
    bool sent = push_first(pe, waits) && send_parts(pe, &head, m->payload, waits);
    if (sent)
        atomic_fetch_add_explicit(&messages_sent, 1, memory_order_relaxed);
    else
        credit_return(pe, n);
    return sent;
}

bool net_message_gather(int pe, const struct inbox_message *m)
{
    if (!credit_use(pe, m->n, false))
        return false;
    if (stream_message(pe, m)) {
        atomic_fetch_add_explicit(&messages_sent, 1, memory_order_relaxed);
        return true;
    }
    credit_return(pe, m->n);
    bool sent = net_message_send(world.me, pe, m, false);
    if (sent)
        stream_message_left(pe);
    return sent;
}

uint64_t net_messages_sent(void)
{
    return atomic_load_explicit(&messages_sent, memory_order_relaxed);
}

size_t net_batch_room(void)
{
    return net.facts.am_max - offsetof(struct net_head, op);
}

int net_batch_send(int pe, uint64_t mark, const void *records, size_t n)
{
    struct net_head head = {.kind = NET_BATCH,
                            .from = world.me,
                            .token = mark == NET_BATCH_UNANSWERED ? 0 : NET_OF_STREAM | mark,
                            .n = (uint32_t)n};
    struct transport_payload payload = {&head, records, head_size(NET_BATCH), n};
    return net.transport->am(net.ep, NULL, pe, &payload);
}

size_t net_coll_room(void)
{
    size_t room = net.facts.am_soon - head_size(NET_COLL);
    return (room < LIMIT_COLL_EAGER ? room : LIMIT_COLL_EAGER) - sizeof(struct coll_head);
}

void net_message_coll(int pe, const struct coll_head *coll, const void *data, size_t n)
{
    unsigned char both[offsetof(struct net_head, op) + sizeof *coll];
    struct net_head head = {.kind = NET_COLL, .from = world.me, .n = (uint32_t)(sizeof *coll + n)};
    struct transport_payload payload = {both, data, sizeof both, n};
    memcpy(both, &head, offsetof(struct net_head, op));
    memcpy(both + offsetof(struct net_head, op), coll, sizeof *coll);
    try_payload(pe, &payload, WAIT);
}

static struct answers told; // operations that others were told of

static void answered(const struct net_head *head, const void *data)
{
    if (head->token < TOLD && head->token & NET_OF_STREAM) {
        if (head->status)
            fatal("PE %d refused puts or atomics from here: %d", head->from, head->status);
        stream_answered(head->token & ~NET_OF_STREAM, head->arg);
        return;
    }
    if (head->token >= TOLD) {
        answers_came(&told, (unsigned)(head->token - TOLD), 1);
        return;
    }
    if (!flight_answered(head->token, head->arg, head->status, data, head->n))
        log_line(LOG_WARN, LOG_BOOT, "an answer that nobody waits for came from the network");
}

size_t net_run_room(void)
{
    return room_for_data();
}

size_t net_run_room_soon(void)
{
    size_t room = room_for_data(), soon = net.facts.am_soon;
    soon = soon > sizeof(struct net_head) ? soon - sizeof(struct net_head) : 0;
    return room < soon ? room : soon;
}

void net_send_run(const struct operation *op, int pe, uint64_t token, uint64_t which,
                  const void *data)
{
    struct net_head head = {.kind = NET_RUN,
                            .token = token,
                            .from = world.me,
                            .arg = which,
                            .n = data ? (uint32_t)op->n : 0,
                            .op = *op};
    try_send(pe, &head, data, WAIT);
}

int net_run(const struct operation *op, int pe)
{
    struct flight *f = flight_new(true);
    flight_add(f, op, pe);
    return flight_wait(f);
}

void net_tell(const struct operation *op, int pe)
{
    struct net_head head = {
        .kind = NET_RUN, .token = TOLD + answers_expect(&told), .from = world.me, .op = *op};
    net_push_first(pe);
    try_send(pe, &head, NULL, WAIT);
}

uint64_t net_batch_ask(int pe, const void *records, size_t n)
{
    uint64_t old = 0;
    struct flight *f = flight_new(true);
    struct net_head head = {.kind = NET_BATCH,
                            .token = flight_token(f),
                            .from = world.me,
                            .arg = flight_expect(f, &old, sizeof old),
                            .n = (uint32_t)n};
    try_send(pe, &head, records, WAIT);
    int status = flight_wait(f);
    if (status)
        fatal("PE %d refused an atomic from here: %d", pe, status);
    return old;
}

void net_message_flush(void)
{
    answers_wait(&told);
}

// ---- What came, kept until somebody has time for it.
static struct queue messages = {.lock = PTHREAD_MUTEX_INITIALIZER};

// PEs of a node speak for each other.
static bool is_of(int pe, int from)
{
    return pe >= 0 && pe < world.npes && world.job->pe[pe].node == world.job->pe[from].node;
}

// May a program have sent it, with these flags beside ENVELOPE_REPLY?
static bool is_of_program(uint8_t id, uint8_t flags, size_t n, int others)
{
    return id && !(flags & ~(ENVELOPE_REPLY | others)) && n <= LIMIT_AM_FAR;
}

// Is it a message as PE `from` would send it?
static bool is_sound(const struct net_head *head, int from, size_t n)
{
    bool is_user = is_of_program(head->id, head->flags, head->n, ENVELOPE_LONG);
    if (world_is_here(from) || head->n > n || head_size((enum net_kind)head->kind) + head->n != n)
        return false;
    if (head->kind == NET_MESSAGE)
        return is_user && is_of(head->from, from) && !(head->token && head->flags & ENVELOPE_LONG);
    if (head->kind == NET_BATCH)
        return head->from == from && head->n;
    if (head->kind == NET_RUN) // whose answer must fit in one message
        return operation_is_sound(&head->op, head->n) &&
               net_work_result(&head->op) <= room_for_data();
    return head->kind == NET_DONE || head->kind == NET_COLL || head->kind == NET_TAKEN ||
           head->kind == NET_PART;
}

// With the block that its data is in, if that is worth it: true then.
static bool keep(int from, const struct net_head *head, const void *data, void *memory)
{
    bool is_aligned = (uintptr_t)data % _Alignof(max_align_t) == 0;
    bool keeps = memory && is_aligned && head->n >= WORTH_KEEPING;
    struct came *c = came_new(from, head, keeps ? 0 : head->n);
    if (keeps) {
        c->data = (unsigned char *)data;
        c->memory = memory;
    } else if (head->n) {
        copy_bytes(c->data, data, head->n);
    }
    if (head->kind == NET_MESSAGE)
        queue_put(&messages, c);
    else
        net_work_keep(c);
    return keeps;
}

bool net_message_arrived(void *arg, int from, const void *bytes, size_t n, void *memory)
{
    struct net_head head = {0};
    (void)arg;
    net_connect(from); // or the transport could not tell it that its messages are taken
    memcpy(&head, bytes, n < sizeof head ? n : sizeof head);
    bool sound = n >= offsetof(struct net_head, op) && is_sound(&head, from, n);
    const unsigned char *data = (const unsigned char *)bytes + n - (sound ? head.n : 0);
    if (sound && head.kind == NET_COLL) {
        if (coll_message_arrived(from, data, head.n))
            return false;
        sound = false;
    }
    struct came *whole;
    bool is_part = sound && (head.kind == NET_PART || (head.kind == NET_MESSAGE && head.token));
    if (is_part && (sound = part_arrived(from, &head, data, &whole))) {
        if (whole)
            queue_put(&messages, whole);
        return false;
    }
    if (!sound)
        log_line(LOG_WARN, LOG_BOOT, "a malformed message from PE %d was dropped", from);
    else if (head.kind == NET_DONE)
        answered(&head, data);
    else if (head.kind == NET_TAKEN)
        credit_told(from, head.arg);
    else if (head.kind == NET_BATCH)
        net_work_batch(from, &head, data);
    else
        return keep(from, &head, data, memory);
    return false;
}

bool net_message_gathered(int from, const struct inbox_message *m)
{
    struct net_head head = head_of(from, m);
    if (!is_of_program(m->id, m->flags, m->n, 0))
        return false;
    keep(from, &head, m->payload, NULL);
    return true;
}

void net_message_keep(int from, const struct inbox_message *m)
{
    struct net_head head = head_of(from, m);
    keep(-1, &head, m->payload, NULL);
}

bool net_message_waiting(void)
{
    return atomic_load_explicit(&messages.has_some, memory_order_acquire);
}

struct came *net_message_take(struct message *m)
{
    struct came *c = queue_take(&messages), *told;
    if (!c)
        return NULL;
    if (c->from >= 0 && (told = credit_taken(c->from, c->head.n)))
        net_work_keep(told);
    m->far = c->data;
    m->envelope = (struct envelope){.arg = c->head.arg,
                                    .from = c->head.from,
                                    .n = c->head.n,
                                    .id = c->head.id,
                                    .flags = c->head.flags};
    if (c->head.flags & ENVELOPE_LONG) {
        m->envelope.long_n = c->head.long_n;
        if (c->head.to.pe != world.me ||
            region_resolve(&c->head.to, c->head.long_n, &m->envelope.at)) {
            log_line(LOG_WARN, LOG_BOOT, "a long message of PE %d to memory that is no more",
                     c->head.from);
            came_free(c);
            return net_message_take(m);
        }
    } else if (c->head.n <= INLINE_BYTES) {
        memcpy(m->envelope.bytes, c->data, c->head.n);
    }
    return c;
}

int net_message_up(void)
{
    if (net.facts.am_soon >= sizeof(struct net_head) + LEAST_DATA &&
        net.facts.am_max >= sizeof(struct net_head) + LIMIT_AM_PAYLOAD)
        return credit_up();
    log_line(LOG_ERROR, LOG_BOOT,
             "transport %s carries messages of %zu bytes, %zu of them at once: too short",
             net.facts.name, net.facts.am_max, net.facts.am_soon);
    return -1;
}

void net_message_down(void)
{
    told = (struct answers){0}; // what handlers told others at the end has no answer
    queue_drop(&messages);
    part_down();
    net_work_down();
    credit_down();
    coll_message_down();
}
