// SPDX-License-Identifier: BSD-3-Clause
// The adversary's table. See adversary.h; what is held when is in adversary_hold.h.
#include "adversary/adversary.h"

#include "adversary/adversary_hold.h"

#include <stdlib.h>
#include <string.h>
#include <time.h>

static const struct transport *real_transport;
static uint64_t chosen_seed;

// ---- Opening
static bool on_am(void *arg, int from, const void *payload, size_t n, void *memory)
{
    struct adversary *a = arg;
    return a->job.on_am && a->job.on_am(a->job.upcall_arg, from, payload, n, memory);
}

static void on_peer_lost(void *arg, int pe, const char *why)
{
    struct adversary *a = arg;
    atomic_store_explicit(&a->lost[pe], 1, memory_order_relaxed);
    if (a->job.on_peer_lost)
        a->job.on_peer_lost(a->job.upcall_arg, pe, why);
}

static int adversary_open(const struct transport_job *job, struct transport_facts *facts,
                          void **result)
{
    struct adversary *a = calloc(1, sizeof *a);
    if (!a)
        return TRANSPORT_FAILED;
    a->real = real_transport;
    a->job = *job;
    a->lost = calloc((size_t)job->npes, 1);
    struct transport_job before = *job;
    before.upcall_arg = a;
    before.on_am = on_am;
    before.on_peer_lost = on_peer_lost;
    int status = a->lost ? a->real->open(&before, &a->facts, &a->ep) : TRANSPORT_FAILED;
    if (status) {
        free((void *)a->lost);
        free(a);
        return status;
    }
    uint64_t chance = adversary_mix(chosen_seed * UINT64_C(0x9E3779B97F4A7C15));
    a->seed = chance;
    a->spread = 2u << chance % 4;
    // With every other seed the puts of a program may overtake each other; with the rest whoever
    // reuses a source too early is found.
    a->inject_max = chosen_seed % 2 || a->facts.inject_max < 8 ? a->facts.inject_max : 8;
    for (int i = HELD_MOST - 1; i >= 0; i--) {
        a->slots[i].next = a->free;
        a->free = &a->slots[i];
    }
    pthread_mutex_init(&a->lock, NULL);
    *facts = a->facts;
    facts->inject_max = a->inject_max;
    facts->chain_max = 0;
    *result = a;
    return 0;
}

static struct adversary_ctx *ctx_of(struct adversary *a, void *ctx)
{
    return ctx ? ctx : &a->ctx;
}

// Operations that the real transport must refuse itself, or that never leave the PE, are not held.
static bool goes_straight(const struct adversary *a, struct transport_remote at, size_t n)
{
    return n == 0 || at.pe == a->job.me || at.region < 0 || at.region >= TRANSPORT_REGIONS_FIXED ||
           atomic_load_explicit(&a->lost[at.pe], memory_order_relaxed);
}

// They come behind a fence all the same: false as long as something stands before.
static bool may_go_straight(struct adversary *a, void *ctx, int pe)
{
    struct held h = {.kind = HELD_PUT, .ctx = ctx_of(a, ctx), .at.pe = pe};
    pthread_mutex_lock(&a->lock);
    h.epoch = h.ctx->epoch;
    bool free = adversary_is_free(a, &h);
    if (!free)
        adversary_release(a);
    pthread_mutex_unlock(&a->lock);
    return free;
}

// For an operation that is filled in between, with the lock held. NULL: not now, and no lock.
static struct held *take(struct adversary *a, enum held_kind kind, void *ctx,
                         struct transport_remote at, struct transport_request *request)
{
    pthread_mutex_lock(&a->lock);
    struct held *h = adversary_take(a, kind, ctx_of(a, ctx), at, request);
    if (!h)
        pthread_mutex_unlock(&a->lock);
    return h;
}

static void hold(struct adversary *a, struct held *h)
{
    adversary_hold(a, h);
    pthread_mutex_unlock(&a->lock);
}

static int adversary_put(void *ep, void *ctx, struct transport_remote to, const void *from,
                         size_t n, struct transport_request *request)
{
    struct adversary *a = ep;
    if (goes_straight(a, to, n))
        return may_go_straight(a, ctx, to.pe)
                   ? a->real->put(a->ep, ctx_of(a, ctx)->real, to, from, n, request)
                   : TRANSPORT_AGAIN;
    bool must_copy = !request && n <= a->inject_max;
    void *copy = must_copy ? malloc(n) : NULL;
    if (must_copy && !copy)
        return TRANSPORT_FAILED;
    struct held *h = take(a, HELD_PUT, ctx, to, request);
    if (!h) {
        free(copy);
        return TRANSPORT_AGAIN;
    }
    h->from = from;
    h->n = n;
    h->copy = must_copy ? memcpy(copy, from, n) : NULL;
    hold(a, h);
    return must_copy ? TRANSPORT_DONE : TRANSPORT_PENDING;
}

