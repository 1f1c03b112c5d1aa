// SPDX-License-Identifier: BSD-3-Clause
// With MPI_THREAD_MULTIPLE long receives need nobody in the library, without a setting: while the other ranks
// compute, and call nothing, messages to receives from any source, of any layout, persistent and matched
// ones get there; and nonblocking collectives that are made of messages go on. Also where there have been
// none for a while, so that what sees to them sleeps.
// PES: 2 4
#include "computes.h"

#include <unistd.h>

enum { MIDDLE = 1 << 20 };

// Of a message that has been probed.
static void receives_matched(int n)
{
    MPI_Message message;
    MPI_Request r;
    turn++;
    if (me == 0) {
        for (int i = 1; i < npes; i++)
            OK(MPI_Ssend(out, n, MPI_BYTE, i, 7, MPI_COMM_WORLD));
        says();
        return;
    }
    memset(in, 0, (size_t)n);
    OK(MPI_Mprobe(0, 7, MPI_COMM_WORLD, &message, MPI_STATUS_IGNORE));
    OK(MPI_Imrecv(in, n, MPI_BYTE, &message, &r));
    computes();
    OK(MPI_Wait(&r, MPI_STATUS_IGNORE));
    CHECK_MEM(in, out, (size_t)n, "data");
}

// Sent by calls that leave the data where it is; the receive is persistent.
static void receives_again(int n)
{
    MPI_Request r;
    if (me > 0)
        OK(MPI_Recv_init(in, n, MPI_BYTE, MPI_ANY_SOURCE, 7, MPI_COMM_WORLD, &r));
    for (int again = 0; again < 3; again++) {
        turn++;
        if (me > 0) {
            memset(in, 0, (size_t)n);
            OK(MPI_Start(&r));
        }
        OK(MPI_Barrier(MPI_COMM_WORLD));
        for (int i = 1; me == 0 && i < npes; i++) {
            OK(MPI_Isend(out, n, MPI_BYTE, i, 7, MPI_COMM_WORLD, &r));
            OK(MPI_Wait(&r, MPI_STATUS_IGNORE));
        }
        if (me == 0) {
            says();
            continue;
        }
        computes();
        OK(MPI_Wait(&r, MPI_STATUS_IGNORE));
        CHECK_MEM(in, out, (size_t)n, "data");
    }
    if (me > 0)
        OK(MPI_Request_free(&r));
}

int main(void)
{
    int level = -1;
    OK(MPI_Init_thread(NULL, NULL, MPI_THREAD_MULTIPLE, &level));
    CHECK_EQ(level, MPI_THREAD_MULTIPLE);
    OK(MPI_Comm_rank(MPI_COMM_WORLD, &me));
    OK(MPI_Comm_size(MPI_COMM_WORLD, &npes));
    computes_start();
    for (int n = MIDDLE; n <= LONG; n += LONG - MIDDLE) {
        receives(n, 0, 7, false);
        receives(n, MPI_ANY_SOURCE, MPI_ANY_TAG, false);
        receives_matched(n);
        receives_again(n);
        usleep(100000);
        collective(MPI_COMM_WORLD);
    }
    receives(LONG, MPI_ANY_SOURCE, 7, true);
    shmem_finalize();
    return mpi_done();
}
