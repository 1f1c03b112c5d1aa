// SPDX-License-Identifier: BSD-3-Clause
// Counting events: numbers that are the same on all members, increments and sets on every PE,
// failures, sets of counters tested and waited on, the end of the table, reuse.
#include "counters.h"

#include <unistd.h>

enum { MOST_PES = 64, MOST_COUNTERS = 1 << 20 };

static shoal_ct_t ids[MOST_PES]; // symmetric: everybody's number for one allocation
static uint64_t cell, pid;

static void check_value(shoal_ct_t ct, uint64_t success, uint64_t failure)
{
    shoal_ct_value_t v = value_of(ct);
    CHECK_EQ(v.success, success);
    CHECK_EQ(v.failure, failure);
    CHECK(shoal_ct_at(ct) != NULL);
    CHECK_EQ(shoal_ct_at(ct)->success, success);
    CHECK_EQ(shoal_ct_at(ct)->failure, failure);
}

static void private_counters(void)
{
    enum { N = 100 };
    shoal_ct_t ct[N];
    for (int i = 0; i < N; i++) {
        ct[i] = must_ct(SHMEM_TEAM_INVALID);
        for (int k = 0; k < i; k++)
            CHECK(ct[k] != ct[i]);
        check_value(ct[i], 0, 0);
        CHECK_EQ(shoal_ct_inc(me, ct[i], (shoal_ct_value_t){(uint64_t)i, 2 * (uint64_t)i}),
                 SHOAL_OK);
    }
    for (int i = 0; i < N; i++) {
        check_value(ct[i], (uint64_t)i, 2 * (uint64_t)i);
        CHECK_EQ(shoal_ct_set(me, ct[i], (shoal_ct_value_t){7, (uint64_t)i}), SHOAL_OK);
        check_value(ct[i], 7, (uint64_t)i);
    }
    CHECK_EQ(shoal_ct_set(me, ct[0], (shoal_ct_value_t){UINT64_MAX, 0}), SHOAL_OK);
    check_value(ct[0], UINT64_MAX, 0); // as far as a sum goes, with nothing armed
    for (int i = 0; i < N; i++) {
        CHECK_EQ(shoal_ct_free(SHMEM_TEAM_INVALID, ct[i]), SHOAL_OK);
        CHECK(shoal_ct_at(ct[i]) == NULL);
    }
    for (int i = 0; i < N; i++) { // the numbers come again, and start anew
        ct[i] = must_ct(SHMEM_TEAM_INVALID);
        check_value(ct[i], 0, 0);
    }
    for (int i = 0; i < N; i++)
        CHECK_EQ(shoal_ct_free(SHMEM_TEAM_INVALID, ct[i]), SHOAL_OK);
}

// All members tell all PEs their number, and see the same.
static void check_same(shmem_team_t team, shoal_ct_t ct)
{
    for (int pe = 0; pe < npes; pe++)
        shmem_uint32_p(&ids[me], ct, pe);
    shmem_barrier_all();
    int n = shmem_team_n_pes(team);
    for (int i = 0; i < n; i++)
        CHECK_EQ(ids[shmem_team_translate_pe(team, i, SHMEM_TEAM_WORLD)], ct);
    shmem_barrier_all();
}

