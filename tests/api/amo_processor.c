// SPDX-License-Identifier: BSD-3-Clause
// TIMEOUT: 90
// ENV: SHOAL_NETWORK_ATOMICS=0 SHOAL_COALESCE=0
// amo.c with all atomics done by the processors of the word's node.
#include "amo.c"
