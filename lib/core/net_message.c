// SPDX-License-Identifier: BSD-3-Clause
// Messages between nodes. See net_message.h.
#include "net_message.h"

#include "coll_message.h"
#include "elements.h"
#include "far_region.h"
#include "log.h"
#include "net.h"
#include "net_credit.h"
#include "net_flight.h"
#include "net_queue.h"
#include "region.h"
#include "stream.h"
#include "wait.h"

#include <pthread.h>
#include <stdlib.h>
#include <string.h>

#define TOLD (UINT64_MAX - 1)         // token of what net_tell sent, and its phase
#define OF_STREAM (UINT64_C(1) << 63) // and of a batch: with the stream's mark
enum { MOST_NESTED = 32, SMALL = 1024 };

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
static bool try_bytes(int pe, const void *bytes, size_t n, bool waits)
{
    struct waiter w = waiter_start(&world_ctl(world.me)->bell);
    int status;
    net_connect(pe);
    while ((status = net.transport->am(net.ep, NULL, pe, bytes, n)) == TRANSPORT_AGAIN) {
        if (!waits)
            return false;
        waiter_step(&w);
    }
    if (status < 0 && !net_is_leaving()) // an answer that nobody waits for any more
        net_failed("a message", pe, status);
    return true;
}

// False, only if !waits: there is no room now.
static bool try_send(int pe, const struct net_head *head, const void *data, bool waits)
{
    unsigned char few[SMALL];
    size_t n = head_size((enum net_kind)head->kind), all = n + head->n;
    unsigned char *bytes = all <= sizeof few ? few : malloc(all);
    if (!bytes)
        fatal("no memory for a message of %zu bytes", all);
    memcpy(bytes, head, n);
    if (head->n)
        memcpy(bytes + n, data, head->n);
    bool done = try_bytes(pe, bytes, all, waits);
    if (bytes != few)
        free(bytes);
    return done;
}

static void send(int pe, const struct net_head *head, const void *data)
{
    try_send(pe, head, data, true);
}

// What was gathered for pe leaves before a message to it, and comes before it.
static bool push_first(int pe, bool waits)
{
    return !atomic_load_explicit(&stream_open, memory_order_relaxed) ||
           stream_push_message(&stream_default, pe, waits);
}

void net_push_first(int pe)
{
    push_first(pe, true);
}

bool net_message_send(int from, int pe, const struct inbox_message *m, bool waits)
{
    bool is_long = m->flags & ENVELOPE_LONG;
    struct net_head head = {.kind = NET_MESSAGE,
                            .id = m->id,
                            .flags = m->flags,
                            .from = from,
                            .arg = m->arg,
                            .n = is_long ? 0 : (uint32_t)m->n};
    if (is_long) {
        head.to = *m->to;
        head.long_n = m->n;
    }
    if (!credit_use(pe, head.n, waits))
        return false;
    bool sent = push_first(pe, waits) && try_send(pe, &head, m->payload, waits);
    if (sent)
        atomic_fetch_add_explicit(&messages_sent, 1, memory_order_relaxed);
    else
        credit_return(pe, head.n);
    return sent;
}

uint64_t net_messages_sent(void)
{
    return atomic_load_explicit(&messages_sent, memory_order_relaxed);
}

size_t net_message_soon(void)
{
    size_t head = head_size(NET_MESSAGE), most = net.facts.am_soon;
    return most < head ? 0 : most - head < LIMIT_AM_FAR ? most - head : LIMIT_AM_FAR;
}

size_t net_batch_room(void)
{
    return net.facts.am_max - offsetof(struct net_head, op);
}

int net_batch_send(int pe, uint64_t mark, const void *records, size_t n)
{
    struct net_head head = {
        .kind = NET_BATCH, .from = world.me, .token = OF_STREAM | mark, .n = (uint32_t)n};
    size_t room = offsetof(struct net_head, op);
    unsigned char bytes[room + n];
    memcpy(bytes, &head, room);
    memcpy(bytes + room, records, n);
    return net.transport->am(net.ep, NULL, pe, bytes, room + n);
}

void net_message_coll(int pe, const void *bytes, size_t n)
{
    send(pe, &(struct net_head){.kind = NET_COLL, .from = world.me, .n = (uint32_t)n}, bytes);
}

static struct answers told; // operations that others were told of

