// SPDX-License-Identifier: BSD-3-Clause
// What the patterns of mpi_sweep.c share.
#ifndef BENCH_SWEEP_H
#define BENCH_SWEEP_H

#include "mpi_bench.h"

// Bytes of all ranks' data, calls in a row, doubles from one that moves to the next.
enum { AT_MOST = 8 << 20, MANY = 16, GAP = 2 };
enum { RANKS = 64 }; // at most

static MPI_Datatype column; // every second double of what moves
static int n, doubles; // bytes, and as many doubles
static MPI_Comm torus, halves, twin;
static MPI_Win window, held, own; // for epochs; locked all the time; locked, over malloc's memory
static char *exposed, *staged;
static int counts[RANKS], displs[RANKS], shares[RANKS];
static MPI_Datatype types[RANKS];
static MPI_Request request[2 * RANKS];
static int left, right;

#define W MPI_COMM_WORLD
#define NOTHING MPI_STATUS_IGNORE

#define WAIT MPI_Wait(request, NOTHING)
#define CALL(name, ...)    \
    static void name(void) \
    {                      \
        __VA_ARGS__;       \
    }

#endif
