// SPDX-License-Identifier: BSD-3-Clause
// With SHOAL_MPI_ASYNC_PROGRESS what waits in the library needs nobody else there: while the other ranks
// compute, and call nothing, messages to receives from any source, of any layout, get there, and so do
// their answers; and collectives of messages go on.
// PES: 2 4
// ENV: SHOAL_MPI_ASYNC_PROGRESS=1
#include "computes.h"

enum { SHORT = 100 };

// Those who compute have sent to rank 0.
static void sends(int n)
{
    MPI_Request r;
    turn++;
    if (me == 0) {
        for (int i = 1; i < npes; i++) {
            memset(in, 0, (size_t)n);
            OK(MPI_Recv(in, n, MPI_BYTE, MPI_ANY_SOURCE, 1, MPI_COMM_WORLD, MPI_STATUS_IGNORE));
            CHECK_MEM(in, out, (size_t)n, "data");
        }
        says();
        return;
    }
    OK(MPI_Isend(out, n, MPI_BYTE, 0, 1, MPI_COMM_WORLD, &r));
    computes();
    OK(MPI_Wait(&r, MPI_STATUS_IGNORE));
}

int main(void)
{
    MPI_Comm comm;
    int level = -1;
    mpi_start();
    computes_start();
    OK(MPI_Query_thread(&level));
    CHECK_EQ(level, MPI_THREAD_SINGLE);
    OK(MPI_Comm_dup(MPI_COMM_WORLD, &comm));
    static const int lengths[] = {0, SHORT, 100000, LONG};
    for (int i = 0; i < 4; i++) {
        receives(lengths[i], 0, 7, false);
        receives(lengths[i], MPI_ANY_SOURCE, MPI_ANY_TAG, false);
        sends(lengths[i]);
        collective(comm);
    }
    receives(LONG, MPI_ANY_SOURCE, 7, true);
    OK(MPI_Comm_free(&comm));
    shmem_finalize();
    return mpi_done();
}
