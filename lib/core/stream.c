// SPDX-License-Identifier: BSD-3-Clause
// Streams and their batches. See stream.h.
#include "stream.h"

#include "inbox.h"
#include "log.h"
#include "net.h"
#include "net_message.h"
#include "settings.h"
#include "stream_batch.h"
#include "stream_record.h"
#include "wait.h"
#include "world.h"

#include <pthread.h>
#include <stdlib.h>
#include <string.h>

// Bytes of the largest put in a session, and of the largest message.
enum {
    SESSION_PUT = HOSTILE ? LIMIT_BATCH / 4 : 1024,
    MESSAGE_MOST = HOSTILE ? LIMIT_BATCH : 4096
};
// Messages to a PE that follow each other faster are gathered: about what it takes to send one.
enum { IN_A_ROW_NS = HOSTILE ? 1000000 : 10000 };

_Atomic int stream_open;

static size_t room(void)
{
    return net_batch_room() < LIMIT_BATCH ? net_batch_room() : LIMIT_BATCH;
}

// ---- Sending
// The only record goes as what it is, unless its order to others has to be kept: then it is
// TRANSPORT_UNSUPPORTED. TRANSPORT_AGAIN: there is no room now.
static int try_one(struct stream *s, const struct batch *b)
{
    struct record r;
    uint64_t operand;
    memcpy(&r, b->bytes, sizeof r);
    memcpy(&operand, b->bytes + sizeof r, sizeof operand);
    struct transport_remote to = {b->pe, r.region, r.offset};
    if (b->count != 1 || r.op == RECORD_MESSAGE || r.flags || stream_is_fenced(s) ||
        (r.op == RECORD_PUT ? r.n > net.facts.inject_max || r.n <= net.facts.put_by_message
                            : !net_does_amo(r.op, r.width)))
        return TRANSPORT_UNSUPPORTED;
    if (r.op == RECORD_PUT)
        return net.transport->put(net.ep, s->ctx, to, b->bytes + sizeof r, r.n, NULL);
    return net.transport->amo(net.ep, s->ctx, to, (enum transport_op)r.op,
                              (enum transport_width)r.width, operand, 0, NULL, NULL);
}

static int try_all(struct stream *s, const struct batch *b)
{
    if (b->messages == b->count)
        return net_batch_send(b->pe, NET_BATCH_UNANSWERED, b->bytes, b->n);
    unsigned phase = answers_expect(&s->batches);
    int status = net_batch_send(b->pe, 2 * (uint64_t)s->index + phase, b->bytes, b->n);
    if (status == TRANSPORT_AGAIN)
        answers_forget(&s->batches, phase);
    return status;
}

// With the batch locked. False: there is no room now.
static bool try_push(struct stream *s, struct batch *b, bool as_message)
{
    if (!b->n)
        return true;
    net_connect(b->pe);
    int status = as_message ? TRANSPORT_UNSUPPORTED : try_one(s, b);
    if (status == TRANSPORT_UNSUPPORTED)
        status = try_all(s, b);
    if (status == TRANSPORT_AGAIN)
        return false;
    if (status < 0 && !(b->messages == b->count && net_is_leaving()))
        net_failed_locked("puts and atomics together", b->pe, status);
    if (b->messages)
        b->left_ns = wait_now_ns();
    b->count = b->messages = 0;
    // Pairs with the acquire loads of those who find nothing here.
    atomic_store_explicit(&b->n, 0, memory_order_release);
    atomic_fetch_sub_explicit(&stream_open, 1, memory_order_release);
    return true;
}

// The transport alone is moved meanwhile: what comes is not run with a batch locked. The heartbeat
// may be waiting for the same lock: a lost host is seen here, too.
static void push(struct stream *s, struct batch *b, bool as_message)
{
    unsigned looks = 0;
    while (!try_push(s, b, as_message))
        net_let_leave(&looks);
}

static int batch_of(int pe)
{
    return pe % STREAM_BATCHES;
}

