// SPDX-License-Identifier: BSD-3-Clause
// shoal_fetch_acc: all PEs raise the same elements, of shared and of private memory, and each old value
// comes once; what it does with the other operators, and what it refuses.
#include "../check.h"

#include <shoal.h>

enum { N = 300, ROUNDS = 5, MOST = 64 };

static uint32_t counters[N];
static shoal_key_t key, theirs;
static long seen[MOST * ROUNDS * 2];

// The old values of element 0 are 0, 1, 2 and so on, each at one PE.
static void raise_all(shoal_rptr_t at, bool has_event)
{
    static uint32_t ones[N], old[ROUNDS][N];
    static long sum[MOST * ROUNDS * 2];
    int total = npes * ROUNDS;
    memset(seen, 0, sizeof seen);
    for (int i = 0; i < N; i++)
        ones[i] = 1;
    for (int round = 0; round < ROUNDS; round++) {
        shoal_event_t event = {0}, *list[] = {&event};
        CHECK_EQ(shoal_fetch_acc(at, ones, old[round], N, SHOAL_SUM, SHOAL_UINT32, NULL,
                                 has_event ? &event : NULL),
                 SHOAL_OK);
        CHECK_EQ(shoal_wait(1, list, 1, NULL, NULL), SHOAL_OK);
        CHECK_EQ(event.status, SHOAL_OK);
    }
    for (int k = 0; k < N; k += N - 1)
        for (int round = 0; round < ROUNDS; round++) {
            CHECK(old[round][k] < (uint32_t)total);
            if (old[round][k] < (uint32_t)total)
                seen[(k ? total : 0) + (int)old[round][k]]++;
        }
    shmem_long_sum_reduce(SHMEM_TEAM_WORLD, sum, seen, (size_t)total * 2);
    CHECK_EACH(i, total * 2, sum[i], 1);
}

static void others(shoal_rptr_t at)
{
    double two[] = {2, 3}, was[2];
    int8_t small[] = {5, 6, 7}, old[3];
    CHECK_EQ(shoal_put(at, two, sizeof two, NULL, NULL), SHOAL_OK);
    CHECK_EQ(shoal_quiet(-1), SHOAL_OK);
    CHECK_EQ(shoal_fetch_acc(at, two, was, 2, SHOAL_PROD, SHOAL_DOUBLE, NULL, NULL), SHOAL_OK);
    CHECK_EQ(was[1], 3);
    CHECK_EQ(shoal_fetch_acc(at, NULL, was, 2, SHOAL_NOOP, SHOAL_DOUBLE, NULL, NULL), SHOAL_OK);
    CHECK_EQ(was[0], 4);
    CHECK_EQ(was[1], 9);
    at = shoal_rptr_add(at, 17);
    CHECK_EQ(shoal_fetch_acc(at, small, old, 3, SHOAL_SET, SHOAL_INT8, NULL, NULL), SHOAL_OK);
    CHECK_EQ(shoal_fetch_acc(at, small, old, 3, SHOAL_MAX, SHOAL_INT8, NULL, NULL), SHOAL_OK);
    CHECK_EACH(i, 3, old[i], 5 + i);
    CHECK_EQ(shoal_fetch_acc(at, NULL, NULL, 0, SHOAL_SUM, SHOAL_INT8, NULL, NULL), SHOAL_OK);

    CHECK_EQ(shoal_fetch_acc(at, two, was, 1, SHOAL_SUM, SHOAL_DOUBLE, NULL, NULL), SHOAL_EINVAL);
    at = shoal_rptr_add(at, -17);
    CHECK_EQ(shoal_fetch_acc(at, two, was, 1, SHOAL_CSWAP, SHOAL_UINT64, NULL, NULL), SHOAL_EINVAL);
    CHECK_EQ(shoal_fetch_acc(at, two, was, 1, SHOAL_SUM, SHOAL_LONG_DOUBLE, NULL, NULL),
             SHOAL_EINVAL);
    CHECK_EQ(shoal_fetch_acc(at, two, NULL, 1, SHOAL_SUM, SHOAL_DOUBLE, NULL, NULL), SHOAL_EINVAL);
    CHECK_EQ(shoal_fetch_acc(at, NULL, was, 1, SHOAL_SUM, SHOAL_DOUBLE, NULL, NULL), SHOAL_EINVAL);
    CHECK_EQ(shoal_fetch_acc(at, two, was, SIZE_MAX / 2, SHOAL_SUM, SHOAL_DOUBLE, NULL, NULL),
             SHOAL_ERANGE);
}

int main(void)
{
    shoal_region_t region;
    shoal_rptr_t shared, private;
    check_start();
    if (npes > MOST)
        return check_done();
    uint32_t *memory = calloc(N, sizeof *memory);
    CHECK_EQ(shoal_region_register(memory, N * sizeof *memory, &region), SHOAL_OK);
    CHECK_EQ(shoal_region_key(region, &key), SHOAL_OK);
    shmem_barrier_all();
    shmem_getmem(&theirs, &key, sizeof key, 0);
    CHECK_EQ(shoal_rptr_symmetric(counters, 0, &shared), SHOAL_OK);
    CHECK_EQ(shoal_rptr(&theirs, 0, &private), SHOAL_OK);
    shmem_barrier_all();
    raise_all(shared, false);
    shmem_barrier_all();
    raise_all(private, true);
    shmem_barrier_all();
    if (me == 0)
        CHECK_EACH(i, N, memory[i], npes * ROUNDS);
    shmem_barrier_all();
    if (me == npes - 1) {
        others(shared);
        others(private);
    }
    shmem_barrier_all();
    CHECK_EQ(shoal_region_deregister(region), SHOAL_OK);
    free(memory);
    return check_done();
}
