// SPDX-License-Identifier: BSD-3-Clause
// PES: 1 2 3 4
// Teams made and destroyed in quick succession, where the PEs of the next are others than those of
// the last, and by several threads that split different parents: no team takes another's place.
#include "../check.h"

#include <pthread.h>

enum { ROUNDS = 1500, THREADS = 4, THREAD_ROUNDS = 150 };

static shmem_team_t parent[THREADS];
static long part[THREADS][8], sum[THREADS][8];

static void in_turns(void)
{
    shmem_team_t low = SHMEM_TEAM_INVALID, even = SHMEM_TEAM_INVALID;
    shmem_team_split_strided(SHMEM_TEAM_WORLD, 0, 1, 2, NULL, 0, &low);
    shmem_team_split_strided(SHMEM_TEAM_WORLD, 0, 2, 2, NULL, 0, &even);
    for (int i = 0; i < ROUNDS; i++) {
        shmem_team_t t = SHMEM_TEAM_INVALID;
        if (low != SHMEM_TEAM_INVALID) {
            CHECK_EQ(shmem_team_split_strided(low, 0, 1, 2, NULL, 0, &t), 0);
            for (int k = 0; k < 4; k++)
                shmem_team_sync(t);
            shmem_team_destroy(t);
        }
        if (even != SHMEM_TEAM_INVALID) {
            CHECK_EQ(shmem_team_split_strided(even, 0, 1, 2, NULL, 0, &t), 0);
            shmem_team_destroy(t);
        }
    }
    shmem_team_destroy(low);
    shmem_team_destroy(even);
}

static void *thread(void *arg)
{
    int k = (int)(intptr_t)arg;
    for (int i = 0; i < THREAD_ROUNDS; i++) {
        shmem_team_t t;
        CHECK_EQ(shmem_team_split_strided(parent[k], 0, 1, npes, NULL, 0, &t), 0);
        part[k][0] = 1000 * (k + 1) + i;
        shmem_team_sync(t);
        shmem_long_sum_reduce(t, sum[k], part[k], 1);
        CHECK_EQ(sum[k][0], npes * (1000L * (k + 1) + i));
        shmem_team_destroy(t);
    }
    return NULL;
}

int main(void)
{
    check_start();
    if (npes >= 3)
        in_turns();
    shmem_barrier_all();
    pthread_t threads[THREADS];
    for (int k = 0; k < THREADS; k++)
        CHECK_EQ(shmem_team_split_strided(SHMEM_TEAM_WORLD, 0, 1, npes, NULL, 0, &parent[k]), 0);
    for (int k = 0; k < THREADS; k++)
        pthread_create(&threads[k], NULL, thread, (void *)(intptr_t)k);
    for (int k = 0; k < THREADS; k++)
        pthread_join(threads[k], NULL);
    shmem_barrier_all();
    return check_done();
}
