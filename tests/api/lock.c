// SPDX-License-Identifier: BSD-3-Clause
// PES: 1 2 4 7 16
// Locks: mutual exclusion under contention, test_lock, several locks at once, locks on the heap and
// in static memory, delivery of what was written in the critical region.
#include "../check.h"

static long big_lock;

// Under the lock, plain gets and puts count exactly; clear_lock delivers nonblocking puts.
static void exclusion(void)
{
    enum { ROUNDS = 2000 };
    static long counter, holder = -1;
    for (int i = 0; i < ROUNDS; i++) {
        if (i % 3 != 2 || shmem_test_lock(&big_lock) != 0)
            shmem_set_lock(&big_lock);
        CHECK_EQ(shmem_long_atomic_swap(&holder, me, 0), -1);
        long v = shmem_long_g(&counter, 0) + 1;
        shmem_long_put_nbi(&counter, &v, 1, 0);
        CHECK_EQ(shmem_long_atomic_swap(&holder, -1, 0), me);
        shmem_clear_lock(&big_lock);
    }
    shmem_barrier_all();
    CHECK_EQ(shmem_long_g(&counter, 0), (long)ROUNDS * npes);
    shmem_barrier_all();
}

static void test_lock_answers(void)
{
    static long lock;
    if (me == 0)
        CHECK_EQ(shmem_test_lock(&lock), 0);
    shmem_barrier_all();
    if (me != 0)
        CHECK_EQ(shmem_test_lock(&lock), 1);
    shmem_barrier_all();
    if (me == 0)
        shmem_clear_lock(&lock);
    shmem_barrier_all();
    if (me == npes - 1) {
        CHECK_EQ(shmem_test_lock(&lock), 0);
        shmem_clear_lock(&lock);
    }
    shmem_barrier_all();
}

// Locks do not disturb each other: a lock for each PE, held by its owner while others work.
static void independent(void)
{
    enum { LOCKS = 5, ROUNDS = 1500 };
    long *locks = shmem_calloc(LOCKS, sizeof(long));
    long *counters = shmem_calloc(LOCKS, sizeof(long));
    long *mine = shmem_calloc((size_t)npes, sizeof(long));
    static int64_t total[LOCKS];
    uint64_t seed = (uint64_t)me;
    shmem_set_lock(&mine[me]);
    for (int i = 0; i < ROUNDS; i++) {
        size_t k = rnd_below(&seed, LOCKS);
        int home = (int)k % npes;
        shmem_set_lock(&locks[k]);
        shmem_long_p(&counters[k], shmem_long_g(&counters[k], home) + 1, home);
        shmem_clear_lock(&locks[k]);
        shmem_int64_atomic_inc(&total[k], home);
    }
    shmem_clear_lock(&mine[me]);
    shmem_barrier_all();
    for (int k = 0; k < LOCKS; k++)
        if (me == k % npes)
            CHECK_EQ(counters[k], total[k]);
    shmem_free(locks);
    shmem_free(counters);
    shmem_free(mine);
}

// Two locks held together, in the same order everywhere.
static void nested(void)
{
    static long a, b, in_both;
    for (int i = 0; i < 300; i++) {
        shmem_set_lock(&a);
        shmem_set_lock(&b);
        CHECK_EQ(shmem_long_atomic_fetch_inc(&in_both, 0), 0);
        shmem_long_atomic_add(&in_both, -1, 0);
        shmem_clear_lock(i % 2 == 0 ? &a : &b);
        shmem_clear_lock(i % 2 == 0 ? &b : &a);
    }
    shmem_barrier_all();
}

// Everybody gets the lock as often as it asks for it.
static void everybody_served(void)
{
    static long lock;
    static int turns, served[64];
    if (npes > 64)
        return;
    for (int i = 0; i < 30; i++) {
        shmem_set_lock(&lock);
        shmem_int_atomic_inc(&served[me], 0);
        shmem_int_atomic_inc(&turns, 0);
        shmem_clear_lock(&lock);
    }
    shmem_barrier_all();
    if (me == 0) {
        CHECK_EQ(turns, 30 * npes);
        CHECK_EACH(i, npes, served[i], 30);
    }
    shmem_barrier_all();
}

int main(void)
{
    check_start();
    check_spread();
    exclusion();
    test_lock_answers();
    independent();
    nested();
    everybody_served();
    return check_done();
}
