// SPDX-License-Identifier: BSD-3-Clause
// Who should be which vertex of a graph, so that neighbours are near each other: on one node, and
// there in one package, at one cache and so on, as the processes are bound.
#ifndef SHOAL_MPI_TOPO_MAP_H
#define SHOAL_MPI_TOPO_MAP_H

#include "comm.h"

enum { SEAT_LEVELS = 9, MAP_MOST = 16384 }; // vertices: a map takes n * n steps

// Where a process is: its node, then its places in the machine's tree, from the largest to the
// smallest (hw.h); two are as near as they have the first of these in common.
struct seat {
    int at[SEAT_LEVELS];
    int rank;
};

struct link {
    int from, to, weight;
};

// The seats of the first n of comm, those that are near each other side by side; of malloc. NULL: no
// place is nearer to one than to another, and any order is as good. Collective over comm; an error
// code, not raised.
int map_seats(struct comm *comm, int n, struct seat **seats);

// An order: order[v] is the rank in comm that is vertex v. At first that is v; of malloc, NULL: no memory.
int *map_new_order(int n);

// Takes the other one, if fewer links then lie between places far apart.
void map_take(int n, const struct seat *seats, const struct link *links, size_t n_links,
              const int other[], int order[]);

// Another one, if fewer links then lie between places far apart. False: no memory.
bool map_improve(int n, const struct seat *seats, const struct link *links, size_t n_links,
                 int order[]);

// The processes of comm in this order, which is freed, or becomes the group's.
struct group *map_group(const struct comm *comm, int *order, int n);

#endif
