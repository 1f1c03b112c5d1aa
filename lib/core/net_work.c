// SPDX-License-Identifier: BSD-3-Clause
// See net_work.h.
#include "net_work.h"

#include "elements.h"
#include "log.h"
#include "net_message.h"
#include "region.h"
#include "stream.h"
#include "wait.h"

#include <pthread.h>
#include <stdlib.h>

enum { MOST_NESTED = 32, LOOKS = 1000 }; // at a lock whose holder has little to do

static struct queue runs = {.lock = PTHREAD_MUTEX_INITIALIZER};
// Those that wait for their lock, in the order in which they came; within the lock of run_next.
static struct came *locked, **locked_end = &locked;
static _Atomic int locked_out;

void net_work_keep(struct came *c)
{
    queue_put(&runs, c);
}

void net_work_down(void)
{
    queue_drop(&runs);
    for (struct came *c; (c = locked); came_free(c))
        locked = c->next;
    locked_end = &locked;
    locked_out = 0;
}

// ---- Batches
static bool is_same_answer(const struct came *a, const struct came *b)
{
    return a->head.kind == NET_BATCH && b->head.kind == NET_BATCH && a->from == b->from &&
           a->head.token == b->head.token && a->head.token & NET_OF_STREAM && !a->head.status &&
           !b->head.status;
}

// The answer is left to net_work, one for all that wait in a row.
void net_work_batch(int from, struct net_head *head, const void *records)
{
    struct came *last = NULL;
    uint64_t old;
    head->status = SHOAL_OK;
    if (!stream_apply(from, records, head->n, &old)) {
        log_line(LOG_WARN, LOG_BOOT, "malformed operations of PE %d, or to memory that is none",
                 from);
        head->status = SHOAL_ERANGE;
    }
    if (!head->token) // they were messages
        return;
    struct came *c = came_new(from, head, 0);
    if (head->token & NET_OF_STREAM)
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
        came_free(c);
    else
        queue_put(&runs, c);
}

static void answer_batch(const struct came *c)
{
    bool is_asked = !(c->head.token & NET_OF_STREAM);
    struct net_head head = {.kind = NET_DONE,
                            .from = world.me,
                            .token = c->head.token,
                            .status = c->head.status,
                            .arg = c->head.arg,
                            .n = is_asked && !c->head.status ? sizeof c->head.long_n : 0};
    net_answer(c->from, &head, &c->head.long_n);
}

// ---- Operations
size_t net_work_result(const struct operation *op)
{
    return op->kind == SHOAL_WORK_GET || op->kind == OPERATION_FETCH_ACC ? op->n
           : op->kind == SHOAL_WORK_ATOMIC                               ? sizeof(uint64_t)
           : op->kind == OPERATION_VECTOR                                ? op->a
                                                                         : 0;
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
    case OPERATION_VECTOR:
        if (op->each != OPERATION_ACC)
            return true;
        // fall through
    case OPERATION_ACC: return element_size((shoal_type_t)op->type) <= sizeof(uint64_t);
    default: return false;
    }
}

// result: net_work_result bytes, and where a PE's data goes to.
static int run(struct came *c, void *result)
{
    struct operation *op = &c->head.op;
    int needs;
    op->local = place_of(c->head.n || !net_work_result(op) ? (void *)c->data : result);
    op->local2 = place_of(result);
    int status = operation_run(op, &needs);
    return status == SHOAL_EAGAIN ? SHOAL_EFAULT : status;
}

// ---- Under a lock
static bool is_locked(const struct came *c)
{
    return c->head.kind == NET_RUN && c->head.op.is_locked;
}

// NULL: it is none that this PE may take.
static _Atomic uint64_t *word_of(const struct came *c)
{
    struct place at;
    const shoal_rptr_t *lock = &c->head.op.comp.signal;
    if (region_resolve(lock, sizeof(uint64_t), &at) || at.space == SPACE_PRIVATE)
        return NULL;
    void *word = place_here(at);
    return (uintptr_t)word % sizeof(uint64_t) ? NULL : word;
}

