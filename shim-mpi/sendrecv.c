// SPDX-License-Identifier: BSD-3-Clause
// MPI 5.0, "Send-Receive". The nonblocking forms are one request over two.
#include "check.h"
#include "coll.h"
#include "p2p.h"
#include "way.h"

#include <stdlib.h>

struct pair {
    struct request request; // first
    struct request *part[2];
    _Atomic int left;
    void *copy; // of what _replace sends
};

struct exchange {
    const void *sendbuf;
    MPI_Count sendcount;
    MPI_Datatype sendtype;
    int dest, sendtag;
    void *recvbuf;
    MPI_Count recvcount;
    MPI_Datatype recvtype;
    int source, recvtag;
    struct comm *comm;
    struct type *stype, *rtype;
    void *copy;
};

static int check(const char *call, struct exchange *x, MPI_Comm handle)
{
    int error = check_comm(call, handle, &x->comm);
    if (!error)
        error = check_message(call, x->comm, x->dest, x->sendbuf, x->sendcount, x->sendtype,
                              &x->stype);
    if (!error)
        error = check_message(call, x->comm, x->source, x->recvbuf, x->recvcount, x->recvtype,
                              &x->rtype);
    if (!error)
        error = check_rank(call, x->comm, x->dest);
    if (!error)
        error = check_source(call, x->comm, x->source);
    if (!error)
        error = check_tag(call, x->comm, x->sendtag);
    return error ? error : check_any_tag(call, x->comm, x->recvtag);
}

// One part is done; the second to come completes the whole with what the receive says.
static void part_done(struct request *part, void *arg)
{
    struct pair *p = arg;
    (void)part;
    if (object_count(&p->left, -1) == 1)
        request_complete(&p->request);
}

static int finish(struct request *r)
{
    struct pair *p = (struct pair *)r;
    if (p->part[0]->class->finish)
        p->part[0]->class->finish(p->part[0]);
    r->source = p->part[1]->source;
    r->tag = p->part[1]->tag;
    r->bytes = p->part[1]->bytes;
    r->error = p->part[1]->error ? p->part[1]->error : p->part[0]->error;
    return r->error;
}

static void release(struct request *r)
{
    struct pair *p = (struct pair *)r;
    request_drop(p->part[0]);
    request_drop(p->part[1]);
    free(p->copy);
}

// Where one half is cancelled and the other is not there is nothing to say of the whole.
static const struct request_class pair_class = {
    .cancel = coll_no_cancel, .finish = finish, .release = release};

static struct request *start_pair(struct exchange *x)
{
    struct pair *p = request_new(sizeof *p, REQUEST_PLAIN, x->comm, &pair_class);
    p->copy = x->copy;
    p->left = 2;
    p->request.is_held = true;
    request_keep(&p->request);
    p->part[1] = p2p_irecv(x->comm, SPACE_P2P, x->recvbuf, x->recvcount, x->rtype, x->source,
                           x->recvtag);
    p->part[0] = p2p_isend(x->comm, SPACE_P2P, x->sendbuf, x->sendcount, x->stype, x->dest,
                           x->sendtag, SEND_STANDARD);
    request_then(p->part[0], part_done, p);
    request_then(p->part[1], part_done, p);
    return &p->request;
}

// In place: what is sent is copied first.
static int copy_out(const char *call, struct exchange *x)
{
    MPI_Count n = x->dest == MPI_PROC_NULL ? 0 : x->sendcount * x->stype->size;
    x->copy = malloc(n ? (size_t)n : 1);
    if (!x->copy)
        return raise_on(x->comm, MPI_ERR_NO_MEM, call, "no memory for a copy of %lld bytes",
                        (long long)n);
    if (n)
        type_pack(x->stype, x->sendbuf, x->sendcount, 0, x->copy, (size_t)n);
    x->sendbuf = x->copy;
    x->sendcount = n;
    x->stype = type_of(MPI_BYTE);
    return MPI_SUCCESS;
}

// The receive is posted first where it may be that its source is told of it (hint.h), where the data may stay
// where it is, and where it is for what goes to this rank itself, which is copied once then.
static bool is_posted_first(const struct exchange *x)
{
    if (x->dest == x->source && x->dest == x->comm->rank)
        return true;
    uint64_t out = x->dest == MPI_PROC_NULL ? 0 : (uint64_t)(x->sendcount * x->stype->size);
    uint64_t in = x->source == MPI_PROC_NULL ? 0 : (uint64_t)(x->recvcount * x->rtype->size);
    return way_is_long(out > in ? out : in);
}

