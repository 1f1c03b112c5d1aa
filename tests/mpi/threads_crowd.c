// SPDX-License-Identifier: BSD-3-Clause
// PES: 1 2
// TIMEOUT: 180
// MPI_THREAD_MULTIPLE: more threads at a time than the library has room of their own for, and more in
// all: their messages arrive, none is left uncounted, and threads that sleep are woken by threads that
// began later.
#include "mpi_check.h"

#include <pthread.h>
#include <time.h>

enum { THREADS = 80, GENERATIONS = 3, ROUNDS_ALONE = 2000, ROUNDS = 40 };

static pthread_barrier_t all_run;

static int rounds(void) // messages to oneself do not wait
{
    return npes == 1 ? ROUNDS_ALONE : ROUNDS;
}

static void *exchanges(void *arg)
{
    int t = (int)(intptr_t)arg, right = (me + 1) % npes, left = (me - 1 + npes) % npes;
    pthread_barrier_wait(&all_run);
    for (int i = 0; i < rounds(); i++) {
        int out = t * rounds() + i, in = -1;
        MPI_Request r;
        OK(MPI_Irecv(&in, 1, MPI_INT, left, t, MPI_COMM_WORLD, &r));
        OK(MPI_Send(&out, 1, MPI_INT, right, t, MPI_COMM_WORLD));
        OK(MPI_Wait(&r, MPI_STATUS_IGNORE));
        CHECK_EQ(in, out);
    }
    return NULL;
}

static void *receives(void *arg)
{
    int t = (int)(intptr_t)arg, in = -1;
    OK(MPI_Recv(&in, 1, MPI_INT, 0, t, MPI_COMM_SELF, MPI_STATUS_IGNORE));
    CHECK_EQ(in, t);
    return NULL;
}

static void *sends(void *arg)
{
    int t = (int)(intptr_t)arg;
    OK(MPI_Send(&t, 1, MPI_INT, 0, t, MPI_COMM_SELF));
    return NULL;
}

static void begin(pthread_t thread[THREADS], void *(*fn)(void *))
{
    for (int t = 0; t < THREADS; t++)
        CHECK_EQ(pthread_create(&thread[t], NULL, fn, (void *)(intptr_t)t), 0);
}

static void join(pthread_t thread[THREADS])
{
    for (int t = 0; t < THREADS; t++)
        pthread_join(thread[t], NULL);
}

static void counted(void)
{
    pthread_t thread[THREADS];
    struct counter matched = counter_start("matched"), unexpected = counter_start("unexpected");
    pthread_barrier_init(&all_run, NULL, THREADS);
    for (int g = 0; g < GENERATIONS; g++) {
        begin(thread, exchanges);
        join(thread);
    }
    pthread_barrier_destroy(&all_run);
    CHECK(counter_read(&matched) + counter_read(&unexpected) >=
          (unsigned long long)(GENERATIONS * THREADS * rounds()));
    counter_end(&matched);
    counter_end(&unexpected);
}

static void woken(void)
{
    pthread_t receiver[THREADS], sender[THREADS];
    begin(receiver, receives);
    nanosleep(&(struct timespec){.tv_nsec = 20000000}, NULL); // most of them sleep
    begin(sender, sends);
    join(sender);
    join(receiver);
}

int main(void)
{
    int provided = -1;
    OK(MPI_Init_thread(NULL, NULL, MPI_THREAD_MULTIPLE, &provided));
    OK(MPI_Comm_rank(MPI_COMM_WORLD, &me));
    OK(MPI_Comm_size(MPI_COMM_WORLD, &npes));
    counted();
    for (int i = 0; i < 3; i++)
        woken();
    return mpi_done();
}
