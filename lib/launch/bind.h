// SPDX-License-Identifier: BSD-3-Clause
// Which cores a PE is bound to. The Makefile links bind_hwloc.c or, without hwloc, bind_none.c.
#ifndef SHOAL_LAUNCH_BIND_H
#define SHOAL_LAUNCH_BIND_H

#include <sched.h>

enum bind_what { BIND_NONE, BIND_CORE, BIND_SOCKET, BIND_NUMA, BIND_HWTHREAD, BIND_L3 };
#define BIND_WORDS \
    "none", "core", "socket", "numa", "hwthread", "l3cache" // in the order of enum bind_what

// Computes one set of cores per PE, `each` places of a kind, of those this process may use. Returns an array
// of npes sets, or NULL with a reason in *why.
cpu_set_t *bind_plan(enum bind_what what, int each, int npes, const char **why);

#endif
