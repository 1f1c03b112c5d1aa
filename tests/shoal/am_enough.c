// SPDX-License-Identifier: BSD-3-Clause
// A handler that says shoal_am_enough is the last of its sender's in that look at the inbox; without
// it, one look takes several. PE 1 sends as many as there is room for before PE 0 looks; nothing is
// lost, and the order stays.
// PES: 2 4
#include "../check.h"

#include <sched.h>
#include <shoal.h>
#include <stdatomic.h>

enum { COUNT = 1, MOST = 20 };

static bool is_enough;
static uint64_t counted;
static _Atomic uint64_t sent; // symmetric
static uint64_t go;           // symmetric

static void on_count(const shoal_am_t *am)
{
    CHECK_EQ(am->arg, counted);
    counted++;
    if (is_enough)
        shoal_am_enough();
}

static void send_some(uint64_t round)
{
    shmem_uint64_wait_until(&go, SHMEM_CMP_EQ, round);
    uint64_t n = 0;
    while (n < MOST && shoal_am_try(0, COUNT, n, NULL, 0) == SHOAL_OK)
        n++;
    CHECK(n > 0);
    shmem_uint64_p((uint64_t *)(uintptr_t)&sent, n, 0);
    shmem_quiet();
}

// The most that one look took.
static uint64_t take_all(uint64_t round)
{
    uint64_t n, most = 0;
    counted = 0;
    shmem_uint64_p(&go, round, 1);
    shmem_quiet();
    while (!(n = atomic_load(&sent)))
        sched_yield();
    while (counted < n) {
        uint64_t before = counted;
        CHECK(shoal_progress() >= 0);
        most = counted - before > most ? counted - before : most;
    }
    atomic_store(&sent, 0);
    CHECK_EQ(counted, n);
    return n == 1 ? 0 : most;
}

int main(void)
{
    shmem_init();
    CHECK_EQ(shoal_am_register(COUNT, on_count, NULL), SHOAL_OK);
    bool is_near = shmem_team_n_pes(SHMEM_TEAM_SHARED) == shmem_n_pes();
    uint64_t most[2] = {0};
    for (uint64_t round = 1; round <= 20; round++) {
        is_enough = round % 2;
        shmem_barrier_all();
        if (shmem_my_pe() == 1)
            send_some(round);
        if (shmem_my_pe() == 0) {
            uint64_t n = take_all(round);
            most[is_enough] = n > most[is_enough] ? n : most[is_enough];
        }
    }
    shmem_barrier_all();
    CHECK(most[1] <= 1);
    CHECK(shmem_my_pe() != 0 || !is_near || most[0] > 1);
    return check_done();
}
