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
    mpi_start();
    if (argc > 1) {
        OK(MPI_Comm_dup(MPI_COMM_WORLD, &c));
        OK(MPI_Comm_set_name(c, "rows"));
        if (me == 2 && strcmp(argv[1], "keyval") == 0)
            MPI_Comm_get_attr(c, 12345, &value, &flag);
        int two[2] = {0};
        if (me < 2 && strcmp(argv[1], "waitall") == 0) {
            MPI_Request r;
            if (me == 0)
                OK(MPI_Isend(two, 2, MPI_INT, 1, 0, c, &r));
            else
                OK(MPI_Irecv(two, 1, MPI_INT, 0, 0, c, &r));
            MPI_Waitall(1, &r, MPI_STATUSES_IGNORE);
        }
        if (me == 0 && (strcmp(argv[1], "recv") == 0 || strcmp(argv[1], "wait") == 0))
            MPI_Send(two, 2, MPI_INT, 1, 3, c);
        if (me == 1 && strcmp(argv[1], "recv") == 0) {
            MPI_Status s;
            MPI_Recv(two, 1, MPI_INT, MPI_ANY_SOURCE, MPI_ANY_TAG, c, &s);
        }
        if (me == 1 && strcmp(argv[1], "wait") == 0) {
            MPI_Request r;
            OK(MPI_Irecv(two, 1, MPI_INT, MPI_ANY_SOURCE, MPI_ANY_TAG, c, &r));
            MPI_Wait(&r, MPI_STATUS_IGNORE);
        }
        MPI_Barrier(c);
    }
    if (me == 1)
        MPI_Send(&me, 1, MPI_INT, 17, 0, MPI_COMM_WORLD);
    MPI_Barrier(MPI_COMM_WORLD);
    return 0;
}
