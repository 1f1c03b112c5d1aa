// SPDX-License-Identifier: BSD-3-Clause
// PES: 2
// ENV: SHOAL_CTX_ENDPOINTS=3
// Threads and contexts, several of which have an endpoint of the network of their own, or share it.
#include "threads.c"
