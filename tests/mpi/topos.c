// SPDX-License-Identifier: BSD-3-Clause
// Topologies: grids of random shapes against arithmetic, dims, graphs, and distributed graphs whose
// edges are named by random processes.
// PES: 1 2 4 7 12
#include "mpi_check.h"

enum { MOST_DIMS = 4, MOST = 16 };

static int rank_at(int n, const int *dims, const int *periods, const int *coords)
{
    int rank = 0;
    for (int d = 0; d < n; d++) {
        int at = coords[d];
        if (periods[d])
            at = (at % dims[d] + dims[d]) % dims[d];
        else if (at < 0 || at >= dims[d])
            return MPI_PROC_NULL;
        rank = rank * dims[d] + at;
    }
    return rank;
}

static void check_shifts(MPI_Comm cart, int n, const int *dims, const int *periods, int *coords)
{
    for (int d = 0; d < n; d++)
        for (int disp = -3; disp <= 3; disp++) {
            int source, dest, was = coords[d];
            OK(MPI_Cart_shift(cart, d, disp, &source, &dest));
            coords[d] = was + disp;
            CHECK_EQ(dest, rank_at(n, dims, periods, coords));
            coords[d] = was - disp;
            CHECK_EQ(source, rank_at(n, dims, periods, coords));
            coords[d] = was;
        }
}

static void check_sub(MPI_Comm cart, int n, const int *dims, const int *coords, uint64_t *seed)
{
    int remain[MOST_DIMS], size = 1, got, ndims, left = 0, kind;
    MPI_Comm sub;
    for (int d = 0; d < n; d++) {
        remain[d] = rnd_below(seed, 2) == 1;
        left += remain[d];
        size *= remain[d] ? dims[d] : 1;
    }
    OK(MPI_Cart_sub(cart, remain, &sub));
    OK(MPI_Comm_size(sub, &got));
    CHECK_EQ(got, size);
    OK(MPI_Topo_test(sub, &kind));
    CHECK_EQ(kind, MPI_CART);
    OK(MPI_Cartdim_get(sub, &ndims));
    CHECK_EQ(ndims, left);
    int sub_dims[MOST_DIMS], sub_periods[MOST_DIMS], sub_coords[MOST_DIMS], k = 0;
    OK(MPI_Cart_get(sub, MOST_DIMS, sub_dims, sub_periods, sub_coords));
    for (int d = 0; d < n; d++)
        if (remain[d]) {
            CHECK_EQ(sub_dims[k], dims[d]);
            CHECK_EQ(sub_coords[k++], coords[d]);
        }
    // What goes is the same for all in it.
    int line[MOST_DIMS] = {0}, least[MOST_DIMS], largest[MOST_DIMS];
    for (int d = 0; d < n; d++)
        line[d] = remain[d] ? 0 : coords[d];
    OK(MPI_Allreduce(line, least, n, MPI_INT, MPI_MIN, sub));
    OK(MPI_Allreduce(line, largest, n, MPI_INT, MPI_MAX, sub));
    CHECK_EACH(d, n, least[d], largest[d]);
    OK(MPI_Comm_free(&sub));
}

static void grid(uint64_t *seed)
{
    int n = (int)rnd_below(seed, MOST_DIMS + 1), dims[MOST_DIMS], periods[MOST_DIMS], size = 1;
    int reorder = (int)rnd_below(seed, 2), rank, coords[MOST_DIMS], back;
    MPI_Comm cart, copy;
    for (int d = 0; d < n; d++) {
        dims[d] = 1 + (int)rnd_below(seed, (size_t)(npes / size));
        periods[d] = rnd_below(seed, 2) == 1;
        size *= dims[d];
    }
    uint64_t own = rnd(seed);
    OK(MPI_Cart_create(MPI_COMM_WORLD, n, dims, periods, reorder, &cart));
    if (!reorder)
        CHECK_EQ(cart != MPI_COMM_NULL, me < size);
    if (cart == MPI_COMM_NULL)
        return;
    OK(MPI_Comm_dup(cart, &copy)); // with its topology
    OK(MPI_Comm_free(&cart));
    OK(MPI_Comm_rank(copy, &rank));
    OK(MPI_Cart_coords(copy, rank, MOST_DIMS, coords));
    CHECK_EQ(rank_at(n, dims, periods, coords), rank);
    OK(MPI_Cart_rank(copy, coords, &back));
    CHECK_EQ(back, rank);
    check_shifts(copy, n, dims, periods, coords);
    check_sub(copy, n, dims, coords, &own);
    OK(MPI_Comm_free(&copy));
}

