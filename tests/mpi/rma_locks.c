// SPDX-License-Identifier: BSD-3-Clause
// Locks against plain loads of memory that MPI_Win_shared_query gave, and a writer whom readers do not
// pass by for ever, though they hold locks of another window. Nor does one that waits keep readers apart.
// TIMEOUT: 60
#include "rma_check.h"

#include <unistd.h>

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

static void tell(int rank)
{
    OK(MPI_Send(NULL, 0, MPI_INT, rank, 1, MPI_COMM_WORLD));
}

static void hear(int rank)
{
    OK(MPI_Recv(NULL, 0, MPI_INT, rank, 1, MPI_COMM_WORLD, MPI_STATUS_IGNORE));
}

// A reader keeps its lock until it hears from another one, which comes after a writer.
static void readers_of_each_other(void)
{
    enum { WRITER = 1, FIRST, SECOND };
    MPI_Win win;
    int *p;
    OK(MPI_Win_allocate(sizeof *p, 1, MPI_INFO_NULL, MPI_COMM_WORLD, &p, &win));
    OK(MPI_Barrier(MPI_COMM_WORLD));
    if (me == WRITER) {
        hear(FIRST);
        tell(SECOND);
        OK(MPI_Win_lock(MPI_LOCK_EXCLUSIVE, 0, 0, win));
        OK(MPI_Win_unlock(0, win));
    }
    if (me == SECOND) {
        hear(WRITER);
        usleep(20000); // it waits by now
    }
    if (me == FIRST || me == SECOND) {
        OK(MPI_Win_lock(MPI_LOCK_SHARED, 0, 0, win));
        if (me == FIRST)
            tell(WRITER);
        tell(FIRST + SECOND - me);
        hear(FIRST + SECOND - me);
        OK(MPI_Win_unlock(0, win));
    }
    OK(MPI_Win_free(&win));
}

// Two readers want the other one's target too, and a writer waits at each.
static void readers_of_two(void)
{
    MPI_Win win;
    int *p;
    OK(MPI_Win_allocate(sizeof *p, 1, MPI_INFO_NULL, MPI_COMM_WORLD, &p, &win));
    if (me < 2)
        OK(MPI_Win_lock(MPI_LOCK_SHARED, me, 0, win));
    OK(MPI_Barrier(MPI_COMM_WORLD));
    if (me == 2 || me == 3) {
        OK(MPI_Win_lock(MPI_LOCK_EXCLUSIVE, me - 2, 0, win));
        OK(MPI_Win_unlock(me - 2, win));
    }
    if (me < 2) {
        usleep(20000); // they wait by now
        OK(MPI_Win_lock(MPI_LOCK_SHARED, !me, 0, win));
        OK(MPI_Win_unlock(!me, win));
        OK(MPI_Win_unlock(me, win));
    }
    OK(MPI_Win_free(&win));
}

int main(void)
{
    mpi_start();
    for (int i = 0; i < 3 && npes > 3; i++) {
        readers_of_each_other();
        readers_of_two();
    }
    loads(ASK_BEFORE);
    loads(ASK_WITHIN);
    for (int i = 0; i < 10; i++)
        writer_among_readers();
    return mpi_done();
}