// False: another thread, which may be waiting for room, holds it; or there is no room now.
static bool try_push_unlocked(struct stream *s, struct batch *b, int pe, bool as_message)
{
    if (pthread_mutex_trylock(&b->lock))
        return false;
    bool done = (pe >= 0 && b->pe != pe) || try_push(s, b, as_message);
    pthread_mutex_unlock(&b->lock);
    return done;
}

bool stream_push(struct stream *s, int pe, unsigned how)
{
    bool done = true, as_message = how & STREAM_IN_ORDER;
    // What this thread has gathered it sees here, or that it has left.
    if (!atomic_load_explicit(&stream_open, memory_order_acquire))
        return true;
    int from = pe < 0 ? 0 : batch_of(pe), to = pe < 0 ? STREAM_BATCHES : from + 1;
    for (int i = from; i < to && done; i++) {
        struct batch *b = batch_at(s, i);
        if (!b || !atomic_load_explicit(&b->n, memory_order_acquire))
            continue;
        if (!(how & STREAM_WAITS)) {
            done = try_push_unlocked(s, b, pe, as_message);
            continue;
        }
        pthread_mutex_lock(&b->lock);
        if (pe < 0 || b->pe == pe)
            push(s, b, as_message);
        pthread_mutex_unlock(&b->lock);
    }
    return done;
}

void stream_push_all(void)
{
    if (pthread_mutex_trylock(&stream_table_lock)) // another thread does it
        return;
    for (int i = 0; i < STREAMS && atomic_load_explicit(&stream_open, memory_order_relaxed); i++) {
        struct stream *s = atomic_load_explicit(&stream_table[i], memory_order_acquire);
        for (int k = 0; s && k < STREAM_BATCHES; k++) {
            struct batch *b = batch_at(s, k);
            if (b && atomic_load_explicit(&b->n, memory_order_relaxed))
                try_push_unlocked(s, b, -1, false); // progress waits for nobody
        }
    }
    pthread_mutex_unlock(&stream_table_lock);
}

// ---- Gathering
static struct batch *new_batch(struct stream *s, int i)
{
    struct batch *b = malloc(sizeof *b), *none = NULL;
    if (!b)
        return NULL;
    pthread_mutex_init(&b->lock, NULL);
    b->n = b->count = b->messages = 0;
    b->left_ns = 0;
    b->pe = -1;
    if (atomic_compare_exchange_strong(&s->batch[i], &none, b))
        return b;
    free(b);
    return none;
}

static struct batch *find(struct stream *s, int pe)
{
    struct batch *b = batch_at(s, batch_of(pe));
    return likely(b) ? b : new_batch(s, batch_of(pe));
}

static bool fits(const struct batch *b, int pe, size_t n)
{
    return b->pe == pe && b->n + n <= room();
}

// pe's batch, locked and with room for n bytes more. NULL: there is none.
static struct batch *take(struct stream *s, int pe, size_t n)
{
    struct batch *b = find(s, pe);
    if (!b)
        return NULL;
    pthread_mutex_lock(&b->lock);
    if (!fits(b, pe, n))
        push(s, b, false);
    b->pe = pe;
    return b;
}

static void append(struct batch *b, const struct record *r, const void *from, size_t n)
{
    unsigned char *to = b->bytes + b->n;
    memcpy(to, r, sizeof *r);
    if (n)
        memcpy(to + sizeof *r, from, n);
    atomic_store_explicit(&b->n, b->n + (uint32_t)(sizeof *r + record_padded(n)),
                          memory_order_relaxed);
    b->count++;
}

static void append_put(struct batch *b, struct transport_remote to, const void *from, size_t n,
                       bool in_order)
{
    struct record r = {.offset = to.offset,
                       .n = (uint32_t)n,
                       .region = (uint8_t)to.region,
                       .op = RECORD_PUT,
                       .flags = in_order};
    append(b, &r, from, n);
}

