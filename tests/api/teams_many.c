// SPDX-License-Identifier: BSD-3-Clause
// Many teams: created and destroyed over and over, as many at once as there can be; when they run
// out every PE is told so, and everything works again after some are gone.
#include "../check.h"

static long one = 1, sum;

static void cycles(void)
{
    for (int i = 0; i < 300; i++) {
        shmem_team_t team;
        int size = i % npes + 1, start = npes - size;
        CHECK_EQ(shmem_team_split_strided(SHMEM_TEAM_WORLD, start, 1, size, NULL, 0, &team), 0);
        CHECK_EQ(team != SHMEM_TEAM_INVALID, me >= start);
        if (team != SHMEM_TEAM_INVALID) {
            CHECK_EQ(shmem_long_sum_reduce(team, &sum, &one, 1), 0);
            CHECK_EQ(sum, size);
            shmem_team_destroy(team);
        }
    }
    shmem_barrier_all();
}

static void exhaustion(void)
{
    enum { MOST = 600 };
    static shmem_team_t teams[MOST];
    static long failed, failed_sum;
    int count = 0;
    for (; count < MOST; count++) {
        failed = shmem_team_split_strided(SHMEM_TEAM_WORLD, 0, 1, npes, NULL, 0, &teams[count]) !=
                 0;
        CHECK_EQ(failed != 0, teams[count] == SHMEM_TEAM_INVALID);
        CHECK_EQ(shmem_long_sum_reduce(SHMEM_TEAM_WORLD, &failed_sum, &failed, 1), 0);
        CHECK(failed_sum == 0 || failed_sum == npes);
        if (failed_sum != 0)
            break;
    }
    CHECK(count >= 10);
    for (int i = 0; i < count; i += 7) {
        CHECK_EQ(shmem_long_sum_reduce(teams[i], &sum, &one, 1), 0);
        CHECK_EQ(sum, npes);
    }
    shmem_team_t x = SHMEM_TEAM_WORLD, y = SHMEM_TEAM_WORLD;
    if (count < MOST) { // a grid needs two
        CHECK(shmem_team_split_2d(SHMEM_TEAM_WORLD, 2, NULL, 0, &x, NULL, 0, &y) != 0);
        CHECK(x == SHMEM_TEAM_INVALID && y == SHMEM_TEAM_INVALID);
        shmem_team_destroy(teams[--count]);
        CHECK(shmem_team_split_2d(SHMEM_TEAM_WORLD, 2, NULL, 0, &x, NULL, 0, &y) != 0);
        CHECK(x == SHMEM_TEAM_INVALID && y == SHMEM_TEAM_INVALID);
        CHECK_EQ(shmem_team_split_strided(SHMEM_TEAM_WORLD, 0, 1, npes, NULL, 0, &teams[count]), 0);
        count++;
    }
    for (int i = 0; i < count; i++)
        shmem_team_destroy(teams[i]);
    shmem_barrier_all();
}

// Only some PEs run out: the split fails on all of the parent all the same.
static void exhausted_elsewhere(void)
{
    enum { MOST = 600 };
    static shmem_team_t teams[MOST];
    int count = 0;
    if (npes < 2)
        return;
    while (count < MOST &&
           shmem_team_split_strided(SHMEM_TEAM_WORLD, 0, 1, 1, NULL, 0, &teams[count]) == 0)
        count++;
    static long failed, failed_sum;
    shmem_team_t all;
    failed = shmem_team_split_strided(SHMEM_TEAM_WORLD, 0, 1, npes, NULL, 0, &all) != 0;
    CHECK_EQ(shmem_long_sum_reduce(SHMEM_TEAM_WORLD, &failed_sum, &failed, 1), 0);
    CHECK(count == MOST || failed_sum == npes);
    shmem_team_destroy(all);
    for (int i = 0; i < count; i++)
        shmem_team_destroy(teams[i]);
    shmem_barrier_all();
}

int main(void)
{
    check_start();
    cycles();
    for (int i = 0; i < 2; i++) {
        exhaustion();
        exhausted_elsewhere();
    }
    cycles();
    return check_done();
}
