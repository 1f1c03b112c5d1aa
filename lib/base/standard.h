// SPDX-License-Identifier: BSD-3-Clause
// Who has started this process may have closed its standard files.
#ifndef SHOAL_BASE_STANDARD_H
#define SHOAL_BASE_STANDARD_H

#include <fcntl.h>
#include <unistd.h>

// Descriptors 0 to 2 that are not open become /dev/null: else a file or a socket of ours would get their place, and
// what the program prints.
static inline void standard_hold(void)
{
    int fd;
    do
        fd = open("/dev/null", O_RDWR);
    while (fd >= 0 && fd <= STDERR_FILENO);
    if (fd >= 0)
        close(fd);
}

#endif
