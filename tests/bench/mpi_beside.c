// SPDX-License-Identifier: BSD-3-Clause
// PES: none
// MPI on a machine that is not its alone: tests/bench/run starts programs beside it that compute without
// pause, one for each core. Nothing is pinned. The source compiles with any MPI.
#include "mpi_bench.h"

enum { FEW = 50 };
static const double ENOUGH_NS = 1e9; // many slices of the scheduler's

// ns a call of `batch`, in as many as it takes: rank 0 says when it is enough.
static void mean_of(double (*batch)(int), const char *name)
{
    double took = 0, calls = 0;
    for (int n = FEW, goes_on = 1; goes_on; n += n / 2) {
        took += batch(n) * n;
        calls += n;
        goes_on = took < ENOUGH_NS;
        MPI_Bcast(&goes_on, 1, MPI_INT, 0, MPI_COMM_WORLD);
    }
    tell_one(name, npes, took / calls, "ns");
}

static double barriers(int n)
{
    double ns;
    EACH_OF(n, ns, MPI_Barrier(MPI_COMM_WORLD));
    return ns;
}

static double messages(int n)
{
    return one_way(MPI_Send, 8, MPI_BYTE, n);
}

int main(int argc, char **argv)
{
    char buffer[2][8] = {{0}};
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &me);
    MPI_Comm_size(MPI_COMM_WORLD, &npes);
    prefix = "mpi_beside";
    out = buffer[0];
    in = buffer[1];
    mean_of(barriers, "barrier");
    mean_of(messages, "message");
    return MPI_Finalize();
}
