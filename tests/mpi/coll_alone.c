// SPDX-License-Identifier: BSD-3-Clause
// Nonblocking and persistent collectives go on while every process computes: each starts one, calls
// nothing until its memory shows the result, and only then waits. A watchdog ends those that would
// spin for ever. (Two that share no cores send each other what is short, and take it when they wait. So does
// the root of a gather of short blocks.)
// PES: 2 4 7
// NODES: 1
#include "mpi_check.h"

#include <sched.h>
#include <shoal.h>
#include <unistd.h>

enum { FEW = 16, MANY = 5000, MOST = 16, TURNS = 3, WATCHDOG = 30 };

// Static variables are memory that the processes of a node reach.
static int from[MANY + MOST * FEW], to[MANY + MOST * FEW];

// Until n ints are there; *first may be elsewhere than in `to`.
static void spin(const int *first, int n, int (*wanted)(int i))
{
    for (int i = 0; i < n; i++)
        while (__atomic_load_n(&first[i], __ATOMIC_ACQUIRE) != wanted(i))
            sched_yield(); // to those who share the core; nothing of MPI
}

static int turn, root;
static bool takes_short; // when it waits

static int told(int i)
{
    return turn * 1000 + root + i;
}

static int given(int rank, int i)
{
    return turn * 1000 + rank * 7 + i;
}

static int summed(int i)
{
    return npes * given(0, i) + 7 * npes * (npes - 1) / 2;
}

static int summed_here(int i)
{
    return summed(me * FEW + i);
}

static int scanned(int i)
{
    return (me + 1) * given(0, i) + 7 * me * (me + 1) / 2;
}

static int gathered(int i)
{
    return given(i / FEW, i % FEW);
}

static int exchanged(int i)
{
    return given(i / FEW, me * FEW + i % FEW);
}

static void load(int *given_to, int n)
{
    for (int i = 0; i < n; i++)
        given_to[i] = given(me, i);
}

static void finish(MPI_Request *r)
{
    OK(MPI_Wait(r, MPI_STATUS_IGNORE));
}

// Of what is short.
static void see(MPI_Request *r, const int *first, int n, int (*wanted)(int i))
{
    if (takes_short)
        finish(r);
    spin(first, n, wanted);
    if (!takes_short)
        finish(r);
}

static void bcast(MPI_Comm comm, int *buf, int n, MPI_Request *persistent)
{
    MPI_Request r;
    for (int i = 0; i < n; i++)
        buf[i] = me == root ? told(i) : -1;
    if (persistent)
        OK(MPI_Start(persistent));
    else
        OK(MPI_Ibcast(buf, n, MPI_INT, root, comm, &r));
    spin(buf, n, told);
    finish(persistent ? persistent : &r);
}

static void clear(void)
{
    load(from, MANY);
    memset(to, 0xff, sizeof to);
}

static void allgather(MPI_Comm comm)
{
    MPI_Request r;
    clear();
    OK(MPI_Iallgather(from, FEW, MPI_INT, to, FEW, MPI_INT, comm, &r));
    see(&r, to, npes * FEW, gathered);
}

static void gather_in_place(MPI_Comm comm)
{
    MPI_Request r;
    clear();
    load(to + me * FEW, FEW);
    OK(MPI_Igather(me == root ? MPI_IN_PLACE : from, FEW, MPI_INT, to, FEW, MPI_INT, root, comm,
                   &r));
    finish(&r);
    if (me == root)
        spin(to, npes * FEW, gathered);
}

static void alltoall(MPI_Comm comm)
{
    MPI_Request r;
    clear();
    OK(MPI_Ialltoall(from, FEW, MPI_INT, to, FEW, MPI_INT, comm, &r));
    see(&r, to, npes * FEW, exchanged);
}

static void reduce(MPI_Comm comm)
{
    MPI_Request r;
    clear();
    OK(MPI_Ireduce(from, to, MANY, MPI_INT, MPI_SUM, root, comm, &r));
    if (me == root)
        spin(to, MANY, summed);
    finish(&r);
}

static void scan(MPI_Comm comm)
{
    MPI_Request r;
    clear();
    OK(MPI_Iscan(from, to, FEW, MPI_INT, MPI_SUM, comm, &r));
    see(&r, to, FEW, scanned);
}

static void reduce_scatter(MPI_Comm comm)
{
    MPI_Request r;
    clear();
    OK(MPI_Ireduce_scatter_block(from, to, FEW, MPI_INT, MPI_SUM, comm, &r));
    see(&r, to, FEW, summed_here);
}

static void allreduce(MPI_Comm comm, MPI_Request *persistent)
{
    MPI_Request r;
    clear();
    load(to, MANY);
    if (persistent)
        OK(MPI_Start(persistent));
    else
        OK(MPI_Iallreduce(MPI_IN_PLACE, to, MANY, MPI_INT, MPI_SUM, comm, &r));
    spin(to, MANY, summed);
    finish(persistent ? persistent : &r);
}

// Long ones but broadcasts are left to those who wait, and what is long depends on how this was built.
static bool is_left(void)
{
    uint64_t most = 0;
    CHECK_EQ(shoal_query(SHOAL_Q_COLL_SHORT, 0, &most), SHOAL_OK);
    return most < 4096;
}

// They agree by messages first, and do the first ones so.
static void warm_up(MPI_Comm comm)
{
    for (int i = 0; i < 6; i++) {
        MPI_Request r;
        OK(MPI_Ibcast(to, MANY, MPI_INT, 0, comm, &r));
        finish(&r);
    }
}

static void persistent(MPI_Comm comm)
{
    MPI_Request told_all, sum;
    OK(MPI_Bcast_init(from, MANY, MPI_INT, 0, comm, MPI_INFO_NULL, &told_all));
    OK(MPI_Allreduce_init(MPI_IN_PLACE, to, MANY, MPI_INT, MPI_SUM, comm, MPI_INFO_NULL, &sum));
    OK(MPI_Start(&told_all));
    OK(MPI_Start(&sum));
    finish(&sum);
    finish(&told_all);
    root = 0;
    for (turn = 0; turn < TURNS; turn++) {
        bcast(comm, from, MANY, &told_all);
        if (!is_left())
            allreduce(comm, &sum);
    }
    OK(MPI_Request_free(&told_all));
    OK(MPI_Request_free(&sum));
}

static void nonblocking(MPI_Comm comm)
{
    int *allocated;
    OK(MPI_Alloc_mem(MANY * sizeof *allocated, MPI_INFO_NULL, &allocated));
    warm_up(comm);
    for (turn = 0; turn < TURNS; turn++) {
        root = turn % npes;
        bcast(comm, to, MANY, NULL);
        bcast(comm, allocated, MANY, NULL);
        allgather(comm);
        gather_in_place(comm);
        alltoall(comm);
        scan(comm);
        reduce_scatter(comm);
        if (!is_left()) {
            reduce(comm);
            allreduce(comm, NULL);
        }
    }
    OK(MPI_Free_mem(allocated));
}

int main(void)
{
    MPI_Comm other;
    mpi_start();
    alarm(WATCHDOG);
    uint64_t is_crowded = 0;
    CHECK_EQ(shoal_query(SHOAL_Q_CROWDED, 0, &is_crowded), SHOAL_OK);
    takes_short = npes == 2 && !is_crowded;
    nonblocking(MPI_COMM_WORLD);
    persistent(MPI_COMM_WORLD);
    OK(MPI_Comm_dup(MPI_COMM_WORLD, &other));
    nonblocking(other);
    OK(MPI_Comm_free(&other));
    return mpi_done();
}