static int adversary_get(void *ep, void *ctx, void *to, struct transport_remote from, size_t n,
                         struct transport_request *request)
{
    struct adversary *a = ep;
    if (goes_straight(a, from, n))
        return may_go_straight(a, ctx, from.pe)
                   ? a->real->get(a->ep, ctx_of(a, ctx)->real, to, from, n, request)
                   : TRANSPORT_AGAIN;
    struct held *h = take(a, HELD_GET, ctx, from, request);
    if (!h)
        return TRANSPORT_AGAIN;
    h->to = to;
    h->n = n;
    hold(a, h);
    return TRANSPORT_PENDING;
}

static int adversary_amo(void *ep, void *ctx, struct transport_remote at, enum transport_op op,
                         enum transport_width width, uint64_t operand, uint64_t compare,
                         uint64_t *result, struct transport_request *request)
{
    struct adversary *a = ep;
    if (!a->facts.amo[op][width])
        return TRANSPORT_UNSUPPORTED;
    if (goes_straight(a, at, 1))
        return may_go_straight(a, ctx, at.pe)
                   ? a->real->amo(a->ep, ctx_of(a, ctx)->real, at, op, width, operand, compare,
                                  result, request)
                   : TRANSPORT_AGAIN;
    struct held *h = take(a, HELD_AMO, ctx, at, request);
    if (!h)
        return TRANSPORT_AGAIN;
    h->op = op;
    h->width = width;
    h->operand = operand;
    h->compare = compare;
    h->result = result;
    hold(a, h);
    return TRANSPORT_PENDING;
}

static int adversary_am(void *ep, void *ctx, int pe, const struct transport_payload *payload)
{
    struct adversary *a = ep;
    size_t n = transport_payload_size(payload);
    if (n > a->facts.am_max)
        return TRANSPORT_UNSUPPORTED;
    if (atomic_load_explicit(&a->lost[pe], memory_order_relaxed))
        return a->real->am(a->ep, ctx_of(a, ctx)->real, pe, payload);
    void *copy = malloc(n + 1);
    if (!copy)
        return TRANSPORT_FAILED;
    struct held *h = take(a, HELD_AM, ctx, (struct transport_remote){.pe = pe}, NULL);
    if (!h) {
        free(copy);
        return TRANSPORT_AGAIN;
    }
    transport_payload_copy(copy, payload);
    h->copy = copy;
    h->n = n;
    hold(a, h);
    return TRANSPORT_DONE;
}

// ---- Order and completion
static int adversary_fence(void *ep, void *ctx, int pe)
{
    struct adversary *a = ep;
    int status = a->real->fence(a->ep, ctx_of(a, ctx)->real, pe); // for what went straight
    if (status)
        return status;
    pthread_mutex_lock(&a->lock);
    ctx_of(a, ctx)->epoch++;
    pthread_mutex_unlock(&a->lock);
    return TRANSPORT_DONE;
}

static bool concerns(const struct held *h, const struct adversary_ctx *ctx, int pe)
{
    return h->kind != HELD_AM && h->ctx == ctx && (pe < 0 || h->at.pe == pe);
}

static int adversary_flush(void *ep, void *ctx_, int pe)
{
    struct adversary *a = ep;
    struct adversary_ctx *ctx = ctx_of(a, ctx_);
    bool left = false, failed = false;
    pthread_mutex_lock(&a->lock);
    for (struct held *h = a->first; h; h = h->next)
        h->wanted |= concerns(h, ctx, pe);
    adversary_release(a);
    adversary_collect(a);
    for (struct held *h = a->first; h; h = h->next)
        left |= concerns(h, ctx, pe);
    pthread_mutex_unlock(&a->lock);
    int status = left ? TRANSPORT_AGAIN : a->real->flush(a->ep, ctx->real, pe);
    if (status != TRANSPORT_DONE)
        return status;
    pthread_mutex_lock(&a->lock);
    failed = ctx->failed;
    ctx->failed = false;
    pthread_mutex_unlock(&a->lock);
    return failed ? TRANSPORT_FAILED : TRANSPORT_DONE;
}

