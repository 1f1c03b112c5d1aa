// SPDX-License-Identifier: BSD-3-Clause
// PES: none
// What a PE of a running job holds, the largest PE's, in kB: at start, after a put to its neighbour,
// after a sum over all, and after an atomic of every PE to all. make scale runs it.
#include "../proc.h"

#include <shmem.h>

#include <sys/stat.h>

static void look(const char *when)
{
    static long own[3], most[3];
    struct stat at = {0};
    const char *fd = getenv("SHOAL_JOB");
    shmem_barrier_all();
    own[0] = proc_kb("/proc/self/smaps_rollup", "Private_Dirty:");
    own[1] = proc_kb("/proc/self/status", "VmPTE:");
    if (fd && fstat(atoi(fd), &at) == 0)
        own[2] = at.st_blocks / 2 / shmem_n_pes();
    shmem_barrier_all();
    if (shmem_my_pe() == 0)
        for (int pe = 0; pe < shmem_n_pes(); pe++) {
            long its[3];
            shmem_long_get(its, own, 3, pe);
            for (int i = 0; i < 3; i++)
                most[i] = its[i] > most[i] ? its[i] : most[i];
        }
    if (shmem_my_pe() == 0)
        printf("%4d  %-10s own %6ld  tables %5ld  file/PE %5ld\n", shmem_n_pes(), when, most[0],
               most[1], most[2]);
    shmem_barrier_all();
}

int main(void)
{
    static long word, sum, one = 1;
    shmem_init();
    int me = shmem_my_pe(), n = shmem_n_pes();
    look("start");
    shmem_long_p(&word, me, (me + 1) % n);
    look("neighbour");
    shmem_long_sum_reduce(SHMEM_TEAM_WORLD, &sum, &one, 1);
    look("sum");
    for (int pe = 0; pe < n; pe++)
        shmem_long_atomic_add(&word, 1, pe);
    look("to all");
    shmem_finalize();
    return sum == n ? 0 : 1;
}
