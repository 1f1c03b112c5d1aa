// SPDX-License-Identifier: BSD-3-Clause
// Collectives over all PEs in one spelling: teams where the library has them (OpenSHMEM 1.5),
// active sets before. The old calls take turns with four pSync arrays and two pWrk.
#ifndef BENCH_COLL_CALLS_H
#define BENCH_COLL_CALLS_H

#include <shmem.h>

#if SHMEM_MAJOR_VERSION > 1 || SHMEM_MINOR_VERSION >= 5
#define HAVE_TEAMS 1
#else
#define HAVE_TEAMS 0
#endif

#if HAVE_TEAMS

static inline void coll_begin(void)
{
}
static inline void all_sum_long(long *dest, long *src, size_t n)
{
    shmem_long_sum_reduce(SHMEM_TEAM_WORLD, dest, src, n);
}
static inline void all_sum_double(double *dest, double *src, size_t n)
{
    shmem_double_sum_reduce(SHMEM_TEAM_WORLD, dest, src, n);
}
static inline void all_broadcast(long *dest, long *src, size_t n, int root)
{
    shmem_long_broadcast(SHMEM_TEAM_WORLD, dest, src, n, root);
}
static inline void all_fcollect(long *dest, long *src, size_t n)
{
    shmem_long_fcollect(SHMEM_TEAM_WORLD, dest, src, n);
}
static inline void all_alltoall(long *dest, long *src, size_t n)
{
    shmem_long_alltoall(SHMEM_TEAM_WORLD, dest, src, n);
}

#else

enum { PSYNCS = 4, PSYNC_WORDS = 1024, PWRK_WORDS = 32768 };
static long psyncs[PSYNCS][PSYNC_WORDS];
static long pwrk[2][PWRK_WORDS];
static unsigned calls;

static inline void coll_begin(void)
{
    for (int i = 0; i < PSYNCS; i++)
        for (int j = 0; j < PSYNC_WORDS; j++)
            psyncs[i][j] = SHMEM_SYNC_VALUE;
    shmem_barrier_all();
}
static inline long *psync(void)
{
    return psyncs[calls++ % PSYNCS];
}
static inline void all_sum_long(long *dest, long *src, size_t n)
{
    long *sync = psync();
    shmem_long_sum_to_all(dest, src, (int)n, 0, 0, shmem_n_pes(), pwrk[calls & 1], sync);
}
static inline void all_sum_double(double *dest, double *src, size_t n)
{
    long *sync = psync();
    shmem_double_sum_to_all(dest, src, (int)n, 0, 0, shmem_n_pes(), (double *)pwrk[calls & 1],
                            sync);
}
static inline void all_broadcast(long *dest, long *src, size_t n, int root)
{
    shmem_broadcast64(dest, src, n, root, 0, 0, shmem_n_pes(), psync());
}
static inline void all_fcollect(long *dest, long *src, size_t n)
{
    shmem_fcollect64(dest, src, n, 0, 0, shmem_n_pes(), psync());
}
static inline void all_alltoall(long *dest, long *src, size_t n)
{
    shmem_alltoall64(dest, src, n, 0, 0, shmem_n_pes(), psync());
}

#endif
#endif
