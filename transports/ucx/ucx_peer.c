// SPDX-License-Identifier: BSD-3-Clause
// Peers: their addresses, looked at when they are first used, and their loss.
//
// UCX tells of an endpoint that broke whether or not anything is under way there, so also when a
// peer has closed its own at the end of the job. It is a loss when something is expected from the
// peer, or when something is wanted from it later.
#include "ucx.h"

#include <stdlib.h>
#include <string.h>

enum { BLOB_MAGIC = 0x62756853 };

static bool blob_is_good(struct ucx_ep *ep, const struct ucx_blob *blob, int pe)
{
    size_t n = blob->address_length;
    for (int i = 0; i < TRANSPORT_REGIONS_FIXED; i++) {
        if (blob->key_length[i] > UCX_KEY_MAX)
            return false;
        n += blob->key_length[i];
    }
    return blob->magic == BLOB_MAGIC && blob->pe == pe && pe >= 0 && pe < ep->job.npes &&
           blob->address_length > 0 && n <= sizeof blob->bytes &&
           blob->seal == job_seal(blob, sizeof *blob);
}

// Addresses of network devices alone: within a node UCX has nothing to do.
static int write_address(struct ucx_ep *ep, struct ucx_blob *blob)
{
    ucp_worker_attr_t attr = {.field_mask = UCP_WORKER_ATTR_FIELD_ADDRESS |
                                            UCP_WORKER_ATTR_FIELD_ADDRESS_FLAGS,
                              .address_flags = UCP_WORKER_ADDRESS_FLAG_NET_ONLY};
    ucs_status_t status = ucp_worker_query(ep->worker, &attr);
    if (status != UCS_OK) {
        ucx_log(ep, LOG_ERROR, "the worker's address: %s", ucs_status_string(status));
        return TRANSPORT_FAILED;
    }
    bool fits = attr.address_length <= sizeof blob->bytes;
    if (fits)
        memcpy(blob->bytes, attr.address, attr.address_length);
    else
        ucx_log(ep, LOG_ERROR,
                "the worker's address has %zu bytes, there is room for %zu: name fewer devices in "
                "SHOAL_INTERFACE or UCX_NET_DEVICES",
                attr.address_length, sizeof blob->bytes);
    blob->address_length = (uint32_t)attr.address_length;
    ucp_worker_release_address(ep->worker, attr.address);
    return fits ? 0 : TRANSPORT_FAILED;
}

int ucx_address(void *ep_, void *bytes)
{
    struct ucx_ep *ep = ep_;
    struct ucx_blob blob = {.magic = BLOB_MAGIC, .pe = ep->job.me};
    if (write_address(ep, &blob))
        return TRANSPORT_FAILED;
    size_t n = blob.address_length;
    for (int i = 0; i < TRANSPORT_REGIONS_FIXED; i++) {
        size_t room = sizeof blob.bytes - n < UCX_KEY_MAX ? sizeof blob.bytes - n : UCX_KEY_MAX;
        if (!ep->memory[i])
            continue;
        blob.start[i] = (uintptr_t)ep->job.region[i].base;
        blob.key_length[i] = (uint32_t)ucx_pack(ep, ep->memory[i], blob.bytes + n, room);
        if (blob.key_length[i] == 0) {
            ucx_log(ep, LOG_ERROR, "the key of the job's memory is none, or too long");
            return TRANSPORT_FAILED;
        }
        n += blob.key_length[i];
    }
    blob.seal = job_seal(&blob, sizeof blob);
    memcpy(bytes, &blob, sizeof blob);
    return 0;
}

int ucx_connect(void *ep_, int pe, const void *bytes)
{
    struct ucx_ep *ep = ep_;
    struct ucx_blob blob;
    memcpy(&blob, bytes, sizeof blob);
    if (!blob_is_good(ep, &blob, pe)) {
        ucx_log(ep, LOG_ERROR, "the address of PE %d is damaged or of another PE", pe);
        return TRANSPORT_FAILED;
    }
    pthread_mutex_lock(&ep->lock);
    ep->blob[pe] = bytes;
    pthread_mutex_unlock(&ep->lock);
    return 0;
}

struct ucx_peer *ucx_peer_known(struct ucx_ep *ep, int pe)
{
    struct ucx_peer *peer = ep->peer[pe];
    if (likely(peer))
        return peer;
    peer = calloc(1, sizeof *peer);
    if (!peer)
        return NULL;
    peer->owner = ep;
    messages_peer_add(&ep->messages, &peer->m, pe);
    ep->peer[pe] = peer;
    return peer;
}

const char *ucx_why(ucs_status_t status)
{
    switch (status) {
    case UCS_ERR_ENDPOINT_TIMEOUT: return "no answer: " JOB_UNREACHED;
    case UCS_ERR_UNREACHABLE: return "there is no way: " JOB_UNREACHED;
    default: return ucs_status_string(status);
    }
}

