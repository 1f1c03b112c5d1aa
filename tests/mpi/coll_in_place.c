// SPDX-License-Identifier: BSD-3-Clause
// MPI_Alltoall, MPI_Alltoallv and MPI_Alltoallw in place (MPI 5.0, "All-to-All Scatter/Gather") of elements
// that lie far apart: absolute addresses of static data, of the heap and of the stack, which span more than
// memory holds. Short and long blocks, blocking, nonblocking and persistent; and a receiver that expects
// less than it is sent.
#include "mpi_check.h"

enum { RANKS = 16, LONG = 20000, PLACES = 3 };

static int global[RANKS * LONG];
static int *place[PLACES] = {global};
static int counts[RANKS], displs[RANKS], none[RANKS];
static MPI_Datatype types[RANKS];
static int n; // ints of a block at each place

enum call { ALLTOALL, ALLTOALLV, ALLTOALLW, CALLS };

// n ints at each place, from the i-th block on; the extent is that of a block at one place.
static MPI_Datatype absolute(int i)
{
    int lengths[PLACES] = {n, n, n};
    MPI_Aint at[PLACES];
    MPI_Datatype whole, block;
    for (int k = 0; k < PLACES; k++)
        OK(MPI_Get_address(place[k] + i * n, &at[k]));
    OK(MPI_Type_create_hindexed(PLACES, lengths, at, MPI_INT, &whole));
    OK(MPI_Type_create_resized(whole, 0, n * (MPI_Aint)sizeof(int), &block));
    OK(MPI_Type_commit(&block));
    OK(MPI_Type_free(&whole));
    return block;
}

static int value(int from, int to, int k, int i)
{
    return (from * RANKS + to) * 1000003 + k * 50021 + i;
}

static void begin(void)
{
    for (int k = 0; k < PLACES; k++)
        for (int i = 0; i < npes * n; i++)
            place[k][i] = value(me, i / n, k, i % n);
}

static void check(void)
{
    int wrong = 0;
    for (int k = 0; k < PLACES; k++)
        for (int i = 0; i < npes * n; i++)
            wrong += place[k][i] != value(i / n, me, k, i % n);
    CHECK_EQ(wrong, 0);
}

static void blocking(enum call call)
{
    if (call == ALLTOALL)
        OK(MPI_Alltoall(MPI_IN_PLACE, 0, MPI_INT, MPI_BOTTOM, 1, types[0], MPI_COMM_WORLD));
    else if (call == ALLTOALLV)
        OK(MPI_Alltoallv(MPI_IN_PLACE, NULL, NULL, MPI_INT, MPI_BOTTOM, counts, displs, types[0],
                         MPI_COMM_WORLD));
    else
        OK(MPI_Alltoallw(MPI_IN_PLACE, NULL, NULL, NULL, MPI_BOTTOM, counts, none, types,
                         MPI_COMM_WORLD));
}

static void nonblocking(enum call call)
{
    MPI_Request request;
    if (call == ALLTOALL)
        OK(MPI_Ialltoall(MPI_IN_PLACE, 0, MPI_INT, MPI_BOTTOM, 1, types[0], MPI_COMM_WORLD,
                         &request));
    else if (call == ALLTOALLV)
        OK(MPI_Ialltoallv(MPI_IN_PLACE, NULL, NULL, MPI_INT, MPI_BOTTOM, counts, displs, types[0],
                          MPI_COMM_WORLD, &request));
    else
        OK(MPI_Ialltoallw(MPI_IN_PLACE, NULL, NULL, NULL, MPI_BOTTOM, counts, none, types,
                          MPI_COMM_WORLD, &request));
    OK(MPI_Wait(&request, MPI_STATUS_IGNORE));
}

static MPI_Request persistent(enum call call)
{
    MPI_Request request;
    if (call == ALLTOALL)
        OK(MPI_Alltoall_init(MPI_IN_PLACE, 0, MPI_INT, MPI_BOTTOM, 1, types[0], MPI_COMM_WORLD,
                             MPI_INFO_NULL, &request));
    else if (call == ALLTOALLV)
        OK(MPI_Alltoallv_init(MPI_IN_PLACE, NULL, NULL, MPI_INT, MPI_BOTTOM, counts, displs,
                              types[0], MPI_COMM_WORLD, MPI_INFO_NULL, &request));
    else
        OK(MPI_Alltoallw_init(MPI_IN_PLACE, NULL, NULL, NULL, MPI_BOTTOM, counts, none, types,
                              MPI_COMM_WORLD, MPI_INFO_NULL, &request));
    return request;
}

static void all_forms(enum call call)
{
    begin();
    blocking(call);
    check();
    begin();
    nonblocking(call);
    check();
    MPI_Request request = persistent(call);
    for (int round = 0; round < 3; round++) {
        begin();
        OK(MPI_Start(&request));
        OK(MPI_Wait(&request, MPI_STATUS_IGNORE));
        check();
    }
    OK(MPI_Request_free(&request));
}

static void far_apart(int length)
{
    n = length;
    for (int i = 0; i < npes; i++) {
        counts[i] = 1;
        displs[i] = i;
        types[i] = absolute(i);
    }
    for (int call = 0; call < CALLS; call++)
        all_forms(call);
    for (int i = 0; i < npes; i++)
        OK(MPI_Type_free(&types[i]));
}

// The first rank's blocks for the others have an int more than they expect.
static void too_long(void)
{
    int blocks[2 * RANKS], error;
    for (int i = 0; i < npes; i++) {
        counts[i] = me == 0 && i ? 2 : 1;
        displs[i] = 2 * i;
        blocks[2 * i] = blocks[2 * i + 1] = me;
    }
    OK(MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN));
    error = MPI_Alltoallv(MPI_IN_PLACE, NULL, NULL, MPI_INT, blocks, counts, displs, MPI_INT,
                          MPI_COMM_WORLD);
    CHECK_EQ(class_of(error), me ? MPI_ERR_TRUNCATE : MPI_SUCCESS);
    for (int i = 1; i < npes; i++)
        CHECK_EQ(blocks[2 * i], i);
}

int main(void)
{
    int local[RANKS * 100];
    mpi_start();
    place[1] = malloc(sizeof global);
    place[2] = local;
    far_apart(1);
    far_apart(100);
    place[2] = malloc(sizeof global); // of this size: not in one piece with the other
    far_apart(LONG);
    too_long();
    free(place[1]);
    free(place[2]);
    return mpi_done();
}
