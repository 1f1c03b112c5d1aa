// SPDX-License-Identifier: BSD-3-Clause
// A transport that stands before another one and uses every freedom that transport.h leaves: it
// holds operations back and hands them on in another order. A program that relies on an order which
// nothing promises works over a network that happens to keep it, and fails here.
//
// What is shuffled: puts, gets and atomics between two fences, and those to different PEs; messages
// to different PEs, and messages against everything else; when the end of an operation is told. What
// is kept: fence, flush, the end of a request, the order of one PE's messages to another.
//
// Each decision follows from the seed, the PE and the number of the operation. What a PE has still
// outstanding when it calls nothing more goes out after some calls of progress.
#ifndef SHOAL_TRANSPORTS_ADVERSARY_H
#define SHOAL_TRANSPORTS_ADVERSARY_H

#include "transport.h"

// The table to open in the place of `real`. One at a time in a process.
const struct transport *adversary_before(const struct transport *real, uint64_t seed);

#endif
