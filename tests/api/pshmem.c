// SPDX-License-Identifier: BSD-3-Clause
// <pshmem.h> alone is enough to write a program with the pshmem_ names, typed ones of each family
// included; both names are the same function.
#include <pshmem.h>
#include "../check.h"
#include "types.h"

#define X(T, N)                                                                \
    static void rma_##N(void)                                                  \
    {                                                                          \
        static T a[2], b[2], all[2 * 64];                                      \
        b[0] = VALUE(T, me);                                                   \
        b[1] = VALUE(T, me + 1);                                               \
        pshmem_##N##_put(a, b, 1, right_pe());                                 \
        pshmem_##N##_p(&a[1], b[1], right_pe());                               \
        pshmem_barrier_all();                                                  \
        CHECK(a[0] == VALUE(T, left_pe()) && a[1] == VALUE(T, left_pe() + 1)); \
        CHECK_EQ(pshmem_##N##_g(&b[1], right_pe()), VALUE(T, right_pe() + 1)); \
        pshmem_##N##_get(a, b, 2, right_pe());                                 \
        CHECK_EQ(a[0], VALUE(T, right_pe()));                                  \
        if (npes <= 64) {                                                      \
            CHECK_EQ(pshmem_##N##_fcollect(SHMEM_TEAM_WORLD, all, b, 2), 0);   \
            CHECK_EACH(i, npes, all[2 * i], VALUE(T, (int)i));                 \
        }                                                                      \
        CHECK_EQ(pshmem_##N##_max_reduce(SHMEM_TEAM_WORLD, a, b, 2), 0);       \
        CHECK_EQ(pshmem_##N##_sum_inscan(SHMEM_TEAM_WORLD, a, b, 2), 0);       \
        pshmem_barrier_all();                                                  \
    }
EACH_RMA(X)
#undef X

#define X(T, N)                                                               \
    static void amo_##N(void)                                                 \
    {                                                                         \
        static T word;                                                        \
        T old;                                                                \
        pshmem_##N##_atomic_inc(&word, right_pe());                           \
        pshmem_ctx_##N##_atomic_add(SHMEM_CTX_DEFAULT, &word, 5, right_pe()); \
        pshmem_##N##_wait_until(&word, SHMEM_CMP_EQ, 6);                      \
        pshmem_barrier_all();                                                 \
        pshmem_##N##_atomic_fetch_add_nbi(&old, &word, 1, right_pe());        \
        pshmem_quiet();                                                       \
        CHECK_EQ(old, 6);                                                     \
        CHECK_EQ(pshmem_##N##_test_any(&word, 1, NULL, SHMEM_CMP_GE, 6), 0);  \
        pshmem_barrier_all();                                                 \
    }
EACH_AMO(X)
#undef X

int main(void)
{
    pshmem_init();
    me = pshmem_my_pe();
    npes = pshmem_n_pes();
    pshmem_pcontrol(2);
#define X(T, N) rma_##N();
    EACH_RMA(X)
#undef X
#define X(T, N) amo_##N();
    EACH_AMO(X)
#undef X
    static long lock;
    pshmem_set_lock(&lock);
    pshmem_clear_lock(&lock);
    void *p = pshmem_align(256, 10);
    CHECK(p != NULL);
    pshmem_free(p);
    shmem_team_t team;
    CHECK_EQ(pshmem_team_split_strided(SHMEM_TEAM_WORLD, 0, 1, npes, NULL, 0, &team), 0);
    CHECK_EQ(pshmem_team_sync(team), 0);
    pshmem_team_destroy(team);
    int major, minor;
    pshmem_info_get_version(&major, &minor);
    CHECK(major == 1 && minor == 6);
    pshmem_finalize();
    return check_done();
}
