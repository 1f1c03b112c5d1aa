// SPDX-License-Identifier: BSD-3-Clause
// The forms of collective calls that have a request: nonblocking and persistent. See coll.h.
#include "check.h"
#include "coll.h"
#include "coll_lane.h"
#include "info.h"

static void release(struct request *r)
{
    struct coll_request *q = (struct coll_request *)r;
    schedule_free(&q->schedule);
    coll_drop_side(&q->call.send);
    coll_drop_side(&q->call.recv);
    if (q->call.op)
        op_drop(q->call.op);
    if (q->owns_lane)
        coll_lane_end(q->lane);
}

int coll_no_cancel(struct request *r)
{
    (void)r;
    return MPI_ERR_REQUEST;
}

static void prepare(struct coll_request *q)
{
    schedule_free(&q->schedule); // of the run before
    schedule_init(&q->schedule, q->call.comm, q->tag);
    coll_build(&q->schedule, &q->call);
}

void coll_start_messages(struct coll_request *q)
{
    prepare(q);
    schedule_start(&q->schedule);
}

_Static_assert(sizeof(struct coll_request) <= REQUEST_LONG, "their memory is kept");

static int start(struct request *r)
{
    struct coll_request *q = (struct coll_request *)r;
    if (q->lane) {
        request_restart(r);
        coll_lane_start(q);
        return MPI_SUCCESS;
    }
    prepare(q);
    if (q->schedule.lacks)
        return MPI_ERR_NO_MEM;
    request_restart(r);
    schedule_start(&q->schedule);
    return MPI_SUCCESS;
}

static const struct request_class coll_class = {
    .start = start, .cancel = coll_no_cancel, .release = release};

struct coll_request *coll_request_of(const struct coll_call *c, int tag)
{
    struct coll_request *q = request_take(POOL_LONG);
    request_init(&q->schedule.request, REQUEST_COLL, c->comm, &coll_class, POOL_LONG);
    schedule_init(&q->schedule, c->comm, tag);
    q->call = *c;
    q->tag = tag;
    q->lane = NULL;
    q->owns_lane = false;
    coll_keep_side(&q->call.send, c->send.blocks);
    coll_keep_side(&q->call.recv, c->op ? c->size : c->recv.blocks);
    if (c->op)
        object_keep(c->op);
    return q;
}

struct request *coll_begin(const struct coll_call *c, int tag)
{
    struct coll_request *q = coll_request_of(c, tag);
    coll_start_messages(q);
    return &q->schedule.request;
}

static int new_request(struct coll_call *c, MPI_Info info, const MPI_Request *request, bool lasts,
                       struct coll_request **made)
{
    int error = coll_check(c);
    if (!error)
        error = info_check(info, c->comm, c->name, NULL);
    if (!error)
        error = check_pointer(c->name, c->comm, "request", request);
    if (!error)
        *made = coll_request_of(c, lasts ? comm_lasting_tag(c->comm) : coll_tag(c));
    return error;
}

int coll_nonblocking(struct coll_call *c, MPI_Request *request)
{
    struct coll_request *q;
    int error = new_request(c, MPI_INFO_NULL, request, false, &q);
    if (error)
        return error;
    coll_lane_join(q);
    error = start(&q->schedule.request);
    if (error) {
        error = coll_no_memory(c, q->schedule.lacks);
        request_drop(&q->schedule.request);
        return error;
    }
    *request = object_handle(q);
    return MPI_SUCCESS;
}

int coll_persistent(struct coll_call *c, MPI_Info info, MPI_Request *request)
{
    struct coll_request *q;
    int error = new_request(c, info, request, true, &q);
    if (error)
        return error;
    coll_lane_make(q);
    q->schedule.request.is_persistent = true;
    q->schedule.request.is_active = false;
    *request = object_handle(q);
    return MPI_SUCCESS;
}
