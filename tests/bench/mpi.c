// SPDX-License-Identifier: BSD-3-Clause
// PES: none
// MPI: one-way times of messages between two ranks, from and to malloc's memory and MPI_Alloc_mem's
// (mpi_alloc_message), exchanges, streams of messages, short collectives. The source compiles with any MPI;
// with Shoal's (BENCH_SHMEM) puts with signal of the same length take turns with the messages, as their
// limit: one round of each, and the figures are medians of the rounds.
#include "mpi_bench.h"

#include <stdbool.h>

#if defined(BENCH_SHMEM)
#include <shmem.h>
#endif

enum { WINDOW = 64, STREAM_ROOM = 16 << 20 };

static const int sizes[] = {0, 8, 64, 512, 4096, 16384, 65536, 262144, 1048576, 4194304};
enum { SIZES = sizeof sizes / sizeof *sizes };

static const int exchanged[] = {8, 4096, 65536, 262144, 524288, 1048576};
enum { EXCHANGED = sizeof exchanged / sizeof *exchanged };

static const int streamed[] = {8, 512, 4096, 65536, 1048576, 4194304};
enum { STREAMED = sizeof streamed / sizeof *streamed };

static char *alloc_out, *alloc_in, *room;

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
        if (me == 0) {
            write_data(from, n);
            MPI_Send(from, n, MPI_BYTE, other, 0, MPI_COMM_WORLD);
        }
        MPI_Recv(to, n, MPI_BYTE, source < 0 ? source : other, 0, MPI_COMM_WORLD,
                 MPI_STATUS_IGNORE);
        read_data(to, n);
        if (me == 1) {
            write_data(from, n);
            MPI_Send(from, n, MPI_BYTE, other, 0, MPI_COMM_WORLD);
        }
    }
    return (now_ns() - start) / count / 2;
}

// How many of a stream's messages are under way, each in a place of its own.
static int window_of(int n)
{
    return n <= STREAM_ROOM / WINDOW ? WINDOW : STREAM_ROOM / n;
}

static int windows_of(int n)
{
    return n <= 512 ? 200 : n <= 65536 ? 20 : 3;
}

