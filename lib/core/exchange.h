// SPDX-License-Identifier: BSD-3-Clause
// Short contributions, exchanged through the members' areas without a barrier: publish your own,
// read whose you want, leave. A part of up to LINE_BYTES travels in the line of its sequence
// number: one cache line moved.
//
// For teams on one node.
//
// There are EXCHANGE_LINES lines, and for longer parts EXCHANGE_PLACES places, of which each part takes
// as many as it needs, four parts at least having room: a member overwrites what is in a line or a
// place only when all have left that exchange. So a member that only gives, the root of broadcasts or
// one that is no root of a gather, may be ahead by as many parts as there is room for. Who has read
// everybody's part of s knows that all have left s - 1, and need not look.
#ifndef SHOAL_CORE_EXCHANGE_H
#define SHOAL_CORE_EXCHANGE_H

#include "team.h"

#include <stddef.h>

void exchange_enter(struct shoal_team *team);
void exchange_publish(struct shoal_team *team, const void *part, size_t n); // n <= LIMIT_COLL_SLOT
// Waits for member i's part and returns where it is, valid until exchange_leave.
const void *exchange_read(struct shoal_team *team, int i, size_t n);
void exchange_leave(struct shoal_team *team, bool read_all);

#endif
