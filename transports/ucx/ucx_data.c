// SPDX-License-Identifier: BSD-3-Clause
// Puts and gets, the life of a ucx_op, and flushes of an endpoint.
//
// A flush covers what was begun before it. One runs at a time for a peer; what comes meanwhile is
// covered by the next, which begins when somebody waits or when there is much of it.
#include "ucx.h"

#include <string.h>

struct ucx_op *ucx_op_take(struct ucx_ep *ep, enum ucx_kind kind)
{
    if (unlikely(!ep->free_ops))
        ucx_flush_all(ep);
    struct ucx_op *op = ep->free_ops;
    if (unlikely(!op))
        return NULL;
    ep->free_ops = op->next;
    op->kind = kind;
    op->busy = true;
    op->at_ucx = op->unflushed = op->failed = op->is_notice = false;
    op->unanswered = 0;
    op->next = NULL;
    op->peer = op->to = NULL;
    op->ctx = NULL;
    op->request = NULL;
    op->result = NULL;
    return op;
}

void ucx_op_give(struct ucx_ep *ep, struct ucx_op *op)
{
    op->busy = false;
    op->next = ep->free_ops;
    ep->free_ops = op;
}

static bool means_lost(ucs_status_t status)
{
    switch (status) {
    case UCS_ERR_CANCELED: // by the close of an endpoint that broke
    case UCS_ERR_REJECTED:
    case UCS_ERR_NOT_CONNECTED:
    case UCS_ERR_CONNECTION_RESET:
    case UCS_ERR_ENDPOINT_TIMEOUT:
    case UCS_ERR_TIMED_OUT:
    case UCS_ERR_UNREACHABLE:
    case UCS_ERR_IO_ERROR: return true;
    default: return false;
    }
}

// What a failed call means to the caller. Whatever is not "later" is logged once for a peer.
static int status_for(struct ucx_ep *ep, struct ucx_peer *peer, ucs_status_t status, const char *what)
{
    if (status == UCS_ERR_NO_RESOURCE)
        return TRANSPORT_AGAIN;
    if (means_lost(status))
        messages_peer_lose(&ep->messages, &peer->m, ucx_why(status));
    else if (!peer->m.lost)
        ucx_log(ep, LOG_ERROR, "%s to PE %d: %s", what, peer->m.pe, ucs_status_string(status));
    return TRANSPORT_FAILED;
}

