// SPDX-License-Identifier: BSD-3-Clause
// Puts and gets, and the life of an ofi_op.
//
// Every put is posted with FI_DELIVERY_COMPLETE: its completion means that the bytes are in the
// target's memory. (fi_inject_write looks cheaper, but over ofi_rxm it is complete long before.)
// A transfer longer than a chunk goes chunk after chunk through the same ofi_op.
#include "ofi.h"

#include <string.h>

struct ofi_op *ofi_op_take(struct ofi_ep *ep, enum ofi_kind kind)
{
    struct ofi_op *op = ep->free_ops;
    if (unlikely(!op))
        return NULL;
    ep->free_ops = op->next;
    op->kind = kind;
    op->busy = true;
    op->is_notice = false;
    op->to = NULL;
    op->next = NULL;
    op->peer = NULL;
    op->ctx = NULL;
    op->request = NULL;
    op->mr = NULL;
    op->copy_to = NULL;
    op->amo.result = NULL;
    op->left = 0;
    return op;
}

void ofi_op_give(struct ofi_ep *ep, struct ofi_op *op)
{
    if (op->mr)
        fi_close(&op->mr->fid);
    op->busy = false;
    op->next = ep->free_ops;
    ep->free_ops = op;
}

// What a failed post means to the caller. Whatever is not "later" is logged once for a peer.
int ofi_status(struct ofi_ep *ep, struct ofi_peer *peer, long result, const char *what)
{
    if (result == -FI_EAGAIN) {
        peer->is_wanted = true;
        return TRANSPORT_AGAIN;
    }
    if (ofi_means_lost((int)-result))
        messages_peer_lose(&ep->messages, &peer->m, fi_strerror((int)-result));
    else if (!ofi_alive_denied(ep, peer))
        ofi_log(ep, LOG_ERROR, "%s to PE %d: %s", what, peer->m.pe, fi_strerror((int)-result));
    return TRANSPORT_FAILED;
}

// op is under way: from here on its end counts.
void ofi_op_count(struct ofi_ep *ep, struct ofi_op *op, struct ofi_peer *peer, struct ofi_ctx *ctx,
                  struct transport_request *request)
{
    op->request = request;
    op->peer = peer;
    op->ctx = ctx ? ctx : &ep->ctx;
    op->ctx->pending++;
    peer->pending++;
    ep->pending++;
}

// The owner hears of it and the counts go down; op itself stays busy.
static void settle(struct ofi_ep *ep, struct ofi_op *op, int status)
{
    if (!op->peer)
        return;
    op->peer->pending--;
    op->peer->done++;
    op->peer = NULL;
    ep->pending--;
    op->ctx->pending--;
    if (status < 0 && !op->request)
        op->ctx->failed = true;
    if (op->request) {
        if (status < 0)
            op->request->status = status;
        atomic_fetch_sub_explicit(&op->request->left, 1, memory_order_release);
    }
    op->request = NULL;
}

void ofi_op_end(struct ofi_ep *ep, struct ofi_op *op, int status)
{
    if (op->kind == OFI_SEND) {
        ep->sends--;
    } else if (op->peer && status == 0) {
        if (op->copy_to)
            memcpy(op->copy_to, op->data, op->copy_length);
        if (op->amo.result)
            *op->amo.result = op->amo.width == TRANSPORT_32 ? (uint32_t)op->old : op->old;
    }
    settle(ep, op, status);
    ofi_op_give(ep, op);
}

// What libfabric still has of the peer's operations comes back later or not. Nobody waits for
// messages: they have no peer.
void ofi_abandon(void *ep_, struct messages_peer *peer)
{
    struct ofi_ep *ep = ep_;
    for (int i = 0; i < ep->op_count; i++) {
        struct ofi_op *op = ofi_op_at(ep, i);
        if (!op->busy || op->peer != ofi_peer_of(peer))
            continue;
        op->left = 0;
        op->copy_to = NULL;
        op->amo.result = NULL;
        settle(ep, op, TRANSPORT_FAILED);
    }
    ofi_chains_abandon(ep, ofi_peer_of(peer));
    ofi_lanes_lose(ep, peer->pe, peer->why);
}

static long post(struct ofi_ep *ep, struct ofi_op *op, fi_addr_t addr)
{
    size_t n = op->left < ep->chunk_max ? op->left : ep->chunk_max;
    struct iovec local = {op->local, n};
    struct fi_rma_iov remote = {op->remote, n, op->key};
    struct fi_msg_rma msg = {.msg_iov = &local,
                             .desc = &op->desc,
                             .iov_count = 1,
                             .addr = addr,
                             .rma_iov = &remote,
                             .rma_iov_count = 1,
                             .context = &op->context};
    op->posted = n;
    return op->kind == OFI_PUT ? fi_writemsg(ep->ep, &msg, FI_COMPLETION | FI_DELIVERY_COMPLETE)
                               : fi_readmsg(ep->ep, &msg, FI_COMPLETION);
}

void ofi_retry_later(struct ofi_ep *ep, struct ofi_op *op)
{
    op->next = ep->retry;
    ep->retry = op;
}

