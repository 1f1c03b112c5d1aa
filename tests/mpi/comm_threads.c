// SPDX-License-Identifier: BSD-3-Clause
// Threads that make and free communicators at the same time, each below one of its own.
// PES: 1 2 4
#include "mpi_check.h"

#include <pthread.h>

enum { THREADS = 4, ROUNDS = 25 };

struct task {
    int number;
    MPI_Comm own;
};

static void use(MPI_Comm c, int expect_size)
{
    int size = 0, one = 1, sum = 0;
    OK(MPI_Comm_size(c, &size));
    CHECK_EQ(size, expect_size);
    OK(MPI_Allreduce(&one, &sum, 1, MPI_INT, MPI_SUM, c));
    CHECK_EQ(sum, size);
    OK(MPI_Comm_free(&c));
}

static void *run(void *arg)
{
    const struct task *t = arg;
    char tag[32];
    MPI_Group all;
    snprintf(tag, sizeof tag, "thread %d", t->number);
    OK(MPI_Comm_group(t->own, &all));
    for (int i = 0; i < ROUNDS; i++) {
        MPI_Comm a, b, c, d, e;
        MPI_Request r;
        OK(MPI_Comm_idup(t->own, &a, &r));
        OK(MPI_Comm_dup(t->own, &b));
        OK(MPI_Comm_split(t->own, me % 2, -me, &c));
        OK(MPI_Comm_create_group(MPI_COMM_WORLD, all, t->number, &d));
        OK(MPI_Comm_create_from_group(all, tag, MPI_INFO_NULL, MPI_ERRORS_ARE_FATAL, &e));
        OK(MPI_Wait(&r, MPI_STATUS_IGNORE));
        use(a, npes);
        use(b, npes);
        use(c, (npes + 1 - me % 2) / 2);
        use(d, npes);
        use(e, npes);
    }
    OK(MPI_Group_free(&all));
    return NULL;
}

int main(void)
{
    pthread_t threads[THREADS];
    struct task tasks[THREADS];
    int provided = -1;
    OK(MPI_Init_thread(NULL, NULL, MPI_THREAD_MULTIPLE, &provided));
    CHECK_EQ(provided, MPI_THREAD_MULTIPLE);
    OK(MPI_Comm_rank(MPI_COMM_WORLD, &me));
    OK(MPI_Comm_size(MPI_COMM_WORLD, &npes));
    for (int i = 0; i < THREADS; i++) {
        tasks[i].number = i;
        OK(MPI_Comm_dup(MPI_COMM_WORLD, &tasks[i].own));
    }
    for (int i = 0; i < THREADS; i++)
        pthread_create(&threads[i], NULL, run, &tasks[i]);
    for (int i = 0; i < THREADS; i++) {
        pthread_join(threads[i], NULL);
        OK(MPI_Comm_free(&tasks[i].own));
    }
    return mpi_done();
}
