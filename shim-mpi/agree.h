// SPDX-License-Identifier: BSD-3-Clause
// Exchanges that the making of communicators needs, among some of a communicator's processes. Data
// are bytes. Each returns an error code, which has not been raised.
#ifndef SHOAL_MPI_AGREE_H
#define SHOAL_MPI_AGREE_H

#include "comm.h"

// Who takes part, and the tag of its messages in SPACE_COLL.
struct circle {
    struct comm *comm;     // an intracommunicator
    struct group *members; // some of its group, NULL: all
    int me, size;          // in members
    int tag;
};

// All of comm, as its next collective.
struct circle circle_of(struct comm *comm);
// Members of comm, which are told apart from others that do the same by a number of the program's:
// a tag (0 to TAG_UB), or a text.
struct circle circle_named(struct comm *comm, struct group *members, int tag);
struct circle circle_texted(struct comm *comm, struct group *members, const char *text);

int agree_bcast(const struct circle *c, int root, void *buf, size_t n);
int agree_allgather(const struct circle *c, const void *mine, size_t n, void *all);
int agree_barrier(const struct circle *c);
// With the process of this rank in comm->peers, under one of these tags.
int agree_swap(struct comm *comm, int rank, int tag, const void *out, size_t out_n, void *in,
               size_t in_n);
int agree_leaders_tag(int tag); // of the leaders of an intercommunicator: not that of circle_named
int agree_texted_tag(const char *text);

// Records of `size` bytes, each to a member: the first int of a record is its target. Gives those
// that came here, in an array of malloc, in no particular order. Takes log n steps.
int agree_route(const struct circle *c, const void *records, size_t n, size_t size, void **came,
                size_t *came_n);

#endif
