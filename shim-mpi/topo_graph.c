// SPDX-License-Identifier: BSD-3-Clause
// Graph topologies: every process has the whole graph, as MPI_Graph_create is given it.
#include "check.h"
#include "topo.h"
#include "topo_map.h"

#include <stdlib.h>
#include <string.h>

static int check_graph(const char *call, MPI_Comm handle, struct comm **c,
                       const struct topology **t)
{
    return topology_check(call, handle, MPI_GRAPH, c, t);
}

static int check_edges(const char *call, struct comm *c, int nnodes, const int indx[],
                       const int edges[])
{
    if (nnodes < 0 || nnodes > c->group->size)
        return raise_on(c, MPI_ERR_ARG, call, "nnodes is %d, comm has %d processes", nnodes,
                        c->group->size);
    if (nnodes == 0)
        return MPI_SUCCESS;
    if (!indx || (!edges && indx[nnodes - 1] > 0))
        return raise_on(c, MPI_ERR_ARG, call, "argument %s is NULL", indx ? "edges" : "index");
    for (int i = 0; i < nnodes; i++)
        if (indx[i] < (i > 0 ? indx[i - 1] : 0))
            return raise_on(c, MPI_ERR_ARG, call, "index[%d] is %d: index must not fall", i,
                            indx[i]);
    for (int i = 0; i < indx[nnodes - 1]; i++)
        if (edges[i] < 0 || edges[i] >= nnodes)
            return raise_on(c, MPI_ERR_ARG, call, "edges[%d] is %d, of %d nodes", i, edges[i],
                            nnodes);
    return MPI_SUCCESS;
}

static struct topology *graph_new(int nnodes, const int indx[], const int edges[])
{
    int n = nnodes > 0 ? indx[nnodes - 1] : 0;
    struct topology *t = topology_new(MPI_GRAPH, (size_t)nnodes + (size_t)n);
    if (!t)
        return NULL;
    t->graph.nodes = nnodes;
    t->graph.edges = n;
    t->graph.index = t->space;
    t->graph.edge = t->space + nnodes;
    if (nnodes)
        memcpy(t->graph.index, indx, (size_t)nnodes * sizeof *indx);
    if (n)
        memcpy(t->graph.edge, edges, (size_t)n * sizeof *edges);
    return t;
}

static struct link *links_of(int nnodes, const int indx[], const int edges[])
{
    int n = nnodes > 0 ? indx[nnodes - 1] : 0;
    struct link *links = malloc(((size_t)n + 1) * sizeof *links);
    for (int v = 0, i = 0; links && v < nnodes; v++)
        for (; i < indx[v]; i++)
            links[i] = (struct link){v, edges[i], 1};
    return links;
}

// order[v]: the rank in c of who is to be node v.
static int order_nodes(struct comm *c, int nnodes, const int indx[], const int edges[], int order[])
{
    struct seat *seats;
    int error = map_seats(c, nnodes, &seats);
    if (!seats)
        return error;
    struct link *links = links_of(nnodes, indx, edges);
    bool done = links && map_improve(nnodes, seats, links, (size_t)indx[nnodes - 1], order);
    free(links);
    free(seats);
    return done ? MPI_SUCCESS : MPI_ERR_NO_MEM;
}

MPI_DEFINE(int, Graph_create, MPI_Comm comm_old, int nnodes, const int indx[], const int edges[],
           int reorder, MPI_Comm *comm_graph)
{
    static const char call[] = "MPI_Graph_create";
    struct comm *c;
    int error = check_intra(call, comm_old, &c);
    if (!error)
        error = check_edges(call, c, nnodes, indx, edges);
    if (!error)
        error = check_pointer(call, c, "comm_graph", comm_graph);
    if (error)
        return error;
    int *order = map_new_order(nnodes);
    error = !order ? MPI_ERR_NO_MEM : reorder ? order_nodes(c, nnodes, indx, edges, order) : 0;
    if (error) {
        free(order);
        return raise_on(c, error, call, "the processes could not be ordered");
    }
    struct group *g = map_group(c, order, nnodes);
    error = topology_give(c, g, graph_new(nnodes, indx, edges), NULL, comm_graph, call);
    group_free(g);
    return error;
}

