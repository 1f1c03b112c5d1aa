// SPDX-License-Identifier: BSD-3-Clause
// Wrong arguments of communication, completion and collective calls with MPI_ERRORS_RETURN: the
// class that each gets, and that nothing was written or sent. (Those of datatypes, groups, topologies,
// attributes and infos are in the tests of these.)
#include "mpi_check.h"

#define WRONG(call, class) CHECK_EQ(class_of(call), class)

static const MPI_Comm no_comm = MPI_COMM_NULL;
static int a[4], b[4];
static MPI_Request request;
static MPI_Datatype uncommitted;

// Every send takes the same arguments.
static void sends(void)
{
    int (*const send[])(const void *, int, MPI_Datatype, int, int,
                        MPI_Comm) = {MPI_Send, MPI_Ssend, MPI_Rsend, MPI_Bsend};
    int (*const start[])(const void *, int, MPI_Datatype, int, int, MPI_Comm, MPI_Request *) = {
        MPI_Isend,     MPI_Issend,     MPI_Irsend,     MPI_Ibsend,
        MPI_Send_init, MPI_Ssend_init, MPI_Rsend_init, MPI_Bsend_init};
    for (int i = 0; i < 4; i++) {
        WRONG(send[i](a, -1, MPI_INT, me, 0, MPI_COMM_WORLD), MPI_ERR_COUNT);
        WRONG(send[i](NULL, 1, MPI_INT, me, 0, MPI_COMM_WORLD), MPI_ERR_BUFFER);
        WRONG(send[i](MPI_IN_PLACE, 1, MPI_INT, me, 0, MPI_COMM_WORLD), MPI_ERR_BUFFER);
        WRONG(send[i](a, 1, MPI_DATATYPE_NULL, me, 0, MPI_COMM_WORLD), MPI_ERR_TYPE);
        WRONG(send[i](a, 1, uncommitted, me, 0, MPI_COMM_WORLD), MPI_ERR_TYPE);
        WRONG(send[i](a, 1, (MPI_Datatype)MPI_SUM, me, 0, MPI_COMM_WORLD), MPI_ERR_TYPE);
        WRONG(send[i](a, 1, MPI_INT, npes, 0, MPI_COMM_WORLD), MPI_ERR_RANK);
        WRONG(send[i](a, 1, MPI_INT, -77, 0, MPI_COMM_WORLD), MPI_ERR_RANK);
        WRONG(send[i](a, 1, MPI_INT, MPI_ANY_SOURCE, 0, MPI_COMM_WORLD), MPI_ERR_RANK);
        WRONG(send[i](a, 1, MPI_INT, me, -5, MPI_COMM_WORLD), MPI_ERR_TAG);
        WRONG(send[i](a, 1, MPI_INT, me, MPI_ANY_TAG, MPI_COMM_WORLD), MPI_ERR_TAG);
        WRONG(send[i](a, 1, MPI_INT, me, 0, no_comm), MPI_ERR_COMM);
        WRONG(send[i](a, 1, MPI_INT, me, 0, (MPI_Comm)MPI_INT), MPI_ERR_COMM);
    }
    for (int i = 0; i < 8; i++) {
        WRONG(start[i](a, -1, MPI_INT, me, 0, MPI_COMM_WORLD, &request), MPI_ERR_COUNT);
        WRONG(start[i](NULL, 1, MPI_INT, me, 0, MPI_COMM_WORLD, &request), MPI_ERR_BUFFER);
        WRONG(start[i](MPI_IN_PLACE, 1, MPI_INT, me, 0, MPI_COMM_WORLD, &request), MPI_ERR_BUFFER);
        WRONG(start[i](a, 1, uncommitted, me, 0, MPI_COMM_WORLD, &request), MPI_ERR_TYPE);
        WRONG(start[i](a, 1, MPI_INT, npes, 0, MPI_COMM_WORLD, &request), MPI_ERR_RANK);
        WRONG(start[i](a, 1, MPI_INT, me, -5, MPI_COMM_WORLD, &request), MPI_ERR_TAG);
        WRONG(start[i](a, 1, MPI_INT, me, 0, no_comm, &request), MPI_ERR_COMM);
        WRONG(start[i](a, 1, MPI_INT, me, 0, MPI_COMM_WORLD, NULL), MPI_ERR_ARG);
    }
    WRONG(MPI_Send_c(a, -1, MPI_INT, me, 0, MPI_COMM_WORLD), MPI_ERR_COUNT);
    WRONG(MPI_Isend_c(a, 1, MPI_INT, npes, 0, MPI_COMM_WORLD, &request), MPI_ERR_RANK);
}

