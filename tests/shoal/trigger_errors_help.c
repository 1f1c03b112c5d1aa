// SPDX-License-Identifier: BSD-3-Clause
// NODES: 1
// ENV: SHOAL_CROSS_MEMORY=0
// Triggered operations that fail where private memory is reached only with its owner's help.
#include "trigger_errors.c"