MPI_DEFINE(int, Graph_map, MPI_Comm comm, int nnodes, const int indx[], const int edges[],
           int *newrank)
{
    static const char call[] = "MPI_Graph_map";
    struct comm *c;
    int error = check_intra(call, comm, &c);
    if (!error)
        error = check_edges(call, c, nnodes, indx, edges);
    if (!error)
        error = check_pointer(call, c, "newrank", newrank);
    if (!error)
        *newrank = c->rank < nnodes ? c->rank : MPI_UNDEFINED;
    return error;
}

MPI_DEFINE(int, Graphdims_get, MPI_Comm comm, int *nnodes, int *nedges)
{
    static const char call[] = "MPI_Graphdims_get";
    struct comm *c;
    const struct topology *t;
    int error = check_graph(call, comm, &c, &t);
    if (!error)
        error = check_pointer(call, c, "nnodes", nnodes);
    if (!error)
        error = check_pointer(call, c, "nedges", nedges);
    if (error)
        return error;
    *nnodes = t->graph.nodes;
    *nedges = t->graph.edges;
    return MPI_SUCCESS;
}

static int least(int a, int b)
{
    return a < b ? a : b;
}

MPI_DEFINE(int, Graph_get, MPI_Comm comm, int maxindex, int maxedges, int indx[], int edges[])
{
    static const char call[] = "MPI_Graph_get";
    struct comm *c;
    const struct topology *t;
    int error = check_graph(call, comm, &c, &t);
    if (error)
        return error;
    int n = least(maxindex, t->graph.nodes), m = least(maxedges, t->graph.edges);
    if (n < 0 || m < 0 || (n > 0 && !indx) || (m > 0 && !edges))
        return raise_on(c, MPI_ERR_ARG, call, "maxindex or maxedges is negative, or an array NULL");
    if (n)
        memcpy(indx, t->graph.index, (size_t)n * sizeof *indx);
    if (m)
        memcpy(edges, t->graph.edge, (size_t)m * sizeof *edges);
    return MPI_SUCCESS;
}

// The neighbours of a node; an error code, raised.
static int neighbors_of(const char *call, MPI_Comm comm, int rank, struct comm **c,
                        const int **list, int *n)
{
    const struct topology *t;
    int error = check_graph(call, comm, c, &t);
    if (error)
        return error;
    if (rank < 0 || rank >= t->graph.nodes)
        return raise_on(*c, MPI_ERR_RANK, call, "rank %d: there are ranks 0 to %d", rank,
                        t->graph.nodes - 1);
    int from = rank > 0 ? t->graph.index[rank - 1] : 0;
    *list = t->graph.edge + from;
    *n = t->graph.index[rank] - from;
    return MPI_SUCCESS;
}

MPI_DEFINE(int, Graph_neighbors_count, MPI_Comm comm, int rank, int *nneighbors)
{
    static const char call[] = "MPI_Graph_neighbors_count";
    struct comm *c;
    const int *list;
    int n, error = neighbors_of(call, comm, rank, &c, &list, &n);
    if (!error)
        error = check_pointer(call, c, "nneighbors", nneighbors);
    if (!error)
        *nneighbors = n;
    return error;
}

MPI_DEFINE(int, Graph_neighbors, MPI_Comm comm, int rank, int maxneighbors, int neighbors[])
{
    static const char call[] = "MPI_Graph_neighbors";
    struct comm *c;
    const int *list;
    int n, error = neighbors_of(call, comm, rank, &c, &list, &n);
    if (error)
        return error;
    n = least(n, maxneighbors);
    if (n < 0 || (n > 0 && !neighbors))
        return raise_on(c, MPI_ERR_ARG, call,
                        n < 0 ? "maxneighbors is negative" : "neighbors is NULL");
    if (n)
        memcpy(neighbors, list, (size_t)n * sizeof *neighbors);
    return MPI_SUCCESS;
}