static void receives(void)
{
    MPI_Message message = MPI_MESSAGE_NULL;
    MPI_Status s;
    int flag = 7;
    WRONG(MPI_Recv(b, -1, MPI_INT, me, 0, MPI_COMM_WORLD, &s), MPI_ERR_COUNT);
    WRONG(MPI_Recv(NULL, 1, MPI_INT, me, 0, MPI_COMM_WORLD, &s), MPI_ERR_BUFFER);
    WRONG(MPI_Recv(MPI_IN_PLACE, 1, MPI_INT, me, 0, MPI_COMM_WORLD, &s), MPI_ERR_BUFFER);
    WRONG(MPI_Recv(b, 1, MPI_DATATYPE_NULL, me, 0, MPI_COMM_WORLD, &s), MPI_ERR_TYPE);
    WRONG(MPI_Recv(b, 1, MPI_INT, npes, 0, MPI_COMM_WORLD, &s), MPI_ERR_RANK);
    WRONG(MPI_Recv(b, 1, MPI_INT, me, -9, MPI_COMM_WORLD, &s), MPI_ERR_TAG);
    WRONG(MPI_Recv(b, 1, MPI_INT, me, 0, no_comm, &s), MPI_ERR_COMM);
    WRONG(MPI_Irecv(b, 1, MPI_INT, npes, 0, MPI_COMM_WORLD, &request), MPI_ERR_RANK);
    WRONG(MPI_Irecv(b, 1, MPI_INT, me, 0, MPI_COMM_WORLD, NULL), MPI_ERR_ARG);
    WRONG(MPI_Recv_init(b, -1, MPI_INT, me, 0, MPI_COMM_WORLD, &request), MPI_ERR_COUNT);
    WRONG(MPI_Sendrecv(a, 1, MPI_INT, me, 0, b, 1, MPI_INT, npes, 0, MPI_COMM_WORLD, &s),
          MPI_ERR_RANK);
    WRONG(MPI_Sendrecv(a, 1, MPI_INT, npes, 0, b, 1, MPI_INT, me, 0, MPI_COMM_WORLD, &s),
          MPI_ERR_RANK);
    WRONG(MPI_Sendrecv(a, 1, MPI_INT, me, 0, b, 1, MPI_INT, me, -9, MPI_COMM_WORLD, &s),
          MPI_ERR_TAG);
    WRONG(MPI_Sendrecv(a, 1, MPI_INT, me, -5, b, 1, MPI_INT, me, 0, MPI_COMM_WORLD, &s),
          MPI_ERR_TAG);
    WRONG(MPI_Sendrecv_replace(a, -1, MPI_INT, me, 0, me, 0, MPI_COMM_WORLD, &s), MPI_ERR_COUNT);
    WRONG(MPI_Isendrecv(a, 1, MPI_INT, me, 0, b, 1, uncommitted, me, 0, MPI_COMM_WORLD, &request),
          MPI_ERR_TYPE);
    WRONG(MPI_Probe(npes, 0, MPI_COMM_WORLD, &s), MPI_ERR_RANK);
    WRONG(MPI_Iprobe(me, -9, MPI_COMM_WORLD, &flag, &s), MPI_ERR_TAG);
    WRONG(MPI_Iprobe(me, 0, no_comm, &flag, &s), MPI_ERR_COMM);
    WRONG(MPI_Iprobe(me, 0, MPI_COMM_WORLD, NULL, &s), MPI_ERR_ARG);
    WRONG(MPI_Improbe(me, 0, MPI_COMM_WORLD, &flag, NULL, &s), MPI_ERR_ARG);
    WRONG(MPI_Improbe(npes, 0, MPI_COMM_WORLD, &flag, &message, &s), MPI_ERR_RANK);
    WRONG(MPI_Mrecv(b, 1, MPI_INT, &message, &s), MPI_ERR_REQUEST); // MPI_MESSAGE_NULL
    CHECK(flag == 7 && message == MPI_MESSAGE_NULL);
}

