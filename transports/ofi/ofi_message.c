// SPDX-License-Identifier: BSD-3-Clause
// Active messages: sends from copies, a ring of receives, order by number, delivery.
//
// Providers that grant FI_ORDER_SAS bring a PE's messages in order; the numbers cost nothing and
// make it true everywhere. A message that comes too early is copied and held, so that receives stay
// posted for the one that is missing.
//
// How far a PE may run ahead of another is limited here, end to end: see struct ofi_header.
#include "ofi.h"

#include <stdlib.h>
#include <string.h>

int ofi_receive_post(struct ofi_ep *ep, struct ofi_op *op)
{
    void *desc = ep->ops_mr ? fi_mr_desc(ep->ops_mr) : NULL;
    long r = fi_recv(ep->ep, op->data, sizeof op->data, desc, FI_ADDR_UNSPEC, &op->context);
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

static void queue(struct ofi_ep *ep, struct ofi_op *op)
{
    op->next = NULL;
    *ep->arrived_end = op;
    ep->arrived_end = &op->next;
}

static long send_message(struct ofi_ep *ep, struct ofi_op *op, struct ofi_peer *peer,
                         enum ofi_message_kind kind, const void *payload, size_t n)
{
    struct ofi_header header = {.secret = ep->job.secret,
                                .from = (uint32_t)ep->job.me,
                                .seq = peer->out,
                                .taken = peer->taken,
                                .length = (uint16_t)n,
                                .kind = (uint16_t)kind};
    memcpy(op->data, &header, sizeof header);
    if (n)
        memcpy(op->data + sizeof header, payload, n);
    op->length = sizeof header + n;
    if (peer->pe == ep->job.me) {
        op->kind = OFI_RECEIVE;
        op->to_self = true;
        queue(ep, op);
        return 0;
    }
    void *desc = ep->ops_mr ? fi_mr_desc(ep->ops_mr) : NULL;
    long r = fi_send(ep->ep, op->data, op->length, desc, peer->addr, &op->context);
    if (r)
        return r;
    ep->sends++;
    peer->told_taken = peer->taken;
    return 0;
}

static int am_locked(struct ofi_ep *ep, int pe, const void *payload, size_t n)
{
    struct ofi_peer *peer = NULL;
    int status = 0;
    if (pe == ep->job.me)
        peer = ofi_peer_known(ep, pe);
    else
        status = ofi_peer_reach(ep, pe, &peer);
    if (status || !peer)
        return TRANSPORT_FAILED;
    if ((peer->out - peer->out_taken >= OFI_WINDOW && pe != ep->job.me) || ofi_refuse(ep))
        return TRANSPORT_AGAIN;
    struct ofi_op *op = ofi_op_take(ep, OFI_SEND);
    if (!op)
        return TRANSPORT_AGAIN;
    op->to = peer;
    long r = send_message(ep, op, peer, OFI_MESSAGE, payload, n);
    if (r == 0) {
        peer->out++;
        return TRANSPORT_DONE;
    }
    ofi_op_give(ep, op);
    return ofi_status(ep, peer, r, "a message");
}

int ofi_am(void *ep_, void *ctx, int pe, const void *payload, size_t n)
{
    (void)ctx;
    struct ofi_ep *ep = ep_;
    if (n > OFI_AM_MAX)
        return TRANSPORT_UNSUPPORTED;
    pthread_mutex_lock(&ep->lock);
    int status = am_locked(ep, pe, payload, n);
    pthread_mutex_unlock(&ep->lock);
    return status;
}

// One at a time. AGAIN: the provider or we have no room now.
int ofi_notice(struct ofi_ep *ep, struct ofi_peer *peer)
{
    struct ofi_peer *same;
    if (peer->noticing)
        return TRANSPORT_DONE;
    if (ofi_peer_reach(ep, peer->pe, &same))
        return TRANSPORT_FAILED;
    struct ofi_op *op = ofi_op_take(ep, OFI_SEND);
    if (!op)
        return TRANSPORT_AGAIN;
    op->to = peer;
    op->is_notice = true;
    long r = send_message(ep, op, peer, OFI_NOTICE, NULL, 0);
    if (r == 0) {
        peer->noticing = true;
        return TRANSPORT_DONE;
    }
    ofi_op_give(ep, op);
    return ofi_status(ep, peer, r, "a notice");
}

// The sender is told before it has to wait, unless a message of ours tells it anyway.
static void took_one(struct ofi_ep *ep, struct ofi_peer *peer)
{
    peer->taken++;
    if (peer->pe == ep->job.me || peer->lost || peer->taken - peer->told_taken < OFI_WINDOW / 2)
        return;
    if (ofi_notice(ep, peer) == TRANSPORT_AGAIN)
        ep->owes_notices = true;
}

void ofi_notices(struct ofi_ep *ep)
{
    ep->owes_notices = false;
    for (struct ofi_peer *peer = ep->peers; peer; peer = peer->next)
        if (peer->taken - peer->told_taken >= OFI_WINDOW / 2 && !peer->lost &&
            peer->pe != ep->job.me && (peer->noticing || ofi_notice(ep, peer) == TRANSPORT_AGAIN))
            ep->owes_notices = true;
}

// What carried a message is free again.
static void dispose(struct ofi_ep *ep, struct ofi_op *op)
{
    if (op->from_heap)
        free(op);
    else if (op->to_self)
        ofi_op_give(ep, op);
    else
        ofi_receive_post(ep, op);
}

static struct ofi_header header_of(const struct ofi_op *op)
{
    struct ofi_header header;
    memcpy(&header, op->data, sizeof header);
    return header;
}

static bool is_ours(struct ofi_ep *ep, const struct ofi_op *op)
{
    struct ofi_header header;
    if (op->length < sizeof header || op->length > sizeof op->data)
        return false;
    header = header_of(op);
    return header.secret == ep->job.secret && header.from < (uint32_t)ep->job.npes &&
           header.length == op->length - sizeof header && header.kind < OFI_MESSAGE_KINDS;
}

void ofi_forged(struct ofi_ep *ep, size_t length)
{
    enum log_level level = ep->told_forged ? LOG_DEBUG : LOG_WARN;
    ep->told_forged = true;
    ofi_log(ep, level, "a message of %zu bytes that is not of this job was dropped%s", length,
            level == LOG_WARN ? " (further ones are told at level debug)" : "");
}

static struct ofi_op *copy_to_heap(const struct ofi_op *op)
{
    struct ofi_op *copy = malloc(sizeof *copy);
    if (!copy)
        return NULL;
    memcpy(copy, op, offsetof(struct ofi_op, data) + op->length);
    copy->from_heap = true;
    copy->counted = false;
    return copy;
}

static void hold(struct ofi_ep *ep, struct ofi_peer *peer, struct ofi_op *op, uint32_t seq)
{
    struct ofi_op *copy = copy_to_heap(op);
    if (!copy) {
        ofi_peer_lose(ep, peer, "no memory for its messages");
        return;
    }
    struct ofi_op **at = &peer->held;
    while (*at && (int32_t)(header_of(*at).seq - seq) < 0)
        at = &(*at)->next;
    copy->next = *at;
    *at = copy;
}

// A receive is complete: to the queue in the order of its sender, or dropped.
void ofi_arrived(struct ofi_ep *ep, struct ofi_op *op)
{
    struct ofi_header header;
    struct ofi_peer *peer = NULL;
    if (is_ours(ep, op)) {
        header = header_of(op);
        peer = ofi_peer_known(ep, (int)header.from);
    } else {
        ofi_forged(ep, op->length);
    }
    // What it took is between what we knew and what we sent, or it is old news.
    if (peer && header.taken - peer->out_taken <= peer->out - peer->out_taken)
        peer->out_taken = header.taken;
    int32_t early = peer ? (int32_t)(header.seq - peer->in) : -1;
    if (!peer || header.kind == OFI_NOTICE || early < 0) {
        dispose(ep, op);
        return;
    }
    if (early > 0) {
        hold(ep, peer, op, header.seq);
        dispose(ep, op);
        return;
    }
    peer->in++;
    queue(ep, op);
    while (peer->held && header_of(peer->held).seq == peer->in) {
        struct ofi_op *next = peer->held;
        peer->held = next->next;
        peer->in++;
        queue(ep, next);
    }
}

// False while another thread is in an upcall: messages of one PE must not overtake each other. The
// caller takes one from depth when it is done.
bool ofi_upcall_begin(struct ofi_ep *ep)
{
    if (ep->depth && !pthread_equal(ep->upcaller, pthread_self()))
        return false;
    ep->upcaller = pthread_self();
    ep->depth++;
    return true;
}

static void deliver_one(struct ofi_ep *ep)
{
    struct ofi_op *op = ep->arrived;
    ep->arrived = op->next;
    if (!ep->arrived)
        ep->arrived_end = &ep->arrived;
    struct ofi_header header = header_of(op);
    if (!op->counted)
        took_one(ep, ep->peer[header.from]);
    pthread_mutex_unlock(&ep->lock);
    if (ep->job.on_am)
        ep->job.on_am(ep->job.upcall_arg, (int)header.from, op->data + sizeof header,
                      header.length);
    pthread_mutex_lock(&ep->lock);
    dispose(ep, op);
}

// Upcalls are as deep inside each other as they may be, and the innermost waits, perhaps for us:
// what came is copied and counts as taken, so that receives stay posted and senders go on.
static void keep_arrived(struct ofi_ep *ep)
{
    for (struct ofi_op **at = &ep->arrived; *at; at = &(*at)->next) {
        struct ofi_op *op = *at;
        if (!op->from_heap) {
            struct ofi_op *copy = copy_to_heap(op);
            if (!copy)
                return;
            *at = copy;
            if (!copy->next)
                ep->arrived_end = &copy->next;
            dispose(ep, op);
        }
        if (!(*at)->counted) {
            (*at)->counted = true;
            took_one(ep, ep->peer[header_of(*at).from]);
        }
    }
}

// One at a time, so that a progress inside an upcall goes on with the next one. Not without end,
// so that a message to oneself sent from each upcall does not keep the caller for ever.
int ofi_deliver(struct ofi_ep *ep)
{
    int n = 0;
    if (!ep->arrived || !ofi_upcall_begin(ep))
        return 0;
    if (ep->depth > OFI_DEPTH)
        keep_arrived(ep);
    for (; ep->arrived && n < OFI_OPS && ep->depth <= OFI_DEPTH; n++)
        deliver_one(ep);
    ep->depth--;
    return n;
}

// Messages nobody will take any more; the rest of them is in the array.
void ofi_messages_free(struct ofi_ep *ep)
{
    for (struct ofi_op *op = ep->arrived, *next; op; op = next) {
        next = op->next;
        if (op->from_heap)
            free(op);
    }
    ep->arrived = NULL;
}
