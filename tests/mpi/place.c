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

// Far neighbours in the order that the processes have, and after reordering.
static void grid(int node, const int dims[2], const int periods[2], int plain, int placed)
{
    for (int reorder = 0; reorder < 2; reorder++) {
        MPI_Comm c;
        OK(MPI_Cart_create(MPI_COMM_WORLD, 2, dims, periods, reorder, &c));
        CHECK_EQ(far_neighbors(c, node), reorder ? placed : plain);
        OK(MPI_Comm_free(&c));
    }
}

int main(void)
{
    mpi_start();
    MPI_Comm node;
    int size, first = me;
    OK(MPI_Comm_split_type(MPI_COMM_WORLD, MPI_COMM_TYPE_SHARED, 0, MPI_INFO_NULL, &node));
    OK(MPI_Comm_size(node, &size));
    OK(MPI_Bcast(&first, 1, MPI_INT, 0, node));
    OK(MPI_Comm_free(&node));
    int nodes = npes == 8 ? 2 : 3;
    if (nodes * size != npes) {
        OK(MPI_Finalize());
        check_skip("the nodes do not have equally many processes");
    }
    if (npes == 8)
        grid(first, (int[]){2, 4}, (int[]){0, 0}, 4, 2);
    else // place.sh: blocks of 8 x 1 have the smallest faces, but the order as it is cuts fewer links
        grid(first, (int[]){8, 3}, (int[]){1, 0}, 11, 11);
    return mpi_done();
}
