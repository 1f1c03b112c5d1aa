// SPDX-License-Identifier: BSD-3-Clause
// Atomics. Operations of the contract are mapped to libfabric's; a pair (operation, width) the
// provider lacks is UNSUPPORTED and emulated above.
#include "ofi.h"

#include "cpu_amo.h"

// One row an operation: libfabric's, for the form without a result and the form with one.
static const struct {
    enum fi_op base, fetch;
    bool has_base;
} ops[] = {
    [TRANSPORT_SET] = {FI_ATOMIC_WRITE, FI_ATOMIC_WRITE, true},
    [TRANSPORT_FETCH] = {FI_ATOMIC_READ, FI_ATOMIC_READ, false},
    [TRANSPORT_ADD] = {FI_SUM, FI_SUM, true},
    [TRANSPORT_AND] = {FI_BAND, FI_BAND, true},
    [TRANSPORT_OR] = {FI_BOR, FI_BOR, true},
    [TRANSPORT_XOR] = {FI_BXOR, FI_BXOR, true},
    [TRANSPORT_SWAP] = {FI_ATOMIC_WRITE, FI_ATOMIC_WRITE, true},
    [TRANSPORT_CSWAP] = {FI_CSWAP, FI_CSWAP, false},
};
_Static_assert(ARRAY_LEN(ops) == TRANSPORT_OP_COUNT, "a row for every operation");

enum fi_datatype ofi_amo_type(enum transport_width width)
{
    return width == TRANSPORT_32 ? FI_UINT32 : FI_UINT64;
}

enum fi_op ofi_amo_op(enum transport_op op)
{
    return ops[op].base;
}

static bool query(struct ofi_ep *ep, enum fi_op op, enum transport_width width, uint64_t flags)
{
    struct fi_atomic_attr attr;
    size_t size = width == TRANSPORT_32 ? 4 : 8;
    return fi_query_atomic(ep->domain, ofi_amo_type(width), op, &attr, flags) == 0 &&
           attr.count > 0 && attr.size == size;
}

void ofi_amo_query(struct ofi_ep *ep, struct transport_facts *facts)
{
    if (!(ep->info->caps & FI_ATOMIC))
        return;
    for (int op = 0; op < TRANSPORT_OP_COUNT; op++)
        for (int width = 0; width < TRANSPORT_WIDTH_COUNT; width++) {
            uint64_t fetch = op == TRANSPORT_CSWAP ? FI_COMPARE_ATOMIC : FI_FETCH_ATOMIC;
            if (query(ep, ops[op].fetch, width, fetch))
                facts->amo[op][width] = ep->amo[op][width] = true;
            ep->amo_base[op][width] = ops[op].has_base && query(ep, ops[op].base, width, 0);
        }
}

static long post(struct ofi_ep *ep, struct ofi_op *op, fi_addr_t addr, bool base)
{
    void *desc = ep->ops_mr ? fi_mr_desc(ep->ops_mr) : NULL;
    struct fi_ioc operand = {&op->amo.operand, 1}, compare = {&op->amo.compare, 1},
                  old = {&op->old, 1};
    struct fi_rma_ioc remote = {op->remote, 1, op->key};
    struct fi_msg_atomic msg = {.msg_iov = &operand,
                                .desc = &desc,
                                .iov_count = 1,
                                .addr = addr,
                                .rma_iov = &remote,
                                .rma_iov_count = 1,
                                .datatype = ofi_amo_type(op->amo.width),
                                .op = base ? ops[op->amo.op].base : ops[op->amo.op].fetch,
                                .context = &op->context};
    if (base)
        return fi_atomicmsg(ep->ep, &msg, FI_COMPLETION | FI_DELIVERY_COMPLETE);
    if (op->amo.op == TRANSPORT_CSWAP)
        return fi_compare_atomicmsg(ep->ep, &msg, &compare, &desc, 1, &old, &desc, 1,
                                    FI_COMPLETION | FI_DELIVERY_COMPLETE);
    return fi_fetch_atomicmsg(ep->ep, &msg, &old, &desc, 1, FI_COMPLETION | FI_DELIVERY_COMPLETE);
}

static int amo_locked(struct ofi_ep *ep, struct ofi_ctx *ctx, struct transport_remote at,
                      const struct ofi_amo *want, struct transport_request *request)
{
    struct ofi_peer *peer;
    int status = ofi_peer_reach(ep, at.pe, &peer);
    if (status)
        return status;
    struct ofi_op *op = ofi_refuse(ep) ? NULL : ofi_op_take(ep, OFI_AMO);
    if (!op)
        return TRANSPORT_AGAIN;
    op->amo = *want;
    op->old = 0;
    status = TRANSPORT_FAILED;
    if (ofi_locate(ep, peer, at, &op->remote, &op->key)) {
        long r = post(ep, op, peer->addr, !want->result && ep->amo_base[want->op][want->width]);
        status = r ? ofi_status(ep, peer, r, "an atomic") : 0;
    }
    if (status) {
        ofi_op_give(ep, op);
        return status;
    }
    ofi_op_count(ep, op, peer, ctx, request);
    return TRANSPORT_PENDING;
}

int ofi_amo(void *ep_, void *ctx, struct transport_remote at, enum transport_op op,
            enum transport_width width, uint64_t operand, uint64_t compare, uint64_t *result,
            struct transport_request *request)
{
    struct ofi_ep *ep = ep_;
    if (!ep->amo[op][width])
        return TRANSPORT_UNSUPPORTED;
    if (at.pe == ep->job.me && ep->coherent) {
        void *own = ofi_own(ep, at);
        if (!own)
            return TRANSPORT_FAILED;
        uint64_t old = cpu_amo(own, op, width, operand, compare);
        if (result)
            *result = old;
        return TRANSPORT_DONE;
    }
    struct ofi_amo want = {op, width, operand, compare, result};
    ep = ofi_of(ep, ctx);
    pthread_mutex_lock(&ep->lock);
    int status = amo_locked(ep, ctx, at, &want, request);
    pthread_mutex_unlock(&ep->lock);
    return status;
}
