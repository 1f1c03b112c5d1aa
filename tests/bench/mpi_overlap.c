// SPDX-License-Identifier: BSD-3-Clause
// PES: none
// Do nonblocking collectives of MPI go on while ranks compute and call nothing? overlap: all start, compute
// and wait; the total beside computing alone, which is 8 times as long as the blocking collective. What
// is left to do at the end adds an eighth at most. early: rank 0 waits at once while the others compute; how
// long it waits beside the blocking collective. The source compiles with any MPI.
#include "near.h"

#include <mpi.h>

enum { ROUNDS = 25, TIMES = 8, BYTES = 1 << 16 };

static int me;
static double *from, *to;

static void start(int kind, int n, MPI_Request *r)
{
    switch (kind) {
    case 0: MPI_Ibcast(from, n, MPI_BYTE, 0, MPI_COMM_WORLD, r); break;
    case 1: MPI_Iallreduce(from, to, n / 8, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD, r); break;
    default: MPI_Ialltoall(from, n / 2, MPI_BYTE, to, n / 2, MPI_BYTE, MPI_COMM_WORLD, r); break;
    }
}

static void blocking(int kind, int n)
{
    switch (kind) {
    case 0: MPI_Bcast(from, n, MPI_BYTE, 0, MPI_COMM_WORLD); break;
    case 1: MPI_Allreduce(from, to, n / 8, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD); break;
    default: MPI_Alltoall(from, n / 2, MPI_BYTE, to, n / 2, MPI_BYTE, MPI_COMM_WORLD); break;
    }
}

enum { ALL, OTHERS }; // who computes

// The median, of the rank that is the slowest, or where only the others compute of rank 0. steps < 0: the
// blocking one; n 0: none.
static double measure(int kind, int n, long steps, int who)
{
    double took[ROUNDS];
    for (int i = 0; i < ROUNDS; i += was_near()) {
        MPI_Request r = MPI_REQUEST_NULL;
        MPI_Barrier(MPI_COMM_WORLD);
        double begin = now_ns();
        if (steps < 0)
            blocking(kind, n);
        else if (n)
            start(kind, n, &r);
        if (who == ALL || me)
            compute(steps);
        MPI_Wait(&r, MPI_STATUS_IGNORE);
        double mine = who == ALL || me == 0 ? now_ns() - begin : 0;
        MPI_Allreduce(&mine, &took[i], 1, MPI_DOUBLE, MPI_MAX, MPI_COMM_WORLD);
    }
    qsort(took, ROUNDS, sizeof *took, ascending);
    return took[ROUNDS / 2];
}

static void tell(const char *name, const char *what, int n, double value)
{
    char key[64];
    snprintf(key, sizeof key, "mpi_%s_%s", name, what);
    if (me == 0)
        figure(key, n, value, "ratio");
}

static void report(const char *name, int kind, int n)
{
    long steps = 100000;
    double alone = measure(kind, 0, steps, ALL), once = measure(kind, n, -1, ALL);
    steps = (long)((double)steps * TIMES * once / alone) + 1;
    MPI_Bcast(&steps, 1, MPI_LONG, 0, MPI_COMM_WORLD);
    alone = measure(kind, 0, steps, ALL);
    measure(kind, n, 0, ALL); // the first ones may take another way
    tell(name, "overlap", n, measure(kind, n, steps, ALL) / alone);
    tell(name, "early", n, measure(kind, n, steps, OTHERS) / once);
}

int main(void)
{
    MPI_Init(NULL, NULL);
    MPI_Comm_rank(MPI_COMM_WORLD, &me);
    pin(me);
    near_start(me);
    from = calloc(1, BYTES);
    to = calloc(1, BYTES);
    report("ibcast", 0, BYTES / 2);
    report("iallreduce", 1, BYTES / 2);
    report("ialltoall", 2, BYTES / 2);
    near_end();
    free(from);
    free(to);
    return MPI_Finalize();
}
