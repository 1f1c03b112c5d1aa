// SPDX-License-Identifier: BSD-3-Clause
// Collectives that the leaders of nodes run for others: those of shoal.h and of shmem.h in any order
// on different members, PEs that compute meanwhile, a root that runs ahead.
#include "../check.h"

#include <shoal.h>

enum { N = 40, LONG = 3000, AHEAD = 200 };

static int64_t src[LONG], dst[LONG], sum[LONG], other[LONG]; // symmetric
static volatile int64_t go_on;

static void start_sum(shoal_event_t *event, size_t n)
{
    shoal_coll_t c = {.kind = SHOAL_COLL_ALLREDUCE,
                      .dst = dst,
                      .src = src,
                      .count = n,
                      .type = SHOAL_INT64,
                      .op = SHOAL_SUM};
    CHECK_EQ(shoal_coll(SHMEM_TEAM_WORLD, &c, event), SHOAL_OK);
}

static void set_values(int64_t *a, size_t n, int turn)
{
    for (size_t i = 0; i < n; i++)
        a[i] = me * 7 + turn + (int64_t)i;
}

static int64_t summed(int turn, size_t i)
{
    return (int64_t)npes * (npes - 1) / 2 * 7 + npes * (turn + (int64_t)i);
}

// Half of the PEs start the one before the other, the others after it.
static void any_order(int turn, size_t n)
{
    shoal_event_t event = {0}, *events[] = {&event};
    set_values(src, n, turn);
    set_values(other, n, turn + 1);
    shmem_barrier_all();
    if ((me + turn) % 2)
        start_sum(&event, n);
    CHECK_EQ(shmem_int64_sum_reduce(SHMEM_TEAM_WORLD, sum, other, n), 0);
    if ((me + turn) % 2 == 0)
        start_sum(&event, n);
    CHECK_EACH(i, n, sum[i], summed(turn + 1, i));
    CHECK_EQ(shoal_wait(1, events, 1, NULL, NULL), SHOAL_OK);
    CHECK_EACH(i, n, dst[i], summed(turn, i));
}

// All but one never call the library until it has the result and says so.
static void all_compute(int turn, size_t n)
{
    shoal_event_t event = {0}, *events[] = {&event};
    int waits = turn % npes;
    set_values(src, n, turn);
    go_on = 0;
    shmem_barrier_all();
    start_sum(&event, n);
    if (me == waits) {
        CHECK_EQ(shoal_wait(1, events, 1, NULL, NULL), SHOAL_OK);
        for (int pe = 0; pe < npes; pe++)
            shmem_int64_atomic_set((int64_t *)&go_on, 1, pe);
    }
    while (!go_on)
        sched_yield();
    CHECK_EQ(shoal_wait(1, events, 1, NULL, NULL), SHOAL_OK);
    CHECK_EACH(i, n, dst[i], summed(turn, i));
}

// The root waits for nobody.
static void root_ahead(void)
{
    for (int turn = 0; turn < AHEAD; turn++) {
        src[0] = dst[0] = turn;
        if (me != 0 && turn % 50 == 0)
            sched_yield();
        CHECK_EQ(shmem_int64_broadcast(SHMEM_TEAM_WORLD, dst, src, 1, 0), 0);
        CHECK_EQ(dst[0], turn);
    }
}

int main(void)
{
    check_start();
    for (int turn = 0; turn < 10; turn++)
        any_order(turn, turn % 3 ? N : LONG);
    for (int turn = 0; turn < 4; turn++)
        all_compute(turn, turn % 2 ? N : LONG);
    root_ahead();
    shmem_barrier_all();
    return check_done();
}
