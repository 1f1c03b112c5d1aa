// SPDX-License-Identifier: BSD-3-Clause
// Epochs of MPI_Win_start and MPI_Win_post: what the target sees after MPI_Win_wait, of rows of puts, of
// which the short ones go to another node with the word that the epoch is over, alone and among longer ones, gets and
// accumulates.
// TIMEOUT: 120
#include "rma_check.h"

enum { PART = 40000, LONGEST = 12000, PUTS = 60 };
enum { CELL = PART, STEP = PART + 8 }; // behind a part lies a cell for accumulates
static const int lengths[] = {1, 8, 8, 100, 512, 520, 3000, 8192, 8200, LONGEST};
static unsigned char *window, out[PUTS][LONGEST];

enum kind { SHORT_PUTS, ANY_PUTS, WITH_GETS, WITH_SUMS, KINDS };

static uint64_t seed_of(int origin, int target, int epoch)
{
    return (uint64_t)(epoch * 1000 + origin * 30 + target) * 2654435761u + 1;
}

static int length_of(uint64_t *seed, enum kind kind)
{
    int choices = kind == SHORT_PUTS ? 4 : (int)(sizeof lengths / sizeof *lengths);
    return lengths[rnd_below(seed, (uint64_t)choices)];
}

static unsigned char byte_of(int epoch, int put, int i)
{
    return (unsigned char)(epoch * 7 + put * 3 + i);
}

static void put_row(MPI_Win win, int target, int epoch, enum kind kind)
{
    uint64_t seed = seed_of(me, target, epoch);
    static unsigned char got[8]; // until the epoch is over
    static const long one = 1;
    for (int k = 0, at = 0; k < PUTS; k++) {
        int n = length_of(&seed, kind);
        if (at + n > PART)
            break;
        for (int i = 0; i < n; i++)
            out[k][i] = byte_of(epoch, k, i);
        OK(MPI_Put(out[k], n, MPI_BYTE, target, me * STEP + at, n, MPI_BYTE, win));
        at += n;
        if (kind == WITH_GETS && k % 5 == 4)
            OK(MPI_Get(got, 8, MPI_BYTE, target, me * STEP + CELL, 8, MPI_BYTE, win));
        if (kind == WITH_SUMS && k % 5 == 4)
            OK(MPI_Accumulate(&one, 1, MPI_LONG, target, me * STEP + CELL, 1, MPI_LONG, MPI_SUM,
                              win));
    }
}

static bool check_row(int origin, int epoch, enum kind kind, long *sums)
{
    uint64_t seed = seed_of(origin, me, epoch);
    const unsigned char *part = window + origin * STEP;
    long cell;
    for (int k = 0, at = 0; k < PUTS; k++) {
        int n = length_of(&seed, kind);
        if (at + n > PART)
            break;
        for (int i = 0; i < n; i++)
            if (!CHECK_EQ(part[at + i], byte_of(epoch, k, i)))
                return false;
        at += n;
        *sums += kind == WITH_SUMS && k % 5 == 4;
    }
    memcpy(&cell, part + CELL, sizeof cell);
    return CHECK_EQ(cell, *sums);
}

// Each has one with every other one; who waits last may find the next one's post there already.
static void epochs(MPI_Win win, int times)
{
    MPI_Group world, others;
    long sums[64] = {0};
    OK(MPI_Comm_group(MPI_COMM_WORLD, &world));
    OK(MPI_Group_excl(world, npes > 1, &me, &others));
    for (int epoch = 0; epoch < times; epoch++) {
        enum kind kind = (enum kind)(epoch % KINDS);
        OK(MPI_Win_post(others, 0, win));
        OK(MPI_Win_start(others, 0, win));
        for (int r = 0; r < npes; r++)
            if (r != me || npes == 1)
                put_row(win, r, epoch, kind);
        OK(MPI_Win_complete(win));
        memset(out, 0, sizeof out); // it is the origin's again
        if (epoch % 3)
            OK(MPI_Win_wait(win));
        for (int done = epoch % 3; !done;)
            OK(MPI_Win_test(win, &done));
        for (int r = 0; r < npes; r++)
            if ((r != me || npes == 1) && !check_row(r, epoch, kind, &sums[r]))
                return;
    }
    OK(MPI_Group_free(&world));
    OK(MPI_Group_free(&others));
}

int main(void)
{
    MPI_Win win;
    mpi_start();
    int size = npes * STEP, times = one_node() ? 40 : 80;
    OK(MPI_Win_allocate(size, 1, MPI_INFO_NULL, MPI_COMM_WORLD, &window, &win));
    memset(window, 0, (size_t)size);
    OK(MPI_Barrier(MPI_COMM_WORLD));
    epochs(win, times);
    OK(MPI_Win_free(&win));
    window = calloc(1, (size_t)size);
    OK(MPI_Win_create(window, size, 1, MPI_INFO_NULL, MPI_COMM_WORLD, &win));
    epochs(win, times);
    OK(MPI_Win_free(&win));
    free(window);
    return mpi_done();
}
