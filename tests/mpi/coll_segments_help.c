// SPDX-License-Identifier: BSD-3-Clause
// Private memory is reached only with its owner's help, which needs memory that both reach: also where the program
// has taken all of it.
// PES: 4
// NODES: 1
// ENV: SHMEM_SYMMETRIC_SIZE=48M SHOAL_CROSS_MEMORY=0
#include "coll_segments.c"
