// SPDX-License-Identifier: BSD-3-Clause
// Neighbourhood collectives in all their forms, on random grids (also of sizes 1 and 2, where two
// neighbours are one process) and random graphs of both kinds with several edges between two processes
// and edges from a process to itself.
// PES: 1 2 4 7
#include "coll_check.h"

enum { TURNS = 25, CALLS = 10, MOST = 128, LONG_ONE = 3000 };

static uint64_t shared = 20; // state of what all processes draw alike
static MPI_Comm comm;
static int in_n, out_n;
static int in[MOST], out[MOST];
static int slot[MOST]; // of what comes in: its place among what its source sends

static int draw(int n)
{
    return (int)rnd_below(&shared, (size_t)n);
}

static void make_grid(void)
{
    int n = 1 + draw(3), dims[3] = {0}, periodic[3];
    for (int d = 0; d < n; d++)
        periodic[d] = draw(2);
    dims[0] = n > 1 && draw(2) ? 1 : 0;
    OK(MPI_Dims_create(npes, n, dims));
    OK(MPI_Cart_create(MPI_COMM_WORLD, n, dims, periodic, 0, &comm));
    in_n = out_n = 2 * n;
    for (int d = 0; d < n; d++)
        OK(MPI_Cart_shift(comm, d, 1, &in[2 * d], &in[2 * d + 1]));
    for (int i = 0; i < in_n; i++) {
        out[i] = in[i];
        slot[i] = i ^ 1;
    }
}

// Edges have an order, which each process's lists follow.
static void make_graph(void)
{
    static const int weights[MOST];
    int n = draw(3 * npes + 1), from[MOST], to[MOST];
    in_n = out_n = 0;
    for (int e = 0; e < n; e++) {
        from[e] = draw(npes);
        to[e] = draw(npes);
        if (from[e] == me)
            out[out_n++] = to[e];
        if (to[e] != me)
            continue;
        slot[in_n] = 0;
        for (int before = 0; before < e; before++)
            slot[in_n] += from[before] == from[e];
        in[in_n++] = from[e];
    }
    OK(MPI_Dist_graph_create_adjacent(MPI_COMM_WORLD, in_n, in, weights, out_n, out, weights,
                                      MPI_INFO_NULL, 0, &comm));
}

// By MPI_Graph_create, which has each edge in both directions: a process's lists of both sides are the same.
static void make_symmetric(void)
{
    static int list[MOST][MOST];
    int n = draw(2 * npes + 1), degree[MOST] = {0}, ends[MOST], all[MOST], total = 0;
    for (int e = 0; e < n; e++) {
        int a = draw(npes), b = draw(npes);
        list[a][degree[a]++] = b;
        if (a != b)
            list[b][degree[b]++] = a;
    }
    for (int i = 0; i < npes; i++) {
        for (int k = 0; k < degree[i]; k++)
            all[total++] = list[i][k];
        ends[i] = total;
    }
    in_n = out_n = degree[me];
    for (int k = 0; k < in_n; k++) {
        int before = 0, at = 0;
        in[k] = out[k] = list[me][k];
        for (int i = 0; i < k; i++)
            before += list[me][i] == in[k];
        while (list[in[k]][at] != me || before-- > 0)
            at++;
        slot[k] = at;
    }
    OK(MPI_Graph_create(MPI_COMM_WORLD, npes, ends, all, 0, &comm));
}

// ---- Calls
static struct {
    int *from, *to;
    int counts[MOST], from_at[MOST], to_at[MOST];
    MPI_Count long_counts[MOST];
    MPI_Aint long_from_at[MOST], long_to_at[MOST], from_bytes[MOST], to_bytes[MOST];
    MPI_Datatype types[MOST];
} a;

enum call { ALLGATHER, ALLGATHERV, ALLTOALL, ALLTOALLV, ALLTOALLW, NAMES };

static bool has_counts(enum call call)
{
    return call == ALLGATHERV || call >= ALLTOALLV;
}

static int value(int call, int source, int block, int i)
{
    return call * 1000003 + source * 1009 + block * 31 + i;
}

