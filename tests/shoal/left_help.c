// SPDX-License-Identifier: BSD-3-Clause
// PES: 2
// NODES: 1
// TIMEOUT: 30
// ENV: SHOAL_CROSS_MEMORY=0
// The same where the memory would have been reached with its owner's help.
#include "left.c"
