// SPDX-License-Identifier: BSD-3-Clause
// The header's old place, deprecated since OpenSHMEM 1.1.
#include <shmemx.h>
