// SPDX-License-Identifier: BSD-3-Clause
// The completion queue: what is done, what failed, what came.
#include "ofi.h"

static void failed(struct ofi_ep *ep, struct ofi_op *op, const struct fi_cq_err_entry *error)
{
    char buffer[128];
    const char *detail = fi_cq_strerror(ep->cq, error->prov_errno, error->err_data, buffer,
                                        sizeof buffer);
    if (op->kind == OFI_RECEIVE) {
        if (error->err == FI_ETRUNC || error->err == FI_EMSGSIZE)
            messages_forged(&ep->messages, error->len + error->olen);
        else if (error->err != FI_ECANCELED)
            ofi_log(ep, LOG_DEBUG, "a receive: %s", fi_strerror(error->err));
        if (error->err != FI_ECANCELED)
            ofi_receive_post(ep, op);
        return;
    }
    struct ofi_peer *peer = op->peer ? op->peer : op->to;
    if (peer && !peer->m.lost) {
        if (ofi_means_lost(error->err))
            messages_peer_lose(&ep->messages, &peer->m, fi_strerror(error->err));
        else
            ofi_log(ep, LOG_ERROR, "an operation to PE %d failed: %s (%s)", peer->m.pe,
                    fi_strerror(error->err),
                    error->err != FI_EFAULT ? detail ? detail : ""
                                            : "source or dest is no memory of this process");
    }
    if (peer && op->is_notice)
        peer->m.noticing = false;
    ofi_op_end(ep, op, TRANSPORT_FAILED);
}

static bool read_error(struct ofi_ep *ep)
{
    struct fi_cq_err_entry error = {0};
    if (fi_cq_readerr(ep->cq, &error, 0) != 1)
        return false;
    if (error.op_context && !ofi_chain_failed(ep, &error))
        failed(ep, error.op_context, &error);
    return true;
}

static void complete(struct ofi_ep *ep, struct ofi_op *op, size_t length)
{
    if (op->kind == OFI_RECEIVE) {
        op->message = (struct message){.length = length, .bytes = op->data};
        messages_arrived(&ep->messages, &op->message);
        return;
    }
    if (op->is_notice)
        op->to->m.noticing = false;
    ofi_op_done(ep, op);
}

// A bounded number of rounds, so that a flood does not keep the caller.
int ofi_drain(struct ofi_ep *ep)
{
    struct fi_cq_msg_entry entry[OFI_CQ_BATCH];
    int n = 0;
    if (ep->retry)
        ofi_retry(ep);
    for (int round = 0; round < 16; round++) {
        long r = fi_cq_read(ep->cq, entry, HOSTILE ? 1 : OFI_CQ_BATCH);
        if (r == -FI_EAVAIL && read_error(ep)) {
            n++;
            continue;
        }
        if (r <= 0)
            break;
        for (long i = 0; i < r; i++)
            complete(ep, entry[i].op_context, entry[i].len);
        n += (int)r;
        if (!HOSTILE && r < OFI_CQ_BATCH) // another look costs system calls
            break;
    }
    return n;
}

int ofi_progress(void *ep_)
{
    struct ofi_ep *ep = ep_;
    pthread_mutex_lock(&ep->lock);
    int n = ofi_drain(ep);
    if (unlikely(ep->chains_running))
        ofi_chains_move(ep);
    ofi_watch(ep);
    n += messages_deliver(&ep->messages);
    bool has_lanes = ep->ctxs;
    pthread_mutex_unlock(&ep->lock);
    return unlikely(has_lanes) ? n + ofi_lanes_progress(ep) : n;
}

// Every completion is one at the target (see ofi_data.c), so it is enough to count them. There is
// no cheaper fence: ofi_rxm orders nothing.
int ofi_flush(void *ep_, void *ctx_, int pe)
{
    struct ofi_ep *ep = ofi_of(ep_, ctx_);
    struct ofi_ctx *ctx = ctx_ ? ctx_ : &ep->ctx;
    pthread_mutex_lock(&ep->lock);
    bool pending = ctx->pending && (pe < 0 || (ep->peer[pe] && ep->peer[pe]->pending));
    bool failed = !pending && ctx->failed;
    if (failed)
        ctx->failed = false;
    pthread_mutex_unlock(&ep->lock);
    return pending ? TRANSPORT_AGAIN : failed ? TRANSPORT_FAILED : TRANSPORT_DONE;
}
