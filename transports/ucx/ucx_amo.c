// SPDX-License-Identifier: BSD-3-Clause
// Atomics. UCX has add, and, or, xor, swap and compare-and-swap; a store is a swap, a load adds
// nothing. Swaps always name where the old value goes: UCX 1.13 ends the target when they do not.
//
// The processor of the target does them (UCX_ATOMIC_MODE=cpu, see ucx.c), so they mix with its own.
#include "ucx.h"

#include "cpu_amo.h"

#include <string.h>

static const struct {
    ucp_atomic_op_t op;
    bool needs_reply;
} ops[] = {
    [TRANSPORT_SET] = {UCP_ATOMIC_OP_SWAP, true},  [TRANSPORT_FETCH] = {UCP_ATOMIC_OP_ADD, true},
    [TRANSPORT_ADD] = {UCP_ATOMIC_OP_ADD, false},  [TRANSPORT_AND] = {UCP_ATOMIC_OP_AND, false},
    [TRANSPORT_OR] = {UCP_ATOMIC_OP_OR, false},    [TRANSPORT_XOR] = {UCP_ATOMIC_OP_XOR, false},
    [TRANSPORT_SWAP] = {UCP_ATOMIC_OP_SWAP, true}, [TRANSPORT_CSWAP] = {UCP_ATOMIC_OP_CSWAP, true},
};
_Static_assert(ARRAY_LEN(ops) == TRANSPORT_OP_COUNT, "a row for every operation");

static void write_word(void *p, enum transport_width width, uint64_t value)
{
    uint32_t value32 = (uint32_t)value;
    if (width == TRANSPORT_32)
        memcpy(p, &value32, sizeof value32);
    else
        memcpy(p, &value, sizeof value);
}

struct amo {
    enum transport_op op;
    enum transport_width width;
    uint64_t operand, compare;
    uint64_t *result;
};

static int amo_locked(struct ucx_ep *ep, struct ucx_ctx *ctx, struct transport_remote at,
                      const struct amo *want, struct transport_request *request)
{
    struct ucx_peer *peer;
    struct ucx_remote remote;
    int status = ucx_peer_reach(ep, at.pe, &peer);
    if (status)
        return status;
    if (!ucx_locate(ep, peer, at, &remote))
        return TRANSPORT_FAILED;
    struct ucx_op *op = ucx_refuse(ep) ? NULL : ucx_op_take(ep, UCX_AMO);
    if (!op)
        return TRANSPORT_AGAIN;
    bool compares = want->op == TRANSPORT_CSWAP;
    op->width = want->width;
    op->result = want->result;
    write_word(&op->operand, want->width,
               compares                      ? want->compare
               : want->op == TRANSPORT_FETCH ? 0
                                             : want->operand);
    write_word(&op->old, want->width, compares ? want->operand : 0);
    ucp_request_param_t param = ucx_param(op);
    param.op_attr_mask |= UCP_OP_ATTR_FIELD_DATATYPE;
    param.datatype = ucp_dt_make_contig(want->width == TRANSPORT_32 ? 4 : 8);
    // An answer tells that it is done at the target; else a flush has to.
    op->unflushed = !ops[want->op].needs_reply && !want->result && !request;
    if (!op->unflushed) {
        param.op_attr_mask |= UCP_OP_ATTR_FIELD_REPLY_BUFFER;
        param.reply_buffer = &op->old;
    }
    return ucx_op_begun(ep, op, peer, ctx, request,
                        ucp_atomic_op_nbx(peer->ep, ops[want->op].op, &op->operand, 1, remote.start,
                                          remote.key, &param));
}

int ucx_amo(void *ep_, void *ctx, struct transport_remote at, enum transport_op op,
            enum transport_width width, uint64_t operand, uint64_t compare, uint64_t *result,
            struct transport_request *request)
{
    struct ucx_ep *ep = ep_;
    if (at.pe == ep->job.me) {
        void *own = ucx_own(ep, at);
        if (!own)
            return TRANSPORT_FAILED;
        uint64_t old = cpu_amo(own, op, width, operand, compare);
        if (result)
            *result = old;
        return TRANSPORT_DONE;
    }
    struct amo want = {op, width, operand, compare, result};
    ep = ucx_of(ep, ctx);
    pthread_mutex_lock(&ep->lock);
    int status = amo_locked(ep, ctx, at, &want, request);
    pthread_mutex_unlock(&ep->lock);
    return status;
}
