// SPDX-License-Identifier: BSD-3-Clause
// Short operations on windows over malloc's memory, dynamic ones too, which a target of the same node does itself
// when it is in the library: each brings and leaves what it should, one by one, in rows, in blocks with gaps; they lose
// nothing where targets come and go and ask each other, with threads as well; and what a target hears of
// too late, after the window it was for, changes nothing. With an argument: of several threads.
// ALSO: 16
#include "rma_check.h"

#include <pthread.h>
#include <shoal.h>
#include <stdlib.h>

enum { N = 2048, CALLS = 300, ROW = 16, THREADS = 3, WINDOWS = 60, CELLS = 8 };

static long *memory;
static MPI_Win win;
static bool is_threaded, is_dynamic;
static MPI_Aint *base; // of each rank, in a dynamic window
static int calls;

static void open_window(int n)
{
    MPI_Aint bytes = n * (MPI_Aint)sizeof *memory, mine;
    memory = must_alloc((size_t)bytes);
    base = must_alloc((size_t)npes * sizeof *base);
    for (int i = 0; i < n; i++)
        memory[i] = i;
    if (is_dynamic) {
        OK(MPI_Win_create_dynamic(MPI_INFO_NULL, MPI_COMM_WORLD, &win));
        OK(MPI_Win_attach(win, memory, bytes));
    } else
        OK(MPI_Win_create(memory, bytes, sizeof *memory, MPI_INFO_NULL, MPI_COMM_WORLD, &win));
    OK(MPI_Get_address(memory, &mine));
    OK(MPI_Allgather(&mine, 1, MPI_AINT, base, 1, MPI_AINT, MPI_COMM_WORLD));
    OK(MPI_Win_lock_all(0, win));
    OK(MPI_Barrier(MPI_COMM_WORLD));
}

static void close_window(void)
{
    OK(MPI_Win_unlock_all(win));
    OK(MPI_Win_free(&win));
    free(memory);
    free(base);
}

static MPI_Aint place(int rank, int i)
{
    return is_dynamic ? MPI_Aint_add(base[rank], i * (MPI_Aint)sizeof *memory) : i;
}

// ---- By one rank; the target waits for a message
static void add_one(int to)
{
    long one = 1, old = -1;
    for (int i = 0; i < CALLS; i++) {
        OK(MPI_Fetch_and_op(&one, &old, MPI_LONG, to, place(to, 0), MPI_SUM, win));
        OK(MPI_Win_flush(to, win));
        CHECK_EQ(old, i);
    }
    OK(MPI_Fetch_and_op(NULL, &old, MPI_LONG, to, place(to, 0), MPI_NO_OP, win));
    OK(MPI_Win_flush(to, win));
    CHECK_EQ(old, CALLS);
}

static void swap_one(int to)
{
    for (long i = 0; i < CALLS; i++) {
        long next = i + 2, is = i + 1, other = -5, old = -1;
        OK(MPI_Compare_and_swap(&next, &other, &old, MPI_LONG, to, place(to, 1), win));
        OK(MPI_Win_flush(to, win));
        CHECK_EQ(old, is);
        OK(MPI_Compare_and_swap(&next, &is, &old, MPI_LONG, to, place(to, 1), win));
        OK(MPI_Win_flush(to, win));
        CHECK_EQ(old, is);
    }
}

