// SPDX-License-Identifier: BSD-3-Clause
// The list of held operations. See adversary_hold.h.
#include "adversary/adversary_hold.h"

#include <stdlib.h>

uint64_t adversary_mix(uint64_t x)
{
    x = (x ^ x >> 30) * UINT64_C(0xBF58476D1CE4E5B9);
    x = (x ^ x >> 27) * UINT64_C(0x94D049BB133111EB);
    return x ^ x >> 31;
}

// ---- What stands before what
static bool is_before(const struct held *x, const struct held *y)
{
    if (x->at.pe != y->at.pe)
        return false;
    if (x->kind == HELD_AM || y->kind == HELD_AM)
        return x->kind == y->kind && x->number < y->number;
    return x->ctx == y->ctx && x->epoch < y->epoch;
}

bool adversary_is_free(struct adversary *a, const struct held *h)
{
    bool free = true;
    for (struct held *x = a->first; x; x = x->next)
        if (is_before(x, h)) {
            x->wanted = true;
            free = false;
        }
    return free;
}

// Newest first: what stands before another one comes after it in the list.
static struct held *next_wanted(struct adversary *a, uint64_t round)
{
    struct held *best = NULL;
    for (struct held *h = a->first; h; h = h->next) {
        if (h->under_way || !h->wanted || h->refused == round)
            continue;
        bool goes_first = !best || h->due < best->due ||
                          (h->due == best->due && h->key < best->key);
        if (goes_first && adversary_is_free(a, h))
            best = h;
    }
    return best;
}

static int hand_on(struct adversary *a, struct held *h)
{
    const struct transport *real = a->real;
    void *ctx = h->ctx->real;
    const void *from = h->copy ? h->copy : h->from;
    struct transport_payload message = {.data = from, .n = h->n};
    switch (h->kind) {
    case HELD_PUT: return real->put(a->ep, ctx, h->at, from, h->n, &h->own);
    case HELD_GET: return real->get(a->ep, ctx, h->to, h->at, h->n, &h->own);
    case HELD_AMO:
        return real->amo(a->ep, ctx, h->at, h->op, h->width, h->operand, h->compare, h->result,
                         &h->own);
    default: return real->am(a->ep, ctx, h->at.pe, &message);
    }
}

int adversary_release(struct adversary *a)
{
    struct held *h;
    int n = 0;
    uint64_t round = ++a->rounds;
    while ((h = next_wanted(a, round))) {
        int status = hand_on(a, h);
        if (status == TRANSPORT_AGAIN) {
            h->refused = round;
            continue;
        }
        h->under_way = true;
        if (status != TRANSPORT_PENDING) {
            h->own.status = status;
            atomic_store_explicit(&h->own.left, 0, memory_order_relaxed);
        }
        n++;
    }
    return n;
}

// Those that are due by the number of operations.
static int release_due(struct adversary *a)
{
    for (struct held *h = a->first; h; h = h->next)
        h->wanted |= h->due <= a->number;
    return adversary_release(a);
}

static void end(struct adversary *a, struct held *h)
{
    int status = h->own.status;
    if (h->request && status < 0)
        h->request->status = status;
    else if (status < 0 && h->kind != HELD_AM) // of whose PE on_peer_lost tells
        h->ctx->failed = true;
    if (h->request)
        atomic_fetch_sub_explicit(&h->request->left, 1, memory_order_release);
    free(h->copy);
    a->messages -= h->kind == HELD_AM;
}

int adversary_collect(struct adversary *a)
{
    int n = 0;
    for (struct held **at = &a->first, *h; (h = *at);) {
        if (!h->under_way || atomic_load_explicit(&h->own.left, memory_order_acquire) ||
            h->lingering) {
            at = &h->next;
            continue;
        }
        end(a, h);
        *at = h->next;
        h->next = a->free;
        a->free = h;
        n++;
    }
    return n;
}

// ---- Holding

// The next caller may find some. Usually those under way will leave it.
static void make_room(struct adversary *a)
{
    bool is_moving = false;
    for (struct held *h = a->first; h; h = h->next)
        is_moving |= h->under_way;
    for (struct held *h = a->first; h && !is_moving; h = h->next)
        h->wanted = true;
    adversary_release(a);
    adversary_collect(a);
}

struct held *adversary_take(struct adversary *a, enum held_kind kind, struct adversary_ctx *ctx,
                            struct transport_remote at, struct transport_request *request)
{
    struct held *h = kind == HELD_AM && a->messages == MESSAGES_MOST ? NULL : a->free;
    if (!h) {
        make_room(a);
        return NULL;
    }
    a->free = h->next;
    *h = (struct held){.kind = kind, .ctx = ctx, .at = at, .request = request};
    h->own.left = 1;
    return h;
}

// In ticks. What a caller waits for cannot be overtaken by what it calls next.
static unsigned most_patience(const struct held *h)
{
    return h->request ? 4 : h->kind == HELD_AM ? 2 * OWN_TICKS : 8 * OWN_TICKS;
}

void adversary_hold(struct adversary *a, struct held *h)
{
    h->number = ++a->number;
    uint64_t chance = adversary_mix(a->seed ^ adversary_mix((uint64_t)a->job.me << 48 | h->number));
    bool is_late = chance % (h->request ? 8 : 2) == 0;
    h->due = h->number + (is_late ? 1 + (chance >> 8) % a->spread : 0);
    h->key = chance >> 32;
    h->patience = (unsigned)(chance >> 16) % most_patience(h);
    h->lingering = is_late && h->request ? (unsigned)(chance >> 24) % 4 : 0;
    h->epoch = h->ctx->epoch;
    h->next = a->first;
    a->first = h;
    a->messages += h->kind == HELD_AM;
    a->idle = 0;
    a->caller = pthread_self();
    release_due(a);
}

static bool somebody_waits(const struct adversary *a)
{
    for (const struct held *h = a->first; h; h = h->next)
        if (h->request)
            return true;
    return false;
}

// What a caller waits for is late by a few calls. The rest goes out when the PE makes no others: it
// waits for something, or computes, while its heartbeat (which must not be taken for it) progresses.
void adversary_tick(struct adversary *a)
{
    if (!somebody_waits(a))
        a->idle += pthread_equal(a->caller, pthread_self()) ? OWN_TICKS : 1;
    for (struct held *h = a->first; h; h = h->next) {
        bool is_over = h->request ? h->patience == 0 : a->idle > h->patience;
        if (h->under_way && h->lingering &&
            !atomic_load_explicit(&h->own.left, memory_order_relaxed))
            h->lingering--;
        h->wanted |= is_over;
        h->patience -= h->request && h->patience;
    }
}