static void missing_outputs(void)
{
    MPI_Request none = MPI_REQUEST_NULL;
    MPI_Status *const ignore = MPI_STATUSES_IGNORE;
    int flag = 7, n = 7, index = 7;
    WRONG(MPI_Waitany(1, &none, NULL, ignore), MPI_ERR_ARG);
    WRONG(MPI_Testany(1, &none, NULL, &flag, ignore), MPI_ERR_ARG);
    WRONG(MPI_Testany(1, &none, &index, NULL, ignore), MPI_ERR_ARG);
    WRONG(MPI_Testall(1, &none, NULL, ignore), MPI_ERR_ARG);
    WRONG(MPI_Testall(1, NULL, &flag, ignore), MPI_ERR_ARG);
    WRONG(MPI_Waitsome(1, &none, NULL, &index, ignore), MPI_ERR_ARG);
    WRONG(MPI_Waitsome(1, &none, &n, NULL, ignore), MPI_ERR_ARG);
    WRONG(MPI_Testsome(1, &none, &n, NULL, ignore), MPI_ERR_ARG);
    WRONG(MPI_Request_get_status(none, NULL, ignore), MPI_ERR_ARG);
    WRONG(MPI_Request_get_status_all(1, &none, NULL, ignore), MPI_ERR_ARG);
    WRONG(MPI_Request_get_status_any(1, &none, NULL, &flag, ignore), MPI_ERR_ARG);
    WRONG(MPI_Request_get_status_any(1, &none, &index, NULL, ignore), MPI_ERR_ARG);
    WRONG(MPI_Request_get_status_some(1, &none, NULL, &index, ignore), MPI_ERR_ARG);
    WRONG(MPI_Request_get_status_some(1, &none, &n, NULL, ignore), MPI_ERR_ARG);
    CHECK(flag == 7 && n == 7 && index == 7);
    OK(MPI_Waitsome(0, NULL, &n, NULL, ignore));
    OK(MPI_Request_get_status_some(0, NULL, &index, NULL, ignore));
    CHECK(n == MPI_UNDEFINED && index == MPI_UNDEFINED);
}

static void completions(void)
{
    MPI_Request foreign = (MPI_Request)MPI_INT, two[2] = {MPI_REQUEST_NULL, foreign};
    int flag = 7, index = 7;
    WRONG(MPI_Wait(&foreign, MPI_STATUS_IGNORE), MPI_ERR_REQUEST);
    WRONG(MPI_Wait(NULL, MPI_STATUS_IGNORE), MPI_ERR_ARG);
    WRONG(MPI_Test(&foreign, &flag, MPI_STATUS_IGNORE), MPI_ERR_REQUEST);
    WRONG(MPI_Test(&request, NULL, MPI_STATUS_IGNORE), MPI_ERR_ARG);
    WRONG(MPI_Waitall(-1, two, MPI_STATUSES_IGNORE), MPI_ERR_COUNT);
    WRONG(MPI_Waitall(2, two, MPI_STATUSES_IGNORE), MPI_ERR_REQUEST);
    WRONG(MPI_Testall(2, two, &flag, MPI_STATUSES_IGNORE), MPI_ERR_REQUEST);
    WRONG(MPI_Waitany(2, two, &index, MPI_STATUS_IGNORE), MPI_ERR_REQUEST);
    WRONG(MPI_Testsome(2, two, &index, &flag, MPI_STATUSES_IGNORE), MPI_ERR_REQUEST);
    WRONG(MPI_Start(&foreign), MPI_ERR_REQUEST);
    WRONG(MPI_Start(&request), MPI_ERR_REQUEST); // null
    WRONG(MPI_Cancel(&request), MPI_ERR_REQUEST);
    WRONG(MPI_Request_free(&request), MPI_ERR_REQUEST);
    WRONG(MPI_Request_free(&foreign), MPI_ERR_REQUEST);
    WRONG(MPI_Get_count(NULL, MPI_INT, &index), MPI_ERR_ARG);
    missing_outputs();
    CHECK(flag == 7 && index == 7);
}

