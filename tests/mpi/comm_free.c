// SPDX-License-Identifier: BSD-3-Clause
// MPI_Comm_free waits for nobody, also of communicators that have done many short collectives: in
// orders that differ between the processes, with a process that frees late, with requests pending,
// by some of the processes only, and over and over.
// PES: 2 4 7
#include "mpi_check.h"

enum { SHORT_ONES = 9, TURNS = 280 };

static MPI_Comm used(void)
{
    MPI_Comm c;
    OK(MPI_Comm_dup(MPI_COMM_WORLD, &c));
    for (int i = 0; i < SHORT_ONES; i++)
        OK(MPI_Barrier(c));
    return c;
}

static void crossed(void)
{
    MPI_Comm c[2] = {used(), used()};
    OK(MPI_Comm_free(&c[me % 2]));
    OK(MPI_Comm_free(&c[1 - me % 2]));
}

static void late(void)
{
    MPI_Comm c = used();
    int last = npes - 1, word = 0;
    if (me == 0) {
        OK(MPI_Comm_free(&c));
        OK(MPI_Send(&word, 1, MPI_INT, last, 0, MPI_COMM_WORLD));
    } else if (me == last) {
        OK(MPI_Recv(&word, 1, MPI_INT, 0, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE));
    }
    if (me)
        OK(MPI_Comm_free(&c));
}

static void pending(void)
{
    MPI_Comm c = used();
    MPI_Request r[2];
    int sum = 0, last = me == npes - 1 ? 5 : 0;
    OK(MPI_Iallreduce(&me, &sum, 1, MPI_INT, MPI_SUM, c, &r[0]));
    OK(MPI_Ibcast(&last, 1, MPI_INT, npes - 1, c, &r[1]));
    OK(MPI_Bcast(&npes, 1, MPI_INT, 0, c)); // its root may be ahead
    OK(MPI_Comm_free(&c));
    crossed();
    OK(MPI_Waitall(2, r, MPI_STATUSES_IGNORE));
    CHECK(sum == npes * (npes - 1) / 2 && last == 5);
}

// More than the runtime has teams; the last ones are as quick as the first.
static void over_and_over(void)
{
    unsigned long long before = 0, after = 0;
    struct counter shorts = counter_start("coll_short");
    for (int i = 0; i < TURNS; i++) {
        int sum = 0;
        before = counter_read(&shorts);
        MPI_Comm c = used();
        OK(MPI_Allreduce(&i, &sum, 1, MPI_INT, MPI_SUM, c));
        after = counter_read(&shorts);
        CHECK_EQ(sum, i * npes);
        OK(MPI_Comm_free(&c));
    }
    CHECK(after - before > 1);
    counter_end(&shorts);
}

int main(void)
{
    mpi_start();
    MPI_Comm some = used(), kept = used();
    if (me == 0)
        OK(MPI_Comm_free(&some));
    crossed();
    late();
    pending();
    over_and_over();
    CHECK(kept != MPI_COMM_NULL);
    return mpi_done();
}
