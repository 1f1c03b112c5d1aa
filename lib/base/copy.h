// SPDX-License-Identifier: BSD-3-Clause
// Copies of some KB, where a call of memcpy and its choice of method are a tenth of the time: the
// processor's own copy, where it has a fast one (x86-64 with ERMS). docs/bench.md, put_4096.
#ifndef SHOAL_BASE_COPY_H
#define SHOAL_BASE_COPY_H

#include <stddef.h>
#include <string.h>

enum { COPY_LEAST = 2048, COPY_MOST = 16384 };

#if defined(__x86_64__) && !defined(SHOAL_SANITIZED)
extern size_t copy_span; // COPY_MOST - COPY_LEAST, or 0 where memcpy is to be used

static inline void copy_bytes(void *to, const void *from, size_t n)
{
    if (n - COPY_LEAST < copy_span)
        __asm__ volatile("rep movsb" : "+D"(to), "+S"(from), "+c"(n) : : "memory");
    else
        memcpy(to, from, n);
}
#else
static inline void copy_bytes(void *to, const void *from, size_t n)
{
    memcpy(to, from, n);
}
#endif

#endif