static void collectives(void)
{
    int counts[64], displs[64] = {0};
    for (int i = 0; i < npes; i++)
        counts[i] = 1;
    WRONG(MPI_Barrier(no_comm), MPI_ERR_COMM);
    WRONG(MPI_Bcast(a, 1, MPI_INT, npes, MPI_COMM_WORLD), MPI_ERR_ROOT);
    WRONG(MPI_Bcast(a, 1, MPI_INT, -1, MPI_COMM_WORLD), MPI_ERR_ROOT);
    WRONG(MPI_Bcast(a, -1, MPI_INT, 0, MPI_COMM_WORLD), MPI_ERR_COUNT);
    WRONG(MPI_Bcast(a, 1, uncommitted, 0, MPI_COMM_WORLD), MPI_ERR_TYPE);
    WRONG(MPI_Bcast(NULL, 1, MPI_INT, 0, MPI_COMM_WORLD), MPI_ERR_BUFFER);
    WRONG(MPI_Bcast(MPI_IN_PLACE, 1, MPI_INT, 0, MPI_COMM_WORLD), MPI_ERR_BUFFER);
    WRONG(MPI_Gather(a, 1, MPI_INT, b, 1, MPI_INT, npes, MPI_COMM_WORLD), MPI_ERR_ROOT);
    WRONG(MPI_Gather(a, -1, MPI_INT, b, 1, MPI_INT, 0, MPI_COMM_WORLD), MPI_ERR_COUNT);
    WRONG(MPI_Scatter(a, 1, MPI_INT, b, -1, MPI_INT, 0, MPI_COMM_WORLD), MPI_ERR_COUNT);
    WRONG(MPI_Allgather(a, 1, MPI_INT, b, 1, MPI_DATATYPE_NULL, MPI_COMM_WORLD), MPI_ERR_TYPE);
    WRONG(MPI_Reduce(a, b, 1, MPI_INT, MPI_OP_NULL, 0, MPI_COMM_WORLD), MPI_ERR_OP);
    WRONG(MPI_Reduce(a, b, 1, MPI_INT, MPI_SUM, npes, MPI_COMM_WORLD), MPI_ERR_ROOT);
    WRONG(MPI_Allreduce(a, b, 1, MPI_FLOAT, MPI_BAND, MPI_COMM_WORLD), MPI_ERR_OP);
    WRONG(MPI_Allreduce(a, b, 1, MPI_INT, (MPI_Op)MPI_INT, MPI_COMM_WORLD), MPI_ERR_OP);
    WRONG(MPI_Allreduce(a, b, -1, MPI_INT, MPI_SUM, MPI_COMM_WORLD), MPI_ERR_COUNT);
    WRONG(MPI_Allreduce(a, a, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD), MPI_ERR_BUFFER);
    WRONG(MPI_Scan(a, NULL, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD), MPI_ERR_BUFFER);
    WRONG(MPI_Neighbor_allgather(a, 1, MPI_INT, b, 1, MPI_INT, MPI_COMM_WORLD), MPI_ERR_TOPOLOGY);
    WRONG(MPI_Ibcast(a, 1, MPI_INT, npes, MPI_COMM_WORLD, &request), MPI_ERR_ROOT);
    WRONG(MPI_Iallreduce(a, b, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD, NULL), MPI_ERR_ARG);
    WRONG(MPI_Bcast_init(a, -1, MPI_INT, 0, MPI_COMM_WORLD, MPI_INFO_NULL, &request),
          MPI_ERR_COUNT);
    counts[npes - 1] = -1;
    WRONG(MPI_Allgatherv(a, 1, MPI_INT, b, counts, displs, MPI_INT, MPI_COMM_WORLD), MPI_ERR_COUNT);
    WRONG(MPI_Alltoallv(a, counts, displs, MPI_INT, b, counts, displs, MPI_INT, MPI_COMM_WORLD),
          MPI_ERR_COUNT);
    WRONG(MPI_Reduce_scatter(a, b, counts, MPI_INT, MPI_SUM, MPI_COMM_WORLD), MPI_ERR_COUNT);
}

