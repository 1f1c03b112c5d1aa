// SPDX-License-Identifier: BSD-3-Clause
// Peers: their addresses, looked at when they are first used, and their loss.
//
// A provider tells of a dead peer when something is sent to it, if at all; ofi_rxm does not tell of
// an atomic whose answer never comes. So peers that owe something for long get a notice, and where
// that does not leave us, ofi_alive.c looks.
#include "ofi.h"

#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

enum { BLOB_MAGIC = 0x626f6853 };

static bool blob_is_good(struct ofi_ep *ep, const struct ofi_blob *blob, int pe)
{
    return blob->magic == BLOB_MAGIC && blob->pe == pe && blob->name_length > 0 &&
           blob->name_length <= OFI_NAME_MAX && blob->seal == ofi_seal(blob, sizeof *blob) &&
           pe >= 0 && pe < ep->job.npes;
}

int ofi_address(void *ep_, void *bytes)
{
    struct ofi_ep *ep = ep_;
    struct ofi_blob blob = {.magic = BLOB_MAGIC, .pe = ep->job.me};
    size_t length = sizeof blob.name;
    int r = fi_getname(&ep->ep->fid, blob.name, &length);
    if (r || length > sizeof blob.name) {
        ofi_log(ep, LOG_ERROR, "name of the endpoint (%zu bytes): %s", length, fi_strerror(-r));
        return TRANSPORT_FAILED;
    }
    blob.name_length = (uint32_t)length;
    memcpy(ep->name, blob.name, sizeof ep->name);
    for (int i = 0; i < TRANSPORT_REGIONS_FIXED; i++)
        if (ep->region_mr[i]) {
            blob.region[i].start = ofi_start(ep, ep->job.region[i].base);
            blob.region[i].size = ep->job.region[i].size;
            blob.region[i].key = fi_mr_key(ep->region_mr[i]);
        }
    blob.seal = ofi_seal(&blob, sizeof blob);
    memcpy(bytes, &blob, sizeof blob);
    return 0;
}

int ofi_connect(void *ep_, int pe, const void *bytes)
{
    struct ofi_ep *ep = ep_;
    struct ofi_blob blob;
    memcpy(&blob, bytes, sizeof blob);
    if (!blob_is_good(ep, &blob, pe)) {
        ofi_log(ep, LOG_ERROR, "the address of PE %d is damaged or of another PE", pe);
        return TRANSPORT_FAILED;
    }
    pthread_mutex_lock(&ep->lock);
    ep->blob[pe] = bytes;
    pthread_mutex_unlock(&ep->lock);
    return 0;
}

struct ofi_peer *ofi_peer_known(struct ofi_ep *ep, int pe)
{
    struct ofi_peer *peer = ep->peer[pe];
    if (likely(peer))
        return peer;
    peer = calloc(1, sizeof *peer);
    if (!peer)
        return NULL;
    peer->pe = pe;
    peer->addr = FI_ADDR_UNSPEC;
    peer->alive_fd = -1;
    peer->next = ep->peers;
    ep->peers = ep->peer[pe] = peer;
    ep->peer_count++;
    return peer;
}

static int insert(struct ofi_ep *ep, struct ofi_peer *peer)
{
    const void *bytes = ep->blob[peer->pe];
    if (!bytes) {
        ofi_log(ep, LOG_ERROR, "PE %d was never connected", peer->pe);
        return TRANSPORT_FAILED;
    }
    memcpy(&peer->blob, bytes, sizeof peer->blob);
    fi_addr_t addr = FI_ADDR_UNSPEC;
    int r = blob_is_good(ep, &peer->blob, peer->pe)
                ? fi_av_insert(ep->av, peer->blob.name, 1, &addr, 0, NULL)
                : -FI_EINVAL;
    if (r != 1) {
        ofi_peer_lose(ep, peer, "its address is refused");
        return TRANSPORT_FAILED;
    }
    peer->addr = addr;
    ep->peer_count++;
    return 0;
}

