// SPDX-License-Identifier: BSD-3-Clause
// NODES: 1
// ENV: SHOAL_CROSS_MEMORY=0
// Atomics on private memory, with no other way to reach it than its owner's help.
#include "atomic.c"
