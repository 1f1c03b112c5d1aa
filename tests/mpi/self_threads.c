// SPDX-License-Identifier: BSD-3-Clause
// PES: 1 2
// MPI_THREAD_MULTIPLE: threads send to their own process at once, each in a communicator of its own; then
// one thread to another in one communicator. Requests that one thread makes and another ends leave no
// memory behind.
#include "../proc.h"
#include "self.h"

#include <pthread.h>
#include <semaphore.h>

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

// ---- One makes requests, another ends them
enum { HANDED = 40000, KB_MOST = 4096 };

static MPI_Request handed;
static sem_t full, empty;

static void *ends(void *arg)
{
    (void)arg;
    for (int i = 0; i < HANDED; i++) {
        sem_wait(&full);
        OK(MPI_Wait(&handed, MPI_STATUS_IGNORE));
        sem_post(&empty);
    }
    return NULL;
}

static void handed_over(void)
{
    static const char file[] = "/proc/self/status";
    pthread_t thread;
    long before = 0;
    int in;
    sem_init(&full, 0, 0);
    sem_init(&empty, 0, 1);
    pthread_create(&thread, NULL, ends, NULL);
    for (int i = 0; i < HANDED; i++) {
        sem_wait(&empty);
        if (i == HANDED / 4)
            before = proc_kb(file, "VmRSS:");
        OK(MPI_Irecv(&in, 1, MPI_INT, me, TAG, comm[0], &handed));
        OK(MPI_Send(&i, 1, MPI_INT, me, TAG, comm[0]));
        CHECK_EQ(in, i);
        sem_post(&full);
    }
    pthread_join(thread, NULL);
    long more = proc_kb(file, "VmRSS:") - before;
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__) // they keep what is freed
    more = 0;
#endif
    CHECK(more < KB_MOST);
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
    handed_over();
    for (int i = 0; i <= THREADS; i++)
        OK(MPI_Comm_free(&comm[i]));
    return mpi_done();
}
