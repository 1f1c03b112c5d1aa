// SPDX-License-Identifier: BSD-3-Clause
// Plans started many times with changing data; many collectives under way at once and found done in
// every order, long after the library has used their places again; what is refused while a plan is
// under way; other collectives, and other teams in another order, in between.
#include "../check.h"

#include <shoal.h>

enum { AT_ONCE = 8, PLANS = 12, MANY = 40, N = 33, MOST_PES = 64 };

static int64_t symmetric_src[PLANS][N], symmetric_dst[PLANS][N];
static uint64_t ready, has_begun; // symmetric
static shmem_team_t odd_even, backwards;

// Of member k of a team, in one round.
static int64_t value(int k, int round, int which, int i)
{
    return (int64_t)(k + 1) * 1000003 + round * 7919 + which * 131 + i;
}

static int64_t sum_of(int members, int round, int which, int i)
{
    int64_t sum = 0;
    for (int k = 0; k < members; k++)
        sum += value(k, round, which, i);
    return sum;
}

static bool wait_for(shoal_event_t *event)
{
    return CHECK_EQ(shoal_wait(1, &event, 1, NULL, NULL), SHOAL_OK) &&
           CHECK_EQ(event->status, SHOAL_OK);
}

static shoal_coll_t sum_coll(int64_t *dst, const int64_t *src)
{
    return (shoal_coll_t){.kind = SHOAL_COLL_ALLREDUCE,
                          .dst = dst,
                          .src = src,
                          .count = N,
                          .type = SHOAL_INT64,
                          .op = SHOAL_SUM};
}

// ---- One plan, many starts; its description and lists are needed at the first call only
static void check_scan(shmem_team_t team, const int64_t *dst, int round)
{
    CHECK_EACH(i, N, dst[i], sum_of(shmem_team_my_pe(team) + 1, round, 1, (int)i));
}

static void restart(shmem_team_t team, bool private)
{
    enum { ROUNDS = 60 };
    int64_t *mine = must_alloc(2 * sizeof symmetric_src[0]);
    int64_t *src = private ? mine : symmetric_src[0], *dst = private ? mine + N : symmetric_dst[0];
    shoal_coll_plan_t plan = NULL, scan = NULL;
    shoal_coll_t coll = sum_coll(dst, src);
    int members = shmem_team_n_pes(team), self = shmem_team_my_pe(team);
    CHECK_EQ(shoal_coll_init(team, &coll, &plan), SHOAL_OK);
    coll.kind = SHOAL_COLL_SCAN;
    coll.src = NULL;
    CHECK_EQ(shoal_coll_init(team, &coll, &scan), SHOAL_OK);
    memset(&coll, 0x77, sizeof coll);
    for (int round = 0; round < ROUNDS; round++) {
        shoal_event_t event = {0};
        for (int i = 0; i < N; i++)
            src[i] = value(self, round, 0, i);
        CHECK_EQ(shoal_coll_start(plan, round % 3 ? &event : NULL), SHOAL_OK);
        wait_for(&event); // where it was not given, done from the start
        CHECK_EACH(i, N, dst[i], sum_of(members, round, 0, (int)i));
        for (int i = 0; i < N; i++)
            dst[i] = value(self, round, 1, i);
        CHECK_EQ(shoal_coll_start(scan, round % 2 ? &event : NULL), SHOAL_OK);
        wait_for(&event);
        check_scan(team, dst, round);
    }
    CHECK_EQ(shoal_coll_free(plan), SHOAL_OK);
    CHECK_EQ(shoal_coll_free(scan), SHOAL_OK);
    free(mine);
}

static void restart_vector(void)
{
    size_t counts[MOST_PES], displs[MOST_PES], n = (size_t)npes;
    int64_t *dst = must_alloc(4 * n * sizeof *dst), src[2];
    shoal_coll_plan_t plan = NULL;
    for (size_t k = 0; k < n; k++) {
        counts[k] = k % 2 + 1;
        displs[k] = 4 * (n - 1 - k) + 1;
    }
    shoal_coll_t coll = {.kind = SHOAL_COLL_ALLGATHER,
                         .dst = dst,
                         .src = src,
                         .type = SHOAL_INT64,
                         .counts = counts,
                         .displs = displs};
    CHECK_EQ(shoal_coll_init(SHMEM_TEAM_WORLD, &coll, &plan), SHOAL_OK);
    for (int round = 0; round < 10; round++) {
        memset(dst, 0x11 * (round % 3), 4 * n * sizeof *dst);
        int64_t gap = dst[0];
        src[0] = value(me, round, 0, 0);
        src[1] = value(me, round, 0, 1);
        CHECK_EQ(shoal_coll_start(plan, NULL), SHOAL_OK);
        CHECK_EACH(i, 4 * n, dst[i],
                   i % 4 - 1 < counts[n - 1 - i / 4]
                       ? value((int)(n - 1 - i / 4), round, 0, (int)(i % 4) - 1)
                       : gap);
    }
    CHECK_EQ(shoal_coll_free(plan), SHOAL_OK);
    free(dst);
}

