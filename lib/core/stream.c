// SPDX-License-Identifier: BSD-3-Clause
// Streams and their batches. See stream.h.
#include "stream.h"

#include "host_watch.h"
#include "inbox.h"
#include "log.h"
#include "net.h"
#include "net_message.h"
#include "settings.h"
#include "shmem.h"
#include "stream_record.h"
#include "thread.h"
#include "wait.h"
#include "world.h"

#include <pthread.h>
#include <sched.h>
#include <stdlib.h>
#include <string.h>

enum { LIMIT_STREAMS = 256, SESSION_PUT = LIMIT_BATCH / 4 };
// Messages to a PE that follow each other faster are gathered: about what it takes to send one.
enum { IN_A_ROW_NS = HOSTILE ? 1000000 : 10000 };

struct batch {
    pthread_mutex_t lock; // held while it is sent: what comes next must not overtake it
    int pe;
    _Atomic uint32_t n;       // bytes of records
    uint32_t count, messages; // records, and those that need no answer
    uint64_t left_ns;         // when something left here last (stream_message)
    _Alignas(8) unsigned char bytes[LIMIT_BATCH];
};

struct stream stream_default;
_Atomic int stream_open;

static struct stream *_Atomic streams[LIMIT_STREAMS] = {&stream_default};
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER; // of the table

static size_t room(void)
{
    return net_batch_room() < LIMIT_BATCH ? net_batch_room() : LIMIT_BATCH;
}

// ---- Sending
_Noreturn static void failed(int pe, int status)
{
    fatal("transport %s failed with %d towards PE %d", net.facts.name, status, pe);
}

// The only record goes as what it is, unless its order to others has to be kept: then it is
// TRANSPORT_UNSUPPORTED. TRANSPORT_AGAIN: there is no room now.
static int try_one(struct stream *s, const struct batch *b)
{
    struct record r;
    uint64_t operand;
    memcpy(&r, b->bytes, sizeof r);
    memcpy(&operand, b->bytes + sizeof r, sizeof operand);
    struct transport_remote to = {b->pe, r.region, r.offset};
    if (b->count != 1 || r.op == RECORD_MESSAGE || stream_is_fenced(s) ||
        (r.op == RECORD_PUT ? r.n > net.facts.inject_max : !net_does_amo(r.op, r.width)))
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
    if (status < 0)
        failed(b->pe, status);
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
    while (!try_push(s, b, as_message)) {
        if (net.transport->progress(net.ep) == 0)
            sched_yield();
        host_watch_beat();
    }
}

static struct batch *batch_at(struct stream *s, int i)
{
    return atomic_load_explicit(&s->batch[i], memory_order_acquire);
}

bool stream_push(struct stream *s, int pe, unsigned how)
{
    bool done = true, as_message = how & STREAM_IN_ORDER;
    // What this thread has gathered it sees here, or that it has left.
    if (!atomic_load_explicit(&stream_open, memory_order_acquire))
        return true;
    for (int i = 0; i < STREAM_BATCHES && done; i++) {
        struct batch *b = batch_at(s, i);
        if (!b || !atomic_load_explicit(&b->n, memory_order_acquire))
            continue;
        pthread_mutex_lock(&b->lock);
        bool is_wanted = pe < 0 || b->pe == pe;
        if (is_wanted && how & STREAM_WAITS)
            push(s, b, as_message);
        else if (is_wanted)
            done = try_push(s, b, as_message);
        pthread_mutex_unlock(&b->lock);
    }
    return done;
}

