// SPDX-License-Identifier: BSD-3-Clause
// A collective that is pending makes progress while its process waits in a blocking one, on whatever
// way that goes: some wait for the one first, some for the other.
// PES: 2 4 7
#include "mpi_check.h"

enum { TURNS = 10, LONGEST = 100000 };

static int in[LONGEST], out[LONGEST];

static void blocking(int turn)
{
    int sum = 0, last = me == npes - 1 ? turn : -1, longer[1000] = {0};
    switch (turn % 4) {
    case 0: OK(MPI_Barrier(MPI_COMM_WORLD)); break;
    case 1:
        OK(MPI_Allreduce(&turn, &sum, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD));
        CHECK_EQ(sum, turn * npes);
        break;
    case 2:
        OK(MPI_Bcast(&last, 1, MPI_INT, npes - 1, MPI_COMM_WORLD));
        OK(MPI_Barrier(MPI_COMM_WORLD)); // a broadcast need not wait for all
        CHECK_EQ(last, turn);
        break;
    default:
        OK(MPI_Allreduce(MPI_IN_PLACE, longer, 1000, MPI_INT, MPI_SUM, MPI_COMM_WORLD));
        CHECK_EQ(longer[999], 0);
    }
}

static void overlap(MPI_Comm other, int n, int turn)
{
    MPI_Request r;
    for (int i = 0; i < n; i++)
        in[i] = me + i;
    OK(MPI_Iallreduce(in, out, n, MPI_INT, MPI_SUM, other, &r));
    if (me % 2 == turn / 4 % 2) {
        OK(MPI_Wait(&r, MPI_STATUS_IGNORE));
        blocking(turn);
    } else {
        blocking(turn);
        OK(MPI_Wait(&r, MPI_STATUS_IGNORE));
    }
    CHECK_EACH(i, n, out[i], npes * (npes - 1) / 2 + npes * (int)i);
}

int main(void)
{
    static const int lengths[] = {1, 100, 5000, LONGEST};
    MPI_Comm other;
    mpi_start();
    OK(MPI_Comm_dup(MPI_COMM_WORLD, &other));
    for (int turn = 0; turn < TURNS; turn++)
        for (size_t i = 0; i < sizeof lengths / sizeof *lengths; i++)
            overlap(other, lengths[i], turn);
    OK(MPI_Comm_free(&other));
    return mpi_done();
}