// More bytes than can be counted: 2^61 elements of four, and 2^40 of types that are as long.
static void too_long(void)
{
    const MPI_Comm w = MPI_COMM_WORLD;
    MPI_Count n = (MPI_Count)1 << 61, half = (MPI_Count)1 << 40, counts[64] = {0};
    MPI_Datatype huge;
    MPI_Status s;
    for (int i = 0; i < npes; i++)
        counts[i] = n;
    OK(MPI_Type_contiguous_c(half, MPI_INT, &huge));
    OK(MPI_Type_commit(&huge));
    WRONG(MPI_Send_c(a, n, MPI_INT, me, 0, w), MPI_ERR_COUNT);
    WRONG(MPI_Isend_c(a, 2 * n, MPI_INT, me, 0, w, &request), MPI_ERR_COUNT);
    WRONG(MPI_Recv_c(b, n, MPI_INT, me, 0, w, &s), MPI_ERR_COUNT);
    WRONG(MPI_Irecv_c(b, half, huge, me, 0, w, &request), MPI_ERR_COUNT);
    WRONG(MPI_Send(a, 1 << 21, huge, me, 0, w), MPI_ERR_COUNT);
    WRONG(MPI_Sendrecv_c(a, 1, MPI_INT, me, 0, b, n, MPI_INT, me, 0, w, &s), MPI_ERR_COUNT);
    WRONG(MPI_Psend_init(a, 1 << 20, n >> 20, MPI_INT, me, 0, w, MPI_INFO_NULL, &request),
          MPI_ERR_COUNT);
    WRONG(MPI_Bcast_c(a, n, MPI_INT, 0, w), MPI_ERR_COUNT);
    WRONG(MPI_Allreduce_c(MPI_IN_PLACE, a, n, MPI_INT, MPI_SUM, w), MPI_ERR_COUNT);
    WRONG(MPI_Reduce_scatter_c(MPI_IN_PLACE, a, counts, MPI_INT, MPI_SUM, w), MPI_ERR_COUNT);
    WRONG(MPI_Allgather_c(a, 1, MPI_INT, b, n, MPI_INT, w), MPI_ERR_COUNT);
    if (npes > 1) // of all together
        WRONG(MPI_Allgather_c(a, 1, MPI_INT, b, n / 2, MPI_INT, w), MPI_ERR_COUNT);
    OK(MPI_Send_c(a, n, MPI_INT, MPI_PROC_NULL, 0, w));
    OK(MPI_Type_free(&huge));
}

