// SPDX-License-Identifier: BSD-3-Clause
// TIMEOUT: 90
// ENV: SHOAL_COALESCE=0
// gather.c with every put and atomic by itself.
#include "gather.c"
