// SPDX-License-Identifier: BSD-3-Clause
// ENV: SHOAL_CROSS_MEMORY=0
// The same with the owner's help.
#include "shifted.c"
