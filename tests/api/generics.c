// SPDX-License-Identifier: BSD-3-Clause
// The type-generic names of C11, each family for each of its types, with and without a context.
#include "../check.h"
#include "types.h"

static shmem_ctx_t ctx;

// The generic g and fetches have the type of their object.
#define IS(T, expression) _Generic((expression), T : 1, default : 0)

#define RMA(T, CTX)                                                                       \
    {                                                                                     \
        static T a[8], b[8];                                                              \
        T got[8];                                                                         \
        for (int i = 0; i < 8; i++)                                                       \
            b[i] = VALUE(T, me * 8 + i);                                                  \
        shmem_barrier_all();                                                              \
        shmem_put(CTX &a[0], &b[0], 2, right_pe());                                       \
        shmem_put_nbi(CTX &a[2], &b[2], 1, right_pe());                                   \
        shmem_p(CTX &a[3], b[3], right_pe());                                             \
        shmem_iput(CTX &a[4], &b[4], 1, 1, 2, right_pe());                                \
        shmem_ibput(CTX &a[6], &b[6], 2, 2, 2, 1, right_pe());                            \
        shmem_ctx_quiet(ctx);                                                             \
        shmem_barrier_all();                                                              \
        CHECK_EACH(i, 8, a[i], VALUE(T, left_pe() * 8 + (int)i));                         \
        CHECK(IS(T, shmem_g(CTX &b[0], right_pe())));                                     \
        CHECK_EQ(shmem_g(CTX &b[5], right_pe()), VALUE(T, right_pe() * 8 + 5));           \
        shmem_get(CTX &got[0], &b[0], 2, right_pe());                                     \
        shmem_get_nbi(CTX &got[2], &b[2], 2, right_pe());                                 \
        shmem_iget(CTX &got[4], &b[4], 1, 1, 2, right_pe());                              \
        shmem_ibget(CTX &got[6], &b[6], 2, 2, 2, 1, right_pe());                          \
        shmem_quiet();                                                                    \
        shmem_ctx_quiet(ctx);                                                             \
        CHECK_EACH(i, 8, got[i], VALUE(T, right_pe() * 8 + (int)i));                      \
        shmem_barrier_all();                                                              \
        static uint64_t sig;                                                              \
        shmem_put_signal(CTX &a[0], &b[4], 1, &sig, 1, SHMEM_SIGNAL_ADD, right_pe());     \
        shmem_put_signal_nbi(CTX &a[1], &b[5], 1, &sig, 1, SHMEM_SIGNAL_ADD, right_pe()); \
        shmem_signal_wait_until(&sig, SHMEM_CMP_EQ, 2);                                   \
        CHECK_EACH(i, 2, a[i], VALUE(T, left_pe() * 8 + 4 + (int)i));                     \
    }
#define WITH_CTX ctx,
#define X(T, N)               \
    static void rma_##N(void) \
    {                         \
        RMA(T, )              \
        RMA(T, WITH_CTX)      \
    }
EACH_RMA(X)
#undef X

// Those that fetch nothing may take effect after later ones without it.
#define IN_ORDER(call) \
    call;              \
    shmem_fence();     \
    shmem_ctx_fence(ctx)
