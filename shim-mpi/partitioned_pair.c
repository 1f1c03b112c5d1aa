// SPDX-License-Identifier: BSD-3-Clause
// Partitioned communication: which receive is whose. Senders' announcements and the receives that none has
// come for are in two lists, each in the order of the calls.
#include "partitioned.h"

#include "comm.h"
#include "transfer.h"

#include <stdlib.h>
#include <string.h>

struct announcement {
    uint32_t context;
    int32_t tag, parts, first_tag;
    int64_t part_bytes;
};

struct announced { // that no receive has taken
    struct announced *next;
    int pe;
    struct announcement what;
};

static struct announced *announced, **last_announced = &announced;
static struct partitioned *expecting, **last_expecting = &expecting; // with a reference
static shim_lock lock; // of both lists, and of what is said of a receive in them

struct part *partitioned_new_parts(struct partitioned *p)
{
    struct part *part = calloc((size_t)p->parts + 1, sizeof *part); // not NULL without parts
    if (!part)
        shim_fatal("no memory for a message of %d partitions", p->parts);
    for (int i = 0; i < p->parts; i++)
        part[i].whole = p;
    return part;
}

static bool agree(const struct partitioned *p, int pe, const struct announcement *a)
{
    return p->pe == pe && p->tag == a->tag && p->request.comm->context == a->context;
}

static void adopt(struct partitioned *p, const struct announcement *a)
{
    p->parts = a->parts;
    p->first_tag = a->first_tag;
    p->part_bytes = a->part_bytes;
    p->part = partitioned_new_parts(p);
    atomic_store_explicit(&p->left, p->parts, memory_order_relaxed);
}

// Takes the oldest receive that waits for this announcement out of the list.
static struct partitioned *take_expecting(int pe, const struct announcement *a)
{
    for (struct partitioned **at = &expecting, *p; (p = *at); at = &p->next) {
        if (!agree(p, pe, a))
            continue;
        *at = p->next;
        if (!p->next)
            last_expecting = at;
        return p;
    }
    return NULL;
}

static struct announced *take_announced(const struct partitioned *p)
{
    for (struct announced **at = &announced, *a; (a = *at); at = &a->next) {
        if (!agree(p, a->pe, &a->what))
            continue;
        *at = a->next;
        if (!a->next)
            last_announced = at;
        return a;
    }
    return NULL;
}

static void keep_announced(int pe, const struct announcement *what)
{
    struct announced *a = malloc(sizeof *a);
    if (!a)
        shim_fatal("no memory for a partitioned message");
    *a = (struct announced){NULL, pe, *what};
    *last_announced = a;
    last_announced = &a->next;
}

static void on_announcement(const shoal_am_t *am)
{
    struct announcement what;
    bool is_started = false;
    memcpy(&what, am->payload, sizeof what);
    shim_lock_take(&lock);
    struct partitioned *p = take_expecting(am->from, &what);
    if (p) {
        adopt(p, &what);
        is_started = p->is_started;
    } else {
        keep_announced(am->from, &what);
    }
    shim_lock_give(&lock);
    if (is_started)
        partitioned_post(p);
    if (p)
        request_drop(&p->request);
}

int partitioned_up(void)
{
    return shoal_am_register(AM_PARTITIONED, on_announcement, NULL);
}

void partitioned_announce(const struct partitioned *p)
{
    struct announcement a = {p->request.comm->context, p->tag, p->parts, p->first_tag,
                             p->part_bytes};
    transfer_tell(p->pe, AM_PARTITIONED, 0, &a, sizeof a);
}

void partitioned_expect(struct partitioned *p)
{
    shim_lock_take(&lock);
    struct announced *a = take_announced(p);
    if (a) {
        adopt(p, &a->what);
    } else {
        request_keep(&p->request);
        *last_expecting = p;
        last_expecting = &p->next;
    }
    shim_lock_give(&lock);
    free(a);
}

static void reset_parts(struct partitioned *p)
{
    atomic_store_explicit(&p->error, MPI_SUCCESS, memory_order_relaxed);
    atomic_store_explicit(&p->received, 0, memory_order_relaxed);
    atomic_store_explicit(&p->left, p->parts, memory_order_relaxed);
    for (int i = 0; p->part && i < p->parts; i++) {
        atomic_store_explicit(&p->part[i].is_ready, false, memory_order_relaxed);
        atomic_store_explicit(&p->part[i].is_done, false, memory_order_relaxed);
    }
}

bool partitioned_begin(struct partitioned *p)
{
    shim_lock_take(&lock);
    reset_parts(p);
    bool is_paired = p->part;
    p->is_started = true;
    shim_lock_give(&lock);
    return is_paired;
}

bool partitioned_is_paired(const struct partitioned *p)
{
    shim_lock_take(&lock);
    bool is = p->part;
    shim_lock_give(&lock);
    return is;
}
