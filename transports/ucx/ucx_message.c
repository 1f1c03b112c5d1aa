// SPDX-License-Identifier: BSD-3-Clause
// Active messages over UCX's own: eager, and taken out of UCX's memory at once; see messages.h.
#include "ucx.h"

static int send_message(void *ep_, struct messages_peer *to, enum message_kind kind,
                        const struct transport_payload *payload)
{
    struct ucx_ep *ep = ep_;
    struct ucx_peer *peer = ucx_peer_of(to);
    // A peer that has left needs no notice: that is no loss.
    if (kind == MESSAGE_NOTICE && peer->broken) {
        to->noticing = false;
        return TRANSPORT_DONE;
    }
    if (ucx_peer_reach(ep, to->pe, &peer))
        return TRANSPORT_FAILED;
    struct ucx_op *op = kind == MESSAGE_USER && ucx_refuse(ep) ? NULL : ucx_op_take(ep, UCX_SEND);
    if (!op)
        return TRANSPORT_AGAIN;
    size_t length = messages_write(&ep->messages, to, kind, payload, op->data);
    ucp_request_param_t param = ucx_param(op);
    param.op_attr_mask |= UCP_OP_ATTR_FIELD_FLAGS;
    param.flags = UCP_AM_SEND_FLAG_EAGER;
    void *pointer = ucp_am_send_nbx(peer->ep, UCX_AM_ID, NULL, 0, op->data, length, &param);
    if (UCS_PTR_IS_PTR(pointer)) {
        op->at_ucx = true;
        op->to = peer;
        op->is_notice = kind == MESSAGE_NOTICE;
        ep->sends++;
        return TRANSPORT_DONE;
    }
    if (kind == MESSAGE_NOTICE)
        to->noticing = false;
    return ucx_op_begun(ep, op, peer, NULL, NULL, pointer);
}

int ucx_am(void *ep_, void *ctx, int pe, const struct transport_payload *payload)
{
    (void)ctx;
    struct ucx_ep *ep = ep_;
    if (transport_payload_size(payload) > MESSAGE_SOON)
        return TRANSPORT_UNSUPPORTED;
    pthread_mutex_lock(&ep->lock);
    int status = messages_send(&ep->messages, pe, payload);
    pthread_mutex_unlock(&ep->lock);
    return status;
}

// UCX calls it in progress. A message of ours has no header of UCX's and comes whole.
static ucs_status_t came(void *ep_, const void *header, size_t header_length, void *data,
                         size_t length, const ucp_am_recv_param_t *param)
{
    struct ucx_ep *ep = ep_;
    if (header_length)
        return ucx_bulk_came(ep, header, header_length, data, length, param);
    if (length > MESSAGE_BYTES_SOON || param->recv_attr & UCP_AM_RECV_ATTR_FLAG_RNDV) {
        messages_forged(&ep->messages, length);
        return UCS_OK;
    }
    struct message *copy = messages_copy(data, length);
    if (copy)
        messages_arrived(&ep->messages, copy);
    else
        ucx_log(ep, LOG_ERROR, "no memory for a message of %zu bytes", length);
    return UCS_OK;
}

static struct messages_peer *peer_known(void *ep, int pe)
{
    struct ucx_peer *peer = ucx_peer_known(ep, pe);
    return peer ? &peer->m : NULL;
}

void ucx_messages_open(struct ucx_ep *ep)
{
    ep->messages = (struct messages){.name = "ucx",
                                     .job = &ep->job,
                                     .lock = &ep->lock,
                                     .ep = ep,
                                     .peer = peer_known,
                                     .send = send_message,
                                     .abandon = ucx_abandon};
    messages_open(&ep->messages);
}

ucs_status_t ucx_messages_listen(struct ucx_ep *ep)
{
    ucp_am_handler_param_t param = {
        .field_mask = UCP_AM_HANDLER_PARAM_FIELD_ID | UCP_AM_HANDLER_PARAM_FIELD_FLAGS |
                      UCP_AM_HANDLER_PARAM_FIELD_CB | UCP_AM_HANDLER_PARAM_FIELD_ARG,
        .id = UCX_AM_ID,
        .flags = UCP_AM_FLAG_WHOLE_MSG,
        .cb = came,
        .arg = ep};
    return ucp_worker_set_am_recv_handler(ep->worker, &param);
}
