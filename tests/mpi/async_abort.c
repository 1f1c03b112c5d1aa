// SPDX-License-Identifier: BSD-3-Clause
// PES: none
// Rank 0 aborts while the others compute: what ends them is the launcher, or their own thread, but not the
// library's (async.sh).
#include "mpi_check.h"

#include <pthread.h>

static pthread_t program;

static void at_exit(void)
{
    if (!pthread_equal(program, pthread_self()))
        fprintf(stderr, "rank %d: its exit handlers run in another thread\n", me);
}

int main(void)
{
    program = pthread_self();
    atexit(at_exit);
    mpi_start();
    OK(MPI_Barrier(MPI_COMM_WORLD));
    if (me == 0)
        MPI_Abort(MPI_COMM_WORLD, 9);
    for (volatile int computes = 1; computes;)
        ;
    return mpi_done();
}