// ---- Plans that are under way
static shoal_coll_plan_t plans[PLANS];
static shoal_event_t events[PLANS];

// Of the first n plans those with `which` of their numbers: all events in the set, done in order.
static void collect_any(int n, int round)
{
    shoal_event_t *set[PLANS];
    size_t indices[PLANS], done = 0, left = (size_t)n;
    for (int k = 0; k < n; k++)
        set[k] = &events[k];
    while (left > 0) {
        size_t old = (size_t)n - left;
        memset(indices, 0xff, sizeof indices);
        CHECK_EQ(shoal_wait((size_t)n, set, old + 1, &done, indices), SHOAL_OK);
        if (!CHECK(done > old && done <= (size_t)n))
            return;
        for (size_t d = 0; d < done; d++) {
            size_t k = indices[d];
            if (!CHECK(k < (size_t)n && (d == 0 || k > indices[d - 1])))
                return;
            CHECK_EACH(i, N, symmetric_dst[k][i], sum_of(npes, round, (int)k, (int)i));
        }
        left = (size_t)n - done;
    }
}

static void collect_backwards(int n, int round, bool test)
{
    for (int k = n - 1; k >= 0; k--) {
        shoal_event_t *one = &events[k];
        size_t done = 0, index = 99;
        while (test && done == 0) {
            CHECK_EQ(shoal_test(1, &one, &done, &index), SHOAL_OK);
            CHECK_EQ(index, done ? 0 : 99);
            sched_yield();
        }
        wait_for(one);
        CHECK_EACH(i, N, symmetric_dst[k][i], sum_of(npes, round, k, (int)i));
    }
}

// More plans than may be under way: the ninth start waits for the end of the first.
static void several(void)
{
    for (int k = 0; k < PLANS; k++) {
        shoal_coll_t coll = sum_coll(symmetric_dst[k], symmetric_src[k]);
        CHECK_EQ(shoal_coll_init(SHMEM_TEAM_WORLD, &coll, &plans[k]), SHOAL_OK);
    }
    for (int round = 0; round < 30; round++) {
        int n = round % PLANS + 1;
        for (int k = 0; k < n; k++) {
            for (int i = 0; i < N; i++)
                symmetric_src[k][i] = value(me, round, k, i);
            CHECK_EQ(shoal_coll_start(plans[k], &events[k]), SHOAL_OK);
        }
        if (round % 3 == 0)
            collect_any(n, round);
        else
            collect_backwards(n, round, round % 3 == 1);
    }
}

// The eight return although the last PE has not begun, the ninth does not.
static void depth(void)
{
    const uint64_t others = (uint64_t)npes - 1;
    shmem_barrier_all();
    if (me == npes - 1) {
        shmem_uint64_wait_until(&ready, SHMEM_CMP_EQ, others);
        for (int pe = 0; pe < npes; pe++)
            shmem_uint64_p(&has_begun, 1, pe);
        shmem_quiet();
    }
    for (int k = 0; k < AT_ONCE; k++)
        CHECK_EQ(shoal_coll_start(plans[k], &events[k]), SHOAL_OK);
    if (me != npes - 1)
        shmem_uint64_atomic_inc(&ready, npes - 1);
    CHECK_EQ(shoal_coll_start(plans[AT_ONCE], &events[AT_ONCE]), SHOAL_OK);
    CHECK_EQ(shmem_uint64_atomic_fetch(&has_begun, me), 1);
    for (int k = 0; k <= AT_ONCE; k++)
        wait_for(&events[k]);
    shmem_barrier_all();
}

// What is refused changes nothing.
static void refused(void)
{
    shoal_event_t other = {.status = 4711};
    for (int i = 0; i < N; i++)
        symmetric_src[0][i] = value(me, 5, 0, i);
    CHECK_EQ(shoal_coll_start(plans[0], &events[0]), SHOAL_OK);
    for (int turn = 0; turn < 2; turn++) {
        CHECK_EQ(shoal_coll_start(plans[0], &other), SHOAL_EINVAL);
        CHECK_EQ(shoal_coll_start(plans[0], NULL), SHOAL_EINVAL);
        CHECK_EQ(shoal_coll_free(plans[0]), SHOAL_EINVAL);
        CHECK(other.word == NULL && other.more == NULL && other.status == 4711);
        shmem_barrier_all(); // all have started: it is done, but has not been found to be
    }
    wait_for(&events[0]);
    CHECK_EACH(i, N, symmetric_dst[0][i], sum_of(npes, 5, 0, (int)i));
    CHECK_EQ(shoal_coll_start(plans[0], NULL), SHOAL_OK);
    CHECK_EACH(i, N, symmetric_dst[0][i], sum_of(npes, 5, 0, (int)i));
    for (int k = 0; k < PLANS; k++)
        CHECK_EQ(shoal_coll_free(plans[k]), SHOAL_OK);
}

