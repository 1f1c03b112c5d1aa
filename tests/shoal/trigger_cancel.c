// SPDX-License-Identifier: BSD-3-Clause
// Cancelling triggered operations: one, all of a counter, in a race with their release by others,
// with the counter; when all works of a PE are in use, and that they come back from every end.
#include "counters.h"

enum { WORKS = 65536, MANY = 600, RACE = 400, RACES = 12, USER_OP = 3 };

static shoal_ct_t gate, done;
static uint64_t ran[MANY];
static shoal_trigger_t handles[WORKS];

static void reset(void)
{
    CHECK_EQ(shoal_ct_set(me, gate, (shoal_ct_value_t){0, 0}), SHOAL_OK);
    CHECK_EQ(shoal_ct_set(me, done, (shoal_ct_value_t){0, 0}), SHOAL_OK);
    memset(ran, 0, sizeof ran);
    shmem_barrier_all();
}

static int cancel_all(void)
{
    size_t n = 4711;
    CHECK_EQ(shoal_ct_cancel(gate, &n), SHOAL_OK);
    return (int)n;
}

// Adds one to ran[i] of this PE.
static shoal_trigger_t arm(int i, uint64_t threshold)
{
    shoal_trigger_t handle = 0;
    shoal_work_t w = {.kind = SHOAL_WORK_ATOMIC, .op = SHOAL_SUM, .type = SHOAL_UINT64, .a = 1};
    CHECK_EQ(shoal_rptr_symmetric(&ran[i], me, &w.remote), SHOAL_OK);
    w.comp.initiator_ct = done;
    CHECK_EQ(shoal_trigger(&w, gate, threshold, SHOAL_CT_NONE, &handle), SHOAL_OK);
    return handle;
}

// ---- Single works
static void first_middle_last(void)
{
    for (int which = 0; which < 3; which++) {
        shoal_trigger_t h[3];
        reset();
        for (int i = 0; i < 3; i++)
            h[i] = arm(i, 1);
        CHECK(h[0] && h[0] != h[1] && h[1] != h[2] && h[0] != h[2]);
        CHECK_EQ(shoal_trigger_cancel(h[which]), SHOAL_OK);
        CHECK_EQ(shoal_trigger_cancel(h[which]), SHOAL_ELATE);
        CHECK_EQ(value_of(done).success + value_of(done).failure, 0);
        shmem_barrier_all();
        count(left_pe(), gate, 1, 0);
        shmem_barrier_all();
        for (int i = 0; i < 3; i++) {
            CHECK_EQ(ran[i], i != which);
            CHECK_EQ(shoal_trigger_cancel(h[i]), SHOAL_ELATE);
        }
        CHECK_EQ(value_of(done).success, 2);
        CHECK_EQ(value_of(done).failure, 0);
    }
}

// A handle is good for one use of a work, and says nothing about the next.
static void old_handles(void)
{
    enum { USES = 300 };
    shoal_trigger_t h[USES];
    reset();
    for (int i = 0; i < USES; i++) {
        h[i] = arm(i, 1);
        for (int k = i > 20 ? i - 20 : 0; k < i; k++) {
            CHECK(h[k] != h[i]);
            CHECK_EQ(shoal_trigger_cancel(h[k]), SHOAL_ELATE);
        }
        if (i % 2)
            count(me, gate, 1, 0); // run, else cancelled
        CHECK_EQ(shoal_trigger_cancel(h[i]), i % 2 ? SHOAL_ELATE : SHOAL_OK);
        CHECK_EQ(ran[i], i % 2);
        CHECK_EQ(shoal_ct_set(me, gate, (shoal_ct_value_t){0, 0}), SHOAL_OK);
    }
}

