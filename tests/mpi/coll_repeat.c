// SPDX-License-Identifier: BSD-3-Clause
// Sums of floating-point numbers have the same bits each time, on every rank: also when a
// communicator goes over to the runtime's collectives; and so for more communicators at a time than
// the runtime has teams. Nonblocking sums that are short, or as long as 16 KB, have the same.
#include "mpi_check.h"

enum { N = 9, LONG = 4000, TURNS = 24, COMMS = 300 };

static void sums(MPI_Comm comm)
{
    double in[N], out[N], first[N], reduced[N];
    for (int i = 0; i < N; i++)
        in[i] = 1.0 / (3 + 7 * me + i) * (i % 2 ? 1e17 : 1);
    for (int turn = 0; turn < TURNS; turn++) {
        double root_first[N];
        OK(MPI_Allreduce(in, out, N, MPI_DOUBLE, MPI_SUM, comm));
        if (turn == 0)
            memcpy(first, out, sizeof out);
        CHECK(memcmp(first, out, sizeof out) == 0);
        memcpy(root_first, out, sizeof out);
        OK(MPI_Bcast(root_first, N, MPI_DOUBLE, 0, comm));
        CHECK(memcmp(root_first, out, sizeof out) == 0);
        OK(MPI_Reduce(in, out, N, MPI_DOUBLE, MPI_SUM, npes - 1, comm));
        if (turn == 0)
            memcpy(reduced, out, sizeof out);
        CHECK(me != npes - 1 || memcmp(reduced, out, sizeof out) == 0);
    }
}

// Of n elements, in turn by a blocking and by a nonblocking call.
static void both_forms(MPI_Comm comm, int n)
{
    static double in[LONG], out[LONG], first[LONG];
    for (int i = 0; i < n; i++)
        in[i] = 1.0 / (3 + 7 * me + i) * (i % 2 ? 1e17 : 1);
    for (int turn = 0; turn < TURNS; turn++) {
        MPI_Request r = MPI_REQUEST_NULL;
        memset(out, 0, sizeof out);
        if (turn % 2)
            OK(MPI_Iallreduce(in, out, n, MPI_DOUBLE, MPI_SUM, comm, &r));
        else
            OK(MPI_Allreduce(in, out, n, MPI_DOUBLE, MPI_SUM, comm));
        OK(MPI_Wait(&r, MPI_STATUS_IGNORE));
        if (turn == 0)
            memcpy(first, out, sizeof out);
        CHECK(memcmp(first, out, sizeof out) == 0);
    }
}

// What calls before this one have left on the stack, which none that follows may take for its own.
static __attribute__((noinline)) void fill_stack(void)
{
    char filled[16384];
    memset(filled, 0x5a, sizeof filled);
    __asm__ volatile("" : : "r"(filled) : "memory");
}

// In place, of memory that the others reach.
static void in_place(MPI_Comm comm, int n)
{
    static double all[LONG], first[LONG];
    for (int turn = 0; turn < TURNS; turn++) {
        for (int i = 0; i < n; i++)
            all[i] = 1.0 / (3 + 7 * me + i) * (i % 2 ? 1e17 : 1);
        fill_stack();
        OK(MPI_Allreduce(MPI_IN_PLACE, all, n, MPI_DOUBLE, MPI_SUM, comm));
        if (turn == 0)
            memcpy(first, all, sizeof all);
        CHECK(memcmp(first, all, sizeof all) == 0);
    }
}

int main(void)
{
    static MPI_Comm comms[COMMS];
    mpi_start();
    sums(MPI_COMM_WORLD);
    both_forms(MPI_COMM_WORLD, N);
    both_forms(MPI_COMM_WORLD, LONG);
    in_place(MPI_COMM_WORLD, N);
    in_place(MPI_COMM_WORLD, LONG);
    for (int i = 0; i < COMMS; i++) {
        OK(MPI_Comm_dup(MPI_COMM_WORLD, &comms[i]));
        for (int k = 0; k < 5; k++) {
            int sum = 0;
            OK(MPI_Allreduce(&i, &sum, 1, MPI_INT, MPI_SUM, comms[i]));
            CHECK_EQ(sum, i * npes);
        }
    }
    sums(comms[COMMS - 1]);
    for (int i = 0; i < COMMS; i++)
        OK(MPI_Comm_free(&comms[i]));
    return mpi_done();
}
