// SPDX-License-Identifier: BSD-3-Clause
// What every call of shoal.h checks first.
#ifndef SHOAL_API_CHECK_H
#define SHOAL_API_CHECK_H

#include "world.h"

#include <stdbool.h>

static inline bool shoal_is_up(void)
{
    return likely(world_is_up() && !world.forked);
}

static inline bool shoal_is_pe(int pe)
{
    return (unsigned)pe < (unsigned)world.npes;
}

#endif
