// SPDX-License-Identifier: BSD-3-Clause
// PES: none
// MPI windows between two ranks: passive operations of rank 0 at rank 1, which sleeps in a barrier,
// computes, or takes part. Beside each its limit: the same bytes by memcpy, the same sum by a loop,
// the barrier; and a put emulated by two messages, as a library without shared memory would. The
// source compiles with any MPI.
#include "bench.h"

#include <mpi.h>

enum { LARGEST = 1 << 20, SMALL_BATCH = 2000, TABLE = 4096, UNDER_WAY = 64 };

static int me, npes;
static long *private_memory, *window, *local;

// coarse: allocated, and said to be for long accumulates.
static MPI_Win make(const char *how, long **base)
{
    MPI_Win win;
    MPI_Info info;
    MPI_Info_create(&info);
    *base = private_memory;
    if (!strcmp(how, "coarse"))
        MPI_Info_set(info, "mpi_accumulate_granularity", "65536");
    if (!strcmp(how, "created"))
        MPI_Win_create(private_memory, LARGEST, sizeof(long), info, MPI_COMM_WORLD, &win);
    else
        MPI_Win_allocate(LARGEST, sizeof(long), info, MPI_COMM_WORLD, base, &win);
    MPI_Info_free(&info);
    memset(*base, 1, LARGEST);
    return win;
}

static void named(const char *how, const char *what, long number, double value)
{
    char key[64];
    snprintf(key, sizeof key, "%s_%s", how, what);
    figure(key, number, value, "ns");
}

// Calls of 8 bytes while rank 1 is elsewhere; without a flush each, as many are under way as all
// the peers bear.
static void small_calls(const char *how, MPI_Win win)
{
    double best;
    long value = 1, old, compare = 0, olds[UNDER_WAY];
    MPI_Win_lock_all(0, win);
    FASTEST(best, BATCHES, SMALL_BATCH,
            MPI_Put(&value, 1, MPI_LONG, 1, i % TABLE, 1, MPI_LONG, win);
            MPI_Win_flush(1, win));
    named(how, "put_flush", 8, best);
    FASTEST(best, BATCHES, SMALL_BATCH,
            MPI_Put(&value, 1, MPI_LONG, 1, i % TABLE, 1, MPI_LONG, win);
            if (i % UNDER_WAY == 0) MPI_Win_flush(1, win));
    named(how, "put", 8, best);
    FASTEST(best, BATCHES, SMALL_BATCH,
            MPI_Get(&value, 1, MPI_LONG, 1, i % TABLE, 1, MPI_LONG, win);
            MPI_Win_flush(1, win));
    named(how, "get_flush", 8, best);
    FASTEST(best, BATCHES, SMALL_BATCH,
            MPI_Fetch_and_op(&value, &old, MPI_LONG, 1, 0, MPI_SUM, win);
            MPI_Win_flush(1, win));
    named(how, "fetch_and_op_flush", -1, best);
    FASTEST(best, BATCHES, SMALL_BATCH,
            MPI_Fetch_and_op(&value, &olds[i % UNDER_WAY], MPI_LONG, 1, 0, MPI_SUM, win);
            if (i % UNDER_WAY == 0) MPI_Win_flush(1, win));
    named(how, "fetch_and_op", -1, best);
    FASTEST(best, BATCHES, SMALL_BATCH,
            MPI_Compare_and_swap(&value, &compare, &old, MPI_LONG, 1, 0, win);
            MPI_Win_flush(1, win));
    named(how, "compare_and_swap_flush", -1, best);
    MPI_Win_unlock_all(win);
    FASTEST(best, BATCHES, SMALL_BATCH, MPI_Win_lock(MPI_LOCK_EXCLUSIVE, 1, 0, win);
            MPI_Put(&value, 1, MPI_LONG, 1, i % TABLE, 1, MPI_LONG, win); MPI_Win_unlock(1, win));
    named(how, "lock_put_unlock", -1, best);
    FASTEST(best, BATCHES, SMALL_BATCH, MPI_Win_lock(MPI_LOCK_SHARED, 1, 0, win);
            MPI_Put(&value, 1, MPI_LONG, 1, i % TABLE, 1, MPI_LONG, win); MPI_Win_unlock(1, win));
    named(how, "shared_lock_put_unlock", -1, best);
}

