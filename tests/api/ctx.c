// SPDX-License-Identifier: BSD-3-Clause
// Contexts: creation with every option, from teams with team-relative PE numbers, their team,
// many at once, the invalid handle; operations on several contexts side by side.
#include "../check.h"

static long data[64];

static void options(void)
{
    for (int bits = 0; bits < 8; bits++) {
        long opt = (bits & 1 ? SHMEM_CTX_SERIALIZED : 0) | (bits & 2 ? SHMEM_CTX_PRIVATE : 0) |
                   (bits & 4 ? SHMEM_CTX_NOSTORE : 0);
        shmem_ctx_t ctx = SHMEM_CTX_INVALID;
        shmem_team_t team = SHMEM_TEAM_INVALID;
        if (!CHECK_EQ(shmem_ctx_create(opt, &ctx), 0))
            continue;
        CHECK(ctx != SHMEM_CTX_INVALID && ctx != SHMEM_CTX_DEFAULT);
        CHECK_EQ(shmem_ctx_get_team(ctx, &team), 0);
        CHECK(team == SHMEM_TEAM_WORLD);
        shmem_ctx_long_p(ctx, &data[bits], me * 10 + bits, right_pe());
        shmem_ctx_fence(ctx);
        shmem_ctx_long_atomic_inc(ctx, &data[bits], right_pe());
        shmem_ctx_fence(ctx);
        CHECK_EQ(shmem_ctx_long_atomic_fetch(ctx, &data[bits], right_pe()), me * 10 + bits + 1);
        if (bits % 2 == 0)
            shmem_ctx_quiet(ctx);
        shmem_ctx_destroy(ctx); // completes what is under way
        shmem_barrier_all();
        CHECK_EQ(data[bits], left_pe() * 10 + bits + 1);
        shmem_barrier_all();
    }
}

static void invalid(void)
{
    shmem_ctx_t ctx = SHMEM_CTX_DEFAULT;
    shmem_team_t team = SHMEM_TEAM_WORLD;
    CHECK(SHMEM_CTX_DEFAULT != SHMEM_CTX_INVALID);
    CHECK_EQ(shmem_ctx_get_team(SHMEM_CTX_DEFAULT, &team), 0);
    CHECK(team == SHMEM_TEAM_WORLD);
    CHECK(shmem_ctx_get_team(SHMEM_CTX_INVALID, &team) != 0);
    CHECK(team == SHMEM_TEAM_INVALID);
    CHECK(shmem_team_create_ctx(SHMEM_TEAM_INVALID, 0, &ctx) != 0);
    CHECK(ctx == SHMEM_CTX_INVALID);
    shmem_ctx_destroy(SHMEM_CTX_INVALID);
}

static void many(void)
{
    enum { MOST = 200 };
    shmem_ctx_t ctx[MOST];
    int count = 0;
    while (count < MOST && shmem_ctx_create(0, &ctx[count]) == 0)
        count++;
    CHECK(count >= 16);
    if (count < MOST)
        CHECK(ctx[count] == SHMEM_CTX_INVALID);
    static long sum;
    for (int i = 0; i < count; i++)
        shmem_ctx_long_atomic_add(ctx[i], &sum, i, 0);
    for (int i = 0; i < count; i++)
        shmem_ctx_quiet(ctx[i]);
    static long want, want_all;
    want = (long)count * (count - 1) / 2;
    CHECK_EQ(shmem_long_sum_reduce(SHMEM_TEAM_WORLD, &want_all, &want, 1), 0);
    shmem_barrier_all();
    if (me == 0)
        CHECK_EQ(sum, want_all);
    for (int i = 0; i < count; i++)
        shmem_ctx_destroy(ctx[i]);
    if (count < MOST) { // there is room again
        CHECK_EQ(shmem_ctx_create(0, &ctx[0]), 0);
        shmem_ctx_destroy(ctx[0]);
    }
    for (int i = 0; i < 1000; i++) {
        CHECK_EQ(shmem_ctx_create(SHMEM_CTX_PRIVATE, &ctx[0]), 0);
        shmem_ctx_destroy(ctx[0]);
    }
    shmem_barrier_all();
}

