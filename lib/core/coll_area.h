// SPDX-License-Identifier: BSD-3-Clause
// What one member of a team shares about the nonblocking collectives in flight; coll_plan.h says
// how they run. Part of team_area.
#ifndef SHOAL_CORE_COLL_AREA_H
#define SHOAL_CORE_COLL_AREA_H

#include "place.h"
#include "trigger_area.h"

// Collectives in flight on a team; the entry behind theirs is for the blocking ones of shmem.h, which
// have an order of their own, in a team that spans nodes.
enum { COLL_DEPTH = 8, COLL_CALL = COLL_DEPTH, COLL_ENTRIES };

// What a member wants done.
struct coll_what {
    int32_t kind, root, op, type;
    struct place src, dst;
    uint64_t count, size; // elements, bytes of one
    uint64_t lists;       // reference to counts, displs, recv_counts, recv_displs; 0: regular
};

struct coll_entry {
    // Of member 0, in a team that spans nodes of each node's leader: the members, of the node, that
    // have started, over all rounds.
    struct counter ready;
    struct counter done;   // of each: collectives done in this entry
    _Atomic uint64_t parts;   // of member 0: parts done, over all rounds
    _Atomic uint64_t claimed; // of each: the last round of which somebody runs its part
    _Atomic int32_t status;   // of each, of the last round
    struct coll_what what;
};

#endif
