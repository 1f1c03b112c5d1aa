// SPDX-License-Identifier: BSD-3-Clause
// Staged, or left where it is for the receiver to get? Which is faster for messages between processes of
// a node depends on the machine (what the kernel takes for a copy between processes, how far the cores
// are from each other), on whether data goes both ways, and on how soon receivers come. So a process
// tries: of messages of like length, blocking or not, a few go one way and as many the other, twice, and
// those that follow go the way in which the program was through sooner. It tries again, the rarer the
// more often nothing has changed; and when messages from another process begin to come the other way:
// where data goes both ways, that is better only if both do it.
#ifndef SHOAL_MPI_WAY_H
#define SHOAL_MPI_WAY_H

#include "p2p.h"

#include <time.h>

static inline uint64_t way_now(void) // ns
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (uint64_t)t.tv_sec * UINT64_C(1000000000) + (uint64_t)t.tv_nsec;
}

// May a message of n bytes go either way?
bool way_is_open(enum space space, size_t n, const struct type *type, int pe);
bool way_leaves(size_t n, bool waits); // this one, which is open, stays where it is
void way_came(enum space space, size_t n, bool is_left);
void way_out(int more); // so many more messages are with their senders

#endif
