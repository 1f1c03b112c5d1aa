// SPDX-License-Identifier: BSD-3-Clause
// Corners of the calls on windows: MPI_PROC_NULL, counts of type MPI_Count and such as no memory
// has, MPI_NO_OP without operands, shared windows of which some or all have no memory or no common
// node, loads and stores around MPI_Win_sync.
// PES: 2 4
#include "rma_check.h"

#include <limits.h>

enum { N = 8 };
#define GIVES(class, call) CHECK_EQ(class_of(call), class)

static MPI_Win win;
static long *memory; // N of the window
static MPI_Comm node;
static int node_me, node_npes;

static void window_open(void)
{
    OK(MPI_Win_allocate(N * sizeof(long), sizeof(long), MPI_INFO_NULL, MPI_COMM_WORLD, &memory,
                        &win));
    OK(MPI_Win_set_errhandler(win, MPI_ERRORS_RETURN));
    for (int i = 0; i < N; i++)
        memory[i] = me * 100 + i;
    OK(MPI_Barrier(MPI_COMM_WORLD));
    OK(MPI_Win_lock_all(0, win));
}

static void window_close(void)
{
    OK(MPI_Win_unlock_all(win));
    OK(MPI_Win_free(&win));
}

// ---- MPI_PROC_NULL: nothing happens, successfully
static void null_calls(void)
{
    long one = 1, result = 7;
    OK(MPI_Put(&one, 1, MPI_LONG, MPI_PROC_NULL, -5, 1, MPI_LONG, win));
    OK(MPI_Get(&result, 1, MPI_LONG, MPI_PROC_NULL, 0, 1, MPI_LONG, win));
    OK(MPI_Accumulate(&one, 1, MPI_LONG, MPI_PROC_NULL, 99, 1, MPI_LONG, MPI_SUM, win));
    OK(MPI_Get_accumulate(&one, 1, MPI_LONG, &result, 1, MPI_LONG, MPI_PROC_NULL, 0, 1, MPI_LONG,
                          MPI_SUM, win));
    OK(MPI_Fetch_and_op(&one, &result, MPI_LONG, MPI_PROC_NULL, 0, MPI_SUM, win));
    OK(MPI_Compare_and_swap(&one, &one, &result, MPI_LONG, MPI_PROC_NULL, 0, win));
    OK(MPI_Put(NULL, 1, MPI_LONG, MPI_PROC_NULL, 0, 1, MPI_LONG, win));
    OK(MPI_Get(NULL, 1, MPI_LONG, MPI_PROC_NULL, 0, 1, MPI_LONG, win));
    OK(MPI_Get_accumulate(NULL, 1, MPI_LONG, NULL, 1, MPI_LONG, MPI_PROC_NULL, 0, 1, MPI_LONG,
                          MPI_SUM, win));
    OK(MPI_Win_flush(MPI_PROC_NULL, win));
    OK(MPI_Win_flush_local(MPI_PROC_NULL, win));
    CHECK_EQ(result, 7);
}

static void null_end(MPI_Request *r)
{
    MPI_Status status = {.MPI_SOURCE = 0, .MPI_TAG = 0};
    int count = -1;
    OK(MPI_Wait(r, &status));
    CHECK_EQ(status.MPI_SOURCE, MPI_PROC_NULL);
    CHECK_EQ(status.MPI_TAG, MPI_ANY_TAG);
    OK(MPI_Get_count(&status, MPI_LONG, &count));
    CHECK_EQ(count, 0);
}

static void null_requests(void)
{
    long one = 1, result = 7;
    MPI_Request r;
    OK(MPI_Rput(&one, 1, MPI_LONG, MPI_PROC_NULL, 0, 1, MPI_LONG, win, &r));
    null_end(&r);
    OK(MPI_Rget(&result, 1, MPI_LONG, MPI_PROC_NULL, 0, 1, MPI_LONG, win, &r));
    null_end(&r);
    OK(MPI_Raccumulate(&one, 1, MPI_LONG, MPI_PROC_NULL, 0, 1, MPI_LONG, MPI_SUM, win, &r));
    null_end(&r);
    OK(MPI_Rget_accumulate(&one, 1, MPI_LONG, &result, 1, MPI_LONG, MPI_PROC_NULL, 0, 1, MPI_LONG,
                           MPI_SUM, win, &r));
    null_end(&r);
    CHECK_EQ(result, 7);
}