// Of n elements, `step` apart at the target from element `at` on: put, got, added to, and both.
static void move_some(int to, int at, int n, int step)
{
    long out[N], in[N], old[N];
    MPI_Datatype there;
    OK(MPI_Type_vector(n, 1, step, MPI_LONG, &there));
    OK(MPI_Type_commit(&there));
    for (int i = 0; i < n; i++)
        out[i] = 7 * i + n;
    OK(MPI_Put(out, n, MPI_LONG, to, place(to, at), 1, there, win));
    OK(MPI_Win_flush(to, win));
    OK(MPI_Get(in, n, MPI_LONG, to, place(to, at), 1, there, win));
    OK(MPI_Win_flush(to, win));
    OK(MPI_Accumulate(out, n, MPI_LONG, to, place(to, at), 1, there, MPI_SUM, win));
    OK(MPI_Win_flush(to, win));
    OK(MPI_Get_accumulate(out, n, MPI_LONG, old, n, MPI_LONG, to, place(to, at), 1, there, MPI_MAX,
                          win));
    OK(MPI_Win_flush(to, win));
    for (int i = 0; i < n; i++) {
        CHECK_EQ(in[i], out[i]);
        CHECK_EQ(old[i], 2 * out[i]);
    }
    OK(MPI_Get(in, n, MPI_LONG, to, place(to, at), 1, there, win));
    OK(MPI_Win_flush(to, win));
    for (int i = 0; i < n; i++)
        CHECK_EQ(in[i], 2 * out[i]);
    OK(MPI_Type_free(&there));
}

// Rows of columns: two loops, and the elements between them stay what they were.
static void move_box(int to)
{
    enum { ROWS = 5, COLUMNS = 4, WIDE = 20 };
    int sizes[] = {ROWS, WIDE}, part[] = {ROWS, COLUMNS}, first[] = {0, 3};
    long out[ROWS * COLUMNS], in[ROWS * WIDE];
    MPI_Datatype box, every_other, both;
    for (int i = 0; i < ROWS * COLUMNS; i++)
        out[i] = -i;
    OK(MPI_Type_vector(COLUMNS, 1, 2, MPI_LONG, &every_other));
    OK(MPI_Type_create_hvector(ROWS, 1, WIDE * (MPI_Aint)sizeof(long), every_other, &both));
    OK(MPI_Type_create_subarray(2, sizes, part, first, MPI_ORDER_C, MPI_LONG, &box));
    OK(MPI_Type_commit(&both));
    OK(MPI_Type_commit(&box));
    OK(MPI_Put(out, ROWS * COLUMNS, MPI_LONG, to, place(to, 100), 1, both, win));
    OK(MPI_Win_flush(to, win));
    OK(MPI_Get(in, ROWS * WIDE, MPI_LONG, to, place(to, 100), ROWS * WIDE, MPI_LONG, win));
    OK(MPI_Win_flush(to, win));
    for (int i = 0; i < ROWS * WIDE; i++) {
        int row = i / WIDE, column = i % WIDE;
        bool is_put = column < 2 * COLUMNS && column % 2 == 0;
        CHECK_EQ(in[i], is_put ? -(row * COLUMNS + column / 2) : 100 + i);
    }
    OK(MPI_Get(out, ROWS * COLUMNS, MPI_LONG, to, place(to, 100), 1, box, win));
    OK(MPI_Win_flush(to, win));
    for (int i = 0; i < ROWS * COLUMNS; i++)
        CHECK_EQ(out[i], in[i / COLUMNS * WIDE + 3 + i % COLUMNS]);
    OK(MPI_Type_free(&every_other));
    OK(MPI_Type_free(&both));
    OK(MPI_Type_free(&box));
}

static void move_row(int to, int n)
{
    static long out[ROW][N / ROW], in[ROW][N / ROW];
    for (int i = 0; i < ROW; i++) {
        for (int k = 0; k < n; k++)
            out[i][k] = i * 1000 + k;
        OK(MPI_Put(out[i], n, MPI_LONG, to, place(to, i * (N / ROW)), n, MPI_LONG, win));
    }
    OK(MPI_Win_flush(to, win));
    for (int i = 0; i < ROW; i++)
        OK(MPI_Get(in[i], n, MPI_LONG, to, place(to, i * (N / ROW)), n, MPI_LONG, win));
    OK(MPI_Win_flush(to, win));
    for (int i = 0; i < ROW; i++)
        CHECK(memcmp(in[i], out[i], (size_t)n * sizeof(long)) == 0);
    for (int i = 0; i < ROW; i++)
        OK(MPI_Accumulate(out[i], n, MPI_LONG, to, place(to, i * (N / ROW)), n, MPI_LONG, MPI_SUM,
                          win));
    OK(MPI_Win_flush(to, win));
    for (int i = 0; i < ROW; i++)
        OK(MPI_Get(in[i], n, MPI_LONG, to, place(to, i * (N / ROW)), n, MPI_LONG, win));
    OK(MPI_Win_flush(to, win));
    for (int i = 0; i < ROW * n; i++)
        CHECK_EQ(in[i / n][i % n], 2 * out[i / n][i % n]);
}

