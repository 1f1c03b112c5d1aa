// SPDX-License-Identifier: BSD-3-Clause
// Collectives over elements without data whose extent is a GB, so many that they would span more than
// memory holds: they come to their end and move nothing. Operators are of the program.
#include "mpi_check.h"

enum { MANY = 1000000, RANKS = 16 };

static MPI_Datatype empty;
static MPI_Op op;
static int counts[RANKS], displs[RANKS];
static char a[8] = "from", b[8] = "to";

static void nothing(void *in, void *inout, int *count, MPI_Datatype *type)
{
    (void)in, (void)inout, (void)count, (void)type;
}

static void reductions(const void *from)
{
    OK(MPI_Allreduce(from, b, MANY, empty, op, MPI_COMM_WORLD));
    OK(MPI_Reduce(me && from == MPI_IN_PLACE ? a : from, b, MANY, empty, op, 0, MPI_COMM_WORLD));
    OK(MPI_Scan(from, b, MANY, empty, op, MPI_COMM_WORLD));
    OK(MPI_Exscan(from, b, MANY, empty, op, MPI_COMM_WORLD));
    OK(MPI_Reduce_scatter_block(from, b, MANY, empty, op, MPI_COMM_WORLD));
    OK(MPI_Reduce_scatter(from, b, counts, empty, op, MPI_COMM_WORLD));
}

static void moves(void)
{
    OK(MPI_Bcast(b, MANY, empty, 0, MPI_COMM_WORLD));
    OK(MPI_Gather(a, MANY, empty, b, MANY, empty, 0, MPI_COMM_WORLD));
    OK(MPI_Scatter(a, MANY, empty, b, MANY, empty, 0, MPI_COMM_WORLD));
    OK(MPI_Allgather(a, MANY, empty, b, MANY, empty, MPI_COMM_WORLD));
    OK(MPI_Alltoall(a, MANY, empty, b, MANY, empty, MPI_COMM_WORLD));
    OK(MPI_Alltoall(MPI_IN_PLACE, 0, empty, b, MANY, empty, MPI_COMM_WORLD));
    OK(MPI_Alltoallv(MPI_IN_PLACE, counts, displs, empty, b, counts, displs, empty,
                     MPI_COMM_WORLD));
}

static void without_waiting(void)
{
    MPI_Request request[4];
    OK(MPI_Iallreduce(a, b, MANY, empty, op, MPI_COMM_WORLD, &request[0]));
    OK(MPI_Iscan(a, b, MANY, empty, op, MPI_COMM_WORLD, &request[1]));
    OK(MPI_Ireduce_scatter_block(a, b, MANY, empty, op, MPI_COMM_WORLD, &request[2]));
    OK(MPI_Ialltoall(MPI_IN_PLACE, 0, empty, b, MANY, empty, MPI_COMM_WORLD, &request[3]));
    OK(MPI_Waitall(4, request, MPI_STATUSES_IGNORE));
    OK(MPI_Allreduce_init(a, b, MANY, empty, op, MPI_COMM_WORLD, MPI_INFO_NULL, &request[0]));
    for (int i = 0; i < 2; i++) {
        OK(MPI_Start(&request[0]));
        OK(MPI_Wait(&request[0], MPI_STATUS_IGNORE));
    }
    OK(MPI_Request_free(&request[0]));
}

int main(void)
{
    MPI_Datatype no_ints;
    mpi_start();
    OK(MPI_Type_contiguous(0, MPI_INT, &no_ints));
    OK(MPI_Type_create_resized(no_ints, 0, 1 << 30, &empty));
    OK(MPI_Type_commit(&empty));
    OK(MPI_Type_free(&no_ints));
    OK(MPI_Op_create(nothing, 1, &op));
    for (int i = 0; i < npes; i++) {
        counts[i] = MANY;
        displs[i] = i * MANY;
    }
    for (int round = 0; round < 6; round++) { // the communicator goes over to the runtime's
        reductions(a);
        reductions(MPI_IN_PLACE);
        moves();
        without_waiting();
    }
    CHECK_EQ(memcmp(a, "from", 5), 0);
    CHECK_EQ(memcmp(b, "to", 3), 0);
    OK(MPI_Op_free(&op));
    OK(MPI_Type_free(&empty));
    return mpi_done();
}
