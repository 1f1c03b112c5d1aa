// SPDX-License-Identifier: BSD-3-Clause
// Breadth-first search of a random graph, the kernel of the Graph500 benchmark, with accumulates: in
// each level a process offers every vertex of its frontier as the parent of the neighbours, wherever
// these are, by MPI_Accumulate with MPI_MIN. A fence ends the level. The tree is then checked.
//
//     mpiexec -n 4 mpi_bfs --scale 16

#include "example_mpi.h"

#include <limits.h>

static long scale = 10, factor = 16;
static const struct example_option options[] = {
    {"--scale", "N", &scale, 1, NULL, "2 to this power vertices"},
    {"--edges", "N", &factor, 1, NULL, "edges for each vertex"},
    {.name = NULL},
};

static int me, npes;
static long vertices, local; // vertex v is number v / npes of process v % npes
static long *first,
    *neighbour; // edges of own vertex i: neighbour[first[i]] to neighbour[first[i + 1]]
static long *offered, *parent, *level; // offered: the window, LONG_MAX for nothing
static long *name;                     // of each own vertex; offers are read until the fence
static MPI_Win win;

// Edge e of the Kronecker graph with the benchmark's probabilities; all processes know all edges.
static void edge(long e, long *from, long *to)
{
    *from = *to = 0;
    for (int bit = 0; bit < scale; bit++) {
        unsigned r = (unsigned)(example_random((uint64_t)(e * scale + bit)) % 100);
        int quarter = r < 57 ? 0 : r < 76 ? 1 : r < 95 ? 2 : 3;
        *from = *from * 2 + quarter / 2;
        *to = *to * 2 + quarter % 2;
    }
}

static void each_own(void (*fn)(long own, long other))
{
    for (long e = 0; e < vertices * factor; e++) {
        long from, to;
        edge(e, &from, &to);
        if (from % npes == me)
            fn(from / npes, to);
        if (to % npes == me && from != to)
            fn(to / npes, from);
    }
}

static void count(long own, long other)
{
    (void)other;
    first[own + 2]++;
}

static void add(long own, long other)
{
    neighbour[first[own + 1]++] = other;
}

static void build(void)
{
    first = example_alloc((size_t)local + 2, sizeof *first);
    each_own(count);
    for (long i = 2; i < local + 2; i++)
        first[i] += first[i - 1];
    neighbour = example_alloc((size_t)first[local + 1], sizeof *neighbour);
    each_own(add);
}

static void offer(long own)
{
    for (long k = first[own]; k < first[own + 1]; k++)
        MPI_Accumulate(&name[own], 1, MPI_LONG, (int)(neighbour[k] % npes), neighbour[k] / npes, 1,
                       MPI_LONG, MPI_MIN, win);
}

static long search(long root)
{
    long depth = 0, found = root % npes == me, all = 1;
    for (long i = 0; i < local; i++) {
        parent[i] = level[i] = -1;
        offered[i] = LONG_MAX;
    }
    if (found)
        parent[root / npes] = root, level[root / npes] = 0;
    for (; all > 0; depth++) {
        MPI_Win_fence(0, win);
        for (long i = 0; i < local; i++)
            if (level[i] == depth)
                offer(i);
        MPI_Win_fence(0, win);
        found = 0;
        for (long i = 0; i < local; i++) {
            if (offered[i] != LONG_MAX && parent[i] < 0) {
                parent[i] = offered[i];
                level[i] = depth + 1;
                found++;
            }
            offered[i] = LONG_MAX;
        }
        MPI_Allreduce(&found, &all, 1, MPI_LONG, MPI_SUM, MPI_COMM_WORLD);
    }
    MPI_Win_fence(MPI_MODE_NOSUCCEED, win);
    return depth - 1;
}

// Every vertex but the root is one level below its parent, which is a neighbour; and no edge skips a
// level, or leads out of the tree.
static long faults(long root)
{
    MPI_Win levels;
    long wrong = 0;
    MPI_Win_create(level, local * (MPI_Aint)sizeof(long), sizeof(long), MPI_INFO_NULL,
                   MPI_COMM_WORLD, &levels);
    MPI_Win_lock_all(0, levels);
    for (long i = 0; i < local; i++) {
        int has_parent = parent[i] < 0 || i * npes + me == root;
        for (long k = first[i]; k < first[i + 1]; k++) {
            long there, v = neighbour[k];
            MPI_Get(&there, 1, MPI_LONG, (int)(v % npes), v / npes, 1, MPI_LONG, levels);
            MPI_Win_flush((int)(v % npes), levels);
            wrong += (there < 0) != (level[i] < 0) || labs(there - level[i]) > 1;
            has_parent |= v == parent[i] && there == level[i] - 1;
        }
        wrong += !has_parent;
    }
    MPI_Win_unlock_all(levels);
    MPI_Win_free(&levels);
    return wrong;
}

int main(int argc, char **argv)
{
    MPI_Init(&argc, &argv);
    int status = example_options(argc, argv, "breadth-first search, by accumulates", options);
    if (status != EXAMPLE_RUN) {
        MPI_Finalize();
        return status;
    }
    me = example_rank();
    npes = example_size();
    vertices = 1L << scale;
    local = (vertices + npes - 1) / npes;
    build();
    MPI_Win_allocate(local * (MPI_Aint)sizeof(long), sizeof(long), MPI_INFO_NULL, MPI_COMM_WORLD,
                     &offered, &win);
    MPI_Alloc_mem(local * (MPI_Aint)sizeof(long), MPI_INFO_NULL, &level);
    parent = example_alloc((size_t)local, sizeof *parent);
    name = example_alloc((size_t)local, sizeof *name);
    for (long i = 0; i < local; i++)
        name[i] = i * npes + me;
    double start = MPI_Wtime();
    long from, root, sums[2], mine[2] = {0, 0};
    edge(1, &root, &from);
    long depth = search(root);
    double seconds = MPI_Wtime() - start;
    mine[0] = faults(root);
    for (long i = 0; i < local; i++)
        mine[1] += parent[i] >= 0;
    MPI_Allreduce(mine, sums, 2, MPI_LONG, MPI_SUM, MPI_COMM_WORLD);
    if (me == 0)
        printf("mpi_bfs: %ld of %ld vertices in %ld levels on %d processes: %.3f s: %s\n", sums[1],
               vertices, depth, npes, seconds, sums[0] || sums[1] < 2 ? "WRONG" : "right");
    MPI_Win_free(&win);
    MPI_Free_mem(level);
    free(parent);
    free(name);
    free(first);
    free(neighbour);
    MPI_Finalize();
    return sums[0] != 0 || sums[1] < 2;
}