static void add_here(long *restrict to, const long *restrict from, size_t n)
{
    for (size_t i = 0; i < n; i++)
        to[i] += from[i];
}

// Blocks; memcpy and the sum to the same place where it is mapped here.
static void blocks(const char *how, MPI_Win win, long *mapped)
{
    double best;
    MPI_Win_lock_all(0, win);
    for (int n = 65536; n <= LARGEST; n *= 16) {
        int count = n / (int)sizeof(long), calls = n == 65536 ? 50 : 5;
        FASTEST(best, BATCHES, calls, MPI_Put(local, count, MPI_LONG, 1, 0, count, MPI_LONG, win);
                MPI_Win_flush(1, win));
        named(how, "put_flush", n, best);
        FASTEST(best, BATCHES, calls, memcpy(mapped ? mapped : window, local, hidden((size_t)n)));
        named(how, "memcpy", n, best);
    }
    int count = 65536 / (int)sizeof(long);
    FASTEST(best, BATCHES, 10,
            MPI_Accumulate(local, count, MPI_LONG, 1, 0, count, MPI_LONG, MPI_SUM, win);
            MPI_Win_flush(1, win));
    named(how, "accumulate", 65536, best);
    count = 65536 / (int)sizeof(double);
    FASTEST(best, BATCHES, 10,
            MPI_Accumulate(local, count, MPI_DOUBLE, 1, 0, count, MPI_DOUBLE, MPI_SUM, win);
            MPI_Win_flush(1, win));
    named(how, "accumulate_double", 65536, best);
    MPI_Win_unlock_all(win);
    MPI_Win_lock(MPI_LOCK_EXCLUSIVE, 1, 0, win);
    FASTEST(best, BATCHES, 10,
            MPI_Accumulate(local, count, MPI_LONG, 1, 0, count, MPI_LONG, MPI_SUM, win);
            MPI_Win_flush(1, win));
    named(how, "accumulate_exclusive", 65536, best);
    FASTEST(best, BATCHES, 10, add_here(mapped ? mapped : window, local, hidden((size_t)count)));
    named(how, "add", 65536, best);
    MPI_Win_unlock(1, win);
}

// Runs of 8 bytes, one of each line.
static void strided(const char *how, MPI_Win win)
{
    enum { RUNS = 4096, STEP = 8 };
    double best;
    MPI_Datatype column;
    MPI_Type_vector(RUNS, 1, STEP, MPI_LONG, &column);
    MPI_Type_commit(&column);
    MPI_Win_lock_all(0, win);
    FASTEST(best, BATCHES, 5, MPI_Get(local, RUNS, MPI_LONG, 1, 0, 1, column, win);
            MPI_Win_flush(1, win));
    named(how, "get_strided", RUNS, best);
    FASTEST(best, BATCHES, 5, MPI_Put(local, RUNS, MPI_LONG, 1, 0, 1, column, win);
            MPI_Win_flush(1, win));
    named(how, "put_strided", RUNS, best);
    MPI_Win_unlock_all(win);
    MPI_Type_free(&column);
}

// Both take part.
static void together(const char *how, MPI_Win win)
{
    double best;
    MPI_Barrier(MPI_COMM_WORLD);
    FASTEST(best, 50, 200, MPI_Win_fence(0, win));
    if (me == 0)
        named(how, "fence", npes, best);
    MPI_Barrier(MPI_COMM_WORLD);
    FASTEST(best, 50, 200, MPI_Barrier(MPI_COMM_WORLD));
    if (me == 0)
        named(how, "barrier", npes, best);
    MPI_Win_fence(MPI_MODE_NOSUCCEED, win);
    MPI_Group world, other;
    MPI_Comm_group(MPI_COMM_WORLD, &world);
    MPI_Group_incl(world, 1, (int[]){!me}, &other);
    MPI_Barrier(MPI_COMM_WORLD);
    FASTEST(
        best, 50, 200,
        if (me == 0) {
            MPI_Win_start(other, 0, win);
            MPI_Win_complete(win);
        } else {
            MPI_Win_post(other, 0, win);
            MPI_Win_wait(win);
        });
    if (me == 0)
        named(how, "post_start", npes, best);
    MPI_Group_free(&other);
    MPI_Group_free(&world);
}

