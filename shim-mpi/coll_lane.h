// SPDX-License-Identifier: BSD-3-Clause
// Nonblocking and persistent collectives on the runtime's, which go on while every process computes.
//
// A lane is a team of the runtime, and room in memory that its members reach: there travels what is
// in memory that they do not. Collectives start in the order in which they came to the lane, the same
// on every member. One that finds DEPTH under way, or no room, waits in the lane's queue for progress
// to start it, and no call waits. What it waits for are earlier ones of the same lane, which all
// members start without this one: so it matters to nobody else how much is free at which member.
//
// A communicator gets a lane once it has done some of them; a persistent collective gets its own, as
// the members may start several in any order. They agree on it by messages, with which the lane
// begins; what is started meanwhile waits in the queue. Where one of them has no room the queue goes
// on by messages, on all of them.
//
//     ASKS_PLACES -> ASKS_MADE -> OPEN ... until its end and a barrier, for which nobody waits
//              \____________\\--> SHUT
//
// By a lane go barrier, broadcast, gather, allgather, alltoall and what combines elements, without
// counts for each process, over evenly spaced processes of one node; of what fits into the room, and is
// not sooner sent by messages: the shortest broadcasts (coll_bcast_is_flat) and, where no processes share
// cores, what takes one round.
// Results have the bits of the blocking calls. So short contributions to reduce and allreduce, and where
// the messages' brackets are not the runtime's those of numbers that round, are gathered and combined by
// each (coll_fold). Others are the runtime's reductions, where it has the operator.
#ifndef SHOAL_MPI_COLL_LANE_H
#define SHOAL_MPI_COLL_LANE_H

#include "coll.h"

// Both decide alike on all members. A request without a lane goes by messages.
void coll_lane_join(struct coll_request *q); // the communicator's lane, if it has one by now
void coll_lane_make(struct coll_request *q); // its own

// A blocking one: true, on all members, when it is done.
bool coll_lane_run(const struct coll_call *c, int *error);

// Starts it, or lets it wait for its turn.
void coll_lane_start(struct coll_request *q);

// No more will be started; NULL: nothing to do. Waits for nobody.
void coll_lane_end(struct coll_lane *lane);
// Ends all, and waits until they have ended on every member.
void coll_lane_down(void);

// ---- What it consists of (coll_lane_data.c)
enum { COLL_LANE_ROOM = 256 << 10 }; // bytes of room that a communicator's lane has
// How it would go, and the most room that a member may need. False, on all members: not by a lane.
bool coll_lane_choose(const struct coll_call *c, struct lane_run *run, size_t *room);
// Of blocking ones, is it sooner done than by messages where processes share cores? It changes hands
// less often. Long allreductions are, and have the same bits either way.
bool coll_lane_is_sooner(const struct coll_call *c);
size_t coll_lane_bytes(const struct coll_request *q); // the room that this process needs
// Where the others read and write: in the buffers, or in the room at q->run.room, which is filled.
shoal_coll_t coll_lane_describe(struct coll_request *q);
// Is this process through when it has started? What it gave, and nothing else, is in the room.
bool coll_lane_gives(const struct coll_request *q);
void coll_lane_results(struct coll_request *q, int status); // when all are through

#endif
