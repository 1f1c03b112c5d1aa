// SPDX-License-Identifier: BSD-3-Clause
// Two PEs on one of several cores, as the kernel leaves them where another core is busy with something
// else: each finds the other one there when it waits (and gives it the core at once). Apart, it does not.
// PES: 2
// NODES: 1
// ENV: SHOAL_SPIN=20
#include "../check.h"

#include <sched.h>
#include <shoal.h>
#include <shmem.h>

enum { TURNS = 400 };

static uint64_t turn;

static void go_to(int core)
{
    cpu_set_t set;
    CPU_ZERO(&set);
    CPU_SET(core, &set);
    CHECK(sched_setaffinity(0, sizeof set, &set) == 0);
}

// There and back; how often the other one was here.
static int exchange(uint64_t first)
{
    int often = 0;
    for (uint64_t t = first; t < first + TURNS; t++) {
        uint64_t is = 0;
        if (me == 0)
            shmem_uint64_p(&turn, t, 1);
        shmem_uint64_wait_until(&turn, SHMEM_CMP_EQ, t);
        if (me == 1)
            shmem_uint64_p(&turn, t, 0);
        CHECK_EQ(shoal_query(SHOAL_Q_BESIDE, 0, &is), SHOAL_OK);
        often += is != 0;
    }
    return often;
}

int main(void)
{
    cpu_set_t usable;
    int core[2], n = 0;
    check_start();
    CHECK(sched_getaffinity(0, sizeof usable, &usable) == 0);
    for (int c = 0; c < CPU_SETSIZE && n < 2; c++)
        if (CPU_ISSET(c, &usable))
            core[n++] = c;
    if (n < 2)
        check_skip("one core");
    go_to(core[0]);
    shmem_barrier_all();
    CHECK(exchange(1) > TURNS / 2);
    go_to(core[me]);
    shmem_barrier_all();
    exchange(1 + TURNS); // the last news of who was where
    CHECK(exchange(1 + 2 * TURNS) < TURNS / 2);
    return check_done();
}