static void append_amo(struct batch *b, struct transport_remote at, const struct stream_amo *amo,
                       bool in_order)
{
    struct record r = {.offset = at.offset,
                       .region = (uint8_t)at.region,
                       .op = (uint8_t)amo->op,
                       .width = (uint8_t)amo->width,
                       .flags = in_order};
    append(b, &r, (uint64_t[]){amo->operand, amo->compare},
           amo->op == TRANSPORT_CSWAP ? 2 * sizeof(uint64_t) : sizeof(uint64_t));
}

// `was_empty`: the heartbeat has to know, should this PE never wait.
static void give(struct batch *b, bool was_empty)
{
    if (was_empty)
        atomic_fetch_add(&stream_open, 1); // seq_cst: pairs with the heartbeat's load, see there
    pthread_mutex_unlock(&b->lock);
    if (was_empty)
        heartbeat_kick();
}

static bool has_room(size_t n)
{
    return settings.coalesce && record_padded(n) + 2 * RECORD_MOST <= room();
}

static bool gathers(struct stream *s, size_t n)
{
    size_t most = (size_t)settings.coalesce;
    if (unlikely(n > most) && atomic_load_explicit(&s->in_session, memory_order_relaxed))
        most = SESSION_PUT;
    return n <= most && has_room(n);
}

bool stream_put(struct stream *s, struct transport_remote to, const void *from, size_t n,
                bool in_order)
{
    struct batch *b = gathers(s, n) ? take(s, to.pe, sizeof(struct record) + record_padded(n))
                                    : NULL;
    if (!b)
        return false;
    bool was_empty = !b->n;
    append_put(b, to, from, n, in_order);
    give(b, was_empty);
    return true;
}

bool stream_amo(struct stream *s, struct transport_remote at, const struct stream_amo *amo)
{
    struct batch *b = gathers(s, sizeof(uint64_t)) ? take(s, at.pe, RECORD_MOST) : NULL;
    if (!b)
        return false;
    bool was_empty = !b->n;
    append_amo(b, at, amo, false);
    give(b, was_empty);
    return true;
}

// Data that has room for its signal beside it, or else the signal would have to wait for its answer. Somebody
// waits for a signal: it leaves at once, unless an answer is on its way, with which the
// next wait or the heartbeat will push what has come together until then.
bool stream_put_signal(struct stream *s, struct transport_remote to, const void *from, size_t n,
                       struct transport_remote at, const struct stream_amo *signal, bool in_order)
{
    struct batch *b = has_room(n)
                          ? take(s, to.pe, sizeof(struct record) + record_padded(n) + RECORD_MOST)
                          : NULL;
    if (!b)
        return false;
    bool was_empty = !b->n;
    if (n)
        append_put(b, to, from, n, in_order);
    append_amo(b, at, signal, in_order);
    give(b, was_empty);
    if (!atomic_load_explicit(&s->in_session, memory_order_relaxed) && answers_all(&s->batches))
        stream_push(s, to.pe, STREAM_WAITS);
    return true;
}

// With the batch locked. A full one leaves before, as a message does; this waits for nothing.
static bool follows(struct stream *s, struct batch *b, int pe, size_t n)
{
    if (!fits(b, pe, n)) {
        if (!try_push(s, b, true))
            return false;
        if (b->pe != pe)
            b->left_ns = 0;
        b->pe = pe;
    }
    return b->n || wait_now_ns() - b->left_ns < IN_A_ROW_NS;
}

void stream_message_left(int pe)
{
    struct batch *b = batch_at(&stream_default, batch_of(pe));
    if (!b || pthread_mutex_trylock(&b->lock))
        return;
    if (b->pe == pe)
        b->left_ns = wait_now_ns();
    pthread_mutex_unlock(&b->lock);
}

