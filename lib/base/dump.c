// SPDX-License-Identifier: BSD-3-Clause
// See dump.h.
#include "dump.h"

#include "compiler.h"

#include <sys/mman.h>

#define GRAIN (1UL << 20)

void dump_leave_out(void *start, size_t n)
{
    madvise(start, n, MADV_DONTDUMP);
}

// An eighth more each time, so that there are few times.
void dump_take_in(void *start, size_t size, size_t *upto, size_t n)
{
    if (likely(n <= *upto))
        return;
    size_t end = (n + n / 8 + GRAIN - 1) / GRAIN * GRAIN;
    if (end > size)
        end = size;
    madvise((char *)start + *upto, end - *upto, MADV_DODUMP);
    *upto = end;
}
