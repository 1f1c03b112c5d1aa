// SPDX-License-Identifier: BSD-3-Clause
// What malloc has given out.
#ifndef TESTS_HEAP_H
#define TESTS_HEAP_H

#include <malloc.h>
#include <stddef.h>

// In bytes; before glibc 2.33 right up to 2 GB.
static inline size_t heap_bytes(void)
{
#if __GLIBC_PREREQ(2, 33)
    struct mallinfo2 m = mallinfo2();
#else
    struct mallinfo m = mallinfo();
#endif
    return (size_t)m.uordblks + (size_t)m.hblkhd;
}

#endif
