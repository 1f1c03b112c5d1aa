// SPDX-License-Identifier: BSD-3-Clause
// Placing a grid on nodes: each node gets a block of the grid, of the shape that has the fewest
// neighbours on other nodes. With 4 processes on each of 4 nodes, and a grid of 4 x 4:
//
//     0 0 0 0      0 0 1 1
//     1 1 1 1  ->  0 0 1 1     node of each place: 24 of 64 links leave a node, then 16 ...
//     2 2 2 2      2 2 3 3
//     3 3 3 3      2 2 3 3
//
// Where that does not work out (one node, nodes with different numbers of processes, no block of
// that size divides the grid) the order stays as it is.
#include "agree.h"
#include "topo.h"

#include <limits.h>
#include <stdlib.h>
#include <string.h>

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
struct seat {
    int node, rank;
};

static int by_node(const void *a, const void *b)
{
    const struct seat *x = a, *y = b;
    return x->node != y->node ? (x->node > y->node) - (x->node < y->node)
                              : (x->rank > y->rank) - (x->rank < y->rank);
}

// How many processes each node has, of the first `size`; 0: not all the same.
static int fill_of(struct seat *seats, int size)
{
    int fill = 1;
    qsort(seats, (size_t)size, sizeof *seats, by_node);
    while (fill < size && seats[fill].node == seats[0].node)
        fill++;
    if (size % fill)
        return 0;
    for (int i = 0; i < size; i++)
        if (seats[i].node != seats[i - i % fill].node ||
            (i >= fill && i % fill == 0 && seats[i].node == seats[i - 1].node))
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

static void order_by(const struct shape *s, const struct seat *seats, int size, int volume,
                     int order[])
{
    for (int i = 0; i < size; i++)
        order[place_of(s, i, volume)] = seats[i].rank;
}

int topology_place(struct comm *comm, int n, const int dims[], int size, int order[])
{
    struct circle all = circle_of(comm);
    struct seat mine = {shmem_team_translate_pe(SHMEM_TEAM_SHARED, 0, SHMEM_TEAM_WORLD),
                        comm->rank};
    struct seat *seats = malloc((size_t)all.size * sizeof *seats);
    int *shapes = malloc((2 * (size_t)n + 1) * sizeof *shapes);
    int error = seats && shapes ? agree_allgather(&all, &mine, sizeof mine, seats) : MPI_ERR_NO_MEM;
    if (!error) {
        int fill = fill_of(seats, size);
        struct shape s = {n, dims, shapes, shapes + n, LONG_MAX};
        if (fill > 1 && fill < size)
            try_shapes(&s, 0, fill, fill);
        if (s.cost < LONG_MAX)
            order_by(&s, seats, size, fill, order);
    }
    free(shapes);
    free(seats);
    return error;
}
