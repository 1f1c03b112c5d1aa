// SPDX-License-Identifier: BSD-3-Clause
// Messages between leaders, and those that have come and wait for their collective. See
// coll_message.h.
#include "coll_message.h"

#include "log.h"
#include "net.h"
#include "net_message.h"

#include <pthread.h>
#include <stdlib.h>
#include <string.h>

// At the network before the core is given away, where PEs share one: what the other leaders send at the
// same time comes sooner than two switches are over.
enum { LOOKS_FIRST = 8 };

static struct queue {
    struct coll_message *first, **last;
} queues[LIMIT_TEAMS]; // by area
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static _Atomic int waiting; // messages in all queues
static _Atomic uint64_t sent[COLL_MESSAGE_KINDS];

void coll_message_send(int pe, const struct coll_head *head, const void *data)
{
    atomic_fetch_add_explicit(&sent[head->kind], 1, memory_order_relaxed);
    net_message_coll(pe, head, data, head->is_long ? 0 : (size_t)head->n);
}

static bool is_like(const struct coll_message *m, int pe, const struct coll_head *like)
{
    return m->from == pe && m->head.kind == like->kind && m->head.seq == like->seq;
}

struct coll_message *coll_message_take(int pe, const struct coll_head *like)
{
    if (!atomic_load_explicit(&waiting, memory_order_acquire))
        return NULL;
    struct queue *q = &queues[like->area];
    pthread_mutex_lock(&lock);
    struct coll_message **at = &q->first;
    while (*at && !is_like(*at, pe, like))
        at = &(*at)->next;
    struct coll_message *m = *at;
    if (m) {
        *at = m->next;
        if (!m->next)
            q->last = at;
        atomic_fetch_sub_explicit(&waiting, 1, memory_order_relaxed);
    }
    pthread_mutex_unlock(&lock);
    return m;
}

void coll_message_wait(int pe, const struct coll_head *like)
{
    struct coll_message *m;
    struct waiter w = waiter_start(&world_ctl(world.me)->bell);
    int looks = LOOKS_FIRST;
    while (!(m = coll_message_take(pe, like)))
        if (!net_progress() && looks-- <= 0)
            waiter_step(&w);
    free(m);
}

// Memory of a PE of another node, which every PE may read.
static bool is_sound_place(const struct place *p, uint64_t n)
{
    uint64_t size = p->space == SPACE_SLICE  ? (uint64_t)world.slice_size
                    : p->space == SPACE_DATA ? (uint64_t)world.data_size
                                             : 0;
    return p->pe >= 0 && p->pe < world.npes && !world_is_here(p->pe) && p->offset <= size &&
           n <= size - p->offset;
}

static bool is_sound(int from, const struct coll_head *h, size_t n)
{
    if (from < 0 || from >= world.npes || world_is_here(from) || h->area < 0 ||
        h->area >= LIMIT_TEAMS || h->kind < 0 || h->kind >= COLL_MESSAGE_KINDS || h->is_long > 1)
        return false;
    return h->is_long ? n == 0 && is_sound_place(&h->at, h->n) : n == h->n;
}

bool coll_message_arrived(int from, const void *bytes, size_t n)
{
    struct coll_head head;
    if (n < sizeof head)
        return false;
    memcpy(&head, bytes, sizeof head);
    n -= sizeof head;
    if (!is_sound(from, &head, n))
        return false;
    struct coll_message *m = malloc(sizeof *m + n);
    if (!m)
        fatal("no memory for a message of %zu bytes", n);
    *m = (struct coll_message){.from = from, .head = head};
    memcpy(m->data, (const char *)bytes + sizeof head, n);
    struct queue *q = &queues[head.area];
    pthread_mutex_lock(&lock);
    if (!q->first)
        q->last = &q->first;
    *q->last = m;
    q->last = &m->next;
    pthread_mutex_unlock(&lock);
    // Pairs with the acquire load in coll_message_take.
    atomic_fetch_add_explicit(&waiting, 1, memory_order_release);
    bell_check(&world_ctl(world.me)->bell);
    return true;
}

void coll_message_down(void)
{
    log_line(LOG_DEBUG, LOG_TEAM,
             "collectives sent %lu messages of barriers, %lu of data, %lu that "
             "it was taken",
             (unsigned long)sent[COLL_SYNC], (unsigned long)sent[COLL_DATA],
             (unsigned long)sent[COLL_TAKEN]);
    for (int area = 0; area < LIMIT_TEAMS; area++) {
        struct queue *q = &queues[area];
        for (struct coll_message *m; (m = q->first); free(m))
            q->first = m->next;
    }
    waiting = 0;
}
