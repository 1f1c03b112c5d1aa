// SPDX-License-Identifier: BSD-3-Clause
// Heat in a square plate: four warm spots (a chip with four busy cores), edges held at 0 degrees,
// Jacobi steps. The plate is cut into one block a PE. In each step a PE sends its four edges into
// its neighbours' halos with put-with-signal, works on the cells that need no halo, and waits for
// the neighbours' signals before it does the rest:
//
//             halo[NORTH][step % 2] <- north neighbour's lowest row, then arrived[NORTH][step % 2]
//             +-----------------+
//      WEST   |  my block, w*h  |   EAST
//             +-----------------+
//                   SOUTH
//
// There is no barrier in the loop. Two halos a side are enough: a neighbour sends for step s+2 only
// after it has had my edge of step s+1, and I send that only after I am done with its halo of step
// s. Each of the two has its own signal, so they cannot overtake one another either.
//
// PE 0 solves the same problem alone and compares every cell.
//
//     oshrun -n 4 heat2d --size 512 --steps 2000 --picture plate.ppm

#include "example.h"

#include <math.h>

static long size = 256, steps = 500, every = 50, show;
static const char *picture;

static const struct example_option options[] = {
    {"--size", "N", &size, 2, NULL, "the plate has N x N cells"},
    {"--steps", "N", &steps, 1, NULL, "steps to make"},
    {"--every", "N", &every, 1, NULL, "look at the largest change every N steps"},
    {"--picture", "FILE", NULL, 0, &picture, "write the plate as a picture (PPM)"},
    {"--show", NULL, &show, 0, NULL, "print the plate as characters"},
    {.name = NULL},
};

enum side { NORTH, SOUTH, WEST, EAST, SIDES };

// A rectangle of cells inside a grid whose rows are stride apart; cell (0,0) of the block is at
// stride + 1, since there is one ring of halo cells around it.
struct grid {
    double *now, *next;
    const double *source; // what each cell gains in a step
    long w, h, stride;
};

struct heat {
    int me, npes, px, py; // px * py PEs
    long x0, y0;          // where my block begins in the plate
    struct grid g;        // now and next are symmetric, with one stride for all PEs
    int neighbour[SIDES]; // or -1
    double *edge;         // one packed edge, on its way
    double *halo;         // symmetric: halo_of()
    uint64_t *arrived;    // symmetric: [side][step % 2], the last step whose halo is there, plus 1
    double change;        // largest change in the last step looked at
};

// Where the slice-th of parts of n cells begins.
static long heat_slice(int slice, int parts)
{
    return size * slice / parts;
}

// Heat gained by cell (x,y) of the plate in one step.
static double heat_source(long x, long y)
{
    static const double spot[4][3] = {
        {.30, .28, .20}, {.70, .34, .12}, {.34, .72, .08}, {.68, .70, .18}};
    double fx = ((double)x + .5) / (double)size, fy = ((double)y + .5) / (double)size, q = 0;
    for (int i = 0; i < 4; i++)
        if (fabs(fx - spot[i][0]) < .09 && fabs(fy - spot[i][1]) < .11)
            q += spot[i][2];
    return q;
}

static double *heat_source_block(long x0, long y0, long w, long h, long stride)
{
    double *q = example_local((size_t)((h + 2) * stride), sizeof *q);
    for (long y = 0; y < h; y++)
        for (long x = 0; x < w; x++)
            q[(y + 1) * stride + x + 1] = heat_source(x0 + x, y0 + y);
    return q;
}

// Makes one step for the cells [x0,x1) x [y0,y1) of the block. Returns the largest change.
static double grid_step(const struct grid *g, long x0, long x1, long y0, long y1)
{
    double change = 0;
    for (long y = y0; y < y1; y++) {
        const double *restrict c = g->now + (y + 1) * g->stride + 1;
        const double *restrict q = g->source + (y + 1) * g->stride + 1;
        double *restrict to = g->next + (y + 1) * g->stride + 1;
        for (long x = x0; x < x1; x++) {
            to[x] = 0.25 * (c[x - g->stride] + c[x + g->stride] + c[x - 1] + c[x + 1]) + q[x];
            double d = fabs(to[x] - c[x]);
            change = d > change ? d : change;
        }
    }
    return change;
}

static void grid_swap(struct grid *g)
{
    double *t = g->now;
    g->now = g->next;
    g->next = t;
}

