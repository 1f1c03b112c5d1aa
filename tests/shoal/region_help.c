// SPDX-License-Identifier: BSD-3-Clause
// ENV: SHOAL_CROSS_MEMORY=0
// Regions in private memory that is reached only with its owner's help.
#define WITH_HELP
#include "region.c"
