// SPDX-License-Identifier: BSD-3-Clause
// Blocking collectives of shoal.h whose contributions travel through the members' slots
// (exchange.h): one line there and one back, whatever memory the buffers are in. Longer ones are
// plans (coll_plan.h).
#ifndef SHOAL_CORE_COLL_NOW_H
#define SHOAL_CORE_COLL_NOW_H

#include "shoal.h"
#include "team.h"

#include <stdbool.h>

// True: it is done. False, on every member: it is not of that kind. Arguments have been checked;
// size: bytes of an element.
bool coll_now(struct shoal_team *team, const shoal_coll_t *coll, size_t size);

#endif
