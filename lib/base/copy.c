// SPDX-License-Identifier: BSD-3-Clause
// Which copies the processor does best itself. See copy.h.
#include "copy.h"

#if defined(__x86_64__) && !defined(SHOAL_SANITIZED)
#include <cpuid.h>

size_t copy_span;

__attribute__((constructor)) static void choose(void)
{
    unsigned a, b, c, d;
    if (__get_cpuid_count(7, 0, &a, &b, &c, &d) && (b & (1u << 9)))
        copy_span = COPY_MOST - COPY_LEAST;
}
#endif
