// SPDX-License-Identifier: BSD-3-Clause
// A shared library with a variable of its own. See main.c.
#include "plugin.h"

static long data = 55;

long *plugin_data(void)
{
    return &data;
}
