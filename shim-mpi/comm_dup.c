// SPDX-License-Identifier: BSD-3-Clause
// Duplicates of communicators. The new context goes down a binomial tree; each process passes it on
// in its progress, so that the nonblocking call needs no waiting and the blocking one is that call
// and a wait. An intercommunicator has two trees, one on each side; the low side's first process
// tells the high side's, and each side has a context of its own for its local communicator.
#include "agree.h"
#include "attr.h"
#include "check.h"
#include "coll.h"
#include "info.h"
#include "p2p.h"
#include "topo.h"

#include <limits.h>

struct contexts {
    uint32_t all, local; // local: of the own side of an intercommunicator
};

struct duplication {
    struct request request; // first
    struct progress_hook hook;
    struct comm *old, *new, *tree; // tree: the old one, or its own side
    int tag;
    bool is_sending;
    struct contexts contexts;
    int pending;
    struct request *message[sizeof(int) * CHAR_BIT + 1];
};

static MPI_Count size(void)
{
    return sizeof(struct contexts);
}

static void send(struct duplication *d, struct comm *comm, int rank)
{
    d->message[d->pending++] = p2p_isend(comm, SPACE_COLL, &d->contexts, size(), type_of(MPI_BYTE),
                                         rank, d->tag, SEND_STANDARD);
}

static void receive(struct duplication *d, struct comm *comm, int rank)
{
    d->message[d->pending++] = p2p_irecv(comm, SPACE_COLL, &d->contexts, size(), type_of(MPI_BYTE),
                                         rank, d->tag);
}

// What comes first here: nothing where the context is made, else the message that brings it.
static void start(struct duplication *d)
{
    int me = d->tree->rank, bit = 1;
    bool is_giver = me == 0 && (!comm_is_inter(d->old) || d->old->is_low);
    if (is_giver)
        d->contexts.all = comm_new_context();
    else if (me == 0)
        receive(d, d->old, 0);
    else {
        while (bit <= me)
            bit *= 2;
        receive(d, d->tree, me - bit / 2);
    }
}

static void pass_on(struct duplication *d)
{
    int me = d->tree->rank, bit = 1;
    if (me == 0 && comm_is_inter(d->old)) {
        if (d->old->is_low)
            send(d, d->old, 0);
        d->contexts.local = comm_new_context();
    }
    while (bit <= me)
        bit *= 2;
    for (; me + bit < d->tree->group->size; bit *= 2)
        send(d, d->tree, me + bit);
}

static void publish(struct duplication *d)
{
    int error = d->new->local ? comm_publish(d->new->local, d->contexts.local) : MPI_SUCCESS;
    if (!error)
        error = comm_publish(d->new, d->contexts.all);
    if (error)
        d->request.error = error;
}

// True when the messages that were started are done.
static bool is_through(struct duplication *d)
{
    while (d->pending > 0 && request_is_done(d->message[d->pending - 1])) {
        struct request *r = d->message[--d->pending];
        if (r->error)
            d->request.error = r->error;
        request_drop(r);
    }
    return d->pending == 0;
}

static bool advance(struct progress_hook *hook)
{
    struct duplication *d = (void *)((char *)hook - offsetof(struct duplication, hook));
    if (!is_through(d))
        return false;
    if (!d->is_sending) {
        d->is_sending = true;
        pass_on(d);
        if (!is_through(d))
            return true;
    }
    publish(d);
    progress_remove(hook);
    request_complete(&d->request);
    return true;
}

static void release(struct request *r)
{
    comm_free(((struct duplication *)r)->new);
}

static const struct request_class duplication_class = {.cancel = coll_no_cancel,
                                                       .release = release};

// ---- The new communicator as far as it goes without the others
static struct comm *copy(struct comm *old)
{
    struct comm *new = comm_make(old->group, old->remote);
    if (!new)
        return NULL;
    new->is_low = old->is_low;
    new->topology = old->topology;
    topology_keep(new->topology);
    if (comm_is_inter(old) && !(new->local = comm_make(old->group, NULL))) {
        comm_free(new);
        return NULL;
    }
    return new;
}