// The shape of PEs nearest to a square, e.g. 4 x 4, 4 x 2, 7 x 1.
static void heat_place(struct heat *p)
{
    p->py = (int)sqrt((double)p->npes);
    while (p->npes % p->py)
        p->py--;
    p->px = p->npes / p->py;
    int x = p->me % p->px, y = p->me / p->px;
    p->x0 = heat_slice(x, p->px);
    p->y0 = heat_slice(y, p->py);
    p->g.w = heat_slice(x + 1, p->px) - p->x0;
    p->g.h = heat_slice(y + 1, p->py) - p->y0;
    p->g.stride = size / p->px + 3;
    p->neighbour[NORTH] = y > 0 ? p->me - p->px : -1;
    p->neighbour[SOUTH] = y < p->py - 1 ? p->me + p->px : -1;
    p->neighbour[WEST] = x > 0 ? p->me - 1 : -1;
    p->neighbour[EAST] = x < p->px - 1 ? p->me + 1 : -1;
}

static void heat_open(struct heat *p)
{
    size_t cells = (size_t)(p->g.stride * (size / p->py + 3));
    p->g.now = example_alloc(cells, sizeof(double));
    p->g.next = example_alloc(cells, sizeof(double));
    p->g.source = heat_source_block(p->x0, p->y0, p->g.w, p->g.h, p->g.stride);
    p->halo = example_alloc((size_t)(SIDES * 2 * size), sizeof(double));
    p->arrived = example_alloc(SIDES * 2, sizeof(uint64_t));
    p->edge = example_local((size_t)size, sizeof(double));
}

static void heat_close(struct heat *p)
{
    free(p->edge);
    shmem_free(p->arrived);
    shmem_free(p->halo);
    shmem_free(p->g.next);
    shmem_free(p->g.now);
    free((void *)p->g.source);
}

static double *halo_of(const struct heat *p, int side, long step)
{
    return p->halo + (side * 2 + step % 2) * size;
}

// The cells of one side: the block's own edge (depth 0), or the halo beyond it (depth 1).
static double *side_cells(const struct heat *p, int side, int depth, long *count, long *apart)
{
    const struct grid *g = &p->g;
    bool row = side == NORTH || side == SOUTH;
    long x = side == WEST ? -depth : side == EAST ? g->w - 1 + depth : 0;
    long y = side == NORTH ? -depth : side == SOUTH ? g->h - 1 + depth : 0;
    *count = row ? g->w : g->h;
    *apart = row ? 1 : g->stride;
    return g->now + (y + 1) * g->stride + x + 1;
}

static void heat_send(struct heat *p, long step)
{
    static const int opposite[SIDES] = {SOUTH, NORTH, EAST, WEST};
    for (int side = 0; side < SIDES; side++) {
        if (p->neighbour[side] < 0)
            continue;
        long n, apart;
        const double *cells = side_cells(p, side, 0, &n, &apart);
        for (long i = 0; i < n; i++)
            p->edge[i] = cells[i * apart];
        int there = opposite[side];
        shmem_put_signal(halo_of(p, there, step), p->edge, (size_t)n,
                         &p->arrived[there * 2 + step % 2], (uint64_t)step + 1, SHMEM_SIGNAL_SET,
                         p->neighbour[side]);
    }
}

static void heat_receive(struct heat *p, long step)
{
    for (int side = 0; side < SIDES; side++) {
        if (p->neighbour[side] < 0)
            continue;
        shmem_signal_wait_until(&p->arrived[side * 2 + step % 2], SHMEM_CMP_EQ, (uint64_t)step + 1);
        long n, apart;
        const double *from = halo_of(p, side, step);
        double *cells = side_cells(p, side, 1, &n, &apart);
        for (long i = 0; i < n; i++)
            cells[i * apart] = from[i];
    }
}

// One step: edges out, inner cells, edges in, outer cells. Returns the largest change here.
static double heat_step(struct heat *p, long step)
{
    struct grid *g = &p->g;
    long right = g->w > 1 ? g->w - 1 : 1, low = g->h > 1 ? g->h - 1 : 1;
    heat_send(p, step);
    double change = grid_step(g, 1, g->w - 1, 1, g->h - 1);
    heat_receive(p, step);
    change = fmax(change, grid_step(g, 0, g->w, 0, 1));
    change = fmax(change, grid_step(g, 0, g->w, low, g->h));
    change = fmax(change, grid_step(g, 0, 1, 1, low));
    change = fmax(change, grid_step(g, right, g->w, 1, low));
    grid_swap(g);
    return change;
}

static void heat_solve(struct heat *p)
{
    static double mine, all;
    for (long step = 0; step < steps; step++) {
        mine = heat_step(p, step);
        if ((step + 1) % every && step + 1 < steps)
            continue;
        shmem_max_reduce(SHMEM_TEAM_WORLD, &all, &mine, 1);
        p->change = all;
    }
}

// Brings the whole plate to PE 0: the blocks are at the same address everywhere.
static double *heat_gather(const struct heat *p)
{
    double *plate = example_local((size_t)(size * size), sizeof *plate);
    for (int pe = 0; pe < p->npes; pe++) {
        int px = pe % p->px, py = pe / p->px;
        long x0 = heat_slice(px, p->px), w = heat_slice(px + 1, p->px) - x0;
        for (long y = heat_slice(py, p->py), row = 1; y < heat_slice(py + 1, p->py); y++, row++)
            shmem_get(plate + y * size + x0, p->g.now + row * p->g.stride + 1, (size_t)w, pe);
    }
    return plate;
}

