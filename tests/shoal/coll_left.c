// SPDX-License-Identifier: BSD-3-Clause
// Who comes last to a long collective leaves the parts of the others to those who wait. They are done
// all the same: by the only one that waits while the others compute without a call; by members that
// only test; and when more are started than can be under way, before anybody waits for the first.
// PES: 2 4 7
// NODES: 1
#include "../check.h"

#include <sched.h>
#include <shoal.h>
#include <stdatomic.h>

enum { COUNT = 30000, MANY = 30, FEW = 3000, USER_OP = 62 };

static int64_t src[COUNT], dst[MANY][COUNT]; // symmetric
static _Atomic uint64_t go;                  // symmetric

static void fold_sum(void *acc, const void *in, size_t n, void *user)
{
    (void)user;
    for (size_t i = 0; i < n; i++)
        ((int64_t *)acc)[i] += ((const int64_t *)in)[i];
}

static void start(int64_t *to, size_t n, shoal_op_t op, shoal_event_t *event)
{
    shoal_coll_t c = {.kind = SHOAL_COLL_ALLREDUCE,
                      .dst = to,
                      .src = src,
                      .count = n,
                      .type = SHOAL_INT64,
                      .op = op};
    CHECK_EQ(shoal_coll(SHMEM_TEAM_WORLD, &c, event), SHOAL_OK);
}

static void check_sum(const int64_t *sum, size_t n)
{
    CHECK_EACH(i, n, sum[i], (int64_t)npes * (npes - 1) / 2 + (int64_t)npes * (int64_t)i);
}

static void wait_for(shoal_event_t *event)
{
    shoal_event_t *events[] = {event};
    CHECK_EQ(shoal_wait(1, events, 1, NULL, NULL), SHOAL_OK);
    CHECK_EQ(event->status, SHOAL_OK);
}

// Every member is the only one in its turn.
static void one_waits(int waiter, shoal_op_t op)
{
    shoal_event_t event;
    memset(dst[0], 0, sizeof dst[0]);
    atomic_store(&go, 0);
    shmem_barrier_all();
    start(dst[0], COUNT, op, &event);
    if (me != waiter)
        while (!atomic_load(&go))
            sched_yield();
    wait_for(&event);
    check_sum(dst[0], COUNT);
    if (me == waiter)
        for (int pe = 0; pe < npes; pe++)
            shmem_uint64_p((uint64_t *)(uintptr_t)&go, 1, pe);
    shmem_barrier_all();
}

static void all_test(void)
{
    shoal_event_t event, *events[] = {&event};
    size_t done = 0;
    shmem_barrier_all();
    start(dst[0], COUNT, SHOAL_SUM, &event);
    while (!done)
        CHECK_EQ(shoal_test(1, events, &done, NULL), SHOAL_OK);
    check_sum(dst[0], COUNT);
}

static void many(size_t n)
{
    shoal_event_t event[MANY];
    memset(dst, 0, sizeof dst);
    shmem_barrier_all();
    for (int k = 0; k < MANY; k++)
        start(dst[k], n, SHOAL_SUM, &event[k]);
    for (int k = MANY - 1; k >= 0; k--) {
        wait_for(&event[k]);
        check_sum(dst[k], n);
    }
}

int main(void)
{
    check_start();
    CHECK_EQ(shoal_op_register(USER_OP, fold_sum, NULL, sizeof(int64_t)), SHOAL_OK);
    for (int64_t i = 0; i < COUNT; i++)
        src[i] = me + i;
    shmem_barrier_all();
    for (int pe = 0; pe < npes; pe++) {
        one_waits(pe, SHOAL_SUM);
        one_waits(pe, (shoal_op_t)(SHOAL_OP_USER + USER_OP));
    }
    for (int i = 0; i < 10; i++)
        all_test();
    many(COUNT);
    many(FEW);
    return check_done();
}
