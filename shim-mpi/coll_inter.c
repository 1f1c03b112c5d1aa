// SPDX-License-Identifier: BSD-3-Clause
// Collectives over intercommunicators, and over neighbourhoods. Each side of an intercommunicator
// does its own part over the communicator of its side (comm->local).
#include "coll.h"

#include "topo.h"

// ---- Rooted: only the root on one side, all of the other
static void rooted(struct schedule *s, const struct coll_call *c, const struct side *side,
                   bool to_root)
{
    if (c->root == MPI_PROC_NULL)
        return;
    if (c->root != MPI_ROOT) {
        if (to_root)
            schedule_send(s, c->send.buf, c->send.count, c->send.type, c->root);
        else
            schedule_recv(s, c->recv.buf, c->recv.count, c->recv.type, c->root);
        return;
    }
    for (int i = 0; i < c->peers; i++) {
        struct block b = coll_block(side, i);
        if (to_root)
            schedule_recv(s, b.buf, b.count, b.type, i);
        else
            schedule_send(s, b.buf, b.count, b.type, i);
    }
}

static void bcast(struct schedule *s, const struct coll_call *c)
{
    const struct side *b = &c->recv;
    if (c->root == MPI_ROOT) {
        schedule_send(s, b->buf, b->count, b->type, 0);
    } else if (c->root != MPI_PROC_NULL) {
        if (c->rank == 0)
            schedule_recv(s, b->buf, b->count, b->type, c->root);
        schedule_round(s);
        coll_add_bcast(s, c->comm->local, b->buf, b->count, b->type, 0);
    }
}

// This side's reduction: of use on its rank 0.
static const void *reduce_own(struct schedule *s, const struct coll_call *c, MPI_Count n)
{
    return coll_add_reduce(s, c->comm->local, c->send.buf, n, c->recv.type);
}

static void reduce(struct schedule *s, const struct coll_call *c)
{
    if (c->root == MPI_ROOT) {
        schedule_recv(s, c->recv.buf, c->recv.count, c->recv.type, 0);
    } else if (c->root != MPI_PROC_NULL) {
        const void *acc = reduce_own(s, c, c->recv.count);
        if (c->rank == 0)
            schedule_send(s, acc, c->recv.count, c->recv.type, c->root);
    }
}

static void allreduce(struct schedule *s, const struct coll_call *c)
{
    MPI_Count n = c->recv.count;
    const void *acc = reduce_own(s, c, n);
    if (c->rank == 0) {
        schedule_recv(s, c->recv.buf, n, c->recv.type, 0);
        schedule_send(s, acc, n, c->recv.type, 0);
    }
    schedule_round(s);
    coll_add_bcast(s, c->comm->local, c->recv.buf, n, c->recv.type, 0);
}

// The blocks of this side add up to as many elements as those of the other.
static void reduce_scatter(struct schedule *s, const struct coll_call *c)
{
    bool counted = c->kind == COLL_REDUCE_SCATTER;
    struct type *t = c->recv.type;
    MPI_Count n = 0, at = 0;
    for (int i = 0; i < c->size; i++)
        n += counted ? number_at(c->recv.counts, i) : c->recv.count;
    const void *acc = reduce_own(s, c, n);
    char *in = schedule_elements(s, n, t);
    if (c->rank == 0) {
        schedule_recv(s, in, n, t, 0);
        schedule_send(s, acc, n, t, 0);
    }
    schedule_round(s);
    for (int i = 0; i < c->size; i++) {
        MPI_Count each = counted ? number_at(c->recv.counts, i) : c->recv.count;
        if (c->rank == 0 && i > 0)
            schedule_send_on(s, c->comm->local, in + at * t->extent, each, t, i);
        if (c->rank == 0 && i == 0)
            schedule_copy(s, c->recv.buf, each, t, in, each, t);
        if (c->rank == i && i > 0)
            schedule_recv_on(s, c->comm->local, c->recv.buf, each, t, 0);
        at += each;
    }
}

static void all_to_all(struct schedule *s, const struct coll_call *c)
{
    bool gathers = c->kind == COLL_ALLGATHER || c->kind == COLL_ALLGATHERV;
    for (int i = 0; i < c->peers; i++) {
        struct block in = coll_block(&c->recv, i);
        struct block out = gathers ? coll_whole(&c->send) : coll_block(&c->send, i);
        schedule_recv(s, in.buf, in.count, in.type, i);
        schedule_send(s, out.buf, out.count, out.type, i);
    }
}

static void barrier(struct schedule *s, const struct coll_call *c)
{
    struct type *byte = type_of(MPI_BYTE);
    for (int i = 0; i < c->peers; i++) {
        schedule_recv(s, NULL, 0, byte, i);
        schedule_send(s, NULL, 0, byte, i);
    }
}

void coll_inter(struct schedule *s, const struct coll_call *c)
{
    switch (c->kind) {
    case COLL_BARRIER: barrier(s, c); break;
    case COLL_BCAST: bcast(s, c); break;
    case COLL_GATHER:
    case COLL_GATHERV: rooted(s, c, &c->recv, true); break;
    case COLL_SCATTER:
    case COLL_SCATTERV: rooted(s, c, &c->send, false); break;
    case COLL_REDUCE: reduce(s, c); break;
    case COLL_ALLREDUCE: allreduce(s, c); break;
    case COLL_REDUCE_SCATTER:
    case COLL_REDUCE_SCATTER_BLOCK: reduce_scatter(s, c); break;
    default: all_to_all(s, c); break;
    }
}

// ---- Neighbourhoods
void coll_neighbor(struct schedule *s, const struct coll_call *c)
{
    int in_n, out_n;
    bool gathers = c->kind == COLL_NEIGHBOR_ALLGATHER || c->kind == COLL_NEIGHBOR_ALLGATHERV;
    topology_degrees(c->comm, &in_n, &out_n);
    int *in = schedule_bytes(s, (size_t)(in_n + out_n + 1) * sizeof *in), *out = in + in_n;
    topology_neighbors(c->comm, in, out);
    for (int i = 0; i < in_n; i++) {
        struct block b = coll_block(&c->recv, i);
        if (in[i] != MPI_PROC_NULL)
            schedule_recv(s, b.buf, b.count, b.type, in[i]);
    }
    // In a grid what goes up in a dimension is received as coming from below, also where both are
    // one process.
    int swap = c->comm->topology->kind == MPI_CART;
    for (int k = 0; k < out_n; k++) {
        int i = k ^ swap;
        struct block b = gathers ? coll_whole(&c->send) : coll_block(&c->send, i);
        if (out[i] != MPI_PROC_NULL)
            schedule_send(s, b.buf, b.count, b.type, out[i]);
    }
}
