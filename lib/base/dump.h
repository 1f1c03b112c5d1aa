// SPDX-License-Identifier: BSD-3-Clause
// What core dumps have of shared memory. To dump what nobody has touched the kernel makes pages of it: of the
// mappings of all heaps, which are as large as the memory is, once or twice for each PE that crashes.
#ifndef SHOAL_BASE_DUMP_H
#define SHOAL_BASE_DUMP_H

#include <stddef.h>

void dump_leave_out(void *start, size_t n); // whole pages

// The first n of size bytes, and some more; *upto: so many have been taken in already. Begins with a page.
void dump_take_in(void *start, size_t size, size_t *upto, size_t n);

#endif
