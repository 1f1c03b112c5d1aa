// SPDX-License-Identifier: BSD-3-Clause
// The order of triggered operations: by threshold, then as armed, thousands at once; chains that go
// round all PEs, fan-in and fan-out, a barrier made of works, one counter for many rounds.
#include "counters.h"


enum { MANY = 6000, LINKS = 1000, ON_ONE = 40, ROUNDS = 200, CHILDREN = 2, MOST_PES = 64 };

static shoal_ct_t gate, done;

static void reset(shoal_ct_t ct)
{
    CHECK_EQ(shoal_ct_set(me, ct, (shoal_ct_value_t){0, 0}), SHOAL_OK);
}

static void arm(const shoal_work_t *work, shoal_ct_t ct, uint64_t threshold, shoal_ct_t done_ct)
{
    CHECK_EQ(shoal_trigger(work, ct, threshold, done_ct, NULL), SHOAL_OK);
}

static shoal_work_t inc(int pe, shoal_ct_t ct)
{
    return (shoal_work_t){.kind = SHOAL_WORK_CT_INC, .pe = pe, .ct = ct, .value = {1, 0}};
}

// ---- Sorted. Each work takes the next number of its owner's `turn`.
static uint64_t turn, number[MANY], threshold_of[MANY];

static int by_threshold(const void *a, const void *b)
{
    uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;
    uint64_t tx = threshold_of[x], ty = threshold_of[y];
    if (tx != ty)
        return tx < ty ? -1 : 1;
    return x < y ? -1 : x > y;
}

static void arm_many(uint64_t *seed, size_t different)
{
    turn = 0;
    for (uint64_t i = 0; i < MANY; i++) {
        threshold_of[i] = 1 + rnd_below(seed, different);
        number[i] = UINT64_MAX;
    }
    for (uint64_t i = 0; i < MANY; i++) {
        shoal_work_t w = {.kind = SHOAL_WORK_ATOMIC,
                          .remote = symmetric(&turn, me),
                          .op = SHOAL_SUM,
                          .type = SHOAL_UINT64,
                          .a = 1,
                          .local = &number[i]};
        arm(&w, gate, threshold_of[i], done);
    }
}

// The works whose thresholds the sum has reached have been run, and no others, in their order.
static void check_sorted(uint64_t sum)
{
    static uint64_t sorted[MANY];
    uint64_t due = 0;
    for (uint64_t i = 0; i < MANY; i++) {
        sorted[i] = i;
        due += threshold_of[i] <= sum;
    }
    qsort(sorted, MANY, sizeof sorted[0], by_threshold);
    CHECK_EACH(i, due, number[sorted[i]], i);
    CHECK_EACH(i, MANY - due, number[sorted[due + i]], UINT64_MAX);
    CHECK_EQ(value_of(done).success, due);
    CHECK_EQ(value_of(done).failure, 0);
    CHECK_EQ(turn, due);
}

// The sum grows in uneven steps by all PEs at once; `steps` 1: in one leap.
static void sorted(size_t different, int steps)
{
    uint64_t seed = (uint64_t)me * 1000 + different, sum = 0;
    const uint64_t least = different / (uint64_t)(npes * steps) + 1;
    reset(gate);
    reset(done);
    arm_many(&seed, different);
    check_sorted(0);
    for (int s = 0; s < steps; s++) {
        shmem_barrier_all();
        for (int i = 0; i < npes; i++)
            for (uint64_t k = 0; k < 3; k++) // each gives each 3 parts of a step
                count((me + i) % npes, gate, least / 3 + (k < least % 3), 0);
        shmem_barrier_all();
        sum += least * (uint64_t)npes;
        check_sorted(sum);
    }
    CHECK(sum >= different);
    shmem_barrier_all();
}