// UCX calls it, in progress or in any other call.
static void broke(void *ep_, ucp_ep_h at, ucs_status_t status)
{
    struct ucx_ep *ep = ep_;
    for (struct messages_peer *m = ep->messages.peers; m; m = m->next) {
        struct ucx_peer *peer = ucx_peer_of(m);
        if (peer->ep != at)
            continue;
        peer->broken = ep->has_broken = true;
        peer->why = ucx_why(status);
    }
}

static ucs_status_t join(struct ucx_ep *ep, struct ucx_peer *peer, const struct ucx_blob *blob)
{
    ucp_ep_params_t params = {.field_mask = UCP_EP_PARAM_FIELD_REMOTE_ADDRESS |
                                            UCP_EP_PARAM_FIELD_ERR_HANDLING_MODE |
                                            UCP_EP_PARAM_FIELD_ERR_HANDLER,
                              .address = (const ucp_address_t *)blob->bytes,
                              .err_mode = UCP_ERR_HANDLING_MODE_PEER,
                              .err_handler = {.cb = broke, .arg = ep}};
    ucs_status_t status = ucp_ep_create(ep->worker, &params, &peer->ep);
    const unsigned char *key = blob->bytes + blob->address_length;
    if (status != UCS_OK)
        peer->ep = NULL;
    for (int i = 0; i < TRANSPORT_REGIONS_FIXED && status == UCS_OK; i++) {
        if (blob->key_length[i] == 0)
            continue;
        peer->region[i].start = blob->start[i];
        status = ucp_ep_rkey_unpack(peer->ep, key, &peer->region[i].key);
        if (status != UCS_OK)
            peer->region[i].key = NULL;
        key += blob->key_length[i];
    }
    return status;
}

static int open_endpoint(struct ucx_ep *ep, struct ucx_peer *peer)
{
    struct ucx_blob blob;
    if (!ep->blob[peer->m.pe]) {
        ucx_log(ep, LOG_ERROR, "PE %d was never connected", peer->m.pe);
        return TRANSPORT_FAILED;
    }
    memcpy(&blob, ep->blob[peer->m.pe], sizeof blob);
    ucs_status_t status = blob_is_good(ep, &blob, peer->m.pe) ? join(ep, peer, &blob)
                                                              : UCS_ERR_INVALID_ADDR;
    if (status == UCS_OK)
        return 0;
    peer->broken = ep->has_broken = true;
    messages_peer_lose(&ep->messages, &peer->m, ucx_why(status));
    return TRANSPORT_FAILED;
}

int ucx_peer_reach(struct ucx_ep *ep, int pe, struct ucx_peer **peer)
{
    *peer = ucx_peer_known(ep, pe);
    if (!*peer || unlikely((*peer)->m.lost))
        return TRANSPORT_FAILED;
    if (unlikely((*peer)->broken)) {
        messages_peer_lose(&ep->messages, &(*peer)->m, (*peer)->why);
        return TRANSPORT_FAILED;
    }
    return likely((*peer)->ep) ? 0 : open_endpoint(ep, *peer);
}

static void closed(void *request, ucs_status_t status, void *ep)
{
    (void)status;
    ((struct ucx_ep *)ep)->closings--;
    ucp_request_free(request);
}

// What UCX still has of its operations comes back with an error.
void ucx_peer_close(struct ucx_ep *ep, struct ucx_peer *peer)
{
    ucp_request_param_t param = {.op_attr_mask = UCP_OP_ATTR_FIELD_CALLBACK |
                                                 UCP_OP_ATTR_FIELD_USER_DATA |
                                                 UCP_OP_ATTR_FIELD_FLAGS,
                                 .flags = UCP_EP_CLOSE_FLAG_FORCE,
                                 .cb.send = closed,
                                 .user_data = ep};
    ucp_ep_h at = peer->ep;
    if (!at)
        return;
    ucx_imports_forget(ep, peer->m.pe);
    for (int i = 0; i < TRANSPORT_REGIONS_FIXED; i++) {
        if (peer->region[i].key)
            ucp_rkey_destroy(peer->region[i].key);
        peer->region[i].key = NULL;
    }
    peer->ep = NULL;
    if (UCS_PTR_IS_PTR(ucp_ep_close_nbx(at, &param)))
        ep->closings++;
}

void ucx_mend(struct ucx_ep *ep)
{
    ep->has_broken = false;
    for (struct messages_peer *m = ep->messages.peers; m; m = m->next) {
        struct ucx_peer *peer = ucx_peer_of(m);
        if (!peer->broken || !peer->ep)
            continue;
        if (peer->pending || messages_wait_for(m))
            messages_peer_lose(&ep->messages, m, peer->why);
        ucx_peer_close(ep, peer);
    }
}

void ucx_peers_free(struct ucx_ep *ep)
{
    messages_free(&ep->messages);
    for (int pe = 0; ep->peer && pe < ep->job.npes; pe++)
        free(ep->peer[pe]);
}
