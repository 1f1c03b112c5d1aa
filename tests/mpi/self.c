// SPDX-License-Identifier: BSD-3-Clause
// PES: 1 2
// Messages to oneself, without threads. A cancel that comes too late does not meet the next message,
// whose request may be where the cancelled one's was.
#include "self.h"

static void exchange(int tag)
{
    int out = tag, in = -1;
    MPI_Request r, s;
    OK(MPI_Irecv(&in, 1, MPI_INT, 0, tag, MPI_COMM_SELF, &r));
    OK(MPI_Issend(&out, 1, MPI_INT, 0, tag, MPI_COMM_SELF, &s));
    OK(MPI_Wait(&s, MPI_STATUS_IGNORE));
    OK(MPI_Wait(&r, MPI_STATUS_IGNORE));
    CHECK_EQ(in, tag);
}

// Where the library looks at what has come differs with the number of messages before.
static void cancelled_late(int before)
{
    int out = 5, in = -1, is_there = 0;
    MPI_Request matched, cancelled, next;
    for (int i = 0; i < before; i++)
        exchange(3);
    OK(MPI_Irecv(&in, 1, MPI_INT, 0, 1, MPI_COMM_SELF, &matched));
    OK(MPI_Issend(&out, 1, MPI_INT, 0, 1, MPI_COMM_SELF, &cancelled));
    OK(MPI_Cancel(&cancelled));
    OK(MPI_Wait(&cancelled, MPI_STATUS_IGNORE));
    OK(MPI_Issend(&out, 1, MPI_INT, 0, 2, MPI_COMM_SELF, &next));
    for (int i = 0; i < 20; i++)
        OK(MPI_Iprobe(0, 77, MPI_COMM_SELF, &is_there, MPI_STATUS_IGNORE));
    OK(MPI_Iprobe(0, 2, MPI_COMM_SELF, &is_there, MPI_STATUS_IGNORE));
    CHECK(is_there);
    if (is_there)
        OK(MPI_Recv(&in, 1, MPI_INT, 0, 2, MPI_COMM_SELF, MPI_STATUS_IGNORE));
    OK(MPI_Wait(&next, MPI_STATUS_IGNORE));
    OK(MPI_Wait(&matched, MPI_STATUS_IGNORE));
}

int main(void)
{
    mpi_start();
    uint64_t state = (uint64_t)me;
    for (int i = 0; i < ROUNDS; i++)
        burst(MPI_COMM_WORLD, &state);
    for (int i = 0; i < 64; i++)
        cancelled_late(i % 16);
    return mpi_done();
}
