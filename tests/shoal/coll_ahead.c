// SPDX-License-Identifier: BSD-3-Clause
// Broadcasts whose root does not wait for the others: it is ahead of them by as many as there are
// lines, and what it gave is still there when they come. Then in one team a random order of roots,
// sizes and kinds, with members that dawdle.
// NODES: 1
#include "../check.h"

#include <sched.h>
#include <shoal.h>
#include <stdatomic.h>

enum { LINES = 64, HOSTILE_LINES = 2, TURNS = 3000, MOST = 200 };

static _Atomic uint64_t done; // symmetric: broadcasts that PE 0 has left

static uint64_t random_next(uint64_t *state)
{
    *state = *state * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
    return *state >> 33;
}

static void broadcast(int root, void *data, size_t n)
{
    shoal_coll_t c = {
        .kind = SHOAL_COLL_BROADCAST, .root = root, .dst = data, .count = n, .element_size = 1};
    CHECK_EQ(shoal_coll_short(SHMEM_TEAM_WORLD, &c), SHOAL_OK);
}

static void root_is_ahead(uint64_t ahead)
{
    shmem_barrier_all();
    if (me != 0)
        while (atomic_load(&done) < ahead) // without a call: nobody helps the root
            sched_yield();
    for (uint64_t i = 0; i < ahead; i++) {
        uint64_t value = me == 0 ? i * 17 + 1 : 0;
        broadcast(0, &value, sizeof value);
        CHECK_EQ(value, i * 17 + 1);
    }
    if (me == 0)
        for (int pe = 1; pe < npes; pe++)
            shmem_uint64_p((uint64_t *)(uintptr_t)&done, ahead, pe);
}

static void one_of_many(uint64_t turn, uint64_t *common, size_t most)
{
    unsigned char data[MOST], want[MOST];
    uint64_t mine = turn + (uint64_t)me, all[64];
    int root = (int)(random_next(common) % (uint64_t)npes);
    size_t n = random_next(common) % 4 ? random_next(common) % 57 : random_next(common) % most;
    if (random_next(common) % 16 == 0) {
        shoal_coll_t c = {.kind = SHOAL_COLL_ALLGATHER,
                          .src = &mine,
                          .dst = all,
                          .count = sizeof mine,
                          .element_size = 1};
        CHECK_EQ(shoal_coll_short(SHMEM_TEAM_WORLD, &c), SHOAL_OK);
        for (int i = 0; i < npes; i++)
            CHECK_EQ(all[i], turn + (uint64_t)i);
        return;
    }
    for (size_t i = 0; i < n; i++)
        want[i] = (unsigned char)(turn * 5 + i);
    memset(data, 0, sizeof data);
    if (me == root)
        memcpy(data, want, n);
    broadcast(root, data, n);
    CHECK_MEM(data, want, n, "a broadcast");
}

int main(void)
{
    check_start();
    uint64_t limit, common = 1, own = (uint64_t)me + 2;
    CHECK_EQ(shoal_query(SHOAL_Q_COLL_SHORT, 0, &limit), SHOAL_OK);
    root_is_ahead(limit < 4096 ? HOSTILE_LINES : LINES);
    for (uint64_t turn = 0; turn < TURNS; turn++) {
        if (random_next(&own) % 100 < 3)
            sched_yield();
        one_of_many(turn, &common, limit < MOST ? limit : MOST);
    }
    return check_done();
}
