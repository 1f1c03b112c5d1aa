// SPDX-License-Identifier: BSD-3-Clause
// NODES: 1
// PES: 2 4 7
// ENV: SHOAL_CROSS_MEMORY=0
// What needs a PE's help when the kernel does not reach its private memory.
#include "progress.c"
