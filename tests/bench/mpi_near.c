// SPDX-License-Identifier: BSD-3-Clause
// PES: none
// MPI: messages between ranks 0 and 1, of one node, while the others wait. Its figures begin
// with its first argument: of a job of two nodes, and as their limit of one. A round takes a few ms,
// as who waits looks for a while before it sleeps, here on the same cores.
#include "mpi_bench.h"

int main(int argc, char **argv)
{
    static const int sizes[] = {8, 1024, 4096, 65536};
    bench_start(argc, argv);
    for (int s = 0; s < (int)(sizeof sizes / sizeof *sizes); s++) {
        double x[ROUNDS];
        for (int r = 0; r < ROUNDS; r++)
            x[r] = one_way(MPI_Send, sizes[s], MPI_BYTE, sizes[s] > 4096 ? 8000 : 40000);
        tell("message", sizes[s], x, "ns");
    }
    return bench_done();
}