#define AMO(T, CTX)                                                                \
    {                                                                              \
        static T a;                                                                \
        T v[5];                                                                    \
        int pe = right_pe();                                                       \
        IN_ORDER(shmem_atomic_set(CTX &a, (T)5, pe));                              \
        CHECK(IS(T, shmem_atomic_fetch(CTX &a, pe)));                              \
        CHECK_EQ(shmem_atomic_fetch(CTX &a, pe), 5);                               \
        CHECK_EQ(shmem_atomic_swap(CTX &a, (T)6, pe), 5);                          \
        CHECK_EQ(shmem_atomic_compare_swap(CTX &a, (T)6, (T)7, pe), 6);            \
        IN_ORDER(shmem_atomic_inc(CTX &a, pe));                                    \
        CHECK_EQ(shmem_atomic_fetch_inc(CTX &a, pe), 8);                           \
        IN_ORDER(shmem_atomic_add(CTX &a, (T)10, pe));                             \
        CHECK_EQ(shmem_atomic_fetch_add(CTX &a, (T)1, pe), 19);                    \
        shmem_atomic_fetch_nbi(CTX &v[0], &a, pe);                                 \
        DONE;                                                                      \
        shmem_atomic_swap_nbi(CTX &v[1], &a, (T)30, pe);                           \
        DONE;                                                                      \
        shmem_atomic_compare_swap_nbi(CTX &v[2], &a, (T)30, (T)40, pe);            \
        DONE;                                                                      \
        shmem_atomic_fetch_inc_nbi(CTX &v[3], &a, pe);                             \
        DONE;                                                                      \
        shmem_atomic_fetch_add_nbi(CTX &v[4], &a, (T)3, pe);                       \
        DONE;                                                                      \
        CHECK(v[0] == 20 && v[1] == 20 && v[2] == 30 && v[3] == 40 && v[4] == 41); \
        shmem_barrier_all();                                                       \
        CHECK_EQ(a, 44);                                                           \
    }
#define DONE shmem_quiet(), shmem_ctx_quiet(ctx)
#define BITWISE(T, CTX)                                              \
    {                                                                \
        static T a = 0x33;                                           \
        T v[3];                                                      \
        int pe = right_pe();                                         \
        IN_ORDER(shmem_atomic_or(CTX &a, (T)0x0C, pe));              \
        IN_ORDER(shmem_atomic_and(CTX &a, (T)0x3C, pe));             \
        IN_ORDER(shmem_atomic_xor(CTX &a, (T)0x01, pe));             \
        CHECK_EQ(shmem_atomic_fetch_or(CTX &a, (T)0x02, pe), 0x3D);  \
        CHECK_EQ(shmem_atomic_fetch_and(CTX &a, (T)0x0F, pe), 0x3F); \
        CHECK_EQ(shmem_atomic_fetch_xor(CTX &a, (T)0x10, pe), 0x0F); \
        shmem_atomic_fetch_or_nbi(CTX &v[0], &a, (T)0x20, pe);       \
        DONE;                                                        \
        shmem_atomic_fetch_and_nbi(CTX &v[1], &a, (T)0x30, pe);      \
        DONE;                                                        \
        shmem_atomic_fetch_xor_nbi(CTX &v[2], &a, (T)0x11, pe);      \
        DONE;                                                        \
        CHECK(v[0] == 0x1F && v[1] == 0x3F && v[2] == 0x30);         \
        shmem_barrier_all();                                         \
        CHECK_EQ(a, 0x21);                                           \
    }
#define FLOATING(T, CTX)                                              \
    {                                                                 \
        static T a;                                                   \
        T v[2];                                                       \
        IN_ORDER(shmem_atomic_set(CTX &a, (T)0.5, right_pe()));       \
        CHECK(IS(T, shmem_atomic_fetch(CTX &a, right_pe())));         \
        CHECK_EQ(shmem_atomic_swap(CTX &a, (T)1.5, right_pe()), 0.5); \
        shmem_atomic_fetch_nbi(CTX &v[0], &a, right_pe());            \
        DONE;                                                         \
        shmem_atomic_swap_nbi(CTX &v[1], &a, (T)2.5, right_pe());     \
        DONE;                                                         \
        CHECK(v[0] == (T)1.5 && v[1] == (T)1.5);                      \
    }
#define X(T, N)                   \
    static void amo_##N(void)     \
    {                             \
        AMO(T, ) AMO(T, WITH_CTX) \
    }
EACH_AMO(X)
#undef X
#define X(T, N)                           \
    static void bitwise_##N(void)         \
    {                                     \
        BITWISE(T, ) BITWISE(T, WITH_CTX) \
    }
EACH_AMO_BITWISE(X)
#undef X
#define X(T, N)                             \
    static void floating_##N(void)          \
    {                                       \
        FLOATING(T, ) FLOATING(T, WITH_CTX) \
    }