// Arrays and buffers of the collectives with counts; NULL is for those that move nothing.
static void with_counts(void)
{
    const MPI_Comm w = MPI_COMM_WORLD, self = MPI_COMM_SELF;
    int n[64], at[64], far[64];
    MPI_Datatype type[64], no_type[64];
    for (int i = 0; i < npes; i++) {
        n[i] = 1, at[i] = i, far[i] = 4 * i;
        type[i] = MPI_INT, no_type[i] = MPI_DATATYPE_NULL;
    }
    int *to = must_alloc(sizeof(int) * (size_t)npes),
        *from = must_alloc(sizeof(int) * (size_t)npes);
    // What a process sends itself is where it receives that: for MPI_IN_PLACE.
    WRONG(MPI_Allgather(&to[me], 1, MPI_INT, to, 1, MPI_INT, w), MPI_ERR_BUFFER);
    WRONG(MPI_Allgatherv(&to[me], 1, MPI_INT, to, n, at, MPI_INT, w), MPI_ERR_BUFFER);
    WRONG(MPI_Alltoallv(to, n, at, MPI_INT, to, n, at, MPI_INT, w), MPI_ERR_BUFFER);
    WRONG(MPI_Alltoallw(to, n, far, type, to, n, far, type, w), MPI_ERR_BUFFER);
    WRONG(MPI_Gatherv(to, 1, MPI_INT, to, n, at, MPI_INT, 0, self), MPI_ERR_BUFFER);
    WRONG(MPI_Scatterv(to, n, at, MPI_INT, to, 1, MPI_INT, 0, self), MPI_ERR_BUFFER);
    OK(MPI_Gatherv(to, 0, MPI_INT, to, (int[]){0}, at, MPI_INT, 0, self));
    WRONG(MPI_Gather(a, 1, MPI_INT, MPI_IN_PLACE, 1, MPI_INT, 0, self), MPI_ERR_BUFFER);
    WRONG(MPI_Scatter(MPI_IN_PLACE, 1, MPI_INT, b, 1, MPI_INT, 0, self), MPI_ERR_BUFFER);
    WRONG(MPI_Allreduce(a, MPI_IN_PLACE, 1, MPI_INT, MPI_SUM, self), MPI_ERR_BUFFER);
    WRONG(MPI_Alltoall(a, 1, MPI_INT, MPI_IN_PLACE, 1, MPI_INT, self), MPI_ERR_BUFFER);
    WRONG(MPI_Alltoallv(from, NULL, at, MPI_INT, to, n, at, MPI_INT, w), MPI_ERR_ARG);
    WRONG(MPI_Alltoallv(from, n, at, MPI_INT, to, n, NULL, MPI_INT, w), MPI_ERR_ARG);
    WRONG(MPI_Alltoallv(NULL, n, at, MPI_INT, to, n, at, MPI_INT, w), MPI_ERR_BUFFER);
    WRONG(MPI_Alltoallw(from, n, far, NULL, to, n, far, type, w), MPI_ERR_ARG);
    WRONG(MPI_Alltoallw(from, n, far, type, to, n, NULL, type, w), MPI_ERR_ARG);
    WRONG(MPI_Alltoallw(from, n, far, type, NULL, n, far, type, w), MPI_ERR_BUFFER);
    WRONG(MPI_Alltoallw(from, n, far, no_type, to, n, far, type, w), MPI_ERR_TYPE);
    WRONG(MPI_Gatherv(from, 1, MPI_INT, to, n, NULL, MPI_INT, 0, self), MPI_ERR_ARG);
    WRONG(MPI_Gatherv(from, 1, MPI_INT, NULL, n, at, MPI_INT, 0, self), MPI_ERR_BUFFER);
    WRONG(MPI_Scatterv(from, NULL, at, MPI_INT, to, 1, MPI_INT, 0, self), MPI_ERR_ARG);
    WRONG(MPI_Allgatherv(from, 1, MPI_INT, to, NULL, at, MPI_INT, w), MPI_ERR_ARG);
    WRONG(MPI_Ialltoallw(from, n, far, NULL, to, n, far, type, w, &request), MPI_ERR_ARG);
    WRONG(MPI_Alltoallw_init(from, n, far, NULL, to, n, far, type, w, MPI_INFO_NULL, &request),
          MPI_ERR_ARG);
    WRONG(MPI_Reduce_scatter(from, NULL, n, MPI_INT, MPI_SUM, w), MPI_ERR_BUFFER);
    WRONG(MPI_Reduce_scatter(NULL, to, n, MPI_INT, MPI_SUM, w), MPI_ERR_BUFFER);
    WRONG(MPI_Reduce_scatter(from, to, NULL, MPI_INT, MPI_SUM, w), MPI_ERR_ARG);
    WRONG(MPI_Reduce_scatter(to, to, n, MPI_INT, MPI_SUM, w), MPI_ERR_BUFFER);
    memset(n, 0, sizeof n);
    OK(MPI_Alltoallw(from, n, far, no_type, to, n, far, no_type, w));
    OK(MPI_Alltoallv(NULL, n, at, MPI_INT, NULL, n, at, MPI_INT, w));
    OK(MPI_Reduce_scatter(NULL, NULL, n, MPI_INT, MPI_SUM, w));
    free(from);
    free(to);
}

