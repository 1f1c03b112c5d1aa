// SPDX-License-Identifier: BSD-3-Clause
// See net_queue.h.
#include "net_queue.h"

#include <stdlib.h>

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
        free(c);
}
