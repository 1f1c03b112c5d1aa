// SPDX-License-Identifier: BSD-3-Clause
// The library under the two ways to use it: MPI_Init, and sessions.
#ifndef SHOAL_MPI_CORE_H
#define SHOAL_MPI_CORE_H

#include "shim.h"

// Counted. The first one starts the runtime, with all processes of the job; threads: calls will come
// from several at once. 0, or an error code, which has not been raised.
int core_enter(bool threads);
// for_good: the last one ends the runtime, with all processes of the job; else it ends with the
// process, as those that use sessions need not end them together.
void core_leave(bool for_good);

const char *thread_level_name(int level); // NULL: none
int thread_level_of(const char *name);    // -1: none

#endif
