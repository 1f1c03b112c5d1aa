// SPDX-License-Identifier: BSD-3-Clause
// ENV: SHOAL_CROSS_MEMORY=0
// Triggered operations that fail where private memory is reached only with its owner's help.
#include "trigger_errors.c"
