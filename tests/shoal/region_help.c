// SPDX-License-Identifier: BSD-3-Clause
// NODES: 1
// ENV: SHOAL_CROSS_MEMORY=0
// Regions in private memory that is reached only with its owner's help.
#define WITH_HELP
#include "region.c"
