// SPDX-License-Identifier: BSD-3-Clause
// PES: none
// MPI: one-way times of messages between two ranks, from and to malloc's memory and MPI_Alloc_mem's
// (mpi_alloc_message), message rate, short collectives. The source
// compiles with any MPI; with Shoal's (BENCH_SHMEM) a put with signal of the same length takes turns
// with each message, as its limit: one round of each, and the figures are medians of the rounds.
#include "bench.h"

#include <mpi.h>
#if defined(BENCH_SHMEM)
#include <shmem.h>
#endif

enum { ROUNDS = 15, WINDOW = 64, LARGEST = 4 << 20 };

static const int sizes[] = {0, 8, 64, 512, 4096, 16384, 65536, 262144, 1048576, 4194304};
enum { SIZES = sizeof sizes / sizeof *sizes };

static int me, npes;
static char *out, *in, *alloc_out, *alloc_in;

static int trips(int n)
{
    return n <= 512 ? 2000 : n <= 65536 ? 400 : 30;
}

// Half of the time of a message there and one back.
static double ping_pong(int n, int source, char *from, char *to)
{
    int count = trips(n), other = !me;
    MPI_Barrier(MPI_COMM_WORLD);
    double start = now_ns();
    for (int i = 0; i < count; i++) {
        if (me == 0)
            MPI_Send(from, n, MPI_BYTE, other, 0, MPI_COMM_WORLD);
        MPI_Recv(to, n, MPI_BYTE, source < 0 ? source : other, 0, MPI_COMM_WORLD,
                 MPI_STATUS_IGNORE);
        if (me == 1)
            MPI_Send(from, n, MPI_BYTE, other, 0, MPI_COMM_WORLD);
    }
    return (now_ns() - start) / count / 2;
}

static double message_rate(void) // ns a message of 8 bytes
{
    enum { WINDOWS = 200 };
    MPI_Request request[WINDOW];
    MPI_Barrier(MPI_COMM_WORLD);
    double start = now_ns();
    for (int w = 0; w < WINDOWS; w++) {
        for (int i = 0; i < WINDOW; i++)
            if (me == 0)
                MPI_Isend(out, 8, MPI_BYTE, 1, 0, MPI_COMM_WORLD, &request[i]);
            else
                MPI_Irecv(in + 8 * i, 8, MPI_BYTE, 0, 0, MPI_COMM_WORLD, &request[i]);
        MPI_Waitall(WINDOW, request, MPI_STATUSES_IGNORE);
        if (me == 0)
            MPI_Recv(in, 0, MPI_BYTE, 1, 1, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        else
            MPI_Send(out, 0, MPI_BYTE, 0, 1, MPI_COMM_WORLD);
    }
    return (now_ns() - start) / WINDOWS / WINDOW;
}

#if defined(BENCH_SHMEM)
static char *target;
static uint64_t *mark;

static double put_signal(int n)
{
    static uint64_t seq;
    int count = trips(n), other = !me;
    shmem_barrier_all();
    double start = now_ns();
    for (int i = 0; i < count; i++) {
        seq++;
        if (me == 0)
            shmem_putmem_signal(target, out, (size_t)n, mark, seq, SHMEM_SIGNAL_SET, other);
        shmem_signal_wait_until(mark, SHMEM_CMP_GE, seq);
        if (me == 1)
            shmem_putmem_signal(target, out, (size_t)n, mark, seq, SHMEM_SIGNAL_SET, other);
    }
    return (now_ns() - start) / count / 2;
}
#endif

static double median(double *x, int n)
{
    qsort(x, (size_t)n, sizeof *x, ascending);
    return x[n / 2];
}

static void pairs(void)
{
    double message[SIZES][ROUNDS], alloc[SIZES][ROUNDS], put[SIZES][ROUNDS];
    double rate[ROUNDS], any[ROUNDS];
    for (int r = 0; r < ROUNDS; r++) {
        for (int s = 0; s < SIZES; s++) {
            message[s][r] = ping_pong(sizes[s], 0, out, in);
            alloc[s][r] = ping_pong(sizes[s], 0, alloc_out, alloc_in);
            put[s][r] = 0;
#if defined(BENCH_SHMEM)
            put[s][r] = put_signal(sizes[s]);
#endif
        }
        any[r] = ping_pong(8, MPI_ANY_SOURCE, out, in);
        rate[r] = message_rate();
    }
    if (me != 0)
        return;
    for (int s = 0; s < SIZES; s++) {
        figure("mpi_message", sizes[s], median(message[s], ROUNDS), "ns");
        figure("mpi_alloc_message", sizes[s], median(alloc[s], ROUNDS), "ns");
        if (put[s][0] > 0)
            figure("mpi_put_signal", sizes[s], median(put[s], ROUNDS), "ns");
    }
    figure("mpi_any_source", 8, median(any, ROUNDS), "ns");
    figure("mpi_rate", 8, 1000 / median(rate, ROUNDS), "M/s");
}

// Until all have done them: a root may be far ahead.
#define TIME_COLLECTIVE(name, n, call)                \
    do {                                              \
        double x[ROUNDS];                             \
        for (int r = 0; r < ROUNDS; r++) {            \
            int count = npes > 2 ? 500 : 1000;        \
            MPI_Barrier(MPI_COMM_WORLD);              \
            double start = now_ns();                  \
            for (int i = 0; i < count; i++)           \
                call;                                 \
            MPI_Barrier(MPI_COMM_WORLD);              \
            x[r] = (now_ns() - start) / count;        \
        }                                             \
        if (me == 0)                                  \
            figure(name, n, median(x, ROUNDS), "ns"); \
    } while (0)

static void collectives(void)
{
    TIME_COLLECTIVE("mpi_barrier", npes, MPI_Barrier(MPI_COMM_WORLD));
    TIME_COLLECTIVE("mpi_allreduce_8", npes,
                    MPI_Allreduce(out, in, 1, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD));
    TIME_COLLECTIVE("mpi_bcast_8", npes, MPI_Bcast(in, 8, MPI_BYTE, 0, MPI_COMM_WORLD));
    TIME_COLLECTIVE("mpi_alltoall_8", npes,
                    MPI_Alltoall(out, 8, MPI_BYTE, in, 8, MPI_BYTE, MPI_COMM_WORLD));
    TIME_COLLECTIVE("mpi_allreduce_65536", npes,
                    MPI_Allreduce(out, in, 8192, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD));
}

int main(void)
{
    MPI_Init(NULL, NULL);
    MPI_Comm_rank(MPI_COMM_WORLD, &me);
    MPI_Comm_size(MPI_COMM_WORLD, &npes);
    pin(me);
    out = calloc(1, LARGEST);
    in = calloc(1, LARGEST);
    MPI_Alloc_mem(LARGEST, MPI_INFO_NULL, &alloc_out);
    MPI_Alloc_mem(LARGEST, MPI_INFO_NULL, &alloc_in);
    memset(alloc_out, 0, LARGEST);
    memset(alloc_in, 0, LARGEST);
#if defined(BENCH_SHMEM)
    shmem_init();
    target = shmem_malloc(LARGEST);
    mark = shmem_calloc(1, sizeof *mark);
#endif
    if (npes == 2)
        pairs();
    collectives();
    free(out);
    free(in);
    MPI_Free_mem(alloc_out);
    MPI_Free_mem(alloc_in);
#if defined(BENCH_SHMEM)
    shmem_finalize();
#endif
    return MPI_Finalize();
}
