// SPDX-License-Identifier: BSD-3-Clause
// ENV: SHOAL_CROSS_MEMORY=0
// Transfers to private memory that is reached only with its owner's help.
#include "transfer.c"
