// SPDX-License-Identifier: BSD-3-Clause
// Collectives of teams that span nodes, blocking ones and those of shoal.h: plans (coll_plan.h) that
// the leader of each node runs for its members (coll_run.h). The members describe their buffers in
// their entries and count themselves at the leader's; it moves everything, and counts them done.
#ifndef SHOAL_CORE_COLL_SPAN_H
#define SHOAL_CORE_COLL_SPAN_H

#include "coll.h"
#include "coll_area.h"
#include "coll_plan.h"
#include "coll_run.h"

struct coll_span {
    struct coll_run run;
    struct shoal_coll_plan *plan;
    char *buffer[3];  // staging memory
    size_t off, part; // this part: from where, and how much; where there are blocks, of each
    size_t piece;     // at most
    bool equal;       // alltoall: all nodes' blocks are taken to be as long
    bool raw;         // each member's elements go to where they are combined, in the members' order
    void *result;     // of the rounds
    size_t *at, *out, *in; // offsets of the nodes' blocks, one more than nodes
};

// One row a kind of shoal.h: what it does, and the staging memory it needs. Sizes in bytes, in
// s->piece as well.
struct coll_program {
    bool (*in)(struct coll_run *run);
    void (*out)(struct coll_run *run);
    void (*need)(struct coll_span *s, size_t size[3]);
    bool folds;
};
extern const struct coll_program coll_move_broadcast, coll_move_gather, coll_move_alltoall;
extern const struct coll_program coll_fold_reduce, coll_fold_scan, coll_fold_scatter;

// Of the leader's plan. NULL: no memory.
struct coll_span *coll_span_new(struct shoal_coll_plan *p);
void coll_span_free(struct coll_span *s);
// This member has described its buffers.
void coll_span_start(struct shoal_coll_plan *p);

// A blocking collective of shmem.h. op: NULL where nothing is combined; counts: of an allgather with
// blocks of different lengths.
void coll_span_call(const struct group *g, const shoal_coll_t *coll, const struct reduce_op *op);

// ---- For the programs. Member number l of those on this node:
const struct coll_what *coll_span_what(const struct coll_span *s, int l);
static inline char *coll_span_src(const struct coll_span *s, int l)
{
    return place_here(coll_span_what(s, l)->src);
}
static inline char *coll_span_dst(const struct coll_span *s, int l)
{
    return place_here(coll_span_what(s, l)->dst);
}
// What its lists say of the team's member i; without lists blocks are equal.
enum coll_list { COUNTS, DISPLS, RECV_COUNTS, RECV_DISPLS, LISTS };
size_t coll_span_listed(const struct coll_span *s, int l, enum coll_list which, int i);
// Where there is a block a member, the same on all nodes: its bytes, and those of the longest.
size_t coll_span_length(const struct coll_span *s, int member);
size_t coll_span_longest(const struct coll_span *s);

static inline struct coll_span *coll_span_of(struct coll_run *run)
{
    return (struct coll_span *)run;
}
// The next part begins where the last one ended. False: at `total` all are done.
static inline bool coll_span_next(struct coll_span *s, size_t total)
{
    s->off += s->part;
    s->part = s->off < total ? total - s->off : 0;
    s->part = s->part < s->piece ? s->part : s->piece;
    return s->part;
}
// Of a block of n bytes, how many are in this part.
static inline size_t coll_span_cut(const struct coll_span *s, size_t n)
{
    return n <= s->off ? 0 : n - s->off < s->part ? n - s->off : s->part;
}
static inline int coll_span_node(const struct coll_span *s, int member)
{
    return coll_nodes_of(s->run.nodes, &s->run.team->set, member);
}

#endif