EACH_AMO_FLOAT(X)
#undef X

// All hold at once: these calls return at the first look.
#define X(T, N)                                                                     \
    static void sync_##N(void)                                                      \
    {                                                                               \
        static T a[3] = {1, 2, 3};                                                  \
        T v[3] = {1, 2, 3};                                                         \
        size_t at[3];                                                               \
        shmem_wait_until(&a[1], SHMEM_CMP_EQ, (T)2);                                \
        CHECK_EQ(shmem_test(&a[1], SHMEM_CMP_GT, (T)2), 0);                         \
        shmem_wait_until_all(a, 3, NULL, SHMEM_CMP_GE, (T)1);                       \
        shmem_wait_until_all_vector(a, 3, NULL, SHMEM_CMP_EQ, v);                   \
        CHECK_EQ(shmem_wait_until_any(a, 3, NULL, SHMEM_CMP_EQ, (T)3), 2);          \
        CHECK(shmem_wait_until_any_vector(a, 3, NULL, SHMEM_CMP_EQ, v) < 3);        \
        CHECK_EQ(shmem_wait_until_some(a, 3, at, NULL, SHMEM_CMP_LT, (T)3), 2);     \
        CHECK_EQ(shmem_wait_until_some_vector(a, 3, at, NULL, SHMEM_CMP_EQ, v), 3); \
        CHECK_EQ(shmem_test_all(a, 3, NULL, SHMEM_CMP_LE, (T)2), 0);                \
        CHECK_EQ(shmem_test_all_vector(a, 3, NULL, SHMEM_CMP_EQ, v), 1);            \
        CHECK_EQ(shmem_test_any(a, 3, NULL, SHMEM_CMP_GT, (T)3), SIZE_MAX);         \
        CHECK_EQ(shmem_test_any_vector(a, 3, NULL, SHMEM_CMP_NE, v), SIZE_MAX);     \
        CHECK_EQ(shmem_test_some(a, 3, at, NULL, SHMEM_CMP_NE, (T)1), 2);           \
        CHECK_EQ(shmem_test_some_vector(a, 3, at, NULL, SHMEM_CMP_LE, v), 3);       \
    }
EACH_AMO(X)
#undef X
#define X(T, N)                                          \
    static void sync_##N(void)                           \
    {                                                    \
        static T a = 4;                                  \
        shmem_wait_until(&a, SHMEM_CMP_EQ, (T)4);        \
        CHECK_EQ(shmem_test(&a, SHMEM_CMP_NE, (T)4), 0); \
    }
EACH_SYNC_OLD(X)
#undef X

int main(void)
{
    check_start();
    if (!CHECK_EQ(shmem_ctx_create(0, &ctx), 0))
        shmem_global_exit(1);
#define X(T, N) rma_##N();
    EACH_RMA(X)
#undef X
#define X(T, N) \
    amo_##N();  \
    sync_##N();
    EACH_AMO(X)
#undef X
#define X(T, N) bitwise_##N();
    EACH_AMO_BITWISE(X)
#undef X
#define X(T, N) floating_##N();
    EACH_AMO_FLOAT(X)
#undef X
#define X(T, N) sync_##N();
    EACH_SYNC_OLD(X)
#undef X
    static uint64_t sig;
    shmem_signal_set(ctx, &sig, 4, right_pe());
    shmem_signal_wait_until(&sig, SHMEM_CMP_EQ, 4);
    shmem_barrier_all();
    shmem_signal_add(ctx, &sig, 3, right_pe());
    shmem_signal_wait_until(&sig, SHMEM_CMP_EQ, 7);
    shmem_barrier_all();
    shmem_signal_set(&sig, 1, right_pe()); // the forms without a context keep their names
    shmem_fence();
    shmem_signal_add(&sig, 1, right_pe());
    shmem_signal_wait_until(&sig, SHMEM_CMP_EQ, 2);
    shmem_ctx_destroy(ctx);
    return check_done();
}