// ---- Counts of type MPI_Count
static void large_counts(void)
{
    long values[N], got[N];
    int next = right_pe();
    for (int i = 0; i < N; i++)
        values[i] = 1000 * me + i;
    OK(MPI_Get_c(got, N, MPI_LONG, next, 0, N, MPI_LONG, win));
    OK(MPI_Win_flush(next, win));
    CHECK_EACH(i, N, got[i], next * 100 + (long)i);
    OK(MPI_Barrier(MPI_COMM_WORLD));
    OK(MPI_Put_c(values, N, MPI_LONG, next, 0, N, MPI_LONG, win));
    OK(MPI_Win_flush(next, win));
    OK(MPI_Accumulate_c(values, N, MPI_LONG, next, 0, N, MPI_LONG, MPI_SUM, win));
    OK(MPI_Get_accumulate_c(values, N, MPI_LONG, got, N, MPI_LONG, next, 0, N, MPI_LONG, MPI_SUM,
                            win));
    OK(MPI_Win_flush(next, win));
    CHECK_EACH(i, N, got[i], 2 * values[i]);
    OK(MPI_Barrier(MPI_COMM_WORLD));
    OK(MPI_Win_sync(win));
    CHECK_EACH(i, N, memory[i], 3 * (1000 * left_pe() + (long)i));
    OK(MPI_Barrier(MPI_COMM_WORLD));
}

static void large_counts_with_requests(void)
{
    long values[N], got[N];
    MPI_Request r;
    int next = right_pe();
    for (int i = 0; i < N; i++)
        values[i] = 2000 * me + i;
    OK(MPI_Rput_c(values, N, MPI_LONG, next, 0, N, MPI_LONG, win, &r));
    OK(MPI_Wait(&r, MPI_STATUS_IGNORE));
    OK(MPI_Win_flush(next, win));
    OK(MPI_Raccumulate_c(values, N, MPI_LONG, next, 0, N, MPI_LONG, MPI_SUM, win, &r));
    OK(MPI_Wait(&r, MPI_STATUS_IGNORE));
    OK(MPI_Rget_accumulate_c(values, N, MPI_LONG, got, N, MPI_LONG, next, 0, N, MPI_LONG, MPI_SUM,
                             win, &r));
    OK(MPI_Wait(&r, MPI_STATUS_IGNORE));
    CHECK_EACH(i, N, got[i], 2 * values[i]);
    OK(MPI_Win_flush(next, win));
    OK(MPI_Rget_c(got, N, MPI_LONG, next, 0, N, MPI_LONG, win, &r));
    OK(MPI_Wait(&r, MPI_STATUS_IGNORE));
    CHECK_EACH(i, N, got[i], 3 * values[i]);
}

// Counts whose bytes no integer holds, or no window.
static void counts_that_overflow(void)
{
    const MPI_Count counts[] = {N + 1, (MPI_Count)1 << 61, (MPI_Count)1 << 62, LLONG_MAX};
    long value = 1;
    for (size_t i = 0; i < sizeof counts / sizeof *counts; i++) {
        MPI_Count n = counts[i];
        int class = i == 0 ? MPI_ERR_RMA_RANGE : MPI_ERR_COUNT;
        GIVES(class, MPI_Put_c(&value, n, MPI_LONG, me, 0, n, MPI_LONG, win));
        GIVES(class, MPI_Get_c(&value, n, MPI_LONG, me, 0, n, MPI_LONG, win));
        GIVES(class, MPI_Accumulate_c(&value, n, MPI_LONG, me, 0, n, MPI_LONG, MPI_SUM, win));
    }
    MPI_Count round = ((MPI_Count)1 << 61) + 1; // 8 bytes, if they come round
    GIVES(MPI_ERR_COUNT, MPI_Put_c(&value, round, MPI_LONG, me, 0, 1, MPI_LONG, win));
    GIVES(MPI_ERR_COUNT, MPI_Get_c(&value, round, MPI_LONG, me, 0, 1, MPI_LONG, win));
    GIVES(MPI_ERR_RMA_RANGE, MPI_Put(&value, INT_MAX, MPI_LONG, me, 0, INT_MAX, MPI_LONG, win));
    GIVES(MPI_ERR_COUNT, MPI_Get_c(&value, -1, MPI_LONG, me, 0, 1, MPI_LONG, win));
    GIVES(MPI_ERR_COUNT, MPI_Put_c(&value, 1, MPI_LONG, me, 0, LLONG_MIN, MPI_LONG, win));
}

