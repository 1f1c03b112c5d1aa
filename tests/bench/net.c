// SPDX-License-Identifier: BSD-3-Clause
// PES: none
// Between two nodes. With two PEs: PE 0 moves data to PE 1, which waits in a barrier. With four, two
// on each node: the barrier.
#include "bench.h"

#include <shmem.h>

enum { LARGE = 1 << 20, TRIPS = 50, MANY = 20000, WORDS = 1024 };

static void words(long *at)
{
    double least;
    volatile long sink;
    long one = 1;
    FASTEST(least, BATCHES, TRIPS, shmem_putmem(at, &one, 8, 1); shmem_quiet());
    figure("net_put_8", -1, least / 1e3, "us");
    FASTEST(least, BATCHES, TRIPS, shmem_getmem(&one, at, 8, 1));
    figure("net_get_8", -1, least / 1e3, "us");
    FASTEST(least, BATCHES, TRIPS, sink = shmem_long_atomic_fetch_add(at, 1, 1));
    figure("net_fetch_add", -1, least / 1e3, "us");
    (void)sink;
}

static void rates(long *at)
{
    double least;
    static long one = 1;
    FASTEST(least, BATCHES / 8, 1,
            for (int k = 0; k < MANY; k++) shmem_putmem_nbi(at + (k & (WORDS - 1)), &one, 8, 1);
            shmem_quiet());
    figure("net_put_nbi_rate", -1, MANY * 1e3 / least, "M/s");
    FASTEST(least, BATCHES / 8, 1,
            for (int k = 0; k < MANY / 4; k++) shmem_long_atomic_inc(at + (k & (WORDS - 1)), 1);
            shmem_quiet());
    figure("net_inc_rate", -1, MANY / 4 * 1e3 / least, "M/s");
}

static void bandwidth(char *there, char *here)
{
    double least;
    FASTEST(least, BATCHES, 4, shmem_putmem(there, here, LARGE, 1); shmem_quiet());
    figure("net_put", LARGE, LARGE / least, "GB/s");
    FASTEST(least, BATCHES, 4, shmem_getmem(here, there, LARGE, 1));
    figure("net_get", LARGE, LARGE / least, "GB/s");
}

static void barrier(int me, int npes)
{
    double least;
    FASTEST(least, BATCHES, TRIPS, shmem_barrier_all());
    if (me == 0)
        figure("net_barrier", npes, least / 1e3, "us");
}

int main(void)
{
    shmem_init();
    int me = shmem_my_pe(), npes = shmem_n_pes();
    pin(npes == 2 ? me : me * 2 / npes); // a node's PEs share its core
    char *there = shmem_malloc(LARGE), *here = aligned_alloc(4096, LARGE);
    memset(there, 1, LARGE);
    memset(here, 2, LARGE);
    shmem_barrier_all();
    barrier(me, npes);
    if (npes == 2 && me == 0) {
        words((long *)there);
        bandwidth(there, here);
        rates((long *)there);
    }
    fflush(stdout);
    shmem_barrier_all();
    shmem_free(there);
    shmem_finalize();
    return 0;
}
