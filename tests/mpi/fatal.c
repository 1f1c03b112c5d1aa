// SPDX-License-Identifier: BSD-3-Clause
// NODES: 1
// An error under MPI_ERRORS_ARE_FATAL ends the job with the class as its status.
// PES: 3
// EXIT: 6
#include "mpi_check.h"

int main(void)
{
    mpi_start();
    if (me == 1)
        MPI_Send(&me, 1, MPI_INT, 17, 0, MPI_COMM_WORLD);
    MPI_Barrier(MPI_COMM_WORLD);
    return 0;
}
