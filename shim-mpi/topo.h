// SPDX-License-Identifier: BSD-3-Clause
// Virtual topologies (MPI 5.0, "Virtual Topologies for MPI Processes"): what hangs on a communicator.
// Never changed once made, and shared by a communicator and its duplicates.
#ifndef SHOAL_MPI_TOPO_H
#define SHOAL_MPI_TOPO_H

#include "comm.h"

struct topology {
    _Atomic int refs;
    int kind; // MPI_CART, MPI_GRAPH, MPI_DIST_GRAPH
    union {
        struct {
            int n;               // dimensions, 0: one process
            int *dims, *periods; // n each
            int *coords;         // of this process
        } cart;
        struct {
            int nodes, edges;
            int *index, *edge; // as given to MPI_Graph_create
        } graph;
        struct {
            int in, out;           // degrees
            int *sources, *destinations;
            int *source_weights, *destination_weights; // NULL: MPI_UNWEIGHTED
        } dist;
    };
    int space[]; // all the arrays
};

// Of this kind with room for so many integers; NULL: no memory. One reference.
struct topology *topology_new(int kind, size_t integers);
void topology_keep(struct topology *t); // may be NULL
void topology_drop(struct topology *t); // may be NULL

// The topology of a communicator, of this kind. MPI_ERR_TOPOLOGY, raised: it has none such.
int topology_check(const char *call, MPI_Comm handle, int kind, struct comm **comm,
                   const struct topology **t);

// Ranks at distance disp along a dimension of a Cartesian topology, as MPI_Cart_shift gives them.
void topology_shift(const struct topology *t, int direction, int disp, int *source,
                    int *destination);

// Who of the first `size` processes should have which place in a grid, from where they run: gives
// order[rank in the grid] = rank in comm another value if that is better. Collective over comm; an
// error code, not raised.
int topology_place(struct comm *comm, int n, const int dims[], const int periods[], int size,
                   int order[]);

// Of a distributed graph, with its lists in `space`: sources, destinations, and their weights, if it has
// any. NULL: no memory.
struct topology *topology_dist_new(int in, int out, bool weighted);
// Who should be which vertex of a distributed graph: *t, of the vertex that has this process's rank,
// becomes that of the vertex that it is to be, *members all in their new order, unless the order stays
// as it is. Collective over comm; an error code, not raised.
int topology_dist_order(struct comm *comm, struct topology **t, struct group **members);

// A communicator over some of old's processes with a topology, which it takes over (NULL: lack of
// memory), and hints (may be NULL). Collective over old; this process's topology is looked at when it is
// a member.
int topology_give(struct comm *old, struct group *members, struct topology *t,
                  const struct info *hints, MPI_Comm *out, const char *call);

// Neighbours in the order that neighbourhood collectives use (MPI 5.0, "Neighborhood Collective
// Communication on Virtual Topologies"): sources and destinations, ranks or MPI_PROC_NULL. The
// arrays have room for what topology_degrees says.
void topology_degrees(const struct comm *c, int *in, int *out);
void topology_neighbors(const struct comm *c, int sources[], int destinations[]);

#endif
