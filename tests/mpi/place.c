// SPDX-License-Identifier: BSD-3-Clause
// A grid that may be reordered is laid out so that fewer neighbours are on other nodes.
// PES: 8
// NODES: 1
// ENV: SHOAL_VNODES=2
#include "mpi_check.h"

// Neighbours on another node, of all processes.
static int far_neighbors(MPI_Comm grid, int node)
{
    int far = 0, all = 0;
    for (int d = 0; d < 2; d++) {
        int up, down, got = node;
        OK(MPI_Cart_shift(grid, d, 1, &up, &down));
        OK(MPI_Sendrecv(&node, 1, MPI_INT, down, 0, &got, 1, MPI_INT, up, 0, grid,
                        MPI_STATUS_IGNORE));
        far += got != node;
    }
    OK(MPI_Allreduce(&far, &all, 1, MPI_INT, MPI_SUM, grid));
    return all;
}

int main(void)
{
    mpi_start();
    MPI_Comm node, plain, placed;
    int size, first = me, dims[2] = {2, 4}, open[2] = {0, 0};
    OK(MPI_Comm_split_type(MPI_COMM_WORLD, MPI_COMM_TYPE_SHARED, 0, MPI_INFO_NULL, &node));
    OK(MPI_Comm_size(node, &size));
    OK(MPI_Bcast(&first, 1, MPI_INT, 0, node));
    OK(MPI_Comm_free(&node));
    if (size != 4) {
        OK(MPI_Finalize());
        check_skip("the processes are not on two nodes");
    }
    OK(MPI_Cart_create(MPI_COMM_WORLD, 2, dims, open, 0, &plain));
    OK(MPI_Cart_create(MPI_COMM_WORLD, 2, dims, open, 1, &placed));
    CHECK_EQ(far_neighbors(plain, first), 4);
    CHECK_EQ(far_neighbors(placed, first), 2);
    OK(MPI_Comm_free(&plain));
    OK(MPI_Comm_free(&placed));
    return mpi_done();
}
