// SPDX-License-Identifier: BSD-3-Clause
// Extensions to OpenSHMEM (OpenSHMEM 1.6, section 5): their names begin with shmemx_ and SHMEMX_, and
// a program finds out with #ifdef SHMEMX_NAME whether one exists. There are none yet; what Shoal
// offers beyond the specification is in shoal.h.
#ifndef SHOAL_SHMEMX_H
#define SHOAL_SHMEMX_H

#include <shmem.h>

#endif