// Out of the middle of many, between partial releases: just those that are left run.
static void some_of_many(void)
{
    uint64_t seed = (uint64_t)me + 5, threshold[MANY];
    bool gone[MANY] = {false};
    reset();
    for (int i = 0; i < MANY; i++) {
        threshold[i] = 1 + rnd_below(&seed, 50);
        handles[i] = arm(i, threshold[i]);
    }
    for (uint64_t sum = 0; sum < 50; sum += 5) {
        uint64_t left = 0;
        for (int k = 0; k < MANY / 20; k++) {
            size_t i = rnd_below(&seed, MANY);
            bool late = gone[i] || threshold[i] <= sum;
            CHECK_EQ(shoal_trigger_cancel(handles[i]), late ? SHOAL_ELATE : SHOAL_OK);
            gone[i] |= !late;
        }
        shmem_barrier_all();
        count(left_pe(), gate, 5, 0);
        shmem_barrier_all();
        CHECK_EACH(i, MANY, ran[i], !gone[i] && threshold[i] <= sum + 5);
        for (int i = 0; i < MANY; i++)
            left += !gone[i] && threshold[i] <= sum + 5;
        CHECK_EQ(value_of(done).success, left);
    }
    CHECK_EQ(cancel_all(), 0);
}

static void all_of_a_counter(void)
{
    shoal_ct_t other = must_ct(SHMEM_TEAM_INVALID);
    shoal_work_t w = {.kind = SHOAL_WORK_CT_INC, .pe = me, .ct = done, .value = {0, 1}};
    reset();
    CHECK_EQ(shoal_trigger(&w, other, 1, SHOAL_CT_NONE, NULL), SHOAL_OK);
    for (int i = 0; i < MANY; i++)
        handles[i] = arm(i, (uint64_t)(i % 10) + 1);
    shmem_barrier_all();
    count(left_pe(), gate, 3, 0);
    shmem_barrier_all();
    CHECK_EQ(cancel_all(), MANY * 7 / 10);
    CHECK_EQ(cancel_all(), 0);
    shmem_barrier_all();
    count(left_pe(), gate, 100, 0);
    shmem_barrier_all();
    CHECK_EACH(i, MANY, ran[i], i % 10 < 3);
    for (int i = 0; i < MANY; i++)
        CHECK_EQ(shoal_trigger_cancel(handles[i]), SHOAL_ELATE);
    CHECK_EQ(value_of(done).failure, 0);
    count(me, other, 1, 0); // the other counter has kept its work
    CHECK_EQ(value_of(done).failure, 1);
    arm(0, 103); // and this one can be used again
    CHECK_EQ(ran[0], 2);
    CHECK_EQ(shoal_ct_cancel(other, NULL), SHOAL_OK);
    CHECK_EQ(shoal_ct_free(SHMEM_TEAM_INVALID, other), SHOAL_OK);
}

// ---- Races: while all others count, each work is run or cancelled, one of the two.
static int32_t waiting; // PEs that have nothing armed any more

// One by one: upwards to meet the releases, downwards, or here and there.
static int cancel_each(int how, bool gone[RACE])
{
    int cancelled = 0;
    for (int i = 0; i < RACE; i++) {
        int k = how == 0 ? i : how == 1 ? RACE - 1 - i : i * 7 % RACE;
        int status = shoal_trigger_cancel(handles[k]);
        CHECK(status == SHOAL_OK || status == SHOAL_ELATE);
        gone[k] = status == SHOAL_OK;
        cancelled += gone[k];
        if (i % 8 == 0 && npes > 1)
            count((me + 1 + i % (npes - 1)) % npes, gate, 1, 0);
    }
    return cancelled;
}

static void race(int round)
{
    const int how = round % 4; // 3: all at once, now and then
    bool gone[RACE] = {false};
    int cancelled = 0;
    reset();
    if (me == 0)
        waiting = 0;
    for (int i = 0; i < RACE; i++)
        handles[i] = arm(i, (uint64_t)i / 4 + 1);
    shmem_barrier_all();
    if (how < 3) {
        cancelled = cancel_each(how, gone);
    } else {
        for (int i = 0; i < RACE / 2; i++)
            count((me + i) % npes, gate, 1, 0);
        cancelled = cancel_all();
        CHECK_EQ(cancel_all(), 0);
    }
    shmem_int32_atomic_inc(&waiting, 0);
    while (shmem_int32_atomic_fetch(&waiting, 0) < npes)
        count(right_pe(), gate, 1, 0);
    shmem_barrier_all();
    uint64_t sum = 0;
    for (int i = 0; i < RACE; i++)
        sum += ran[i];
    CHECK_EQ(sum + (uint64_t)cancelled, RACE);
    CHECK_EQ(value_of(done).success, sum);
    CHECK_EQ(value_of(done).failure, 0);
    CHECK_EACH(i, RACE, ran[i] <= 1, true);
    if (how < 3)
        CHECK_EACH(i, RACE, ran[i], !gone[i]);
    shmem_barrier_all();
}

