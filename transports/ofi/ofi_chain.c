// SPDX-License-Identifier: BSD-3-Clause
// Chains of puts and atomics as deferred work of libfabric, fi_trigger(3): a counter of the
// provider's for each chain, which its steps count when they are complete, and on which they wait.
//
//     counter   1: step 0 begins   2: that is complete, step 1 begins   ...   n + 1: all are done
//
// Measured with `sockets` of libfabric 1.17, the one provider here that takes such work: a step
// that finds no room when it is due is tried again only when the counter is counted, be it by
// nothing; one that fails is told by the completion queue alone and counts nowhere; FI_CANCEL_WORK
// is not there.
#include "ofi.h"

#include <rdma/fi_trigger.h>
#include <stdlib.h>

struct step {
    struct fi_deferred_work work; // first: libfabric hands its address back
    struct ofi_peer *peer;
    union {
        struct fi_op_rma put;
        struct fi_op_atomic amo;
    } op;
    struct iovec from;
    struct fi_rma_iov to;
    struct fi_ioc operand;
    struct fi_rma_ioc word;
    uint64_t value;
    void *desc;
};

struct ofi_chain {
    struct fid_cntr *counter;
    size_t n;                          // 0: free
    size_t done;                       // steps that are complete
    struct transport_request *request; // NULL: it has failed, and libfabric may have steps of it
    struct step step[OFI_CHAIN_STEPS];
};

// The caller's memory is not registered for it, so none where that is wanted.
size_t ofi_chain_max(const struct ofi_ep *ep)
{
    bool has_all = ep->job.wants_chains && ep->info->caps & FI_TRIGGER &&
                   !((uint64_t)ep->info->domain_attr->mr_mode & FI_MR_LOCAL);
    for (int width = 0; width < TRANSPORT_WIDTH_COUNT; width++) {
        has_all = has_all && ep->amo_base[TRANSPORT_SET][width];
        for (int op = TRANSPORT_ADD; op <= TRANSPORT_XOR; op++)
            has_all = has_all && ep->amo_base[op][width];
    }
    return has_all ? OFI_CHAIN_STEPS : 0;
}

static void put(struct ofi_ep *ep, struct step *s, const struct transport_step *want, uint64_t to,
                uint64_t key)
{
    s->from = (struct iovec){(void *)(uintptr_t)want->from, want->n};
    s->to = (struct fi_rma_iov){to, want->n, key};
    s->op.put = (struct fi_op_rma){.ep = ep->ep,
                                   .flags = FI_DELIVERY_COMPLETE,
                                   .msg = {.msg_iov = &s->from,
                                           .desc = &s->desc,
                                           .iov_count = 1,
                                           .addr = s->peer->addr,
                                           .rma_iov = &s->to,
                                           .rma_iov_count = 1,
                                           .context = &s->work.context}};
    s->work.op_type = FI_OP_WRITE;
    s->work.op.rma = &s->op.put;
}

static void amo(struct ofi_ep *ep, struct step *s, const struct transport_step *want, uint64_t to,
                uint64_t key)
{
    s->value = want->operand;
    s->operand = (struct fi_ioc){&s->value, 1};
    s->word = (struct fi_rma_ioc){to, 1, key};
    s->op.amo = (struct fi_op_atomic){.ep = ep->ep,
                                      .flags = FI_DELIVERY_COMPLETE,
                                      .msg = {.msg_iov = &s->operand,
                                              .desc = &s->desc,
                                              .iov_count = 1,
                                              .addr = s->peer->addr,
                                              .rma_iov = &s->word,
                                              .rma_iov_count = 1,
                                              .datatype = ofi_amo_type(want->width),
                                              .op = ofi_amo_op(want->op),
                                              .context = &s->work.context}};
    s->work.op_type = FI_OP_ATOMIC;
    s->work.op.atomic = &s->op.amo;
}

static struct ofi_chain *find_free(struct ofi_ep *ep)
{
    struct fi_cntr_attr attr = {.events = FI_CNTR_EVENTS_COMP};
    if (!ep->chains)
        ep->chains = calloc(OFI_CHAINS, sizeof *ep->chains);
    for (int i = 0; ep->chains && i < OFI_CHAINS; i++) {
        struct ofi_chain *c = &ep->chains[i];
        if (c->n == 0 && (c->counter || fi_cntr_open(ep->domain, &attr, &c->counter, NULL) == 0))
            return c;
    }
    return NULL;
}

