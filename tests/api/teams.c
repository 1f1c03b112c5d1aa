// SPDX-License-Identifier: BSD-3-Clause
// PES: 1 2 4 7 16
// Teams: strided and 2-dimensional splits, nested ones, numbers and their translation, what those
// outside get, invalid arguments, configurations.
#include "../check.h"

// A new team is usable at once: everybody adds one to everybody's count.
static void expect_works(shmem_team_t team, int size, int rank)
{
    static long one[1], sum[1];
    CHECK_EQ(shmem_team_n_pes(team), size);
    CHECK_EQ(shmem_team_my_pe(team), rank);
    one[0] = rank + 1;
    CHECK_EQ(shmem_team_sync(team), 0);
    CHECK_EQ(shmem_long_sum_reduce(team, sum, one, 1), 0);
    CHECK_EQ(sum[0], (long)size * (size + 1) / 2);
}

static void expect_invalid(shmem_team_t team)
{
    CHECK(team == SHMEM_TEAM_INVALID);
    CHECK_EQ(shmem_team_my_pe(team), -1);
    CHECK_EQ(shmem_team_n_pes(team), -1);
}

static void predefined(void)
{
    static int here;
    CHECK(SHMEM_TEAM_WORLD != SHMEM_TEAM_INVALID && SHMEM_TEAM_SHARED != SHMEM_TEAM_INVALID);
    CHECK_EQ(shmem_team_my_pe(SHMEM_TEAM_WORLD), me);
    CHECK_EQ(shmem_team_n_pes(SHMEM_TEAM_WORLD), npes);
    expect_invalid(SHMEM_TEAM_INVALID);
    // The shared team holds exactly PEs that can be loaded from and stored to, this one included.
    int size = shmem_team_n_pes(SHMEM_TEAM_SHARED), rank = shmem_team_my_pe(SHMEM_TEAM_SHARED);
    CHECK(size >= 1 && size <= npes && rank >= 0 && rank < size);
    CHECK_EQ(shmem_team_translate_pe(SHMEM_TEAM_SHARED, rank, SHMEM_TEAM_WORLD), me);
    here = 5 + me;
    shmem_barrier_all();
    for (int k = 0; k < size; k++) {
        int *p = shmem_team_ptr(SHMEM_TEAM_SHARED, &here, k);
        int pe = shmem_team_translate_pe(SHMEM_TEAM_SHARED, k, SHMEM_TEAM_WORLD);
        CHECK(p != NULL && *p == 5 + pe);
    }
    CHECK_EQ(shmem_team_sync(SHMEM_TEAM_SHARED), 0);
    CHECK(shmem_team_ptr(SHMEM_TEAM_INVALID, &here, 0) == NULL);
    shmem_team_destroy(SHMEM_TEAM_INVALID); // does nothing
}

static void one_split(int start, int stride, int size)
{
    shmem_team_t team = SHMEM_TEAM_WORLD;
    int rank = -1;
    for (int k = 0; k < size; k++)
        if (start + k * stride == me)
            rank = k;
    CHECK_EQ(shmem_team_split_strided(SHMEM_TEAM_WORLD, start, stride, size, NULL, 0, &team), 0);
    if (rank < 0) {
        expect_invalid(team);
        return;
    }
    expect_works(team, size, rank);
    for (int k = 0; k < size; k++) {
        int pe = start + k * stride;
        CHECK_EQ(shmem_team_translate_pe(team, k, SHMEM_TEAM_WORLD), pe);
        CHECK_EQ(shmem_team_translate_pe(SHMEM_TEAM_WORLD, pe, team), k);
    }
    for (int pe = 0; pe < npes; pe++) {
        int k = stride == 0 ? 0 : (pe - start) / stride;
        bool in = k >= 0 && k < size && start + k * stride == pe;
        CHECK_EQ(shmem_team_translate_pe(SHMEM_TEAM_WORLD, pe, team), in ? k : -1);
    }
    CHECK_EQ(shmem_team_translate_pe(team, size, SHMEM_TEAM_WORLD), -1);
    CHECK_EQ(shmem_team_translate_pe(team, -1, SHMEM_TEAM_WORLD), -1);
    CHECK_EQ(shmem_team_translate_pe(team, 0, SHMEM_TEAM_INVALID), -1);
    CHECK_EQ(shmem_team_translate_pe(SHMEM_TEAM_INVALID, 0, team), -1);
    shmem_team_destroy(team);
}

