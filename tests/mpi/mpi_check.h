// SPDX-License-Identifier: BSD-3-Clause
// Checks for MPI programs: those of tests/check.h, with rank and size of MPI_COMM_WORLD as me and
// npes. mpi_start() and mpi_done() stand for check_start() and check_done().
#ifndef TESTS_MPI_CHECK_H
#define TESTS_MPI_CHECK_H

#include "../check.h"

#include <mpi.h>

#define OK(call) CHECK_EQ((call), MPI_SUCCESS)

static inline void mpi_start(void)
{
    OK(MPI_Init(NULL, NULL));
    OK(MPI_Comm_rank(MPI_COMM_WORLD, &me));
    OK(MPI_Comm_size(MPI_COMM_WORLD, &npes));
}

static inline int mpi_done(void)
{
    OK(MPI_Finalize());
    unsigned failed = __atomic_load_n(&check_failures, __ATOMIC_RELAXED);
    return failed > 0;
}

// The class of an error code.
static inline int class_of(int error)
{
    int class = -1;
    MPI_Error_class(error, &class);
    return class;
}

#endif
