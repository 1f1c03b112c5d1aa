// SPDX-License-Identifier: BSD-3-Clause
// Is memory there, for who is about to touch it on behalf of another process? Pages that nobody has touched
// are filled in by that (madvise, MADV_POPULATE_READ and _WRITE of Linux 5.14).
#ifndef SHOAL_BASE_PRESENT_H
#define SHOAL_BASE_PRESENT_H

#include <stdbool.h>
#include <stddef.h>

bool present_is_known(void); // the kernel tells

// All of it may be read, or written; false also where the kernel does not tell.
bool present(const void *addr, size_t n, bool written);

#endif
