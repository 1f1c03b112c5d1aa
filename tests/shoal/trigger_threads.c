// SPDX-License-Identifier: BSD-3-Clause
// Threads of every PE that arm, count and cancel at the same time, on the same counters: each work
// is run or cancelled, once; those of one thread with one threshold run in the order it armed them.
#include "../check.h"

#include <pthread.h>
#include <shoal.h>
#include <stdatomic.h>

// The sanitizer sees one process. That one thread is done with a work before another uses it anew
// is often known through another PE; with a single counter its lock tells the sanitizer as well.
#if defined(__SANITIZE_THREAD__)
enum { STEPS = 2000, COUNTERS = 1 };
#else
enum { STEPS = 15000, COUNTERS = 3 };
#endif
enum { THREADS = 4, LIVE = 64, PHASES = 2, ROW = 200 };

static shoal_ct_t gate[COUNTERS], done;
static uint64_t ran[THREADS][STEPS]; // symmetric: how often each work was run
static uint64_t turn, order[THREADS][ROW];
static _Atomic uint64_t handles[LIVE]; // those any thread may take and cancel
static _Atomic uint64_t armed, cancelled;
static bool cancel_all_too;
static pthread_barrier_t meet;

static void must(int line, int status)
{
    if (!CHECK_EQ(status, SHOAL_OK))
        fprintf(stderr, "    in line %d\n", line);
}
#define MUST(call) must(__LINE__, call)

static uint64_t sum_of(shoal_ct_t ct)
{
    shoal_ct_value_t v = {0, 0};
    MUST(shoal_ct_get(ct, &v));
    return v.success + v.failure;
}

static void cancel_one(uint64_t handle)
{
    if (!handle)
        return;
    int status = shoal_trigger_cancel(handle);
    CHECK(status == SHOAL_OK || status == SHOAL_ELATE);
    cancelled += status == SHOAL_OK;
}

// A threshold a little above or below the sum: released at once, soon or late. Every work is tried
// to be cancelled once, by whoever puts another one into its place.
static void arm_one(uint64_t *seed, size_t t, int i)
{
    shoal_ct_t ct = gate[rnd_below(seed, COUNTERS)];
    shoal_work_t w = {.kind = SHOAL_WORK_ATOMIC, .op = SHOAL_SUM, .type = SHOAL_UINT64, .a = 1};
    shoal_trigger_t handle = 0;
    uint64_t sum = sum_of(ct), threshold = sum + rnd_below(seed, 40);
    MUST(shoal_rptr_symmetric(&ran[t][i], me, &w.remote));
    MUST(shoal_trigger(&w, ct, threshold > 5 ? threshold - 5 : 0, done, &handle));
    armed++;
    if (handle % 3)
        cancel_one(atomic_exchange(&handles[rnd_below(seed, LIVE)], handle));
}

static void *mix(void *arg)
{
    size_t t = (size_t)(uintptr_t)arg;
    uint64_t seed = t * 100 + (unsigned)me + 1000 * cancel_all_too;
    pthread_barrier_wait(&meet);
    for (int i = 0; i < STEPS; i++) {
        arm_one(&seed, t, i);
        if (rnd_below(&seed, 3) == 0)
            cancel_one(atomic_exchange(&handles[rnd_below(&seed, LIVE)], 0));
        if (rnd_below(&seed, 2) == 0)
            MUST(shoal_ct_inc((int)rnd_below(&seed, (size_t)npes), gate[rnd_below(&seed, COUNTERS)],
                              (shoal_ct_value_t){rnd_below(&seed, 3), rnd_below(&seed, 2)}));
        if (cancel_all_too && rnd_below(&seed, 100) == 0) {
            size_t n = 0;
            MUST(shoal_ct_cancel(gate[rnd_below(&seed, COUNTERS)], &n));
            cancelled += n;
        }
    }
    return NULL;
}

// Armed by all threads on one counter; the works that take the numbers keep each thread's order.
static void *rows(void *arg)
{
    size_t t = (size_t)(uintptr_t)arg;
    for (int i = 0; i < ROW; i++) {
        shoal_work_t w = {.kind = SHOAL_WORK_ATOMIC,
                          .op = SHOAL_SUM,
                          .type = SHOAL_UINT64,
                          .a = 1,
                          .local = &order[t][i]};
        MUST(shoal_rptr_symmetric(&turn, me, &w.remote));
        MUST(shoal_trigger(&w, gate[0], 10, done, NULL));
    }
    pthread_barrier_wait(&meet);
    for (int i = 0; i < 10; i++)
        MUST(shoal_ct_inc((me + i) % npes, gate[0], (shoal_ct_value_t){1, 0}));
    return NULL;
}

static void run(void *(*what)(void *))
{
    pthread_t thread[THREADS];
    for (int k = 0; k < COUNTERS; k++)
        MUST(shoal_ct_set(me, gate[k], (shoal_ct_value_t){0, 0}));
    MUST(shoal_ct_set(me, done, (shoal_ct_value_t){0, 0}));
    memset(ran, 0, sizeof ran);
    armed = cancelled = turn = 0;
    shmem_barrier_all();
    for (uintptr_t t = 0; t < THREADS; t++)
        CHECK_EQ(pthread_create(&thread[t], NULL, what, (void *)t), 0);
    for (int t = 0; t < THREADS; t++)
        CHECK_EQ(pthread_join(thread[t], NULL), 0);
    shmem_barrier_all();
}

// What is still armed now is released: then all are accounted for.
static void check_mixed(void)
{
    shoal_ct_value_t v = {0, 0};
    uint64_t total = 0;
    for (int k = 0; k < COUNTERS; k++)
        MUST(shoal_ct_inc(me, gate[k], (shoal_ct_value_t){1000, 0}));
    for (int k = 0; k < LIVE; k++)
        handles[k] = 0;
    for (int t = 0; t < THREADS; t++)
        for (int i = 0; i < STEPS; i++)
            total += ran[t][i];
    for (int t = 0; t < THREADS; t++)
        CHECK_EACH(i, STEPS, ran[t][i] <= 1, true);
    MUST(shoal_ct_get(done, &v));
    CHECK_EQ(armed, THREADS * STEPS);
    CHECK_EQ(total + cancelled, armed);
    CHECK_EQ(v.success, total);
    CHECK_EQ(v.failure, 0);
    for (int k = 0; k < COUNTERS; k++) {
        size_t n = 99;
        MUST(shoal_ct_cancel(gate[k], &n));
        CHECK_EQ(n, 0);
    }
    shmem_barrier_all();
}

static void check_rows(void)
{
    CHECK_EQ(sum_of(done), THREADS * ROW);
    CHECK_EQ(turn, THREADS * ROW);
    for (int t = 0; t < THREADS; t++)
        CHECK_EACH(i, ROW - 1, order[t][i] < order[t][i + 1], true);
    shmem_barrier_all();
}

int main(void)
{
    check_start_threads();
    for (int k = 0; k < COUNTERS; k++)
        MUST(shoal_ct_alloc(SHMEM_TEAM_WORLD, &gate[k]));
    MUST(shoal_ct_alloc(SHMEM_TEAM_WORLD, &done));
    CHECK_EQ(pthread_barrier_init(&meet, NULL, THREADS), 0);
    for (int phase = 0; phase < PHASES; phase++) {
        cancel_all_too = phase == 1;
        run(mix);
        check_mixed();
    }
    run(rows);
    check_rows();
    return check_done();
}
