// SPDX-License-Identifier: BSD-3-Clause
// NODES: 1
// PES: 2 4 7
// A broadcast's data does not wait for all: who starts after the root has it, though the last member
// has not started; then the event is done for all.
#include "../check.h"

#include <shoal.h>

enum { COUNT = 20000, TIMES = 20 };

static uint64_t data[COUNT], started;

static uint64_t value(int round, uint64_t i)
{
    return (uint64_t)round << 32 | i;
}

static void check_data(int round)
{
    for (uint64_t i = 0; i < COUNT; i++)
        CHECK_EQ(data[i], value(round, i));
}

// One after the other, the root first; PE `late` last.
static void broadcast(int round, int root, int late)
{
    shoal_event_t event, *one = &event;
    size_t done = 1;
    shoal_coll_t c = {.kind = SHOAL_COLL_BROADCAST, .root = root, .dst = data, .count = COUNT,
                      .type = SHOAL_UINT64};
    uint64_t turn = (uint64_t)((me - root + npes) % npes), last = (uint64_t)npes - 1;
    if (me == late)
        turn = last;
    else if ((late - root + npes) % npes < (int)turn)
        turn--;
    for (uint64_t i = 0; i < COUNT; i++)
        data[i] = me == root ? value(round, i) : 0;
    shmem_barrier_all();
    shmem_uint64_wait_until(&started, SHMEM_CMP_EQ, turn);
    CHECK_EQ(shoal_coll(SHMEM_TEAM_WORLD, &c, &event), SHOAL_OK);
    check_data(round);
    if (turn < last) {
        CHECK_EQ(shoal_test(1, &one, &done, NULL), SHOAL_OK);
        CHECK_EQ(done, 0);
    }
    for (int pe = 0; pe < npes; pe++)
        shmem_uint64_atomic_inc(&started, pe);
    CHECK_EQ(shoal_wait(1, &one, 1, NULL, NULL), SHOAL_OK);
    check_data(round);
    shmem_barrier_all();
    started = 0;
}

int main(void)
{
    check_start();
    for (int round = 1; round <= TIMES; round++)
        broadcast(round, round % npes, (round + 1) % npes);
    return check_done();
}
