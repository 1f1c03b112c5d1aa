// SPDX-License-Identifier: BSD-3-Clause
// Heat in a square plate, as in heat2d.c, written with MPI: ranks in a Cartesian grid, one block of
// the plate each with a ring of halo cells, Jacobi steps. Edges go straight from the block into the
// neighbours' halos: rows as they are, columns as a vector datatype. The requests are made once, for
// each of the two grids (now and next change places in each step), and started in each step; the
// cells that need no halo are computed while the edges are on their way.
//
//             +---+-----------------+---+
//             |   | north's low row |   |
//             +---+-----------------+---+
//      west's |   |  my block, w*h  |   | east's
//       right |   |                 |   | left
//      column +---+-----------------+---+ column
//             |   | south's top row |   |
//             +---+-----------------+---+
//
// Rank 0 solves the same problem alone and compares every cell.
//
//     mpiexec -n 4 mpi_heat --size 512 --steps 2000 --show

#include "example_mpi.h"

#include <math.h>

static long size = 256, steps = 500, every = 50, show;

static const struct example_option options[] = {
    {"--size", "N", &size, 2, NULL, "the plate has N x N cells"},
    {"--steps", "N", &steps, 1, NULL, "steps to make"},
    {"--every", "N", &every, 1, NULL, "look at the largest change every N steps"},
    {"--show", NULL, &show, 0, NULL, "print the plate as characters"},
    {.name = NULL},
};

enum { NEIGHBOURS = 4, REQUESTS = 2 * NEIGHBOURS };

// A block of w x h cells inside rows of w + 2; cell (0,0) is at w + 3.
struct grid {
    double *cells[2];     // now and next, or next and now
    const double *source; // what each cell gains in a step
    int w, h;
};

struct heat {
    MPI_Comm comm; // Cartesian: dimension 0 goes south, 1 goes east
    int me, ranks, shape[2], at[2];
    int x0, y0; // where my block begins in the plate
    struct grid g;
    MPI_Request edges[2][REQUESTS]; // of each of the two grids
    double change;                  // largest change in the last step looked at
};

// Where the slice-th of parts of n cells begins.
static int heat_slice(int slice, int parts)
{
    return (int)(size * slice / parts);
}

static size_t grid_index(const struct grid *g, int x, int y)
{
    return (size_t)(y + 1) * (size_t)(g->w + 2) + (size_t)(x + 1);
}

// Heat gained by cell (x,y) of the plate in one step: four warm spots.
static double heat_source(int x, int y)
{
    static const double spot[4][3] = {
        {.30, .28, .20}, {.70, .34, .12}, {.34, .72, .08}, {.68, .70, .18}};
    double fx = (x + .5) / (double)size, fy = (y + .5) / (double)size, q = 0;
    for (int i = 0; i < 4; i++)
        if (fabs(fx - spot[i][0]) < .09 && fabs(fy - spot[i][1]) < .11)
            q += spot[i][2];
    return q;
}

static struct grid grid_new(int x0, int y0, int w, int h)
{
    struct grid g = {.w = w, .h = h};
    size_t cells = (size_t)(w + 2) * (size_t)(h + 2);
    double *source = example_alloc(cells, sizeof *source);
    for (int i = 0; i < 2; i++)
        g.cells[i] = example_alloc(cells, sizeof(double));
    for (int y = 0; y < h; y++)
        for (int x = 0; x < w; x++)
            source[grid_index(&g, x, y)] = heat_source(x0 + x, y0 + y);
    g.source = source;
    return g;
}

static void grid_free(struct grid *g)
{
    free(g->cells[0]);
    free(g->cells[1]);
    free((void *)g->source);
}

// Makes a step from one grid to the other for the cells [x0,x1) x [y0,y1). Returns the largest
// change.
static double grid_step(const struct grid *g, int from, int x0, int x1, int y0, int y1)
{
    double change = 0;
    int row = g->w + 2;
    for (int y = y0; y < y1; y++) {
        const double *restrict c = g->cells[from] + grid_index(g, 0, y);
        const double *restrict q = g->source + grid_index(g, 0, y);
        double *restrict to = g->cells[!from] + grid_index(g, 0, y);
        for (int x = x0; x < x1; x++) {
            to[x] = 0.25 * (c[x - row] + c[x + row] + c[x - 1] + c[x + 1]) + q[x];
            double d = fabs(to[x] - c[x]);
            change = d > change ? d : change;
        }
    }
    return change;
}

