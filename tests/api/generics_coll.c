// SPDX-License-Identifier: BSD-3-Clause
// The type-generic names of C11 for collectives, reductions and scans, and those of old calls.
#include "../check.h"
#include "types.h"

#define MOVE(T)                                                                                   \
    {                                                                                             \
        shmem_team_t w = SHMEM_TEAM_WORLD;                                                        \
        T *a = shmem_calloc((size_t)npes, sizeof(T)), *b = shmem_calloc((size_t)npes, sizeof(T)); \
        for (int i = 0; i < npes; i++)                                                            \
            b[i] = VALUE(T, me * npes + i);                                                       \
        CHECK_EQ(shmem_broadcast(w, a, b, 1, npes - 1), 0);                                       \
        CHECK_EQ(a[0], VALUE(T, (npes - 1) * npes));                                              \
        shmem_sync_all();                                                                         \
        CHECK_EQ(shmem_collect(w, a, b, 1), 0);                                                   \
        CHECK_EACH(i, npes, a[i], VALUE(T, (int)i *npes));                                        \
        shmem_sync_all();                                                                         \
        CHECK_EQ(shmem_fcollect(w, a, b, 1), 0);                                                  \
        CHECK_EACH(i, npes, a[i], VALUE(T, (int)i *npes));                                        \
        shmem_sync_all();                                                                         \
        CHECK_EQ(shmem_alltoall(w, a, b, 1), 0);                                                  \
        CHECK_EACH(i, npes, a[i], VALUE(T, (int)i *npes + me));                                   \
        shmem_sync_all();                                                                         \
        CHECK_EQ(shmem_alltoalls(w, a, b, 1, 1, 1), 0);                                           \
        CHECK_EACH(i, npes, a[i], VALUE(T, (int)i *npes + me));                                   \
        shmem_sync_all();                                                                         \
        b[0] = (T)(me % 5);                                                                       \
        CHECK_EQ(shmem_max_reduce(w, a, b, 1), 0);                                                \
        CHECK_EQ(a[0], npes > 4 ? 4 : npes - 1);                                                  \
        shmem_sync_all();                                                                         \
        CHECK_EQ(shmem_min_reduce(w, a, b, 1), 0);                                                \
        CHECK_EQ(a[0], 0);                                                                        \
        shmem_free(a);                                                                            \
        shmem_free(b);                                                                            \
    }
#define SUMS(T)                                       \
    {                                                 \
        static T a, b;                                \
        shmem_team_t w = SHMEM_TEAM_WORLD;            \
        b = 1;                                        \
        CHECK_EQ(shmem_sum_reduce(w, &a, &b, 1), 0);  \
        CHECK(a == (T)npes);                          \
        shmem_sync_all();                             \
        CHECK_EQ(shmem_prod_reduce(w, &a, &b, 1), 0); \
        CHECK(a == (T)1);                             \
        shmem_sync_all();                             \
        CHECK_EQ(shmem_sum_inscan(w, &a, &b, 1), 0);  \
        CHECK(a == (T)(me + 1));                      \
        shmem_sync_all();                             \
        CHECK_EQ(shmem_sum_exscan(w, &a, &b, 1), 0);  \
        CHECK(a == (T)me);                            \
        shmem_sync_all();                             \
    }
#define BITS(T)                                           \
    {                                                     \
        static T a, b;                                    \
        shmem_team_t w = SHMEM_TEAM_WORLD;                \
        b = (T)(me % 2 + 2);                              \
        CHECK_EQ(shmem_and_reduce(w, &a, &b, 1), 0);      \
        CHECK_EQ(a, 2);                                   \
        shmem_sync_all();                                 \
        CHECK_EQ(shmem_or_reduce(w, &a, &b, 1), 0);       \
        CHECK_EQ(a, npes > 1 ? 3 : 2);                    \
        shmem_sync_all();                                 \
        CHECK_EQ(shmem_xor_reduce(w, &a, &b, 1), 0);      \
        CHECK_EQ(a, (npes % 2 ? 2 : 0) + (npes / 2 % 2)); \
        shmem_sync_all();                                 \
    }
// The atomics of before 1.4, in their generic forms.
#define OLD_COUNT(T)                                             \
    {                                                            \
        static T a = 5;                                          \
        shmem_add(&a, (T)2, right_pe());                         \
        shmem_fence();                                           \
        shmem_inc(&a, right_pe());                               \
        shmem_fence();                                           \
        CHECK_EQ(shmem_fadd(&a, (T)2, right_pe()), 8);           \
        CHECK_EQ(shmem_finc(&a, right_pe()), 10);                \
        CHECK_EQ(shmem_cswap(&a, (T)11, (T)12, right_pe()), 11); \
    }
#define OLD_SWAP(T)                                    \
    {                                                  \
        static T a;                                    \
        shmem_set(&a, (T)7, right_pe());               \
        shmem_fence();                                 \
        CHECK_EQ(shmem_fetch(&a, right_pe()), 7);      \
        CHECK_EQ(shmem_swap(&a, (T)8, right_pe()), 7); \
        CHECK_EQ(shmem_fetch(&a, right_pe()), 8);      \
    }

int main(void)
{
    check_start();
#define X(T, N) MOVE(T) SUMS(T)
    EACH_RMA(X)
#undef X
#define X(T, N) SUMS(T)
    EACH_COMPLEX(X)
#undef X
#define X(T, N) BITS(T)
    EACH_REDUCE_BITWISE(X)
#undef X
#define X(T, N) OLD_COUNT(T)
    EACH_OLD_COUNT(X)
#undef X
#define X(T, N) OLD_SWAP(T)
    EACH_OLD_SWAP(X)
#undef X
    // sync takes a team, or an active set and a work array.
    static long psync[SHMEM_SYNC_SIZE];
    for (int i = 0; i < SHMEM_SYNC_SIZE; i++)
        psync[i] = SHMEM_SYNC_VALUE;
    shmem_barrier_all();
    CHECK_EQ(shmem_sync(SHMEM_TEAM_WORLD), 0);
    shmem_sync(0, 0, npes, psync);
    return check_done();
}
