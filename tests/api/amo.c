// SPDX-License-Identifier: BSD-3-Clause
// Every atomic operation of every type: values fetched and left behind, full width, untouched
// neighbours; blocking, nonblocking and context forms. amo_race.c tests them against each other.
#include "../check.h"
#include "types.h"

static shmem_ctx_t ctx;

// Each PE works on its right neighbour's word, alone; a[0] and a[2] must stay as they are.
#define BEGIN(T)                                                          \
    static T a[3];                                                        \
    const T guard = VALUE(T, 9), high = (T)((T)1 << (8 * sizeof(T) - 2)); \
    const int pe = right_pe();                                            \
    T f = 0;                                                              \
    (void)f;                                                              \
    a[0] = a[2] = guard;                                                  \
    shmem_barrier_all()
#define END(T, last)                       \
    shmem_ctx_quiet(ctx);                  \
    shmem_barrier_all();                   \
    CHECK_EQ(a[1], (T)(last));             \
    CHECK(a[0] == guard && a[2] == guard); \
    shmem_barrier_all()

// Those that fetch nothing may take effect after later ones without it.
#define IN_ORDER(call) \
    call;              \
    shmem_fence();     \
    shmem_ctx_fence(ctx)

#define STANDARD(T, F, CTX)                                                          \
    {                                                                                \
        BEGIN(T);                                                                    \
        IN_ORDER(F##_atomic_set(CTX &a[1], (T)5, pe));                               \
        CHECK_EQ(F##_atomic_fetch(CTX &a[1], pe), 5);                                \
        CHECK_EQ(F##_atomic_swap(CTX &a[1], (T)7, pe), 5);                           \
        CHECK_EQ(F##_atomic_compare_swap(CTX &a[1], (T)6, (T)1, pe), 7);             \
        CHECK_EQ(F##_atomic_compare_swap(CTX &a[1], (T)7, (T)8, pe), 7);             \
        IN_ORDER(F##_atomic_inc(CTX &a[1], pe));                                     \
        CHECK_EQ(F##_atomic_fetch_inc(CTX &a[1], pe), 9);                            \
        IN_ORDER(F##_atomic_add(CTX &a[1], (T)20, pe));                              \
        CHECK_EQ(F##_atomic_fetch_add(CTX &a[1], (T)12, pe), 30);                    \
        CHECK_EQ(F##_atomic_fetch_add(CTX &a[1], (T)-2, pe), 42);                    \
        CHECK_EQ(F##_atomic_swap(CTX &a[1], high, pe), 40);                          \
        CHECK_EQ(F##_atomic_compare_swap(CTX &a[1], (T)(high - 1), (T)1, pe), high); \
        CHECK_EQ(F##_atomic_fetch_add(CTX &a[1], (T)(high - 1), pe), high);          \
        CHECK_EQ(F##_atomic_fetch(CTX &a[1], pe), (T)(high - 1 + high));             \
        F##_atomic_set(CTX &a[1], (T)(me + 3), pe);                                  \
        END(T, left_pe() + 3);                                                       \
    }

// Nonblocking: the fetched value is there after a quiet.
#define NBI(T, F, CTX)                                                               \
    {                                                                                \
        BEGIN(T);                                                                    \
        T v[6];                                                                      \
        IN_ORDER(F##_atomic_set(CTX &a[1], (T)5, pe));                               \
        QUIET(F##_atomic_fetch_nbi(CTX &v[0], &a[1], pe));                           \
        QUIET(F##_atomic_fetch_inc_nbi(CTX &v[1], &a[1], pe));                       \
        QUIET(F##_atomic_fetch_add_nbi(CTX &v[2], &a[1], (T)10, pe));                \
        QUIET(F##_atomic_swap_nbi(CTX &v[3], &a[1], high, pe));                      \
        QUIET(F##_atomic_compare_swap_nbi(CTX &v[4], &a[1], (T)5, (T)6, pe));        \
        QUIET(F##_atomic_compare_swap_nbi(CTX &v[5], &a[1], high, (T)(me + 3), pe)); \
        CHECK(v[0] == 5 && v[1] == 5 && v[2] == 6 && v[3] == 16);                    \
        CHECK(v[4] == high && v[5] == high);                                         \
        END(T, left_pe() + 3);                                                       \
    }
#define QUIET(call) \
    call;           \
    shmem_quiet();  \
    shmem_ctx_quiet(ctx)

#define BITWISE(T, F, CTX)                                                           \
    {                                                                                \
        BEGIN(T);                                                                    \
        T v[3];                                                                      \
        IN_ORDER(F##_atomic_set(CTX &a[1], (T)0x5A, pe));                            \
        IN_ORDER(F##_atomic_or(CTX &a[1], (T)(high | 0x0F), pe));                    \
        CHECK_EQ(F##_atomic_fetch(CTX &a[1], pe), (T)(high | 0x5F));                 \
        IN_ORDER(F##_atomic_and(CTX &a[1], (T) ~(T)0x11, pe));                       \
        CHECK_EQ(F##_atomic_fetch(CTX &a[1], pe), (T)(high | 0x4E));                 \
        IN_ORDER(F##_atomic_xor(CTX &a[1], (T)(high | 0xFF), pe));                   \
        CHECK_EQ(F##_atomic_fetch_or(CTX &a[1], (T)0x0E, pe), 0xB1);                 \
        CHECK_EQ(F##_atomic_fetch_and(CTX &a[1], (T)0x3C, pe), 0xBF);                \
        CHECK_EQ(F##_atomic_fetch_xor(CTX &a[1], (T)(high | 0x18), pe), 0x3C);       \
        QUIET(F##_atomic_fetch_or_nbi(CTX &v[0], &a[1], (T)1, pe));                  \
        QUIET(F##_atomic_fetch_and_nbi(CTX &v[1], &a[1], (T)~high, pe));             \
        QUIET(F##_atomic_fetch_xor_nbi(CTX &v[2], &a[1], (T)0x25, pe));              \
        CHECK(v[0] == (T)(high | 0x24) && v[1] == (T)(high | 0x25) && v[2] == 0x25); \
        F##_atomic_or(CTX &a[1], (T)(me + 1), pe);                                   \
        END(T, left_pe() + 1);                                                       \
    }

#define FLOATING(T, F, CTX)                                          \
    {                                                                \
        static T a[3] = {1.5, 0, 2.5};                               \
        T v[2];                                                      \
        int pe = right_pe();                                         \
        IN_ORDER(F##_atomic_set(CTX &a[1], (T)-0.125, pe));          \
        CHECK_EQ(F##_atomic_fetch(CTX &a[1], pe), -0.125);           \
        CHECK_EQ(F##_atomic_swap(CTX &a[1], (T)3e30, pe), -0.125);   \
        QUIET(F##_atomic_fetch_nbi(CTX &v[0], &a[1], pe));           \
        QUIET(F##_atomic_swap_nbi(CTX &v[1], &a[1], (T)me / 4, pe)); \
        CHECK(v[0] == (T)3e30 && v[1] == (T)3e30);                   \
        shmem_barrier_all();                                         \
        CHECK_EQ(a[1], (T)left_pe() / 4);                            \
        CHECK(a[0] == (T)1.5 && a[2] == (T)2.5);                     \
        shmem_barrier_all();                                         \
    }

#define WITH_CTX ctx,
#define TWICE(FAMILY, T, N)                \
    static void FAMILY##_##N(void)         \
    {                                      \
        FAMILY(T, shmem_##N, )             \
        FAMILY(T, shmem_ctx_##N, WITH_CTX) \
    }
#define X(T, N) TWICE(STANDARD, T, N) TWICE(NBI, T, N)
EACH_AMO(X)
#undef X
#define X(T, N) TWICE(BITWISE, T, N)
EACH_AMO_BITWISE(X)
#undef X
#define X(T, N) TWICE(FLOATING, T, N)
EACH_AMO_FLOAT(X)
#undef X

// A word on the heap, touched by a PE other than the neighbours, itself included.
static void every_pair(void)
{
    long *table = must_shmalloc(sizeof(long) * (size_t)npes);
    memset(table, 0, sizeof(long) * (size_t)npes);
    shmem_barrier_all();
    for (int pe = 0; pe < npes; pe++)
        CHECK_EQ(shmem_long_atomic_fetch_add(&table[me], me * 100 + pe, pe), 0);
    shmem_barrier_all();
    CHECK_EACH(i, npes, table[i], (long)i * 100 + me);
    shmem_free(table);
}

int main(void)
{
    check_start();
    if (!CHECK_EQ(shmem_ctx_create(0, &ctx), 0))
        shmem_global_exit(1);
#define X(T, N)     \
    STANDARD_##N(); \
    NBI_##N();
    EACH_AMO(X)
#undef X
#define X(T, N) BITWISE_##N();
    EACH_AMO_BITWISE(X)
#undef X
#define X(T, N) FLOATING_##N();
    EACH_AMO_FLOAT(X)
#undef X
    every_pair();
    shmem_ctx_destroy(ctx);
    return check_done();
}
