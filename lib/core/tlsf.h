// SPDX-License-Identifier: BSD-3-Clause
// Two-level segregated fit over a range of offsets, in O(1), with its records outside the range:
// nothing a program writes into its memory can harm the allocator. Deterministic: the same calls
// give the same offsets on every PE. After Masmano, Ripoll, Crespo, Real: "TLSF: a new dynamic
// memory allocator for real-time systems", ECRTS 2004.
// Sizes and offsets are in bytes; blocks are multiples of TLSF_GRAIN and lie on it, so no two
// share a cache line. Not thread-safe.
#ifndef SHOAL_CORE_TLSF_H
#define SHOAL_CORE_TLSF_H

#include <stddef.h>

#define TLSF_GRAIN 64
#define TLSF_NONE ((size_t)-1)

struct tlsf;

struct tlsf *tlsf_create(size_t bytes); // NULL: no memory for records
void tlsf_destroy(struct tlsf *t);

// Offset of at least size > 0 bytes at a multiple of align (a power of two), or TLSF_NONE.
size_t tlsf_alloc(struct tlsf *t, size_t size, size_t align);

// Size of the block in use that starts at offset; 0 when none does.
size_t tlsf_size(const struct tlsf *t, size_t offset);

void tlsf_free(struct tlsf *t, size_t offset); // of a block in use

// Makes the block in use at offset hold size bytes without moving it. Returns 0, or -1 (unchanged).
int tlsf_resize(struct tlsf *t, size_t offset, size_t size);

size_t tlsf_available(const struct tlsf *t); // bytes in free blocks
size_t tlsf_largest(const struct tlsf *t);   // bytes in the largest of them (walks one list)

// Walks everything and returns 0 when the structure is sound, else a number that says what is not.
int tlsf_verify(const struct tlsf *t);

#endif
