// SPDX-License-Identifier: BSD-3-Clause
// Memory that a PE allocates for itself and all others reach: the part of its slice behind the
// symmetric heap. Thread-safe. Blocks are aligned to cache lines.
#ifndef SHOAL_CORE_ARENA_H
#define SHOAL_CORE_ARENA_H

#include <stddef.h>

int arena_up(void);
void arena_down(void);

void *arena_alloc(size_t size); // NULL: none left
int arena_free(void *ptr);      // NULL is fine; SHOAL_EINVAL: no block starts there

// For who finds none left but cannot do without: ARENA_RESERVED bytes, for arena_free. Of such blocks there are 32.
enum { ARENA_RESERVED = 4096 };
void *arena_alloc_reserved(void); // NULL: all are taken

#endif