// ---- A counter goes with what is armed on it; its number is good for new works.
static void with_its_counter(void)
{
    enum { ARMED = 100 };
    shoal_work_t w = {.kind = SHOAL_WORK_CT_INC, .pe = me, .ct = done, .value = {1, 0}};
    for (int team = 0; team < 2; team++)
        for (int turn = 0; turn < 5; turn++) {
            shmem_team_t of = team ? SHMEM_TEAM_WORLD : SHMEM_TEAM_INVALID;
            reset();
            shoal_ct_t ct = must_ct(of);
            for (int i = 0; i < ARMED; i++)
                CHECK_EQ(shoal_trigger(&w, ct, 5, SHOAL_CT_NONE, &handles[i]), SHOAL_OK);
            CHECK_EQ(shoal_ct_free(of, ct), SHOAL_OK);
            CHECK_EQ(shoal_trigger_cancel(handles[turn]), SHOAL_ELATE);
            CHECK_EQ(shoal_ct_cancel(ct, NULL), SHOAL_EINVAL);
            CHECK_EQ(shoal_trigger(&w, ct, 1, SHOAL_CT_NONE, NULL), SHOAL_EINVAL);
            shmem_barrier_all();
            count(right_pe(), ct, 10, 0); // for a number that is free: lost
            shmem_barrier_all();
            CHECK_EQ(value_of(done).success, 0);
            shoal_ct_t again = must_ct(of);
            shmem_barrier_all();
            CHECK_EQ(shoal_trigger(&w, again, 5, SHOAL_CT_NONE, NULL), SHOAL_OK);
            count(me, again, 4, 0);
            CHECK_EQ(value_of(done).success, 0);
            count(me, again, 1, 0);
            CHECK_EQ(value_of(done).success, 1);
            CHECK_EQ(shoal_ct_free(of, again), SHOAL_OK);
        }
}

// ---- All works in use
static size_t arm_until_none_is_left(void)
{
    shoal_work_t w = {.kind = SHOAL_WORK_CT_INC, .pe = me, .ct = done, .value = {0, 1}};
    size_t n = 0;
    int status = SHOAL_OK;
    while (n <= WORKS && status == SHOAL_OK) {
        shoal_trigger_t handle = 4711;
        status = shoal_trigger(&w, gate, 1 + n % 2, done, &handle);
        if (status == SHOAL_OK && n < WORKS)
            handles[n] = handle;
        else
            CHECK_EQ(handle, 4711);
        n += status == SHOAL_OK;
    }
    CHECK_EQ(status, SHOAL_ENOMEM);
    CHECK_EQ(n, WORKS); // as shoal_trigger(3) says
    return n;
}

// Whichever way they end, all can be armed again.
static void exhausted(void)
{
    for (int way = 0; way < 4; way++) {
        reset();
        size_t n = arm_until_none_is_left(), run = 0;
        shmem_barrier_all(); // others have theirs
        if (way == 0) {
            for (size_t i = 0; i < n; i++)
                CHECK_EQ(shoal_trigger_cancel(handles[n - 1 - i]), SHOAL_OK);
        } else if (way == 1) {
            CHECK_EQ(cancel_all(), n);
        } else {
            count(left_pe(), gate, 1, 0);
            shmem_barrier_all();
            run = (n + 1) / 2;
            CHECK_EQ(value_of(done).success, run);
            CHECK_EQ(value_of(done).failure, run);
            shmem_barrier_all();
            if (way == 2) {
                count(right_pe(), gate, 1, 0);
                run = n;
            } else {
                CHECK_EQ(cancel_all(), n - run);
            }
            shmem_barrier_all();
        }
        CHECK_EQ(value_of(done).success, run);
        CHECK_EQ(value_of(done).failure, run);
    }
    reset();
    arm_until_none_is_left();
    CHECK_EQ(cancel_all(), WORKS);
}

