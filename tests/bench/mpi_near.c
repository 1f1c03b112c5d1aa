// SPDX-License-Identifier: BSD-3-Clause
// PES: none
// MPI: messages between ranks 0 and 1, of one node, while the others wait for the end. Its figures begin
// with its first argument: of a job of two nodes, and as their limit of one.
#include "mpi_bench.h"

static double ping_pong(int n, int count)
{
    double begin = now_ns();
    for (int i = 0; i < count; i++) {
        if (me == 0)
            MPI_Send(out, n, MPI_BYTE, 1, 0, MPI_COMM_WORLD);
        MPI_Recv(in, n, MPI_BYTE, !me, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        if (me == 1)
            MPI_Send(out, n, MPI_BYTE, 0, 0, MPI_COMM_WORLD);
    }
    return (now_ns() - begin) / count / 2;
}

int main(int argc, char **argv)
{
    static const int sizes[] = {8, 1024, 4096, 65536};
    bench_start(argc, argv);
    for (int s = 0; me < 2 && s < (int)(sizeof sizes / sizeof *sizes); s++) {
        double x[ROUNDS];
        for (int r = 0; r < ROUNDS; r++)
            x[r] = ping_pong(sizes[s], sizes[s] > 4096 ? 400 : 2000);
        tell("message", sizes[s], x, "ns");
    }
    if (me > 1)
        MPI_Recv(in, 0, MPI_BYTE, 0, 1, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    for (int i = 2; me == 0 && i < npes; i++)
        MPI_Send(out, 0, MPI_BYTE, i, 1, MPI_COMM_WORLD);
    return bench_done();
}
