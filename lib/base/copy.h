// SPDX-License-Identifier: BSD-3-Clause
// Copies of some KB, where a call of memcpy and its choice of method are a tenth of the time: the
// processor's own copy, where it has a fast one (x86-64 with ERMS). docs/bench.md, put_4096.
// AMD's Zen 3 and 4 have a slow one, and take twenty times as long where the place that data goes to lies
// 1 to 63 bytes further on in its page than the one where it comes from (Zen 4: up to 15, and twice as long up to
// 31), as often between malloc's memory and whole pages; the C library before glibc 2.40, unless patched, and the
// kernel use it there all the same.
#ifndef SHOAL_BASE_COPY_H
#define SHOAL_BASE_COPY_H

#include "tunables.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

enum { COPY_LEAST = 2048, COPY_MOST = 16384, COPY_PAGE = 4096, COPY_SHIFTS = 63, COPY_SHIFTS_ZEN_4 = 15 };

#if defined(__x86_64__) && !defined(SHOAL_SANITIZED)
extern struct copy_ways {
    size_t span;   // COPY_MOST - COPY_LEAST, or 0 where memcpy is to be used
    size_t shifts; // COPY_SHIFTS, or 0 where the processor's own copy is not that slow
    size_t worst;  // of these, where it is twenty times as slow
} copy_ways;

static inline size_t copy_slow_shifts(void)
{
    return copy_ways.shifts;
}

static inline size_t copy_worst_shifts(void)
{
    return copy_ways.worst;
}

static inline bool copy_is_instruction(size_t n)
{
    return n - COPY_LEAST < copy_ways.span;
}

static inline void copy_instruction(void *to, const void *from, size_t n)
{
    __asm__ volatile("rep movsb" : "+D"(to), "+S"(from), "+c"(n) : : "memory");
}
#else
static inline size_t copy_slow_shifts(void)
{
    return HOSTILE ? COPY_SHIFTS : 0;
}

static inline size_t copy_worst_shifts(void)
{
    return copy_slow_shifts();
}

static inline bool copy_is_instruction(size_t n)
{
    return (void)n, false;
}

static inline void copy_instruction(void *to, const void *from, size_t n)
{
    memcpy(to, from, n);
}
#endif

static inline bool copy_is_within(const void *to, const void *from, size_t shifts)
{
    return ((uintptr_t)to - (uintptr_t)from - 1) % COPY_PAGE < shifts;
}

// Too slow for the processor's own copy, and so much that another copy costs less.
static inline bool copy_is_shifted(const void *to, const void *from)
{
    return copy_is_within(to, from, copy_slow_shifts());
}

static inline bool copy_is_worst(const void *to, const void *from)
{
    return copy_is_within(to, from, copy_worst_shifts());
}

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

// A word of 2, 4 or 8 bytes by one load and one store, so that nobody who waits for it sees half of it: the C
// library may copy what is short byte by byte. False: of another length; nothing was done.
static inline bool copy_word(void *to, const void *from, size_t n)
{
    switch (n) {
    case sizeof(uint64_t): memmove(to, from, sizeof(uint64_t)); return true;
    case sizeof(uint32_t): memmove(to, from, sizeof(uint32_t)); return true;
    case sizeof(uint16_t): memmove(to, from, sizeof(uint16_t)); return true;
    default: return false;
    }
}

void copy_long(void *to, const void *from, size_t n);

static inline void copy_bytes(void *to, const void *from, size_t n)
{
    if (n < COPY_LEAST)
        memcpy(to, from, n);
    else if (copy_is_instruction(n))
        copy_instruction(to, from, n);
    else
        copy_long(to, from, n);
}

// Of what caches would not hold until it is used: past them, where the processor can.
void copy_streaming(void *to, const void *from, size_t n);

// They may overlap.
static inline void copy_move(void *to, const void *from, size_t n)
{
    uintptr_t ahead = (uintptr_t)to - (uintptr_t)from;
    if (ahead >= n && -ahead >= n)
        copy_bytes(to, from, n);
    else
        memmove(to, from, n);
}

#endif
