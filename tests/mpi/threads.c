// SPDX-License-Identifier: BSD-3-Clause
// PES: 2 4
// MPI_THREAD_MULTIPLE: threads of every rank exchange messages of all lengths with their partners in
// the other ranks, each pair in a communicator of its own, and do collectives there.
#include "mpi_check.h"

#include <pthread.h>

enum { THREADS = 4, ROUNDS = 60, LARGEST = 10000 };

static MPI_Comm comm[THREADS];

static void *work(void *arg)
{
    int t = (int)(intptr_t)arg, right = (me + 1) % npes, left = (me - 1 + npes) % npes;
    unsigned char *out = malloc(LARGEST), *in = malloc(LARGEST);
    uint64_t state = (uint64_t)t;
    for (int i = 0; i < ROUNDS; i++) {
        int n = (int)rnd_below(&state, 3) ? (int)rnd_below(&state, 64)
                                          : (int)rnd_below(&state, LARGEST),
            sum = -1;
        MPI_Status s;
        fill(out, (size_t)n, (unsigned)(me * THREADS + t + i));
        OK(MPI_Sendrecv(out, n, MPI_BYTE, right, i, in, LARGEST, MPI_BYTE, left, i, comm[t], &s));
        CHECK_EACH(k, n, in[k], fill_byte((unsigned)(left * THREADS + t + i), k));
        if (i % 4 == 0) {
            OK(MPI_Allreduce(&t, &sum, 1, MPI_INT, MPI_SUM, comm[t]));
            CHECK_EQ(sum, t * npes);
        }
    }
    free(out);
    free(in);
    return NULL;
}

// All threads in one communicator, with tags of their own; a thread waits while others receive.
static void *share(void *arg)
{
    int t = (int)(intptr_t)arg, right = (me + 1) % npes, left = (me - 1 + npes) % npes;
    for (int i = 0; i < ROUNDS; i++) {
        int mine = t * 1000 + i, got = -1;
        MPI_Request r;
        OK(MPI_Irecv(&got, 1, MPI_INT, left, t, MPI_COMM_WORLD, &r));
        OK(MPI_Ssend(&mine, 1, MPI_INT, right, t, MPI_COMM_WORLD));
        OK(MPI_Wait(&r, MPI_STATUS_IGNORE));
        CHECK_EQ(got, mine);
    }
    return NULL;
}

static void run(void *(*fn)(void *))
{
    pthread_t thread[THREADS];
    for (int t = 0; t < THREADS; t++)
        pthread_create(&thread[t], NULL, fn, (void *)(intptr_t)t);
    for (int t = 0; t < THREADS; t++)
        pthread_join(thread[t], NULL);
}

int main(void)
{
    int provided = -1;
    OK(MPI_Init_thread(NULL, NULL, MPI_THREAD_MULTIPLE, &provided));
    CHECK_EQ(provided, MPI_THREAD_MULTIPLE);
    OK(MPI_Comm_rank(MPI_COMM_WORLD, &me));
    OK(MPI_Comm_size(MPI_COMM_WORLD, &npes));
    for (int t = 0; t < THREADS; t++)
        OK(MPI_Comm_dup(MPI_COMM_WORLD, &comm[t]));
    run(work);
    OK(MPI_Barrier(MPI_COMM_WORLD));
    run(share);
    for (int t = 0; t < THREADS; t++)
        OK(MPI_Comm_free(&comm[t]));
    return mpi_done();
}
