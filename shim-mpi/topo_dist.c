// SPDX-License-Identifier: BSD-3-Clause
// Distributed graphs: a process knows its own neighbours alone. MPI_Dist_graph_create lets any process
// name any edge: each edge travels to its two ends (agree_route).
#include "agree.h"
#include "check.h"
#include "info.h"
#include "topo.h"

#include <stdlib.h>
#include <string.h>

static int check_dist(const char *call, MPI_Comm handle, struct comm **c, const struct topology **t)
{
    return topology_check(call, handle, MPI_DIST_GRAPH, c, t);
}

struct topology *topology_dist_new(int in, int out, bool weighted)
{
    size_t lists = weighted ? 2 : 1;
    struct topology *t = topology_new(MPI_DIST_GRAPH, lists * ((size_t)in + (size_t)out));
    if (!t)
        return NULL;
    t->dist.in = in;
    t->dist.out = out;
    t->dist.sources = t->space;
    t->dist.destinations = t->space + in;
    t->dist.source_weights = weighted ? t->space + in + out : NULL;
    t->dist.destination_weights = weighted ? t->space + 2 * in + out : NULL;
    return t;
}

static int check_ranks(const char *call, struct comm *c, const char *name, int n, const int ranks[])
{
    if (n < 0 || (n > 0 && !ranks))
        return raise_on(c, MPI_ERR_ARG, call, "%s: %s", name, n < 0 ? "a negative number" : "NULL");
    for (int i = 0; i < n; i++)
        if (ranks[i] < 0 || ranks[i] >= c->group->size)
            return raise_on(c, MPI_ERR_RANK, call, "%s[%d] is %d: there are ranks 0 to %d", name, i,
                            ranks[i], c->group->size - 1);
    return MPI_SUCCESS;
}

// A list of ranks of c with weights (or MPI_UNWEIGHTED, MPI_WEIGHTS_EMPTY).
static int check_list(const char *call, struct comm *c, const char *name, int n, const int ranks[],
                      const int weights[])
{
    int error = check_ranks(call, c, name, n, ranks);
    if (error)
        return error;
    if (n > 0 && (!weights || weights == MPI_WEIGHTS_EMPTY))
        return raise_on(c, MPI_ERR_ARG, call, "the weights of %s are %s", name,
                        weights ? "MPI_WEIGHTS_EMPTY" : "NULL: MPI_UNWEIGHTED means none");
    for (int i = 0; weights != MPI_UNWEIGHTED && i < n; i++)
        if (weights[i] < 0)
            return raise_on(c, MPI_ERR_ARG, call, "a weight of %s is negative", name);
    return MPI_SUCCESS;
}

static void copy(int *to, const int *from, int n)
{
    if (n > 0 && to)
        memcpy(to, from, (size_t)n * sizeof *to);
}

static int check_rest(const char *call, struct comm *c, MPI_Info h, struct info **hints,
                      MPI_Comm *comm_dist_graph)
{
    int error = info_check(h, c, call, hints);
    return error ? error : check_pointer(call, c, "comm_dist_graph", comm_dist_graph);
}

static int give_ordered(struct comm *c, struct topology *t, bool reorder, const struct info *hints,
                        MPI_Comm *out, const char *call)
{
    struct group *members = c->group;
    int error = t && reorder ? topology_dist_order(c, &t, &members) : MPI_SUCCESS;
    if (error) {
        topology_drop(t);
        return raise_on(c, error, call, "the processes could not be ordered");
    }
    error = topology_give(c, members, t, hints, out, call);
    if (members != c->group)
        group_free(members);
    return error;
}

MPI_DEFINE(int, Dist_graph_create_adjacent, MPI_Comm comm_old, int indegree, const int sources[],
           const int sourceweights[], int outdegree, const int destinations[],
           const int destweights[], MPI_Info info, int reorder, MPI_Comm *comm_dist_graph)
{
    static const char call[] = "MPI_Dist_graph_create_adjacent";
    struct comm *c;
    struct info *hints;
    int error = check_intra(call, comm_old, &c);
    if (!error)
        error = check_list(call, c, "sources", indegree, sources, sourceweights);
    if (!error)
        error = check_list(call, c, "destinations", outdegree, destinations, destweights);
    if (!error && (sourceweights == MPI_UNWEIGHTED) != (destweights == MPI_UNWEIGHTED))
        return raise_on(c, MPI_ERR_ARG, call, "only one of the weights is MPI_UNWEIGHTED");
    if (!error)
        error = check_rest(call, c, info, &hints, comm_dist_graph);
    if (error)
        return error;
    bool weighted = sourceweights != MPI_UNWEIGHTED;
    struct topology *t = topology_dist_new(indegree, outdegree, weighted);
    if (t) {
        copy(t->dist.sources, sources, indegree);
        copy(t->dist.destinations, destinations, outdegree);
        if (weighted) {
            copy(t->dist.source_weights, sourceweights, indegree);
            copy(t->dist.destination_weights, destweights, outdegree);
        }
    }
    return give_ordered(c, t, reorder, hints, comm_dist_graph, call);
}

// ---- Edges that anybody names
struct edge {
    int target;  // who is told (agree_route)
    bool is_out; // it goes from there; else it comes in
    int peer, weight;
};

// In before out, by neighbour: the same list whatever way the edges came.
static int by_neighbor(const void *a, const void *b)
{
    const struct edge *x = a, *y = b;
    if (x->is_out != y->is_out)
        return x->is_out - y->is_out;
    if (x->peer != y->peer)
        return (x->peer > y->peer) - (x->peer < y->peer);
    return (x->weight > y->weight) - (x->weight < y->weight);
}

