// SPDX-License-Identifier: BSD-3-Clause
// Progress, waiting for something to do, and the flush and fence of the contract.
#include "ucx.h"

int ucx_move(struct ucx_ep *ep)
{
    int n = (int)ucp_worker_progress(ep->worker);
    if (unlikely(ep->has_broken))
        ucx_mend(ep);
    return n + messages_deliver(&ep->messages);
}

int ucx_progress(void *ep_)
{
    struct ucx_ep *ep = ep_;
    pthread_mutex_lock(&ep->lock);
    int n = ucx_move(ep);
    bool has_lanes = ep->ctxs;
    pthread_mutex_unlock(&ep->lock);
    return unlikely(has_lanes) ? n + ucx_lanes_progress(ep) : n;
}

// The worker's tells nothing of lanes.
int ucx_wait_fd(void *ep_)
{
    struct ucx_ep *ep = ep_;
    pthread_mutex_lock(&ep->lock);
    bool is_deaf = ep->ctxs && ucx_lanes_pend(ep);
    pthread_mutex_unlock(&ep->lock);
    return is_deaf ? -1 : ep->fd;
}

int ucx_arm(void *ep_)
{
    struct ucx_ep *ep = ep_;
    pthread_mutex_lock(&ep->lock);
    bool idle = !messages_waiting(&ep->messages) && !ep->has_broken &&
                ucp_worker_arm(ep->worker) == UCS_OK;
    pthread_mutex_unlock(&ep->lock);
    return idle ? TRANSPORT_DONE : TRANSPORT_AGAIN;
}

// There is no cheaper fence: UCX's own orders what it gave to one lane, not what waits.
int ucx_flush(void *ep_, void *ctx_, int pe)
{
    struct ucx_ep *ep = ucx_of(ep_, ctx_);
    struct ucx_ctx *ctx = ctx_ ? ctx_ : &ep->ctx;
    pthread_mutex_lock(&ep->lock);
    if (ctx->pending && ep->unflushed) {
        if (pe < 0)
            ucx_flush_all(ep);
        else if (ep->peer[pe])
            ucx_flush_begin(ep, ep->peer[pe]);
    }
    bool pending = ctx->pending && (pe < 0 || (ep->peer[pe] && ep->peer[pe]->pending));
    bool failed = !pending && ctx->failed;
    if (failed)
        ctx->failed = false;
    pthread_mutex_unlock(&ep->lock);
    return pending ? TRANSPORT_AGAIN : failed ? TRANSPORT_FAILED : TRANSPORT_DONE;
}
