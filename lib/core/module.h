// SPDX-License-Identifier: BSD-3-Clause
// Parts of the library that need other libraries: loaded when they are wanted.
#ifndef SHOAL_CORE_MODULE_H
#define SHOAL_CORE_MODULE_H

#include <stdbool.h>

struct transport;

// libshoal-NAME.so, which lies beside libshoal, or where the system looks for libraries. NULL when there is
// none: *why says why.
void *module_open(const char *name, const char **why);

// A symbol of it. NULL when there is none; one line about that when `wanted`, else at debug level.
void *module_symbol(const char *name, const char *symbol, bool wanted);

const struct transport *module_transport(const char *name, bool wanted); // "ofi", "ucx"

#endif