static void heat_place(struct heat *p)
{
    MPI_Comm_size(MPI_COMM_WORLD, &p->ranks);
    MPI_Dims_create(p->ranks, 2, p->shape);
    MPI_Cart_create(MPI_COMM_WORLD, 2, p->shape, (int[]){0, 0}, 1, &p->comm);
    MPI_Comm_rank(p->comm, &p->me);
    MPI_Cart_coords(p->comm, p->me, 2, p->at);
    p->y0 = heat_slice(p->at[0], p->shape[0]);
    p->x0 = heat_slice(p->at[1], p->shape[1]);
    p->g = grid_new(p->x0, p->y0, heat_slice(p->at[1] + 1, p->shape[1]) - p->x0,
                    heat_slice(p->at[0] + 1, p->shape[0]) - p->y0);
}

// One grid's requests: to and from the neighbours in each dimension. At the plate's edge the
// neighbour is MPI_PROC_NULL, to which requests do nothing.
static void heat_connect(struct heat *p, int grid)
{
    const struct grid *g = &p->g;
    double *c = g->cells[grid];
    MPI_Request *r = p->edges[grid];
    MPI_Datatype kind[2]; // of the edges across dimension 0 and 1
    MPI_Type_contiguous(g->w, MPI_DOUBLE, &kind[0]);
    MPI_Type_vector(g->h, 1, g->w + 2, MPI_DOUBLE, &kind[1]);
    for (int d = 0; d < 2; d++) {
        int low, high, lastx = d == 1 ? g->w - 1 : 0, lasty = d == 0 ? g->h - 1 : 0;
        MPI_Cart_shift(p->comm, d, 1, &low, &high);
        MPI_Type_commit(&kind[d]);
        MPI_Recv_init(c + grid_index(g, -d, d - 1), 1, kind[d], low, d, p->comm, r++);
        MPI_Recv_init(c + grid_index(g, lastx + d, lasty + !d), 1, kind[d], high, d, p->comm, r++);
        MPI_Send_init(c + grid_index(g, 0, 0), 1, kind[d], low, d, p->comm, r++);
        MPI_Send_init(c + grid_index(g, lastx, lasty), 1, kind[d], high, d, p->comm, r++);
        MPI_Type_free(&kind[d]); // the requests keep it
    }
}

// One step: edges start, inner cells, edges arrive, outer cells. Returns the largest change here.
static double heat_step(struct heat *p, int now)
{
    const struct grid *g = &p->g;
    int right = g->w > 1 ? g->w - 1 : 1, low = g->h > 1 ? g->h - 1 : 1;
    MPI_Startall(REQUESTS, p->edges[now]);
    double change = grid_step(g, now, 1, right, 1, low);
    MPI_Waitall(REQUESTS, p->edges[now], MPI_STATUSES_IGNORE);
    change = fmax(change, grid_step(g, now, 0, g->w, 0, 1));
    change = fmax(change, grid_step(g, now, 0, g->w, low, g->h));
    change = fmax(change, grid_step(g, now, 0, 1, 1, low));
    return fmax(change, grid_step(g, now, right, g->w, 1, low));
}

static void heat_solve(struct heat *p)
{
    for (long step = 0; step < steps; step++) {
        double mine = heat_step(p, step % 2);
        if ((step + 1) % every == 0 || step + 1 == steps)
            MPI_Allreduce(&mine, &p->change, 1, MPI_DOUBLE, MPI_MAX, p->comm);
    }
}

