// SPDX-License-Identifier: BSD-3-Clause
// Threads that make and free communicators at the same time, each below one of its own.
// PES: 1 2 4
#include "mpi_check.h"

#include <pthread.h>
#include <unistd.h>

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

// An intercommunicator and a group's communicator with one tag over one communicator, which ranks 0 and 1 make
// at the same time, in two threads: the tags have nothing to do with each other.
static MPI_Comm both;

static void *make_inter(void *unused)
{
    MPI_Comm inter;
    if (me == 1)
        usleep(20000); // so that what rank 0 sends for this one comes first there
    OK(MPI_Intercomm_create(MPI_COMM_SELF, 0, both, 1 - me, 0, &inter));
    OK(MPI_Comm_free(&inter));
    return unused;
}

static void *make_group(void *unused)
{
    MPI_Group all, two;
    MPI_Comm c;
    if (me == 0)
        usleep(20000);
    OK(MPI_Comm_group(both, &all));
    OK(MPI_Group_incl(all, 2, (int[]){0, 1}, &two));
    OK(MPI_Comm_create_group(both, two, 0, &c));
    OK(MPI_Comm_free(&c));
    OK(MPI_Group_free(&two));
    OK(MPI_Group_free(&all));
    return unused;
}

static void one_tag(void)
{
    pthread_t thread;
    OK(MPI_Comm_dup(MPI_COMM_WORLD, &both));
    if (me < 2 && npes > 1) {
        pthread_create(&thread, NULL, make_inter, NULL);
        make_group(NULL);
        pthread_join(thread, NULL);
    }
    OK(MPI_Comm_free(&both));
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
    one_tag();
    return mpi_done();
}
