// SPDX-License-Identifier: BSD-3-Clause
// Between nodes operations return at once and are complete after a flush, requests after MPI_Wait: the
// target is stopped by SIGSTOP until the origin has begun one of each kind (the alarm ends an origin
// that waits there). More of them than can be under way; fetching accumulates of arrays, in order.
// PES: 2 4
// ALSO: 16
// ENV: SHOAL_VNODES=2
#include "rma_check.h"

#include <shoal.h>
#include <signal.h>
#include <unistd.h>

enum { N = 1000, PART = 100, MANY = 1200, REQUESTS = 4, RUNS = 10, STRIDE = 12, ROUNDS = 50 };
static int target;
static pid_t process;

static long value(long i)
{
    return 3 * i + 1;
}

static long larger(long i) // of what is there and what comes to it
{
    return value(i) > 7 * PART + i ? value(i) : 7 * PART + i;
}

// Where element i of the target's layout in runs lies.
static long in_run(long i)
{
    return i / (PART / RUNS) * STRIDE + i % (PART / RUNS);
}

static bool stops(void)
{
    uint64_t room = 0;
    CHECK_EQ(shoal_query(SHOAL_Q_AM_MAX, 0, &room), SHOAL_OK);
    return room >= 1024; // a build of tiny queues has none for so many operations
}

static void stop(void)
{
    alarm(40);
    CHECK_EQ(kill(process, stops() ? SIGSTOP : SIGCONT), 0);
    while (stops() && check_process_state((uint64_t)process) != 'T')
        sched_yield();
}

static void go_on(void)
{
    CHECK_EQ(check_process_state((uint64_t)process) == 'T', stops());
    CHECK_EQ(kill(process, SIGCONT), 0);
}

static long out[2 * N], in[8][N];
static long held, swapped = -5; // what the first compare_and_swap finds, and leaves

// One of each kind that shared memory has: parts of the window, one after the other.
static void begin_accumulates(MPI_Win win, MPI_Request *r)
{
    MPI_Datatype gaps, runs;
    OK(MPI_Type_vector(PART, 1, 2, MPI_LONG, &gaps));
    OK(MPI_Type_commit(&gaps));
    OK(MPI_Type_vector(RUNS, PART / RUNS, STRIDE, MPI_LONG, &runs));
    OK(MPI_Type_commit(&runs));
    OK(MPI_Accumulate(out, PART, MPI_LONG, target, 4 * PART, PART, MPI_LONG, MPI_SUM, win));
    OK(MPI_Accumulate(out, 1, gaps, target, 4 * PART, PART, MPI_LONG, MPI_SUM, win));
    OK(MPI_Get_accumulate(out, PART, MPI_LONG, in[2], 1, gaps, target, 5 * PART, PART, MPI_LONG,
                          MPI_REPLACE, win));
    OK(MPI_Get_accumulate(out, 1, gaps, in[3], PART, MPI_LONG, target, 5 * PART, PART, MPI_LONG,
                          MPI_SUM, win));
    OK(MPI_Fetch_and_op(out, in[4], MPI_LONG, target, 6 * PART, MPI_SUM, win));
    OK(MPI_Fetch_and_op(NULL, in[4] + 1, MPI_LONG, target, 6 * PART, MPI_NO_OP, win));
    OK(MPI_Compare_and_swap(&swapped, &held, in[4] + 2, MPI_LONG, target, 6 * PART, win));
    OK(MPI_Compare_and_swap(&swapped, &held, in[4] + 3, MPI_LONG, target, 6 * PART + 2, win));
    OK(MPI_Accumulate(out, PART, MPI_LONG, target, 8 * PART, 1, runs, MPI_SUM, win));
    OK(MPI_Get_accumulate(out, PART, MPI_LONG, in[7], 1, gaps, target, 8 * PART, 1, runs,
                          MPI_REPLACE, win));
    OK(MPI_Raccumulate(out, PART, MPI_LONG, target, 7 * PART, PART, MPI_LONG, MPI_MAX, win, &r[2]));
    OK(MPI_Rget_accumulate(out, PART, MPI_LONG, in[5], PART, MPI_LONG, target, 7 * PART, PART,
                           MPI_LONG, MPI_SUM, win, &r[3]));
    OK(MPI_Type_free(&gaps));
    OK(MPI_Type_free(&runs));
}

