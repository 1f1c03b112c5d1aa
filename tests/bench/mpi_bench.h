// SPDX-License-Identifier: BSD-3-Clause
// What the programs about MPI's claims share.
#ifndef MPI_BENCH_H
#define MPI_BENCH_H

#include "bench.h"

#include <mpi.h>

enum { ROUNDS = 15, LARGEST = 4 << 20 };

static int me, npes;
static const char *prefix = "mpi";
static char *out, *in;

static inline double median(double *x)
{
    qsort(x, ROUNDS, sizeof *x, ascending);
    return x[ROUNDS / 2];
}

static inline void tell(const char *name, int n, double *x, const char *unit)
{
    char key[64];
    snprintf(key, sizeof key, "%s_%s", prefix, name);
    if (me == 0)
        figure(key, n, median(x), unit);
}

// prefix: what the figures' names begin with.
static inline void bench_start(int argc, char **argv)
{
    MPI_Init(NULL, NULL);
    MPI_Comm_rank(MPI_COMM_WORLD, &me);
    MPI_Comm_size(MPI_COMM_WORLD, &npes);
    pin(me);
    if (argc > 1)
        prefix = argv[1];
    out = calloc(1, LARGEST);
    in = calloc(1, LARGEST);
    memset(out, 1, LARGEST);
    memset(in, 1, LARGEST);
}

static inline int bench_done(void)
{
    free(out);
    free(in);
    return MPI_Finalize();
}

#endif
