// SPDX-License-Identifier: BSD-3-Clause
// Locks against plain loads of memory that MPI_Win_shared_query gave, and a writer whom readers do not
// pass by for ever, though they hold locks of another window.
// TIMEOUT: 60
#include "rma_check.h"

enum { ASK_BEFORE, ASK_WITHIN };

// The first rank loads the last one's word twice within an epoch of MPI_Win_lock_all; nobody who locks
// exclusively gets in between.
static void loads(int when)
{
    MPI_Win win;
    int *p, *there = NULL, unit, word = 77, first = -1, second = -1, last = npes - 1;
    MPI_Aint size = 0;
    MPI_Request r = MPI_REQUEST_NULL;
    OK(MPI_Win_allocate(sizeof *p, 1, MPI_INFO_NULL, MPI_COMM_WORLD, &p, &win));
    *p = 0;
    OK(MPI_Barrier(MPI_COMM_WORLD));
    if (me == 0) {
        if (when == ASK_BEFORE)
            OK(MPI_Win_shared_query(win, last, &size, &unit, &there));
        OK(MPI_Win_lock_all(0, win));
        if (when == ASK_WITHIN)
            OK(MPI_Win_shared_query(win, last, &size, &unit, &there));
        first = size ? *(volatile int *)there : 0;
        OK(MPI_Isend(NULL, 0, MPI_INT, last, 0, MPI_COMM_WORLD, &r));
        for (double end = MPI_Wtime() + 0.05; MPI_Wtime() < end;)
            second = size ? *(volatile int *)there : 0;
        OK(MPI_Win_unlock_all(win));
        CHECK(first == 0 && second == 0);
    }
    if (me == last) {
        OK(MPI_Recv(NULL, 0, MPI_INT, 0, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE));
        OK(MPI_Win_lock(MPI_LOCK_EXCLUSIVE, last, 0, win));
        OK(MPI_Put(&word, 1, MPI_INT, last, 0, 1, MPI_INT, win));
        OK(MPI_Win_unlock(last, win));
        CHECK_EQ(*p, 77);
    }
    OK(MPI_Wait(&r, MPI_STATUS_IGNORE));
    OK(MPI_Win_free(&win));
}

// Readers look for what the writer writes, each time with a lock of its own.
static void writer_among_readers(void)
{
    MPI_Win outer, win;
    long *p, *q, seen = 0, one = 1;
    OK(MPI_Win_allocate(sizeof *p, 1, MPI_INFO_NULL, MPI_COMM_WORLD, &p, &outer));
    OK(MPI_Win_allocate(sizeof *q, 1, MPI_INFO_NULL, MPI_COMM_WORLD, &q, &win));
    *q = 0;
    OK(MPI_Win_lock_all(0, outer));
    OK(MPI_Barrier(MPI_COMM_WORLD));
    if (me == npes - 1) {
        OK(MPI_Win_lock(MPI_LOCK_EXCLUSIVE, 0, 0, win));
        OK(MPI_Put(&one, 1, MPI_LONG, 0, 0, 1, MPI_LONG, win));
        OK(MPI_Win_unlock(0, win));
    }
    while (!seen) {
        OK(MPI_Win_lock(MPI_LOCK_SHARED, 0, 0, win));
        for (int i = 0; i < 50; i++) {
            OK(MPI_Get(&seen, 1, MPI_LONG, 0, 0, 1, MPI_LONG, win));
            OK(MPI_Win_flush(0, win));
        }
        OK(MPI_Win_unlock(0, win));
    }
    OK(MPI_Win_unlock_all(outer));
    OK(MPI_Win_free(&win));
    OK(MPI_Win_free(&outer));
}

int main(void)
{
    mpi_start();
    loads(ASK_BEFORE);
    loads(ASK_WITHIN);
    for (int i = 0; i < 10; i++)
        writer_among_readers();
    return mpi_done();
}