// From rank 0 to rank 1, who answers when a window of them has come: ns a message.
static double stream(int n)
{
    int windows = windows_of(n), window = window_of(n);
    MPI_Request request[WINDOW];
    MPI_Barrier(MPI_COMM_WORLD);
    double start = now_ns();
    for (int w = 0; w < windows; w++) {
        for (int i = 0; i < window; i++) {
            char *at = room + (size_t)i * n;
            if (me == 0) {
                write_data(at, n);
                MPI_Isend(at, n, MPI_BYTE, 1, 0, MPI_COMM_WORLD, &request[i]);
            } else {
                MPI_Irecv(at, n, MPI_BYTE, 0, 0, MPI_COMM_WORLD, &request[i]);
            }
        }
        MPI_Waitall(window, request, MPI_STATUSES_IGNORE);
        if (me == 0) {
            MPI_Recv(in, 0, MPI_BYTE, 1, 1, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        } else {
            read_data(room, n * window);
            MPI_Send(out, 0, MPI_BYTE, 0, 1, MPI_COMM_WORLD);
        }
    }
    return (now_ns() - start) / windows / window;
}

#if defined(BENCH_SHMEM)
static char *target;
static uint64_t *mark, *came, *answer;

static double put_signal(int n)
{
    static uint64_t seq;
    int count = trips(n), other = !me;
    shmem_barrier_all();
    double start = now_ns();
    for (int i = 0; i < count; i++) {
        seq++;
        if (me == 0) {
            write_data(out, n);
            shmem_putmem_signal(target, out, (size_t)n, mark, seq, SHMEM_SIGNAL_SET, other);
        }
        shmem_signal_wait_until(mark, SHMEM_CMP_GE, seq);
        read_data(target, n);
        if (me == 1) {
            write_data(out, n);
            shmem_putmem_signal(target, out, (size_t)n, mark, seq, SHMEM_SIGNAL_SET, other);
        }
    }
    return (now_ns() - start) / count / 2;
}

static double put_stream(int n)
{
    static uint64_t all, seq;
    int windows = windows_of(n), window = window_of(n);
    shmem_barrier_all();
    double start = now_ns();
    for (int w = 0; w < windows; w++) {
        all += (uint64_t)window;
        seq++;
        for (int i = 0; i < window && me == 0; i++) {
            write_data(room + (size_t)i * n, n);
            shmem_putmem_signal_nbi(target + (size_t)i * n, room + (size_t)i * n, (size_t)n, came,
                                    1, SHMEM_SIGNAL_ADD, 1);
        }
        if (me == 0) {
            shmem_quiet();
            shmem_signal_wait_until(answer, SHMEM_CMP_GE, seq);
        } else {
            shmem_signal_wait_until(came, SHMEM_CMP_GE, all);
            read_data(target, n * window);
            shmem_uint64_p(answer, seq, 0);
        }
    }
    return (now_ns() - start) / windows / window;
}
#else // another MPI has none
static double put_signal(int n)
{
    return 0 * n;
}

static double put_stream(int n)
{
    return 0 * n;
}
#endif

static void pairs(void)
{
    double message[SIZES][ROUNDS], alloc[SIZES][ROUNDS], put[SIZES][ROUNDS];
    double any[ROUNDS], both[EXCHANGED][ROUNDS], flow[STREAMED][ROUNDS], puts[STREAMED][ROUNDS];
    for (int r = 0; r < ROUNDS; r += was_near()) {
        for (int s = 0; s < SIZES; s++) {
            message[s][r] = ping_pong(sizes[s], 0, out, in);
            alloc[s][r] = ping_pong(sizes[s], 0, alloc_out, alloc_in);
            put[s][r] = put_signal(sizes[s]);
        }
        for (int s = 0; s < EXCHANGED; s++)
            both[s][r] = exchange(exchanged[s], MPI_BYTE, trips(exchanged[s]));
        any[r] = ping_pong(8, MPI_ANY_SOURCE, out, in);
        for (int s = 0; s < STREAMED; s++) {
            flow[s][r] = stream(streamed[s]);
            puts[s][r] = put_stream(streamed[s]);
        }
    }
    for (int s = 0; s < SIZES; s++) {
        tell("message", sizes[s], message[s], "ns");
        tell("alloc_message", sizes[s], alloc[s], "ns");
        if (put[s][0] > 0)
            tell("put_signal", sizes[s], put[s], "ns");
    }
    for (int s = 0; s < EXCHANGED; s++)
        tell("exchange", exchanged[s], both[s], "ns");
    tell("any_source", 8, any, "ns");
    tell_one("rate", 8, 1000 / median(flow[0], ROUNDS), "M/s");
    for (int s = 1; s < STREAMED; s++) {
        tell("stream", streamed[s], flow[s], "ns");
        if (puts[s][0] > 0)
            tell("put_stream", streamed[s], puts[s], "ns");
    }
}

static void used_streams(void)
{
    static const int lengths[] = {1048576, 4194304};
    enum { LENGTHS = sizeof lengths / sizeof *lengths };
    double flow[LENGTHS][ROUNDS], puts[LENGTHS][ROUNDS];
    is_used = true;
    for (int r = 0; r < ROUNDS; r += was_near())
        for (int s = 0; s < LENGTHS; s++) {
            flow[s][r] = stream(lengths[s]);
            puts[s][r] = put_stream(lengths[s]);
        }
    is_used = false;
    for (int s = 0; s < LENGTHS; s++) {
        tell("used_stream", lengths[s], flow[s], "ns");
        if (puts[s][0] > 0)
            tell("used_put_stream", lengths[s], puts[s], "ns");
    }
}

static void used_pairs(void)
{
    static const int lengths[] = {4096, 16384, 65536, 262144, 1048576, 4194304};
    enum { LENGTHS = sizeof lengths / sizeof *lengths };
    double message[LENGTHS][ROUNDS], both[LENGTHS][ROUNDS], put[LENGTHS][ROUNDS];
    is_used = true;
    for (int r = 0; r < ROUNDS; r += was_near())
        for (int s = 0; s < LENGTHS; s++) {
            message[s][r] = ping_pong(lengths[s], 0, out, in);
            both[s][r] = exchange(lengths[s], MPI_BYTE, trips(lengths[s]));
            put[s][r] = put_signal(lengths[s]);
        }
    is_used = false;
    for (int s = 0; s < LENGTHS; s++) {
        tell("used_message", lengths[s], message[s], "ns");
        tell("used_exchange", lengths[s], both[s], "ns");
        if (put[s][0] > 0)
            tell("used_put_signal", lengths[s], put[s], "ns");
    }
}

// From data at the start of a page to a place that is not: processors have trouble with that.
static void shifted_pairs(void)
{
    static const int lengths[] = {16384, 65536, 1048576};
    enum { LENGTHS = sizeof lengths / sizeof *lengths, PAGE = 4096, SHIFT = 16 };
    double message[LENGTHS][ROUNDS];
    char *from = room + (PAGE - (uintptr_t)room % PAGE), *to = from + LARGEST + SHIFT;
    for (int r = 0; r < ROUNDS; r += was_near())
        for (int s = 0; s < LENGTHS; s++)
            message[s][r] = ping_pong(lengths[s], 0, from, to);
    for (int s = 0; s < LENGTHS; s++)
        tell("shifted_message", lengths[s], message[s], "ns");
}

// ---- Windows: operations of 8 bytes at rank 1 one after the other, and a flush: ns for each
enum { ROW = 1000 };

static double row(int kind, MPI_Win win)
{
    double *to = (double *)(void *)in;
    double start = now_ns();
    for (int i = 0; i < ROW && me == 0; i++)
        switch (kind) {
        case 0: MPI_Put(out, 1, MPI_DOUBLE, 1, i, 1, MPI_DOUBLE, win); break;
        case 1: MPI_Get(to + i, 1, MPI_DOUBLE, 1, i, 1, MPI_DOUBLE, win); break;
        case 2: MPI_Accumulate(out, 1, MPI_DOUBLE, 1, i, 1, MPI_DOUBLE, MPI_SUM, win); break;
        default: MPI_Fetch_and_op(out, to + i, MPI_DOUBLE, 1, i, MPI_SUM, win);
        }
    if (me == 0)
        MPI_Win_flush(1, win);
    double took = (now_ns() - start) / ROW;
    MPI_Barrier(MPI_COMM_WORLD);
    return took;
}

static void rows(const char *memory, MPI_Win win)
{
    static const char *const kinds[] = {"put", "get", "accumulate", "fetch_and_op"};
    MPI_Win_lock_all(0, win);
    for (int kind = 0; kind < 4; kind++) {
        char name[40];
        double took[ROUNDS];
        snprintf(name, sizeof name, "%s_row_%s", memory, kinds[kind]);
        row(kind, win);
        for (int r = 0; r < ROUNDS; r += was_near())
            took[r] = row(kind, win);
        tell(name, 8, took, "ns");
    }
    MPI_Win_unlock_all(win);
}

static void windows(void)
{
    double *memory = malloc(ROW * sizeof *memory), *base;
    MPI_Win win;
    memset(memory, 0, ROW * sizeof *memory);
    MPI_Win_create(memory, ROW * sizeof *memory, sizeof *memory, MPI_INFO_NULL, MPI_COMM_WORLD,
                   &win);
    rows("created", win);
    MPI_Win_free(&win);
    free(memory);
    MPI_Win_allocate(ROW * sizeof *memory, sizeof *memory, MPI_INFO_NULL, MPI_COMM_WORLD, &base,
                     &win);
    memset(base, 0, ROW * sizeof *base);
    MPI_Barrier(MPI_COMM_WORLD);
    rows("allocated", win);
    MPI_Win_free(&win);
}

#define TIME_COLLECTIVE(name, call)                     \
    do {                                                \
        double x[ROUNDS];                               \
        for (int r = 0; r < ROUNDS; r += was_near())    \
            EACH_OF(npes > 2 ? 500 : 1000, x[r], call); \
        tell(name, npes, x, "ns");                      \
    } while (0)

// What reductions do with data: in and out of nearer caches, and not.
static void reduce_locals(void)
{
    static const int lengths[] = {4096, 65536, 1048576};
    double least;
    for (int s = 0; me == 0 && s < 3; s++) {
        int n = lengths[s] / (int)sizeof(double);
        FASTEST(least, 20, (1 << 22) / lengths[s] + 1,
                MPI_Reduce_local(in, out, n, MPI_DOUBLE, MPI_SUM));
        tell_one("reduce_local", lengths[s], lengths[s] / least, "GB/s");
    }
    MPI_Barrier(MPI_COMM_WORLD);
}

static void collectives(void)
{
    TIME_COLLECTIVE("barrier", MPI_Barrier(MPI_COMM_WORLD));
    TIME_COLLECTIVE("allreduce_8", MPI_Allreduce(out, in, 1, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD));
    TIME_COLLECTIVE("bcast_8", MPI_Bcast(in, 8, MPI_BYTE, 0, MPI_COMM_WORLD));
    TIME_COLLECTIVE("alltoall_8", MPI_Alltoall(out, 8, MPI_BYTE, in, 8, MPI_BYTE, MPI_COMM_WORLD));
    TIME_COLLECTIVE("allreduce_65536",
                    MPI_Allreduce(out, in, 8192, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD));
}

int main(int argc, char **argv)
{
    bench_start(argc, argv);
    MPI_Alloc_mem(LARGEST, MPI_INFO_NULL, &alloc_out);
    MPI_Alloc_mem(LARGEST, MPI_INFO_NULL, &alloc_in);
    memset(alloc_out, 0, LARGEST);
    memset(alloc_in, 0, LARGEST);
    room = malloc(STREAM_ROOM);
    memset(room, 0, STREAM_ROOM);
#if defined(BENCH_SHMEM)
    shmem_init();
    target = shmem_malloc(STREAM_ROOM);
    mark = shmem_calloc(3, sizeof *mark);
    came = mark + 1;
    answer = mark + 2;
#endif
    if (npes == 2) {
        pairs();
        used_pairs();
        used_streams();
        shifted_pairs();
        windows();
        reduce_locals();
    }
    collectives();
    MPI_Free_mem(alloc_out);
    MPI_Free_mem(alloc_in);
    free(room);
#if defined(BENCH_SHMEM)
    shmem_finalize();
#endif
    return bench_done();
}