// No factors have less between them: tried for all pairs and triples of small numbers.
static void dims(void)
{
    for (int nodes = 1; nodes <= 200; nodes++) {
        int two[2] = {0}, three[3] = {0}, fixed[3] = {0, 1, 0};
        OK(MPI_Dims_create(nodes, 2, two));
        OK(MPI_Dims_create(nodes, 3, three));
        OK(MPI_Dims_create(nodes, 3, fixed));
        CHECK(two[0] * two[1] == nodes && two[0] >= two[1]);
        CHECK(fixed[0] == two[0] && fixed[2] == two[1] && fixed[1] == 1);
        CHECK(three[0] * three[1] * three[2] == nodes && three[0] >= three[1] &&
              three[1] >= three[2]);
        for (int a = 1; a <= nodes; a++)
            for (int b = 1; nodes % a == 0 && b <= a; b++)
                if (nodes / a % b == 0 && nodes / a / b <= b) {
                    CHECK(a - nodes / a / b >= three[0] - three[2]);
                    if (b == nodes / a)
                        CHECK(a - b >= two[0] - two[1]);
                }
    }
}

static void most_divisors(void)
{
    int dims[9] = {0}, product = 1;
    OK(MPI_Dims_create(2095133040, 9, dims)); // no int has more
    for (int i = 0; i < 9; i++)
        product *= dims[i];
    CHECK_EQ(product, 2095133040);
}

static void graph(void)
{
    // A ring with a chord from 0: the standard's way of lists.
    int index[MOST], edges[2 * MOST + 2], n = 0, got[MOST], count, nodes, all;
    MPI_Comm g;
    for (int i = 0; i < npes; i++) {
        edges[n++] = (i + npes - 1) % npes;
        edges[n++] = (i + 1) % npes;
        if (i == 0)
            edges[n++] = npes / 2;
        index[i] = n;
    }
    OK(MPI_Graph_create(MPI_COMM_WORLD, npes, index, edges, 1, &g));
    OK(MPI_Graphdims_get(g, &nodes, &all));
    CHECK(nodes == npes && all == n);
    for (int i = 0; i < npes; i++) {
        OK(MPI_Graph_neighbors_count(g, i, &count));
        CHECK_EQ(count, i == 0 ? 3 : 2);
        OK(MPI_Graph_neighbors(g, i, MOST, got));
        CHECK_EACH(k, count, got[k], edges[(i ? index[i - 1] : 0) + (int)k]);
    }
    OK(MPI_Comm_free(&g));
}

enum { EDGES = 60 };

