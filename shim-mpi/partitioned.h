// SPDX-License-Identifier: BSD-3-Clause
// Partitioned communication: what the rest of the shim calls.
#ifndef SHOAL_MPI_PARTITIONED_H
#define SHOAL_MPI_PARTITIONED_H

int partitioned_up(void); // 0 or SHOAL_E*

#endif
