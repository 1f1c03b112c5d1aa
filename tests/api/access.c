// SPDX-License-Identifier: BSD-3-Clause
// pe_accessible, addr_accessible, ptr and team_ptr: which addresses are symmetric, and loads and
// stores through the pointers.
#include "../check.h"

static int global_data = 3;
static int global_bss[2000];

static void accessible(void)
{
    static long function_static;
    int on_stack = 0;
    int *on_heap = must_alloc(sizeof(int));
    char *symmetric = must_shmalloc(1000);
    for (int pe = 0; pe < npes; pe++) {
        CHECK_EQ(shmem_pe_accessible(pe), 1);
        CHECK_EQ(shmem_addr_accessible(symmetric, pe), 1);
        CHECK_EQ(shmem_addr_accessible(symmetric + 999, pe), 1);
        CHECK_EQ(shmem_addr_accessible(&global_data, pe), 1);
        CHECK_EQ(shmem_addr_accessible(&global_bss[1999], pe), 1);
        CHECK_EQ(shmem_addr_accessible(&function_static, pe), 1);
        CHECK_EQ(shmem_addr_accessible(&on_stack, pe), 0);
        CHECK_EQ(shmem_addr_accessible(on_heap, pe), 0);
        CHECK_EQ(shmem_addr_accessible(NULL, pe), 0);
    }
    CHECK_EQ(shmem_pe_accessible(npes), 0);
    CHECK_EQ(shmem_pe_accessible(-1), 0);
    CHECK_EQ(shmem_addr_accessible(symmetric, npes), 0);
    CHECK_EQ(shmem_addr_accessible(symmetric, -1), 0);
    free(on_heap);
    shmem_free(symmetric);
}

// Stores through the pointer are seen by the owner, and by gets; puts are seen through the pointer.
static void direct(long *object, shmem_team_t team)
{
    object[0] = me;
    object[1] = -1;
    shmem_barrier_all();
    for (int pe = 0; pe < npes; pe++) {
        long *there = team == SHMEM_TEAM_WORLD ? shmem_ptr(object, pe)
                                               : shmem_team_ptr(team, object, npes - 1 - pe);
        if (there == NULL)
            continue;
        CHECK_EQ(there[0], pe);
        CHECK(there == (team == SHMEM_TEAM_WORLD ? shmem_team_ptr(team, object, pe)
                                                 : shmem_ptr(object, pe)));
        CHECK((char *)shmem_ptr(object + 1, pe) == (char *)(there + 1));
        if (pe == right_pe())
            there[1] = me + 100;
    }
    CHECK(shmem_ptr(object, me) == object);
    shmem_barrier_all();
    if (shmem_ptr(object, left_pe()) != NULL)
        CHECK_EQ(object[1], left_pe() + 100);
    if (shmem_ptr(object, right_pe()) != NULL)
        CHECK_EQ(shmem_long_g(&object[1], right_pe()), me + 100);
    shmem_barrier_all();
    if (shmem_ptr(object, right_pe()) != NULL) {
        shmem_long_p(&object[1], me + 200, right_pe());
        shmem_quiet();
        CHECK_EQ(((long *)shmem_ptr(object, right_pe()))[1], me + 200);
    }
    shmem_barrier_all();
}

static void nowhere(void)
{
    int on_stack = 0;
    char *symmetric = must_shmalloc(16);
    CHECK(shmem_ptr(&on_stack, right_pe()) == NULL || npes == 1);
    CHECK(shmem_team_ptr(SHMEM_TEAM_INVALID, symmetric, 0) == NULL);
    shmem_free(symmetric);
}

int main(void)
{
    static long in_static[2];
    check_start();
    accessible();
    nowhere();
    long *heap = must_shmalloc(2 * sizeof(long));
    shmem_team_t back;
    shmem_team_split_strided(SHMEM_TEAM_WORLD, npes - 1, -1, npes, NULL, 0, &back);
    direct(heap, SHMEM_TEAM_WORLD);
    direct(heap, back);
    direct(in_static, SHMEM_TEAM_WORLD);
    direct(in_static, back);
    shmem_team_destroy(back);
    shmem_free(heap);
    return check_done();
}
