// SPDX-License-Identifier: BSD-3-Clause
// Get, compute, put with requests: every process fetches blocks of its neighbour's window, filters
// them and puts the results back, several blocks on their way at a time (MPI_Rget, MPI_Rput).
//
//     mpiexec -n 4 mpi_filter --blocks 64 --numbers 32k --depth 4

#include "example_mpi.h"

static long blocks = 64, block_numbers = 4096, depth = 4;
static const struct example_option options[] = {
    {"--blocks", "N", &blocks, 1, NULL, "blocks of each rank"},
    {"--numbers", "N", &block_numbers, 1, NULL, "numbers of a block"},
    {"--depth", "N", &depth, 1, NULL, "blocks on their way"},
    {.name = NULL},
};

static int me, npes, numbers;

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
    struct stage *stage = example_alloc((size_t)depth, sizeof *stage);
    for (long d = 0; d < depth; d++)
        stage[d] = (struct stage){example_alloc((size_t)numbers, sizeof(uint64_t)),
                                  MPI_REQUEST_NULL, MPI_REQUEST_NULL};
    for (long i = 0; i < blocks + depth; i++) {
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
    for (long d = 0; d < depth; d++) {
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
    int status = example_options(argc, argv, "get, compute, put with requests", options);
    if (status != EXAMPLE_RUN) {
        MPI_Finalize();
        return status;
    }
    me = example_rank();
    npes = example_size();
    numbers = (int)block_numbers;
    depth = depth < blocks ? depth : blocks;
    long n = blocks * numbers;
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
        printf("mpi_filter: %ld blocks of %d numbers on %d processes: %.3f s: %s\n", blocks,
               numbers, npes, seconds, all ? "WRONG" : "right");
    MPI_Win_free(&win);
    MPI_Finalize();
    return all != 0;
}