void stream_push_all(void)
{
    if (pthread_mutex_trylock(&lock)) // another thread does it
        return;
    for (int i = 0; i < LIMIT_STREAMS && atomic_load_explicit(&stream_open, memory_order_relaxed);
         i++) {
        struct stream *s = atomic_load_explicit(&streams[i], memory_order_acquire);
        for (int k = 0; s && k < STREAM_BATCHES; k++) {
            struct batch *b = batch_at(s, k);
            // Whoever holds it is filling or sending it.
            if (!b || !atomic_load_explicit(&b->n, memory_order_relaxed) ||
                pthread_mutex_trylock(&b->lock))
                continue;
            try_push(s, b, false); // progress waits for nobody
            pthread_mutex_unlock(&b->lock);
        }
    }
    pthread_mutex_unlock(&lock);
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

static struct batch *take_any(struct stream *s, int pe)
{
    int i = pe % STREAM_BATCHES;
    struct batch *b = batch_at(s, i);
    if (unlikely(!b) && !(b = new_batch(s, i)))
        return NULL;
    pthread_mutex_lock(&b->lock);
    return b;
}

static bool fits(const struct batch *b, int pe, size_t n)
{
    return b->pe == pe && b->n + n <= room();
}

// pe's batch, locked and with room for n bytes more. NULL: there is none.
static struct batch *take(struct stream *s, int pe, size_t n)
{
    struct batch *b = take_any(s, pe);
    if (b && !fits(b, pe, n))
        push(s, b, false);
    if (b)
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

static void append_put(struct batch *b, struct transport_remote to, const void *from, size_t n)
{
    struct record r = {
        .offset = to.offset, .n = (uint32_t)n, .region = (uint8_t)to.region, .op = RECORD_PUT};
    append(b, &r, from, n);
}

static void append_amo(struct batch *b, struct transport_remote at, const struct stream_amo *amo)
{
    struct record r = {.offset = at.offset,
                       .region = (uint8_t)at.region,
                       .op = (uint8_t)amo->op,
                       .width = (uint8_t)amo->width};
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

static bool gathers(struct stream *s, size_t n)
{
    size_t most = (size_t)settings.coalesce;
    if (!most)
        return false;
    if (unlikely(n > most) && atomic_load_explicit(&s->in_session, memory_order_relaxed))
        most = SESSION_PUT;
    return n <= most && record_padded(n) + 2 * RECORD_MOST <= room();
}

bool stream_put(struct stream *s, struct transport_remote to, const void *from, size_t n)
{
    struct batch *b = gathers(s, n) ? take(s, to.pe, sizeof(struct record) + record_padded(n))
                                    : NULL;
    if (!b)
        return false;
    bool was_empty = !b->n;
    append_put(b, to, from, n);
    give(b, was_empty);
    return true;
}

bool stream_amo(struct stream *s, struct transport_remote at, const struct stream_amo *amo)
{
    struct batch *b = gathers(s, sizeof(uint64_t)) ? take(s, at.pe, RECORD_MOST) : NULL;
    if (!b)
        return false;
    bool was_empty = !b->n;
    append_amo(b, at, amo);
    give(b, was_empty);
    return true;
}

// Somebody waits for a signal: it leaves at once, unless an answer is on its way, with which the
// next wait or the heartbeat will push what has come together until then.
bool stream_put_signal(struct stream *s, struct transport_remote to, const void *from, size_t n,
                       struct transport_remote at, const struct stream_amo *signal)
{
    struct batch *b = gathers(s, n)
                          ? take(s, to.pe, sizeof(struct record) + record_padded(n) + RECORD_MOST)
                          : NULL;
    if (!b)
        return false;
    bool was_empty = !b->n;
    if (n)
        append_put(b, to, from, n);
    append_amo(b, at, signal);
    give(b, was_empty);
    if (!atomic_load_explicit(&s->in_session, memory_order_relaxed) && answers_all(&s->batches))
        stream_push(s, to.pe, STREAM_WAITS);
    return true;
}

// With the batch locked. A full one leaves before, as a message does; this waits for nothing.
static bool follows(struct stream *s, struct batch *b, int pe, size_t n)
{
    uint64_t now = wait_now_ns();
    if (!fits(b, pe, n)) {
        if (!try_push(s, b, true))
            return false;
        if (b->pe != pe)
            b->left_ns = 0;
        b->pe = pe;
    }
    if (b->n || now - b->left_ns < IN_A_ROW_NS)
        return true;
    b->left_ns = now;
    return false;
}

bool stream_message(int pe, const struct inbox_message *m)
{
    struct stream *s = &stream_default;
    struct record r = {
        .arg = m->arg, .n = (uint32_t)m->n, .id = m->id, .op = RECORD_MESSAGE, .flags = m->flags};
    struct batch *b = gathers(s, m->n) ? take_any(s, pe) : NULL;
    if (!b)
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
    struct stream *s = mark / 2 < LIMIT_STREAMS
                           ? atomic_load_explicit(&streams[mark / 2], memory_order_acquire)
                           : NULL;
    if (s)
        answers_came(&s->batches, mark % 2, count);
    else
        log_line(LOG_WARN, LOG_BOOT, "an answer that nobody waits for came from the network");
}

bool stream_is_behind(struct stream *s, int pe)
{
    struct batch *b = batch_at(s, pe % STREAM_BATCHES);
    return (b && atomic_load_explicit(&b->n, memory_order_relaxed)) || !answers_all(&s->batches);
}

void stream_session(struct stream *s, bool starts)
{
    atomic_store_explicit(&s->in_session, starts, memory_order_relaxed);
    if (!starts)
        stream_push(s, -1, STREAM_WAITS);
}

// ---- Their life
static void drop(struct stream *s)
{
    for (int i = 0; i < STREAM_BATCHES; i++) {
        struct batch *b = batch_at(s, i);
        s->batch[i] = NULL;
        if (b)
            pthread_mutex_destroy(&b->lock);
        free(b);
    }
}

void stream_for_all(void (*fn)(struct stream *s))
{
    for (int i = 1; i < LIMIT_STREAMS; i++) {
        struct stream *s = atomic_load_explicit(&streams[i], memory_order_acquire);
        if (s)
            fn(s);
    }
}

static void release(struct stream *s)
{
    atomic_store_explicit(&streams[s->index], NULL, memory_order_relaxed);
    net.transport->ctx_destroy(net.ep, s->ctx);
    drop(s);
    free(s);
}

void stream_down(void)
{
    stream_for_all(release);
    drop(&stream_default);
    stream_default = (struct stream){0};
    stream_open = 0;
}

// Threads use a context of this kind beside others, each its own.
static bool is_of_thread(long options)
{
    return world.thread_level == SHMEM_THREAD_MULTIPLE &&
           options & (SHMEM_CTX_SERIALIZED | SHMEM_CTX_PRIVATE);
}

// Signals are the program's: they must not go to a thread that a network library starts for it.
static int open_ctx(long options, void **ctx)
{
    sigset_t mask;
    thread_block_signals(&mask);
    int status = net.transport->ctx_create(net.ep, is_of_thread(options), ctx);
    thread_restore_signals(&mask);
    return status;
}

struct stream *stream_new(long options)
{
    struct stream *s = net.transport ? calloc(1, sizeof *s) : NULL;
    if (!s)
        return NULL;
    pthread_mutex_lock(&lock);
    while (s->index < LIMIT_STREAMS && streams[s->index])
        s->index++;
    if (s->index == LIMIT_STREAMS || open_ctx(options, &s->ctx)) {
        free(s);
        s = NULL;
    } else {
        // Pairs with the acquire loads of those who look through them.
        atomic_store_explicit(&streams[s->index], s, memory_order_release);
    }
    pthread_mutex_unlock(&lock);
    return s;
}

void stream_free(struct stream *s)
{
    if (!net.transport) // stream_down has
        return;
    pthread_mutex_lock(&lock);
    release(s);
    pthread_mutex_unlock(&lock);
}