// Every process draws all edges, and names those that fall to it.
static void distributed(uint64_t *seed, bool weighted)
{
    int sources[EDGES], ones[EDGES], dests[EDGES], weights[EDGES], n = 0;
    int in[MOST][MOST] = {{0}}, out[MOST][MOST] = {{0}}, in_n = 0, out_n = 0;
    for (int e = 0; e < EDGES; e++) {
        int from = (int)rnd_below(seed, (size_t)npes), to = (int)rnd_below(seed, (size_t)npes);
        int weight = (int)rnd_below(seed, 9), by = (int)rnd_below(seed, (size_t)npes);
        in[to][from] += weighted ? weight : 1;
        out[from][to] += weighted ? weight : 1;
        in_n += to == me;
        out_n += from == me;
        if (by != me)
            continue;
        sources[n] = from;
        dests[n] = to;
        ones[n] = 1;
        weights[n++] = weight;
    }
    MPI_Comm g;
    OK(MPI_Dist_graph_create(MPI_COMM_WORLD, n, sources, ones, dests,
                             !weighted ? MPI_UNWEIGHTED
                             : n       ? weights
                                       : MPI_WEIGHTS_EMPTY,
                             MPI_INFO_NULL, 0, &g));
    int got_in, got_out, got_weighted, s[EDGES], sw[EDGES], d[EDGES], dw[EDGES];
    OK(MPI_Dist_graph_neighbors_count(g, &got_in, &got_out, &got_weighted));
    CHECK(got_in == in_n && got_out == out_n && got_weighted == weighted);
    OK(MPI_Dist_graph_neighbors(g, EDGES, s, weighted ? sw : MPI_UNWEIGHTED, EDGES, d,
                                weighted ? dw : MPI_UNWEIGHTED));
    for (int i = 0; i < got_in; i++)
        in[me][s[i]] -= weighted ? sw[i] : 1;
    for (int i = 0; i < got_out; i++)
        out[me][d[i]] -= weighted ? dw[i] : 1;
    CHECK_EACH(i, npes, in[me][i], 0);
    CHECK_EACH(i, npes, out[me][i], 0);
    OK(MPI_Comm_free(&g));
}

static void errors(void)
{
    MPI_Comm c;
    int one = 1, none = 0, more = npes + 1, x;
    OK(MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN));
    CHECK_EQ(class_of(MPI_Cart_create(MPI_COMM_WORLD, 1, &more, &one, 0, &c)), MPI_ERR_DIMS);
    CHECK_EQ(class_of(MPI_Cart_create(MPI_COMM_WORLD, 1, &none, &one, 0, &c)), MPI_ERR_DIMS);
    CHECK_EQ(class_of(MPI_Cartdim_get(MPI_COMM_WORLD, &x)), MPI_ERR_TOPOLOGY);
    OK(MPI_Cart_create(MPI_COMM_SELF, 1, &one, &none, 0, &c));
    OK(MPI_Comm_set_errhandler(c, MPI_ERRORS_RETURN));
    CHECK_EQ(class_of(MPI_Cart_rank(c, &more, &x)), MPI_ERR_ARG);
    CHECK_EQ(class_of(MPI_Cart_coords(c, 1, 1, &x)), MPI_ERR_RANK);
    CHECK_EQ(class_of(MPI_Graphdims_get(c, &x, &x)), MPI_ERR_TOPOLOGY);
    OK(MPI_Comm_free(&c));
}

// A grid of more dimensions than there is stack for.
static void many_dims(MPI_Comm comm, int n, int reorder)
{
    int *dims = malloc((size_t)n * sizeof *dims), *coords = malloc((size_t)n * sizeof *coords);
    int *zeros = calloc((size_t)n, sizeof *zeros), size, rank, got = -1;
    for (int d = 0; d < n; d++)
        dims[d] = 1;
    MPI_Comm cart, sub;
    OK(MPI_Comm_size(comm, &size));
    dims[1] = size;
    OK(MPI_Cart_create(comm, n, dims, zeros, reorder, &cart));
    OK(MPI_Comm_rank(cart, &rank));
    OK(MPI_Cart_coords(cart, rank, n, coords));
    CHECK_EQ(coords[1], rank);
    OK(MPI_Cart_rank(cart, coords, &got));
    CHECK_EQ(got, rank);
    OK(MPI_Cart_sub(cart, dims, &sub));
    OK(MPI_Comm_size(sub, &got));
    CHECK_EQ(got, size);
    OK(MPI_Cartdim_get(sub, &got));
    CHECK_EQ(got, n);
    OK(MPI_Comm_free(&sub));
    OK(MPI_Comm_free(&cart));
    free(coords);
    free(zeros);
    free(dims);
}

int main(void)
{
    uint64_t seed = 3;
    mpi_start();
    for (int i = 0; i < 40; i++)
        grid(&seed);
    dims();
    most_divisors();
    graph();
    for (int i = 0; i < 10; i++)
        distributed(&seed, i % 2);
    errors();
    if (me == 0)
        many_dims(MPI_COMM_SELF, 3000000, 0);
    many_dims(MPI_COMM_WORLD, 300000, 1);
    return mpi_done();
}