// All kinds of operations with PE numbers of the team.
static void team_numbers(shmem_team_t team)
{
    shmem_ctx_t ctx;
    shmem_team_t of;
    int rank = shmem_team_my_pe(team), size = shmem_team_n_pes(team);
    if (!CHECK_EQ(shmem_team_create_ctx(team, 0, &ctx), 0))
        return;
    CHECK_EQ(shmem_ctx_get_team(ctx, &of), 0);
    CHECK_EQ(shmem_team_my_pe(of), rank);
    CHECK_EQ(shmem_team_n_pes(of), size);
    int to = (rank + 1) % size, from = (rank + size - 1) % size;
    static uint64_t sig;
    long v[4] = {rank, rank + 1, rank + 2, rank + 3}, got[4];
    memset(data, 0, sizeof data);
    sig = 0;
    shmem_team_sync(team);
    shmem_ctx_long_p(ctx, &data[0], rank, to);
    shmem_ctx_long_put(ctx, &data[1], v, 4, to);
    shmem_ctx_putmem_nbi(ctx, &data[5], v, sizeof v, to);
    shmem_ctx_long_iput(ctx, &data[9], v, 2, 1, 4, to);
    shmem_ctx_long_ibput(ctx, &data[17], v, 2, 2, 2, 2, to);
    shmem_ctx_long_atomic_set(ctx, &data[21], rank, to);
    shmem_ctx_long_atomic_add(ctx, &data[22], rank + 5, to);
    shmem_ctx_ulong_atomic_or(ctx, (unsigned long *)&data[23], (unsigned long)rank, to);
    CHECK_EQ(shmem_ctx_long_atomic_swap(ctx, &data[24], rank, to), 0);
    CHECK_EQ(shmem_ctx_long_atomic_compare_swap(ctx, &data[25], 0, rank, to), 0);
    shmem_ctx_long_atomic_fetch_add_nbi(ctx, &got[0], &data[26], rank, to);
    shmem_ctx_fence(ctx);
    shmem_ctx_long_put_signal(ctx, &data[27], v, 2, &sig, 77, SHMEM_SIGNAL_SET, to);
    shmem_signal_wait_until(&sig, SHMEM_CMP_EQ, 77);
    shmem_ctx_pe_quiet(ctx, &to, 1);
    shmem_team_sync(team);
    CHECK_EQ(data[0], from);
    CHECK_EACH(i, 4, data[1 + i], from + (long)i);
    CHECK_EACH(i, 4, data[5 + i], from + (long)i);
    CHECK_EACH(i, 4, data[9 + 2 * i], from + (long)i);
    CHECK_EACH(i, 4, data[17 + i], from + (long)i);
    CHECK(data[21] == from && data[22] == from + 5 && data[23] == from && data[24] == from &&
          data[25] == from && data[26] == from && data[27] == from && data[28] == from + 1);
    for (int k = 0; k < size; k++) {
        int writer = (k + size - 1) % size;
        CHECK_EQ(shmem_ctx_long_g(ctx, &data[0], k), writer);
        shmem_ctx_long_get(ctx, got, &data[1], 4, k);
        CHECK_EACH(i, 4, got[i], writer + (long)i);
        shmem_ctx_long_iget(ctx, got, &data[9], 1, 2, 4, k);
        CHECK_EACH(i, 4, got[i], writer + (long)i);
        CHECK_EQ(shmem_ctx_long_atomic_fetch(ctx, &data[21], k), writer);
    }
    shmem_ctx_signal_add(ctx, &sig, 1, to);
    shmem_signal_wait_until(&sig, SHMEM_CMP_EQ, 78);
    shmem_team_sync(team);
    shmem_ctx_destroy(ctx);
}

static void from_teams(void)
{
    shmem_team_config_t config = {.num_contexts = 4};
    long mask = SHMEM_TEAM_NUM_CONTEXTS;
    shmem_team_t team[4] = {SHMEM_TEAM_INVALID, SHMEM_TEAM_INVALID, SHMEM_TEAM_INVALID};
    shmem_team_split_strided(SHMEM_TEAM_WORLD, 0, 2, (npes + 1) / 2, &config, mask, &team[0]);
    shmem_team_split_strided(SHMEM_TEAM_WORLD, npes - 1, -1, npes, &config, mask, &team[1]);
    shmem_team_split_2d(SHMEM_TEAM_WORLD, 3, &config, mask, &team[2], &config, mask, &team[3]);
    for (int i = 0; i < 4; i++) {
        shmem_barrier_all();
        if (team[i] != SHMEM_TEAM_INVALID)
            team_numbers(team[i]);
    }
    shmem_barrier_all();
    team_numbers(SHMEM_TEAM_WORLD);
    // As many as were asked for, at once; shareable ones may be left to the team's destruction.
    shmem_ctx_t ctx[4];
    for (int i = 0; i < 4; i++)
        CHECK_EQ(shmem_team_create_ctx(team[1], i % 2 ? SHMEM_CTX_PRIVATE : 0, &ctx[i]), 0);
    for (int i = 0; i < 4; i++)
        shmem_ctx_destroy(ctx[i]);
    for (int i = 0; i < 4; i++)
        shmem_team_destroy(team[i]);
}

int main(void)
{
    check_start();
    invalid();
    options();
    many();
    from_teams();
    return check_done();
}
