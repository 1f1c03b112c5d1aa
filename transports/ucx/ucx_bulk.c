// SPDX-License-Identifier: BSD-3-Clause
// Long puts and gets over tcp. UCX makes its own there of messages whose data it copies at both ends. Active
// messages are copied where they come alone: so a put is sent in pieces, each of which the target answers
// when it is in its place, and a get asks the target for such pieces.
//
//     PUT, data ------> into its place            GET ------------->
//               <------ ANSWER                    into its place <-- DATA, data
//
// It is complete when all bytes have been answered, or have come, in whichever order.
#include "ucx.h"

#include <stdlib.h>
#include <string.h>

enum { PIECE = HOSTILE ? 1000 : (512 << 10) - 56 }; // with what goes before it a segment (ucx.c)

// What is sent to a PE, a piece after the other. Answers go the way that the question came: this PE may not
// know the address of who asks.
struct out {
    struct ucx_ep *ep;
    struct ucx_peer *to;
    ucp_ep_h way;
    struct ucx_bulk bulk; // of the piece on its way
    const char *data;     // of the next; NULL: one message without
    uint64_t left;        // bytes that no piece has had
};

// ---- Sending
static void out_end(struct out *out)
{
    out->ep->sends--;
    free(out);
}

// Nothing goes there any more, and it hears of that.
static void give_up(struct ucx_ep *ep, struct ucx_peer *to, ucs_status_t status)
{
    to->why = ucx_why(status);
    to->broken = ep->has_broken = true;
    messages_peer_lose(&ep->messages, &to->m, to->why);
}

static void sent(void *request, ucs_status_t status, void *out);

// One piece. True: UCX is done with it.
static bool send_piece(struct out *out)
{
    ucp_request_param_t param = {.op_attr_mask = UCP_OP_ATTR_FIELD_CALLBACK |
                                                 UCP_OP_ATTR_FIELD_USER_DATA |
                                                 UCP_OP_ATTR_FIELD_FLAGS,
                                 .cb.send = sent,
                                 .user_data = out,
                                 .flags = UCP_AM_SEND_FLAG_EAGER};
    if (out->bulk.kind == UCX_BULK_PUT || out->bulk.kind == UCX_BULK_GET)
        param.flags |= UCP_AM_SEND_FLAG_REPLY;
    const char *data = out->data;
    size_t n = data ? (out->left < PIECE ? out->left : PIECE) : 0;
    if (data) {
        out->bulk.n = n;
        out->data += n;
        out->left -= n;
    }
    void *pointer = ucp_am_send_nbx(out->way, UCX_AM_ID, &out->bulk, sizeof out->bulk, data, n,
                                    &param);
    if (UCS_PTR_IS_ERR(pointer))
        give_up(out->ep, out->to, UCS_PTR_STATUS(pointer));
    return !UCS_PTR_IS_PTR(pointer);
}

static void send_on(struct out *out)
{
    while (out->left && !out->to->m.lost) {
        if (!send_piece(out))
            return;
        out->bulk.at += out->bulk.n;
    }
    out_end(out);
}

static void sent(void *request, ucs_status_t status, void *out_)
{
    struct out *out = out_;
    ucp_request_free(request);
    if (status != UCS_OK) // who waits for it hears of the loss of its peer
        out->left = 0;
    out->bulk.at += out->bulk.n;
    send_on(out);
}

// n bytes of data, or one message without that tells of n.
static void send_bulk(struct ucx_ep *ep, struct ucx_peer *to, ucp_ep_h way, struct ucx_bulk bulk,
                      const void *data)
{
    struct out *out = malloc(sizeof *out);
    if (!out) {
        give_up(ep, to, UCS_ERR_NO_MEMORY);
        return;
    }
    bulk.secret = ep->job.secret;
    bulk.from = (uint32_t)ep->job.me;
    *out = (struct out){
        .ep = ep, .to = to, .way = way, .bulk = bulk, .data = data, .left = data ? bulk.n : 0};
    ep->sends++;
    if (data)
        send_on(out);
    else if (send_piece(out))
        out_end(out);
}