// Downwards, all at once, and upwards again from a counter that is set back.
static void set_back(void)
{
    reset(gate);
    reset(done);
    turn = 0;
    shmem_barrier_all();
    for (uint64_t t = 1; t <= 3; t++) {
        shoal_work_t w = inc(me, done);
        for (int i = 0; i < 10; i++)
            arm(&w, gate, 5, SHOAL_CT_NONE);
        count(left_pe(), gate, 4, 0);
        shmem_barrier_all();
        CHECK_EQ(value_of(done).success, 10 * (t - 1));
        reset(gate);
        shmem_barrier_all();
        count(left_pe(), gate, 4, 0);
        shmem_barrier_all();
        CHECK_EQ(value_of(done).success, 10 * (t - 1));
        shmem_barrier_all();
        count(left_pe(), gate, 1, 0);
        shmem_barrier_all();
        CHECK_EQ(value_of(done).success, 10 * t);
        reset(gate);
        shmem_barrier_all();
    }
}

// A work that is counted on the counter that released it releases the next.
static void by_itself(void)
{
    enum { LENGTH = 300 };
    shoal_work_t w = inc(me, done);
    reset(gate);
    reset(done);
    for (uint64_t t = LENGTH; t > 0; t--)
        arm(&w, gate, t, gate);
    CHECK_EQ(value_of(done).success, 0);
    shmem_barrier_all();
    count(right_pe(), gate, 1, 0);
    shmem_barrier_all();
    CHECK_EQ(value_of(done).success, LENGTH);
    CHECK_EQ(value_of(gate).success, LENGTH + 1);
    shmem_barrier_all();
}

// ---- Chains: link i, on PE i % npes, counts for link i + 1; each also takes its number.
static uint64_t passed;

static void chain(int counters)
{
    shoal_ct_t ct[ON_ONE], end = must_ct(SHMEM_TEAM_WORLD);
    static uint64_t at[LINKS];
    for (int i = 0; i < counters; i++)
        ct[i] = must_ct(SHMEM_TEAM_WORLD);
    reset(done);
    passed = 0;
    uint64_t mine = 0;
    shmem_barrier_all();
    for (int i = LINKS - 1; i >= 0; i--) {
        if (i % npes != me)
            continue;
        const int turns = i / npes; // of the chain through this PE before
        const int next = i + 1, pe = next % npes;
        shoal_ct_t own = ct[turns % counters];
        uint64_t threshold = (uint64_t)(turns / counters) + 1;
        shoal_work_t stamp = {.kind = SHOAL_WORK_ATOMIC,
                              .remote = symmetric(&passed, 0),
                              .op = SHOAL_SUM,
                              .type = SHOAL_UINT64,
                              .a = 1,
                              .local = &at[i]};
        shoal_work_t pass = next < LINKS ? inc(pe, ct[next / npes % counters]) : inc(0, end);
        arm(&stamp, own, threshold, done);
        arm(&pass, own, threshold, SHOAL_CT_NONE);
        mine++;
    }
    shmem_barrier_all();
    CHECK_EQ(passed, 0);
    shmem_barrier_all();
    if (me == npes - 1)
        count(0, ct[0], 1, 0);
    if (me == 0)
        wait_sum(end, 1);
    shmem_barrier_all();
    CHECK_EQ(value_of(done).success, mine);
    CHECK_EQ(value_of(end).success, me == 0);
    if (me == 0)
        CHECK_EQ(passed, LINKS);
    for (int i = me; i < LINKS; i += npes)
        CHECK_EQ(at[i], (uint64_t)i);
    for (int i = 0; i < counters; i++)
        CHECK_EQ(shoal_ct_free(SHMEM_TEAM_WORLD, ct[i]), SHOAL_OK);
    CHECK_EQ(shoal_ct_free(SHMEM_TEAM_WORLD, end), SHOAL_OK);
}

// ---- Fan-in and fan-out: each PE in turn gathers a value from all, sums, and tells all the sum.
static uint64_t given[MOST_PES], sum, told;

