// SPDX-License-Identifier: BSD-3-Clause
// Vectors of parts in private memory that is reached only with its owner's help, many by one work.
// PES: 2 4
// ENV: SHOAL_CROSS_MEMORY=0
#include "vector.c"
