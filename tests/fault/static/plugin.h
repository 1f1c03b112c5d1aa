// SPDX-License-Identifier: BSD-3-Clause
// What main.c takes from other.c, a part of the same program, and plugin.c, a shared library.
#ifndef TESTS_FAULT_STATIC_PLUGIN_H
#define TESTS_FAULT_STATIC_PLUGIN_H

extern long other_data, other_bss;
long *plugin_data(void);

#endif
