// SPDX-License-Identifier: BSD-3-Clause
// Binding when hwloc is not there: none. See bind.h.
#include "bind.h"

#include "compiler.h"

cpu_set_t *bind_plan(enum bind_what what UNUSED, int each UNUSED, int npes UNUSED, const char **why)
{
    *why = "this oshrun was built without hwloc";
    return NULL;
}
