// SPDX-License-Identifier: BSD-3-Clause
// One program that calls MPI and OpenSHMEM, whichever is initialized first: the same processes under
// the same numbers, and both make progress while the other waits.
#include "mpi_check.h"

static long word;

int main(void)
{
    int first = -1, flag = 0;
    shmem_init();
    first = shmem_my_pe();
    shmem_finalize();
    OK(MPI_Init(NULL, NULL));
    shmem_init();
    OK(MPI_Comm_rank(MPI_COMM_WORLD, &me));
    OK(MPI_Comm_size(MPI_COMM_WORLD, &npes));
    CHECK_EQ(shmem_my_pe(), me);
    CHECK_EQ(shmem_n_pes(), npes);
    CHECK_EQ(first, me);
    int right = (me + 1) % npes, left = (me - 1 + npes) % npes, got = -1;
    MPI_Request r;
    OK(MPI_Irecv(&got, 1, MPI_INT, left, 1, MPI_COMM_WORLD, &r));
    shmem_long_p(&word, me + 1, right);
    shmem_long_wait_until(&word, SHMEM_CMP_EQ, left + 1);
    OK(MPI_Ssend(&me, 1, MPI_INT, right, 1, MPI_COMM_WORLD)); // needs the other's receive
    OK(MPI_Wait(&r, MPI_STATUS_IGNORE));
    CHECK_EQ(got, left);
    // A collective of MPI goes on while its process waits in OpenSHMEM.
    int sum = -1;
    OK(MPI_Iallreduce(&me, &sum, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD, &r));
    if (me == 0)
        shmem_barrier_all();
    OK(MPI_Wait(&r, MPI_STATUS_IGNORE));
    if (me != 0)
        shmem_barrier_all();
    CHECK_EQ(sum, npes * (npes - 1) / 2);
    shmem_finalize();
    OK(MPI_Initialized(&flag));
    CHECK(flag);
    OK(MPI_Barrier(MPI_COMM_WORLD));
    return mpi_done();
}
