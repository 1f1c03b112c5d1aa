// SPDX-License-Identifier: BSD-3-Clause
// Topologies, as neighbourhood collectives see them.
#ifndef SHOAL_MPI_TOPO_H
#define SHOAL_MPI_TOPO_H

#include "comm.h"

// How many neighbours messages come from and go to; false: the communicator has no topology.
bool topo_degrees(const struct comm *comm, int *in, int *out);
// The neighbours in the standard's order; MPI_PROC_NULL where a Cartesian grid ends.
void topo_neighbors(const struct comm *comm, int in[], int out[]);

bool topo_is_cartesian(const struct comm *comm);

#endif
