// SPDX-License-Identifier: BSD-3-Clause
// PES: none
// Collectives that move data, one after the other without a pause; all PEs, normally two.
#include "lines.h"

#include "coll_calls.h"

enum { LARGEST = 65536 };

struct buffers {
    long *dest, *src; // LARGEST bytes a PE
};

static long repeats(size_t bytes)
{
    return bytes <= 4096 ? 100 : 20;
}

static void report(const char *key, size_t bytes, double least)
{
    if (shmem_my_pe() == 0)
        figure(key, (long)bytes, least, "ns");
}

static void sums(struct buffers b, size_t bytes)
{
    size_t n = bytes / sizeof(long);
    double least;
    FASTEST(least, BATCHES, repeats(bytes), all_sum_long(b.dest, b.src, n));
    report("sum_long", bytes, least);
    FASTEST(least, BATCHES, repeats(bytes), all_sum_double((double *)b.dest, (double *)b.src, n));
    report("sum_double", bytes, least);
    // As programs use it: the operands were just written, the result is read.
    double used, fresh;
    FASTEST(fresh, BATCHES, repeats(bytes), memset(b.src, (int)i, bytes); forget();
            if (memchr(b.dest, 255, bytes)) forget());
    FASTEST(used, BATCHES, repeats(bytes), memset(b.src, (int)i, bytes);
            all_sum_long(b.dest, b.src, n); if (memchr(b.dest, 255, bytes)) forget());
    report("sum_long_used", bytes, used - fresh);
}

// Roots take turns, so that no root runs ahead of the others.
static void moves(struct buffers b, size_t bytes)
{
    size_t n = bytes / sizeof(long), share = n / (size_t)shmem_n_pes();
    int npes = shmem_n_pes();
    double least;
    FASTEST(least, BATCHES, repeats(bytes), all_broadcast(b.dest, b.src, n, (int)(i % npes)));
    report("broadcast", bytes, least);
    FASTEST(least, BATCHES, repeats(bytes), all_fcollect(b.dest, b.src, n));
    report("fcollect", bytes, least);
    FASTEST(least, BATCHES, repeats(bytes), all_alltoall(b.dest, b.src, share ? share : 1));
    report("alltoall", bytes, least);
}

static void allocate(void)
{
    double least;
    FASTEST(least, BATCHES, 100, shmem_free(shmem_malloc(1000)));
    if (shmem_my_pe() == 0)
        figure("malloc_free", -1, least, "ns");
}

// One line from core to core by plain loads and stores; the median batch, as in sync.c.
static void distance(int cores)
{
    int me = shmem_my_pe();
    struct lines *lines = shmem_align(LINE, sizeof *lines);
    uint64_t seq = 0;
    double ns[BATCHES];
    memset(lines, 0, sizeof *lines);
    shmem_barrier_all();
    if (cores > 1 && shmem_n_pes() == 2 && shmem_ptr(lines, !me)) {
        for (int i = 0; i < BATCHES; i++)
            ns[i] = line_one_way(shmem_ptr(lines, 0), me, false, &seq);
        qsort(ns, BATCHES, sizeof *ns, ascending);
        if (me == 0)
            figure("one_line", -1, ns[BATCHES / 2], "ns");
    }
    shmem_barrier_all();
    shmem_free(lines);
}

int main(void)
{
    shmem_init();
    int cores = pin(shmem_my_pe());
    coll_begin();
    distance(cores);
    size_t npes = (size_t)shmem_n_pes();
    struct buffers b = {shmem_align(4096, LARGEST * npes), shmem_align(4096, LARGEST)};
    memset(b.dest, 0, LARGEST * npes);
    memset(b.src, 0, LARGEST);
    shmem_barrier_all();
    sums(b, LARGEST);
    for (size_t bytes = 8; bytes <= LARGEST; bytes = bytes == 8 ? 4096 : bytes * 16)
        moves(b, bytes);
    allocate();
    fflush(stdout);
    shmem_barrier_all();
    shmem_free(b.src);
    shmem_free(b.dest);
    shmem_finalize();
    return 0;
}
