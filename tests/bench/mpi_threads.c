// SPDX-License-Identifier: BSD-3-Clause
// PES: none
// Do threads in communicators of their own hold each other up? Messages of 8 bytes that each of 1, 2 and 4
// threads sends to its own process, which needs no core but theirs. The source compiles with any MPI.
#include "bench.h"

#include <mpi.h>
#include <pthread.h>
#include <stdint.h>

enum { ROUNDS = 9, MOST = 4, MESSAGES = 20000 };

static MPI_Comm comm[MOST];
static pthread_barrier_t barrier;

static void *run(void *arg)
{
    MPI_Comm c = comm[(intptr_t)arg];
    char out[8] = {0}, in[8];
    MPI_Request r;
    pthread_barrier_wait(&barrier);
    for (int i = 0; i < MESSAGES; i++) {
        MPI_Irecv(in, 8, MPI_BYTE, 0, 0, c, &r);
        MPI_Send(out, 8, MPI_BYTE, 0, 0, c);
        MPI_Wait(&r, MPI_STATUS_IGNORE);
    }
    pthread_barrier_wait(&barrier);
    return NULL;
}

// Millions of messages a second, of all threads together.
static double rate(int threads)
{
    pthread_t thread[MOST];
    pthread_barrier_init(&barrier, NULL, (unsigned)threads + 1);
    for (int i = 0; i < threads; i++)
        if (pthread_create(&thread[i], NULL, run, (void *)(intptr_t)i))
            abort();
    double start = now_ns();
    pthread_barrier_wait(&barrier);
    pthread_barrier_wait(&barrier);
    double ns = now_ns() - start;
    for (int i = 0; i < threads; i++)
        pthread_join(thread[i], NULL);
    pthread_barrier_destroy(&barrier);
    return (double)threads * MESSAGES / ns * 1000;
}

int main(int argc, char **argv)
{
    int provided;
    MPI_Init_thread(&argc, &argv, MPI_THREAD_MULTIPLE, &provided);
    if (provided != MPI_THREAD_MULTIPLE)
        return 1;
    for (int i = 0; i < MOST; i++)
        MPI_Comm_dup(MPI_COMM_SELF, &comm[i]);
    for (int threads = 1; threads <= MOST; threads *= 2) {
        double took[ROUNDS];
        for (int r = 0; r < ROUNDS; r++)
            took[r] = rate(threads);
        qsort(took, ROUNDS, sizeof *took, ascending);
        figure("mpi_threads", threads, took[ROUNDS / 2], "M/s");
    }
    for (int i = 0; i < MOST; i++)
        MPI_Comm_free(&comm[i]);
    MPI_Finalize();
    return 0;
}
