// SPDX-License-Identifier: BSD-3-Clause
// Collectives between the leaders of a team's nodes, as steps of a run (coll_run.h); coll_choose.h
// picks the algorithm. Nodes by their numbers in the team (coll_nodes.h). All take the nodes in
// their order when they combine, and every node gets the same bits.
//
// Blocks of the nodes, for gathers: that of node (mine + j) % count is at [at[j], at[j + 1]).
#ifndef SHOAL_CORE_COLL_ROUNDS_H
#define SHOAL_CORE_COLL_ROUNDS_H

#include "coll_run.h"

void coll_rounds_meet(struct coll_run *run); // a barrier, by dissemination

// n bytes of `from` at root to `to` at the others.
void coll_rounds_broadcast(struct coll_run *run, int root, const void *from, void *to, size_t n);

// n bytes of each node in acc; tmp has room for as many. Returns which of the two will hold the
// result; reduce: at root alone.
void *coll_rounds_allreduce(struct coll_run *run, void *acc, void *tmp, size_t n);
void *coll_rounds_reduce(struct coll_run *run, int root, void *acc, void *tmp, size_t n);
// What the nodes before this one give, combined; NULL: there is none.
void *coll_rounds_exscan(struct coll_run *run, void *acc, void *tmp, size_t n);

void coll_rounds_allgather(struct coll_run *run, char *blocks, const size_t *at);
void coll_rounds_gather(struct coll_run *run, int root, char *blocks, const size_t *at);

// The block for node k is at from + out[k] and as long as out[k + 1] - out[k]; that of node k goes
// to `to` + in[k].
void coll_rounds_alltoall(struct coll_run *run, const char *from, const size_t *out, char *to,
                          const size_t *in);
// In log2(nodes) rounds, when all blocks have n bytes; tmp: room for 2 * nodes of them.
void coll_rounds_bruck(struct coll_run *run, const char *from, char *to, char *tmp, size_t n);

#endif