// Each PE has others in use: me of them below, and every third number with holes.
static void common_counters(shmem_team_t team)
{
    enum { ROUNDS = 8 };
    shoal_ct_t own[ROUNDS], common[ROUNDS], low[3 * MOST_PES];
    for (int i = 0; i < 3 * me; i++)
        low[i] = must_ct(SHMEM_TEAM_INVALID);
    for (int i = 0; i < 3 * me; i += 3)
        CHECK_EQ(shoal_ct_free(SHMEM_TEAM_INVALID, low[i]), SHOAL_OK);
    for (int r = 0; r < ROUNDS; r++) {
        common[r] = must_ct(team);
        check_same(team, common[r]);
        check_value(common[r], 0, 0);
        own[r] = must_ct(SHMEM_TEAM_INVALID);
        for (int k = 0; k < r; k++)
            CHECK(common[k] != common[r] && own[k] != common[r]);
    }
    int members = shmem_team_n_pes(team), self = shmem_team_my_pe(team);
    shmem_team_sync(team); // all have seen zeros
    for (int r = 0; r < ROUNDS; r++)
        for (int i = 0; i < members; i++) {
            int pe = shmem_team_translate_pe(team, i, SHMEM_TEAM_WORLD);
            shoal_ct_value_t by = {(uint64_t)(self + 1), (uint64_t)(r * i)};
            CHECK_EQ(shoal_ct_inc(pe, common[r], by), SHOAL_OK);
        }
    CHECK_EQ(shoal_quiet(-1), SHOAL_OK);
    shmem_team_sync(team);
    uint64_t n = (uint64_t)members;
    for (int r = 0; r < ROUNDS; r++)
        check_value(common[r], n * (n + 1) / 2, n * (uint64_t)(r * self));
    shmem_team_sync(team);
    int next = shmem_team_translate_pe(team, (self + 1) % members, SHMEM_TEAM_WORLD);
    for (int r = 0; r < ROUNDS; r++)
        CHECK_EQ(shoal_ct_set(next, common[r], (shoal_ct_value_t){5, (uint64_t)self}), SHOAL_OK);
    CHECK_EQ(shoal_quiet(-1), SHOAL_OK);
    shmem_team_sync(team);
    for (int r = 0; r < ROUNDS; r++)
        check_value(common[r], 5, (uint64_t)((self + members - 1) % members));
    for (int r = 0; r < ROUNDS; r++) {
        CHECK_EQ(shoal_ct_free(team, common[r]), SHOAL_OK);
        CHECK_EQ(shoal_ct_free(SHMEM_TEAM_INVALID, own[r]), SHOAL_OK);
    }
    for (int i = 0; i < 3 * me; i++)
        if (i % 3)
            CHECK_EQ(shoal_ct_free(SHMEM_TEAM_INVALID, low[i]), SHOAL_OK);
    shmem_barrier_all();
}

// Odd and even PEs at the same time.
static void common_to_halves(void)
{
    shmem_team_t half[2] = {SHMEM_TEAM_INVALID, SHMEM_TEAM_INVALID};
    for (int k = 0; k < 2 && k < npes; k++)
        CHECK_EQ(shmem_team_split_strided(SHMEM_TEAM_WORLD, k, 2, (npes + 1 - k) / 2, NULL, 0,
                                          &half[k]),
                 0);
    common_counters(half[me % 2]);
    for (int k = 0; k < 2; k++)
        if (half[k] != SHMEM_TEAM_INVALID)
            shmem_team_destroy(half[k]);
}

// A number is free again when all have freed it: what they added before comes to no other counter.
static void freed_by_all(void)
{
    enum { ROUNDS = 100 };
    for (int r = 0; r < ROUNDS; r++) {
        shoal_ct_t common = must_ct(SHMEM_TEAM_WORLD);
        for (volatile int i = 0; me > 0 && i < r % 10 * 10000; i++)
            ; // the others are late
        CHECK_EQ(shoal_ct_inc(0, common, (shoal_ct_value_t){1, 0}), SHOAL_OK);
        CHECK_EQ(shoal_ct_free(SHMEM_TEAM_WORLD, common), SHOAL_OK);
        shoal_ct_t own = must_ct(SHMEM_TEAM_INVALID);
        shmem_barrier_all();
        check_value(own, 0, 0);
        CHECK_EQ(shoal_ct_free(SHMEM_TEAM_INVALID, own), SHOAL_OK);
    }
}

