// SPDX-License-Identifier: BSD-3-Clause
// What the OpenSHMEM examples share: options, of which PE 0 speaks, memory, and one verdict for all
// PEs.

#ifndef EXAMPLE_H
#define EXAMPLE_H

#include "example_base.h"

#include <shmem.h>

// Reads the command line. Returns EXAMPLE_RUN, or the status to exit with; PE 0 prints.
static inline int example_options(int argc, char **argv, const char *what,
                                  const struct example_option *table)
{
    return example_read_options(argc, argv, what, table, shmem_my_pe() == 0);
}

// Memory of this PE alone, zeroed. A program that cannot have its memory ends on all PEs.
static inline void *example_local(size_t count, size_t size)
{
    void *p = calloc(count ? count : 1, size);
    if (!p) {
        fprintf(stderr, "PE %d: no memory for %zu bytes\n", shmem_my_pe(), count * size);
        shmem_global_exit(1);
    }
    return p;
}

// Symmetric memory, zeroed. Collective.
static inline void *example_alloc(size_t count, size_t size)
{
    void *p = shmem_calloc(count ? count : 1, size);
    if (!p) {
        fprintf(stderr, "PE %d: no symmetric memory for %zu bytes\n", shmem_my_pe(), count * size);
        shmem_global_exit(1);
    }
    return p;
}

// The largest of all PEs' values. Collective.
static inline long example_max(long mine)
{
    static long from, to;
    from = mine;
    shmem_long_max_reduce(SHMEM_TEAM_WORLD, &to, &from, 1);
    return to;
}

// The sum of all PEs' values. Collective.
static inline uint64_t example_sum(uint64_t mine)
{
    static uint64_t from, to;
    from = mine;
    shmem_uint64_sum_reduce(SHMEM_TEAM_WORLD, &to, &from, 1);
    return to;
}

// Whether any PE found a fault (a text; NULL is none). The first that did prints it. Collective.
static inline bool example_fault(const char *program, const char *fault)
{
    int me = shmem_my_pe(), npes = shmem_n_pes();
    long first = npes - example_max(fault ? npes - me : 0);
    if (first == me)
        printf("%s: PE %d %s\n", program, me, fault);
    return first < npes;
}

#endif