static int adversary_progress(void *ep)
{
    struct adversary *a = ep;
    int n = a->real->progress(a->ep);
    pthread_mutex_lock(&a->lock);
    if (a->first) {
        adversary_tick(a);
        n += adversary_release(a) + adversary_collect(a);
    }
    pthread_mutex_unlock(&a->lock);
    return n;
}

static int adversary_wait_fd(void *ep)
{
    struct adversary *a = ep;
    return a->real->wait_fd(a->ep);
}

static int adversary_arm(void *ep)
{
    struct adversary *a = ep;
    bool has_work = false;
    pthread_mutex_lock(&a->lock);
    for (struct held *h = a->first; h; h = h->next)
        has_work |= !h->under_way || !atomic_load_explicit(&h->own.left, memory_order_relaxed);
    pthread_mutex_unlock(&a->lock);
    return has_work ? TRANSPORT_AGAIN : a->real->arm(a->ep);
}

static void adversary_close(void *ep)
{
    struct adversary *a = ep;
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    for (time_t until = t.tv_sec + CLOSE_SECONDS; a->first && t.tv_sec < until;) {
        for (struct held *h = a->first; h; h = h->next)
            h->wanted = true;
        adversary_progress(a);
        clock_gettime(CLOCK_MONOTONIC, &t);
    }
    a->real->close(a->ep);
    for (struct held *h = a->first; h; h = h->next)
        free(h->copy);
    pthread_mutex_destroy(&a->lock);
    free((void *)a->lost);
    free(a);
}

// ---- Handed on as they are
static int adversary_address(void *ep, void *bytes)
{
    struct adversary *a = ep;
    return a->real->address(a->ep, bytes);
}

static int adversary_connect(void *ep, int pe, const void *bytes)
{
    struct adversary *a = ep;
    return a->real->connect(a->ep, pe, bytes);
}

static int adversary_region_register(void *ep, void *base, size_t size, void *key, void **handle)
{
    struct adversary *a = ep;
    return a->real->region_register(a->ep, base, size, key, handle);
}

static int adversary_region_deregister(void *ep, void *handle)
{
    struct adversary *a = ep;
    return a->real->region_deregister(a->ep, handle);
}

static int adversary_region_import(void *ep, int pe, const void *key, int *region)
{
    struct adversary *a = ep;
    return a->real->region_import(a->ep, pe, key, region);
}

static void adversary_region_release(void *ep, int region)
{
    struct adversary *a = ep;
    a->real->region_release(a->ep, region);
}

static int adversary_ctx_create(void *ep, bool apart, void **ctx)
{
    struct adversary *a = ep;
    struct adversary_ctx *fresh = calloc(1, sizeof *fresh);
    int status = fresh ? a->real->ctx_create(a->ep, apart, &fresh->real) : TRANSPORT_FAILED;
    if (status)
        free(fresh);
    else
        *ctx = fresh;
    return status;
}

// Messages it has sent may still be held.
static void adversary_ctx_destroy(void *ep, void *ctx_)
{
    struct adversary *a = ep;
    struct adversary_ctx *ctx = ctx_;
    pthread_mutex_lock(&a->lock);
    for (struct held *h = a->first; h; h = h->next)
        if (h->ctx == ctx) {
            h->ctx = &a->ctx;
            h->epoch = 0;
        }
    pthread_mutex_unlock(&a->lock);
    a->real->ctx_destroy(a->ep, ctx->real);
    free(ctx);
}

static const struct transport transport_adversary = {
    .open = adversary_open,
    .close = adversary_close,
    .address = adversary_address,
    .connect = adversary_connect,
    .region_register = adversary_region_register,
    .region_deregister = adversary_region_deregister,
    .region_import = adversary_region_import,
    .region_release = adversary_region_release,
    .ctx_create = adversary_ctx_create,
    .ctx_destroy = adversary_ctx_destroy,
    .put = adversary_put,
    .get = adversary_get,
    .amo = adversary_amo,
    .am = adversary_am,
    .fence = adversary_fence,
    .flush = adversary_flush,
    .progress = adversary_progress,
    .wait_fd = adversary_wait_fd,
    .arm = adversary_arm,
};

const struct transport *adversary_before(const struct transport *real, uint64_t seed)
{
    real_transport = real;
    chosen_seed = seed;
    return &transport_adversary;
}