bool stream_message(int pe, const struct inbox_message *m)
{
    struct stream *s = &stream_default;
    struct record r = {
        .arg = m->arg, .n = (uint32_t)m->n, .id = m->id, .op = RECORD_MESSAGE, .flags = m->flags};
    struct batch *b = m->n <= MESSAGE_MOST && has_room(m->n) ? find(s, pe) : NULL;
    if (!b || pthread_mutex_trylock(&b->lock)) // whose holder may wait for room
        return false;
    if (!follows(s, b, pe, sizeof r + record_padded(m->n))) {
        pthread_mutex_unlock(&b->lock);
        return false;
    }
    bool was_empty = !b->n;
    append(b, &r, m->payload, m->n);
    b->messages++;
    give(b, was_empty);
    return true;
}

uint64_t stream_amo_there(struct stream *s, struct transport_remote at,
                          const struct stream_amo *amo)
{
    struct {
        struct record r;
        uint64_t operand, compare;
    } one = {{.offset = at.offset,
              .region = (uint8_t)at.region,
              .op = (uint8_t)amo->op,
              .width = (uint8_t)amo->width},
             amo->operand,
             amo->compare};
    stream_push(s, at.pe, STREAM_IN_ORDER | STREAM_WAITS); // it comes after what was gathered
    net_connect(at.pe);
    return net_batch_ask(at.pe, &one,
                         sizeof one - (amo->op == TRANSPORT_CSWAP ? 0 : sizeof one.compare));
}

// ---- Order and completion
// What the first `fences` fences had before them is done.
static void pass(struct stream *s, uint64_t fences)
{
    uint64_t passed = atomic_load_explicit(&s->passed, memory_order_relaxed);
    while (passed < fences &&
           !atomic_compare_exchange_weak_explicit(&s->passed, &passed, fences, memory_order_release,
                                                  memory_order_relaxed))
        ;
}

void stream_flush(struct stream *s)
{
    // Other threads may fence meanwhile: acquire, their batches are seen below.
    uint64_t fences = atomic_load_explicit(&s->fences, memory_order_acquire);
    stream_push(s, -1, STREAM_WAITS);
    answers_wait(&s->batches);
    pass(s, fences);
}

static void hold_back(struct stream *s)
{
    atomic_fetch_add_explicit(&s->fences, 1, memory_order_release);
}

// Another thread, or the heartbeat, may be sending a batch's only record by itself: that has left
// before its lock is free or its n is 0 (acquire), and is complete with what the caller flushes next;
// or it sees the fence under the lock and leaves in order.
void stream_fence(struct stream *s)
{
    bool is_behind = false;
    uint64_t before = atomic_load_explicit(&s->fences, memory_order_acquire);
    for (int i = 0; i < STREAM_BATCHES; i++) {
        struct batch *b = batch_at(s, i);
        if (!b || !atomic_load_explicit(&b->n, memory_order_acquire))
            continue;
        pthread_mutex_lock(&b->lock);
        if (b->n)
            hold_back(s);
        is_behind |= b->n > 0;
        pthread_mutex_unlock(&b->lock);
    }
    if (!is_behind && answers_all(&s->batches))
        pass(s, before);
    else if (!is_behind)
        hold_back(s);
}

void stream_answered(uint64_t mark, uint64_t count)
{
    struct stream *s = mark / 2 < STREAMS
                           ? atomic_load_explicit(&stream_table[mark / 2], memory_order_acquire)
                           : NULL;
    if (s)
        answers_came(&s->batches, mark % 2, count);
    else
        log_line(LOG_WARN, LOG_BOOT, "an answer that nobody waits for came from the network");
}

bool stream_is_behind(struct stream *s, int pe)
{
    struct batch *b = batch_at(s, pe % STREAM_BATCHES);
    return (b && atomic_load_explicit(&b->n, memory_order_acquire)) || !answers_all(&s->batches);
}

void stream_session(struct stream *s, bool starts)
{
    atomic_store_explicit(&s->in_session, starts, memory_order_relaxed);
    if (!starts)
        stream_push(s, -1, STREAM_WAITS);
}