// With MPI_NO_OP the operand does not count.
static void no_operands(void)
{
    long got = -1, want = memory[3];
    MPI_Request r;
    OK(MPI_Get_accumulate(NULL, 0, MPI_DATATYPE_NULL, &got, 1, MPI_LONG, me, 3, 1, MPI_LONG,
                          MPI_NO_OP, win));
    OK(MPI_Win_flush(me, win));
    CHECK_EQ(got, want);
    got = -1;
    OK(MPI_Rget_accumulate(NULL, 0, MPI_DATATYPE_NULL, &got, 1, MPI_LONG, me, 3, 1, MPI_LONG,
                           MPI_NO_OP, win, &r));
    OK(MPI_Wait(&r, MPI_STATUS_IGNORE));
    CHECK_EQ(got, want);
    got = -1;
    OK(MPI_Fetch_and_op(NULL, &got, MPI_LONG, me, 3, MPI_NO_OP, win));
    OK(MPI_Win_flush(me, win));
    CHECK_EQ(got, want);
    OK(MPI_Get_accumulate(NULL, 0, MPI_LONG, NULL, 0, MPI_LONG, me, 0, 0, MPI_LONG, MPI_SUM, win));
}

// ---- Units of type MPI_Aint
static void check_query(int rank, MPI_Aint size, MPI_Aint unit, long first)
{
    MPI_Aint n = -1, u = -1;
    long *p = NULL;
    OK(MPI_Win_shared_query_c(win, rank, &n, &u, &p));
    CHECK_EQ(n, size);
    CHECK_EQ(u, unit);
    if (CHECK(p != NULL))
        CHECK_EQ(*p, first);
}

// With all but the first of these units only displacement 0 is within; the last is more than an int
// holds.
static void large_units(void)
{
    const MPI_Aint units[] = {1, INT_MAX, (MPI_Aint)1 << 40};
    for (size_t i = 0; i < sizeof units / sizeof *units; i++) {
        long longs[N] = {0}, value = me + 5, *p;
        int next = right_pe(), unit;
        MPI_Aint size;
        OK(MPI_Win_create_c(longs, sizeof longs, units[i], MPI_INFO_NULL, MPI_COMM_WORLD, &win));
        OK(MPI_Win_set_errhandler(win, MPI_ERRORS_RETURN));
        OK(MPI_Win_fence(0, win));
        OK(MPI_Put(&value, 1, MPI_LONG, next, 0, 1, MPI_LONG, win));
        GIVES(units[i] > N * 8 ? MPI_ERR_RMA_RANGE : MPI_SUCCESS,
              MPI_Put(&value, 1, MPI_LONG, next, 8, 1, MPI_LONG, win));
        OK(MPI_Win_fence(MPI_MODE_NOSUCCEED, win));
        CHECK_EQ(longs[0], left_pe() + 5);
        CHECK_EQ(longs[1], units[i] == 1 ? left_pe() + 5 : 0);
        GIVES(units[i] > INT_MAX ? MPI_ERR_VALUE_TOO_LARGE : MPI_SUCCESS,
              MPI_Win_shared_query(win, me, &size, &unit, &p));
        check_query(me, sizeof longs, units[i], longs[0]);
        OK(MPI_Win_free(&win));
    }
}

static void allocated_c(void)
{
    long *p;
    int next = (node_me + 1) % node_npes;
    OK(MPI_Win_allocate_c(sizeof *p, 8, MPI_INFO_NULL, node, &p, &win));
    *p = 10 + node_me;
    OK(MPI_Win_fence(0, win));
    check_query(next, sizeof *p, 8, 10 + next);
    OK(MPI_Win_fence(0, win));
    OK(MPI_Win_free(&win));
    OK(MPI_Win_allocate_shared_c((node_me + 1) * (MPI_Aint)sizeof *p, node_me + 1, MPI_INFO_NULL,
                                 node, &p, &win));
    *p = 20 + node_me;
    OK(MPI_Win_fence(0, win));
    check_query(next, (next + 1) * (MPI_Aint)sizeof *p, next + 1, 20 + next);
    check_query(MPI_PROC_NULL, sizeof *p, 1, 20);
    OK(MPI_Win_fence(0, win));
    OK(MPI_Win_free(&win));
}

