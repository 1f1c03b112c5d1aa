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

// Tags have 31 bits. Those of the program's messages are 0 to TAG_UB. In SPACE_COLL five kinds share
// them: collectives in the order of their calls (each has TAG_STEP tags, of which it uses one: coll_tag),
// with those that keep their tags for long in a half of their own, 2^27 of them, so that others do not come round,
// parts of partitioned messages, exchanges that are named by a text, and by tags of the program's (agree.h).
enum { TAG_UB = (1 << 29) - 1, TAG_STEP = 32, TAG_COLLS = 1 << 28, TAG_PART = 1 << 28,
       TAG_TEXTED = 1 << 29, TAG_NAMED = 1 << 30, TAG_LEADERS = 3 << 29 };

struct comm {
    struct object head;
    uint32_t context;
    int rank;               // in group
    struct group *group;    // own side
    struct group *remote;   // the other side of an intercommunicator, NULL: intracommunicator
    struct group *peers;    // whom ranks of messages name: remote, or else group
    struct matching *_Atomic matching[SPACES]; // p2p_attach
    struct errhandler *errhandler;
    struct attributes *attributes;
    struct info *_Atomic hints; // NULL: none
    struct topology *topology;
    struct session *session; // it descends from, NULL: the world model
    struct comm *local;     // of an intercommunicator: an intracommunicator of its own side
    bool is_low;            // intercommunicator: its group comes first in a merge by default
    shmem_team_t team;      // of its collectives (coll_team.c), SHMEM_TEAM_INVALID: none (yet)
    unsigned colls_without_team;
    struct coll_lane *lane; // of its nonblocking collectives (coll_lane.h), NULL: none (yet)
    unsigned colls_without_lane;
    _Atomic int colls;      // started: each has a tag of its own (comm_next_tag)
    _Atomic int colls_made; // the same of those that keep them (comm_lasting_tag)
    struct comm *next_known; // with a context of the same hash
    _Atomic bool is_freed;  // by the user; the object lives as long as what uses it
    char name[MPI_MAX_OBJECT_NAME];
};

static inline struct comm *comm_of(MPI_Comm h)
{
    return object_at(h, OBJECT_COMM);
}

static inline bool comm_is_freed(const struct comm *c)
{
    return atomic_load_explicit(&c->is_freed, memory_order_relaxed);
}

extern struct comm comm_world, comm_self;

// Of the next collective. What is over an intercommunicator travels over its local communicator too,
// so both have one count.
static inline int comm_next_tag(struct comm *c)
{
    _Atomic int *colls = c->local ? &c->local->colls : &c->colls;
    unsigned number = (unsigned)object_count(colls, 1);
    return (int)(number % (TAG_COLLS / 2 / TAG_STEP) * TAG_STEP);
}

// Of one that is started over and over, or in the far future: each has one tag.
static inline int comm_lasting_tag(struct comm *c)
{
    _Atomic int *colls = c->local ? &c->local->colls_made : &c->colls_made;
    unsigned number = (unsigned)object_count(colls, 1);
    return TAG_COLLS / 2 + (int)(number % (TAG_COLLS / 2));
}

// The communicator with this context, NULL: not here (yet). It stays until comm_found.
struct comm *comm_find(uint32_t context);
void comm_found(uint32_t context);

// A context that this process has not given yet.
uint32_t comm_new_context(void);
void comm_return_context(uint32_t context); // it was not given to anybody after all

// A new communicator over the groups (takes references of its own); NULL: no memory. comm_new's is an
// intracommunicator, known under the context from now on. comm_make (remote NULL: intracommunicator) leaves
// it unknown, comm_publish makes it known: for contexts that come later.
struct comm *comm_new(uint32_t context, struct group *group);
struct comm *comm_make(struct group *group, struct group *remote);
int comm_publish(struct comm *comm, uint32_t context); // 0, or MPI_ERR_NO_MEM
// An intercommunicator, and the intracommunicator of its own side under the context local_context.
struct comm *comm_new_inter(uint32_t context, uint32_t local_context, struct group *group,
                            struct group *remote, bool is_low);
// A new communicator to the program: with its parent's error handler. NULL is MPI_ERR_NO_MEM, raised.
int comm_give(struct comm *comm, struct comm *parent, MPI_Comm *out, const char *call);
// The communicators of processes of the same color, in the order of their keys, then of their ranks
// in comm; color < 0: NULL. Collective; an error code, which has not been raised.
int comm_split(struct comm *comm, int64_t color, int key, struct comm **out);
// One over some of old's processes. Collective over old; *out NULL: this process is not a member.
int comm_over(struct comm *old, struct group *members, struct comm **out);
void comm_mark_all_freed(void); // for the program: those that no session has, of which none is an argument any more
void comm_free(struct comm *comm); // drops a reference; NULL: nothing to do
void comm_end(struct comm *comm);  // the last one has been dropped

// Parts of calls that are in several files.
int comm_set_hints(struct comm *comm, const struct info *info); // info may be NULL; or MPI_ERR_NO_MEM
int comm_create_inter(struct comm *comm, struct group *own, MPI_Comm *out, const char *call);

// Communicators from groups of sessions: the arguments they share. Check raises; give ends the call,
// with what came out of it.
struct new_comm {
    const char *stringtag;
    MPI_Info info;
    MPI_Errhandler errhandler;
    MPI_Comm *newcomm;
};
int comm_check_new(const char *call, const struct new_comm *n, struct errhandler **e,
                   struct info **info);
int comm_give_new(struct comm *comm, int error, struct errhandler *e, const struct info *info,
                  const struct new_comm *n, const char *call);

static inline bool comm_is_inter(const struct comm *c)
{
    return c->remote != NULL;
}

// For MPI_COMM_WORLD and MPI_COMM_SELF: known to comm_of between MPI_Init and MPI_Finalize; the
// structures themselves are there as long as the library is up.
void comm_show_world(bool shown);
int comm_up(void); // 0, or an MPI error code
void comm_down(void);

#endif
