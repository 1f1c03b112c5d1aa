// SPDX-License-Identifier: BSD-3-Clause
// MPI 5.0, "Partitioned Point-to-Point Communication", as it is meant: threads make their partitions ready,
// others wait for those that they need; a partition that several make ready is so once.
#include "mpi_check.h"

#include <pthread.h>

enum { THREADS = 4, EACH = 3, PARTS = THREADS * EACH, LENGTH = 500, RUNS = 20 };

static int out[PARTS * LENGTH], in[PARTS * LENGTH];
static MPI_Request both[2]; // sent to the right, received from the left
static int run;
static _Atomic int firsts;

static int value(int rank, int i)
{
    return rank * 1000000 + run * 20000 + i;
}

static void *sender(void *arg)
{
    int thread = *(int *)arg;
    for (int k = 0; k < EACH; k++) {
        int part = k * THREADS + thread;
        for (int i = part * LENGTH; i < (part + 1) * LENGTH; i++)
            out[i] = value(me, i);
        if (part == PARTS - 1)
            continue;
        OK(MPI_Pready(part, both[0]));
    }
    return NULL;
}

static void *receiver(void *arg)
{
    int thread = *(int *)arg;
    for (int k = EACH - 1; k >= 0; k--) {
        int part = k * THREADS + thread, flag = 0;
        if (part == PARTS - 1)
            continue;
        while (!flag)
            OK(MPI_Parrived(both[1], part, &flag));
        for (int i = part * LENGTH; i < (part + 1) * LENGTH; i++)
            if (!CHECK_EQ(in[i], value(left_pe(), i)))
                break;
    }
    return NULL;
}

// One of them is the first, and the others are told that they are not.
static void *racer(void *arg)
{
    (void)arg;
    int error = MPI_Pready(PARTS - 1, both[0]);
    CHECK(error == MPI_SUCCESS || class_of(error) == MPI_ERR_ARG);
    firsts += error == MPI_SUCCESS;
    return NULL;
}

static void all(int n, void *(*const fn[])(void *))
{
    pthread_t thread[2 * THREADS];
    int number[2 * THREADS];
    for (int i = 0; i < n * THREADS; i++) {
        number[i] = i % THREADS;
        CHECK_EQ(pthread_create(&thread[i], NULL, fn[i / THREADS], &number[i]), 0);
    }
    for (int i = 0; i < n * THREADS; i++)
        pthread_join(thread[i], NULL);
}

int main(void)
{
    int provided;
    OK(MPI_Init_thread(NULL, NULL, MPI_THREAD_MULTIPLE, &provided));
    OK(MPI_Comm_rank(MPI_COMM_WORLD, &me));
    OK(MPI_Comm_size(MPI_COMM_WORLD, &npes));
    OK(MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN));
    OK(MPI_Psend_init(out, PARTS, LENGTH, MPI_INT, right_pe(), 0, MPI_COMM_WORLD, MPI_INFO_NULL,
                      &both[0]));
    OK(MPI_Precv_init(in, PARTS, LENGTH, MPI_INT, left_pe(), 0, MPI_COMM_WORLD, MPI_INFO_NULL,
                      &both[1]));
    for (run = 0; run < RUNS; run++) {
        int flag = 1;
        memset(in, -1, sizeof in);
        firsts = 0;
        OK(MPI_Startall(2, both));
        all(2, (void *(*const[])(void *)){sender, receiver});
        OK(MPI_Test(&both[0], &flag, MPI_STATUS_IGNORE));
        CHECK(!flag); // one partition is missing
        all(1, (void *(*const[])(void *)){racer});
        CHECK_EQ(firsts, 1);
        OK(MPI_Waitall(2, both, MPI_STATUSES_IGNORE));
        CHECK_EACH(i, PARTS * LENGTH, in[i], value(left_pe(), (int)i));
    }
    OK(MPI_Request_free(&both[0]));
    OK(MPI_Request_free(&both[1]));
    return mpi_done();
}
