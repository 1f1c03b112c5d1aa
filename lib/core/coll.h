// SPDX-License-Identifier: BSD-3-Clause
// Collective operations over a team (OpenSHMEM 1.6, "Collective Routines"), and over the active
// sets of the deprecated interface. Arguments are checked by the caller.
#ifndef SHOAL_CORE_COLL_H
#define SHOAL_CORE_COLL_H

#include "reduce_ops.h"
#include "team.h"

#include <stddef.h>

// Whom a collective runs over, and how they synchronize: a team by its area, an active set (team
// NULL) by the user's pSync, 4 words of which the first three are used and left at 0.
struct group {
    struct shoal_team *team;
    struct pe_set set;
    int me;
    long *psync;
    bool spans; // it has members on other nodes
};

struct group group_of_team(struct shoal_team *team);
// An active set that is the whole world is the world team; psync is then not needed.
struct group group_of_active_set(int start, int stride, int size, long *psync);

// Everybody has entered; what each wrote before, all see after.
void coll_sync(const struct group *g);
void coll_sync_team(struct shoal_team *team);
void coll_sync_world(void);
void coll_barrier_world(void); // what this PE has sent is complete, too
void coll_part_team(struct shoal_team *team); // the last one: then the own area is unused

// Does a collective go through the members' areas (exchange.h)? `bytes` is what one of them
// publishes. One rule for all; an active set has no area.
static inline bool coll_is_short(const struct group *g, size_t bytes)
{
    return g->team && bytes <= LIMIT_COLL_SLOT;
}

// Is it a team with members on other nodes, which has its own ways (coll_span.h)?
static inline bool coll_is_spanning(const struct group *g)
{
    return g->spans && g->team;
}

// A member's memory: where it is when the member is on this node; else a copy of it in buf, or, with
// coll_fetch, where the caller wants it, there after coll_wait or coll_sync.
const void *coll_look(const struct group *g, int member, const void *addr, size_t n, void *buf);
void coll_fetch(const struct group *g, int member, const void *addr, size_t n, void *to);
void coll_store(const struct group *g, int member, void *addr, const void *from, size_t n);
void coll_wait(const struct group *g); // for what coll_fetch fetches

// n bytes of src on the member numbered root to dest on all, except dest on root itself unless
// to_root (the active-set form leaves it alone).
void coll_broadcast(const struct group *g, void *dest, const void *src, size_t n, int root,
                    bool to_root);

// The blocks of all members one after the other, in their order; n may differ between members.
void coll_collect(const struct group *g, void *dest, const void *src, size_t n);
void coll_fcollect(const struct group *g, void *dest, const void *src, size_t n); // n is equal

// Member i's block j to block i on member j; nelems elements of `size` bytes, dst and sst apart
// (in elements).
void coll_alltoall(const struct group *g, void *dest, const void *src, ptrdiff_t dst,
                   ptrdiff_t sst, size_t nelems, size_t size);

// Element by element, in the members' order, over nodes those of a node first: the same bits on every
// PE, in every run with as many PEs on as many nodes. dest and src are the same or do not overlap.
void coll_reduce(const struct group *g, const struct reduce_op *op, void *dest, const void *src,
                 size_t n);
void coll_scan(const struct group *g, const struct reduce_op *op, void *dest, const void *src,
               size_t n, bool inclusive);

#endif
