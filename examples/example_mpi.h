// SPDX-License-Identifier: BSD-3-Clause
// What the MPI examples share: options, of which rank 0 speaks, memory, and one verdict for all
// ranks.

#ifndef EXAMPLE_MPI_H
#define EXAMPLE_MPI_H

#include "example_base.h"

#include <mpi.h>

static inline int example_rank(void)
{
    int rank;
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    return rank;
}

static inline int example_size(void)
{
    int size;
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    return size;
}

// Reads the command line. Returns EXAMPLE_RUN, or the status to exit with; rank 0 prints.
static inline int example_options(int argc, char **argv, const char *what,
                                  const struct example_option *table)
{
    return example_read_options(argc, argv, what, table, example_rank() == 0);
}

// Zeroed memory. A program that cannot have its memory ends on all ranks.
static inline void *example_alloc(size_t count, size_t size)
{
    void *p = calloc(count ? count : 1, size);
    if (!p) {
        fprintf(stderr, "rank %d: no memory for %zu bytes\n", example_rank(), count * size);
        MPI_Abort(MPI_COMM_WORLD, 1);
    }
    return p;
}

// Whether any rank found a fault (a text; NULL is none). Each that did prints it. Collective.
static inline bool example_fault(const char *program, const char *fault)
{
    int any = fault != NULL;
    if (fault)
        printf("%s: rank %d %s\n", program, example_rank(), fault);
    MPI_Allreduce(MPI_IN_PLACE, &any, 1, MPI_INT, MPI_LOR, MPI_COMM_WORLD);
    return any;
}

#endif
