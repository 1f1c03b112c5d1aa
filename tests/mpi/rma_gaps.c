// SPDX-License-Identifier: BSD-3-Clause
// The bytes between the numbers of a pair are no part of it: results leave them alone, and accumulates
// those of the target, where others may put something meanwhile.
#include "rma_check.h"

struct pair {
    short value, other;
    int index;
};

static MPI_Win window_of(bool is_allocated, struct pair **p, int n)
{
    MPI_Win win;
    MPI_Aint bytes = (MPI_Aint)sizeof(struct pair) * n;
    if (is_allocated) {
        OK(MPI_Win_allocate(bytes, 1, MPI_INFO_NULL, MPI_COMM_WORLD, p, &win));
    } else {
        *p = malloc((size_t)bytes);
        OK(MPI_Win_create(*p, bytes, 1, MPI_INFO_NULL, MPI_COMM_WORLD, &win));
    }
    return win;
}

static void results(bool is_allocated)
{
    struct pair *p, in[2] = {{5, 0x2222, 6}, {5, 0x2222, 6}},
                    old[2] = {{0, 0x3333, 0}, {0, 0x3333, 0}};
    struct pair one = {0, 0x4444, 0};
    MPI_Win win = window_of(is_allocated, &p, 2);
    int next = (me + 1) % npes;
    for (int i = 0; i < 2; i++)
        p[i] = (struct pair){1, 0x1111, 2};
    OK(MPI_Win_fence(0, win));
    OK(MPI_Get_accumulate(in, 2, MPI_SHORT_INT, old, 2, MPI_SHORT_INT, next, 0, 2, MPI_SHORT_INT,
                          MPI_MAXLOC, win));
    OK(MPI_Win_fence(0, win));
    for (int i = 0; i < 2; i++) {
        CHECK(old[i].value == 1 && old[i].other == 0x3333 && old[i].index == 2);
        CHECK(p[i].value == 5 && p[i].other == 0x1111 && p[i].index == 6);
    }
    OK(MPI_Fetch_and_op(in, &one, MPI_SHORT_INT, next, sizeof *p, MPI_MINLOC, win));
    OK(MPI_Win_fence(0, win));
    CHECK(one.value == 5 && one.other == 0x4444 && one.index == 6);
    CHECK_EQ(p[1].other, 0x1111);
    OK(MPI_Win_free(&win));
    if (!is_allocated)
        free(p);
}

// The last rank accumulates, from `crook` bytes on, while rank 0 puts numbers in between and gets them.
static void puts_between(bool is_allocated, int crook)
{
    enum { PAIRS = 64 };
    struct pair *p, in[PAIRS] = {{0, 0, 0}};
    MPI_Win win = window_of(is_allocated, &p, PAIRS + 1);
    int times = fewer(20000), lost = 0, is_over = npes == 1;
    memset(p, 0, sizeof *p * (PAIRS + 1));
    OK(MPI_Barrier(MPI_COMM_WORLD));
    OK(MPI_Win_lock_all(0, win));
    while (me == npes - 1 && !is_over) {
        OK(MPI_Accumulate(in, PAIRS, MPI_SHORT_INT, 0, crook, PAIRS, MPI_SHORT_INT, MPI_MAXLOC,
                          win));
        OK(MPI_Win_flush(0, win));
        OK(MPI_Iprobe(0, 0, MPI_COMM_WORLD, &is_over, MPI_STATUS_IGNORE));
    }
    for (int i = 0; me == 0 && i < times; i++) {
        short out = (short)i, back = -1;
        MPI_Aint at = crook + i % PAIRS * (int)sizeof *p + 2;
        OK(MPI_Put(&out, 2, MPI_BYTE, 0, at, 2, MPI_BYTE, win));
        OK(MPI_Win_flush(0, win));
        for (int k = 0; k < 10; k++) {
            OK(MPI_Get(&back, 2, MPI_BYTE, 0, at, 2, MPI_BYTE, win));
            OK(MPI_Win_flush(0, win));
        }
        lost += back != out;
    }
    OK(MPI_Win_unlock_all(win));
    if (me == 0 && npes > 1)
        OK(MPI_Send(NULL, 0, MPI_BYTE, npes - 1, 0, MPI_COMM_WORLD));
    if (me == npes - 1 && npes > 1)
        OK(MPI_Recv(NULL, 0, MPI_BYTE, 0, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE));
    CHECK_EQ(lost, 0);
    OK(MPI_Win_free(&win));
    if (!is_allocated)
        free(p);
}

