// SPDX-License-Identifier: BSD-3-Clause
// MPI 5.0, "Collective Communication" and "Neighborhood Collective Communication": every call in its
// three forms, with int and with MPI_Count, from one table each: the arguments, and the coll_call
// that they make.
#include "coll.h"

#define ARGS(...) __VA_ARGS__

// NAME, INAME, NAME_init from the arguments and the call.
#define FORMS(NAME, INAME, INIT, PARAMETERS, ...)                                  \
    MPI_DEFINE(int, NAME, ARGS PARAMETERS)                                         \
    {                                                                              \
        struct coll_call c = {.name = "MPI_" #NAME, .handle = comm, __VA_ARGS__};  \
        return coll_blocking(&c);                                                  \
    }                                                                              \
    MPI_DEFINE(int, INAME, ARGS PARAMETERS, MPI_Request *request)                  \
    {                                                                              \
        struct coll_call c = {.name = "MPI_" #INAME, .handle = comm, __VA_ARGS__}; \
        return coll_nonblocking(&c, request);                                      \
    }                                                                              \
    MPI_DEFINE(int, INIT, ARGS PARAMETERS, MPI_Info info, MPI_Request *request)    \
    {                                                                              \
        struct coll_call c = {.name = "MPI_" #INIT, .handle = comm, __VA_ARGS__};  \
        return coll_persistent(&c, info, request);                                 \
    }

#define BUFFER(argument) (void *)(uintptr_t)(argument)

#define EACH(buf_, count_, type_)                               \
    {                                                           \
        .buf = BUFFER(buf_), .count = count_, .datatype = type_ \
    }
#define BLOCKS(buf_, counts_, displs_, type_, COUNTS, DISPLS)                 \
    {                                                                         \
        .form = SIDE_COUNTED, .buf = BUFFER(buf_), .counts = COUNTS(counts_), \
        .displs = DISPLS(displs_), .datatype = type_                          \
    }
#define TYPED(buf_, counts_, displs_, types_, COUNTS, DISPLS)               \
    {                                                                       \
        .form = SIDE_TYPED, .buf = BUFFER(buf_), .counts = COUNTS(counts_), \
        .displs = DISPLS(displs_), .datatypes = types_                      \
    }

FORMS(Barrier, Ibarrier, Barrier_init, (MPI_Comm comm), .kind = COLL_BARRIER)

// The calls with counts: C the type of a count, D of a displacement; COUNTS, DISPLS how arrays of
// them are read.
#define ALL(SUFFIX_B, C, D, COUNTS, DISPLS)                                                        \
    FORMS(Bcast##SUFFIX_B, Ibcast##SUFFIX_B, Bcast_init##SUFFIX_B,                                 \
          (void *buffer, C count, MPI_Datatype datatype, int root, MPI_Comm comm),                 \
          .kind = COLL_BCAST, .recv = EACH(buffer, count, datatype), .root = root)                 \
    FORMS(Gather##SUFFIX_B, Igather##SUFFIX_B, Gather_init##SUFFIX_B,                              \
          (const void *sendbuf, C sendcount, MPI_Datatype sendtype, void *recvbuf, C recvcount,    \
           MPI_Datatype recvtype, int root, MPI_Comm comm),                                        \
          .kind = COLL_GATHER, .send = EACH(sendbuf, sendcount, sendtype),                         \
          .recv = EACH(recvbuf, recvcount, recvtype), .root = root)                                \
    FORMS(Gatherv##SUFFIX_B, Igatherv##SUFFIX_B, Gatherv_init##SUFFIX_B,                           \
          (const void *sendbuf, C sendcount, MPI_Datatype sendtype, void *recvbuf,                 \
           const C recvcounts[], const D displs[], MPI_Datatype recvtype, int root,                \
           MPI_Comm comm),                                                                         \
          .kind = COLL_GATHERV, .send = EACH(sendbuf, sendcount, sendtype),                        \
          .recv = BLOCKS(recvbuf, recvcounts, displs, recvtype, COUNTS, DISPLS), .root = root)     \
    FORMS(Scatter##SUFFIX_B, Iscatter##SUFFIX_B, Scatter_init##SUFFIX_B,                           \
          (const void *sendbuf, C sendcount, MPI_Datatype sendtype, void *recvbuf, C recvcount,    \
           MPI_Datatype recvtype, int root, MPI_Comm comm),                                        \
          .kind = COLL_SCATTER, .send = EACH(sendbuf, sendcount, sendtype),                        \
          .recv = EACH(recvbuf, recvcount, recvtype), .root = root)                                \
    FORMS(Scatterv##SUFFIX_B, Iscatterv##SUFFIX_B, Scatterv_init##SUFFIX_B,                        \
          (const void *sendbuf, const C sendcounts[], const D displs[], MPI_Datatype sendtype,     \
           void *recvbuf, C recvcount, MPI_Datatype recvtype, int root, MPI_Comm comm),            \
          .kind = COLL_SCATTERV,                                                                   \
          .send = BLOCKS(sendbuf, sendcounts, displs, sendtype, COUNTS, DISPLS),                   \
          .recv = EACH(recvbuf, recvcount, recvtype), .root = root)                                \
    FORMS(Allgather##SUFFIX_B, Iallgather##SUFFIX_B, Allgather_init##SUFFIX_B,                     \
          (const void *sendbuf, C sendcount, MPI_Datatype sendtype, void *recvbuf, C recvcount,    \
           MPI_Datatype recvtype, MPI_Comm comm),                                                  \
          .kind = COLL_ALLGATHER, .send = EACH(sendbuf, sendcount, sendtype),                      \
          .recv = EACH(recvbuf, recvcount, recvtype))                                              \
    FORMS(Allgatherv##SUFFIX_B, Iallgatherv##SUFFIX_B, Allgatherv_init##SUFFIX_B,                  \
          (const void *sendbuf, C sendcount, MPI_Datatype sendtype, void *recvbuf,                 \
           const C recvcounts[], const D displs[], MPI_Datatype recvtype, MPI_Comm comm),          \
          .kind = COLL_ALLGATHERV, .send = EACH(sendbuf, sendcount, sendtype),                     \
          .recv = BLOCKS(recvbuf, recvcounts, displs, recvtype, COUNTS, DISPLS))                   \
    FORMS(Alltoall##SUFFIX_B, Ialltoall##SUFFIX_B, Alltoall_init##SUFFIX_B,                        \
          (const void *sendbuf, C sendcount, MPI_Datatype sendtype, void *recvbuf, C recvcount,    \
           MPI_Datatype recvtype, MPI_Comm comm),                                                  \
          .kind = COLL_ALLTOALL, .send = EACH(sendbuf, sendcount, sendtype),                       \
          .recv = EACH(recvbuf, recvcount, recvtype))                                              \
    FORMS(Alltoallv##SUFFIX_B, Ialltoallv##SUFFIX_B, Alltoallv_init##SUFFIX_B,                     \
          (const void *sendbuf, const C sendcounts[], const D sdispls[], MPI_Datatype sendtype,    \
           void *recvbuf, const C recvcounts[], const D rdispls[], MPI_Datatype recvtype,          \
           MPI_Comm comm),                                                                         \
          .kind = COLL_ALLTOALLV,                                                                  \
          .send = BLOCKS(sendbuf, sendcounts, sdispls, sendtype, COUNTS, DISPLS),                  \
          .recv = BLOCKS(recvbuf, recvcounts, rdispls, recvtype, COUNTS, DISPLS))                  \
    FORMS(Alltoallw##SUFFIX_B, Ialltoallw##SUFFIX_B, Alltoallw_init##SUFFIX_B,                     \
          (const void *sendbuf, const C sendcounts[], const D sdispls[],                           \
           const MPI_Datatype sendtypes[], void *recvbuf, const C recvcounts[], const D rdispls[], \
           const MPI_Datatype recvtypes[], MPI_Comm comm),                                         \
          .kind = COLL_ALLTOALLW,                                                                  \
          .send = TYPED(sendbuf, sendcounts, sdispls, sendtypes, COUNTS, DISPLS),                  \
          .recv = TYPED(recvbuf, recvcounts, rdispls, recvtypes, COUNTS, DISPLS))

ALL(, int, int, ints_of, ints_of)
ALL(_c, MPI_Count, MPI_Aint, counts_of, counts_of)

// ---- Reductions: count and type are kept on the receiving side.
#define REDUCTIONS(S, C, COUNTS)                                                              \
    FORMS(Reduce##S, Ireduce##S, Reduce_init##S,                                              \
          (const void *sendbuf, void *recvbuf, C count, MPI_Datatype datatype, MPI_Op op,     \
           int root, MPI_Comm comm),                                                          \
          .kind = COLL_REDUCE, .send = {.buf = BUFFER(sendbuf)},                              \
          .recv = EACH(recvbuf, count, datatype), .op_handle = op, .root = root)              \
    FORMS(Allreduce##S, Iallreduce##S, Allreduce_init##S,                                     \
          (const void *sendbuf, void *recvbuf, C count, MPI_Datatype datatype, MPI_Op op,     \
           MPI_Comm comm),                                                                    \
          .kind = COLL_ALLREDUCE, .send = {.buf = BUFFER(sendbuf)},                           \
          .recv = EACH(recvbuf, count, datatype), .op_handle = op)                            \
    FORMS(Reduce_scatter##S, Ireduce_scatter##S, Reduce_scatter_init##S,                      \
          (const void *sendbuf, void *recvbuf, const C recvcounts[], MPI_Datatype datatype,   \
           MPI_Op op, MPI_Comm comm),                                                         \
          .kind = COLL_REDUCE_SCATTER, .send = {.buf = BUFFER(sendbuf)},                      \
          .recv = {.buf = recvbuf, .counts = COUNTS(recvcounts), .datatype = datatype},       \
          .op_handle = op)                                                                    \
    FORMS(Reduce_scatter_block##S, Ireduce_scatter_block##S, Reduce_scatter_block_init##S,    \
          (const void *sendbuf, void *recvbuf, C recvcount, MPI_Datatype datatype, MPI_Op op, \
           MPI_Comm comm),                                                                    \
          .kind = COLL_REDUCE_SCATTER_BLOCK, .send = {.buf = BUFFER(sendbuf)},                \
          .recv = EACH(recvbuf, recvcount, datatype), .op_handle = op)                        \
    FORMS(Scan##S, Iscan##S, Scan_init##S,                                                    \
          (const void *sendbuf, void *recvbuf, C count, MPI_Datatype datatype, MPI_Op op,     \
           MPI_Comm comm),                                                                    \
          .kind = COLL_SCAN, .send = {.buf = BUFFER(sendbuf)},                                \
          .recv = EACH(recvbuf, count, datatype), .op_handle = op)                            \
    FORMS(Exscan##S, Iexscan##S, Exscan_init##S,                                              \
          (const void *sendbuf, void *recvbuf, C count, MPI_Datatype datatype, MPI_Op op,     \
           MPI_Comm comm),                                                                    \
          .kind = COLL_EXSCAN, .send = {.buf = BUFFER(sendbuf)},                              \
          .recv = EACH(recvbuf, count, datatype), .op_handle = op)

REDUCTIONS(, int, ints_of)
REDUCTIONS(_c, MPI_Count, counts_of)

// ---- Neighbourhoods
#define NEIGHBORS(S, C, D, COUNTS, DISPLS)                                                      \
    FORMS(Neighbor_allgather##S, Ineighbor_allgather##S, Neighbor_allgather_init##S,            \
          (const void *sendbuf, C sendcount, MPI_Datatype sendtype, void *recvbuf, C recvcount, \
           MPI_Datatype recvtype, MPI_Comm comm),                                               \
          .kind = COLL_NEIGHBOR_ALLGATHER, .send = EACH(sendbuf, sendcount, sendtype),          \
          .recv = EACH(recvbuf, recvcount, recvtype))                                           \
    FORMS(Neighbor_allgatherv##S, Ineighbor_allgatherv##S, Neighbor_allgatherv_init##S,         \
          (const void *sendbuf, C sendcount, MPI_Datatype sendtype, void *recvbuf,              \
           const C recvcounts[], const D displs[], MPI_Datatype recvtype, MPI_Comm comm),       \
          .kind = COLL_NEIGHBOR_ALLGATHERV, .send = EACH(sendbuf, sendcount, sendtype),         \
          .recv = BLOCKS(recvbuf, recvcounts, displs, recvtype, COUNTS, DISPLS))                \
    FORMS(Neighbor_alltoall##S, Ineighbor_alltoall##S, Neighbor_alltoall_init##S,               \
          (const void *sendbuf, C sendcount, MPI_Datatype sendtype, void *recvbuf, C recvcount, \
           MPI_Datatype recvtype, MPI_Comm comm),                                               \
          .kind = COLL_NEIGHBOR_ALLTOALL, .send = EACH(sendbuf, sendcount, sendtype),           \
          .recv = EACH(recvbuf, recvcount, recvtype))                                           \
    FORMS(Neighbor_alltoallv##S, Ineighbor_alltoallv##S, Neighbor_alltoallv_init##S,            \
          (const void *sendbuf, const C sendcounts[], const D sdispls[], MPI_Datatype sendtype, \
           void *recvbuf, const C recvcounts[], const D rdispls[], MPI_Datatype recvtype,       \
           MPI_Comm comm),                                                                      \
          .kind = COLL_NEIGHBOR_ALLTOALLV,                                                      \
          .send = BLOCKS(sendbuf, sendcounts, sdispls, sendtype, COUNTS, DISPLS),               \
          .recv = BLOCKS(recvbuf, recvcounts, rdispls, recvtype, COUNTS, DISPLS))               \
    FORMS(Neighbor_alltoallw##S, Ineighbor_alltoallw##S, Neighbor_alltoallw_init##S,            \
          (const void *sendbuf, const C sendcounts[], const MPI_Aint sdispls[],                 \
           const MPI_Datatype sendtypes[], void *recvbuf, const C recvcounts[],                 \
           const MPI_Aint rdispls[], const MPI_Datatype recvtypes[], MPI_Comm comm),            \
          .kind = COLL_NEIGHBOR_ALLTOALLW,                                                      \
          .send = TYPED(sendbuf, sendcounts, sdispls, sendtypes, COUNTS, counts_of),            \
          .recv = TYPED(recvbuf, recvcounts, rdispls, recvtypes, COUNTS, counts_of))

NEIGHBORS(, int, int, ints_of, ints_of)
NEIGHBORS(_c, MPI_Count, MPI_Aint, counts_of, counts_of)
