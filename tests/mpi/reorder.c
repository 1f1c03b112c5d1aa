// SPDX-License-Identifier: BSD-3-Clause
// A graph that may be reordered is laid out so that fewer of its links go to other nodes, or cores;
// whoever becomes a vertex has that vertex's neighbours. Two rings, whose vertices take turns, with the
// processes on two nodes: every one has its partners where it is not. reorder KIND: the places are of
// this kind of the machine's tree, and each ring is a half of the vertices (reorder.sh).
// PES: 8
// NODES: 1
// ENV: SHOAL_VNODES=2
#include "mpi_check.h"

#include <sys/resource.h>

enum { MOST = 16 };
static int node; // the first rank of it

static bool is_halves;

static int around(int v, int by)
{
    int half = npes / 2;
    return is_halves ? v / half * half + (v % half + by + half) % half : (v + 2 * by + npes) % npes;
}

static int next_of(int v)
{
    return around(v, 1);
}

static int last_of(int v)
{
    return around(v, -1);
}

// Links to other nodes, of all processes; each neighbour is the vertex that it should be.
static int far_links(MPI_Comm graph, int n, const int from[], const int to[])
{
    int vertex, far = 0, all = 0;
    OK(MPI_Comm_rank(graph, &vertex));
    for (int i = 0; i < n; i++) {
        int mine[2] = {node, vertex}, got[2];
        CHECK_EQ(from[i], i ? next_of(vertex) : last_of(vertex));
        CHECK_EQ(to[i], i ? last_of(vertex) : next_of(vertex));
        OK(MPI_Sendrecv(mine, 2, MPI_INT, to[i], 0, got, 2, MPI_INT, from[i], 0, graph,
                        MPI_STATUS_IGNORE));
        CHECK_EQ(got[1], from[i]);
        far += got[0] != node;
    }
    OK(MPI_Allreduce(&far, &all, 1, MPI_INT, MPI_SUM, graph));
    return all;
}

static int far_in_graph(int reorder)
{
    int index[MOST], edges[2 * MOST], back[2], vertex;
    MPI_Comm graph;
    for (int v = 0; v < npes; v++) {
        index[v] = 2 * v + 2;
        edges[2 * v] = last_of(v);
        edges[2 * v + 1] = next_of(v);
    }
    OK(MPI_Graph_create(MPI_COMM_WORLD, npes, index, edges, reorder, &graph));
    OK(MPI_Comm_rank(graph, &vertex));
    OK(MPI_Graph_neighbors(graph, vertex, 2, back));
    int there[2] = {back[1], back[0]};
    int far = far_links(graph, 2, back, there);
    OK(MPI_Comm_free(&graph));
    return far;
}

// By neighbour, where others named the links.
static void put_first(int rank, int ranks[2], int weights[2])
{
    int other = ranks[0], its = weights[0];
    if (other == rank)
        return;
    ranks[0] = ranks[1], weights[0] = weights[1];
    ranks[1] = other, weights[1] = its;
}

static int far_in(MPI_Comm graph)
{
    int in, out, weighted, vertex;
    int from[2], to[2], in_weights[2], out_weights[2];
    OK(MPI_Comm_rank(graph, &vertex));
    OK(MPI_Dist_graph_neighbors_count(graph, &in, &out, &weighted));
    CHECK(in == 2 && out == 2 && weighted);
    OK(MPI_Dist_graph_neighbors(graph, 2, from, in_weights, 2, to, out_weights));
    put_first(last_of(vertex), from, in_weights);
    put_first(next_of(vertex), to, out_weights);
    for (int i = 0; i < 2; i++) {
        CHECK_EQ(in_weights[i], 1 + from[i]);
        CHECK_EQ(out_weights[i], 1 + vertex);
    }
    return far_links(graph, 2, from, to);
}

static int far_in_adjacent(int reorder)
{
    int from[2] = {last_of(me), next_of(me)}, to[2] = {next_of(me), last_of(me)};
    int in_weights[2] = {1 + from[0], 1 + from[1]}, out_weights[2] = {1 + me, 1 + me};
    MPI_Comm graph;
    OK(MPI_Dist_graph_create_adjacent(MPI_COMM_WORLD, 2, from, in_weights, 2, to, out_weights,
                                      MPI_INFO_NULL, reorder, &graph));
    int far = far_in(graph);
    OK(MPI_Comm_free(&graph));
    return far;
}