int ucx_bulk_begin(struct ucx_ep *ep, struct ucx_ctx *ctx, struct ucx_peer *peer, struct ucx_op *op,
                   uint64_t at, void *local, size_t n, struct transport_request *request)
{
    bool puts = op->kind == UCX_PUT;
    struct ucx_bulk bulk = {.kind = puts ? UCX_BULK_PUT : UCX_BULK_GET,
                            .op = (uint64_t)(op - ep->ops),
                            .at = at,
                            .n = n};
    op->local = local;
    op->length = op->unanswered = n;
    int status = ucx_op_begun(ep, op, peer, ctx, request, NULL);
    send_bulk(ep, peer, peer->ep, bulk, puts ? local : NULL);
    return status;
}

// ---- What comes
static bool is_good(const struct ucx_ep *ep, const struct ucx_bulk *bulk, size_t length)
{
    bool has_data = bulk->kind == UCX_BULK_PUT || bulk->kind == UCX_BULK_DATA;
    return bulk->secret == ep->job.secret && bulk->from < (uint32_t)ep->job.npes &&
           bulk->kind < UCX_BULK_KINDS && length == (has_data ? bulk->n : 0);
}

// The operation that a piece or an answer is for; NULL: it is over, with its peer, or never was.
static struct ucx_op *op_of(struct ucx_ep *ep, const struct ucx_bulk *bulk)
{
    struct ucx_op *op = bulk->op < (uint64_t)ep->op_count ? &ep->ops[bulk->op] : NULL;
    enum ucx_kind kind = bulk->kind == UCX_BULK_DATA ? UCX_GET : UCX_PUT;
    bool is_its = op && op->busy && op->kind == kind && bulk->n <= op->unanswered && op->peer &&
                  op->peer->m.pe == (int)bulk->from &&
                  (kind == UCX_PUT || (bulk->at <= op->length && bulk->n <= op->length - bulk->at));
    return is_its ? op : NULL;
}

// A put is in its place, or a get asks for what is there.
static void asked(struct ucx_ep *ep, struct ucx_bulk bulk, const void *data, ucp_ep_h way)
{
    void *at = (void *)(uintptr_t)bulk.at;
    struct ucx_peer *from = ucx_peer_known(ep, (int)bulk.from); // NULL: no memory
    bool puts = bulk.kind == UCX_BULK_PUT;
    if (!from)
        return;
    if (puts)
        memcpy(at, data, bulk.n);
    bulk.kind = puts ? UCX_BULK_ANSWER : UCX_BULK_DATA;
    bulk.at = 0;
    send_bulk(ep, from, way, bulk, puts ? NULL : at);
}

static void answer_came(struct ucx_ep *ep, const struct ucx_bulk *bulk, const void *data)
{
    struct ucx_op *op = op_of(ep, bulk);
    if (!op)
        return;
    if (bulk->kind == UCX_BULK_DATA)
        memcpy((char *)op->local + bulk->at, data, bulk->n);
    ucx_op_answered(op, bulk->n);
}

ucs_status_t ucx_bulk_came(struct ucx_ep *ep, const void *header, size_t header_length,
                           const void *data, size_t length, const ucp_am_recv_param_t *param)
{
    struct ucx_bulk bulk = {.kind = UCX_BULK_KINDS};
    if (header_length == sizeof bulk && !(param->recv_attr & UCP_AM_RECV_ATTR_FLAG_RNDV))
        memcpy(&bulk, header, sizeof bulk);
    bool asks = bulk.kind == UCX_BULK_PUT || bulk.kind == UCX_BULK_GET;
    if (!is_good(ep, &bulk, length) ||
        asks == !(param->recv_attr & UCP_AM_RECV_ATTR_FIELD_REPLY_EP))
        messages_forged(&ep->messages, length);
    else if (asks)
        asked(ep, bulk, data, param->reply_ep);
    else
        answer_came(ep, &bulk, data);
    return UCS_OK;
}
