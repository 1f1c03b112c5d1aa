// SPDX-License-Identifier: BSD-3-Clause
// Lanes: workers for contexts that threads use beside others, each with its endpoints and lock, in the
// parent's UCX context. They put, get and do atomics at the peers' workers as the parent does; messages
// are the parent's alone.
//
// A lock of the parent comes before those of its lanes; upcalls of a lane, which only tell of a loss,
// hold none.
#include "ucx.h"

#include <stdlib.h>

static void on_lost(void *lane_, int pe, const char *why)
{
    struct ucx_ep *parent = ((struct ucx_ep *)lane_)->parent;
    pthread_mutex_lock(&parent->lock);
    struct ucx_peer *peer = ucx_peer_known(parent, pe);
    if (peer)
        messages_peer_lose(&parent->messages, &peer->m, why);
    pthread_mutex_unlock(&parent->lock);
}

static struct ucx_ep *open_lane(struct ucx_ep *parent)
{
    struct ucx_ep *lane = calloc(1, sizeof *lane);
    if (!lane)
        return NULL;
    lane->parent = parent;
    lane->job = parent->job;
    lane->job.upcall_arg = lane;
    lane->job.on_am = NULL;
    lane->job.on_peer_lost = on_lost;
    lane->context = parent->context;
    lane->blob = parent->blob;
    ucx_messages_open(lane);
    pthread_mutex_init(&lane->lock, NULL);
    if (!ucx_ops_open(lane) && !ucx_worker_open(lane))
        return lane;
    ucx_end(lane);
    ucx_log(parent, LOG_DEBUG, "no worker of its own for a context: it shares the one there is");
    return NULL;
}

int ucx_ctx_create(void *ep, bool apart, void **result)
{
    struct ucx_ep *parent = ep;
    struct ucx_ctx *ctx = calloc(1, sizeof *ctx);
    unsigned most = parent->job.ctx_endpoints < UCX_LANES ? parent->job.ctx_endpoints : UCX_LANES;
    if (!ctx)
        return TRANSPORT_FAILED;
    pthread_mutex_lock(&parent->lock);
    if (apart && most) {
        struct ucx_ep *_Atomic *lane = &parent->lane[parent->ctxs++ % most];
        if (!*lane)
            atomic_store_explicit(lane, open_lane(parent), memory_order_release);
        ctx->lane = *lane;
    }
    pthread_mutex_unlock(&parent->lock);
    *result = ctx;
    return 0;
}

void ucx_ctx_destroy(void *ep, void *ctx)
{
    (void)ep;
    free(ctx);
}

static struct ucx_ep *lane_at(struct ucx_ep *parent, int i)
{
    return atomic_load_explicit(&parent->lane[i], memory_order_acquire);
}

static bool has_work(const struct ucx_ep *lane)
{
    return lane->pending || lane->closings || lane->has_broken || messages_waiting(&lane->messages);
}

// Those that a thread holds make their own.
int ucx_lanes_progress(struct ucx_ep *parent)
{
    int n = 0;
    for (int i = 0; i < UCX_LANES; i++) {
        struct ucx_ep *lane = lane_at(parent, i);
        if (!lane || pthread_mutex_trylock(&lane->lock))
            continue;
        if (has_work(lane))
            n += ucx_move(lane);
        pthread_mutex_unlock(&lane->lock);
    }
    return n;
}

bool ucx_lanes_pend(struct ucx_ep *parent)
{
    bool pends = false;
    for (int i = 0; i < UCX_LANES && !pends; i++) {
        struct ucx_ep *lane = lane_at(parent, i);
        if (!lane || pthread_mutex_trylock(&lane->lock))
            continue;
        pends = has_work(lane);
        pthread_mutex_unlock(&lane->lock);
    }
    return pends;
}

int ucx_progress_ctx(void *ep, void *ctx)
{
    struct ucx_ep *lane = ucx_of(ep, ctx);
    if (!lane->parent)
        return 0;
    pthread_mutex_lock(&lane->lock);
    int n = ucx_move(lane);
    pthread_mutex_unlock(&lane->lock);
    return n;
}

void ucx_lanes_lose(struct ucx_ep *parent, int pe, const char *why)
{
    for (int i = 0; i < UCX_LANES; i++) {
        struct ucx_ep *lane = lane_at(parent, i);
        if (!lane)
            continue;
        pthread_mutex_lock(&lane->lock);
        if (lane->peer[pe])
            messages_peer_lose(&lane->messages, &lane->peer[pe]->m, why);
        pthread_mutex_unlock(&lane->lock);
    }
}

// The parent goes on to move those it knows.
void ucx_lanes_close(struct ucx_ep *parent)
{
    for (int i = 0; i < UCX_LANES; i++) {
        struct ucx_ep *lane = atomic_exchange(&parent->lane[i], NULL);
        if (lane)
            ucx_end(lane);
    }
}