static void begin_moves(MPI_Win win, MPI_Request *r)
{
    MPI_Datatype gaps;
    OK(MPI_Type_vector(PART, 1, 2, MPI_LONG, &gaps));
    OK(MPI_Type_commit(&gaps));
    OK(MPI_Put(out, PART, MPI_LONG, target, 0, PART, MPI_LONG, win));
    OK(MPI_Put(out, 1, gaps, target, PART, PART, MPI_LONG, win));
    OK(MPI_Get(in[0], PART, MPI_LONG, target, 2 * PART, PART, MPI_LONG, win));
    OK(MPI_Get(in[1], 1, gaps, target, 2 * PART, PART, MPI_LONG, win));
    OK(MPI_Rput(out, PART, MPI_LONG, target, 3 * PART, PART, MPI_LONG, win, &r[0]));
    OK(MPI_Rget(in[6], PART, MPI_LONG, target, 2 * PART, PART, MPI_LONG, win, &r[1]));
    OK(MPI_Type_free(&gaps));
}

static void check_back(bool accumulates)
{
    CHECK_EACH(i, PART, in[0][i], 2 * PART + i);
    CHECK_EACH(i, PART, in[1][2 * i], 2 * PART + i);
    CHECK_EACH(i, PART - 1, in[1][2 * i + 1], -1);
    CHECK_EACH(i, PART, in[6][i], 2 * PART + i);
    if (!accumulates)
        return;
    CHECK_EACH(i, PART, in[2][2 * i], 5 * PART + i);
    CHECK_EACH(i, PART - 1, in[2][2 * i + 1], -1);
    CHECK_EACH(i, PART, in[3][i], value((long)i));
    CHECK_EQ(in[4][0], 6 * PART);
    CHECK_EQ(in[4][1], 6 * PART + value(0));
    CHECK_EQ(in[4][2], held);
    CHECK_EQ(in[4][3], 6 * PART + 2);
    CHECK_EACH(i, PART, in[5][i], larger((long)i));
    CHECK_EACH(i, PART, in[7][2 * i], 8 * PART + in_run((long)i) + value((long)i));
    CHECK_EACH(i, PART - 1, in[7][2 * i + 1], -1);
}

static void check_there(const long *p, bool accumulates)
{
    CHECK_EACH(i, PART, p[i], value((long)i));
    CHECK_EACH(i, PART, p[PART + i], value(2 * (long)i));
    CHECK_EACH(i, PART, p[3 * PART + i], value((long)i));
    if (!accumulates)
        return;
    CHECK_EACH(i, PART, p[4 * PART + i], 4 * PART + i + value((long)i) + value(2 * (long)i));
    CHECK_EACH(i, PART, p[5 * PART + i], value((long)i) + value(2 * (long)i));
    CHECK_EQ(p[6 * PART], swapped);
    CHECK_EQ(p[6 * PART + 2], 6 * PART + 2);
    CHECK_EACH(i, PART, p[7 * PART + i], larger((long)i) + value((long)i));
    CHECK_EACH(i, PART, p[8 * PART + in_run((long)i)], value((long)i));
    CHECK_EACH(i, RUNS, p[8 * PART + STRIDE * i + PART / RUNS],
               8 * PART + STRIDE * i + PART / RUNS);
}

static void stopped(MPI_Win win, long *p, bool accumulates)
{
    MPI_Request r[REQUESTS] = {MPI_REQUEST_NULL, MPI_REQUEST_NULL, MPI_REQUEST_NULL,
                               MPI_REQUEST_NULL};
    for (int i = 0; i < N; i++)
        p[i] = i;
    held = 6 * PART + value(0);
    OK(MPI_Barrier(MPI_COMM_WORLD));
    if (me == 0) {
        memset(in, 0xff, sizeof in);
        OK(MPI_Win_lock(MPI_LOCK_SHARED, target, 0, win));
        OK(MPI_Get(in[0], 1, MPI_LONG, target, 0, 1, MPI_LONG, win)); // they know each other
        OK(MPI_Put(in[0], 1, MPI_LONG, target, N - 1, 1, MPI_LONG, win));
        OK(MPI_Win_flush(target, win));
        stop();
        begin_moves(win, r);
        if (accumulates)
            begin_accumulates(win, r);
        go_on();
        OK(MPI_Waitall(REQUESTS, r, MPI_STATUSES_IGNORE));
        OK(MPI_Win_flush(target, win));
        check_back(accumulates);
        OK(MPI_Win_unlock(target, win));
        alarm(0);
    }
    OK(MPI_Barrier(MPI_COMM_WORLD));
    if (me == target)
        check_there(p, accumulates);
}