// With hints: those, else none (MPI 5.0: duplicates do not inherit hints).
static int prepare(struct comm *old, MPI_Comm handle, MPI_Info hints, const char *call,
                   struct comm **out)
{
    struct info *info;
    int error = info_check(hints, old, call, &info);
    if (error)
        return error;
    struct comm *new = copy(old);
    if (!new || comm_set_hints(new, info)) {
        comm_free(new);
        return raise_on(old, MPI_ERR_NO_MEM, call, "no memory for a communicator");
    }
    error = attributes_copy(OBJECT_COMM, handle, &old->attributes, &new->attributes);
    if (error) {
        comm_free(new);
        return raise_on(old, error, call, "the copy function of an attribute failed");
    }
    *out = new;
    return MPI_SUCCESS;
}

static struct duplication *duplicate(struct comm *old, struct comm *new)
{
    struct duplication *d = request_new(sizeof *d, REQUEST_COLL, old, &duplication_class);
    d->old = old;
    d->new = new;
    object_keep(new);
    d->tree = comm_is_inter(old) ? old->local : old;
    d->tag = comm_next_tag(old);
    d->hook.fn = advance;
    d->request.is_held = true;
    request_keep(&d->request); // progress's
    start(d);
    request_attend(&d->request);
    progress_add(&d->hook);
    return d;
}

static int dup(MPI_Comm comm, MPI_Info hints, MPI_Comm *newcomm, const char *call)
{
    struct comm *old, *new;
    int error = check_comm(call, comm, &old);
    if (!error)
        error = check_pointer(call, old, "newcomm", newcomm);
    if (error)
        return error;
    *newcomm = MPI_COMM_NULL; // also when an attribute's copy function fails
    error = prepare(old, comm, hints, call, &new);
    if (error)
        return error;
    struct duplication *d = duplicate(old, new);
    request_wait(&d->request);
    error = d->request.error;
    request_drop(&d->request);
    if (error) {
        attributes_delete(OBJECT_COMM, comm, &new->attributes);
        comm_free(new);
        return raise_on(old, error, call, "the processes could not agree on a context");
    }
    return comm_give(new, old, newcomm, call);
}

MPI_DEFINE(int, Comm_dup, MPI_Comm comm, MPI_Comm *newcomm)
{
    return dup(comm, MPI_INFO_NULL, newcomm, "MPI_Comm_dup");
}

MPI_DEFINE(int, Comm_dup_with_info, MPI_Comm comm, MPI_Info info, MPI_Comm *newcomm)
{
    return dup(comm, info, newcomm, "MPI_Comm_dup_with_info");
}

static int idup(MPI_Comm comm, MPI_Info hints, MPI_Comm *newcomm, MPI_Request *request,
                const char *call)
{
    struct comm *old, *new;
    int error = check_comm(call, comm, &old);
    if (!error)
        error = check_pointer(call, old, "newcomm", newcomm);
    if (!error)
        error = check_pointer(call, old, "request", request);
    if (error)
        return error;
    *newcomm = MPI_COMM_NULL;
    error = prepare(old, comm, hints, call, &new);
    if (!error)
        error = comm_give(new, old, newcomm, call);
    if (!error)
        *request = object_handle(duplicate(old, new));
    return error;
}

MPI_DEFINE(int, Comm_idup, MPI_Comm comm, MPI_Comm *newcomm, MPI_Request *request)
{
    return idup(comm, MPI_INFO_NULL, newcomm, request, "MPI_Comm_idup");
}

MPI_DEFINE(int, Comm_idup_with_info, MPI_Comm comm, MPI_Info info, MPI_Comm *newcomm,
           MPI_Request *request)
{
    return idup(comm, info, newcomm, request, "MPI_Comm_idup_with_info");
}