int ofi_peer_reach(struct ofi_ep *ep, int pe, struct ofi_peer **peer)
{
    *peer = ofi_peer_known(ep, pe);
    if (!*peer)
        return TRANSPORT_FAILED;
    if (unlikely((*peer)->lost))
        return TRANSPORT_FAILED;
    return likely((*peer)->addr != FI_ADDR_UNSPEC) ? 0 : insert(ep, *peer);
}

bool ofi_means_lost(int error)
{
    switch (error) {
    case FI_ECANCELED: // the provider gave up its connection
    case FI_ENOTCONN:
    case FI_ECONNREFUSED:
    case FI_ECONNABORTED:
    case FI_ECONNRESET:
    case FI_ETIMEDOUT:
    case FI_ESHUTDOWN:
    case FI_EHOSTDOWN:
    case FI_EHOSTUNREACH:
    case FI_ENETUNREACH:
    case FI_ENETDOWN:
    case FI_EIO:
    case EPIPE: return true;
    default: return false;
    }
}

// Everything it owes ends in an error now; what libfabric still has of it comes back later or not.
void ofi_peer_lose(struct ofi_ep *ep, struct ofi_peer *peer, const char *why)
{
    if (peer->lost)
        return;
    peer->lost = ep->has_lost = true;
    peer->why = why;
    ofi_log(ep, LOG_ERROR, "PE %d is lost: %s", peer->pe, why);
    for (int i = 0; i < OFI_OPS + OFI_RECEIVES; i++)
        if (ep->ops[i].busy && ep->ops[i].peer == peer)
            ofi_op_abandon(ep, &ep->ops[i]);
}

void ofi_tell_lost(struct ofi_ep *ep)
{
    if (likely(!ep->has_lost) || !ofi_upcall_begin(ep))
        return;
    ep->has_lost = false;
    for (struct ofi_peer *peer = ep->peers; peer; peer = peer->next) {
        if (!peer->lost || peer->told)
            continue;
        peer->told = true;
        if (!ep->job.on_peer_lost)
            continue;
        pthread_mutex_unlock(&ep->lock);
        ep->job.on_peer_lost(ep->job.upcall_arg, peer->pe, peer->why);
        pthread_mutex_lock(&ep->lock);
    }
    ep->depth--;
}

// Twice as rarely each time: a peer may be stopped for good reasons.
static void watch_peer(struct ofi_ep *ep, struct ofi_peer *peer)
{
    bool waits = peer->pending || peer->out - peer->out_taken >= OFI_WINDOW;
    unsigned done = peer->done + peer->out_taken + peer->in;
    bool silent = waits && !peer->lost && done == peer->seen && peer->pe != ep->job.me;
    peer->silent = silent ? peer->silent + 1 : 0;
    peer->seen = done;
    if (peer->alive_fd >= 0)
        ofi_alive_end(ep, peer);
    if (peer->silent < 2 || peer->silent & (peer->silent - 1))
        return;
    if (ofi_notice(ep, peer) == TRANSPORT_AGAIN || peer->noticing)
        ofi_alive_look(ep, peer);
}

void ofi_watch(struct ofi_ep *ep)
{
    if (likely(++ep->polls % 64))
        return;
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC_COARSE, &t);
    uint64_t now = (uint64_t)t.tv_sec * 1000 + (uint64_t)t.tv_nsec / 1000000;
    if (now - ep->watched_ms < OFI_WATCH_MS)
        return;
    ep->watched_ms = now;
    for (struct ofi_peer *peer = ep->peers; peer; peer = peer->next)
        watch_peer(ep, peer);
}

void ofi_peers_free(struct ofi_ep *ep)
{
    for (struct ofi_peer *peer = ep->peers, *next; peer; peer = next) {
        next = peer->next;
        for (struct ofi_op *op = peer->held, *after; op; op = after) {
            after = op->next;
            free(op);
        }
        if (peer->alive_fd >= 0)
            close(peer->alive_fd);
        free(peer);
    }
    ep->peers = NULL;
}