static struct edge *list_edges(int n, const int sources[], const int degrees[],
                               const int destinations[], const int weights[], size_t *count)
{
    size_t all = 0, k = 0;
    for (int i = 0; i < n; i++)
        all += 2 * (size_t)degrees[i];
    struct edge *e = malloc((all + 1) * sizeof *e);
    for (int i = 0; e && i < n; i++)
        for (int j = 0; j < degrees[i]; j++, k++) {
            int weight = weights == MPI_UNWEIGHTED ? 1 : weights[k];
            e[2 * k] = (struct edge){sources[i], true, destinations[k], weight};
            e[2 * k + 1] = (struct edge){destinations[k], false, sources[i], weight};
        }
    *count = all;
    return e;
}

static struct topology *from_edges(struct edge *e, size_t n, bool weighted)
{
    size_t in = 0;
    for (size_t i = 0; i < n; i++)
        in += !e[i].is_out;
    if (n)
        qsort(e, n, sizeof *e, by_neighbor);
    struct topology *t = topology_dist_new((int)in, (int)(n - in), weighted);
    for (size_t i = 0; t && i < n; i++) {
        t->space[i] = e[i].peer; // sources and destinations lie one after the other, as do weights
        if (weighted)
            t->space[n + i] = e[i].weight;
    }
    return t;
}

static int check_edges(const char *call, struct comm *c, int n, const int sources[],
                       const int degrees[], const int destinations[], const int weights[])
{
    int64_t all = 0;
    int error = check_ranks(call, c, "sources", n, sources);
    if (error)
        return error;
    if (n > 0 && !degrees)
        return raise_on(c, MPI_ERR_ARG, call, "argument degrees is NULL");
    for (int i = 0; i < n; i++) {
        if (degrees[i] < 0)
            return raise_on(c, MPI_ERR_ARG, call, "degrees[%d] is %d", i, degrees[i]);
        all += degrees[i];
    }
    if (all > INT32_MAX)
        return raise_on(c, MPI_ERR_ARG, call, "there are too many edges");
    return check_list(call, c, "destinations", (int)all, destinations, weights);
}

MPI_DEFINE(int, Dist_graph_create, MPI_Comm comm_old, int n, const int sources[],
           const int degrees[], const int destinations[], const int weights[], MPI_Info info,
           int reorder, MPI_Comm *comm_dist_graph)
{
    static const char call[] = "MPI_Dist_graph_create";
    struct comm *c;
    struct info *hints;
    int error = check_intra(call, comm_old, &c);
    if (!error)
        error = check_edges(call, c, n, sources, degrees, destinations, weights);
    if (!error)
        error = check_rest(call, c, info, &hints, comm_dist_graph);
    if (error)
        return error;
    size_t named, came;
    void *mine = NULL;
    struct edge *edges = list_edges(n, sources, degrees, destinations, weights, &named);
    struct circle all = circle_of(c);
    error = edges ? agree_route(&all, edges, named, sizeof *edges, &mine, &came) : MPI_ERR_NO_MEM;
    free(edges);
    if (error)
        return raise_on(c, error, call, "the edges could not be brought to their ends");
    struct topology *t = from_edges(mine, came, weights != MPI_UNWEIGHTED);
    free(mine);
    return give_ordered(c, t, reorder, hints, comm_dist_graph, call);
}

// ---- Looking at one
MPI_DEFINE(int, Dist_graph_neighbors_count, MPI_Comm comm, int *indegree, int *outdegree,
           int *weighted)
{
    static const char call[] = "MPI_Dist_graph_neighbors_count";
    struct comm *c;
    const struct topology *t;
    int error = check_dist(call, comm, &c, &t);
    if (!error)
        error = check_pointer(call, c, "indegree, outdegree or weighted",
                              indegree && outdegree ? weighted : NULL);
    if (error)
        return error;
    *indegree = t->dist.in;
    *outdegree = t->dist.out;
    *weighted = t->dist.source_weights != NULL;
    return MPI_SUCCESS;
}

static bool wants_weights(const int *weights)
{
    return weights != MPI_UNWEIGHTED && weights != MPI_WEIGHTS_EMPTY;
}

static void give(int n, const int *ranks, const int *weights, int to_ranks[], int to_weights[])
{
    copy(to_ranks, ranks, n);
    if (weights && wants_weights(to_weights))
        copy(to_weights, weights, n);
}

MPI_DEFINE(int, Dist_graph_neighbors, MPI_Comm comm, int maxindegree, int sources[],
           int sourceweights[], int maxoutdegree, int destinations[], int destweights[])
{
    static const char call[] = "MPI_Dist_graph_neighbors";
    struct comm *c;
    const struct topology *t;
    int error = check_dist(call, comm, &c, &t);
    if (error)
        return error;
    int in = maxindegree < t->dist.in ? maxindegree : t->dist.in;
    int out = maxoutdegree < t->dist.out ? maxoutdegree : t->dist.out;
    if (in < 0 || out < 0 || (in > 0 && !sources) || (out > 0 && !destinations))
        return raise_on(c, MPI_ERR_ARG, call, "a degree is negative, or an array NULL");
    give(in, t->dist.sources, t->dist.source_weights, sources, sourceweights);
    give(out, t->dist.destinations, t->dist.destination_weights, destinations, destweights);
    return MPI_SUCCESS;
}