// Gets of one question, of more and more elements each, until the target has answered one.
static void get_several(int to, const struct counter *asked)
{
    enum { GETS = 5 };
    unsigned long long before = counter_read(asked);
    for (int t = 0; t < 100 * CALLS && counter_read(asked) == before; t++) {
        long in[GETS][GETS];
        memset(in, -1, sizeof in);
        for (int i = 0; i < GETS; i++)
            OK(MPI_Get(in[i], i + 1, MPI_LONG, to, place(to, 100 * i), i + 1, MPI_LONG, win));
        OK(MPI_Win_flush(to, win));
        for (int i = 0; i < GETS; i++)
            for (int k = 0; k < GETS; k++)
                CHECK_EQ(in[i][k], k <= i ? 100 * i + k : -1);
    }
}

// It is there now and then, whatever else the cores have to do.
static void ask_on(int to, const struct counter *asked)
{
    long old;
    for (int i = 0; i < 1000 * CALLS && counter_read(asked) == 0; i++) {
        OK(MPI_Fetch_and_op(NULL, &old, MPI_LONG, to, place(to, 0), MPI_NO_OP, win));
        OK(MPI_Win_flush(to, win));
    }
    CHECK(counter_read(asked) > 0);
}

static void one_by_one(void)
{
    int to = npes - 1;
    uint64_t is_crowded = 0;
    const char *setting = getenv("SHOAL_MPI_ASK");
    CHECK_EQ(shoal_query(SHOAL_Q_CROWDED, 0, &is_crowded), SHOAL_OK);
    bool is_near = one_node();
    struct counter asked = counter_start("asked");
    open_window(N);
    if (me == 0 && to != 0) {
        add_one(to);
        swap_one(to);
        static const int lengths[] = {1, 3, 64, 65, 512, 1000};
        for (size_t i = 0; i < sizeof lengths / sizeof *lengths; i++)
            for (int step = 1; step <= 2; step++)
                move_some(to, 2, lengths[i], step);
        long own[N];
        for (int i = 0; i < N; i++)
            own[i] = i;
        OK(MPI_Put(own, N, MPI_LONG, to, place(to, 0), N, MPI_LONG, win));
        OK(MPI_Win_flush(to, win));
        if (is_near && !is_crowded && !setting)
            get_several(to, &asked);
        move_box(to);
        move_row(to, 1);
        move_row(to, N / ROW / 2);
        if (is_near && !is_crowded && !setting)
            ask_on(to, &asked);
        if (is_crowded || setting)
            CHECK_EQ(counter_read(&asked), 0);
        OK(MPI_Send(NULL, 0, MPI_BYTE, to, 0, MPI_COMM_WORLD));
    } else if (me == to && to != 0)
        OK(MPI_Recv(NULL, 0, MPI_BYTE, 0, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE));
    close_window();
    counter_end(&asked);
}

// ---- By all, of all others
static void compute(unsigned for_what)
{
    for (volatile unsigned i = 0; i < for_what % 4000; i++)
        ;
}

// unread: where an old value goes to until a flush.
static void add_anywhere(unsigned *random, long sums[CELLS], long *unread)
{
    static const long one = 1;
    long is, old, next, added = 1;
    *random = *random * 1103515245 + 12345;
    int to = (int)(*random >> 16) % npes, cell = (int)(*random >> 8) % CELLS;
    switch (*random >> 5 & 3) {
    case 0: OK(MPI_Fetch_and_op(&one, unread, MPI_LONG, to, place(to, cell), MPI_SUM, win)); break;
    case 1:
        OK(MPI_Accumulate(&one, 1, MPI_LONG, to, place(to, cell), 1, MPI_LONG, MPI_SUM, win));
        break;
    default:
        OK(MPI_Fetch_and_op(NULL, &is, MPI_LONG, to, place(to, cell), MPI_NO_OP, win));
        OK(MPI_Win_flush(to, win));
        next = is + 1;
        OK(MPI_Compare_and_swap(&next, &is, &old, MPI_LONG, to, place(to, cell), win));
        OK(MPI_Win_flush(to, win));
        added = old == is;
    }
    sums[cell] += added;
    if (*random % 3 == 0)
        OK(MPI_Win_flush(to, win));
    if (*random % 7 == 0)
        compute(*random >> 4);
}

