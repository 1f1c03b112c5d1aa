// SPDX-License-Identifier: BSD-3-Clause
// What all topologies share. See topo.h.
#include "topo.h"

#include "check.h"

#include <stdlib.h>
#include <string.h>

struct topology *topology_new(int kind, size_t integers)
{
    struct topology *t = calloc(1, sizeof *t + integers * sizeof t->space[0]);
    if (t) {
        t->kind = kind;
        atomic_init(&t->refs, 1);
    }
    return t;
}

void topology_keep(struct topology *t)
{
    if (t)
        atomic_fetch_add_explicit(&t->refs, 1, memory_order_relaxed);
}

void topology_drop(struct topology *t)
{
    if (t && atomic_fetch_sub_explicit(&t->refs, 1, memory_order_acq_rel) == 1)
        free(t);
}

int topology_check(const char *call, MPI_Comm handle, int kind, struct comm **comm,
                   const struct topology **t)
{
    int error = check_comm(call, handle, comm);
    if (error)
        return error;
    *t = (*comm)->topology;
    if (*t && (*t)->kind == kind)
        return MPI_SUCCESS;
    return raise_on(*comm, MPI_ERR_TOPOLOGY, call, "comm has no %s topology",
                    kind == MPI_CART    ? "Cartesian"
                    : kind == MPI_GRAPH ? "graph"
                                        : "distributed graph");
}

int topology_give(struct comm *old, struct group *members, struct topology *t,
                  const struct info *hints, MPI_Comm *out, const char *call)
{
    struct comm *new = NULL;
    int error = members && t ? comm_over(old, members, &new) : MPI_ERR_NO_MEM;
    if (new)
        new->topology = t;
    else
        topology_drop(t);
    if (new)
        error = comm_set_hints(new, hints);
    if (error) {
        comm_free(new);
        return raise_on(old, error, call, "the processes could not make a communicator");
    }
    if (new)
        return comm_give(new, old, out, call);
    *out = MPI_COMM_NULL;
    return MPI_SUCCESS;
}

MPI_DEFINE(int, Topo_test, MPI_Comm comm, int *status)
{
    static const char call[] = "MPI_Topo_test";
    struct comm *c;
    int error = check_comm(call, comm, &c);
    if (!error)
        error = check_pointer(call, c, "status", status);
    if (!error)
        *status = c->topology ? c->topology->kind : MPI_UNDEFINED;
    return error;
}

// ---- Neighbours
static int graph_start(const struct topology *t, int node)
{
    return node > 0 ? t->graph.index[node - 1] : 0;
}

void topology_degrees(const struct comm *c, int *in, int *out)
{
    const struct topology *t = c->topology;
    *in = *out = 0;
    if (!t)
        return;
    if (t->kind == MPI_CART) {
        *in = *out = 2 * t->cart.n;
    } else if (t->kind == MPI_GRAPH) {
        *in = *out = t->graph.index[c->rank] - graph_start(t, c->rank);
    } else {
        *in = t->dist.in;
        *out = t->dist.out;
    }
}

void topology_neighbors(const struct comm *c, int sources[], int destinations[])
{
    const struct topology *t = c->topology;
    int in, out;
    topology_degrees(c, &in, &out);
    if (in + out == 0)
        return;
    if (t->kind == MPI_CART) {
        for (int d = 0; d < t->cart.n; d++)
            topology_shift(t, d, 1, &sources[2 * d], &sources[2 * d + 1]);
        memcpy(destinations, sources, (size_t)out * sizeof *destinations);
    } else if (t->kind == MPI_GRAPH) {
        const int *edge = t->graph.edge + graph_start(t, c->rank);
        memcpy(sources, edge, (size_t)in * sizeof *sources);
        memcpy(destinations, edge, (size_t)out * sizeof *destinations);
    } else {
        memcpy(sources, t->dist.sources, (size_t)in * sizeof *sources);
        memcpy(destinations, t->dist.destinations, (size_t)out * sizeof *destinations);
    }
}