// Everybody names the links of its right neighbour.
static int far_in_named(int reorder)
{
    int source = (me + 1) % npes, degree = 2;
    int to[2] = {next_of(source), last_of(source)}, weights[2] = {1 + source, 1 + source};
    MPI_Comm graph;
    OK(MPI_Dist_graph_create(MPI_COMM_WORLD, 1, &source, &degree, to, weights, MPI_INFO_NULL,
                             reorder, &graph));
    int far = far_in(graph);
    OK(MPI_Comm_free(&graph));
    return far;
}

static long peak_mb(void)
{
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__) // they keep what is freed
    return 0;
#else
    struct rusage used;
    getrusage(RUSAGE_SELF, &used);
    return used.ru_maxrss / 1024;
#endif
}

#if defined( \
    __SANITIZE_THREAD__) // it sees libfabric read what the order of a memory's keys protects
enum { HAS_HUB = 0 };
#else
enum { HAS_HUB = 1 };
#endif

// One vertex has nearly all links. No process needs memory as if all vertices had as many.
static void hub(void)
{
    enum { LINKS = 500000 };
    int in = 0, out = me ? 0 : LINKS, rank, in_there, out_there, weighted;
    int *to = malloc(LINKS * sizeof *to), *from = calloc(LINKS, sizeof *from);
    for (int i = 0; i < LINKS; i++) {
        to[i] = 1 + i % (npes - 1);
        in += to[i] == me;
    }
    MPI_Comm graph;
    long before = peak_mb();
    OK(MPI_Dist_graph_create_adjacent(MPI_COMM_WORLD, in, from, MPI_UNWEIGHTED, out, to,
                                      MPI_UNWEIGHTED, MPI_INFO_NULL, 1, &graph));
    CHECK(peak_mb() - before < 48);
    OK(MPI_Comm_rank(graph, &rank));
    OK(MPI_Dist_graph_neighbors_count(graph, &in_there, &out_there, &weighted));
    CHECK_EQ(out_there, rank ? 0 : LINKS);
    CHECK_EQ(in_there, rank ? LINKS / (npes - 1) + (rank <= LINKS % (npes - 1)) : 0);
    OK(MPI_Comm_free(&graph));
    free(to);
    free(from);
}

// The processes of this node, or of this core; MPI_COMM_NULL: not bound to one.
static MPI_Comm near_ones(const char *kind)
{
    MPI_Comm near;
    MPI_Info info;
    OK(MPI_Info_create(&info));
    OK(MPI_Info_set(info, "mpi_hw_resource_type", kind));
    OK(MPI_Comm_split_type(MPI_COMM_WORLD, MPI_COMM_TYPE_HW_GUIDED, 0, info, &near));
    OK(MPI_Info_free(&info));
    return near;
}

int main(int argc, char **argv)
{
    mpi_start();
    MPI_Comm near = near_ones(argc > 1 ? argv[1] : "mpi_shared_memory");
    int size = 0, half;
    is_halves = argc > 1;
    node = me;
    if (near != MPI_COMM_NULL) {
        OK(MPI_Comm_size(near, &size));
        OK(MPI_Bcast(&node, 1, MPI_INT, 0, near));
        OK(MPI_Comm_free(&near));
    }
    half = size == npes / 2;
    OK(MPI_Allreduce(MPI_IN_PLACE, &half, 1, MPI_INT, MPI_MIN, MPI_COMM_WORLD));
    if (!half) {
        OK(MPI_Finalize());
        check_skip("the processes are not half in one place and half in another");
    }
    int far = far_in_graph(0);
    CHECK_EQ(far, is_halves ? 2 * npes : 8); // oshrun gives cores in turns
    CHECK_EQ(far_in_graph(1), 0);
    CHECK_EQ(far_in_adjacent(0), far);
    CHECK_EQ(far_in_adjacent(1), 0);
    CHECK_EQ(far_in_named(0), far);
    CHECK_EQ(far_in_named(1), 0);
    if (HAS_HUB)
        hub();
    return mpi_done();
}