// Under an exclusive lock, too, one origin's operations on a word have their order.
static void exclusive(MPI_Win win, long *p)
{
    const long zero = 0, one = 1, hundred = 100;
    long found = -1;
    OK(MPI_Barrier(MPI_COMM_WORLD));
    for (int round = 0; round < ROUNDS && me == 0; round++) {
        OK(MPI_Win_lock(MPI_LOCK_EXCLUSIVE, target, 0, win));
        OK(MPI_Accumulate(&zero, 1, MPI_LONG, target, 0, 1, MPI_LONG, MPI_REPLACE, win));
        OK(MPI_Compare_and_swap(&hundred, &zero, &found, MPI_LONG, target, 0, win));
        OK(MPI_Accumulate(&one, 1, MPI_LONG, target, 0, 1, MPI_LONG, MPI_SUM, win));
        OK(MPI_Win_flush(target, win));
        CHECK_EQ(found, 0);
        OK(MPI_Get(&found, 1, MPI_LONG, target, 0, 1, MPI_LONG, win));
        OK(MPI_Win_unlock(target, win));
        CHECK_EQ(found, 101);
    }
    OK(MPI_Barrier(MPI_COMM_WORLD));
    if (me == target)
        CHECK_EQ(p[0], 101);
}

// Of one origin in their order, and more than can be under way at once.
static void many(MPI_Win win, long *p)
{
    static long old[MANY], big[2 * N], before[N], was[2 * N];
    const long one = 1;
    p[0] = 0;
    OK(MPI_Barrier(MPI_COMM_WORLD));
    if (me == 0) {
        MPI_Request r[2];
        OK(MPI_Win_lock_all(0, win));
        for (int i = 0; i < MANY; i++)
            OK(MPI_Fetch_and_op(&one, &old[i], MPI_LONG, target, 0, MPI_SUM, win));
        OK(MPI_Win_flush_local(target, win));
        CHECK_EACH(i, MANY, old[i], i);
        for (int i = 0; i < 2 * N; i++)
            big[i] = i;
        OK(MPI_Get_accumulate(big, N, MPI_LONG, before, N, MPI_LONG, target, 0, N, MPI_LONG,
                              MPI_REPLACE, win));
        OK(MPI_Get_accumulate(big, N, MPI_LONG, was, N, MPI_LONG, target, 0, N, MPI_LONG, MPI_PROD,
                              win));
        OK(MPI_Win_flush_all(win));
        CHECK_EACH(i, N, was[i], i);
        for (int round = 0; round < 300; round++) {
            OK(MPI_Rput(big + round, 2, MPI_LONG, target, 0, 2, MPI_LONG, win, &r[0]));
            OK(MPI_Rget(was, N, MPI_LONG, target, 0, N, MPI_LONG, win, &r[1]));
            OK(MPI_Waitall(2, r, MPI_STATUSES_IGNORE));
            CHECK_EACH(i, N - 2, was[i + 2], (i + 2) * (i + 2));
        }
        OK(MPI_Win_unlock_all(win));
    }
    OK(MPI_Barrier(MPI_COMM_WORLD));
    if (me == target)
        CHECK_EACH(i, N, p[i], i < 2 ? 299 + i : (long)i * i);
}

int main(void)
{
    MPI_Win allocated, created;
    long *p, *mine;
    check_skip_under_tsan();
    mpi_start();
    target = npes - 1;
    int pid = (int)getpid();
    OK(MPI_Bcast(&pid, 1, MPI_INT, target, MPI_COMM_WORLD));
    process = pid;
    if (npes == 1)
        return mpi_done();
    for (int i = 0; i < 2 * N; i++)
        out[i] = value((long)i);
    mine = must_alloc(N * sizeof *mine);
    OK(MPI_Win_allocate(N * sizeof *p, sizeof *p, MPI_INFO_NULL, MPI_COMM_WORLD, &p, &allocated));
    OK(MPI_Win_create(mine, N * sizeof *mine, sizeof *mine, MPI_INFO_NULL, MPI_COMM_WORLD,
                      &created));
    stopped(allocated, p, true);
    stopped(created, mine, false);
    exclusive(allocated, p);
    many(allocated, p);
    OK(MPI_Win_free(&created));
    OK(MPI_Win_free(&allocated));
    free(mine);
    return mpi_done();
}
