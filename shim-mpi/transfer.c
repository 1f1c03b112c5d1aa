// SPDX-License-Identifier: BSD-3-Clause
// Sending and receiving: which mover a message takes. See transfer.h.
#include "transfer.h"

#include "arrive.h"
#include "hint.h"
#include "outbox.h"
#include "rma_ask.h"
#include "win.h"

#include <stdlib.h>

void *transfer_memory(size_t n)
{
    void *p = malloc(n ? n : 1);
    if (!p)
        shim_fatal("no memory for a message of %zu bytes", n);
    return p;
}

void transfer_check(int pe, int status)
{
    if (unlikely(status))
        shim_fatal("a message to PE %d: %s", pe, shoal_strerror(status));
}

// Envelopes, and what may not be overtaken by them: a cancel names its message by the address of a
// request, which the next one may have. What answers them is not ordered with them, and its handler may
// not run within what sent the question.
bool transfer_to_self(int id, uint64_t address, const void *payload, size_t n)
{
    shoal_am_t am = {.from = shim_pe(), .id = id, .arg = address, .payload = payload, .n = n};
    switch (id) {
    case AM_EAGER: eager_arrived(&am); return true;
    case AM_SYNC: eager_arrived_sync(&am); return true;
    case AM_RTS: pull_arrived(&am); return true;
    case AM_CANCEL: cancel_arrived(&am); return true;
    default: return false;
    }
}

bool transfer_try(int pe, int id, uint64_t arg, const void *payload, size_t n)
{
    if (pe == shim_pe() && transfer_to_self(id, arg, payload, n))
        return true;
    int status = shoal_am_try(pe, id, arg, payload, n);
    if (unlikely(status == SHOAL_EAGAIN))
        return false;
    transfer_check(pe, status);
    return true;
}

void transfer_tell(int pe, int id, uint64_t arg, const void *payload, size_t n)
{
    if (outbox_is_used(pe) || !transfer_try(pe, id, arg, payload, n))
        outbox_put_copy(pe, id, arg, payload, n);
}

// ---- Sending
void transfer_send_later(struct transfer *t)
{
    if (!eager_send_later(t))
        pull_send(t);
}

void transfer_send(struct transfer *t)
{
    if (t->mode == SEND_SYNCHRONOUS) {
        if (!eager_send_sync(t))
            pull_send(t);
    } else if (!transfer_is_kept(t->space, partner_of(t->pe), t->bytes) &&
               p2p_send_now(t->request.comm, t->space, t->buf, t->count, t->type, t->pe, t->tag,
                            LEAVE_NOW)) {
        request_complete(&t->request);
    } else {
        transfer_send_later(t);
    }
}

// ---- Receiving
void transfer_accept_rts(struct transfer *t, struct match_key key, const struct rts *rts)
{
    transfer_describe(t, key, rts->bytes);
    switch (rts->how) {
    case RTS_NOWHERE: stream_accept(t, rts); break;
    case RTS_PLACE: pull_accept(t, rts); break;
    case RTS_STAGE: stage_accept(t, rts); break;
    }
}

// It came before its receive: most likely its sender is ahead and waits for a message from here, which a
// nonblocking receive does not hold up by copying.
static void accept_early(struct transfer *t, struct match_key key, const struct rts *rts)
{
    if (rts->how != RTS_STAGE || !t->request.is_held) {
        transfer_accept_rts(t, key, rts);
        return;
    }
    transfer_describe(t, key, rts->bytes);
    stage_accept_later(t, rts);
}

void transfer_accept(struct transfer *t, struct arrived *a)
{
    switch (a->kind) {
    case ARRIVED_EAGER: eager_accept(t, a->key, a->data, a->bytes); break;
    case ARRIVED_SYNC: eager_accept_sync(t, a->key, a->data, a->bytes, a->rts.sender); break;
    case ARRIVED_RTS: accept_early(t, a->key, &a->rts); break;
    }
    arrive_end(a);
}

// ---- Life
int transfer_up(void)
{
    static int (*const up[])(void) = {partner_up, eager_up,  pull_up,    stream_up,  split_up,
                                      hint_up,    cancel_up, rma_ask_up, win_word_up};
    int status = 0;
    for (size_t i = 0; i < ARRAY_LEN(up) && !status; i++)
        status = up[i]();
    return status;
}

void transfer_down(void)
{
    stage_down();
    split_down();
    arrive_down();
}
