// SPDX-License-Identifier: BSD-3-Clause
// Vectors of parts at a PE of another node, many by one message.
// PES: 2 4
// ENV: SHOAL_VNODES=2
#include "vector.c"
