// SPDX-License-Identifier: BSD-3-Clause
// What this process may use of the machine.
#ifndef SHOAL_BASE_CPUS_H
#define SHOAL_BASE_CPUS_H

#include <stddef.h>

// Cores this process may use: the smaller of its affinity mask and its cgroup's CPU quota, >= 1.
int cpus_usable(void);

// Those of its affinity mask by their numbers, "0-3,8"; where there is no room for all, it ends in "...". Returns text.
const char *cpus_list(char *text, size_t size);

size_t page_size(void); // of this kernel, bytes

// Bytes of memory this process may use: the smaller of the machine's and its cgroup's limit.
size_t memory_usable(void);

#endif
