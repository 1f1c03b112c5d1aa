// SPDX-License-Identifier: BSD-3-Clause
// NODES: 1
// PES: 2 4 7
// ENV: SHOAL_CROSS_MEMORY=0
// Unmapped regions in private memory that is reached only with its owner's help.
#include "region_gone.c"
