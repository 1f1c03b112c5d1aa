// SPDX-License-Identifier: BSD-3-Clause
// See present.h.
#include "present.h"

#include "cpus.h"

#include <errno.h>
#include <stdatomic.h>
#include <stdint.h>
#include <sys/mman.h>

enum { POPULATE_READ = 22, POPULATE_WRITE = 23 }; // where the C library is older than the kernel

bool present(const void *addr, size_t n, bool written)
{
    uintptr_t page = page_size(), from = (uintptr_t)addr / page * page, end = (uintptr_t)addr + n;
    int failed;
    do
        failed = madvise((void *)from, end - from, written ? POPULATE_WRITE : POPULATE_READ);
    while (failed && errno == EINTR);
    return !failed;
}

bool present_is_known(void)
{
    enum { UNKNOWN, YES, NO };
    static _Atomic int known;
    int answer = atomic_load_explicit(&known, memory_order_relaxed);
    if (answer == UNKNOWN) {
        answer = present(&known, sizeof known, true) ? YES : NO;
        atomic_store_explicit(&known, answer, memory_order_relaxed);
    }
    return answer == YES;
}
