// SPDX-License-Identifier: BSD-3-Clause
// A task farm: rank 0 hands out the rows of a picture of the Mandelbrot set, one at a time, and
// takes results from whoever is ready (MPI_ANY_SOURCE). Rows differ much in work, so that no
// division made beforehand would be fair; here a rank that is done simply gets the next row.
//
//     rank 0 --- row number, as the tag --> worker        tag = --rows: no more
//     rank 0 <-- row of counts, same tag -- worker        the first has no counts: "I am here"
//
// Rank 0 then computes all rows itself and compares. Alone, it does only that.
//
//     mpiexec -n 4 mpi_farm --rows 400 --most 5000

#include "example_mpi.h"

static long rows = 96, columns = 240, most = 2000;

static const struct example_option options[] = {
    {"--rows", "N", &rows, 1, NULL, "rows of the picture: the tasks"},
    {"--columns", "N", &columns, 1, NULL, "points in a row"},
    {"--most", "N", &most, 1, NULL, "steps after which a point counts as inside"},
    {.name = NULL},
};

// The steps after which the point of a row and column is known to leave the circle.
static int farm_point(long row, long column)
{
    double cx = -2.2 + 3.0 * ((double)column + .5) / (double)columns;
    double cy = -1.2 + 2.4 * ((double)row + .5) / (double)rows, x = 0, y = 0;
    int n = 0;
    while (n < most && x * x + y * y <= 4) {
        double next = x * x - y * y + cx;
        y = 2 * x * y + cy;
        x = next;
        n++;
    }
    return n;
}

static void farm_row(long row, int *counts)
{
    for (long c = 0; c < columns; c++)
        counts[c] = farm_point(row, c);
}

static void farm_work(void)
{
    int *counts = example_alloc((size_t)columns, sizeof *counts);
    MPI_Status status;
    MPI_Send(NULL, 0, MPI_INT, 0, 0, MPI_COMM_WORLD);
    for (;;) {
        MPI_Recv(NULL, 0, MPI_INT, 0, MPI_ANY_TAG, MPI_COMM_WORLD, &status);
        if (status.MPI_TAG == rows)
            break;
        farm_row(status.MPI_TAG, counts);
        MPI_Send(counts, (int)columns, MPI_INT, 0, status.MPI_TAG, MPI_COMM_WORLD);
    }
    free(counts);
}

// Hands out all rows. done[r] becomes the rows that rank r has computed.
static void farm_lead(int *picture, long *done, int workers)
{
    int *counts = example_alloc((size_t)columns, sizeof *counts);
    for (long next = 0; workers > 0;) {
        MPI_Status status;
        int n;
        MPI_Recv(counts, (int)columns, MPI_INT, MPI_ANY_SOURCE, MPI_ANY_TAG, MPI_COMM_WORLD,
                 &status);
        MPI_Get_count(&status, MPI_INT, &n);
        if (n > 0) {
            memcpy(picture + status.MPI_TAG * columns, counts, (size_t)n * sizeof *counts);
            done[status.MPI_SOURCE]++;
        }
        long task = next < rows ? next++ : rows;
        workers -= task == rows;
        MPI_Send(NULL, 0, MPI_INT, status.MPI_SOURCE, (int)task, MPI_COMM_WORLD);
    }
    free(counts);
}

static bool farm_compare(const int *picture, double *seconds)
{
    int *counts = example_alloc((size_t)columns, sizeof *counts);
    bool same = true;
    double start = MPI_Wtime();
    for (long r = 0; r < rows; r++) {
        farm_row(r, counts);
        same &= !memcmp(picture + r * columns, counts, (size_t)columns * sizeof *counts);
    }
    *seconds = MPI_Wtime() - start;
    free(counts);
    return same;
}

static void farm_show(const int *picture)
{
    static const char shade[] = " .:-=+*#%";
    for (int y = 0; y < 24; y++) {
        char line[73] = "";
        for (int x = 0; x < 72; x++) {
            int n = picture[rows * y / 24 * columns + columns * x / 72];
            line[x] = n >= most ? '@' : shade[n < 9 ? n : 8];
        }
        printf("    %s\n", line);
    }
}

static const char *farm_report(const int *picture, const long *done, int size, double seconds)
{
    double alone;
    long all = 0;
    bool same = farm_compare(picture, &alone);
    for (int r = 1; r < size; r++)
        all += done[r];
    if (all != rows)
        return "did not get every row once";
    if (!same)
        return "got a row that differs from its own";
    printf("mpi_farm: %ld rows by %d workers in %.3f s, by rank 0 alone in %.3f s\n", rows,
           size - 1, seconds, alone);
    farm_show(picture);
    for (int r = 1; r < size && r <= 16; r++) {
        printf("    rank %-3d %5ld rows ", r, done[r]);
        for (long i = 0; i < done[r] * 40 / rows; i++)
            putchar('#');
        putchar('\n');
    }
    printf("every row agrees with rank 0's own\n");
    return NULL;
}

static int farm_run(void)
{
    int me = example_rank(), size = example_size();
    const char *fault = NULL;
    if (me > 0) {
        farm_work();
        return example_fault("mpi_farm", NULL);
    }
    int *picture = example_alloc((size_t)(rows * columns), sizeof *picture);
    long *done = example_alloc((size_t)size + 1, sizeof *done);
    double start = MPI_Wtime();
    farm_lead(picture, done, size - 1);
    double seconds = MPI_Wtime() - start;
    if (size > 1) {
        fault = farm_report(picture, done, size, seconds);
    } else {
        for (long r = 0; r < rows; r++)
            farm_row(r, picture + r * columns);
        printf("mpi_farm: no workers; rank 0 did %ld rows\n", rows);
        farm_show(picture);
    }
    free(done);
    free(picture);
    return example_fault("mpi_farm", fault);
}

int main(int argc, char **argv)
{
    MPI_Init(&argc, &argv);
    int status = example_options(argc, argv, "a picture made by workers that ask for rows",
                                 options);
    if (status == EXAMPLE_RUN)
        status = farm_run();
    MPI_Finalize();
    return status;
}
