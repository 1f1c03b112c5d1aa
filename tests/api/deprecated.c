// SPDX-License-Identifier: BSD-3-Clause
// What is deprecated and still required: the old header's place, constants with an underscore,
// atomics without "atomic" in their names, shmem_wait. The rest has files of its own: start_pes.c,
// coll_active.c, reduce_active.c, barrier.c.
#include <mpp/shmem.h>
#include <mpp/shmemx.h>
#include <shmemx.h>
#include "../check.h"
#include "types.h"

_Static_assert(_SHMEM_MAJOR_VERSION == 1 && _SHMEM_MINOR_VERSION == 6, "version");
_Static_assert(_SHMEM_MAX_NAME_LEN == SHMEM_MAX_NAME_LEN, "name length");
_Static_assert(_SHMEM_SYNC_VALUE == SHMEM_SYNC_VALUE, "sync value");
_Static_assert(_SHMEM_BCAST_SYNC_SIZE == SHMEM_BCAST_SYNC_SIZE, "broadcast");
_Static_assert(_SHMEM_REDUCE_SYNC_SIZE == SHMEM_REDUCE_SYNC_SIZE, "reduce");
_Static_assert(_SHMEM_BARRIER_SYNC_SIZE == SHMEM_BARRIER_SYNC_SIZE, "barrier");
_Static_assert(_SHMEM_COLLECT_SYNC_SIZE == SHMEM_COLLECT_SYNC_SIZE, "collect");
_Static_assert(_SHMEM_REDUCE_MIN_WRKDATA_SIZE == SHMEM_REDUCE_MIN_WRKDATA_SIZE, "work");
_Static_assert(_SHMEM_CMP_EQ == SHMEM_CMP_EQ && _SHMEM_CMP_NE == SHMEM_CMP_NE &&
                   _SHMEM_CMP_GT == SHMEM_CMP_GT && _SHMEM_CMP_GE == SHMEM_CMP_GE &&
                   _SHMEM_CMP_LT == SHMEM_CMP_LT && _SHMEM_CMP_LE == SHMEM_CMP_LE,
               "comparisons");

#define X(T, N)                                                     \
    static void count_##N(void)                                     \
    {                                                               \
        static T a[3] = {1, 5, 1};                                  \
        shmem_##N##_add(&a[1], 2, right_pe());                      \
        shmem_fence();                                              \
        shmem_##N##_inc(&a[1], right_pe());                         \
        shmem_fence();                                              \
        CHECK_EQ(shmem_##N##_fadd(&a[1], 2, right_pe()), 8);        \
        CHECK_EQ(shmem_##N##_finc(&a[1], right_pe()), 10);          \
        CHECK_EQ(shmem_##N##_cswap(&a[1], 11, 12, right_pe()), 11); \
        CHECK_EQ(shmem_##N##_cswap(&a[1], 11, 13, right_pe()), 12); \
        shmem_barrier_all();                                        \
        CHECK(a[0] == 1 && a[1] == 12 && a[2] == 1);                \
    }
EACH_OLD_COUNT(X)
#undef X

#define X(T, N)                                           \
    static void swap_##N(void)                            \
    {                                                     \
        static T a;                                       \
        shmem_##N##_set(&a, 7, right_pe());               \
        shmem_fence();                                    \
        CHECK_EQ(shmem_##N##_fetch(&a, right_pe()), 7);   \
        CHECK_EQ(shmem_##N##_swap(&a, 8, right_pe()), 7); \
        shmem_barrier_all();                              \
        CHECK_EQ(a, 8);                                   \
    }
EACH_OLD_SWAP(X)
#undef X

#define X(T, N)                             \
    static void wait_##N(void)              \
    {                                       \
        static T a = 3;                     \
        if (me > 0)                         \
            shmem_##N##_wait(&a, 3);        \
        shmem_##N##_p(&a, 4, right_pe());   \
        if (me == 0)                        \
            shmem_##N##_wait(&a, 3);        \
        CHECK_EQ(shmem_##N##_g(&a, me), 4); \
        shmem_barrier_all();                \
    }
EACH_OLD_WAIT(X)
#undef X

static void plain_wait(void)
{
    static long a = 3;
    shmem_long_p(&a, 4, right_pe());
    shmem_wait(&a, 3);
    shmem_barrier_all();
    shmem_long_p(&a, 9, right_pe());
    (shmem_wait_until)(&a, SHMEM_CMP_GT, 4); // the function, not the generic name
    CHECK_EQ(a, 9);
    shmem_barrier_all();
}

int main(void)
{
    check_start();
    CHECK(strcmp(_SHMEM_VENDOR_STRING, SHMEM_VENDOR_STRING) == 0);
    CHECK(_my_pe() == me && _num_pes() == npes);
#define X(T, N) count_##N();
    EACH_OLD_COUNT(X)
#undef X
#define X(T, N) swap_##N();
    EACH_OLD_SWAP(X)
#undef X
#define X(T, N) wait_##N();
    EACH_OLD_WAIT(X)
#undef X
    plain_wait();
    return check_done();
}