// One after another, with a flush only after all of them: what comes twice to a place sees the first.
static void rows(bool is_allocated)
{
    enum { PAIRS = 100, ROUNDS = 3 };
    struct pair *p, in[ROUNDS][PAIRS], old[ROUNDS][PAIRS];
    MPI_Win win = window_of(is_allocated, &p, PAIRS);
    int next = (me + 1) % npes;
    for (int i = 0; i < PAIRS; i++)
        p[i] = (struct pair){1, 0x1111, 2};
    OK(MPI_Barrier(MPI_COMM_WORLD));
    OK(MPI_Win_lock_all(0, win));
    for (int r = 0; r < ROUNDS; r++)
        for (int i = 0, n; i < PAIRS; i += n) {
            MPI_Aint at = i * (MPI_Aint)sizeof *p;
            n = i % 3 ? 1 : i + 2 <= PAIRS ? 2 : 1;
            for (int k = i; k < i + n; k++) {
                in[r][k] = (struct pair){(short)(k + r), 0x2222, r};
                old[r][k].other = 0x3333;
            }
            OK(MPI_Get_accumulate(&in[r][i], n, MPI_SHORT_INT, &old[r][i], n, MPI_SHORT_INT, next,
                                  at, n, MPI_SHORT_INT, r == 1 ? MPI_REPLACE : MPI_MAXLOC, win));
        }
    OK(MPI_Win_unlock_all(win));
    OK(MPI_Barrier(MPI_COMM_WORLD));
    for (int i = 0; i < PAIRS; i++) {
        short largest = i > 1 ? (short)i : 1;
        CHECK(old[0][i].value == 1 && old[0][i].index == 2);
        CHECK(old[1][i].value == largest && old[1][i].index == (i ? 0 : 2));
        CHECK(old[2][i].value == i + 1 && old[2][i].index == 1);
        for (int r = 0; r < ROUNDS; r++)
            CHECK_EQ(old[r][i].other, 0x3333);
        CHECK(p[i].value == i + 2 && p[i].other == 0x1111 && p[i].index == 2);
    }
    OK(MPI_Barrier(MPI_COMM_WORLD));
    OK(MPI_Win_free(&win));
    if (!is_allocated)
        free(p);
}

// One element again and again, some of it together with the next one: each sees what those before it have left.
static void one_place(bool is_allocated)
{
    enum { TIMES = 600 };
    static struct pair in[TIMES][2], old[TIMES][2];
    struct pair *p;
    MPI_Win win = window_of(is_allocated, &p, 2);
    int next = (me + 1) % npes;
    p[0] = p[1] = (struct pair){0, 0x1111, 7};
    OK(MPI_Barrier(MPI_COMM_WORLD));
    OK(MPI_Win_lock_all(0, win));
    for (int i = 0; i < TIMES; i++) {
        int n = i % 50 ? 1 : 2;
        in[i][0] = in[i][1] = (struct pair){(short)(i + 1), 0x2222, i};
        OK(MPI_Get_accumulate(in[i], n, MPI_SHORT_INT, old[i], n, MPI_SHORT_INT, next, 0, n,
                              MPI_SHORT_INT, i / 200 == 1 ? MPI_REPLACE : MPI_MAXLOC, win));
    }
    OK(MPI_Win_unlock_all(win));
    OK(MPI_Barrier(MPI_COMM_WORLD));
    for (int i = 0; i < TIMES; i++) {
        CHECK(old[i][0].value == i && old[i][0].index == (i ? i - 1 : 7));
        if (i % 50 == 0)
            CHECK_EQ(old[i][1].value, i ? i - 49 : 0);
    }
    CHECK(p[0].value == TIMES && p[0].other == 0x1111 && p[0].index == TIMES - 1);
    CHECK(p[1].value == TIMES - 49 && p[1].other == 0x1111);
    OK(MPI_Barrier(MPI_COMM_WORLD));
    OK(MPI_Win_free(&win));
    if (!is_allocated)
        free(p);
}

// Elements that are larger than what they have in them by 12 bytes, the last one at the window's end.
static void long_doubles(void)
{
    enum { PAIRS = 9 };
    struct {
        long double value;
        int index;
    } in[PAIRS], *p;
    MPI_Aint bytes = (MPI_Aint)(sizeof *in * PAIRS - 12);
    MPI_Win win;
    int next = (me + 1) % npes;
    memset(in, 0, sizeof in);
    OK(MPI_Win_allocate(bytes, 1, MPI_INFO_NULL, MPI_COMM_WORLD, &p, &win));
    memset(p, 0, (size_t)bytes);
    OK(MPI_Barrier(MPI_COMM_WORLD));
    OK(MPI_Win_lock(MPI_LOCK_SHARED, next, 0, win));
    for (int i = 0; i < PAIRS; i++) {
        in[i].value = i + 0.5L;
        in[i].index = i;
        OK(MPI_Accumulate(&in[i], 1, MPI_LONG_DOUBLE_INT, next, i * (MPI_Aint)sizeof *in, 1,
                          MPI_LONG_DOUBLE_INT, MPI_MAXLOC, win));
    }
    OK(MPI_Win_unlock(next, win));
    OK(MPI_Barrier(MPI_COMM_WORLD));
    for (int i = 0; i < PAIRS; i++)
        CHECK(p[i].value == i + 0.5L && p[i].index == i);
    OK(MPI_Win_free(&win));
}

int main(void)
{
    mpi_start();
    long_doubles();
    for (int is_allocated = 0; is_allocated < 2; is_allocated++) {
        results(is_allocated);
        rows(is_allocated);
        one_place(is_allocated);
        puts_between(is_allocated, 0);
        puts_between(is_allocated, 1);
    }
    return mpi_done();
}