// The owner hears of it and the counts go down.
static void settle(struct ucx_ep *ep, struct ucx_op *op, int status)
{
    if (!op->peer)
        return;
    op->peer->pending--;
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

// A word of the width, zero-extended.
static uint64_t word_at(const void *p, enum transport_width width)
{
    uint32_t word32;
    uint64_t word64;
    memcpy(&word32, p, sizeof word32);
    memcpy(&word64, p, sizeof word64);
    return width == TRANSPORT_32 ? word32 : word64;
}

static void take_result(struct ucx_op *op)
{
    if (op->result)
        *op->result = word_at(&op->old, op->width);
}

// Once UCX is done with op and no flush has to tell its end.
static void end_if_done(struct ucx_ep *ep, struct ucx_op *op)
{
    if (op->at_ucx || op->unflushed || op->unanswered)
        return;
    if (op->kind == UCX_SEND)
        ep->sends--;
    else if (op->peer && !op->failed)
        take_result(op);
    settle(ep, op, op->failed ? TRANSPORT_FAILED : 0);
    ucx_op_give(ep, op);
}

// UCX is done with op: at its end, or as far as the source is concerned.
static void ended(void *request, ucs_status_t status, void *op_)
{
    struct ucx_op *op = op_;
    struct ucx_peer *peer = op->peer ? op->peer : op->to;
    ucp_request_free(request);
    if (op->is_notice)
        op->to->m.noticing = false;
    if (status != UCS_OK) {
        op->failed = true;
        if (peer && !peer->m.lost)
            status_for(op->ep, peer, status, "an operation");
    }
    op->at_ucx = false;
    end_if_done(op->ep, op);
}

void ucx_op_answered(struct ucx_op *op, size_t n)
{
    op->unanswered -= n;
    end_if_done(op->ep, op);
}

ucp_request_param_t ucx_param(struct ucx_op *op)
{
    return (ucp_request_param_t){.op_attr_mask = UCP_OP_ATTR_FIELD_CALLBACK |
                                                 UCP_OP_ATTR_FIELD_USER_DATA,
                                 .cb.send = ended,
                                 .user_data = op};
}

int ucx_op_begun(struct ucx_ep *ep, struct ucx_op *op, struct ucx_peer *peer, struct ucx_ctx *ctx,
                 struct transport_request *request, void *pointer)
{
    if (UCS_PTR_IS_ERR(pointer)) {
        ucx_op_give(ep, op);
        return status_for(ep, peer, UCS_PTR_STATUS(pointer), "an operation");
    }
    op->at_ucx = UCS_PTR_IS_PTR(pointer);
    if (!op->at_ucx && !op->unflushed && !op->unanswered) {
        take_result(op);
        ucx_op_give(ep, op);
        return TRANSPORT_DONE;
    }
    op->request = request;
    op->peer = peer;
    op->ctx = ctx ? ctx : &ep->ctx;
    op->ctx->pending++;
    peer->pending++;
    ep->pending++;
    if (op->unflushed) {
        op->next = peer->unflushed;
        peer->unflushed = op;
        peer->unflushed_count++;
        ep->unflushed++;
        if (request || peer->unflushed_count >= UCX_UNFLUSHED)
            ucx_flush_begin(ep, peer);
    }
    return TRANSPORT_PENDING;
}

// What UCX still has of the peer's operations comes back when its endpoint is closed. Nobody waits
// for messages: they have no peer.
void ucx_abandon(void *ep_, struct messages_peer *m)
{
    struct ucx_ep *ep = ep_;
    struct ucx_peer *peer = ucx_peer_of(m);
    ep->unflushed -= peer->unflushed_count;
    peer->unflushed_count = 0;
    peer->unflushed = peer->flushing = NULL;
    for (int i = 0; i < ep->op_count; i++) {
        struct ucx_op *op = &ep->ops[i];
        if (!op->busy || op->peer != peer)
            continue;
        op->unflushed = false;
        op->unanswered = 0;
        op->failed = true;
        if (op->at_ucx)
            settle(ep, op, TRANSPORT_FAILED);
        else
            end_if_done(ep, op);
    }
    ucx_lanes_lose(ep, m->pe, m->why);
}

// ---- Flushes
static void flush_ended(struct ucx_ep *ep, struct ucx_peer *peer, ucs_status_t status)
{
    struct ucx_op *op = peer->flushing;
    peer->flushing = NULL;
    peer->flush_runs = false;
    while (op) {
        struct ucx_op *next = op->next;
        op->unflushed = false;
        op->failed |= status != UCS_OK;
        end_if_done(ep, op);
        op = next;
    }
    if (status != UCS_OK && !peer->m.lost)
        status_for(ep, peer, status, "a flush");
}

static void flushed(void *request, ucs_status_t status, void *peer_)
{
    struct ucx_peer *peer = peer_;
    ucp_request_free(request);
    flush_ended(peer->owner, peer, status);
    if (peer->flush_wanted)
        ucx_flush_begin(peer->owner, peer);
}

void ucx_flush_begin(struct ucx_ep *ep, struct ucx_peer *peer)
{
    ucp_request_param_t param = {.op_attr_mask = UCP_OP_ATTR_FIELD_CALLBACK |
                                                 UCP_OP_ATTR_FIELD_USER_DATA,
                                 .cb.send = flushed,
                                 .user_data = peer};
    if (!peer->unflushed)
        return;
    peer->flush_wanted = peer->flush_runs;
    if (peer->flush_runs)
        return;
    peer->flushing = peer->unflushed;
    peer->unflushed = NULL;
    ep->unflushed -= peer->unflushed_count;
    peer->unflushed_count = 0;
    peer->flush_runs = true;
    void *pointer = ucp_ep_flush_nbx(peer->ep, &param);
    if (!UCS_PTR_IS_PTR(pointer))
        flush_ended(ep, peer, UCS_PTR_STATUS(pointer));
}

void ucx_flush_all(struct ucx_ep *ep)
{
    for (struct messages_peer *m = ep->messages.peers; m && ep->unflushed; m = m->next)
        ucx_flush_begin(ep, ucx_peer_of(m));
}

// ---- Data
static int transfer_locked(struct ucx_ep *ep, struct ucx_ctx *ctx, enum ucx_kind kind,
                           struct transport_remote at, void *local, size_t n,
                           struct transport_request *request)
{
    struct ucx_peer *peer;
    struct ucx_remote remote;
    int status = ucx_peer_reach(ep, at.pe, &peer);
    if (status)
        return status;
    if (!ucx_locate(ep, peer, at, &remote))
        return TRANSPORT_FAILED;
    struct ucx_op *op = ucx_refuse(ep) ? NULL : ucx_op_take(ep, kind);
    if (!op)
        return TRANSPORT_AGAIN;
    if (n > PUT_COPIED_MAX && ep->is_tcp && !ep->parent)
        return ucx_bulk_begin(ep, ctx, peer, op, remote.start, local, n, request);
    ucp_request_param_t param = ucx_param(op);
    if (kind == UCX_GET)
        return ucx_op_begun(ep, op, peer, ctx, request,
                            ucp_get_nbx(peer->ep, local, n, remote.start, remote.key, &param));
    bool copied = !request && n <= PUT_COPIED_MAX;
    if (copied)
        local = memcpy(op->data, local, n);
    op->unflushed = true;
    status = ucx_op_begun(ep, op, peer, ctx, request,
                          ucp_put_nbx(peer->ep, local, n, remote.start, remote.key, &param));
    return copied && status == TRANSPORT_PENDING ? TRANSPORT_DONE : status;
}

static int transfer(struct ucx_ep *main, void *ctx, enum ucx_kind kind, struct transport_remote at,
                    void *local, size_t n, struct transport_request *request)
{
    struct ucx_ep *ep = ucx_of(main, ctx);
    pthread_mutex_lock(&ep->lock);
    int status = transfer_locked(ep, ctx, kind, at, local, n, request);
    pthread_mutex_unlock(&ep->lock);
    return status;
}

int ucx_put(void *ep_, void *ctx, struct transport_remote to, const void *from, size_t n,
            struct transport_request *request)
{
    struct ucx_ep *ep = ep_;
    if (n == 0)
        return TRANSPORT_DONE;
    if (to.pe != ep->job.me)
        return transfer(ep, ctx, UCX_PUT, to, (void *)(uintptr_t)from, n, request);
    void *own = ucx_own(ep, to);
    if (!own)
        return TRANSPORT_FAILED;
    memmove(own, from, n);
    return TRANSPORT_DONE;
}

int ucx_get(void *ep_, void *ctx, void *to, struct transport_remote from, size_t n,
            struct transport_request *request)
{
    struct ucx_ep *ep = ep_;
    if (n == 0)
        return TRANSPORT_DONE;
    if (from.pe != ep->job.me)
        return transfer(ep, ctx, UCX_GET, from, to, n, request);
    void *own = ucx_own(ep, from);
    if (!own)
        return TRANSPORT_FAILED;
    memmove(to, own, n);
    return TRANSPORT_DONE;
}