// True: *word is held, or NULL as there is none.
static bool take_word(const struct came *c, int looks, _Atomic uint64_t **word)
{
    *word = word_of(c);
    for (int i = 0; *word && i < looks; i++) {
        uint64_t none = 0;
        if (atomic_load_explicit(*word, memory_order_relaxed) == 0 &&
            atomic_compare_exchange_strong_explicit(*word, &none, 1, memory_order_acquire,
                                                    memory_order_relaxed))
            return true;
        cpu_relax();
    }
    return !*word;
}

// Does one before `end` wait for the same word?
static bool is_behind(const struct came *c, const struct came *end)
{
    const shoal_rptr_t *own = &c->head.op.comp.signal;
    for (const struct came *other = locked; other != end; other = other->next)
        if (other->head.op.comp.signal.region == own->region &&
            other->head.op.comp.signal.offset == own->offset)
            return true;
    return false;
}

static struct came *take_locked(_Atomic uint64_t **word)
{
    for (struct came **at = &locked, *c; (c = *at); at = &c->next) {
        if (is_behind(c, c) || !take_word(c, 1, word))
            continue;
        *at = c->next;
        if (locked_end == &c->next)
            locked_end = at;
        atomic_fetch_sub_explicit(&locked_out, 1, memory_order_relaxed);
        return c;
    }
    return NULL;
}

static void wait_for_word(struct came *c)
{
    c->next = NULL;
    *locked_end = c;
    locked_end = &c->next;
    atomic_fetch_add_explicit(&locked_out, 1, memory_order_relaxed);
}

// The next one, with *word held if it has a lock. NULL: there is none, or but those that wait for one.
static struct came *take_next(_Atomic uint64_t **word)
{
    struct came *c = take_locked(word);
    if (c)
        return c;
    *word = NULL;
    while ((c = queue_take(&runs)) && is_locked(c)) {
        if (!is_behind(c, NULL) && take_word(c, LOOKS, word))
            return c;
        wait_for_word(c);
    }
    return c;
}

bool net_work_is_locked_out(void)
{
    return atomic_load_explicit(&locked_out, memory_order_relaxed) > 0;
}

static int run_locked(struct came *c, void *result, _Atomic uint64_t *word)
{
    int status = word ? run(c, result) : SHOAL_ERANGE;
    if (word)
        atomic_store_explicit(word, 0, memory_order_release);
    return status;
}

// Takes the next one and runs it. Transfers are run in the order in which they came, by whatever
// threads: one PE's accumulates on an element keep theirs.
static bool run_next(void)
{
    static pthread_mutex_t order = PTHREAD_MUTEX_INITIALIZER;
    uint64_t short_result = 0;
    int status = SHOAL_OK;
    pthread_mutex_lock(&order);
    _Atomic uint64_t *word;
    struct came *c = take_next(&word);
    bool in_order = c && is_transfer(c);
    size_t n = c && c->head.kind == NET_RUN ? net_work_result(&c->head.op) : 0;
    void *result = n > sizeof short_result ? calloc(1, n) : &short_result;
    if (!result)
        fatal("no memory for an answer of %zu bytes", n);
    if (in_order)
        status = is_locked(c) ? run_locked(c, result, word) : run(c, result);
    pthread_mutex_unlock(&order);
    if (!c)
        return false;
    if (c->head.kind == NET_BATCH) {
        answer_batch(c);
    } else if (c->head.kind == NET_TAKEN) {
        net_answer(c->from, &c->head, NULL);
    } else {
        if (!in_order)
            status = run(c, result);
        struct net_head head = {.kind = NET_DONE,
                                .token = c->head.token,
                                .arg = c->head.arg,
                                .status = status,
                                .n = status ? 0 : (uint32_t)n};
        net_answer(c->from, &head, result);
    }
    if (result != &short_result)
        free(result);
    came_free(c);
    return true;
}

// A thread that waits within one may run the next: two nodes that wait for each other go on.
int net_work(void)
{
    static TLS_FAST int nested;
    int done = 0;
    if (nested >= MOST_NESTED)
        return 0;
    nested++;
    while (
        (atomic_load_explicit(&runs.has_some, memory_order_relaxed) || net_work_is_locked_out()) &&
        run_next())
        done++;
    nested--;
    return done;
}
