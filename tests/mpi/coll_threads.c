// SPDX-License-Identifier: BSD-3-Clause
// Nonblocking collectives of several threads, each over communicators of its own, which it frees
// before or after it waits.
// PES: 2 4
#include "mpi_check.h"

#include <pthread.h>

enum { THREADS = 3, TURNS = 12, CALLS = 12, LENGTH = 300, MOST = 16 };

static struct call {
    int in[LENGTH], out[MOST * LENGTH];
    MPI_Request request;
} call[THREADS][CALLS];
static MPI_Comm parent[THREADS];

static int value(int turn, int k, int rank, int i)
{
    return turn + 3 * k + 1000 * rank + i;
}

static void start(struct call *c, MPI_Comm comm, int turn, int k)
{
    for (int i = 0; i < LENGTH; i++)
        c->in[i] = value(turn, k, me, i);
    switch (k % 4) {
    case 0: OK(MPI_Ibcast(c->in, LENGTH, MPI_INT, k % npes, comm, &c->request)); break;
    case 1: OK(MPI_Iallreduce(c->in, c->out, LENGTH, MPI_INT, MPI_SUM, comm, &c->request)); break;
    case 2:
        OK(MPI_Iallgather(c->in, LENGTH, MPI_INT, c->out, LENGTH, MPI_INT, comm, &c->request));
        break;
    default: OK(MPI_Ibarrier(comm, &c->request));
    }
}

static void check(const struct call *c, int turn, int k)
{
    int ranks = 1000 * npes * (npes - 1) / 2;
    if (k % 4 == 0)
        CHECK_EACH(i, LENGTH, c->in[i], value(turn, k, k % npes, (int)i));
    if (k % 4 == 1)
        CHECK_EACH(i, LENGTH, c->out[i], npes * value(turn, k, 0, (int)i) + ranks);
    for (int p = 0; k % 4 == 2 && p < npes; p++)
        CHECK_EACH(i, LENGTH, c->out[p * LENGTH + (int)i], value(turn, k, p, (int)i));
}

static void *run(void *number)
{
    int t = (int)(intptr_t)number;
    for (int turn = 0; turn < TURNS; turn++) {
        MPI_Comm comm;
        OK(MPI_Comm_dup(parent[t], &comm));
        for (int k = 0; k < CALLS; k++)
            start(&call[t][k], comm, turn, k);
        if (turn % 2)
            OK(MPI_Comm_free(&comm));
        for (int k = CALLS; k-- > 0;) {
            OK(MPI_Wait(&call[t][k].request, MPI_STATUS_IGNORE));
            check(&call[t][k], turn, k);
        }
        if (turn % 2 == 0)
            OK(MPI_Comm_free(&comm));
    }
    return NULL;
}

int main(void)
{
    pthread_t thread[THREADS];
    int provided;
    OK(MPI_Init_thread(NULL, NULL, MPI_THREAD_MULTIPLE, &provided));
    OK(MPI_Comm_rank(MPI_COMM_WORLD, &me));
    OK(MPI_Comm_size(MPI_COMM_WORLD, &npes));
    for (int t = 0; t < THREADS; t++)
        OK(MPI_Comm_dup(MPI_COMM_WORLD, &parent[t]));
    for (int t = 0; t < THREADS; t++)
        CHECK_EQ(pthread_create(&thread[t], NULL, run, (void *)(intptr_t)t), 0);
    for (int t = 0; t < THREADS; t++)
        pthread_join(thread[t], NULL);
    return mpi_done();
}
