// SPDX-License-Identifier: BSD-3-Clause
// Copies of some KB, where a call of memcpy and its choice of method are a tenth of the time: the
// processor's own copy, where it has a fast one (x86-64 with ERMS). docs/bench.md, put_4096.
#ifndef SHOAL_BASE_COPY_H
#define SHOAL_BASE_COPY_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
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

// At most 32 bytes, where a call of memcpy costs more than the copy.
static inline void copy_few(void *to, const void *from, size_t n)
{
    char *t = to;
    const char *f = from;
    if (n >= 16) { // from both ends, which may overlap
        char low[16], high[16];
        memcpy(low, f, 16);
        memcpy(high, f + n - 16, 16);
        memcpy(t, low, 16);
        memcpy(t + n - 16, high, 16);
    } else if (n >= 8) {
        uint64_t low, high;
        memcpy(&low, f, 8);
        memcpy(&high, f + n - 8, 8);
        memcpy(t, &low, 8);
        memcpy(t + n - 8, &high, 8);
    } else if (n >= 4) {
        uint32_t low, high;
        memcpy(&low, f, 4);
        memcpy(&high, f + n - 4, 4);
        memcpy(t, &low, 4);
        memcpy(t + n - 4, &high, 4);
    } else if (n) {
        char low = f[0], middle = f[n / 2], high = f[n - 1];
        t[0] = low;
        t[n / 2] = middle;
        t[n - 1] = high;
    }
}

static inline void copy_bytes(void *to, const void *from, size_t n)
{
    if (copy_is_instruction(n))
        copy_instruction(to, from, n);
    else
        memcpy(to, from, n);
}

#endif