// Does it go without a request, and without waiting for room? Then what is left is a receive.
static bool is_sent(const struct exchange *x)
{
    return x->dest == MPI_PROC_NULL ||
           p2p_send_now(x->comm, SPACE_P2P, x->sendbuf, x->sendcount, x->stype,
                        group_pe(x->comm->peers, x->dest), x->sendtag, LEAVE_NOW);
}

static int send_and_receive(const struct exchange *x, MPI_Status *status)
{
    bool is_sent_first = likely(!is_posted_first(x));
    if (is_sent_first && likely(is_sent(x)))
        return p2p_recv(x->comm, SPACE_P2P, x->recvbuf, x->recvcount, x->rtype, x->source,
                        x->recvtag, status);
    struct request *r = p2p_irecv(x->comm, SPACE_P2P, x->recvbuf, x->recvcount, x->rtype, x->source,
                                  x->recvtag);
    MPI_Request handle;
    int sent = (is_sent_first ? p2p_send_later : p2p_send)(
        x->comm, SPACE_P2P, x->sendbuf, x->sendcount, x->stype, x->dest, x->sendtag, SEND_STANDARD);
    p2p_wait(r);
    int error = request_collect(r, &handle, status);
    return error ? error : sent;
}

static int sendrecv(const char *call, struct exchange *x, MPI_Comm comm, bool replace,
                    MPI_Status *status)
{
    int error = check(call, x, comm);
    if (!error && replace)
        error = copy_out(call, x);
    if (error)
        return error;
    error = send_and_receive(x, status);
    free(x->copy);
    return error ? raise_on_message(x->comm, error, call, x->source, x->recvtag) : MPI_SUCCESS;
}

static int isendrecv(const char *call, struct exchange *x, MPI_Comm comm, bool replace,
                     MPI_Request *request)
{
    int error = check(call, x, comm);
    if (!error)
        error = check_pointer(call, x->comm, "request", request);
    if (!error && replace)
        error = copy_out(call, x);
    if (!error)
        *request = object_handle(start_pair(x));
    return error;
}

#define EXCHANGE                                                                           \
    &(struct exchange)                                                                     \
    {                                                                                      \
        sendbuf, sendcount, sendtype, dest, sendtag, recvbuf, recvcount, recvtype, source, \
            recvtag, NULL, NULL, NULL, NULL                                                \
    }
#define EXCHANGE_IN_PLACE                                                                       \
    &(struct exchange)                                                                          \
    {                                                                                           \
        buf, count, datatype, dest, sendtag, buf, count, datatype, source, recvtag, NULL, NULL, \
            NULL, NULL                                                                          \
    }

#define SENDRECVS(SENDRECV, ISENDRECV, REPLACE, IREPLACE, COUNT)                                   \
    MPI_DEFINE(int, SENDRECV, const void *sendbuf, COUNT sendcount, MPI_Datatype sendtype,         \
               int dest, int sendtag, void *recvbuf, COUNT recvcount, MPI_Datatype recvtype,       \
               int source, int recvtag, MPI_Comm comm, MPI_Status *status)                         \
    {                                                                                              \
        return sendrecv("MPI_" #SENDRECV, EXCHANGE, comm, false, status);                          \
    }                                                                                              \
    MPI_DEFINE(int, ISENDRECV, const void *sendbuf, COUNT sendcount, MPI_Datatype sendtype,        \
               int dest, int sendtag, void *recvbuf, COUNT recvcount, MPI_Datatype recvtype,       \
               int source, int recvtag, MPI_Comm comm, MPI_Request *request)                       \
    {                                                                                              \
        return isendrecv("MPI_" #ISENDRECV, EXCHANGE, comm, false, request);                       \
    }                                                                                              \
    MPI_DEFINE(int, REPLACE, void *buf, COUNT count, MPI_Datatype datatype, int dest, int sendtag, \
               int source, int recvtag, MPI_Comm comm, MPI_Status *status)                         \
    {                                                                                              \
        return sendrecv("MPI_" #REPLACE, EXCHANGE_IN_PLACE, comm, true, status);                   \
    }                                                                                              \
    MPI_DEFINE(int, IREPLACE, void *buf, COUNT count, MPI_Datatype datatype, int dest,             \
               int sendtag, int source, int recvtag, MPI_Comm comm, MPI_Request *request)          \
    {                                                                                              \
        return isendrecv("MPI_" #IREPLACE, EXCHANGE_IN_PLACE, comm, true, request);                \
    }

SENDRECVS(Sendrecv, Isendrecv, Sendrecv_replace, Isendrecv_replace, int)
SENDRECVS(Sendrecv_c, Isendrecv_c, Sendrecv_replace_c, Isendrecv_replace_c, MPI_Count)
