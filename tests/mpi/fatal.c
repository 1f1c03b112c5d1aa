// SPDX-License-Identifier: BSD-3-Clause
// NODES: 1
// An error under MPI_ERRORS_ARE_FATAL ends the job with the class as its status. With an argument: another
// one, of a communicator with a name (abort.sh).
// PES: 3
// EXIT: 6
#include "mpi_check.h"

int main(int argc, char **argv)
{
    int value, flag;
    MPI_Comm c;
    (void)argv;
    mpi_start();
    if (argc > 1) {
        OK(MPI_Comm_dup(MPI_COMM_WORLD, &c));
        OK(MPI_Comm_set_name(c, "rows"));
        if (me == 2)
            MPI_Comm_get_attr(c, 12345, &value, &flag);
        MPI_Barrier(c);
    }
    if (me == 1)
        MPI_Send(&me, 1, MPI_INT, 17, 0, MPI_COMM_WORLD);
    MPI_Barrier(MPI_COMM_WORLD);
    return 0;
}