static void sets(void)
{
    enum { N = 6 };
    shoal_ct_t ct[N];
    uint64_t threshold[N];
    size_t index = 99;
    for (int i = 0; i < N; i++) {
        ct[i] = must_ct(SHMEM_TEAM_INVALID);
        threshold[i] = 3;
    }
    CHECK_EQ(shoal_ct_test(N, ct, threshold, &index), SHOAL_EAGAIN);
    CHECK_EQ(index, 99);
    CHECK_EQ(shoal_ct_inc(me, ct[4], (shoal_ct_value_t){2, 0}), SHOAL_OK);
    CHECK_EQ(shoal_ct_test(N, ct, threshold, &index), SHOAL_EAGAIN);
    CHECK_EQ(shoal_ct_inc(me, ct[4], (shoal_ct_value_t){0, 1}), SHOAL_OK);
    CHECK_EQ(shoal_ct_test(N, ct, threshold, &index), SHOAL_OK);
    CHECK_EQ(index, 4);
    CHECK_EQ(shoal_ct_inc(me, ct[2], (shoal_ct_value_t){0, 3}), SHOAL_OK);
    CHECK_EQ(shoal_ct_wait(N, ct, threshold, &index), SHOAL_OK);
    CHECK_EQ(index, 2);
    CHECK_EQ(shoal_ct_wait(N, ct, threshold, NULL), SHOAL_OK);
    CHECK_EQ(shoal_ct_test(1, &ct[0], &(uint64_t){0}, &index), SHOAL_OK);
    CHECK_EQ(index, 0);
    CHECK_EQ(shoal_ct_set(me, ct[2], (shoal_ct_value_t){0, 0}), SHOAL_OK); // down again
    CHECK_EQ(shoal_ct_set(me, ct[4], (shoal_ct_value_t){0, 2}), SHOAL_OK);
    CHECK_EQ(shoal_ct_test(N, ct, threshold, &index), SHOAL_EAGAIN);
    for (int i = 0; i < N; i++)
        CHECK_EQ(shoal_ct_free(SHMEM_TEAM_INVALID, ct[i]), SHOAL_OK);
}

// What was put before the count is there for whoever sees the count; round the ring many times.
static void order(void)
{
    enum { TURNS = 300 };
    shoal_ct_t ct = must_ct(SHMEM_TEAM_WORLD);
    shoal_rptr_t right;
    CHECK_EQ(shoal_rptr_symmetric(&cell, right_pe(), &right), SHOAL_OK);
    cell = 0;
    shmem_barrier_all();
    for (uint64_t i = 1; i <= TURNS; i++) {
        uint64_t next = i * 1000;
        if (me != 0) {
            CHECK_EQ(shoal_ct_wait(1, &ct, &i, NULL), SHOAL_OK);
            next = cell + 1;
        }
        CHECK_EQ(shoal_put(right, &next, sizeof next, NULL, NULL), SHOAL_OK);
        CHECK_EQ(shoal_ct_inc(right_pe(), ct, (shoal_ct_value_t){1, 0}), SHOAL_OK);
        if (me == 0) {
            CHECK_EQ(shoal_ct_wait(1, &ct, &i, NULL), SHOAL_OK);
            CHECK_EQ(cell, i * 1000 + (uint64_t)npes - 1);
        }
    }
    CHECK_EQ(shoal_ct_free(SHMEM_TEAM_WORLD, ct), SHOAL_OK);
}

// PE 0 sees its neighbour asleep in the wait, and wakes it by the last of several counters.
static void sleep_and_wake(void)
{
    shoal_ct_t ct[3];
    for (int i = 0; i < 3; i++)
        ct[i] = must_ct(SHMEM_TEAM_WORLD);
    pid = (uint64_t)getpid();
    shmem_barrier_all();
    for (uint64_t turn = 1; npes > 1 && turn <= 3; turn++) {
        const uint64_t threshold[] = {turn, turn, turn};
        size_t index = 9;
        if (me == 1) {
            CHECK_EQ(shoal_ct_wait(3, ct, threshold, &index), SHOAL_OK);
            CHECK_EQ(index, 2);
        } else if (me == 0) {
            uint64_t process = shmem_uint64_g(&pid, 1);
            while (check_process_state(process) == 'R')
                sched_yield();
            CHECK_EQ(shoal_ct_inc(1, ct[2], (shoal_ct_value_t){turn == 1, turn != 1}), SHOAL_OK);
        }
    }
    for (int i = 0; i < 3; i++)
        CHECK_EQ(shoal_ct_free(SHMEM_TEAM_WORLD, ct[i]), SHOAL_OK);
}

