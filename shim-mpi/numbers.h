// SPDX-License-Identifier: BSD-3-Clause
// An argument that is an array of counts or displacements, as the user gives it.
#ifndef SHOAL_MPI_NUMBERS_H
#define SHOAL_MPI_NUMBERS_H

#include <mpi.h>
#include <stdbool.h>

struct numbers {
    const void *at; // NULL: none
    bool is_large;  // of MPI_Count, or of MPI_Aint, which is the same, else of int
};
_Static_assert(sizeof(MPI_Aint) == sizeof(MPI_Count), "displacements are read as counts");

static inline MPI_Count number_at(struct numbers n, MPI_Count i)
{
    return n.is_large ? ((const MPI_Count *)n.at)[i] : ((const int *)n.at)[i];
}

static inline struct numbers ints_of(const int *at)
{
    return (struct numbers){.at = at};
}

static inline struct numbers counts_of(const MPI_Count *at)
{
    return (struct numbers){.at = at, .is_large = true};
}

#endif
