// SPDX-License-Identifier: BSD-3-Clause
// PES: 1 2
// MPI_THREAD_MULTIPLE: threads send to their own process at once, each in a communicator of its own; then
// one thread to another in one communicator.
#include "self.h"

#include <pthread.h>

enum { THREADS = 3 };

static MPI_Comm comm[THREADS + 1];

static void *alone(void *arg)
{
    int t = (int)(intptr_t)arg;
    uint64_t state = (uint64_t)(me * THREADS + t);
    for (int i = 0; i < ROUNDS; i++)
        burst(comm[t], &state);
    return NULL;
}

static void *one_sends(void *arg)
{
    for (int i = 0; i < ROUNDS * BURST; i++)
        OK((arg ? MPI_Ssend : MPI_Send)(&i, 1, MPI_INT, me, TAG, comm[THREADS]));
    return NULL;
}

static void one_receives(void)
{
    for (int i = 0; i < ROUNDS * BURST; i++) {
        int got = -1;
        OK(MPI_Recv(&got, 1, MPI_INT, me, TAG, comm[THREADS], MPI_STATUS_IGNORE));
        CHECK_EQ(got, i);
    }
}

static void by_threads(void)
{
    pthread_t thread[THREADS];
    for (int t = 0; t < THREADS; t++)
        pthread_create(&thread[t], NULL, alone, (void *)(intptr_t)t);
    for (int t = 0; t < THREADS; t++)
        pthread_join(thread[t], NULL);
    for (intptr_t is_sync = 0; is_sync < 2; is_sync++) {
        pthread_create(&thread[0], NULL, one_sends, (void *)is_sync);
        one_receives();
        pthread_join(thread[0], NULL);
    }
}

int main(void)
{
    int provided = -1;
    OK(MPI_Init_thread(NULL, NULL, MPI_THREAD_MULTIPLE, &provided));
    OK(MPI_Comm_rank(MPI_COMM_WORLD, &me));
    OK(MPI_Comm_size(MPI_COMM_WORLD, &npes));
    for (int i = 0; i <= THREADS; i++)
        OK(MPI_Comm_dup(MPI_COMM_WORLD, &comm[i]));
    by_threads();
    for (int i = 0; i <= THREADS; i++)
        OK(MPI_Comm_free(&comm[i]));
    return mpi_done();
}
