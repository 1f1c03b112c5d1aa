// SPDX-License-Identifier: BSD-3-Clause
// See net_queue.h.
#include "net_queue.h"

#include "log.h"

#include <stdlib.h>

struct came *came_new(int from, const struct net_head *head, size_t n)
{
    struct came *c = malloc(sizeof *c + n);
    if (!c)
        fatal("no memory for a message of %zu bytes", n);
    c->from = from;
    c->head = *head;
    c->data = c->room;
    c->memory = NULL;
    return c;
}

void came_free(struct came *c)
{
    free(c->memory);
    free(c);
}

void queue_put(struct queue *q, struct came *c)
{
    c->next = NULL;
    pthread_mutex_lock(&q->lock);
    if (!q->first)
        q->last = &q->first;
    *q->last = c;
    q->last = &c->next;
    atomic_store_explicit(&q->has_some, true, memory_order_release);
    pthread_mutex_unlock(&q->lock);
}

struct came *queue_take(struct queue *q)
{
    if (!atomic_load_explicit(&q->has_some, memory_order_acquire))
        return NULL;
    pthread_mutex_lock(&q->lock);
    struct came *c = q->first;
    if (c)
        q->first = c->next;
    if (!q->first)
        atomic_store_explicit(&q->has_some, false, memory_order_relaxed);
    pthread_mutex_unlock(&q->lock);
    return c;
}

void queue_drop(struct queue *q)
{
    struct came *c;
    while ((c = queue_take(q)))
        came_free(c);
}
