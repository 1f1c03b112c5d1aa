// SPDX-License-Identifier: BSD-3-Clause
// Broadcasts whose root does not wait for the others: it is ahead of them by as many as there are
// lines, or places for longer parts, and what it gave is still there when they come. Then in one team
// a random order of roots, sizes and kinds, with members that dawdle.
// NODES: 1
#include "../check.h"

#include <sched.h>
#include <shoal.h>
#include <stdatomic.h>

enum { LINES = 64, HOSTILE_LINES = 2, TURNS = 3000, MOST = 4096, MOST_PES = 64 };

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

static void write_part(unsigned char *data, uint64_t turn, int pe, size_t n)
{
    for (size_t i = 0; i < n; i++)
        data[i] = (unsigned char)(turn * 5 + (uint64_t)pe * 3 + i);
}

static void root_is_ahead(uint64_t ahead, size_t n)
{
    unsigned char data[MOST], want[MOST];
    atomic_store(&done, 0);
    shmem_barrier_all();
    if (me != 0)
        while (atomic_load(&done) < ahead) // without a call: nobody helps the root
            sched_yield();
    for (uint64_t i = 0; i < ahead; i++) {
        write_part(want, i, 0, n);
        memset(data, 0, n);
        if (me == 0)
            memcpy(data, want, n);
        broadcast(0, data, n);
        CHECK_MEM(data, want, n, "a broadcast ahead");
    }
    if (me == 0)
        for (int pe = 1; pe < npes; pe++)
            shmem_uint64_p((uint64_t *)(uintptr_t)&done, ahead, pe);
}

// Those that are no root are ahead of it.
static void gather(uint64_t turn, int root, size_t n)
{
    static unsigned char all[MOST_PES * MOST];
    unsigned char mine[MOST], want[MOST];
    write_part(mine, turn, me, n);
    shoal_coll_t c = {.kind = SHOAL_COLL_GATHER,
                      .root = root,
                      .src = mine,
                      .dst = all,
                      .count = n,
                      .element_size = 1};
    CHECK_EQ(shoal_coll_short(SHMEM_TEAM_WORLD, &c), SHOAL_OK);
    for (int i = 0; me == root && i < npes; i++) {
        write_part(want, turn, i, n);
        CHECK_MEM(all + (size_t)i * n, want, n, "a gather");
    }
}

static size_t draw_size(uint64_t *common, size_t most)
{
    switch (random_next(common) % 4) {
    case 0: return random_next(common) % (most + 1);
    case 1: return random_next(common) % (most / 8 + 1);
    default: return random_next(common) % 57;
    }
}

static void one_of_many(uint64_t turn, uint64_t *common, size_t most)
{
    unsigned char data[MOST], want[MOST];
    uint64_t mine = turn + (uint64_t)me, all[MOST_PES];
    int root = random_next(common) % 2 ? 0 : (int)(random_next(common) % (uint64_t)npes);
    size_t n = draw_size(common, most);
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
    if (random_next(common) % 2) {
        gather(turn, root, n);
        return;
    }
    write_part(want, turn, root, n);
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
    CHECK(npes <= MOST_PES);
    limit = limit < MOST ? limit : MOST;
    root_is_ahead(limit < MOST ? HOSTILE_LINES : LINES, 56);
    for (size_t n = limit, ahead = 2; n > 56 && ahead <= 16; n /= 2, ahead *= 2)
        root_is_ahead(ahead, n);
    for (uint64_t turn = 0; turn < TURNS; turn++) {
        if (random_next(&own) % 100 < 3)
            sched_yield();
        one_of_many(turn, &common, limit);
    }
    return check_done();
}
