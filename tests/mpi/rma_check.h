// SPDX-License-Identifier: BSD-3-Clause
// What the tests of windows share.
#ifndef TESTS_MPI_RMA_CHECK_H
#define TESTS_MPI_RMA_CHECK_H

#include "mpi_check.h"

// Are all ranks on one node? Collective.
static inline bool one_node(void)
{
    MPI_Comm node;
    int n, all;
    OK(MPI_Comm_split_type(MPI_COMM_WORLD, MPI_COMM_TYPE_SHARED, 0, MPI_INFO_NULL, &node));
    OK(MPI_Comm_size(node, &n));
    OK(MPI_Comm_free(&node));
    OK(MPI_Allreduce(&n, &all, 1, MPI_INT, MPI_MIN, MPI_COMM_WORLD));
    return all == npes;
}

// So many times on a node, fewer between nodes, where a call takes a thousand times as long.
static inline int fewer(int times)
{
    return one_node() ? times : 1 + times / 10;
}

#endif