// The same plate on one PE. Returns the largest difference to what all PEs found.
static double heat_compare(const double *plate, double *seconds)
{
    long stride = size + 2;
    double *a = example_local((size_t)(stride * stride), sizeof *a), difference = 0;
    double *b = example_local((size_t)(stride * stride), sizeof *b);
    const double *q = heat_source_block(0, 0, size, size, stride);
    struct grid g = {a, b, q, size, size, stride};
    double start = example_now();
    for (long step = 0; step < steps; step++) {
        grid_step(&g, 0, size, 0, size);
        grid_swap(&g);
    }
    *seconds = example_now() - start;
    for (long y = 0; y < size; y++)
        for (long x = 0; x < size; x++)
            difference = fmax(difference,
                              fabs(plate[y * size + x] - g.now[(y + 1) * stride + x + 1]));
    free(a);
    free(b);
    free((void *)q);
    return difference;
}

static double heat_hottest(const double *plate, long *at)
{
    *at = 0;
    for (long i = 0; i < size * size; i++)
        *at = plate[i] > plate[*at] ? i : *at;
    return plate[*at];
}

// Black, violet, red, yellow, white.
static void heat_colour(double t, unsigned char rgb[3])
{
    static const double map[6][3] = {{4, 4, 20},    {62, 12, 96},   {170, 32, 88},
                                     {236, 84, 40}, {252, 184, 50}, {255, 252, 220}};
    double at = t * 5;
    int i = at >= 5 ? 4 : (int)at;
    for (int k = 0; k < 3; k++)
        rgb[k] = (unsigned char)(map[i][k] + (map[i + 1][k] - map[i][k]) * (at - i) + .5);
}

static int heat_picture(const double *plate, double hottest)
{
    FILE *f = fopen(picture, "wb");
    if (!f) {
        perror(picture);
        return 1;
    }
    fprintf(f, "P6\n%ld %ld\n255\n", size, size);
    for (long i = 0; i < size * size; i++) {
        unsigned char rgb[3];
        heat_colour(plate[i] / hottest, rgb);
        fwrite(rgb, 1, 3, f);
    }
    return fclose(f) != 0;
}

static void heat_show(const double *plate, double hottest)
{
    static const char shade[] = " .:-=+*#%@";
    for (int y = 0; y < 24; y++) {
        char line[65] = "";
        for (int x = 0; x < 64; x++) {
            double t = plate[size * y / 24 * size + size * x / 64] / hottest;
            line[x] = shade[(int)fmin(9, t * 10)];
        }
        printf("    %s\n", line);
    }
}

static int heat_report(const struct heat *p, double seconds)
{
    double *plate = heat_gather(p), alone;
    double difference = heat_compare(plate, &alone);
    if (!(difference < 1e-9)) {
        printf("heat2d: differs from the serial solution by %g\n", difference);
        return 1;
    }
    long at;
    double hottest = heat_hottest(plate, &at), cells = (double)size * (double)size;
    printf("heat2d: %ld x %ld cells, %ld steps on %d x %d PEs in %.3f s: %.0f million cells/s\n",
           size, size, steps, p->px, p->py, seconds, cells * (double)steps / seconds * 1e-6);
    printf("hottest %.1f degrees at (%ld, %ld); last change %.4f\n", hottest, at % size, at / size,
           p->change);
    printf("every cell agrees with one PE's solution (%.3f s), largest difference %g\n", alone,
           difference);
    if (show)
        heat_show(plate, hottest);
    int wrong = picture ? heat_picture(plate, hottest) : 0;
    free(plate);
    return wrong;
}

static int heat_run(void)
{
    struct heat p = {.me = shmem_my_pe(), .npes = shmem_n_pes()};
    heat_place(&p);
    if (size < p.px) {
        if (p.me == 0)
            printf("heat2d: --size %ld is too small for %d PEs in a row\n", size, p.px);
        return 1;
    }
    heat_open(&p);
    shmem_barrier_all();
    double start = example_now();
    heat_solve(&p);
    shmem_barrier_all();
    double seconds = example_now() - start;
    int wrong = p.me == 0 ? heat_report(&p, seconds) : 0;
    wrong = example_max(wrong) != 0;
    heat_close(&p);
    return wrong;
}

int main(int argc, char **argv)
{
    shmem_init();
    int status = example_options(argc, argv, "heat spreading in a plate cut into blocks", options);
    if (status == EXAMPLE_RUN)
        status = heat_run();
    shmem_finalize();
    return status;
}
