// SPDX-License-Identifier: BSD-3-Clause
// Threads that allocate counters at once, each over a team of its own and for itself: the numbers
// agree on all PEs, no two that live are the same, and nothing that is counted is lost.
#include "../check.h"

#include <pthread.h>
#include <shoal.h>

enum { THREADS = 4, MOST_PES = 64, ROUNDS = 60, NUMBERS = 1 << 16 };

static shmem_team_t team[THREADS];
static shoal_ct_t ids[THREADS][MOST_PES]; // symmetric
static _Atomic unsigned char in_use[NUMBERS];
static shoal_ct_t shared;

static shoal_ct_t take(shmem_team_t of)
{
    shoal_ct_t ct = SHOAL_CT_NONE;
    shoal_ct_value_t v = {0, 0};
    CHECK_EQ(shoal_ct_alloc(of, &ct), SHOAL_OK);
    CHECK(ct != SHOAL_CT_NONE && ct < NUMBERS);
    CHECK_EQ(in_use[ct % NUMBERS]++, 0);
    if (of == SHMEM_TEAM_INVALID) // else others may count already
        CHECK_EQ(shoal_ct_get(ct, &v), SHOAL_OK);
    CHECK_EQ(v.success + v.failure, 0);
    return ct;
}

static void give(shmem_team_t of, shoal_ct_t ct)
{
    in_use[ct % NUMBERS]--;
    CHECK_EQ(shoal_ct_free(of, ct), SHOAL_OK);
}

static void *allocate(void *arg)
{
    size_t t = (size_t)(uintptr_t)arg;
    uint64_t seed = t + (unsigned)me * 100u;
    const uint64_t all = (uint64_t)npes;
    for (int r = 0; r < ROUNDS; r++) {
        shoal_ct_t own[8];
        size_t n = rnd_below(&seed, 8);
        for (size_t i = 0; i < n; i++)
            own[i] = take(SHMEM_TEAM_INVALID);
        shoal_ct_t ct = take(team[t]);
        for (int pe = 0; pe < npes; pe++)
            shmem_uint32_p(&ids[t][me], ct, pe);
        for (int pe = 0; pe < npes; pe++) // earlier transfers are visible to who sees the count
            CHECK_EQ(shoal_ct_inc(pe, ct, (shoal_ct_value_t){r % 2, 1 - r % 2}), SHOAL_OK);
        CHECK_EQ(shoal_ct_wait(1, &ct, &all, NULL), SHOAL_OK);
        CHECK_EACH(i, npes, ids[t][i], ct);
        for (int pe = 0; pe < npes; pe++)
            CHECK_EQ(shoal_ct_inc(pe, shared, (shoal_ct_value_t){1, 2}), SHOAL_OK);
        shmem_team_sync(team[t]); // the numbers may be overwritten
        give(team[t], ct);
        for (size_t i = 0; i < n; i++)
            give(SHMEM_TEAM_INVALID, own[i]);
    }
    return NULL;
}

int main(void)
{
    pthread_t thread[THREADS];
    shoal_ct_value_t v;
    check_start_threads();
    if (npes > MOST_PES)
        check_skip("more than 64 PEs");
    for (int t = 0; t < THREADS; t++)
        CHECK_EQ(shmem_team_split_strided(SHMEM_TEAM_WORLD, 0, 1, npes, NULL, 0, &team[t]), 0);
    shared = take(SHMEM_TEAM_WORLD);
    shmem_barrier_all();
    for (uintptr_t t = 0; t < THREADS; t++)
        CHECK_EQ(pthread_create(&thread[t], NULL, allocate, (void *)t), 0);
    for (int t = 0; t < THREADS; t++)
        CHECK_EQ(pthread_join(thread[t], NULL), 0);
    shmem_barrier_all();
    CHECK_EQ(shoal_ct_get(shared, &v), SHOAL_OK);
    CHECK_EQ(v.success, (uint64_t)npes * THREADS * ROUNDS);
    CHECK_EQ(v.failure, 2 * v.success);
    shmem_barrier_all();
    return check_done();
}