// All of them before the first may begin.
static int queue(struct ofi_ep *ep, struct ofi_chain *c, const struct transport_step *want,
                 size_t n)
{
    fi_cntr_set(c->counter, 0);
    for (size_t i = 0; i < n; i++) {
        struct step *s = &c->step[i];
        uint64_t to, key;
        *s = (struct step){.work = {.threshold = i + 1,
                                    .triggering_cntr = c->counter,
                                    .completion_cntr = c->counter}};
        if (ofi_peer_reach(ep, want[i].at.pe, &s->peer) ||
            !ofi_locate(ep, s->peer, want[i].at, &to, &key))
            return TRANSPORT_FAILED;
        (want[i].n ? put : amo)(ep, s, &want[i], to, key);
        int r = fi_control(&ep->domain->fid, FI_QUEUE_WORK, &s->work);
        if (r) {
            ofi_log(ep, LOG_ERROR, "deferred work: %s", fi_strerror(-r));
            return TRANSPORT_FAILED;
        }
    }
    return 0;
}

static int chain_locked(struct ofi_ep *ep, const struct transport_step *want, size_t n,
                        struct transport_request *request)
{
    struct ofi_chain *c = ofi_refuse(ep) ? NULL : find_free(ep);
    if (!c)
        return TRANSPORT_AGAIN;
    c->n = n;
    c->done = 0;
    c->request = NULL;
    if (queue(ep, c, want, n))
        return TRANSPORT_FAILED;
    c->request = request;
    for (size_t i = 0; i < n; i++)
        c->step[i].peer->pending++;
    ep->pending += (unsigned)n;
    ep->chains_running++;
    fi_cntr_add(c->counter, 1);
    return TRANSPORT_PENDING;
}

int ofi_chain(void *ep_, const struct transport_step *step, size_t n,
              struct transport_request *request)
{
    struct ofi_ep *ep = ep_;
    if (n == 0 || n > OFI_CHAIN_STEPS)
        return TRANSPORT_UNSUPPORTED;
    pthread_mutex_lock(&ep->lock);
    int status = chain_locked(ep, step, n, request);
    pthread_mutex_unlock(&ep->lock);
    return status;
}

// The next step is complete, or never will be.
static void step_end(struct ofi_ep *ep, struct ofi_chain *c)
{
    struct ofi_peer *peer = c->step[c->done++].peer;
    peer->pending--;
    peer->done++;
    ep->pending--;
}

static void move(struct ofi_ep *ep, struct ofi_chain *c)
{
    struct transport_request *request = c->request;
    size_t counted = (size_t)fi_cntr_read(c->counter) - 1;
    if (counted == c->done)
        fi_cntr_add(c->counter, 0); // so that a step that found no room is tried again
    while (c->done < counted) {
        step_end(ep, c);
        if (c->done == c->n) {
            c->n = c->done = counted = 0;
            c->request = NULL;
            ep->chains_running--;
        }
        // Pairs with the acquire load of whoever waits.
        atomic_fetch_sub_explicit(&request->left, 1, memory_order_release);
    }
}

void ofi_chains_move(struct ofi_ep *ep)
{
    for (int i = 0; i < OFI_CHAINS; i++)
        if (ep->chains[i].request)
            move(ep, &ep->chains[i]);
}

// It is not used again: its steps cannot be taken back from libfabric.
static void fail(struct ofi_ep *ep, struct ofi_chain *c)
{
    struct transport_request *request = c->request;
    c->request = NULL;
    ep->chains_running--;
    while (c->done < c->n)
        step_end(ep, c);
    request->status = TRANSPORT_FAILED;
    atomic_fetch_sub_explicit(&request->left, 1, memory_order_release);
}

bool ofi_chain_failed(struct ofi_ep *ep, const struct fi_cq_err_entry *error)
{
    for (int i = 0; ep->chains && i < OFI_CHAINS; i++) {
        struct ofi_chain *c = &ep->chains[i];
        for (size_t k = 0; k < c->n; k++) {
            struct step *s = &c->step[k];
            if (error->op_context != &s->work.context)
                continue;
            if (c->request && ofi_means_lost(error->err))
                messages_peer_lose(&ep->messages, &s->peer->m, fi_strerror(error->err));
            else if (c->request)
                ofi_log(ep, LOG_ERROR, "a triggered operation to PE %d failed: %s", s->peer->m.pe,
                        fi_strerror(error->err));
            if (c->request) // losing the peer has not ended it
                fail(ep, c);
            return true;
        }
    }
    return false;
}

void ofi_chains_abandon(struct ofi_ep *ep, const struct ofi_peer *peer)
{
    for (int i = 0; ep->chains && i < OFI_CHAINS; i++)
        for (size_t k = ep->chains[i].done; ep->chains[i].request && k < ep->chains[i].n; k++)
            if (ep->chains[i].step[k].peer == peer)
                fail(ep, &ep->chains[i]);
}

void ofi_chains_close(struct ofi_ep *ep)
{
    for (int i = 0; ep->chains && i < OFI_CHAINS; i++)
        if (ep->chains[i].counter)
            fi_close(&ep->chains[i].counter->fid);
    free(ep->chains);
}
