// SPDX-License-Identifier: BSD-3-Clause
// The symmetric heap (OpenSHMEM 1.6, "Memory Management Routines"). All calls are collective over
// the world team, one thread at a time, and keep every PE's allocator in the same state: what one
// PE refuses, all refuse.
#ifndef SHOAL_CORE_HEAP_H
#define SHOAL_CORE_HEAP_H

#include "call.h"

#include <stddef.h>

int heap_up(void);
void heap_down(void);

// size > 0 bytes at a multiple of align (a power of two); zeroed on request. Synchronizes all PEs
// on return. NULL when it does not fit, which PE 0 explains in one line.
void *heap_malloc(enum call_id call, size_t size, size_t align, int zero);
void *heap_realloc(void *ptr, size_t size); // ptr not NULL, size > 0
void heap_free(void *ptr);                  // not NULL; synchronizes on entry

#endif