static void answered(const struct net_head *head, const void *data)
{
    if (head->token < TOLD && head->token & OF_STREAM) {
        if (head->status)
            fatal("PE %d refused puts or atomics from here: %d", head->from, head->status);
        stream_answered(head->token & ~OF_STREAM, head->arg);
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

void net_send_run(const struct operation *op, int pe, uint64_t token, uint64_t which,
                  const void *data)
{
    struct net_head head = {.kind = NET_RUN,
                            .token = token,
                            .from = world.me,
                            .arg = which,
                            .n = data ? (uint32_t)op->n : 0,
                            .op = *op};
    send(pe, &head, data);
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
    send(pe, &head, NULL);
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
    send(pe, &head, records);
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
static struct queue messages = {.lock = PTHREAD_MUTEX_INITIALIZER},
                    runs = {.lock = PTHREAD_MUTEX_INITIALIZER};

static bool is_same_answer(const struct came *a, const struct came *b)
{
    return a->head.kind == NET_BATCH && b->head.kind == NET_BATCH && a->from == b->from &&
           a->head.token == b->head.token && a->head.token & OF_STREAM && !a->head.status &&
           !b->head.status;
}

// A batch is done in the upcall, in the order of its sender; the answer is left to net_message_work,
// one for all that wait in a row.
static void apply_batch(int from, struct net_head *head, const void *records)
{
    struct came *c = malloc(sizeof *c), *last = NULL;
    uint64_t old;
    head->status = SHOAL_OK;
    if (!c)
        fatal("no memory for an answer");
    if (!stream_apply(records, head->n, &old)) {
        log_line(LOG_WARN, LOG_BOOT, "puts or atomics of PE %d to memory that is none", from);
        head->status = SHOAL_ERANGE;
    }
    *c = (struct came){.from = from, .head = *head};
    if (head->token & OF_STREAM)
        c->head.arg = 1;
    c->head.long_n = old;
    pthread_mutex_lock(&runs.lock);
    if (runs.first)
        last = (struct came *)runs.last; // its first member
    bool merges = last && is_same_answer(last, c);
    if (merges)
        last->head.arg++;
    pthread_mutex_unlock(&runs.lock);
    if (merges)
        free(c);
    else
        queue_put(&runs, c);
}

// Bytes that the answer carries.
static size_t result_size(const struct operation *op)
{
    return op->kind == SHOAL_WORK_GET || op->kind == OPERATION_FETCH_ACC ? op->n
           : op->kind == SHOAL_WORK_ATOMIC                               ? sizeof(uint64_t)
                                                                         : 0;
}

// PEs of a node speak for each other.
static bool is_of(int pe, int from)
{
    return pe >= 0 && pe < world.npes && world.job->pe[pe].node == world.job->pe[from].node;
}

// Is it a message as PE `from` would send it?
static bool is_sound(const struct net_head *head, int from, size_t n)
{
    bool is_user = !(head->flags & ~(ENVELOPE_REPLY | ENVELOPE_LONG)) && head->id;
    if (world_is_here(from) || head->n > n || head_size((enum net_kind)head->kind) + head->n != n)
        return false;
    if (head->kind == NET_MESSAGE)
        return is_user && head->n <= LIMIT_AM_FAR && is_of(head->from, from);
    if (head->kind == NET_BATCH)
        return head->from == from && head->token && head->n;
    if (head->kind == NET_RUN) // whose answer must fit in one message
        return operation_is_sound(&head->op, head->n) && result_size(&head->op) <= room_for_data();
    return head->kind == NET_DONE || head->kind == NET_COLL || head->kind == NET_TAKEN;
}

static void keep(int from, const struct net_head *head, const void *data)
{
    struct came *c = malloc(sizeof *c + head->n);
    if (!c)
        fatal("no memory for a message of %u bytes", head->n);
    c->from = from;
    c->head = *head;
    if (head->n)
        memcpy(c->data, data, head->n);
    queue_put(head->kind == NET_MESSAGE ? &messages : &runs, c);
}

void net_message_arrived(void *arg, int from, const void *bytes, size_t n)
{
    struct net_head head = {0};
    (void)arg;
    net_connect(from); // or the transport could not tell it that its messages are taken
    memcpy(&head, bytes, n < sizeof head ? n : sizeof head);
    bool sound = n >= offsetof(struct net_head, op) && is_sound(&head, from, n);
    const unsigned char *data = (const unsigned char *)bytes + n - (sound ? head.n : 0);
    if (sound && head.kind == NET_COLL) {
        if (coll_message_arrived(from, data, head.n))
            return;
        sound = false;
    }
    if (!sound) {
        log_line(LOG_WARN, LOG_BOOT, "a malformed message from PE %d was dropped", from);
        return;
    }
    if (head.kind == NET_DONE) {
        answered(&head, data);
        return;
    }
    if (head.kind == NET_TAKEN) {
        credit_told(from, head.arg);
        return;
    }
    if (head.kind == NET_BATCH) {
        apply_batch(from, &head, data);
        return;
    }
    keep(from, &head, data);
}

void net_message_keep(int from, const struct inbox_message *m)
{
    struct net_head head = {
        .kind = NET_MESSAGE, .from = from, .arg = m->arg, .id = m->id, .n = (uint32_t)m->n};
    keep(-1, &head, m->payload);
}

bool net_message_waiting(void)
{
    return atomic_load_explicit(&messages.has_some, memory_order_acquire);
}

void *net_message_take(struct message *m)
{
    struct came *c = queue_take(&messages), *told;
    if (!c)
        return NULL;
    if (c->from >= 0 && (told = credit_taken(c->from, c->head.n)))
        queue_put(&runs, told);
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
            free(c);
            return net_message_take(m);
        }
    } else if (c->head.n <= INLINE_BYTES) {
        memcpy(m->envelope.bytes, c->data, c->head.n);
    }
    return c;
}

static void answer_batch(const struct came *c)
{
    bool is_asked = !(c->head.token & OF_STREAM);
    struct net_head head = {.kind = NET_DONE,
                            .from = world.me,
                            .token = c->head.token,
                            .status = c->head.status,
                            .arg = c->head.arg,
                            .n = is_asked && !c->head.status ? sizeof c->head.long_n : 0};
    send(c->from, &head, &c->head.long_n);
}

// These never wait. (Accumulates of wide elements may, for each other.)
static bool is_transfer(const struct came *c)
{
    const struct operation *op = &c->head.op;
    if (c->head.kind != NET_RUN)
        return false;
    switch (op->kind) {
    case SHOAL_WORK_PUT:
    case SHOAL_WORK_GET:
    case SHOAL_WORK_ATOMIC:
    case OPERATION_FETCH_ACC: return true;
    case OPERATION_ACC: return element_size((shoal_type_t)op->type) <= sizeof(uint64_t);
    default: return false;
    }
}

// result: result_size bytes, and where a PE's data goes to.
static int run(struct came *c, void *result)
{
    struct operation *op = &c->head.op;
    int needs;
    op->local = place_of(c->head.n || !result_size(op) ? (void *)c->data : result);
    op->local2 = place_of(result);
    int status = operation_run(op, &needs);
    return status == SHOAL_EAGAIN ? SHOAL_EFAULT : status;
}

// Takes the next one and runs it. Transfers are run in the order in which they came, by whatever
// threads: one PE's accumulates on an element keep theirs.
static bool run_next(void)
{
    static pthread_mutex_t order = PTHREAD_MUTEX_INITIALIZER;
    uint64_t short_result = 0;
    int status = SHOAL_OK;
    pthread_mutex_lock(&order);
    struct came *c = queue_take(&runs);
    bool in_order = c && is_transfer(c);
    size_t n = c && c->head.kind == NET_RUN ? result_size(&c->head.op) : 0;
    void *result = n > sizeof short_result ? calloc(1, n) : &short_result;
    if (!result)
        fatal("no memory for an answer of %zu bytes", n);
    if (in_order)
        status = run(c, result);
    pthread_mutex_unlock(&order);
    if (!c)
        return false;
    if (c->head.kind == NET_BATCH) {
        answer_batch(c);
    } else if (c->head.kind == NET_TAKEN) {
        send(c->from, &c->head, NULL);
    } else {
        if (!in_order)
            status = run(c, result);
        struct net_head head = {.kind = NET_DONE,
                                .token = c->head.token,
                                .arg = c->head.arg,
                                .status = status,
                                .n = status ? 0 : (uint32_t)n};
        send(c->from, &head, result);
    }
    if (result != &short_result)
        free(result);
    free(c);
    return true;
}

// A thread that waits within one may run the next: two nodes that wait for each other go on.
int net_message_work(void)
{
    static TLS_FAST int nested;
    int done = 0;
    if (nested >= MOST_NESTED)
        return 0;
    nested++;
    while (atomic_load_explicit(&runs.has_some, memory_order_relaxed) && run_next())
        done++;
    nested--;
    return done;
}

int net_message_up(void)
{
    if (net.facts.am_max >= offsetof(struct net_head, op) + LIMIT_AM_FAR &&
        net.facts.am_max >= sizeof(struct net_head) + LIMIT_AM_PAYLOAD)
        return credit_up();
    log_line(LOG_ERROR, LOG_BOOT, "transport %s carries messages of %zu bytes: too short",
             net.facts.name, net.facts.am_max);
    return -1;
}

void net_message_down(void)
{
    told = (struct answers){0}; // what handlers told others at the end has no answer
    queue_drop(&messages);
    queue_drop(&runs);
    credit_down();
    coll_message_down();
}
