// SPDX-License-Identifier: BSD-3-Clause
// Several threads look at one group for the first time, and end communicators that have a topology in common.
// PES: 1 4 7
#include "mpi_check.h"

#include <pthread.h>

enum { THREADS = 3, ROUNDS = 40 };

static MPI_Group world, mixed; // every second one, backwards, and the others behind them
static int place[64];
static MPI_Comm grid[THREADS];

static void mix(void)
{
    int ranks[64], n = 0;
    for (int i = npes - 1; i >= 0; i -= 2)
        ranks[n++] = i;
    for (int i = npes - 2; i >= 0; i -= 2)
        ranks[n++] = i;
    for (int i = 0; i < n; i++)
        place[ranks[i]] = i;
    OK(MPI_Group_incl(world, n, ranks, &mixed));
}

static void *look(void *arg)
{
    MPI_Comm *own = arg;
    int got, dims = 0, periodic = 0, at = -1;
    for (int i = 0; i < npes; i++) {
        OK(MPI_Group_translate_ranks(world, 1, &i, mixed, &got));
        CHECK_EQ(got, place[i]);
    }
    OK(MPI_Cart_get(*own, 1, &dims, &periodic, &at));
    CHECK(dims == 1 && periodic == 1 && at == 0);
    OK(MPI_Comm_free(own));
    return NULL;
}

int main(void)
{
    int provided, one = 1;
    OK(MPI_Init_thread(NULL, NULL, MPI_THREAD_MULTIPLE, &provided));
    OK(MPI_Comm_rank(MPI_COMM_WORLD, &me));
    OK(MPI_Comm_size(MPI_COMM_WORLD, &npes));
    CHECK(npes <= 64);
    OK(MPI_Comm_group(MPI_COMM_WORLD, &world));
    for (int round = 0; round < ROUNDS; round++) {
        pthread_t thread[THREADS];
        mix();
        OK(MPI_Cart_create(MPI_COMM_SELF, 1, &one, &one, 0, &grid[0]));
        for (int i = 1; i < THREADS; i++)
            OK(MPI_Comm_dup(grid[0], &grid[i]));
        for (int i = 0; i < THREADS; i++)
            CHECK_EQ(pthread_create(&thread[i], NULL, look, &grid[i]), 0);
        for (int i = 0; i < THREADS; i++)
            pthread_join(thread[i], NULL);
        OK(MPI_Group_free(&mixed));
    }
    OK(MPI_Group_free(&world));
    return mpi_done();
}
