// SPDX-License-Identifier: BSD-3-Clause
// Short blocking collectives, from private memory and in place; and a team that its members make by
// their own agreement, in another order than the PEs'.
// NODES: 1
#include "../check.h"

#include <shoal.h>

enum { MOST_PES = 16, MOST = 64 };

static uint64_t limit; // of a contribution

static unsigned char byte_of(int pe, int to, size_t i)
{
    return (unsigned char)(pe * 31 + to * 7 + (int)i);
}

static void block_from(unsigned char *to, int pe, int dest, size_t n)
{
    for (size_t i = 0; i < n; i++)
        to[i] = byte_of(pe, dest, i);
}

// rank: of this PE in the team; pe_of: of a member.
static void moves(shmem_team_t team, int rank, int size, int (*pe_of)(int), size_t n)
{
    unsigned char src[MOST_PES * MOST], dst[MOST_PES * MOST], want[MOST_PES * MOST];
    shoal_coll_t c = {.element_size = 1, .count = n, .src = src, .dst = dst};
    for (int root = 0; root < size; root++) {
        c.kind = SHOAL_COLL_BROADCAST;
        c.root = root;
        block_from(src, pe_of(rank), 0, n);
        block_from(want, pe_of(root), 0, n);
        memset(dst, 0, sizeof dst);
        CHECK_EQ(shoal_coll_short(team, &c), SHOAL_OK);
        CHECK_MEM(dst, want, n, "a broadcast");
        c.kind = SHOAL_COLL_GATHER;
        memset(dst, 0, sizeof dst);
        for (int i = 0; i < size; i++)
            block_from(want + (size_t)i * n, pe_of(i), 0, n);
        CHECK_EQ(shoal_coll_short(team, &c), SHOAL_OK);
        if (rank == root)
            CHECK_MEM(dst, want, (size_t)size * n, "a gather");
    }
    c.kind = SHOAL_COLL_ALLGATHER; // in place
    c.src = NULL;
    memset(dst, 0, sizeof dst);
    block_from(dst + (size_t)rank * n, pe_of(rank), 0, n);
    CHECK_EQ(shoal_coll_short(team, &c), SHOAL_OK);
    CHECK_MEM(dst, want, (size_t)size * n, "an allgather");
    c.kind = SHOAL_COLL_GATHER_BEFORE; // in place, and not
    for (int in_place = 0; in_place < 2; in_place++) {
        c.src = in_place ? NULL : src;
        memset(dst, 0xee, sizeof dst);
        block_from(in_place ? dst + (size_t)rank * n : src, pe_of(rank), 0, n);
        CHECK_EQ(shoal_coll_short(team, &c), SHOAL_OK);
        CHECK_MEM(dst, want, (size_t)(rank + 1) * n, "a gather of those before");
        for (size_t i = (size_t)(rank + 1) * n; i < (size_t)size * n; i++)
            CHECK_EQ(dst[i], 0xee);
    }
    c.src = NULL;
    c.kind = SHOAL_COLL_ALLTOALL;
    for (int i = 0; i < size; i++) {
        block_from(dst + (size_t)i * n, pe_of(rank), i, n);
        block_from(want + (size_t)i * n, pe_of(i), rank, n);
    }
    bool is_short = (size_t)size * n <= limit;
    CHECK_EQ(shoal_coll_short(team, &c), is_short ? SHOAL_OK : SHOAL_EAGAIN);
    if (is_short)
        CHECK_MEM(dst, want, (size_t)size * n, "an all-to-all");
}

static int same(int i)
{
    return i;
}

static int reversed(int i)
{
    return npes - 1 - i;
}

static shmem_team_t make_reversed(void)
{
    static uint64_t mine[SHOAL_TEAM_WORDS], common[SHOAL_TEAM_WORDS];
    shmem_team_t team = SHMEM_TEAM_INVALID;
    int place = 0;
    CHECK_EQ(shoal_team_places(mine), SHOAL_OK);
    shmem_uint64_and_reduce(SHMEM_TEAM_WORLD, common, mine, SHOAL_TEAM_WORDS);
    while (!(common[place / 64] >> place % 64 & 1))
        place++;
    CHECK_EQ(shoal_team_make(npes - 1, -1, npes, place, &team), SHOAL_OK);
    shmem_team_t again = SHMEM_TEAM_INVALID;
    CHECK_EQ(shoal_team_make(0, 1, npes, place, &again), SHOAL_EAGAIN);
    CHECK(again == SHMEM_TEAM_INVALID);
    shmem_barrier_all();
    return team;
}

static void refusals(void)
{
    shmem_team_t team = SHMEM_TEAM_INVALID;
    shoal_coll_t c = {
        .kind = SHOAL_COLL_ALLREDUCE, .count = 1, .type = SHOAL_INT32, .dst = &c, .src = &c};
    CHECK_EQ(shoal_coll_short(SHMEM_TEAM_WORLD, &c), SHOAL_EAGAIN);
    c.kind = SHOAL_COLL_GATHER_BEFORE;
    CHECK_EQ(shoal_coll(SHMEM_TEAM_WORLD, &c, NULL), SHOAL_EINVAL);
    c.kind = SHOAL_COLL_GATHER_BEFORE + 1;
    CHECK_EQ(shoal_coll_short(SHMEM_TEAM_WORLD, &c), SHOAL_EINVAL);
    c.kind = 0;
    CHECK_EQ(shoal_coll_short(SHMEM_TEAM_WORLD, &c), SHOAL_EINVAL);
    CHECK_EQ(shoal_coll_short(SHMEM_TEAM_WORLD, NULL), SHOAL_EINVAL);
    c.kind = SHOAL_COLL_ALLGATHER;
    c.dst = NULL;
    CHECK_EQ(shoal_coll_short(SHMEM_TEAM_WORLD, &c), SHOAL_EINVAL);
    CHECK_EQ(shoal_team_places(NULL), SHOAL_EINVAL);
    CHECK_EQ(shoal_team_make(0, 1, npes + 1, 9, &team), SHOAL_EINVAL);
    CHECK_EQ(shoal_team_make(0, 1, npes, -1, &team), SHOAL_EINVAL);
    CHECK_EQ(shoal_team_make(0, 1, npes, 1 << 20, &team), SHOAL_EINVAL);
    CHECK_EQ(shoal_team_make(0, 1, npes, 9, NULL), SHOAL_EINVAL);
    CHECK_EQ(shoal_team_undo(SHMEM_TEAM_WORLD), SHOAL_EINVAL);
}

int main(void)
{
    check_start();
    CHECK_EQ(shoal_query(SHOAL_Q_COLL_SHORT, 0, &limit), SHOAL_OK);
    static const size_t sizes[] = {0, 1, 8, 33, 64};
    shoal_coll_t barrier = {.kind = SHOAL_COLL_BARRIER};
    refusals();
    shmem_team_t team = make_reversed();
    for (int turn = 0; turn < 20; turn++)
        for (size_t s = 0; s < sizeof sizes / sizeof *sizes; s++) {
            moves(SHMEM_TEAM_WORLD, me, npes, same, sizes[s]);
            CHECK_EQ(shoal_coll_short(team, &barrier), SHOAL_OK);
            moves(team, npes - 1 - me, npes, reversed, sizes[s]);
        }
    shmem_team_destroy(team);
    return check_done();
}
