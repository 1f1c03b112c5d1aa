// SPDX-License-Identifier: BSD-3-Clause
// Placing a grid on nodes: each node gets a block of the grid, of the shape that has the fewest
// neighbours on other nodes. With 4 processes on each of 4 nodes, and a grid of 4 x 4:
//
//     0 0 0 0      0 0 1 1
//     1 1 1 1  ->  0 0 1 1     node of each place: 24 of 48 links leave a node, then 16 ...
//     2 2 2 2      2 2 3 3
//     3 3 3 3      2 2 3 3
//
// Where that does not work out (nodes with different numbers of processes, no block of that size divides
// the grid), and inside a node, it is placed as any graph is (topo_map.h), if that is better.
#include "topo.h"
#include "topo_map.h"

#include <limits.h>
#include <stdlib.h>
#include <string.h>

enum { MOST_DIMS = sizeof(int) * CHAR_BIT }; // of two places and more, in a grid of INT_MAX places

// ---- The shape
struct shape {
    int n;
    const int *dims;
    int *block, *best; // n each
    long cost;         // of best; LONG_MAX: none
};

// Links that leave a block of `volume` places: its faces in the dimensions that it does not fill.
static long cost_of(const struct shape *s, int volume)
{
    long cost = 0;
    for (int d = 0; d < s->n; d++)
        if (s->block[d] < s->dims[d])
            cost += 2L * volume / s->block[d];
    return cost;
}

static void try_shapes(struct shape *s, int d, int left, int volume)
{
    if (d == s->n) {
        long cost = left == 1 ? cost_of(s, volume) : LONG_MAX;
        if (cost < s->cost) {
            s->cost = cost;
            memcpy(s->best, s->block, (size_t)s->n * sizeof *s->best);
        }
        return;
    }
    for (int b = 1; b <= s->dims[d] && b <= left; b++)
        if (s->dims[d] % b == 0 && left % b == 0) {
            s->block[d] = b;
            try_shapes(s, d + 1, left / b, volume);
        }
}

// ---- Nodes
// How many processes each node has; 0: not all the same.
static int fill_of(const struct seat *seats, int size)
{
    int fill = 1;
    while (fill < size && seats[fill].at[0] == seats[0].at[0])
        fill++;
    if (size % fill)
        return 0;
    for (int i = 0; i < size; i++)
        if (seats[i].at[0] != seats[i - i % fill].at[0] ||
            (i >= fill && i % fill == 0 && seats[i].at[0] == seats[i - 1].at[0]))
            return 0;
    return fill;
}

// The place of seat i: the blocks in the order of nodes, then the places in a block.
static int place_of(const struct shape *s, int i, int volume)
{
    int inside = i % volume, outside = i / volume, rank = 0, step = 1;
    for (int d = s->n - 1; d >= 0; d--) {
        int blocks = s->dims[d] / s->best[d];
        rank += (outside % blocks * s->best[d] + inside % s->best[d]) * step;
        outside /= blocks;
        inside /= s->best[d];
        step *= s->dims[d];
    }
    return rank;
}

static bool order_by_blocks(int n, const int dims[], int size, const struct seat *seats,
                            int order[])
{
    int fill = fill_of(seats, size);
    int *shapes = malloc((2 * (size_t)n + 1) * sizeof *shapes);
    struct shape s = {n, dims, shapes, shapes + n, LONG_MAX};
    if (shapes && fill > 1 && fill < size)
        try_shapes(&s, 0, fill, fill);
    for (int i = 0; s.cost < LONG_MAX && i < size; i++)
        order[place_of(&s, i, fill)] = seats[i].rank;
    free(shapes);
    return shapes;
}

// ---- The grid as a graph
static struct link *links_of(int n, const int dims[], const int wraps[], int size, size_t *count)
{
    struct link *links = malloc(((size_t)n * (size_t)size + 1) * sizeof *links);
    size_t k = 0;
    for (int d = n - 1, step = 1; links && d >= 0; step *= dims[d], d--)
        for (int i = 0; i < size; i++) {
            int at = i / step % dims[d];
            bool is_last = at == dims[d] - 1;
            if (!is_last || wraps[d])
                links[k++] = (struct link){i, is_last ? i - at * step : i + step, 1};
        }
    *count = k;
    return links;
}

// By blocks, if that is better: all faces of a block count alike when its shape is chosen, also those
// at the rim and those to one and the same other block.
static bool try_blocks(int n, const int dims[], int size, const struct seat *seats,
                       const struct link *links, size_t count, int order[])
{
    int *other = malloc((size_t)size * sizeof *other);
    if (other)
        memcpy(other, order, (size_t)size * sizeof *other);
    bool done = other && order_by_blocks(n, dims, size, seats, other);
    if (done)
        map_take(size, seats, links, count, other, order);
    free(other);
    return done;
}

// Without the dimensions of one place, of which there may be any number: how many are left.
static int without_ones(int n, const int dims[], const int periods[], int longer[], int wraps[])
{
    int left = 0;
    for (int d = 0; d < n; d++)
        if (dims[d] > 1) {
            longer[left] = dims[d];
            wraps[left++] = periods[d];
        }
    return left;
}

int topology_place(struct comm *comm, int n_all, const int all_dims[], const int periods[],
                   int size, int order[])
{
    struct seat *seats;
    int error = map_seats(comm, size, &seats);
    if (!seats)
        return error;
    int dims[MOST_DIMS], wraps[MOST_DIMS];
    int n = without_ones(n_all, all_dims, periods, dims, wraps);
    size_t count;
    struct link *links = links_of(n, dims, wraps, size, &count);
    bool done = links && try_blocks(n, dims, size, seats, links, count, order) &&
                map_improve(size, seats, links, count, order);
    free(links);
    free(seats);
    return done ? MPI_SUCCESS : MPI_ERR_NO_MEM;
}
