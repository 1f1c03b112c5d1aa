// SPDX-License-Identifier: BSD-3-Clause
// PES: none
// MPI's collectives of middle and long blocks: each of 4 KB, 64 KB and 1 MB a process, several in a row
// until all have done them. The source compiles with any MPI.
#include "bench.h"

#include <mpi.h>

enum { ROUNDS = 9, KINDS = 7 };

static const char *const names[KINDS] = {"bcast",     "reduce", "allreduce", "alltoall",
                                         "allgather", "gather", "scatter"};
static char *out, *in;

static void call(int kind, int n)
{
    MPI_Comm c = MPI_COMM_WORLD;
    switch (kind) {
    case 0: MPI_Bcast(out, n, MPI_BYTE, 0, c); break;
    case 1: MPI_Reduce(out, in, n / 8, MPI_DOUBLE, MPI_SUM, 0, c); break;
    case 2: MPI_Allreduce(out, in, n / 8, MPI_DOUBLE, MPI_SUM, c); break;
    case 3: MPI_Alltoall(out, n, MPI_BYTE, in, n, MPI_BYTE, c); break;
    case 4: MPI_Allgather(out, n, MPI_BYTE, in, n, MPI_BYTE, c); break;
    case 5: MPI_Gather(out, n, MPI_BYTE, in, n, MPI_BYTE, 0, c); break;
    default: MPI_Scatter(out, n, MPI_BYTE, in, n, MPI_BYTE, 0, c); break;
    }
}

static double measure(int kind, int n)
{
    int times = n > 65536 ? 5 : 50;
    MPI_Barrier(MPI_COMM_WORLD);
    double start = now_ns();
    for (int i = 0; i < times; i++)
        call(kind, n);
    MPI_Barrier(MPI_COMM_WORLD);
    return (now_ns() - start) / times;
}

int main(void)
{
    int me, npes;
    MPI_Init(NULL, NULL);
    MPI_Comm_rank(MPI_COMM_WORLD, &me);
    MPI_Comm_size(MPI_COMM_WORLD, &npes);
    pin(me);
    for (int n = 4096; n <= 1 << 20; n *= 16) {
        out = calloc((size_t)npes, (size_t)n);
        in = calloc((size_t)npes, (size_t)n);
        for (int kind = 0; kind < KINDS; kind++) {
            double took[ROUNDS];
            char key[64];
            measure(kind, n);
            for (int r = 0; r < ROUNDS; r++)
                took[r] = measure(kind, n);
            qsort(took, ROUNDS, sizeof *took, ascending);
            snprintf(key, sizeof key, "mpi_coll_%s_%d", names[kind], n);
            if (me == 0)
                figure(key, npes, took[ROUNDS / 2], "ns");
        }
        free(out);
        free(in);
    }
    return MPI_Finalize();
}
