// SPDX-License-Identifier: BSD-3-Clause
// NODES: 1
// The last count and the arming, the cancelling or another count at the same moment, thousands of
// times: when both calls have returned, what was due has been done. No later count helps.
#include "../check.h"

#include <pthread.h>
#include <shoal.h>

#if defined(__SANITIZE_THREAD__)
enum { ROUNDS_ALONE = 4000, ROUNDS = 4000 };
#else
enum { ROUNDS_ALONE = 60000, ROUNDS = 60000 };
#endif
enum {
    COUNT_ARM,
    COUNT_CANCEL,
    COUNT_ARM_MORE,
    COUNT_COUNT,
    COUNT_CANCEL_ALL,
    COUNT_CANCEL_DUE,
    COUNT_ARM_NEXT,
    RACES
};

static shoal_ct_t gate, done;
static uint64_t met; // symmetric: how often the two that work on this PE's counter have arrived

static void must(int line, int status)
{
    if (!CHECK_EQ(status, SHOAL_OK))
        fprintf(stderr, "    in line %d\n", line);
}
#define MUST(call) must(__LINE__, call)

// Both leave as close together as can be.
static void meet(int pe, uint64_t *arrivals)
{
    *arrivals += 2;
    shmem_uint64_atomic_inc(&met, pe);
    for (unsigned looks = 1; shmem_uint64_atomic_fetch(&met, pe) < *arrivals; looks++)
        if (looks % 64 == 0)
            sched_yield();
}

static void dawdle(uint64_t *seed)
{
    for (size_t i = rnd_below(seed, 60); i > 0; i--)
        __asm__ volatile("" ::: "memory");
}

static shoal_trigger_t arm(uint64_t threshold)
{
    shoal_trigger_t handle = 0;
    shoal_work_t w = {.kind = SHOAL_WORK_CT_INC, .pe = me, .ct = done, .value = {1, 0}};
    MUST(shoal_trigger(&w, gate, threshold, SHOAL_CT_NONE, &handle));
    return handle;
}

static const uint64_t far_away = UINT64_MAX / 2;

// What there is before the race. How many works have to be run or cancelled in it, but for those
// that nobody waits for.
static uint64_t prepare(int race, shoal_trigger_t *handle)
{
    const shoal_ct_value_t zero = {0, 0};
    MUST(shoal_ct_set(me, gate, zero));
    MUST(shoal_ct_set(me, done, zero));
    switch (race) {
    case COUNT_ARM: return 1;
    case COUNT_CANCEL: // of a work that nobody waits for
        arm(1);
        *handle = arm(far_away);
        return 1;
    case COUNT_ARM_MORE: arm(1); return 2;
    case COUNT_COUNT: arm(1), arm(2); return 2;
    case COUNT_CANCEL_ALL: arm(1), arm(1), arm(far_away); return 2;
    case COUNT_CANCEL_DUE: arm(1), *handle = arm(1); return 2;
    default: arm(1); return 1;
    }
}

static uint64_t act(int race, shoal_trigger_t handle)
{
    size_t n = 0;
    int status = SHOAL_OK;
    switch (race) {
    case COUNT_ARM:
    case COUNT_ARM_MORE: arm(1); break;
    case COUNT_CANCEL: MUST(shoal_trigger_cancel(handle)); break;
    case COUNT_COUNT: MUST(shoal_ct_inc(me, gate, (shoal_ct_value_t){0, 1})); break;
    case COUNT_CANCEL_ALL:
        MUST(shoal_ct_cancel(gate, &n));
        CHECK(n == 1 || n == 2 || n == 3);
        return n - 1;
    case COUNT_ARM_NEXT: arm(2); break;
    default:
        status = shoal_trigger_cancel(handle);
        CHECK(status == SHOAL_OK || status == SHOAL_ELATE);
        return status == SHOAL_OK;
    }
    return 0;
}

// Works on this PE's counter, which `counting` of the left neighbour makes pass.
static void *arming(void *arg)
{
    const int rounds = *(const int *)arg;
    uint64_t seed = (uint64_t)me, arrivals = 0;
    for (int r = 0; r < rounds; r++) {
        const int race = r % RACES;
        shoal_trigger_t handle = 0;
        shoal_ct_value_t v = {9, 9};
        uint64_t due = prepare(race, &handle);
        meet(me, &arrivals);
        dawdle(&seed);
        uint64_t cancelled = act(race, handle);
        meet(me, &arrivals);
        MUST(shoal_ct_get(done, &v));
        if (!CHECK_EQ(v.success + cancelled, due))
            fprintf(stderr, "    in race %d, round %d\n", race, r);
        if (race == COUNT_ARM_NEXT) { // the next count finds what was armed during the last
            MUST(shoal_ct_inc(me, gate, (shoal_ct_value_t){1, 0}));
            MUST(shoal_ct_get(done, &v));
            CHECK_EQ(v.success, 2);
        }
        MUST(shoal_ct_cancel(gate, NULL)); // when it failed
    }
    return NULL;
}

static void *counting(void *arg)
{
    const int rounds = *(const int *)arg;
    uint64_t seed = (uint64_t)me + 1000, arrivals = 0;
    for (int r = 0; r < rounds; r++) {
        meet(right_pe(), &arrivals);
        dawdle(&seed);
        MUST(shoal_ct_inc(right_pe(), gate, (shoal_ct_value_t){1, 0}));
        meet(right_pe(), &arrivals);
    }
    return NULL;
}

int main(void)
{
    int rounds;
    pthread_t thread;
    check_start_threads();
    rounds = npes == 1 ? ROUNDS_ALONE : ROUNDS / (npes * npes);
    MUST(shoal_ct_alloc(SHMEM_TEAM_WORLD, &gate));
    MUST(shoal_ct_alloc(SHMEM_TEAM_WORLD, &done));
    shmem_barrier_all();
    CHECK_EQ(pthread_create(&thread, NULL, counting, &rounds), 0);
    arming(&rounds);
    CHECK_EQ(pthread_join(thread, NULL), 0);
    shmem_barrier_all();
    return check_done();
}
