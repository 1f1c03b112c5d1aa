// SPDX-License-Identifier: BSD-3-Clause
// Texts that are another one for each PE: names of files, and what stands in front of lines.
#ifndef SHOAL_LAUNCH_PATTERN_H
#define SHOAL_LAUNCH_PATTERN_H

#include <stdbool.h>
#include <stddef.h>

// In a pattern, as hydra has them,
//     %r     the PE
//     %h     its host
//     %g %p  0, as there is one group and one launcher
//     %t     seconds since 1970
//     %%     a %
// and for ourselves
//     %R     the PE with zeros in front, as long as the last one
//     %T     the local time, 2026-11-30T04:05:06
// Is it one with nothing but the former?
bool pattern_is_good(const char *pattern);
const char *pattern_host(void); // what %h stands for
// Writes up to `size` bytes, with the 0 at the end; returns the length, which may be more, as of snprintf.
size_t pattern_write(const char *pattern, int pe, int npes, char *text, size_t size);

#endif