static void neighbors(void)
{
    MPI_Comm ring, line;
    MPI_Aint at[2] = {0, sizeof(int)};
    int n[2] = {1, 1}, periodic = 1, one = 1, alone = 0;
    MPI_Datatype type[2] = {MPI_INT, MPI_INT};
    OK(MPI_Cart_create(MPI_COMM_WORLD, 1, &npes, &periodic, 0, &ring));
    WRONG(MPI_Neighbor_alltoallw(a, n, NULL, type, b, n, at, type, ring), MPI_ERR_ARG);
    WRONG(MPI_Neighbor_alltoallw(a, n, at, type, b, n, at, NULL, ring), MPI_ERR_ARG);
    WRONG(MPI_Neighbor_allgatherv(a, 1, MPI_INT, b, NULL, n, MPI_INT, ring), MPI_ERR_ARG);
    WRONG(MPI_Neighbor_alltoall(a, 1, MPI_INT, NULL, 1, MPI_INT, ring), MPI_ERR_BUFFER);
    WRONG(MPI_Neighbor_alltoall(MPI_IN_PLACE, 1, MPI_INT, b, 1, MPI_INT, ring), MPI_ERR_BUFFER);
    WRONG(MPI_Neighbor_allgather(MPI_IN_PLACE, 1, MPI_INT, b, 1, MPI_INT, ring), MPI_ERR_BUFFER);
    OK(MPI_Comm_free(&ring));
    OK(MPI_Dist_graph_create_adjacent(MPI_COMM_WORLD, 0, &alone, &one, 0, &alone, &one,
                                      MPI_INFO_NULL, 0, &line));
    OK(MPI_Neighbor_alltoallw(NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, line));
    OK(MPI_Comm_free(&line));
}

// The same buffer on both sides, infos, and requests of collectives.
static void forms(void)
{
    const MPI_Comm w = MPI_COMM_WORLD;
    const MPI_Info no_info = (MPI_Info)MPI_INT;
    int *all = must_alloc(sizeof(int) * (size_t)npes);
    WRONG(MPI_Gather(all, 1, MPI_INT, all, 1, MPI_INT, 0, MPI_COMM_SELF), MPI_ERR_BUFFER);
    WRONG(MPI_Scatter(all, 1, MPI_INT, all, 1, MPI_INT, 0, MPI_COMM_SELF), MPI_ERR_BUFFER);
    WRONG(MPI_Allgather(all, 1, MPI_INT, all, 1, MPI_INT, w), MPI_ERR_BUFFER);
    WRONG(MPI_Ialltoall(all, 1, MPI_INT, all, 1, MPI_INT, w, &request), MPI_ERR_BUFFER);
    OK(MPI_Allgather(all, 0, MPI_INT, all, 0, MPI_INT, w));
    WRONG(MPI_Barrier_init(w, no_info, &request), MPI_ERR_INFO);
    WRONG(MPI_Bcast_init(a, 1, MPI_INT, 0, w, no_info, &request), MPI_ERR_INFO);
    WRONG(MPI_Barrier_init(w, MPI_INFO_NULL, NULL), MPI_ERR_ARG);
    WRONG(MPI_Allreduce(a, b, 1, MPI_INT, MPI_REPLACE, w), MPI_ERR_OP);
    OK(MPI_Ibarrier(w, &request));
    WRONG(MPI_Cancel(&request), MPI_ERR_REQUEST);
    OK(MPI_Wait(&request, MPI_STATUS_IGNORE));
    OK(MPI_Barrier_init(w, MPI_INFO_ENV, &request));
    OK(MPI_Request_free(&request));
    free(all);
}

