// SPDX-License-Identifier: BSD-3-Clause
// ENV: SHOAL_CROSS_MEMORY=0
// Accumulate to private memory, with no other way to reach it than its owner's help.
#include "acc.c"