// One PE alone takes all there are: nobody gets a common one then.
static void exhaust(void)
{
    uint64_t most = 0, count = 0;
    CHECK_EQ(shoal_query(SHOAL_Q_COUNTERS, 0, &most), SHOAL_OK);
    CHECK(most >= 64 && most < MOST_COUNTERS);
    shoal_ct_t *all = must_alloc(most * sizeof *all), ct = 4711;
    for (int greedy = 0; greedy < npes && greedy < 2; greedy++) {
        for (count = 0; me == greedy && count < most; count++)
            if (!CHECK_EQ(shoal_ct_alloc(SHMEM_TEAM_INVALID, &all[count]), SHOAL_OK))
                break;
        if (me == greedy)
            CHECK_EQ(shoal_ct_alloc(SHMEM_TEAM_INVALID, &ct), SHOAL_ENOMEM);
        CHECK_EQ(shoal_ct_alloc(SHMEM_TEAM_WORLD, &ct), SHOAL_ENOMEM);
        CHECK_EQ(ct, 4711);
        if (count == most) // one in the middle is free again: it is the one they all get
            CHECK_EQ(shoal_ct_free(SHMEM_TEAM_INVALID, all[most / 2]), SHOAL_OK);
        shoal_ct_t common = must_ct(SHMEM_TEAM_WORLD);
        if (count == most)
            CHECK_EQ(common, all[most / 2]);
        check_same(SHMEM_TEAM_WORLD, common);
        CHECK_EQ(shoal_ct_free(SHMEM_TEAM_WORLD, common), SHOAL_OK);
        for (uint64_t i = 0; i < count; i++)
            if (i != most / 2)
                CHECK_EQ(shoal_ct_free(SHMEM_TEAM_INVALID, all[i]), SHOAL_OK);
    }
    free(all);
}

static void arguments(void)
{
    shoal_ct_t ct = must_ct(SHMEM_TEAM_INVALID), gone = must_ct(SHMEM_TEAM_INVALID);
    const uint64_t threshold[2] = {1, 1};
    const shoal_ct_value_t one = {1, 0};
    shoal_ct_value_t v;
    size_t index;
    CHECK_EQ(shoal_ct_free(SHMEM_TEAM_INVALID, gone), SHOAL_OK);
    const shoal_ct_t bad[] = {SHOAL_CT_NONE, gone, UINT32_MAX, 1u << 31};
#define EINVAL_IS(call) CHECK_EQ(call, SHOAL_EINVAL)
    for (size_t i = 0; i < sizeof bad / sizeof bad[0]; i++) {
        const shoal_ct_t pair[] = {ct, bad[i]};
        EINVAL_IS(shoal_ct_free(SHMEM_TEAM_INVALID, bad[i]));
        EINVAL_IS(shoal_ct_get(bad[i], &v));
        CHECK(shoal_ct_at(bad[i]) == NULL);
        EINVAL_IS(shoal_ct_test(2, pair, threshold, &index));
        EINVAL_IS(shoal_ct_wait(2, pair, threshold, &index));
        if (bad[i] != gone) {
            EINVAL_IS(shoal_ct_inc(me, bad[i], one));
            EINVAL_IS(shoal_ct_set(me, bad[i], one));
        }
    }
    EINVAL_IS(shoal_ct_alloc(SHMEM_TEAM_INVALID, NULL));
    EINVAL_IS(shoal_ct_get(ct, NULL));
    EINVAL_IS(shoal_ct_inc(npes, ct, one));
    EINVAL_IS(shoal_ct_inc(-1, ct, one));
    EINVAL_IS(shoal_ct_set(npes, ct, one));
    EINVAL_IS(shoal_ct_set(-1, ct, one));
    EINVAL_IS(shoal_ct_test(1, NULL, threshold, &index));
    EINVAL_IS(shoal_ct_test(1, &ct, NULL, &index));
    EINVAL_IS(shoal_ct_wait(1, NULL, threshold, &index));
    EINVAL_IS(shoal_ct_wait(1, &ct, NULL, &index));
    EINVAL_IS(shoal_ct_wait(0, &ct, threshold, &index)); // it would never end
    CHECK_EQ(shoal_ct_free(SHMEM_TEAM_INVALID, ct), SHOAL_OK);
}

int main(void)
{
    check_start();
    if (npes > MOST_PES)
        check_skip("more than 64 PEs");
    arguments();
    private_counters();
    common_counters(SHMEM_TEAM_WORLD);
    common_to_halves();
    freed_by_all();
    sets();
    order();
    sleep_and_wake();
    exhaust();
    common_counters(SHMEM_TEAM_WORLD);
    return check_done();
}
