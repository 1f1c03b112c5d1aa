// SPDX-License-Identifier: BSD-3-Clause
// More than the symmetric memory has: MPI_Win_allocate takes private memory, for as many as need it,
// and MPI_Win_allocate_shared fails for all; afterwards what is there is given as before.
// PES: 2
// ENV: SHMEM_SYMMETRIC_SIZE=8M
#include "rma_check.h"

enum { LARGE = 64 << 20, SMALL = 64 };

static void accumulate(MPI_Win win, int rank, MPI_Aint disp)
{
    const long one = 1;
    OK(MPI_Accumulate(&one, 1, MPI_LONG, rank, disp, 1, MPI_LONG, MPI_SUM, win));
}

// Rank 0's memory is private, that of the others is shared as ever.
static void allocated(void)
{
    MPI_Win win;
    MPI_Aint size = me == 0 ? LARGE : SMALL, n;
    long *p, *other, at = size / (MPI_Aint)sizeof *p - 1;
    int unit;
    OK(MPI_Win_allocate(size, sizeof *p, MPI_INFO_NULL, MPI_COMM_WORLD, &p, &win));
    p[at] = 0;
    OK(MPI_Barrier(MPI_COMM_WORLD));
    OK(MPI_Win_lock_all(0, win));
    accumulate(win, 0, LARGE / (MPI_Aint)sizeof *p - 1);
    for (int r = 1; r < npes; r++)
        accumulate(win, r, SMALL / sizeof *p - 1);
    OK(MPI_Win_unlock_all(win));
    OK(MPI_Barrier(MPI_COMM_WORLD));
    CHECK_EQ(p[at], npes);
    OK(MPI_Win_shared_query(win, 0, &n, &unit, &other));
    CHECK(me == 0 ? n == LARGE && other == p : n == 0 && other == NULL);
    OK(MPI_Win_free(&win));
}

static void allocated_shared(void)
{
    MPI_Comm node;
    MPI_Info apart;
    MPI_Win win = MPI_WIN_NULL;
    long *p;
    int rank;
    OK(MPI_Comm_split_type(MPI_COMM_WORLD, MPI_COMM_TYPE_SHARED, 0, MPI_INFO_NULL, &node));
    OK(MPI_Comm_rank(node, &rank));
    OK(MPI_Comm_set_errhandler(node, MPI_ERRORS_RETURN));
    OK(MPI_Info_create(&apart));
    for (int i = 0; i < 2; i++) {
        OK(MPI_Info_set(apart, "alloc_shared_noncontig", i ? "true" : "false"));
        int error = MPI_Win_allocate_shared(rank == 0 ? LARGE : SMALL, sizeof *p, apart, node, &p,
                                            &win);
        CHECK_EQ(class_of(error), MPI_ERR_NO_MEM);
        CHECK(win == MPI_WIN_NULL);
    }
    OK(MPI_Win_allocate_shared(SMALL, sizeof *p, apart, node, &p, &win));
    OK(MPI_Win_free(&win));
    OK(MPI_Info_free(&apart));
    OK(MPI_Comm_free(&node));
}

int main(void)
{
    mpi_start();
    for (int i = 0; i < 3; i++) {
        allocated();
        allocated_shared();
    }
    return mpi_done();
}
