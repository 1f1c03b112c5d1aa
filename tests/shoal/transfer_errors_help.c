// SPDX-License-Identifier: BSD-3-Clause
// NODES: 1
// ENV: SHOAL_CROSS_MEMORY=0
// Refused transfers to private memory that is reached only with its owner's help.
#include "transfer_errors.c"
