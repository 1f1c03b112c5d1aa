// SPDX-License-Identifier: BSD-3-Clause
// PES: 1 2 4 7 16
// wait_until and test on one variable: every type, every comparison, negative and large values,
// satisfied at once or later by another PE through an atomic, p, put or put_signal.
#include "../check.h"
#include "types.h"

#define EACH_SYNC(X) EACH_AMO(X) EACH_SYNC_OLD(X)

static const int cmps[] = {SHMEM_CMP_EQ, SHMEM_CMP_NE, SHMEM_CMP_GT,
                           SHMEM_CMP_GE, SHMEM_CMP_LT, SHMEM_CMP_LE};

// The table of truth: all comparisons of all pairs of telling values of type T.
#define X(T, N)                                                                    \
    static void truth_##N(void)                                                    \
    {                                                                              \
        static T ivar;                                                             \
        const T values[] = {0,                                                     \
                            1,                                                     \
                            2,                                                     \
                            (T)-1,                                                 \
                            (T)-2,                                                 \
                            (T)((T)1 << (8 * sizeof(T) - 2)),                      \
                            (T)(~(T)0 ^ ((T)1 << (8 * sizeof(T) - 2)))};           \
        for (int i = 0; i < 7; i++) {                                              \
            shmem_##N##_p(&ivar, values[i], me);                                   \
            shmem_quiet();                                                         \
            for (int k = 0; k < 7; k++) {                                          \
                T a = values[i], b = values[k];                                    \
                const int want[] = {a == b, a != b, a > b, a >= b, a < b, a <= b}; \
                for (int c = 0; c < 6; c++) {                                      \
                    CHECK_EQ(shmem_##N##_test(&ivar, cmps[c], b), want[c]);        \
                    if (want[c])                                                   \
                        shmem_##N##_wait_until(&ivar, cmps[c], b);                 \
                }                                                                  \
            }                                                                      \
        }                                                                          \
    }
EACH_SYNC(X)
#undef X

// A token goes round the ring once for each comparison: everyone but PE 0 sleeps until its turn.
#define X(T, N)                                                  \
    static void ring_##N(void)                                   \
    {                                                            \
        static T ivar[6];                                        \
        static const T start[] = {0, 5, 4, 4, 6, 6};             \
        static const T go[] = {5, 4, 6, 5, 4, 5};                \
        for (int c = 0; c < 6; c++)                              \
            ivar[c] = start[c];                                  \
        shmem_barrier_all();                                     \
        for (int c = 0; c < 6; c++) {                            \
            if (me > 0)                                          \
                shmem_##N##_wait_until(&ivar[c], cmps[c], 5);    \
            shmem_##N##_p(&ivar[c], go[c], right_pe());          \
            if (me == 0)                                         \
                shmem_##N##_wait_until(&ivar[c], cmps[c], 5);    \
            CHECK_EQ(shmem_##N##_g(&ivar[c], me), go[c]);        \
            CHECK_EQ(shmem_##N##_test(&ivar[c], cmps[c], 5), 1); \
        }                                                        \
        shmem_barrier_all();                                     \
    }
EACH_SYNC(X)
#undef X

// Each way to change the variable wakes a sleeper. The token is passed by another way each lap.
enum { WAYS = 12 };

static void pass(long *flag, long v, int way, int pe)
{
    static uint64_t data, other;
    long mask = 0;
    switch (way % WAYS) {
    case 0: shmem_long_atomic_set(flag, v, pe); break;
    case 1: shmem_long_atomic_inc(flag, pe); break;
    case 2: shmem_long_atomic_add(flag, 1, pe); break;
    case 3: shmem_long_atomic_swap(flag, v, pe); break;
    case 4: shmem_long_atomic_compare_swap(flag, v - 1, v, pe); break;
    case 5: shmem_ulong_atomic_xor((unsigned long *)flag, (unsigned long)(v ^ (v - 1)), pe); break;
    case 6: shmem_putmem(flag, &v, sizeof v, pe); break;
    case 7:
        shmem_long_put_nbi(flag, &v, 1, pe);
        shmem_quiet();
        break;
    case 8: shmem_long_iput(flag, &v, 1, 1, 1, pe); break;
    case 9:
        shmem_uint64_put_signal(&data, &other, 1, (uint64_t *)flag, (uint64_t)v, SHMEM_SIGNAL_SET,
                                pe);
        break;
    case 10: shmem_signal_add((uint64_t *)flag, 1, pe); break;
    case 11:
        shmem_long_atomic_fetch_inc_nbi(&mask, flag, pe);
        shmem_quiet();
        break;
    }
}

static void ways_to_wake(void)
{
    static long in_static;
    long *flag = shmem_calloc(1, sizeof(long));
    for (int lap = 0; lap < 2 * WAYS; lap++) {
        long *f = lap < WAYS ? &in_static : flag;
        long v = lap % WAYS + 1;
        if (me > 0)
            shmem_long_wait_until(f, SHMEM_CMP_EQ, v);
        pass(f, v, lap, right_pe());
        if (me == 0)
            shmem_long_wait_until(f, SHMEM_CMP_GE, v);
    }
    shmem_barrier_all();
    CHECK_EQ(*flag, WAYS);
    shmem_free(flag);
}

int main(void)
{
    check_start();
    check_spread();
#define X(T, N)  \
    truth_##N(); \
    ring_##N();
    EACH_SYNC(X)
#undef X
    ways_to_wake();
    return check_done();
}
