// SPDX-License-Identifier: BSD-3-Clause
// Collectives back to back with nothing between them. Calls in which everybody waits for everybody
// (fcollect, collect, alltoall, reductions) make their own order: two destinations used in turn are
// enough. The source is overwritten as soon as a call returns.
#include "../check.h"
#include "coll_rows.h"

enum { ROUNDS = 300, MOST = 3000 };

static long *src, *dst[2];
static size_t room; // elements in each

static long value(int pe, int round, size_t i)
{
    return (long)pe * 1000003 + round * 1009 + (long)i;
}

static void put_values(int round, size_t n)
{
    for (size_t i = 0; i < n; i++)
        src[i] = value(me, round, i);
}

// Mostly a few elements, now and then thousands.
static size_t some_count(uint64_t *seed)
{
    size_t most = rnd_below(seed, 12) == 0 ? MOST : 40;
    return 1 + rnd_below(seed, most);
}

static void fcollects(const test_team *t)
{
    uint64_t seed = 3;
    for (int r = 0; r < ROUNDS; r++) {
        size_t n = some_count(&seed);
        put_values(r, n);
        CHECK_EQ(shmem_long_fcollect(t->team, dst[r % 2], src, n), 0);
        put_values(-1, n);
        CHECK_EACH(i, n * (size_t)t->size, dst[r % 2][i],
                   value(team_world_pe(t, (int)(i / n)), r, i % n));
    }
}

static void collects(const test_team *t)
{
    uint64_t seed = 4;
    for (int r = 0; r < ROUNDS; r++) {
        size_t n = some_count(&seed), at = 0; // member k gives n / (k % 3 + 1)
        size_t mine = n / ((size_t)t->rank % 3 + 1);
        put_values(r, mine);
        CHECK_EQ(shmem_long_collect(t->team, dst[r % 2], src, mine), 0);
        put_values(-1, mine);
        for (int k = 0; k < t->size; k++) {
            size_t theirs = n / ((size_t)k % 3 + 1);
            CHECK_EACH(i, theirs, dst[r % 2][at + i], value(team_world_pe(t, k), r, i));
            at += theirs;
        }
    }
}

static void alltoalls(const test_team *t)
{
    uint64_t seed = 5;
    for (int r = 0; r < ROUNDS; r++) {
        size_t n = some_count(&seed), ts = (size_t)t->size;
        put_values(r, n * ts);
        if (r % 2 == 0)
            CHECK_EQ(shmem_long_alltoall(t->team, dst[r % 2], src, n), 0);
        else
            CHECK_EQ(shmem_long_alltoalls(t->team, dst[r % 2], src, 1, 1, n), 0);
        put_values(-1, n * ts);
        CHECK_EACH(i, n * ts, dst[r % 2][i],
                   value(team_world_pe(t, (int)(i / n)), r, (size_t)t->rank * n + i % n));
    }
}

static void reductions(const test_team *t)
{
    uint64_t seed = 6;
    long pes = 0;
    for (int k = 0; k < t->size; k++)
        pes += team_world_pe(t, k);
    for (int r = 0; r < ROUNDS; r++) {
        size_t n = some_count(&seed);
        put_values(r, n);
        CHECK_EQ(shmem_long_sum_reduce(t->team, dst[r % 2], src, n), 0);
        put_values(-1, n);
        CHECK_EACH(i, n, dst[r % 2][i], pes * 1000003 + t->size * (r * 1009L + (long)i));
    }
    for (int r = 0; r < ROUNDS; r++) { // in place: the destination is the source of the next call
        dst[r % 2][0] = value(me, r, 0);
        CHECK_EQ(shmem_long_max_reduce(t->team, dst[r % 2], dst[r % 2], 1), 0);
        int top = team_world_pe(t, 0) > team_world_pe(t, t->size - 1) ? 0 : t->size - 1;
        CHECK_EQ(dst[r % 2][0], value(team_world_pe(t, top), r, 0));
    }
}

// Scans and broadcasts let some PEs run ahead of others, so every round has its own destination.
static void broadcasts(const test_team *t)
{
    enum { N = 16 };
    size_t slots = room / N;
    uint64_t seed = 7;
    for (size_t r = 0; r < ROUNDS; r++) {
        long *to = dst[0] + r % slots * N;
        if (r % slots == 0)
            CHECK_EQ(shmem_team_sync(t->team), 0);
        int root = (int)rnd_below(&seed, (size_t)t->size);
        put_values((int)r, N);
        CHECK_EQ(shmem_long_broadcast(t->team, to, src, N, root), 0);
        put_values(-1, N);
        CHECK_EACH(i, N, to[i], value(team_world_pe(t, root), (int)r, i));
    }
}

static void scans(const test_team *t)
{
    enum { N = 16 };
    size_t slots = room / N;
    for (size_t r = 0; r < ROUNDS; r++) {
        long *to = dst[0] + r % slots * N, ranks = 0;
        if (r % slots == 0)
            CHECK_EQ(shmem_team_sync(t->team), 0);
        int members = r % 2 == 0 ? t->rank + 1 : t->rank;
        for (int k = 0; k < members; k++)
            ranks += team_world_pe(t, k);
        put_values((int)r, N);
        if (r % 2 == 0)
            CHECK_EQ(shmem_long_sum_inscan(t->team, to, src, N), 0);
        else
            CHECK_EQ(shmem_long_sum_exscan(t->team, to, src, N), 0);
        put_values(-1, N);
        CHECK_EACH(i, N, to[i], ranks * 1000003 + members * ((long)r * 1009 + (long)i));
    }
}

int main(void)
{
    check_start();
    check_spread();
    room = (size_t)MOST * (size_t)npes + 64;
    src = must_shmalloc(room * sizeof(long));
    dst[0] = must_shmalloc(room * sizeof(long));
    dst[1] = must_shmalloc(room * sizeof(long));
    test_team teams[MAX_TEAMS];
    int count = make_teams(teams);
    for (int i = 0; i < count; i++) {
        shmem_barrier_all();
        if (teams[i].rank < 0)
            continue;
        fcollects(&teams[i]);
        collects(&teams[i]);
        alltoalls(&teams[i]);
        reductions(&teams[i]);
        shmem_team_sync(teams[i].team);
        broadcasts(&teams[i]);
        shmem_team_sync(teams[i].team);
        scans(&teams[i]);
    }
    shmem_barrier_all();
    destroy_teams(teams, count);
    return check_done();
}
