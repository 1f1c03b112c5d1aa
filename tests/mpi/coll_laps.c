// SPDX-License-Identifier: BSD-3-Clause
// A persistent collective and, more than a lap of their tags later, a nonblocking one: started in another
// order by each process, they do not meet.
// PES: 2
// NODES: 1
#include "mpi_check.h"

#if defined __SANITIZE_ADDRESS__ || defined __SANITIZE_THREAD__
enum { APART = 1000 };
#else
enum { APART = (1 << 23) - 1 };
#endif
enum { N = 3000 };

static void add(void *in, void *inout, int *n, MPI_Datatype *type)
{
    (void)type;
    for (int i = 0; i < *n; i++)
        ((int *)inout)[i] += ((int *)in)[i];
}

int main(void)
{
    static int ones[N], sums[N], hundreds[N], other_sums[N];
    int none[2] = {0, 0};
    MPI_Comm c;
    MPI_Op op;
    MPI_Request r[2], unused;
    mpi_start();
    OK(MPI_Comm_dup(MPI_COMM_WORLD, &c));
    OK(MPI_Op_create(add, 1, &op)); // of the program's: by messages
    for (int i = 0; i < N; i++) {
        ones[i] = 1;
        hundreds[i] = 100;
    }
    OK(MPI_Allreduce_init(ones, sums, N, MPI_INT, op, c, MPI_INFO_NULL, &r[0]));
    for (int i = 0; i < APART; i++) {
        OK(MPI_Alltoallv_init(NULL, none, none, MPI_INT, NULL, none, none, MPI_INT, c,
                              MPI_INFO_NULL, &unused));
        OK(MPI_Request_free(&unused));
    }
    if (me == 0)
        OK(MPI_Start(&r[0]));
    OK(MPI_Iallreduce(hundreds, other_sums, N, MPI_INT, op, c, &r[1]));
    if (me == 1)
        OK(MPI_Start(&r[0]));
    OK(MPI_Waitall(2, r, MPI_STATUSES_IGNORE));
    CHECK_EACH(i, N, sums[i], npes);
    CHECK_EACH(i, N, other_sums[i], 100 * npes);
    OK(MPI_Request_free(&r[0]));
    OK(MPI_Op_free(&op));
    OK(MPI_Comm_free(&c));
    return mpi_done();
}
