// SPDX-License-Identifier: BSD-3-Clause
// For tests in which the kernel copies between processes.
#ifndef TESTS_SHOAL_CROSS_MEMORY_H
#define TESTS_SHOAL_CROSS_MEMORY_H

#include <stdio.h>
#include <stdlib.h>
#include <sys/uio.h>
#include <unistd.h>

// Before the library is initialised: the test is skipped where the kernel does not.
static inline void need_cross_memory(void)
{
    int from = 1, to = 0;
    struct iovec a = {&to, sizeof to}, b = {&from, sizeof from};
    if (process_vm_readv(getpid(), &a, 1, &b, 1, 0) == sizeof to)
        return;
    printf("skipped: the kernel does not copy between processes here\n");
    exit(77);
}

#endif
