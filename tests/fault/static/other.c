// SPDX-License-Identifier: BSD-3-Clause
// See main.c.
#include "plugin.h"

long other_data = 31;
long other_bss;
long weak_other = 23;
