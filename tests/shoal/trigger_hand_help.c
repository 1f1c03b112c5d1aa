// SPDX-License-Identifier: BSD-3-Clause
// NODES: 1
// PES: 3 4
// ENV: SHOAL_CROSS_MEMORY=0
// Triggered operations that are handed over, where private memory is reached only with its owner's help.
#include "trigger_hand.c"
