// SPDX-License-Identifier: BSD-3-Clause
// Collective calls: the three forms in which each is run. See coll.h.
#include "coll.h"

#include "check.h"
#include "coll_lane.h"
#include "info.h"

// ---- Which algorithms
void coll_build(struct schedule *s, const struct coll_call *c)
{
    s->op = c->op;
    if (coll_is_of_neighbors(c)) {
        coll_neighbor(s, c);
        return;
    }
    if (comm_is_inter(c->comm)) {
        coll_inter(s, c);
        return;
    }
    switch (c->kind) {
    case COLL_BARRIER: coll_barrier(s, c); break;
    case COLL_BCAST: coll_bcast(s, c); break;
    case COLL_GATHER:
    case COLL_GATHERV: coll_gather(s, c); break;
    case COLL_SCATTER:
    case COLL_SCATTERV: coll_scatter(s, c); break;
    case COLL_ALLGATHER:
    case COLL_ALLGATHERV: coll_allgather(s, c); break;
    case COLL_REDUCE: coll_reduce(s, c); break;
    case COLL_ALLREDUCE: coll_allreduce(s, c); break;
    case COLL_REDUCE_SCATTER:
    case COLL_REDUCE_SCATTER_BLOCK: coll_reduce_scatter(s, c); break;
    case COLL_SCAN:
    case COLL_EXSCAN: coll_scan(s, c); break;
    default: coll_alltoall(s, c); break;
    }
}

// ---- Forms
static int result(const struct coll_call *c, int error)
{
    if (likely(!error))
        return MPI_SUCCESS;
    return raise_on(c->comm, error, c->name, "%s",
                    error == MPI_ERR_TRUNCATE ? "a part was longer than its receiver expected"
                    : error == MPI_ERR_NO_MEM ? "no memory for copies of all that its elements span"
                                              : "a message of it did not go through");
}

static int no_memory(const struct coll_call *c, size_t lacks)
{
    return raise_on(c->comm, MPI_ERR_NO_MEM, c->name,
                    "no memory for a copy of %zu bytes, which its elements span", lacks);
}

static int run_messages(const struct coll_call *c, size_t *lacks)
{
    struct schedule s;
    s.request.error = MPI_SUCCESS;
    schedule_init(&s, c->comm, coll_tag(c));
    s.waits = true;
    coll_build(&s, c);
    int error = schedule_run(&s);
    *lacks = s.lacks;
    schedule_free(&s);
    return error;
}

int coll_messages(const struct coll_call *c)
{
    size_t lacks;
    return run_messages(c, &lacks);
}

static bool is_alone(const struct coll_call *c)
{
    return c->size == 1 && !comm_is_inter(c->comm) && !coll_is_of_neighbors(c);
}

// Of one process: it gets what it gives.
static void run_alone(const struct coll_call *c)
{
    bool gets = c->kind != COLL_BARRIER && c->kind != COLL_BCAST && c->kind != COLL_EXSCAN;
    if (!gets || side_in_place(&c->send) || side_in_place(&c->recv))
        return;
    struct block to = coll_block(&c->recv, 0);
    if (c->kind == COLL_REDUCE_SCATTER)
        to.count = number_at(&c->recv.counts, 0);
    struct block from = c->op ? (struct block){c->send.buf, to.count, to.type}
                              : coll_block(&c->send, 0);
    if (to.count && from.count)
        type_copy(to.type, to.buf, to.count, from.type, from.buf, from.count);
}

int coll_blocking(struct coll_call *c)
{
    int error = coll_check(c);
    size_t lacks = 0;
    if (error)
        return error;
    if (is_alone(c)) {
        run_alone(c);
        return MPI_SUCCESS;
    }
    if (!coll_bcast_now(c, &error) && !coll_team_run(c, &error) && !coll_lane_run(c, &error) &&
        !coll_scatter_now(c, &error))
        error = run_messages(c, &lacks);
    return lacks ? no_memory(c, lacks) : result(c, error);
}

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
    struct coll_request *q = request_new(sizeof *q, REQUEST_COLL, c->comm, &coll_class);
    q->schedule.steps = q->schedule.first;
    q->call = *c;
    q->tag = tag;
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
        error = no_memory(c, q->schedule.lacks);
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