static void strided(void)
{
    for (int stride = -3; stride <= 4; stride++) {
        for (int start = 0; start < npes; start++) {
            int most = stride > 0   ? (npes - 1 - start) / stride + 1
                       : stride < 0 ? start / -stride + 1
                                    : 1;
            if ((start + stride) % 2 == 0 || start < 2 || start == npes - 1)
                one_split(start, stride, most);
            if (most > 2 && start < 2)
                one_split(start, stride, most - 1);
        }
    }
}

static void refused(void)
{
    shmem_team_t team = SHMEM_TEAM_WORLD, other = SHMEM_TEAM_WORLD;
    CHECK(shmem_team_split_strided(SHMEM_TEAM_INVALID, 0, 1, 1, NULL, 0, &team) != 0);
    CHECK(team == SHMEM_TEAM_INVALID);
    team = SHMEM_TEAM_WORLD;
    CHECK(shmem_team_split_2d(SHMEM_TEAM_INVALID, 1, NULL, 0, &team, NULL, 0, &other) != 0);
    CHECK(team == SHMEM_TEAM_INVALID && other == SHMEM_TEAM_INVALID);
    // A triplet that leaves the parent: nonzero and no team on every PE.
    team = SHMEM_TEAM_WORLD;
    CHECK(shmem_team_split_strided(SHMEM_TEAM_WORLD, 0, 1, npes + 1, NULL, 0, &team) != 0);
    CHECK(team == SHMEM_TEAM_INVALID);
    team = SHMEM_TEAM_WORLD;
    CHECK(shmem_team_split_strided(SHMEM_TEAM_WORLD, npes, 1, 1, NULL, 0, &team) != 0);
    CHECK(team == SHMEM_TEAM_INVALID);
    one_split(0, 1, npes); // and the parent is as good as before
}

static void grid(shmem_team_t parent, int size, int rank, int xrange)
{
    shmem_team_t x = SHMEM_TEAM_INVALID, y = SHMEM_TEAM_INVALID;
    CHECK_EQ(shmem_team_split_2d(parent, xrange, NULL, 0, &x, NULL, 0, &y), 0);
    int wide = xrange > size ? size : xrange, col = rank % wide, line = rank / wide;
    int lines = (size + wide - 1) / wide;
    int in_line = line == lines - 1 ? size - line * wide : wide;
    int in_col = col < size - (lines - 1) * wide ? lines : lines - 1;
    expect_works(x, in_line, col);
    expect_works(y, in_col, line);
    for (int k = 0; k < in_line; k++)
        CHECK_EQ(shmem_team_translate_pe(x, k, parent), line * wide + k);
    for (int k = 0; k < in_col; k++)
        CHECK_EQ(shmem_team_translate_pe(y, k, parent), k * wide + col);
    shmem_team_destroy(x);
    shmem_team_destroy(y);
}