static void with_int(enum call call, int form, int n)
{
    MPI_Request r;
    switch (call) {
    case ALLGATHER:
        OK(COLL(form, , Neighbor_allgather, Ineighbor_allgather, &r, comm, a.from, n, MPI_INT, a.to,
                n, MPI_INT));
        break;
    case ALLGATHERV:
        OK(COLL(form, , Neighbor_allgatherv, Ineighbor_allgatherv, &r, comm, a.from, n, MPI_INT,
                a.to, a.counts, a.to_at, MPI_INT));
        break;
    case ALLTOALL:
        OK(COLL(form, , Neighbor_alltoall, Ineighbor_alltoall, &r, comm, a.from, n, MPI_INT, a.to,
                n, MPI_INT));
        break;
    case ALLTOALLV:
        OK(COLL(form, , Neighbor_alltoallv, Ineighbor_alltoallv, &r, comm, a.from, a.counts,
                a.from_at, MPI_INT, a.to, a.counts, a.to_at, MPI_INT));
        break;
    default:
        OK(COLL(form, , Neighbor_alltoallw, Ineighbor_alltoallw, &r, comm, a.from, a.counts,
                a.from_bytes, a.types, a.to, a.counts, a.to_bytes, a.types));
    }
    coll_finish(form, &r);
}

static void with_count(enum call call, int form, MPI_Count n)
{
    MPI_Request r;
    switch (call) {
    case ALLGATHER:
        OK(COLL(form, _c, Neighbor_allgather, Ineighbor_allgather, &r, comm, a.from, n, MPI_INT,
                a.to, n, MPI_INT));
        break;
    case ALLGATHERV:
        OK(COLL(form, _c, Neighbor_allgatherv, Ineighbor_allgatherv, &r, comm, a.from, n, MPI_INT,
                a.to, a.long_counts, a.long_to_at, MPI_INT));
        break;
    case ALLTOALL:
        OK(COLL(form, _c, Neighbor_alltoall, Ineighbor_alltoall, &r, comm, a.from, n, MPI_INT, a.to,
                n, MPI_INT));
        break;
    case ALLTOALLV:
        OK(COLL(form, _c, Neighbor_alltoallv, Ineighbor_alltoallv, &r, comm, a.from, a.long_counts,
                a.long_from_at, MPI_INT, a.to, a.long_counts, a.long_to_at, MPI_INT));
        break;
    default:
        OK(COLL(form, _c, Neighbor_alltoallw, Ineighbor_alltoallw, &r, comm, a.from, a.long_counts,
                a.from_bytes, a.types, a.to, a.long_counts, a.to_bytes, a.types));
    }
    coll_finish(form, &r);
}

// Blocks in order where they have no displacements, else backwards and one element apart.
static void lay_out(int n)
{
    for (int b = 0; b < MOST; b++) {
        a.counts[b] = n;
        a.long_counts[b] = n;
        a.types[b] = MPI_INT;
        a.from_at[b] = b * n;
        a.to_at[b] = (in_n - 1 - b) * (n + 1);
        a.long_from_at[b] = a.from_at[b];
        a.long_to_at[b] = a.to_at[b];
        a.from_bytes[b] = a.from_at[b] * (MPI_Aint)sizeof(int);
        a.to_bytes[b] = a.to_at[b] * (MPI_Aint)sizeof(int);
    }
}

static void one_call(int number)
{
    enum call call = (enum call)draw(NAMES);
    int form = draw(3), n = draw(3) ? draw(10) : draw(LONG_ONE);
    bool big = draw(2), gathers = call == ALLGATHER || call == ALLGATHERV;
    size_t room = sizeof(int) * (size_t)((n + 2) * (in_n + 1));
    // Who has no neighbours on a side may have no buffer there.
    a.from = out_n ? must_alloc(sizeof(int) * (size_t)((n + 2) * (out_n + 1))) : NULL;
    a.to = in_n ? must_alloc(room) : NULL;
    if (a.to)
        memset(a.to, 0xff, room);
    lay_out(n);
    for (int b = 0; b < (gathers && out_n ? 1 : out_n); b++)
        for (int i = 0; i < n; i++)
            a.from[b * n + i] = value(number, me, b, i);
    if (big)
        with_count(call, form, n);
    else
        with_int(call, form, n);
    for (int b = 0; b < in_n; b++) {
        const int *got = a.to + (has_counts(call) ? a.to_at[b] : b * n);
        int block = gathers ? 0 : slot[b];
        CHECK_EACH(i, n, got[i], in[b] == MPI_PROC_NULL ? -1 : value(number, in[b], block, (int)i));
    }
    free(a.from);
    free(a.to);
}

int main(void)
{
    mpi_start();
    CHECK(4 * npes < MOST);
    for (int turn = 0; turn < TURNS; turn++) {
        void (*const make[])(void) = {make_grid, make_graph, make_symmetric};
        make[draw(3)]();
        for (int i = 0; i < CALLS; i++)
            one_call(turn * CALLS + i);
        OK(MPI_Comm_free(&comm));
    }
    return mpi_done();
}
