// SPDX-License-Identifier: BSD-3-Clause
// Checks of what collective calls are given. All end the program when an argument is wrong; with
// SHOAL_CHECK=0 the buffers are not looked at.
#ifndef SHOAL_API_CHECK_COLL_H
#define SHOAL_API_CHECK_COLL_H

#include "coll.h"

#include <stdbool.h>
#include <stddef.h>

bool check_team(const char *call, struct shoal_team *team); // false: SHMEM_TEAM_INVALID
void check_root(const char *call, int root, int size);
void check_buffers(const char *call, const void *dest, size_t dest_bytes, const void *source,
                   size_t source_bytes);
// The same, and the two of them, of `bytes` each, are one or apart.
void check_in_place(const char *call, const void *dest, const void *source, size_t bytes);
void check_alltoall(const char *call, const void *dest, const void *source, ptrdiff_t dst,
                    ptrdiff_t sst, size_t nelems, size_t size, int npes);

// The active set of a deprecated call, which this PE must belong to.
struct group check_active_set(const char *call, int start, int log_stride, int size, long *psync);

#endif
