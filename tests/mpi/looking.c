// SPDX-License-Identifier: BSD-3-Clause
// Programs that never wait but look again and again (MPI_Test, MPI_Testany, MPI_Testsome,
// MPI_Iprobe) get on where there are more PEs than cores: a message goes round all PEs in each of
// these ways. Were a PE that looks to keep its core to the end of its time slice, this would take
// minutes.
// PES: 2 16
#include "mpi_check.h"

enum { ROUNDS = 120, WAYS = 4 };

static int next, before;

// Receives one number from the PE before, looking for it in one of the ways.
static int look_for(int tag, int way)
{
    int got = -1, flag = 0, index;
    MPI_Request r = MPI_REQUEST_NULL;
    if (way == 3) {
        while (!flag)
            OK(MPI_Iprobe(before, tag, MPI_COMM_WORLD, &flag, MPI_STATUS_IGNORE));
        OK(MPI_Recv(&got, 1, MPI_INT, before, tag, MPI_COMM_WORLD, MPI_STATUS_IGNORE));
        return got;
    }
    OK(MPI_Irecv(&got, 1, MPI_INT, before, tag, MPI_COMM_WORLD, &r));
    while (!flag) {
        if (way == 0)
            OK(MPI_Test(&r, &flag, MPI_STATUS_IGNORE));
        else if (way == 1)
            OK(MPI_Testany(1, &r, &index, &flag, MPI_STATUS_IGNORE));
        else
            OK(MPI_Testsome(1, &r, &flag, &index, MPI_STATUSES_IGNORE));
    }
    return got;
}

int main(void)
{
    mpi_start();
    next = (me + 1) % npes;
    before = (me + npes - 1) % npes;
    for (int round = 0; round < ROUNDS && !check_failures; round++) {
        int way = round % WAYS, number = round;
        if (me > 0)
            number = look_for(round, way);
        CHECK_EQ(number, round + me);
        number++;
        OK(MPI_Send(&number, 1, MPI_INT, next, round, MPI_COMM_WORLD));
        if (me == 0)
            CHECK_EQ(look_for(round, way), round + npes);
    }
    return mpi_done();
}