// Splits of splits; the whole grid of a team that runs backwards.
static void nested(void)
{
    shmem_team_t even, back;
    int half = (npes + 1) / 2;
    CHECK_EQ(shmem_team_split_strided(SHMEM_TEAM_WORLD, 0, 2, half, NULL, 0, &even), 0);
    CHECK_EQ(shmem_team_split_strided(SHMEM_TEAM_WORLD, npes - 1, -1, npes, NULL, 0, &back), 0);
    if (even != SHMEM_TEAM_INVALID) {
        shmem_team_t tail, last;
        CHECK_EQ(shmem_team_split_strided(even, half - 1, -1, (half + 1) / 2, NULL, 0, &tail), 0);
        int rank = half - 1 - me / 2;
        if (rank < (half + 1) / 2) {
            expect_works(tail, (half + 1) / 2, rank);
            CHECK_EQ(shmem_team_translate_pe(tail, rank, SHMEM_TEAM_WORLD), me);
            CHECK_EQ(shmem_team_translate_pe(tail, 0, even), half - 1);
            CHECK_EQ(shmem_team_translate_pe(back, npes - 1 - me, tail), rank);
            CHECK_EQ(shmem_team_split_strided(tail, 0, 0, 1, NULL, 0, &last), 0);
            CHECK_EQ(last != SHMEM_TEAM_INVALID, rank == 0);
            shmem_team_destroy(tail); // a child outlives its parent
            if (rank == 0)
                expect_works(last, 1, 0);
            shmem_team_destroy(last);
        } else {
            expect_invalid(tail);
        }
    }
    for (int xrange = 1; xrange <= 4; xrange++)
        grid(back, npes, npes - 1 - me, xrange);
    shmem_team_destroy(even);
    shmem_team_destroy(back);
}

static void configs(void)
{
    shmem_team_config_t config = {.num_contexts = 3}, got = {.num_contexts = -9};
    shmem_team_t team, plain;
    CHECK_EQ(shmem_team_split_strided(SHMEM_TEAM_WORLD, 0, 1, npes, &config,
                                      SHMEM_TEAM_NUM_CONTEXTS, &team),
             0);
    CHECK_EQ(shmem_team_get_config(team, 0, NULL), 0);
    CHECK_EQ(shmem_team_get_config(team, 0, &got), 0);
    CHECK_EQ(got.num_contexts, -9);
    CHECK_EQ(shmem_team_get_config(team, SHMEM_TEAM_NUM_CONTEXTS, &got), 0);
    CHECK_EQ(got.num_contexts, 3);
    // Without its mask bit the member is ignored: the default is 0.
    CHECK_EQ(shmem_team_split_strided(SHMEM_TEAM_WORLD, 0, 1, npes, &config, 0, &plain), 0);
    CHECK_EQ(shmem_team_get_config(plain, SHMEM_TEAM_NUM_CONTEXTS, &got), 0);
    CHECK_EQ(got.num_contexts, 0);
    CHECK_EQ(shmem_team_get_config(SHMEM_TEAM_WORLD, SHMEM_TEAM_NUM_CONTEXTS, &got), 0);
    CHECK(shmem_team_get_config(SHMEM_TEAM_INVALID, SHMEM_TEAM_NUM_CONTEXTS, &got) != 0);
    shmem_team_destroy(team);
    shmem_team_destroy(plain);
    // Each axis of a grid has its own.
    shmem_team_config_t other = {.num_contexts = 1};
    CHECK_EQ(shmem_team_split_2d(SHMEM_TEAM_WORLD, 2, &config, SHMEM_TEAM_NUM_CONTEXTS, &team,
                                 &other, SHMEM_TEAM_NUM_CONTEXTS, &plain),
             0);
    shmem_team_get_config(team, SHMEM_TEAM_NUM_CONTEXTS, &got);
    CHECK_EQ(got.num_contexts, 3);
    shmem_team_get_config(plain, SHMEM_TEAM_NUM_CONTEXTS, &got);
    CHECK_EQ(got.num_contexts, 1);
    shmem_team_destroy(team);
    shmem_team_destroy(plain);
}

int main(void)
{
    check_start();
    predefined();
    strided();
    refused();
    for (int xrange = 1; xrange <= npes + 1; xrange += xrange < 5 ? 1 : 4)
        grid(SHMEM_TEAM_WORLD, npes, me, xrange);
    grid(SHMEM_TEAM_WORLD, npes, me, 1000000);
    nested();
    configs();
    return check_done();
}