// ---- Many of those that are started once; results in private memory
static void many_once(void)
{
    static shoal_event_t event[MANY];
    int64_t(*buffer)[2][N] = must_alloc(MANY * sizeof *buffer);
    uint64_t seed = 99 + (uint64_t)me;
    int order[MANY];
    for (int k = 0; k < MANY; k++) {
        for (int i = 0; i < N; i++)
            buffer[k][0][i] = value(me, 0, k, i);
        memset(buffer[k][1], 0x5c, sizeof buffer[k][1]);
        shoal_coll_t coll = sum_coll(buffer[k][1], buffer[k][0]);
        CHECK_EQ(shoal_coll(SHMEM_TEAM_WORLD, &coll, &event[k]), SHOAL_OK);
        memset(buffer[k][0], 0x5c, sizeof buffer[k][0]); // was copied
        size_t at = rnd_below(&seed, (size_t)k + 1);
        order[k] = order[at];
        order[at] = k;
    }
    for (int k = 0; k < MANY; k++) {
        int which = order[k];
        wait_for(&event[which]);
        CHECK_EACH(i, N, buffer[which][1][i], sum_of(npes, 0, which, (int)i));
    }
    free(buffer);
}

// ---- Beside others
static void beside_shmem(void)
{
    static int64_t one, total;
    for (int k = 0; k < 4; k++) {
        shoal_coll_t coll = sum_coll(symmetric_dst[k], symmetric_src[k]);
        for (int i = 0; i < N; i++)
            symmetric_src[k][i] = value(me, 3, k, i);
        CHECK_EQ(shoal_coll(SHMEM_TEAM_WORLD, &coll, &events[k]), SHOAL_OK);
        one = me + k;
        CHECK_EQ(shmem_int64_sum_reduce(SHMEM_TEAM_WORLD, &total, &one, 1), 0);
        CHECK_EQ(total, npes * (npes - 1) / 2 + npes * k);
        shmem_barrier_all();
    }
    collect_backwards(4, 3, false);
}

// Even PEs start on one team first, odd ones on the other: each team has an order of its own.
static void two_teams(void)
{
    for (int round = 0; round < 20; round++) {
        shoal_event_t *set[3] = {&events[0], &events[1], &events[2]};
        const shmem_team_t team[3] = {SHMEM_TEAM_WORLD, backwards, odd_even};
        for (int step = 0; step < 3; step++) {
            int k = (step + me + round) % 3;
            shoal_coll_t coll = sum_coll(symmetric_dst[k], symmetric_src[k]);
            coll.kind = k == 1 ? SHOAL_COLL_SCAN : SHOAL_COLL_ALLREDUCE;
            for (int i = 0; i < N; i++)
                symmetric_src[k][i] = value(shmem_team_my_pe(team[k]), round, k, i);
            CHECK_EQ(shoal_coll(team[k], &coll, &events[k]), SHOAL_OK);
        }
        CHECK_EQ(shoal_wait(3, set, 3, NULL, NULL), SHOAL_OK);
        for (int k = 0; k < 3; k++) {
            int members = k == 1 ? shmem_team_my_pe(backwards) + 1 : shmem_team_n_pes(team[k]);
            CHECK_EACH(i, N, symmetric_dst[k][i], sum_of(members, round, k, (int)i));
        }
    }
}

int main(void)
{
    check_start();
    if (npes > MOST_PES)
        check_skip("more than 64 PEs");
    shmem_team_t half[2] = {SHMEM_TEAM_INVALID, SHMEM_TEAM_INVALID};
    for (int k = 0; k < 2 && k < npes; k++)
        CHECK_EQ(
            shmem_team_split_strided(SHMEM_TEAM_WORLD, k, 2, (npes + 1 - k) / 2, NULL, 0, &half[k]),
            0);
    odd_even = half[me % 2];
    CHECK_EQ(shmem_team_split_strided(SHMEM_TEAM_WORLD, npes - 1, -1, npes, NULL, 0, &backwards),
             0);
    restart(SHMEM_TEAM_WORLD, false);
    restart(SHMEM_TEAM_WORLD, true);
    restart(backwards, true);
    restart(odd_even, false);
    restart_vector();
    several();
    depth();
    refused();
    many_once();
    beside_shmem();
    two_teams();
    shmem_barrier_all();
    shmem_team_destroy(backwards);
    shmem_team_destroy(odd_even);
    return check_done();
}
