// SPDX-License-Identifier: BSD-3-Clause
// ENV: SHOAL_CROSS_MEMORY=0
// Strided transfers and vectors, to private memory that is reached only with its owner's help.
#include "strided.c"
