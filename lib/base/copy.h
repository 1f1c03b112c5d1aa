// SPDX-License-Identifier: BSD-3-Clause
// Copies of some KB, where a call of memcpy and its choice of method are a tenth of the time: the
// processor's own copy, where it has a fast one (x86-64 with ERMS). docs/bench.md, put_4096.
#ifndef SHOAL_BASE_COPY_H
#define SHOAL_BASE_COPY_H

#include <stdbool.h>
#include <stddef.h>
#include <string.h>

enum { COPY_LEAST = 2048, COPY_MOST = 16384 };

#if defined(__x86_64__) && !defined(SHOAL_SANITIZED)
extern size_t copy_span; // COPY_MOST - COPY_LEAST, or 0 where memcpy is to be used

static inline bool copy_is_instruction(size_t n)
{
    return n - COPY_LEAST < copy_span;
}

static inline void copy_instruction(void *to, const void *from, size_t n)
{
    __asm__ volatile("rep movsb" : "+D"(to), "+S"(from), "+c"(n) : : "memory");
}
#else
static inline bool copy_is_instruction(size_t n)
{
    return (void)n, false;
}

static inline void copy_instruction(void *to, const void *from, size_t n)
{
    memcpy(to, from, n);
}
#endif

static inline void copy_bytes(void *to, const void *from, size_t n)
{
    if (copy_is_instruction(n))
        copy_instruction(to, from, n);
    else
        memcpy(to, from, n);
}

#endif
