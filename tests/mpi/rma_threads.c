// SPDX-License-Identifier: BSD-3-Clause
// Threads: all of a process use one window within MPI_Win_lock_all; each locks targets of its own
// window; accumulates of several threads and processes add up, also where no other process can be
// there; requests from several threads; and two threads that want one lock at a time.
// ALSO: 16
#include "rma_check.h"

#include <pthread.h>
#include <unistd.h>

enum { THREADS = 4, TIMES = 400, ADDS = 20000, ADDED = 16 };

static MPI_Win all, own[THREADS], wide_win, spread;
static long *words;

static void *work(void *arg)
{
    int id = (int)(intptr_t)arg;
    uint64_t seed = (uint64_t)(me * THREADS + id);
    long one = 1, got = -1, mine = 100 + id;
    long double wide = 1;
    for (int i = 0; i < TIMES; i++) {
        int target = (int)rnd_below(&seed, (size_t)npes);
        // Word 0: sums; word 1 + k: of thread k of any process, by whole values; the last: wide.
        OK(MPI_Accumulate(&one, 1, MPI_LONG, target, 0, 1, MPI_LONG, MPI_SUM, all));
        OK(MPI_Put(&mine, 1, MPI_LONG, me, 1 + id, 1, MPI_LONG, all));
        OK(MPI_Win_flush(me, all));
        OK(MPI_Get(&got, 1, MPI_LONG, me, 1 + id, 1, MPI_LONG, all));
        OK(MPI_Win_flush(me, all));
        CHECK_EQ(got, 100 + id);
        OK(MPI_Accumulate(&wide, 1, MPI_LONG_DOUBLE, target, 0, 1, MPI_LONG_DOUBLE, MPI_SUM,
                          wide_win));
        // One window, and each thread's own targets in it.
        target = target / THREADS * THREADS + id;
        if (target < npes) {
            OK(MPI_Win_lock(i % 4 ? MPI_LOCK_SHARED : MPI_LOCK_EXCLUSIVE, target, 0, spread));
            OK(MPI_Get(&got, 1, MPI_LONG, target, 0, 1, MPI_LONG, spread));
            OK(MPI_Win_flush_local(target, spread));
            CHECK_EQ(got, 7 + target);
            OK(MPI_Win_unlock(target, spread));
        }
        target = target < npes ? target : me;
        if (i % 8 == 0) {
            MPI_Request r;
            OK(MPI_Win_lock(i % 16 ? MPI_LOCK_EXCLUSIVE : MPI_LOCK_SHARED, target, 0, own[id]));
            OK(MPI_Raccumulate(&one, 1, MPI_LONG, target, 0, 1, MPI_LONG, MPI_SUM, own[id], &r));
            OK(MPI_Wait(&r, MPI_STATUS_IGNORE));
            OK(MPI_Win_unlock(target, own[id]));
        }
    }
    return NULL;
}

static long total(long mine)
{
    long sum;
    OK(MPI_Allreduce(&mine, &sum, 1, MPI_LONG, MPI_SUM, MPI_COMM_WORLD));
    return sum;
}

static void run_threads(void *(*fn)(void *), void *arg)
{
    pthread_t threads[THREADS];
    for (int i = 0; i < THREADS; i++)
        CHECK_EQ(pthread_create(&threads[i], NULL, fn, arg ? arg : (void *)(intptr_t)i), 0);
    for (int i = 0; i < THREADS; i++)
        pthread_join(threads[i], NULL);
}

struct sums {
    MPI_Win win, wide;
    int target, times;
};

static void *add(void *arg)
{
    const struct sums *s = arg;
    long one[ADDED];
    long double wide = 1;
    for (int i = 0; i < ADDED; i++)
        one[i] = 1;
    for (int i = 0; i < s->times; i++) {
        OK(MPI_Accumulate(one, ADDED, MPI_LONG, s->target, 0, ADDED, MPI_LONG, MPI_SUM, s->win));
        OK(MPI_Accumulate(&wide, 1, MPI_LONG_DOUBLE, s->target, 0, 1, MPI_LONG_DOUBLE, MPI_SUM,
                          s->wide));
    }
    return NULL;
}

// An exclusive lock, or a window with one member, keeps other processes away, not other threads.
static void alone(MPI_Comm comm, int target)
{
    long *sum;
    long double *wide;
    int rank;
    struct sums s = {.target = target, .times = fewer(ADDS)};
    OK(MPI_Comm_rank(comm, &rank));
    OK(MPI_Win_allocate(ADDED * sizeof *sum, sizeof *sum, MPI_INFO_NULL, comm, &sum, &s.win));
    OK(MPI_Win_allocate(sizeof *wide, sizeof *wide, MPI_INFO_NULL, comm, &wide, &s.wide));
    memset(sum, 0, ADDED * sizeof *sum);
    *wide = 0;
    OK(MPI_Barrier(comm));
    if (rank == 0) {
        OK(MPI_Win_lock(MPI_LOCK_EXCLUSIVE, target, 0, s.win));
        OK(MPI_Win_lock(MPI_LOCK_EXCLUSIVE, target, 0, s.wide));
        run_threads(add, &s);
        OK(MPI_Win_unlock(target, s.wide));
        OK(MPI_Win_unlock(target, s.win));
    }
    OK(MPI_Barrier(comm));
    if (rank == target) {
        CHECK_EACH(i, ADDED, sum[i], (long)s.times * THREADS);
        CHECK_EQ(*wide, s.times * THREADS);
    }
    OK(MPI_Win_free(&s.wide));
    OK(MPI_Win_free(&s.win));
}