static void post_rest(struct ofi_ep *ep, struct ofi_op *op)
{
    struct ofi_peer *peer = op->peer;
    if (!peer) { // abandoned
        ofi_op_give(ep, op);
        return;
    }
    long r = post(ep, op, peer->addr);
    if (r == -FI_EAGAIN)
        ofi_retry_later(ep, op);
    else if (r)
        ofi_op_end(ep, op, ofi_status(ep, peer, r, "a transfer"));
}

// A completion came for op.
void ofi_op_done(struct ofi_ep *ep, struct ofi_op *op)
{
    if (op->left > op->posted) {
        op->left -= op->posted;
        op->local += op->posted;
        op->remote += op->posted;
        post_rest(ep, op);
    } else {
        ofi_op_end(ep, op, 0);
    }
}

void ofi_retry(struct ofi_ep *ep)
{
    struct ofi_op *op = ep->retry;
    ep->retry = NULL;
    while (op) {
        struct ofi_op *next = op->next;
        if (op->kind == OFI_RECEIVE)
            ofi_receive_post(ep, op);
        else
            post_rest(ep, op);
        op = next;
    }
}

// Where the provider finds the bytes: the caller's memory, or op's own. `copied`: the caller's
// memory is not needed any more.
static int prepare_local(struct ofi_ep *ep, struct ofi_op *op, void *local, size_t n, bool *copied)
{
    void *desc = ep->local_registration ? ofi_desc(ep, local, n) : NULL;
    bool must_copy = ep->local_registration && !desc;
    bool wants_copy = op->kind == OFI_PUT && !op->request && n <= PUT_COPIED_MAX;
    *copied = false;
    op->local = local;
    op->desc = desc;
    if ((must_copy || wants_copy) && n <= ofi_data_size(ep)) {
        if (op->kind == OFI_PUT) {
            memcpy(op->data, local, n);
            *copied = true;
        } else {
            op->copy_to = local;
            op->copy_length = n;
        }
        op->local = (char *)op->data;
        op->desc = ep->ops_mr ? fi_mr_desc(ep->ops_mr) : NULL;
    } else if (must_copy) {
        if (ofi_mr_open(ep, local, n, op->kind == OFI_PUT ? FI_WRITE : FI_READ, &op->mr))
            return TRANSPORT_FAILED;
        op->desc = fi_mr_desc(op->mr);
    }
    return 0;
}

static int transfer_locked(struct ofi_ep *ep, struct ofi_ctx *ctx, enum ofi_kind kind,
                           struct transport_remote at, void *local, size_t n,
                           struct transport_request *request)
{
    struct ofi_peer *peer;
    int status = ofi_peer_reach(ep, at.pe, &peer);
    if (status)
        return status;
    struct ofi_op *op = ofi_refuse(ep) ? NULL : ofi_op_take(ep, kind);
    if (!op)
        return TRANSPORT_AGAIN;
    bool copied = false;
    op->request = request;
    op->left = n;
    status = ofi_locate(ep, peer, at, &op->remote, &op->key)
                 ? prepare_local(ep, op, local, n, &copied)
                 : TRANSPORT_FAILED;
    if (status == 0) {
        long r = post(ep, op, peer->addr);
        if (r)
            status = ofi_status(ep, peer, r, kind == OFI_PUT ? "a put" : "a get");
    }
    if (status) {
        ofi_op_give(ep, op);
        return status;
    }
    ofi_op_count(ep, op, peer, ctx, request);
    return copied && !request ? TRANSPORT_DONE : TRANSPORT_PENDING;
}

static int transfer(struct ofi_ep *main, void *ctx, enum ofi_kind kind, struct transport_remote at,
                    void *local, size_t n, struct transport_request *request)
{
    struct ofi_ep *ep = ofi_of(main, ctx);
    pthread_mutex_lock(&ep->lock);
    int status = transfer_locked(ep, ctx, kind, at, local, n, request);
    pthread_mutex_unlock(&ep->lock);
    return status;
}

int ofi_put(void *ep_, void *ctx, struct transport_remote to, const void *from, size_t n,
            struct transport_request *request)
{
    struct ofi_ep *ep = ep_;
    if (n == 0)
        return TRANSPORT_DONE;
    if (to.pe != ep->job.me)
        return transfer(ep, ctx, OFI_PUT, to, (void *)(uintptr_t)from, n, request);
    void *own = ofi_own(ep, to);
    if (!own)
        return TRANSPORT_FAILED;
    memmove(own, from, n);
    return TRANSPORT_DONE;
}

int ofi_get(void *ep_, void *ctx, void *to, struct transport_remote from, size_t n,
            struct transport_request *request)
{
    struct ofi_ep *ep = ep_;
    if (n == 0)
        return TRANSPORT_DONE;
    if (from.pe != ep->job.me)
        return transfer(ep, ctx, OFI_GET, from, to, n, request);
    void *own = ofi_own(ep, from);
    if (!own)
        return TRANSPORT_FAILED;
    memmove(to, own, n);
    return TRANSPORT_DONE;
}
