// SPDX-License-Identifier: BSD-3-Clause
// Nonblocking collectives as triggered operations. Each member describes its buffers in its entry,
// arms its part of the work on the counter of member 0, and counts itself there; the last to come
// makes the counter pass and so runs the parts; those of long data it leaves to the members that wait,
// or come to wait, each of whom runs its own and then what nobody has taken. (In a broadcast who comes
// after the root runs its own part at once; the event still waits for all.)
// Part i writes member i's result, or slice i of everybody's: parts touch no common byte, and each
// combines the members in their order.
//
// In a team that spans nodes the members of a node count themselves at its leader's entry, and the
// leader does the rest (coll_span.h).
//
// Private buffers go through copies in memory that all reach: the source when the collective
// starts, the destination when its event is found done.
#ifndef SHOAL_CORE_COLL_PLAN_H
#define SHOAL_CORE_COLL_PLAN_H

#include "ending.h"
#include "operation.h"
#include "team.h"

struct coll_span;
struct reduce_op;

struct shoal_coll_plan {
    struct ending ending;        // of its event
    struct shoal_team *team;
    shoal_coll_t coll;
    size_t size;                 // of an element
    bool is_running;             // until its event was seen done
    struct coll_entry *entry;    // of the collective that runs, NULL: none does, or it is settled
    int status;                  // then
    uint64_t round;
    size_t src_bytes, dst_bytes; // of this member's buffers
    void *src_copy, *dst_copy;   // arena, or NULL
    size_t *lists;               // arena, or NULL
    bool once;                   // freed when done
    uint64_t seq;                // of the team's plans, which one this start is
    const struct reduce_op *fold; // of shmem.h, NULL: op and type
    struct coll_span *span;      // of a team over nodes, at a node's leader, else NULL
};

// Of the kind, types and root; 0 and the bytes of an element, or SHOAL_EINVAL.
int coll_plan_check(struct shoal_team *team, const shoal_coll_t *coll, size_t *size);

// SHOAL_EINVAL, SHOAL_ENOMEM, or 0 and a plan. Not collective. fold: an operator of shmem.h in the
// place of op and type, or NULL.
int coll_plan_new(struct shoal_team *team, const shoal_coll_t *coll, const struct reduce_op *fold,
                  struct shoal_coll_plan **plan);
void coll_plan_free(struct shoal_coll_plan *plan);

// Collective. Waits only when COLL_DEPTH are in flight already.
int coll_plan_start(struct shoal_coll_plan *plan, shoal_event_t *event);

// Blocking, in a team that spans nodes, in the order of such calls.
int coll_plan_call(struct shoal_coll_plan *plan);

int coll_part_run(const struct operation *op, int *needs); // the part of op->initiator

#endif
