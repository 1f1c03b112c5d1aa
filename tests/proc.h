// SPDX-License-Identifier: BSD-3-Clause
// What the kernel says of a process.
#ifndef TESTS_PROC_H
#define TESTS_PROC_H

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

// The sum of the lines of this name, as in "VmPTE:", of a file of /proc, in KB.
static inline long proc_kb(const char *path, const char *name)
{
    char line[256];
    long sum = 0;
    FILE *f = fopen(path, "r");
    while (f && fgets(line, sizeof line, f))
        if (strncmp(line, name, strlen(name)) == 0)
            sum += atol(line + strlen(name));
    if (f)
        fclose(f);
    return sum;
}

#endif