// Brings the whole plate to rank 0, which receives each block where it belongs.
static double *heat_gather(const struct heat *p)
{
    const struct grid *g = &p->g;
    MPI_Datatype block;
    MPI_Request sent;
    double *plate = NULL;
    MPI_Type_create_subarray(2, (int[]){g->h + 2, g->w + 2}, (int[]){g->h, g->w}, (int[]){1, 1},
                             MPI_ORDER_C, MPI_DOUBLE, &block);
    MPI_Type_commit(&block);
    MPI_Isend(g->cells[steps % 2], 1, block, 0, 0, p->comm, &sent);
    MPI_Type_free(&block);
    if (p->me == 0)
        plate = example_alloc((size_t)size * (size_t)size, sizeof *plate);
    for (int r = 0; p->me == 0 && r < p->ranks; r++) {
        int at[2], end[2];
        MPI_Cart_coords(p->comm, r, 2, at);
        for (int d = 0; d < 2; d++) {
            end[d] = heat_slice(at[d] + 1, p->shape[d]);
            at[d] = heat_slice(at[d], p->shape[d]);
        }
        MPI_Type_create_subarray(2, (int[]){(int)size, (int)size},
                                 (int[]){end[0] - at[0], end[1] - at[1]}, at, MPI_ORDER_C,
                                 MPI_DOUBLE, &block);
        MPI_Type_commit(&block);
        MPI_Recv(plate, 1, block, r, 0, p->comm, MPI_STATUS_IGNORE);
        MPI_Type_free(&block);
    }
    MPI_Wait(&sent, MPI_STATUS_IGNORE);
    return plate;
}

// The same plate on one rank. Returns the largest difference to what all ranks found.
static double heat_compare(const double *plate, double *seconds)
{
    int n = (int)size;
    struct grid g = grid_new(0, 0, n, n);
    double start = MPI_Wtime(), difference = 0;
    for (long step = 0; step < steps; step++)
        grid_step(&g, step % 2, 0, n, 0, n);
    *seconds = MPI_Wtime() - start;
    for (int y = 0; y < n; y++)
        for (int x = 0; x < n; x++)
            difference = fmax(difference, fabs(plate[(size_t)y * (size_t)n + (size_t)x] -
                                               g.cells[steps % 2][grid_index(&g, x, y)]));
    grid_free(&g);
    return difference;
}

static void heat_show(const double *plate, double hottest)
{
    static const char shade[] = " .:-=+*#%@";
    for (int y = 0; y < 24; y++) {
        char line[65] = "";
        for (int x = 0; x < 64; x++)
            line[x] =
                shade[(int)fmin(9, plate[size * y / 24 * size + size * x / 64] / hottest * 10)];
        printf("    %s\n", line);
    }
}

static const char *heat_report(const struct heat *p, const double *plate, double seconds)
{
    double alone, hottest = 0, difference = heat_compare(plate, &alone);
    if (!(difference < 1e-9))
        return "has a plate that differs from the serial solution";
    for (long i = 0; i < size * size; i++)
        hottest = fmax(hottest, plate[i]);
    printf(
        "mpi_heat: %ld x %ld cells, %ld steps on %d x %d ranks in %.3f s: %.0f million cells/s\n",
        size, size, steps, p->shape[1], p->shape[0], seconds,
        (double)size * (double)size * (double)steps / seconds * 1e-6);
    printf("hottest %.1f degrees; last change %.4f\n", hottest, p->change);
    printf("every cell agrees with one rank's solution (%.3f s), largest difference %g\n", alone,
           difference);
    if (show)
        heat_show(plate, hottest);
    return NULL;
}

static int heat_run(void)
{
    struct heat p = {.me = 0};
    if (size > 1 << 15 || size < example_size()) {
        if (example_rank() == 0)
            printf("mpi_heat: --size must be from the number of ranks to 32768\n");
        return 1;
    }
    heat_place(&p);
    heat_connect(&p, 0);
    heat_connect(&p, 1);
    MPI_Barrier(p.comm);
    double start = MPI_Wtime();
    heat_solve(&p);
    MPI_Barrier(p.comm);
    double seconds = MPI_Wtime() - start, *plate = heat_gather(&p);
    bool wrong = example_fault("mpi_heat", p.me == 0 ? heat_report(&p, plate, seconds) : NULL);
    for (int i = 0; i < 2 * REQUESTS; i++)
        MPI_Request_free(&p.edges[i / REQUESTS][i % REQUESTS]);
    free(plate);
    grid_free(&p.g);
    MPI_Comm_free(&p.comm);
    return wrong;
}

int main(int argc, char **argv)
{
    MPI_Init(&argc, &argv);
    int status = example_options(argc, argv, "heat spreading in a plate cut into blocks", options);
    if (status == EXAMPLE_RUN)
        status = heat_run();
    MPI_Finalize();
    return status;
}