static void *add_many(void *arg)
{
    long *sums = arg, unread[2 * CALLS];
    unsigned random = (unsigned)(me * 77) + (unsigned)(uintptr_t)arg;
    for (int i = 0; i < calls; i++)
        add_anywhere(&random, sums, &unread[i]);
    OK(MPI_Win_flush_all(win));
    return NULL;
}

static void by_all(void)
{
    long sums[THREADS][CELLS] = {{0}}, mine[CELLS], all[CELLS], there[CELLS];
    pthread_t thread[THREADS];
    int threads = is_threaded ? THREADS : 1;
    open_window(CELLS);
    for (int i = 0; i < CELLS; i++)
        memory[i] = 0;
    OK(MPI_Barrier(MPI_COMM_WORLD));
    for (int t = 1; t < threads; t++)
        CHECK_EQ(pthread_create(&thread[t], NULL, add_many, sums[t]), 0);
    add_many(sums[0]);
    for (int t = 1; t < threads; t++)
        CHECK_EQ(pthread_join(thread[t], NULL), 0);
    OK(MPI_Barrier(MPI_COMM_WORLD));
    for (int i = 0; i < CELLS; i++) {
        mine[i] = 0;
        for (int t = 0; t < threads; t++)
            mine[i] += sums[t][i];
    }
    OK(MPI_Allreduce(mine, all, CELLS, MPI_LONG, MPI_SUM, MPI_COMM_WORLD));
    OK(MPI_Allreduce(memory, there, CELLS, MPI_LONG, MPI_SUM, MPI_COMM_WORLD));
    for (int i = 0; i < CELLS; i++)
        CHECK_EQ(there[i], all[i]);
    close_window();
}

// ---- What comes too late: the target computes while it is asked, and the others are ready to free the window
static void compute_for(double seconds)
{
    for (double end = MPI_Wtime() + seconds; MPI_Wtime() < end;)
        ;
}

static void too_late(void)
{
    long one = 1, old;
    for (int i = 0; i < WINDOWS; i++) {
        int to = i % npes, cell = i % CELLS;
        open_window(CELLS);
        if (me == to)
            compute_for(0.001);
        else {
            OK(MPI_Fetch_and_op(&one, &old, MPI_LONG, to, place(to, cell), MPI_SUM, win));
            OK(MPI_Win_flush(to, win));
            CHECK(old >= cell && old < cell + npes - 1);
        }
        OK(MPI_Win_unlock_all(win));
        if (me != to)
            for (int k = 0; k < CELLS; k++)
                CHECK_EQ(memory[k], k);
        OK(MPI_Win_free(&win));
        for (int k = 0; k < CELLS; k++)
            CHECK_EQ(memory[k], k + (me == to && k == cell ? npes - 1 : 0));
        free(memory);
        free(base);
    }
}

int main(int argc, char **argv)
{
    int provided;
    is_threaded = argc > 1;
    OK(MPI_Init_thread(&argc, &argv, is_threaded ? MPI_THREAD_MULTIPLE : MPI_THREAD_SINGLE,
                       &provided));
    OK(MPI_Comm_rank(MPI_COMM_WORLD, &me));
    OK(MPI_Comm_size(MPI_COMM_WORLD, &npes));
    calls = fewer(2 * CALLS);
    for (int i = 0; i < 2; i++) {
        is_dynamic = i == 1;
        one_by_one();
        by_all();
        too_late();
    }
    return mpi_done();
}
