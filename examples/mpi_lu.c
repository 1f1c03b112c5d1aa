// SPDX-License-Identifier: BSD-3-Clause
// LU factorization of a dense matrix in blocks, in the manner of the SPLASH suite, with MPI windows:
// each process owns the blocks (i, j) with (i + j * side) % size == rank and computes them; what it
// needs of others it gets from their windows. Three fences a step are all the synchronization.
//
//     mpiexec -n 4 mpi_lu --blocks 32 --rows 64

#include "example_mpi.h"

#include <math.h>

static long blocks_of_side = 12, rows_of_block = 16;
static const struct example_option options[] = {
    {"--blocks", "N", &blocks_of_side, 1, NULL, "blocks of a side of the matrix"},
    {"--rows", "N", &rows_of_block, 1, NULL, "rows of a block"},
    {.name = NULL},
};

static int me, npes, side, rows;
static double *mine; // own blocks, one after the other
static MPI_Win win;

static int owner(int i, int j)
{
    return (i + j * side) % npes;
}

static int index_of(int i, int j) // among its owner's
{
    return (i + j * side) / npes;
}

static int block_size(void)
{
    return rows * rows;
}

static double *own(int i, int j)
{
    return mine + (size_t)index_of(i, j) * (size_t)block_size();
}

// Block (i, j): the own memory, or a copy of another's in `room`, there after MPI_Win_flush or fence.
static const double *fetch(int i, int j, double *room)
{
    if (owner(i, j) == me)
        return own(i, j);
    MPI_Get(room, block_size(), MPI_DOUBLE, owner(i, j), (MPI_Aint)index_of(i, j) * block_size(),
            block_size(), MPI_DOUBLE, win);
    return room;
}

static double first_value(int row, int column)
{
    unsigned x = (unsigned)(row * 7919 + column * 104729) * 2654435761u;
    return (x >> 8) / 16777216.0 + (row == column ? side * rows : 0); // no pivots are needed
}

// ---- The four kinds of work on blocks
static void factor(double *a)
{
    for (int k = 0; k < rows; k++)
        for (int i = k + 1; i < rows; i++) {
            a[i * rows + k] /= a[k * rows + k];
            for (int j = k + 1; j < rows; j++)
                a[i * rows + j] -= a[i * rows + k] * a[k * rows + j];
        }
}

static void solve_below(double *a, const double *diagonal) // a = a * U^-1
{
    for (int i = 0; i < rows; i++)
        for (int k = 0; k < rows; k++) {
            a[i * rows + k] /= diagonal[k * rows + k];
            for (int j = k + 1; j < rows; j++)
                a[i * rows + j] -= a[i * rows + k] * diagonal[k * rows + j];
        }
}

static void solve_right(double *a, const double *diagonal) // a = L^-1 * a
{
    for (int k = 0; k < rows; k++)
        for (int i = k + 1; i < rows; i++)
            for (int j = 0; j < rows; j++)
                a[i * rows + j] -= diagonal[i * rows + k] * a[k * rows + j];
}

static void update(double *a, const double *left, const double *above) // a -= left * above
{
    for (int i = 0; i < rows; i++)
        for (int k = 0; k < rows; k++)
            for (int j = 0; j < rows; j++)
                a[i * rows + j] -= left[i * rows + k] * above[k * rows + j];
}

// ---- One step: the diagonal block, its row and column, the rest
static void border(int k, double *room)
{
    MPI_Win_fence(MPI_MODE_NOPUT, win);
    const double *diagonal = fetch(k, k, room);
    MPI_Win_fence(MPI_MODE_NOPUT, win);
    for (int i = k + 1; i < side; i++) {
        if (owner(i, k) == me)
            solve_below(own(i, k), diagonal);
        if (owner(k, i) == me)
            solve_right(own(k, i), diagonal);
    }
}

static void interior(int k, double *room)
{
    const double **left = example_alloc((size_t)side * 2, sizeof *left), **above = left + side;
    MPI_Win_fence(MPI_MODE_NOPUT, win);
    for (int i = k + 1; i < side; i++) {
        left[i] = fetch(i, k, room + (size_t)i * (size_t)block_size());
        above[i] = fetch(k, i, room + (size_t)(side + i) * (size_t)block_size());
    }
    MPI_Win_fence(MPI_MODE_NOPUT, win);
    for (int i = k + 1; i < side; i++)
        for (int j = k + 1; j < side; j++)
            if (owner(i, j) == me)
                update(own(i, j), left[i], above[j]);
    free(left);
}

// ---- The product of the factors at some places, against the matrix they came from
static double element(int row, int column)
{
    double value;
    int i = row / rows, j = column / rows, at = row % rows * rows + column % rows;
    MPI_Get(&value, 1, MPI_DOUBLE, owner(i, j), (MPI_Aint)index_of(i, j) * block_size() + at, 1,
            MPI_DOUBLE, win);
    MPI_Win_flush(owner(i, j), win);
    return value;
}

static double worst_error(int samples)
{
    double worst = 0;
    int n = side * rows;
    for (int s = 0; s < samples; s++) {
        int row = (s * 31 + me * 17) % n, column = (s * 57 + me * 5) % n;
        double sum = row <= column ? element(row, column) : 0;
        for (int k = 0; k <= column && k < row; k++)
            sum += element(row, k) * element(k, column);
        worst = fmax(worst, fabs(sum - first_value(row, column)) / n);
    }
    return worst;
}

int main(int argc, char **argv)
{
    MPI_Init(&argc, &argv);
    int status = example_options(argc, argv, "LU factorization in blocks, by gets", options);
    if (status != EXAMPLE_RUN) {
        MPI_Finalize();
        return status;
    }
    me = example_rank();
    npes = example_size();
    side = (int)blocks_of_side;
    rows = (int)rows_of_block;
    int blocks = (side * side + npes - 1) / npes;
    MPI_Win_allocate((MPI_Aint)blocks * block_size() * (MPI_Aint)sizeof(double), sizeof(double),
                     MPI_INFO_NULL, MPI_COMM_WORLD, &mine, &win);
    double *room = example_alloc((size_t)(2 * side * block_size()), sizeof *room), worst, error;
    for (int i = 0; i < side; i++)
        for (int j = 0; j < side; j++)
            for (int k = 0; k < block_size() && owner(i, j) == me; k++)
                own(i, j)[k] = first_value(i * rows + k / rows, j * rows + k % rows);
    double start = MPI_Wtime();
    for (int k = 0; k < side; k++) {
        if (owner(k, k) == me)
            factor(own(k, k));
        border(k, room);
        interior(k, room);
    }
    MPI_Win_fence(MPI_MODE_NOSUCCEED, win);
    double seconds = MPI_Wtime() - start;
    MPI_Win_lock_all(0, win);
    error = worst_error(50);
    MPI_Win_unlock_all(win);
    MPI_Allreduce(&error, &worst, 1, MPI_DOUBLE, MPI_MAX, MPI_COMM_WORLD);
    if (me == 0)
        printf("mpi_lu: %d x %d in %d x %d blocks on %d processes: %.3f s, error %.1e: %s\n",
               side * rows, side * rows, side, side, npes, seconds, worst,
               worst < 1e-12 ? "right" : "WRONG");
    free(room);
    MPI_Win_free(&win);
    MPI_Finalize();
    return !(worst < 1e-12);
}
