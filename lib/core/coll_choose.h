// SPDX-License-Identifier: BSD-3-Clause
// Which algorithm the leaders of a team's nodes use: one table (coll_choose.c).
#ifndef SHOAL_CORE_COLL_CHOOSE_H
#define SHOAL_CORE_COLL_CHOOSE_H

#include <stddef.h>

// X(name in SHOAL_COLL, identifier)
#define COLL_ROUNDS(X)        \
    X("broadcast", BROADCAST) \
    X("reduce", REDUCE)       \
    X("allreduce", ALLREDUCE) \
    X("allgather", ALLGATHER) \
    X("alltoall", ALLTOALL)
#define COLL_ALGORITHMS(X)  \
    X("binomial", BINOMIAL) \
    X("chain", CHAIN)       \
    X("scatter", SCATTER)   \
    X("doubling", DOUBLING) \
    X("swap", SWAP)         \
    X("bruck", BRUCK)       \
    X("ring", RING)         \
    X("pairwise", PAIRWISE)

#define X(name, id) ROUNDS_##id,
enum coll_rounds_kind { COLL_ROUNDS(X) ROUNDS_KINDS };
#undef X
#define X(name, id) BY_##id,
enum coll_algorithm { BY_NONE, COLL_ALGORITHMS(X) };
#undef X

// Reads SHOAL_COLL. 0, or -1 after one line.
int coll_choose_up(void);

// bytes: broadcast, reduce, allreduce: of the data; allgather: of all blocks; alltoall: of what one
// node sends another.
enum coll_algorithm coll_choose(enum coll_rounds_kind kind, size_t bytes, int nodes);

#endif
