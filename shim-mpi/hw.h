// SPDX-License-Identifier: BSD-3-Clause
// The machine's tree, for MPI_Comm_split_type and MPI_Get_hw_resource_info: kinds of places that
// processes can share, named as in "hwloc://Package". With hwloc (hw_hwloc.c) or without (hw_none.c).
#ifndef SHOAL_MPI_HW_H
#define SHOAL_MPI_HW_H

// The i-th kind this machine has, from the largest to the smallest, NULL: there are no more.
const char *hw_kind(int i);
// The number of the place of this kind that the calling thread is bound to now, -1: it may run in
// several, or there is no such kind. All processes of a node give a place the same number.
int hw_place(const char *kind);

#endif
