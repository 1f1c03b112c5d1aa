// SPDX-License-Identifier: BSD-3-Clause
// Get, compute, put with requests: every process fetches blocks of its neighbour's window, filters
// them and puts the results back, several blocks on their way at a time (MPI_Rget, MPI_Rput).
//
//     mpiexec -n 4 mpi_filter [blocks [numbers of a block [blocks on their way]]]

#include <mpi.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

static int me, npes, blocks = 64, numbers = 4096, depth = 4;

static uint64_t filter(uint64_t x)
{
    return (x ^ x >> 31) * UINT64_C(0x9e3779b97f4a7c15);
}

static uint64_t first_value(int rank, long i)
{
    return (uint64_t)rank * 1000003u + (uint64_t)i;
}

struct stage {
    uint64_t *data;
    MPI_Request get, put;
};

static void run(MPI_Win win, int target)
{
    struct stage *stage = calloc((size_t)depth, sizeof *stage);
    for (int d = 0; d < depth; d++)
        stage[d] = (struct stage){malloc((size_t)numbers * sizeof(uint64_t)), MPI_REQUEST_NULL,
                                  MPI_REQUEST_NULL};
    for (int i = 0; i < blocks + depth; i++) {
        struct stage *s = &stage[i % depth];
        if (i >= depth) { // the block that was asked for `depth` steps ago
            MPI_Wait(&s->get, MPI_STATUS_IGNORE);
            for (int k = 0; k < numbers && i - depth < blocks; k++)
                s->data[k] = filter(s->data[k]);
            MPI_Rput(s->data, numbers, MPI_UINT64_T, target, (MPI_Aint)(i - depth) * numbers,
                     numbers, MPI_UINT64_T, win, &s->put);
        }
        if (i < blocks) {
            MPI_Wait(&s->put, MPI_STATUS_IGNORE); // its buffer is free
            MPI_Rget(s->data, numbers, MPI_UINT64_T, target, (MPI_Aint)i * numbers, numbers,
                     MPI_UINT64_T, win, &s->get);
        }
    }
    for (int d = 0; d < depth; d++) {
        MPI_Wait(&stage[d].put, MPI_STATUS_IGNORE);
        free(stage[d].data);
    }
    free(stage);
    MPI_Win_flush(target, win);
}

int main(int argc, char **argv)
{
    MPI_Win win;
    uint64_t *mine;
    long wrong = 0, all;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &me);
    MPI_Comm_size(MPI_COMM_WORLD, &npes);
    blocks = argc > 1 ? atoi(argv[1]) : blocks;
    numbers = argc > 2 ? atoi(argv[2]) : numbers;
    depth = argc > 3 ? atoi(argv[3]) : depth;
    depth = depth < blocks ? depth : blocks;
    long n = (long)blocks * numbers;
    MPI_Win_allocate(n * (MPI_Aint)sizeof *mine, sizeof *mine, MPI_INFO_NULL, MPI_COMM_WORLD, &mine,
                     &win);
    for (long i = 0; i < n; i++)
        mine[i] = first_value(me, i);
    MPI_Barrier(MPI_COMM_WORLD);
    double start = MPI_Wtime();
    MPI_Win_lock_all(0, win);
    run(win, (me + 1) % npes);
    MPI_Win_unlock_all(win);
    MPI_Barrier(MPI_COMM_WORLD);
    double seconds = MPI_Wtime() - start;
    for (long i = 0; i < n; i++)
        wrong += mine[i] != filter(first_value(me, i));
    MPI_Allreduce(&wrong, &all, 1, MPI_LONG, MPI_SUM, MPI_COMM_WORLD);
    if (me == 0)
        printf("mpi_filter: %d blocks of %d numbers on %d processes: %.3f s: %s\n", blocks, numbers,
               npes, seconds, all ? "WRONG" : "right");
    MPI_Win_free(&win);
    MPI_Finalize();
    return all != 0;
}
