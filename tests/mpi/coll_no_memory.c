// SPDX-License-Identifier: BSD-3-Clause
// Reductions and scans that need copies of elements which span more than memory holds, static data and the
// stack at absolute addresses: MPI_ERR_NO_MEM of the communicator, in every form, before anything is sent
// or after all have got what they need from each other; the communicator goes on.
#include "mpi_check.h"

#if defined(__SANITIZE_THREAD__) || defined(__SANITIZE_ADDRESS__)
enum { IS_SANITIZED = 1 }; // they end a program that asks for so much
#else
enum { IS_SANITIZED = 0 };
#endif

enum { RANKS = 16, ROUNDS = 8 };

static int low[RANKS];
static MPI_Datatype apart;
static MPI_Op op;

static void add(void *in, void *inout, int *count, MPI_Datatype *type)
{
    (void)in, (void)inout, (void)count, (void)type;
    CHECK(!"the operator is not called");
}

static void no_memory(int error)
{
    CHECK_EQ(class_of(error), MPI_ERR_NO_MEM);
}

static void blocking(MPI_Comm comm)
{
    no_memory(MPI_Allreduce(MPI_IN_PLACE, MPI_BOTTOM, 1, apart, op, comm));
    no_memory(MPI_Scan(MPI_IN_PLACE, MPI_BOTTOM, 1, apart, op, comm));
    int rank, error = MPI_Exscan(MPI_IN_PLACE, MPI_BOTTOM, 1, apart, op, comm);
    OK(MPI_Comm_rank(comm, &rank));
    if (rank > 0 || error) // the first one gets nothing
        no_memory(error);
    no_memory(MPI_Reduce_scatter_block(MPI_IN_PLACE, MPI_BOTTOM, 1, apart, op, comm));
}

// A short one that goes by the runtime has got everything when it lacks the memory.
static void nonblocking(MPI_Comm comm)
{
    MPI_Request request = MPI_REQUEST_NULL;
    int error = MPI_Iallreduce(MPI_IN_PLACE, MPI_BOTTOM, 1, apart, op, comm, &request);
    if (error)
        CHECK(request == MPI_REQUEST_NULL);
    no_memory(error ? error : MPI_Wait(&request, MPI_STATUS_IGNORE));
    request = MPI_REQUEST_NULL;
    no_memory(MPI_Iscan(MPI_IN_PLACE, MPI_BOTTOM, 1, apart, op, comm, &request));
    CHECK(request == MPI_REQUEST_NULL);
}

static void persistent(MPI_Comm comm)
{
    MPI_Request request[2];
    OK(MPI_Allreduce_init(MPI_IN_PLACE, MPI_BOTTOM, 1, apart, op, comm, MPI_INFO_NULL,
                          &request[0]));
    OK(MPI_Scan_init(MPI_IN_PLACE, MPI_BOTTOM, 1, apart, op, comm, MPI_INFO_NULL, &request[1]));
    for (int i = 0; i < 4; i++) {
        int error = MPI_Start(&request[i % 2]);
        no_memory(error ? error : MPI_Wait(&request[i % 2], MPI_STATUS_IGNORE));
    }
    OK(MPI_Request_free(&request[0]));
    OK(MPI_Request_free(&request[1]));
}

static void goes_on(MPI_Comm comm)
{
    int sum = me;
    OK(MPI_Allreduce(MPI_IN_PLACE, &sum, 1, MPI_INT, MPI_SUM, comm));
    CHECK_EQ(sum, npes * (npes - 1) / 2);
    OK(MPI_Barrier(comm));
}

static MPI_Datatype span(const int *a, const int *b)
{
    MPI_Aint at[2];
    MPI_Datatype both, one;
    OK(MPI_Get_address(a, &at[0]));
    OK(MPI_Get_address(b, &at[1]));
    OK(MPI_Type_create_hindexed_block(2, 1, at, MPI_INT, &both));
    OK(MPI_Type_create_resized(both, 0, sizeof(int), &one));
    OK(MPI_Type_commit(&one));
    OK(MPI_Type_free(&both));
    return one;
}

int main(void)
{
    int high[RANKS] = {0};
    MPI_Comm comm;
    mpi_start();
    OK(MPI_Comm_dup(MPI_COMM_WORLD, &comm));
    OK(MPI_Comm_set_errhandler(comm, MPI_ERRORS_RETURN));
    OK(MPI_Op_create(add, 1, &op));
    apart = span(low, high);
    for (int round = 0; round < ROUNDS && npes > 1 && !IS_SANITIZED; round++) {
        blocking(comm);
        nonblocking(comm);
        persistent(comm);
        goes_on(comm);
    }
    OK(MPI_Op_free(&op));
    OK(MPI_Type_free(&apart));
    OK(MPI_Comm_free(&comm));
    return mpi_done();
}
