// SPDX-License-Identifier: BSD-3-Clause
// See net_work.h.
#include "net_work.h"

#include "elements.h"
#include "log.h"
#include "net_message.h"
#include "stream.h"
#include "wait.h"

#include <pthread.h>
#include <stdlib.h>

enum { MOST_NESTED = 32 };

static struct queue runs = {.lock = PTHREAD_MUTEX_INITIALIZER};

void net_work_keep(struct came *c)
{
    queue_put(&runs, c);
}

void net_work_down(void)
{
    queue_drop(&runs);
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
    struct came *c, *last = NULL;
    uint64_t old;
    head->status = SHOAL_OK;
    if (!stream_apply(from, records, head->n, &old)) {
        log_line(LOG_WARN, LOG_BOOT, "malformed operations of PE %d, or to memory that is none",
                 from);
        head->status = SHOAL_ERANGE;
    }
    if (!head->token) // they were messages
        return;
    if (!(c = malloc(sizeof *c)))
        fatal("no memory for an answer");
    *c = (struct came){.from = from, .head = *head};
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
        free(c);
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
    net_head_send(c->from, &head, &c->head.long_n);
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
    size_t n = c && c->head.kind == NET_RUN ? net_work_result(&c->head.op) : 0;
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
        net_head_send(c->from, &c->head, NULL);
    } else {
        if (!in_order)
            status = run(c, result);
        struct net_head head = {.kind = NET_DONE,
                                .token = c->head.token,
                                .arg = c->head.arg,
                                .status = status,
                                .n = status ? 0 : (uint32_t)n};
        net_head_send(c->from, &head, result);
    }
    if (result != &short_result)
        free(result);
    free(c);
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
    while (atomic_load_explicit(&runs.has_some, memory_order_relaxed) && run_next())
        done++;
    nested--;
    return done;
}
