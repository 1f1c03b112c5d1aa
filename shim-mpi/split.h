// SPDX-License-Identifier: BSD-3-Clause
// Copying a message from both sides. See split.c.
#ifndef SHOAL_MPI_SPLIT_H
#define SHOAL_MPI_SPLIT_H

#include "transfer.h"

enum { SPLIT_LINE = 64 };

// Of the receiver's, in memory that the sender reaches.
struct split {
    _Alignas(SPLIT_LINE) _Atomic uint64_t claim;
    _Atomic uint32_t done;
    _Atomic int32_t status; // SHOAL_E* of a piece that failed
    shoal_rptr_t place;     // the rest is the receiver's own
    struct split *next;
};

// What both sides know of a copy.
struct split_copy {
    uint64_t bytes;
    shoal_rptr_t to, record;
    uint64_t generation; // in its high half
};

// Beside the generation in the word of claims: nothing is to be copied yet (hint.c).
#define SPLIT_OFFERED ((uint64_t)UINT32_MAX)
// All of it is the sender's.
#define SPLIT_TAKEN (SPLIT_OFFERED - 1)

struct split *split_take_record(struct split_copy *copy); // and a new generation; NULL: none
void split_give_record(struct split *s);

// The sender copies pieces as it makes progress. When all have been copied by either side its send is done.
void split_push(const struct split_copy *copy, const void *from, struct transfer *t);

// Of an offer of another node's: once it is taken the sender puts all of it, and its send is done then.
void split_push_far(const struct split_copy *copy, const void *from, struct transfer *ends);
// Makes an offer to another node, by what is atomic with the sender's operations there; takes one
// back: false, it has been taken.
void split_offer_far(struct split *s, uint64_t generation);
bool split_retract_far(struct split *s, uint64_t generation);

// The receiver copies pieces, and ends the transfer when all have been copied; t->split is set.
void split_pull(struct transfer *t, const struct split_copy *copy, void *to, shoal_rptr_t from);

#endif
