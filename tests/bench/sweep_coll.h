// SPDX-License-Identifier: BSD-3-Clause
// Collectives, blocking and not, of neighbours, of two groups.
#ifndef BENCH_SWEEP_COLL_H
#define BENCH_SWEEP_COLL_H

#include "sweep.h"

CALL(barrier, MPI_Barrier(W))
CALL(bcast, MPI_Bcast(out, n, MPI_BYTE, 0, W))
CALL(bcast_gaps, MPI_Bcast(out, doubles, column, 0, W))
CALL(reduce, MPI_Reduce(out, in, doubles, MPI_DOUBLE, MPI_SUM, 0, W))
CALL(allreduce, MPI_Allreduce(out, in, doubles, MPI_DOUBLE, MPI_SUM, W))
CALL(allreduce_int, MPI_Allreduce(out, in, doubles * 2, MPI_INT, MPI_MAX, W))
CALL(allreduce_inplace, MPI_Allreduce(MPI_IN_PLACE, in, doubles * 2, MPI_INT, MPI_BOR, W))
CALL(reduce_scatter, MPI_Reduce_scatter(out, in, shares, MPI_DOUBLE, MPI_SUM, W))
CALL(reduce_scatter_block,
     MPI_Reduce_scatter_block(out, in, (doubles + npes - 1) / npes, MPI_DOUBLE, MPI_SUM, W))
CALL(scan, MPI_Scan(out, in, doubles, MPI_DOUBLE, MPI_SUM, W))
CALL(exscan, MPI_Exscan(out, in, doubles, MPI_DOUBLE, MPI_SUM, W))
CALL(gather, MPI_Gather(out, n, MPI_BYTE, in, n, MPI_BYTE, 0, W))
CALL(gatherv, MPI_Gatherv(out, n, MPI_BYTE, in, counts, displs, MPI_BYTE, 0, W))
CALL(scatter, MPI_Scatter(out, n, MPI_BYTE, in, n, MPI_BYTE, 0, W))
CALL(scatterv, MPI_Scatterv(out, counts, displs, MPI_BYTE, in, n, MPI_BYTE, 0, W))
CALL(allgather, MPI_Allgather(out, n, MPI_BYTE, in, n, MPI_BYTE, W))
CALL(allgather_inplace, MPI_Allgather(MPI_IN_PLACE, 0, MPI_BYTE, in, n, MPI_BYTE, W))
CALL(allgatherv, MPI_Allgatherv(out, n, MPI_BYTE, in, counts, displs, MPI_BYTE, W))
CALL(alltoall, MPI_Alltoall(out, n, MPI_BYTE, in, n, MPI_BYTE, W))
CALL(alltoall_inplace, MPI_Alltoall(MPI_IN_PLACE, 0, MPI_BYTE, in, n, MPI_BYTE, W))
CALL(alltoallv, MPI_Alltoallv(out, counts, displs, MPI_BYTE, in, counts, displs, MPI_BYTE, W))
CALL(alltoallw, MPI_Alltoallw(out, counts, displs, types, in, counts, displs, types, W))
CALL(ibarrier, MPI_Ibarrier(W, request); WAIT)
CALL(ibcast, MPI_Ibcast(out, n, MPI_BYTE, 0, W, request); WAIT)
CALL(ireduce, MPI_Ireduce(out, in, doubles, MPI_DOUBLE, MPI_SUM, 0, W, request); WAIT)
CALL(iallreduce, MPI_Iallreduce(out, in, doubles, MPI_DOUBLE, MPI_SUM, W, request); WAIT)
CALL(iallgather, MPI_Iallgather(out, n, MPI_BYTE, in, n, MPI_BYTE, W, request); WAIT)
CALL(iallgatherv, MPI_Iallgatherv(out, n, MPI_BYTE, in, counts, displs, MPI_BYTE, W, request); WAIT)
CALL(ialltoall, MPI_Ialltoall(out, n, MPI_BYTE, in, n, MPI_BYTE, W, request); WAIT)
CALL(ialltoallv,
     MPI_Ialltoallv(out, counts, displs, MPI_BYTE, in, counts, displs, MPI_BYTE, W, request);
     WAIT)
CALL(igather, MPI_Igather(out, n, MPI_BYTE, in, n, MPI_BYTE, 0, W, request); WAIT)
CALL(iscatter, MPI_Iscatter(out, n, MPI_BYTE, in, n, MPI_BYTE, 0, W, request); WAIT)
CALL(iscan, MPI_Iscan(out, in, doubles, MPI_DOUBLE, MPI_SUM, W, request); WAIT)
CALL(ireduce_scatter, MPI_Ireduce_scatter(out, in, shares, MPI_DOUBLE, MPI_SUM, W, request); WAIT)
CALL(neighbor_alltoall, MPI_Neighbor_alltoall(out, n, MPI_BYTE, in, n, MPI_BYTE, torus))
CALL(neighbor_alltoallv,
     MPI_Neighbor_alltoallv(out, counts, displs, MPI_BYTE, in, counts, displs, MPI_BYTE, torus))
CALL(neighbor_allgather, MPI_Neighbor_allgather(out, n, MPI_BYTE, in, n, MPI_BYTE, torus))
CALL(ineighbor_alltoall, MPI_Ineighbor_alltoall(out, n, MPI_BYTE, in, n, MPI_BYTE, torus, request);
     WAIT)
CALL(inter_bcast, MPI_Bcast(out, n, MPI_BYTE, me % 2 ? 0 : me ? MPI_PROC_NULL : MPI_ROOT, halves))
CALL(inter_allreduce, MPI_Allreduce(out, in, doubles, MPI_DOUBLE, MPI_SUM, halves))
CALL(inter_alltoall, MPI_Alltoall(out, n, MPI_BYTE, in, n, MPI_BYTE, halves))

static void add(void *from, void *to, int *count, MPI_Datatype *type)
{
    double *a = from, *b = to;
    for (int i = 0; i < *count; i++)
        b[i] += a[i];
    (void)type;
}
static void allreduce_user(void)
{
    static MPI_Op op;
    if (!op)
        MPI_Op_create(add, 1, &op);
    MPI_Allreduce(out, in, doubles, MPI_DOUBLE, op, W);
}
static void iallreduce_8(void) // at a time, on two communicators
{
    for (int i = 0; i < 8; i++)
        MPI_Iallreduce(out + i * n, in + i * n, doubles, MPI_DOUBLE, MPI_SUM, i % 2 ? W : twin,
                       &request[i]);
    MPI_Waitall(8, request, MPI_STATUSES_IGNORE);
}

#endif
