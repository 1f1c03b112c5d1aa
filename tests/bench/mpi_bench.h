// SPDX-License-Identifier: BSD-3-Clause
// What the programs about MPI's claims share.
#ifndef MPI_BENCH_H
#define MPI_BENCH_H

#include "bench.h"
#include "near.h"

#include <mpi.h>

enum { ROUNDS = 15, LARGEST = 4 << 20 };

static int me, npes;
static const char *prefix = "mpi";
static char *out, *in;

static inline double median(double *x, int n)
{
    qsort(x, (size_t)n, sizeof *x, ascending);
    return x[n / 2];
}

static inline void tell_one(const char *name, int n, double value, const char *unit)
{
    char key[64];
    snprintf(key, sizeof key, "%s_%s", prefix, name);
    if (me == 0)
        figure(key, n, value, unit);
}

static inline void tell(const char *name, int n, double *x, const char *unit) // of ROUNDS
{
    tell_one(name, n, median(x, ROUNDS), unit);
}

// The ns that one `statement` of n in a row takes, until all have done them: a root may be far ahead.
#define EACH_OF(n, ns, statement)              \
    do {                                       \
        MPI_Barrier(MPI_COMM_WORLD);           \
        double begin = now_ns();               \
        for (int each = 0; each < (n); each++) \
            statement;                         \
        MPI_Barrier(MPI_COMM_WORLD);           \
        ns = (now_ns() - begin) / (n);         \
    } while (0)

// As programs do, other than these measurements: whoever sends has just written the data, and whoever has
// got it reads it.
static bool is_used;
static volatile uint64_t sum;

static inline void write_data(char *data, int n)
{
    static int value;
    if (is_used)
        memset(data, value++, (size_t)n);
}

static inline void read_data(const char *data, int n)
{
    uint64_t all = 0;
    for (int i = 0; is_used && i < n; i += 8) {
        uint64_t word;
        memcpy(&word, data + i, sizeof word);
        all += word;
    }
    sum = all;
}

// One after the other: half of the time of one there and one back, between ranks 0 and 1; others wait
// for the next barrier.
static inline double one_way(__typeof__(MPI_Send) *send, int n, MPI_Datatype type, int trips)
{
    MPI_Barrier(MPI_COMM_WORLD);
    double start = now_ns();
    for (int i = 0; me < 2 && i < trips; i++) {
        if (me == 0)
            send(out, n, type, 1, 0, MPI_COMM_WORLD);
        MPI_Recv(in, n, type, !me, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        if (me == 1)
            send(out, n, type, 0, 0, MPI_COMM_WORLD);
    }
    return (now_ns() - start) / trips / 2;
}

// Both send and receive at once, as neighbours in a grid do: the time of one such exchange.
static inline double exchange(int n, MPI_Datatype type, int trips)
{
    MPI_Request request[2];
    MPI_Barrier(MPI_COMM_WORLD);
    double start = now_ns();
    for (int i = 0; i < trips; i++) {
        write_data(out, n);
        MPI_Irecv(in, n, type, !me, 0, MPI_COMM_WORLD, &request[0]);
        MPI_Isend(out, n, type, !me, 0, MPI_COMM_WORLD, &request[1]);
        MPI_Waitall(2, request, MPI_STATUSES_IGNORE);
        read_data(in, n);
    }
    return (now_ns() - start) / trips;
}

// prefix: what the figures' names begin with.
static inline void bench_start(int argc, char **argv)
{
    MPI_Init(NULL, NULL);
    MPI_Comm_rank(MPI_COMM_WORLD, &me);
    MPI_Comm_size(MPI_COMM_WORLD, &npes);
    pin(me);
    near_start(me);
    if (argc > 1)
        prefix = argv[1];
    out = malloc(LARGEST);
    in = malloc(LARGEST);
    memset(out, 1, LARGEST);
    memset(in, 1, LARGEST);
}

static inline int bench_done(void)
{
    near_end();
    free(out);
    free(in);
    return MPI_Finalize();
}

#endif
