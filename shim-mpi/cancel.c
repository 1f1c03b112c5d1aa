// SPDX-License-Identifier: BSD-3-Clause
// MPI_Cancel: of a receive that is still queued; of a send that is still unexpected at its receiver.
#include "arrive.h"
#include "hint.h"
#include "partner.h"

static void cancel_recv(struct transfer *t)
{
    struct matching *m = t->request.comm->matching[t->space];
    shim_lock_take(&m->lock);
    bool is_queued = t->posted.is_queued && hint_withdraw(t);
    if (is_queued)
        match_withdraw(m, &t->posted);
    shim_lock_give(&m->lock);
    if (!is_queued)
        return;
    t->request.is_cancelled = true;
    request_complete(&t->request);
}

int transfer_cancel(struct request *r)
{
    struct transfer *t = (struct transfer *)r;
    uint64_t sender = (uintptr_t)t;
    if (request_is_done(r))
        return MPI_SUCCESS;
    if (r->kind == REQUEST_RECV)
        cancel_recv(t);
    else
        transfer_tell(t->pe, AM_CANCEL, address_of(r->comm, t->space, t->tag), &sender,
                      sizeof sender);
    return MPI_SUCCESS;
}

void cancel_arrived(const shoal_am_t *am)
{
    uint64_t sender;
    memcpy(&sender, am->payload, sizeof sender);
    struct arrived *a = arrive_withdraw(am->arg, am->from, sender);
    if (!a)
        return;
    if (a->kind == ARRIVED_SYNC && a->bytes != ARRIVED_TOLD)
        partner_took(partner_of(am->from), am->from, a->bytes);
    arrive_end(a);
    transfer_tell(am->from, AM_CANCELLED, sender, NULL, 0);
}

static void on_cancelled(const shoal_am_t *am)
{
    struct transfer *t = transfer_back(am->arg);
    t->request.is_cancelled = true;
    transfer_end_send(t);
}

int cancel_up(void)
{
    int status = shoal_am_register(AM_CANCEL, cancel_arrived, NULL);
    return status ? status : shoal_am_register(AM_CANCELLED, on_cancelled, NULL);
}