#if defined(BENCH_SHMEM) // of the peers some wait for ever: they need the help of rank 1
// Rank 1 computes, and looks for a flag in its own memory now and then.
static void busy(const char *how, MPI_Win win, long *base)
{
    double best;
    long value = 1;
    MPI_Win_lock_all(0, win);
    MPI_Barrier(MPI_COMM_WORLD);
    if (me == 0) {
        FASTEST(best, BATCHES, SMALL_BATCH,
                MPI_Put(&value, 1, MPI_LONG, 1, 1 + i % TABLE, 1, MPI_LONG, win);
                MPI_Win_flush(1, win));
        named(how, "busy_put_flush", 8, best);
        value = -1;
        MPI_Put(&value, 1, MPI_LONG, 1, 0, 1, MPI_LONG, win);
        MPI_Win_flush(1, win);
    } else {
        double x = 1;
        while (*(volatile long *)base != -1)
            for (int i = 0; i < 1000; i++) {
                x = x * 1.0000001 + 1e-9;
                forget();
            }
        local[0] = (long)x;
    }
    MPI_Win_unlock_all(win);
    MPI_Barrier(MPI_COMM_WORLD);
}
#endif

// A put by messages: where and what, and an answer when it is there.
static void emulated(void)
{
    double best;
    long value = 1, message[2] = {0, 0};
    const int calls = 50 * 200;
    MPI_Barrier(MPI_COMM_WORLD);
    if (me == 0) {
        FASTEST(best, 50, 200, MPI_Send(message, 2, MPI_LONG, 1, 0, MPI_COMM_WORLD);
                MPI_Recv(&value, 1, MPI_LONG, 1, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE));
        figure("emulated_put_flush", 8, best, "ns");
    } else {
        for (int i = 0; i < calls; i++) {
            MPI_Recv(message, 2, MPI_LONG, 0, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
            window[message[0]] = message[1];
            MPI_Send(&value, 1, MPI_LONG, 0, 0, MPI_COMM_WORLD);
        }
    }
}

static long *mapped_of(const char *how, MPI_Win win)
{
    long *mapped = NULL;
    MPI_Aint size = 0;
    int unit;
    if (strcmp(how, "created")) {
        MPI_Win_set_errhandler(win, MPI_ERRORS_RETURN);
        if (MPI_Win_shared_query(win, 1, &size, &unit, &mapped) != MPI_SUCCESS || size == 0)
            mapped = NULL;
    }
    return mapped;
}

int main(void)
{
    MPI_Init(NULL, NULL);
    MPI_Comm_rank(MPI_COMM_WORLD, &me);
    MPI_Comm_size(MPI_COMM_WORLD, &npes);
    if (npes != 2)
        MPI_Abort(MPI_COMM_WORLD, 1);
    pin(me);
    private_memory = malloc(LARGEST);
    local = malloc(LARGEST);
    memset(local, 1, LARGEST);
    static const char *const ways[] = {"allocated", "coarse", "created"};
    for (int i = 0; i < 3; i++) {
        MPI_Win win = make(ways[i], &window);
        MPI_Barrier(MPI_COMM_WORLD);
        if (me == 0) {
            small_calls(ways[i], win);
            blocks(ways[i], win, mapped_of(ways[i], win));
            strided(ways[i], win);
        }
        MPI_Barrier(MPI_COMM_WORLD);
        together(ways[i], win);
#if defined(BENCH_SHMEM)
        busy(ways[i], win, window);
#endif
        if (i == 0)
            emulated();
        MPI_Barrier(MPI_COMM_WORLD);
        MPI_Win_free(&win);
    }
    MPI_Finalize();
    return 0;
}