// ---- Released, but not done yet: private memory waits for its owner, who is not in the library. (On
// another node a thread of the library may do it.)
static uint64_t let_go;
static shoal_key_t key;

static void on_its_way(void)
{
    uint64_t *word = must_alloc(sizeof *word);
    shoal_region_t region;
    *word = 0;
    reset();
    CHECK_EQ(shoal_region_register(word, sizeof *word, &region), SHOAL_OK);
    CHECK_EQ(shoal_region_key(region, &key), SHOAL_OK);
    shmem_barrier_all();
    if (me == 0 && npes > 1) {
        shoal_key_t theirs;
        shoal_trigger_t handle = 0;
        size_t n = 99;
        shoal_work_t w = {.kind = SHOAL_WORK_ATOMIC, .op = SHOAL_SUM, .type = SHOAL_UINT64, .a = 1};
        shmem_getmem(&theirs, &key, sizeof theirs, 1);
        CHECK_EQ(shoal_rptr(&theirs, 0, &w.remote), SHOAL_OK);
        CHECK_EQ(shoal_trigger(&w, gate, 1, done, &handle), SHOAL_OK);
        arm(0, 2);
        count(me, gate, 1, 0);
        CHECK_EQ(shoal_trigger_cancel(handle), SHOAL_ELATE);
        CHECK_EQ(shoal_ct_cancel(gate, &n), SHOAL_OK);
        CHECK_EQ(n, 1);
        CHECK_EQ(value_of(done).failure, 0);
        CHECK(value_of(done).success == 0 || !shmem_ptr(&let_go, 1));
        shmem_uint64_atomic_set(&let_go, 1, 1);
        CHECK_EQ(shoal_ct_wait(1, &done, &(uint64_t){1}, NULL), SHOAL_OK);
        CHECK_EQ(value_of(done).success, 1);
        CHECK_EQ(ran[0], 0);
    }
    while (me == 1 && !__atomic_load_n(&let_go, __ATOMIC_ACQUIRE))
        ;
    shmem_barrier_all();
    CHECK_EQ(*word, me == 1);
    CHECK_EQ(shoal_region_deregister(region), SHOAL_OK);
    free(word);
}

// ---- From within an operator there is nothing to be waited for.
static int in_op[3];

static void cancelling_op(void *acc, const void *in, size_t n, void *user)
{
    (void)acc, (void)in, (void)n, (void)user;
    in_op[0] = shoal_trigger_cancel(handles[0]);
    in_op[1] = shoal_ct_cancel(gate, NULL);
    in_op[2] = shoal_ct_free(SHMEM_TEAM_INVALID, gate);
}

static void in_an_operator(void)
{
    static long acc, in;
    shoal_work_t w = {.kind = SHOAL_WORK_REDUCE,
                      .local = &acc,
                      .local2 = &in,
                      .n = 1,
                      .op = (shoal_op_t)(SHOAL_OP_USER + USER_OP)};
    CHECK_EQ(shoal_op_register(USER_OP, cancelling_op, NULL, sizeof acc), SHOAL_OK);
    reset();
    handles[0] = arm(0, 2);
    CHECK_EQ(shoal_trigger(&w, gate, 1, SHOAL_CT_NONE, NULL), SHOAL_OK);
    count(me, gate, 1, 0);
    CHECK_EACH(i, 3, in_op[i], SHOAL_EINVAL);
    CHECK_EQ(ran[0], 0);
    count(me, gate, 1, 0);
    CHECK_EQ(ran[0], 1);
}

int main(void)
{
    check_start();
    gate = must_ct(SHMEM_TEAM_WORLD);
    done = must_ct(SHMEM_TEAM_WORLD);
    first_middle_last();
    old_handles();
    some_of_many();
    all_of_a_counter();
    for (int round = 0; round < RACES; round++)
        race(round);
    with_its_counter();
    on_its_way();
    in_an_operator();
    exhausted();
    return check_done();
}