static void fan(int root)
{
    enum { COUNTS = 5 };
    shoal_ct_t in = must_ct(SHMEM_TEAM_WORLD), out = must_ct(SHMEM_TEAM_WORLD);
    uint64_t value = (uint64_t)(me + 1) * 7, want = 0;
    reset(done);
    sum = told = 0;
    shmem_barrier_all();
    for (int i = 0; i < npes && me == root; i++) {
        shoal_work_t add = {.kind = SHOAL_WORK_REDUCE,
                            .local = &sum,
                            .local2 = &given[i],
                            .n = 1,
                            .op = SHOAL_SUM,
                            .type = SHOAL_UINT64};
        shoal_work_t tell = {.kind = SHOAL_WORK_PUT,
                             .remote = symmetric(&told, i),
                             .local = &sum,
                             .n = sizeof sum,
                             .comp = {.target_ct = out}};
        arm(&add, in, (uint64_t)npes * COUNTS, done);
        arm(&tell, done, (uint64_t)npes, SHOAL_CT_NONE);
    }
    shmem_barrier_all();
    for (int i = 0; i < npes; i++)
        want += (uint64_t)(i + 1) * 7;
    for (int i = 1; i < COUNTS; i++)
        count(root, in, 1, 0);
    shoal_comp_t comp = {.target_ct = in};
    CHECK_EQ(shoal_put(symmetric(&given[me], root), &value, sizeof value, &comp, NULL), SHOAL_OK);
    wait_sum(out, 1);
    CHECK_EQ(told, want);
    shmem_barrier_all();
    CHECK_EQ(value_of(out).success, 1);
    CHECK_EQ(value_of(in).success, me == root ? npes * COUNTS : 0);
    CHECK_EQ(shoal_ct_free(SHMEM_TEAM_WORLD, in), SHOAL_OK);
    CHECK_EQ(shoal_ct_free(SHMEM_TEAM_WORLD, out), SHOAL_OK);
}

// ---- A barrier: up a tree when all below have come, and down again. Two counters for all rounds;
// a round's works may be armed when others count for it already.
static uint64_t arrived[MOST_PES];

static void arm_barrier(shoal_ct_t up, shoal_ct_t down, uint64_t round)
{
    const int first = me * CHILDREN + 1;
    int children = 0;
    for (int c = first; c < first + CHILDREN && c < npes; c++) {
        shoal_work_t let_go = inc(c, down);
        arm(&let_go, down, round, SHOAL_CT_NONE);
        children++;
    }
    shoal_work_t tell = me == 0 ? inc(0, down) : inc((me - 1) / CHILDREN, up);
    arm(&tell, up, round * (uint64_t)(children + 1), SHOAL_CT_NONE);
}

static void tree_barrier(void)
{
    shoal_ct_t up = must_ct(SHMEM_TEAM_WORLD), down = must_ct(SHMEM_TEAM_WORLD);
    uint64_t seed = (uint64_t)me;
    arrived[me] = 0;
    shmem_barrier_all();
    for (uint64_t round = 1; round <= ROUNDS; round++) {
        for (size_t i = rnd_below(&seed, 500); i > 0; i--)
            shoal_progress(); // come at different times
        arm_barrier(up, down, round);
        shmem_uint64_atomic_set(&arrived[me], round, me);
        count(me, up, 1, 0);
        wait_sum(down, round);
        for (int pe = 0; pe < npes; pe++) {
            uint64_t there = shmem_uint64_atomic_fetch(&arrived[pe], pe);
            CHECK(there == round || there == round + 1);
        }
    }
    shmem_barrier_all();
    CHECK_EQ(value_of(down).success, ROUNDS);
    CHECK_EQ(shoal_ct_free(SHMEM_TEAM_WORLD, up), SHOAL_OK);
    CHECK_EQ(shoal_ct_free(SHMEM_TEAM_WORLD, down), SHOAL_OK);
}

int main(void)
{
    check_start();
    if (npes > MOST_PES)
        check_skip("more than 64 PEs");
    gate = must_ct(SHMEM_TEAM_WORLD);
    done = must_ct(SHMEM_TEAM_WORLD);
    sorted(1, 1);
    sorted(100, 1);
    sorted(MANY, 10);
    sorted(UINT64_C(1) << 40, 7);
    set_back();
    by_itself();
    chain(1);
    chain(ON_ONE);
    for (int root = 0; root < npes; root++)
        fan(root);
    tree_barrier();
    return check_done();
}
