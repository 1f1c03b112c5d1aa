// SPDX-License-Identifier: BSD-3-Clause
// Communicators. The context of one is a number that the first process of its group (of the first
// group, for intercommunicators) gives and tells the others: its PE and a count. So nothing is
// agreed upon by more processes than those of the new communicator.
#ifndef SHOAL_MPI_COMM_H
#define SHOAL_MPI_COMM_H

#include "group.h"

#include <shmem.h>

struct attributes;
struct errhandler;
struct info;
struct matching;
struct session;
struct topology;

// Messages of a communicator are of one of these spaces, which never match each other.
enum space { SPACE_P2P, SPACE_COLL, SPACES };

// In SPACE_COLL, collectives have tags from 0 to this, the parts of partitioned messages from here
// to twice as many.
enum { TAG_PART = 1 << 29 };

struct comm {
    struct object head;
    uint32_t context;
    int rank;             // in group
    struct group *group;  // own side
    struct group *remote; // the other side of an intercommunicator, NULL: intracommunicator
    struct group *peers;  // whom ranks of messages name: remote, or else group
    struct matching *_Atomic matching[SPACES]; // p2p_attach
    struct errhandler *errhandler;
    struct attributes *attributes;
    struct info *hints;
    struct topology *topology;
    struct session *session; // it descends from, NULL: the world model
    struct comm *local;   // of an intercommunicator: an intracommunicator of its own side
    bool is_low;          // intercommunicator: its group comes first in a merge by default
    shmem_team_t team;    // with the same members in the same order; SHMEM_TEAM_INVALID: none
    _Atomic int coll_tag; // collectives started: each has its own tag
    bool is_freed;        // by the user; the object lives as long as what uses it
    char name[MPI_MAX_OBJECT_NAME];
};

static inline struct comm *comm_of(MPI_Comm h)
{
    return object_at(h, OBJECT_COMM);
}

extern struct comm comm_world, comm_self;

// Tags of messages are 0 to this. Internal messages have tags of their own beyond it or below 0
// (comm_agree.h).
enum { COMM_TAG_UB = (1 << 30) - 1 };

// The communicator of an argument. MPI_ERR_COMM, raised: it is none; comm_check_intra: or it is an
// intercommunicator.
int comm_check(MPI_Comm h, const char *call, struct comm **comm);
int comm_check_intra(MPI_Comm h, const char *call, struct comm **comm);

// The communicator with this context, NULL: not here (yet). Takes no reference.
struct comm *comm_find(uint32_t context);

// A context that this process has not given yet.
uint32_t comm_new_context(void);

void comm_return_context(uint32_t context); // it was not given to anybody after all

// A new communicator over the groups (takes references of its own), known under the context from now
// on. remote NULL: intracommunicator. NULL: no memory. comm_make leaves it unknown, comm_publish
// makes it known: for contexts that come later.
struct comm *comm_new(uint32_t context, struct group *group, struct group *remote);
struct comm *comm_make(struct group *group, struct group *remote);
int comm_publish(struct comm *comm, uint32_t context); // 0, or MPI_ERR_NO_MEM
void comm_free(struct comm *comm); // drops a reference; NULL: nothing to do

static inline bool comm_is_inter(const struct comm *c)
{
    return c->remote != NULL;
}

int comm_up(void);
void comm_down(void);

#endif