// Handles of other chapters, and predefined ones that cannot be freed.
static void handles(void)
{
    MPI_Comm c = MPI_COMM_NULL;
    MPI_Group g = (MPI_Group)MPI_INT;
    MPI_Session s = MPI_SESSION_NULL;
    int n = 7;
    WRONG(MPI_Comm_split(MPI_COMM_WORLD, -9, 0, &c), MPI_ERR_ARG);
    WRONG(MPI_Group_size(g, &n), MPI_ERR_GROUP);
    WRONG(MPI_Session_finalize(&s), MPI_ERR_SESSION);
    WRONG(MPI_Session_get_num_psets(s, MPI_INFO_NULL, &n), MPI_ERR_SESSION);
    WRONG(MPI_Op_free(&(MPI_Op){MPI_SUM}), MPI_ERR_OP);
    WRONG(MPI_Type_free(&(MPI_Datatype){MPI_INT}), MPI_ERR_TYPE);
    WRONG(MPI_Comm_set_errhandler(MPI_COMM_WORLD, (MPI_Errhandler)MPI_INT), MPI_ERR_ERRHANDLER);
    CHECK(n == 7 && c == MPI_COMM_NULL);
}

static void infos(void)
{
    MPI_Info no_info = (MPI_Info)MPI_INT;
    MPI_Comm c = MPI_COMM_NULL;
    MPI_Session s;
    int n = 7, length = sizeof b;
    WRONG(MPI_Psend_init(a, 1, 1, MPI_INT, me, 0, MPI_COMM_WORLD, no_info, &request), MPI_ERR_INFO);
    WRONG(MPI_Precv_init(a, 1, 1, MPI_INT, me, 0, MPI_COMM_WORLD, no_info, &request), MPI_ERR_INFO);
    WRONG(
        MPI_Dist_graph_create(MPI_COMM_WORLD, 0, NULL, NULL, NULL, MPI_UNWEIGHTED, no_info, 0, &c),
        MPI_ERR_INFO);
    WRONG(MPI_Dist_graph_create_adjacent(MPI_COMM_WORLD, 0, NULL, MPI_UNWEIGHTED, 0, NULL,
                                         MPI_UNWEIGHTED, no_info, 0, &c),
          MPI_ERR_INFO);
    OK(MPI_Session_init(MPI_INFO_NULL, MPI_ERRORS_RETURN, &s));
    WRONG(MPI_Session_get_num_psets(s, no_info, &n), MPI_ERR_INFO);
    WRONG(MPI_Session_get_nth_pset(s, no_info, 0, &length, (char *)b), MPI_ERR_INFO);
    OK(MPI_Session_finalize(&s));
    CHECK(n == 7 && length == sizeof b && c == MPI_COMM_NULL);
}

int main(void)
{
    int flag;
    mpi_start();
    CHECK(npes <= 64);
    OK(MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN));
    OK(MPI_Comm_set_errhandler(MPI_COMM_SELF, MPI_ERRORS_RETURN));
    OK(MPI_Type_contiguous(3, MPI_INT, &uncommitted));
    request = MPI_REQUEST_NULL;
    sends();
    receives();
    completions();
    collectives();
    too_long();
    with_counts();
    neighbors();
    forms();
    handles();
    infos();
    CHECK(request == MPI_REQUEST_NULL);
    OK(MPI_Iprobe(MPI_ANY_SOURCE, MPI_ANY_TAG, MPI_COMM_WORLD, &flag, MPI_STATUS_IGNORE));
    CHECK(!flag); // nothing was sent
    OK(MPI_Type_free(&uncommitted));
    OK(MPI_Barrier(MPI_COMM_WORLD)); // and all go on
    return mpi_done();
}
