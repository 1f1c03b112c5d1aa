// SPDX-License-Identifier: BSD-3-Clause
// The parts of a nonblocking collective: part i is member i's, and may be run by any PE. See
// coll_plan.h.
#ifndef SHOAL_CORE_COLL_PART_H
#define SHOAL_CORE_COLL_PART_H

#include "operation.h"
#include "team.h"

// Writes into op which part of which collective it is.
void coll_part_name(struct operation *op, const struct shoal_team *team, uint64_t slot,
                    uint64_t round, int member);
bool coll_part_is_free(const struct operation *op); // nobody has taken it yet
// Of a member that has started: may it be run although not all have? A broadcast's, once the root has.
bool coll_part_is_early(const struct operation *op);

#endif
