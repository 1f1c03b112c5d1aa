// SPDX-License-Identifier: BSD-3-Clause
// Active messages over libfabric: sends from copies and a ring of receives; see messages.h.
#include "ofi.h"

int ofi_receive_post(struct ofi_ep *ep, struct ofi_op *op)
{
    void *desc = ep->ops_mr ? fi_mr_desc(ep->ops_mr) : NULL;
    long r = fi_recv(ep->ep, op->data, ofi_data_size(ep), desc, FI_ADDR_UNSPEC, &op->context);
    if (r == -FI_EAGAIN) {
        ofi_retry_later(ep, op);
        return 0;
    }
    if (r)
        ofi_log(ep, LOG_ERROR, "posting a receive: %s", fi_strerror((int)-r));
    return r ? TRANSPORT_FAILED : 0;
}

int ofi_receives_post(struct ofi_ep *ep)
{
    for (int i = 0; i < OFI_RECEIVES; i++) {
        struct ofi_op *op = ofi_op_take(ep, OFI_RECEIVE);
        if (!op || ofi_receive_post(ep, op))
            return TRANSPORT_FAILED;
    }
    return 0;
}

static int send_message(void *ep_, struct messages_peer *to, enum message_kind kind,
                        const struct transport_payload *payload)
{
    struct ofi_ep *ep = ep_;
    struct ofi_peer *peer;
    if (ofi_peer_reach(ep, to->pe, &peer))
        return TRANSPORT_FAILED;
    struct ofi_op *op = kind == MESSAGE_USER && ofi_refuse(ep) ? NULL : ofi_op_take(ep, OFI_SEND);
    if (!op)
        return TRANSPORT_AGAIN;
    op->to = peer;
    op->is_notice = kind == MESSAGE_NOTICE;
    size_t length = messages_write(&ep->messages, to, kind, payload, op->data);
    void *desc = ep->ops_mr ? fi_mr_desc(ep->ops_mr) : NULL;
    long r = fi_send(ep->ep, op->data, length, desc, peer->addr, &op->context);
    if (r == 0) {
        ep->sends++;
        return TRANSPORT_DONE;
    }
    ofi_op_give(ep, op);
    return ofi_status(ep, peer, r, "a message");
}

int ofi_am(void *ep_, void *ctx, int pe, const struct transport_payload *payload)
{
    (void)ctx;
    struct ofi_ep *ep = ep_;
    if (transport_payload_size(payload) > ep->am_max)
        return TRANSPORT_UNSUPPORTED;
    pthread_mutex_lock(&ep->lock);
    int status = messages_send(&ep->messages, pe, payload);
    pthread_mutex_unlock(&ep->lock);
    return status;
}

static struct messages_peer *peer_known(void *ep, int pe)
{
    struct ofi_peer *peer = ofi_peer_known(ep, pe);
    return peer ? &peer->m : NULL;
}

// The receive is posted again.
static void give_back(void *ep, struct message *message)
{
    ofi_receive_post(ep, (struct ofi_op *)((char *)message - offsetof(struct ofi_op, message)));
}

void ofi_messages_open(struct ofi_ep *ep)
{
    ep->messages = (struct messages){.name = "ofi",
                                     .job = &ep->job,
                                     .lock = &ep->lock,
                                     .ep = ep,
                                     .peer = peer_known,
                                     .send = send_message,
                                     .give_back = give_back,
                                     .abandon = ofi_abandon};
    messages_open(&ep->messages);
}