// A thread asks for addresses while another one opens and ends epochs; no lock is left.
static _Atomic bool is_over;

static void *ask(void *win)
{
    while (!is_over)
        for (int i = 0; i < npes; i++) {
            MPI_Aint size;
            int unit;
            void *there;
            OK(MPI_Win_shared_query(*(MPI_Win *)win, i, &size, &unit, &there));
        }
    return NULL;
}

static void queries(void)
{
    MPI_Win win;
    pthread_t thread;
    void *own_memory;
    OK(MPI_Win_allocate(64, 1, MPI_INFO_NULL, MPI_COMM_WORLD, &own_memory, &win));
    OK(pthread_create(&thread, NULL, ask, &win));
    for (int i = 0; i < TIMES; i++) {
        OK(MPI_Win_lock_all(0, win));
        OK(MPI_Win_unlock_all(win));
    }
    is_over = true;
    pthread_join(thread, NULL);
    OK(MPI_Barrier(MPI_COMM_WORLD));
    OK(MPI_Win_lock(MPI_LOCK_EXCLUSIVE, (me + 1) % npes, 0, win));
    OK(MPI_Win_unlock((me + 1) % npes, win));
    OK(MPI_Win_free(&win));
}

// Two threads want the lock of one target, which another process has: one of them waits, and the other is told so.
static _Atomic int told;

static void *lock_own(void *win)
{
    int error = class_of(MPI_Win_lock(MPI_LOCK_EXCLUSIVE, 0, 0, *(MPI_Win *)win));
    if (error == MPI_SUCCESS)
        OK(MPI_Win_unlock(0, *(MPI_Win *)win));
    else
        CHECK_EQ(error, MPI_ERR_RMA_SYNC);
    told += error != MPI_SUCCESS;
    return NULL;
}

static void same_target(void)
{
    enum { SECONDS = 10 };
    MPI_Win win;
    pthread_t thread[2];
    OK(MPI_Win_create(words, sizeof *words, 1, MPI_INFO_NULL, MPI_COMM_WORLD, &win));
    OK(MPI_Win_set_errhandler(win, MPI_ERRORS_RETURN));
    if (me == 1)
        OK(MPI_Win_lock(MPI_LOCK_EXCLUSIVE, 0, 0, win));
    OK(MPI_Barrier(MPI_COMM_WORLD));
    if (me == 0 && npes > 1) {
        double end = MPI_Wtime() + SECONDS;
        for (int i = 0; i < 2; i++)
            CHECK_EQ(pthread_create(&thread[i], NULL, lock_own, &win), 0);
        while (!told && CHECK(MPI_Wtime() < end))
            usleep(100);
    }
    OK(MPI_Barrier(MPI_COMM_WORLD));
    if (me == 1)
        OK(MPI_Win_unlock(0, win));
    for (int i = 0; me == 0 && npes > 1 && i < 2; i++)
        pthread_join(thread[i], NULL);
    CHECK_EQ(told, me == 0 && npes > 1);
    OK(MPI_Win_free(&win));
}

int main(void)
{
    int provided;
    long *counters[THREADS], seven;
    long double *wide;
    OK(MPI_Init_thread(NULL, NULL, MPI_THREAD_MULTIPLE, &provided));
    OK(MPI_Comm_rank(MPI_COMM_WORLD, &me));
    OK(MPI_Comm_size(MPI_COMM_WORLD, &npes));
    OK(MPI_Win_allocate((1 + THREADS) * sizeof(long), sizeof(long), MPI_INFO_NULL, MPI_COMM_WORLD,
                        &words, &all));
    OK(MPI_Win_allocate(sizeof *wide, sizeof *wide, MPI_INFO_NULL, MPI_COMM_WORLD, &wide,
                        &wide_win));
    memset(words, 0, (1 + THREADS) * sizeof(long));
    *wide = 0;
    seven = 7 + me;
    OK(MPI_Win_create(&seven, sizeof seven, 1, MPI_INFO_NULL, MPI_COMM_WORLD, &spread));
    for (int i = 0; i < THREADS; i++) {
        OK(MPI_Win_allocate(sizeof(long), sizeof(long), MPI_INFO_NULL, MPI_COMM_WORLD, &counters[i],
                            &own[i]));
        *counters[i] = 0;
    }
    OK(MPI_Barrier(MPI_COMM_WORLD));
    OK(MPI_Win_lock_all(0, all));
    OK(MPI_Win_lock_all(0, wide_win));
    run_threads(work, NULL);
    OK(MPI_Win_unlock_all(wide_win));
    OK(MPI_Win_unlock_all(all));
    OK(MPI_Barrier(MPI_COMM_WORLD));
    CHECK_EQ(total(words[0]), (long)TIMES * THREADS * npes);
    CHECK_EQ(total((long)*wide), (long)TIMES * THREADS * npes);
    for (int i = 0; i < THREADS; i++) {
        CHECK_EQ(total(*counters[i]), (long)TIMES / 8 * npes);
        OK(MPI_Win_free(&own[i]));
    }
    OK(MPI_Win_free(&spread));
    OK(MPI_Win_free(&wide_win));
    same_target();
    OK(MPI_Win_free(&all));
    alone(MPI_COMM_WORLD, npes - 1);
    alone(MPI_COMM_SELF, 0);
    queries();
    return mpi_done();
}