// ---- Shared windows of which some ranks, or all, have no memory
static void no_memory(void)
{
    MPI_Aint size = -1;
    int unit = -1;
    void *p = &size;
    OK(MPI_Win_allocate_shared(0, 1, MPI_INFO_NULL, node, &p, &win));
    OK(MPI_Win_shared_query(win, node_npes - 1, &size, &unit, &p));
    CHECK_EQ(size, 0);
    p = &size;
    OK(MPI_Win_shared_query(win, MPI_PROC_NULL, &size, &unit, &p));
    CHECK(size == 0 && p == NULL);
    OK(MPI_Win_fence(0, win));
    OK(MPI_Win_free(&win));
}

// The lowest rank that has memory is the last.
static void memory_of_the_last(void)
{
    long *p;
    int last = node_npes - 1;
    OK(MPI_Win_allocate_shared(node_me == last ? sizeof *p : 0, 2 + node_me, MPI_INFO_NULL, node,
                               &p, &win));
    OK(MPI_Win_set_errhandler(win, MPI_ERRORS_RETURN));
    if (node_me == last)
        *p = 77;
    OK(MPI_Win_fence(0, win));
    check_query(MPI_PROC_NULL, sizeof *p, 2 + last, 77);
    check_query(last, sizeof *p, 2 + last, 77);
    MPI_Aint size;
    int unit;
    GIVES(MPI_ERR_RANK, MPI_Win_shared_query(win, node_npes, &size, &unit, &p));
    OK(MPI_Win_fence(0, win));
    OK(MPI_Win_free(&win));
}

static void no_common_node(void)
{
    MPI_Info apart;
    void *p;
    if (one_node())
        return;
    OK(MPI_Info_create(&apart));
    OK(MPI_Info_set(apart, "alloc_shared_noncontig", "true"));
    OK(MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN));
    for (MPI_Aint size = 0; size <= 8; size += 8) {
        GIVES(MPI_ERR_RMA_SHARED,
              MPI_Win_allocate_shared(size, 1, apart, MPI_COMM_WORLD, &p, &win));
        GIVES(MPI_ERR_RMA_SHARED,
              MPI_Win_allocate_shared(size, 1, MPI_INFO_NULL, MPI_COMM_WORLD, &p, &win));
    }
    OK(MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_ARE_FATAL));
    OK(MPI_Info_free(&apart));
}

// ---- Store, MPI_Win_sync, barrier, MPI_Win_sync, load
static void loads_and_stores(void)
{
    MPI_Aint size;
    int unit;
    long *mine, *theirs;
    OK(MPI_Win_allocate_shared(sizeof *mine, sizeof *mine, MPI_INFO_NULL, node, &mine, &win));
    OK(MPI_Win_shared_query(win, (node_me + 1) % node_npes, &size, &unit, &theirs));
    OK(MPI_Win_lock_all(MPI_MODE_NOCHECK, win));
    for (int i = 0; i < 100; i++) {
        *theirs = i * node_npes + node_me;
        OK(MPI_Win_sync(win));
        OK(MPI_Barrier(node));
        OK(MPI_Win_sync(win));
        CHECK_EQ(*mine, i * node_npes + (node_me + node_npes - 1) % node_npes);
        OK(MPI_Barrier(node));
    }
    OK(MPI_Win_unlock_all(win));
    OK(MPI_Win_free(&win));
}

int main(void)
{
    mpi_start();
    OK(MPI_Comm_split_type(MPI_COMM_WORLD, MPI_COMM_TYPE_SHARED, 0, MPI_INFO_NULL, &node));
    OK(MPI_Comm_rank(node, &node_me));
    OK(MPI_Comm_size(node, &node_npes));
    window_open();
    null_calls();
    null_requests();
    large_counts();
    large_counts_with_requests();
    OK(MPI_Barrier(MPI_COMM_WORLD));
    counts_that_overflow();
    no_operands();
    window_close();
    large_units();
    allocated_c();
    no_memory();
    memory_of_the_last();
    no_common_node();
    loads_and_stores();
    OK(MPI_Comm_free(&node));
    return mpi_done();
}
