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

static uint32_t soon(const struct ofi_ep *ep)
{
    return (uint32_t)ofi_rxm_soon(ep->info->fabric_attr->prov_name);
}

static bool blob_is_good(struct ofi_ep *ep, const struct ofi_blob *blob, int pe)
{
    return blob->magic == BLOB_MAGIC && blob->pe == pe && blob->name_length > 0 &&
           blob->name_length <= OFI_NAME_MAX && blob->seal == job_seal(blob, sizeof *blob) &&
           pe >= 0 && pe < ep->job.npes;
}

int ofi_address(void *ep_, void *bytes)
{
    struct ofi_ep *ep = ep_;
    struct ofi_blob blob = {.magic = BLOB_MAGIC, .pe = ep->job.me, .soon = soon(ep)};
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
    blob.seal = job_seal(&blob, sizeof blob);
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
    if (blob.soon != soon(ep)) {
        ofi_log(
            ep, LOG_ERROR,
            "PE %d has another version of libfabric, and over sockets 1.17 does not connect with later ones: "
            "install the same on all hosts, or choose another network with SHOAL_TRANSPORT or "
            "SHOAL_OFI_PROVIDER",
            pe);
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
    peer->addr = FI_ADDR_UNSPEC;
    peer->alive_fd = -1;
    messages_peer_add(&ep->messages, &peer->m, pe);
    ep->peer[pe] = peer;
    ep->peer_count++;
    return peer;
}

static int insert(struct ofi_ep *ep, struct ofi_peer *peer)
{
    const void *bytes = ep->blob[peer->m.pe];
    if (!bytes) {
        ofi_log(ep, LOG_ERROR, "PE %d was never connected", peer->m.pe);
        return TRANSPORT_FAILED;
    }
    memcpy(&peer->blob, bytes, sizeof peer->blob);
    fi_addr_t addr = FI_ADDR_UNSPEC;
    int r = blob_is_good(ep, &peer->blob, peer->m.pe)
                ? fi_av_insert(ep->av, peer->blob.name, 1, &addr, 0, NULL)
                : -FI_EINVAL;
    if (r != 1) {
        messages_peer_lose(&ep->messages, &peer->m, "its address is refused");
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
    if (unlikely((*peer)->m.lost))
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

// Twice as rarely each time: a peer may be stopped for good reasons.
static void watch_peer(struct ofi_ep *ep, struct ofi_peer *peer)
{
    bool waits = peer->pending || peer->is_wanted || peer->lanes_wait ||
                 messages_wait_for(&peer->m);
    unsigned done = peer->done + peer->lanes_done + peer->m.out_taken + peer->m.in;
    bool silent = waits && !peer->m.lost && done == peer->seen && peer->m.pe != ep->job.me;
    peer->silent = silent ? peer->silent + 1 : 0;
    peer->seen = done;
    peer->is_wanted = peer->lanes_wait = false;
    ofi_alive_end(ep, peer);
    bool is_doubtful = peer->alive_ms && silent;
    if (peer->silent < 2 || (!is_doubtful && peer->silent & (peer->silent - 1)))
        return;
    if (messages_notice(&ep->messages, &peer->m) == TRANSPORT_AGAIN || peer->m.noticing)
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
    ofi_lanes_ask(ep);
    for (struct messages_peer *peer = ep->messages.peers; peer; peer = peer->next)
        watch_peer(ep, ofi_peer_of(peer));
}

void ofi_peers_free(struct ofi_ep *ep)
{
    messages_free(&ep->messages);
    for (int pe = 0; ep->peer && pe < ep->job.npes; pe++) {
        if (ep->peer[pe] && ep->peer[pe]->alive_fd >= 0)
            close(ep->peer[pe]->alive_fd);
        free(ep->peer[pe]);
    }
}
