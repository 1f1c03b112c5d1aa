// SPDX-License-Identifier: BSD-3-Clause
// Lanes: endpoints for contexts that threads use beside others, each with its own domain, queue and
// lock. They send puts, gets and atomics to the peers' endpoints as the parent does, and receive
// nothing; messages are the parent's alone, and so is the watch over peers.
//
//     context 0, 4, ... ---> lane 0 --+
//     context 1, 5, ... ---> lane 1 --+--> the peers' endpoints
//     all others ----------> parent --+
//
// A lock of the parent comes before those of its lanes; upcalls of a lane, which only tell of a loss,
// hold none.
#include "ofi.h"

#include <stdlib.h>
#include <string.h>

static void on_lost(void *lane_, int pe, const char *why)
{
    struct ofi_ep *parent = ((struct ofi_ep *)lane_)->parent;
    pthread_mutex_lock(&parent->lock);
    struct ofi_peer *peer = ofi_peer_known(parent, pe);
    if (peer)
        messages_peer_lose(&parent->messages, &peer->m, why);
    pthread_mutex_unlock(&parent->lock);
}

static struct ofi_ep *new_lane(struct ofi_ep *parent)
{
    struct ofi_ep *lane = calloc(1, sizeof *lane);
    if (!lane)
        return NULL;
    lane->parent = parent;
    lane->job = parent->job;
    lane->job.upcall_arg = lane;
    lane->job.on_am = NULL;
    lane->job.on_peer_lost = on_lost;
    lane->fabric = parent->fabric;
    lane->blob = parent->blob;
    lane->wait_fd = -1;
    lane->chunk_max = parent->chunk_max;
    lane->am_max = parent->am_max;
    lane->local_registration = parent->local_registration;
    lane->address_is_virtual = parent->address_is_virtual;
    lane->coherent = parent->coherent;
    memcpy(lane->amo, parent->amo, sizeof lane->amo);
    memcpy(lane->amo_base, parent->amo_base, sizeof lane->amo_base);
    ofi_messages_open(lane);
    pthread_mutex_init(&lane->lock, NULL);
    lane->info = fi_dupinfo(parent->info);
    lane->peer = calloc((size_t)lane->job.npes, sizeof *lane->peer);
    return lane;
}

// Memory is registered for the local side alone.
static struct ofi_ep *open_lane(struct ofi_ep *parent)
{
    struct ofi_ep *lane = new_lane(parent);
    if (lane && lane->info && lane->peer && !ofi_objects_open(lane) && !ofi_ops_open(lane) &&
        (!lane->local_registration || !ofi_regions_open(lane, FI_READ | FI_WRITE)))
        return lane;
    if (lane)
        ofi_free(lane);
    ofi_log(parent, LOG_DEBUG, "no endpoint of its own for a context: it shares the one there is");
    return NULL;
}

int ofi_ctx_create(void *ep, bool apart, void **result)
{
    struct ofi_ep *parent = ep;
    struct ofi_ctx *ctx = calloc(1, sizeof *ctx);
    if (!ctx)
        return TRANSPORT_FAILED;
    pthread_mutex_lock(&parent->lock);
    unsigned most = parent->job.ctx_endpoints < OFI_LANES ? parent->job.ctx_endpoints : OFI_LANES;
    if (apart && most) {
        struct ofi_ep *_Atomic *lane = &parent->lane[parent->ctxs++ % most];
        if (!*lane)
            atomic_store_explicit(lane, open_lane(parent), memory_order_release);
        ctx->lane = *lane;
    }
    pthread_mutex_unlock(&parent->lock);
    *result = ctx;
    return 0;
}

void ofi_ctx_destroy(void *ep, void *ctx)
{
    (void)ep;
    free(ctx);
}

struct ofi_ep *ofi_lane_at(struct ofi_ep *parent, int i)
{
    return atomic_load_explicit(&parent->lane[i], memory_order_acquire);
}

static int progress_locked(struct ofi_ep *lane)
{
    return ofi_drain(lane) + messages_deliver(&lane->messages);
}

// Those that a thread holds make their own.
int ofi_lanes_progress(struct ofi_ep *parent)
{
    int n = 0;
    for (int i = 0; i < OFI_LANES; i++) {
        struct ofi_ep *lane = ofi_lane_at(parent, i);
        if (!lane || pthread_mutex_trylock(&lane->lock))
            continue;
        if (lane->pending || messages_waiting(&lane->messages))
            n += progress_locked(lane);
        pthread_mutex_unlock(&lane->lock);
    }
    return n;
}

int ofi_progress_ctx(void *ep, void *ctx)
{
    struct ofi_ep *lane = ofi_of(ep, ctx);
    if (!lane->parent)
        return 0;
    pthread_mutex_lock(&lane->lock);
    int n = progress_locked(lane);
    pthread_mutex_unlock(&lane->lock);
    return n;
}

void ofi_lanes_lose(struct ofi_ep *parent, int pe, const char *why)
{
    for (int i = 0; i < OFI_LANES; i++) {
        struct ofi_ep *lane = ofi_lane_at(parent, i);
        if (!lane)
            continue;
        pthread_mutex_lock(&lane->lock);
        if (lane->peer[pe])
            messages_peer_lose(&lane->messages, &lane->peer[pe]->m, why);
        pthread_mutex_unlock(&lane->lock);
    }
}

static void ask(struct ofi_ep *parent, struct ofi_ep *lane)
{
    for (struct messages_peer *m = lane->messages.peers; m; m = m->next) {
        struct ofi_peer *own = ofi_peer_of(m), *peer = ofi_peer_known(parent, m->pe);
        if (!peer)
            continue;
        peer->lanes_done += own->done;
        peer->lanes_wait |= own->pending || own->is_wanted;
        own->is_wanted = false;
    }
}

void ofi_lanes_ask(struct ofi_ep *parent)
{
    struct messages_peer *m;
    for (m = parent->messages.peers; m; m = m->next)
        ofi_peer_of(m)->lanes_done = 0;
    for (int i = 0; i < OFI_LANES; i++) {
        struct ofi_ep *lane = ofi_lane_at(parent, i);
        if (!lane)
            continue;
        pthread_mutex_lock(&lane->lock);
        ask(parent, lane);
        pthread_mutex_unlock(&lane->lock);
    }
    for (m = parent->messages.peers; m; m = m->next) { // the parent may never have spoken to it
        struct ofi_peer *peer = ofi_peer_of(m);
        if (peer->lanes_wait)
            ofi_peer_reach(parent, m->pe, &peer);
    }
}

void ofi_lanes_close(struct ofi_ep *parent)
{
    for (int i = 0; i < OFI_LANES; i++)
        if (parent->lane[i])
            ofi_free(parent->lane[i]);
}
