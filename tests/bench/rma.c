// SPDX-License-Identifier: BSD-3-Clause
// PES: none
// Data movement from PE 0 to PE 1, which waits in a barrier: the cost of one call, and bandwidth
// beside memcpy to the same place in the same loop.
#include "bench.h"

#include <shmem.h>

enum { WORDS = 64, LARGEST = 4 << 20 };

static void words(long *at)
{
    double least;
    volatile long sink;
    long one = 1;
    FASTEST(least, BATCHES, 10000, shmem_long_p(at + (i & (WORDS - 1)), i, 1));
    figure("p", -1, least, "ns");
    FASTEST(least, BATCHES, 10000, sink = shmem_long_g(at + (i & (WORDS - 1)), 1));
    figure("g", -1, least, "ns");
    FASTEST(least, BATCHES, 10000, shmem_putmem(at + (i & (WORDS - 1)), &one, 8, 1));
    figure("put_8", -1, least, "ns");
    FASTEST(least, BATCHES, 10000, shmem_getmem(&one, at + (i & (WORDS - 1)), 8, 1));
    figure("get_8", -1, least, "ns");
    FASTEST(least, BATCHES, 10000, shmem_putmem_nbi(at + (i & (WORDS - 1)), &one, 8, 1);
            if (i == 9999) shmem_quiet());
    figure("put_nbi_rate", -1, 1e3 / least, "M/s");
    (void)sink;
}

static void atomics(long *at)
{
    double least;
    volatile long sink;
    FASTEST(least, BATCHES, 5000, sink = shmem_long_atomic_fetch_inc(at, 1));
    figure("fetch_inc", -1, least, "ns");
    long value = 0; // what the word holds: every exchange succeeds
    shmem_long_p(at, 0, 1);
    shmem_quiet();
    FASTEST(least, BATCHES, 5000,
            value += shmem_long_atomic_compare_swap(at, value, value + 1, 1) == value);
    if (shmem_long_g(at, 1) != BATCHES * 5000L)
        abort();
    figure("cswap", -1, least, "ns");
    FASTEST(least, BATCHES, 5000, shmem_long_atomic_inc(at, 1));
    figure("inc", -1, least, "ns");
    (void)sink;
}

// Batches of put, memcpy and get take turns, so that all meet the same disturbances.
static void bandwidth(char *there, char *here, size_t n)
{
    char *direct = shmem_ptr(there, 1); // NULL where the peer has none
    long times = n < 65536 ? 1000 : n < 1 << 20 ? 50 : 1;
    double put = 0, get = 0, copy = 0, least;
    for (int round = 0; round < BATCHES; round++) {
        FASTEST(least, 1, times, shmem_putmem(there, here, n, 1));
        keep_least(&put, least);
        if (direct) {
            FASTEST(least, 1, times, memcpy(direct, here, hidden(n)));
            keep_least(&copy, least);
        }
    }
    for (int round = 0; round < BATCHES / 4; round++) {
        FASTEST(least, 1, times, shmem_getmem(here, there, n, 1));
        keep_least(&get, least);
    }
    figure("put", (long)n, (double)n / put, "GB/s");
    figure("get", (long)n, (double)n / get, "GB/s");
    if (copy > 0)
        figure("memcpy_at_peer", (long)n, (double)n / copy, "GB/s");
}

static void locks(long *lock)
{
    double least;
    FASTEST(least, BATCHES, 1000, shmem_set_lock(lock); shmem_clear_lock(lock));
    figure("lock", -1, least, "ns");
}

int main(void)
{
    shmem_init();
    pin(shmem_my_pe());
    char *there = shmem_malloc(LARGEST), *here = aligned_alloc(4096, LARGEST);
    long *lock = shmem_malloc(sizeof *lock);
    memset(there, 1, LARGEST);
    memset(here, 2, LARGEST);
    *lock = 0;
    shmem_barrier_all();
    if (shmem_my_pe() == 0) {
        shmem_putmem(there, here, LARGEST, 1);
        words((long *)there);
        atomics((long *)there);
        for (size_t n = 4096; n <= LARGEST; n *= n == 1 << 20 ? 4 : 16)
            bandwidth(there, here, n);
        locks(lock);
        fflush(stdout);
    }
    shmem_barrier_all();
    shmem_free(lock);
    shmem_free(there);
    shmem_finalize();
    return 0;
}
