// SPDX-License-Identifier: BSD-3-Clause
// Profiling: a program may define a shmem_ function itself and call the library's own under its
// pshmem_ name; pcontrol does nothing and takes any arguments.
#include <pshmem.h>
#include "../check.h"

static int puts_seen, barriers_seen, swaps_seen, reductions_seen, mallocs_seen;
static int inits_seen;

void shmem_init(void)
{
    inits_seen++;
    pshmem_init();
}

void shmem_putmem(void *dest, const void *source, size_t nelems, int pe)
{
    puts_seen++;
    pshmem_putmem(dest, source, nelems, pe);
}

void shmem_barrier_all(void)
{
    barriers_seen++;
    pshmem_barrier_all();
}

long shmem_long_atomic_swap(long *dest, long value, int pe)
{
    swaps_seen++;
    return pshmem_long_atomic_swap(dest, value, pe);
}

int shmem_double_sum_reduce(shmem_team_t team, double *dest, const double *source, size_t nreduce)
{
    reductions_seen++;
    return pshmem_double_sum_reduce(team, dest, source, nreduce);
}

void *shmem_malloc(size_t size)
{
    mallocs_seen++;
    return pshmem_malloc(size);
}

int main(void)
{
    check_start();
    shmem_pcontrol(1);
    shmem_pcontrol(0);
    shmem_pcontrol(-1);
    shmem_pcontrol(3, "anything", 2.5, &puts_seen);
    static long word = -1;
    static double one = 1, sum;
    int *a = shmem_malloc(sizeof(int)), v = me;
    shmem_putmem(a, &v, sizeof v, right_pe());
    shmem_barrier_all();
    CHECK_EQ(*a, left_pe());
    CHECK_EQ(shmem_long_atomic_swap(&word, me, right_pe()), -1);
    CHECK_EQ(shmem_double_sum_reduce(SHMEM_TEAM_WORLD, &sum, &one, 1), 0);
    CHECK_EQ(sum, npes);
    CHECK_EQ(word, left_pe());
    // A call that is not redefined does not go through those that are.
    shmem_int_put(a, &v, 1, me);
    shmem_sync_all();
    shmem_free(a);
    CHECK_EQ(inits_seen, 1);
    CHECK_EQ(puts_seen, 1);
    CHECK_EQ(barriers_seen, 1);
    CHECK_EQ(swaps_seen, 1);
    CHECK_EQ(reductions_seen, 1);
    CHECK_EQ(mallocs_seen, 1);
    CHECK_EQ(pshmem_my_pe(), me);
    CHECK_EQ(pshmem_n_pes(), npes);
    return check_done();
}
