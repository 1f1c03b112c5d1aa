// SPDX-License-Identifier: BSD-3-Clause
// Collective calls: one structure describes any of them, whatever its form (blocking, nonblocking,
// persistent; int or MPI_Count). Checked and resolved in coll.c, made a schedule of by the
// algorithms, which are chosen in coll_build.
#ifndef SHOAL_MPI_COLL_H
#define SHOAL_MPI_COLL_H

#include "numbers.h"
#include "schedule.h"

#include <shoal.h>

enum coll_kind {
    COLL_BARRIER,
    COLL_BCAST,
    COLL_GATHER,
    COLL_GATHERV,
    COLL_SCATTER,
    COLL_SCATTERV,
    COLL_ALLGATHER,
    COLL_ALLGATHERV,
    COLL_ALLTOALL,
    COLL_ALLTOALLV,
    COLL_ALLTOALLW,
    COLL_REDUCE,
    COLL_ALLREDUCE,
    COLL_REDUCE_SCATTER,
    COLL_REDUCE_SCATTER_BLOCK,
    COLL_SCAN,
    COLL_EXSCAN,
    COLL_NEIGHBOR_ALLGATHER,
    COLL_NEIGHBOR_ALLGATHERV,
    COLL_NEIGHBOR_ALLTOALL,
    COLL_NEIGHBOR_ALLTOALLV,
    COLL_NEIGHBOR_ALLTOALLW,
    COLL_KINDS,
};
_Static_assert((int)COLL_KINDS <= (int)TAG_STEP, "a tag for each kind");

// One side of a call: what is sent, or received. Its blocks have one count, or each its own, or each
// its own count and type.
enum side_form { SIDE_EACH, SIDE_COUNTED, SIDE_TYPED };
struct side {
    enum side_form form;
    void *buf;
    MPI_Count count;               // of each block, where there are no counts
    struct numbers counts, displs; // displs in extents of the type, in bytes with types
    MPI_Datatype datatype;
    const MPI_Datatype *datatypes; // one each (alltoallw)
    // resolved
    int blocks; // 0: the side is not significant here
    struct type *type;
    struct type **types; // one each, with references; NULL: look datatypes up
};

struct coll_call {
    const char *name;
    enum coll_kind kind;
    MPI_Comm handle;
    struct side send, recv; // reductions: send.buf, recv.buf; recv has count and type
    MPI_Op op_handle;
    int root;
    // resolved
    struct comm *comm;
    struct op *op;
    int rank, size; // of the own group
    int peers;      // of those the blocks are for: remote group's size, or size
};

static inline bool coll_is_of_neighbors(const struct coll_call *c)
{
    return c->kind >= COLL_NEIGHBOR_ALLGATHER;
}

static inline bool coll_scans(const struct coll_call *c)
{
    return c->kind == COLL_SCAN || c->kind == COLL_EXSCAN;
}

// Of the next collective, which is of this kind.
static inline int coll_tag(const struct coll_call *c)
{
    return comm_next_tag(c->comm) + (int)c->kind;
}

static inline bool side_in_place(const struct side *s)
{
    return s->buf == MPI_IN_PLACE;
}

// Block i of a side.
struct block {
    void *buf;
    MPI_Count count;
    struct type *type;
};
struct block coll_block(const struct side *s, int i);
// The same where all blocks are of s->count.
static inline void *coll_at(const struct side *s, MPI_Count i)
{
    return (char *)s->buf + i * s->count * s->type->extent;
}

// References to its types, until they are dropped; and with them copies of its arrays, of n numbers.
void coll_keep_types(struct side *s);
void coll_drop_types(struct side *s);
void coll_keep_side(struct side *s, int n);
void coll_drop_side(struct side *s);

// A side that is one block.
static inline struct block coll_whole(const struct side *s)
{
    return (struct block){s->buf, s->count, s->type};
}

// A call that is not waited for.
struct coll_lane;
struct coll_request {
    struct schedule schedule; // first
    struct coll_call call;
    int tag; // given when it is made: runs of several persistent ones may start in any order
    struct coll_lane *lane; // by which it goes (coll_lane.h), NULL: by messages
    bool owns_lane;
    struct coll_request *next; // in the lane's queue
    struct lane_run {
        shoal_coll_t coll; // without the buffers
        MPI_Count n;       // bytes of a part
        bool folds;        // parts are gathered, and combined here
        bool is_done;
        size_t src, dst;   // bytes of this process's that travel in the lane's room
        char *room;
    } run;
};

int coll_check(struct coll_call *c);   // raises; resolves
int coll_no_memory(const struct coll_call *c, size_t lacks); // raises
int coll_no_cancel(struct request *r); // what MPI_Cancel does with the requests of collectives

// Makes the steps.
void coll_build(struct schedule *s, const struct coll_call *c);

// The algorithms, by chapter of the source.
void coll_barrier(struct schedule *s, const struct coll_call *c);
void coll_bcast(struct schedule *s, const struct coll_call *c);
void coll_gather(struct schedule *s, const struct coll_call *c);
void coll_scatter(struct schedule *s, const struct coll_call *c);
void coll_allgather(struct schedule *s, const struct coll_call *c);
void coll_alltoall(struct schedule *s, const struct coll_call *c);
void coll_reduce(struct schedule *s, const struct coll_call *c);
void coll_allreduce(struct schedule *s, const struct coll_call *c);
void coll_reduce_scatter(struct schedule *s, const struct coll_call *c);
void coll_scan(struct schedule *s, const struct coll_call *c);
void coll_inter(struct schedule *s, const struct coll_call *c);
void coll_neighbor(struct schedule *s, const struct coll_call *c);

// Parts of them that others use. What this process gives to a reduction; the same, copied to acc.
const void *coll_own(const struct coll_call *c);
void coll_add_own(struct schedule *s, const struct coll_call *c, void *acc);
// On a node: count elements at buf to all others, which get them at once from where they are, if they reach
// that, or else from a copy. Once in a schedule, where they may, which all decide alike.
bool coll_may_lend(const struct coll_call *c);
void coll_add_lent(struct schedule *s, const struct coll_call *c, const void *buf, MPI_Count count,
                   struct type *type);
// A broadcast that is waited for, where they may.
void coll_bcast_lent(struct schedule *s, const struct coll_call *c);
// Allreductions, reductions and reduce-scatters where all lend what they give. False, on all members: not
// this one.
bool coll_reduce_lent(struct schedule *s, const struct coll_call *c);
// The same, in the same brackets, by slices or blocks that travel as messages.
void coll_add_allreduce_slices(struct schedule *s, const struct coll_call *c);
void coll_add_reduce_slices(struct schedule *s, const struct coll_call *c);
void coll_add_blocks(struct schedule *s, const struct coll_call *c);
// A broadcast that is short, to few processes of a node: the root sends it to each, and is done; each of the
// others waits for the root alone, where by a tree or by the runtime it waits for others as well.
bool coll_bcast_is_flat(const struct coll_call *c);
// count elements at buf of rank `root` to all.
void coll_add_bcast(struct schedule *s, struct comm *comm, void *buf, MPI_Count count,
                    struct type *type, int root);
int coll_power_of_two(int n); // the greatest up to n
// Of `own` of all, in rank order, to rank 0 of comm: where they are there. own stays as it is.
const void *coll_add_reduce(struct schedule *s, struct comm *comm, const void *own, MPI_Count count,
                            struct type *type);
// Each process combines a slice of all. Where its slice is: in `result`, which holds so much, unless that
// is NULL.
const char *coll_add_slices(struct schedule *s, const struct coll_call *c, const char *own,
                            char *result);
// What this process gives in an allgather, without waiting for its copy in the result.
struct block coll_given(const struct coll_call *c);
// Does it go so, one rank combined after the other? Else by pairs.
bool coll_allreduce_slices(const struct coll_call *c);
bool coll_reduce_slices(const struct coll_call *c);
struct slice {
    MPI_Count at, n; // elements
};
struct slice coll_slice(MPI_Count count, int size, int rank);
// As many elements as bytes hold, and one at least.
static inline MPI_Count coll_elements_in(MPI_Count bytes, const struct type *t)
{
    return t->size < 1 ? bytes : t->size < bytes ? bytes / t->size : 1;
}
struct slice coll_block_of(const struct coll_call *c, int rank); // of a reduce-scatter
// Of count elements those from `at` on, at most so many.
static inline MPI_Count coll_part_of(MPI_Count count, MPI_Count at, MPI_Count most)
{
    MPI_Count rest = count > at ? count - at : 0;
    return rest < most ? rest : most;
}
// Also of a buffer that is MPI_BOTTOM, or none.
static inline void *coll_element_at(const void *buf, MPI_Count at, const struct type *t)
{
    return (void *)((uintptr_t)buf + (uintptr_t)(at * t->extent));
}
// Over several nodes whose ranks are numbered node by node, as many on each (coll_grid.c); those that combine
// do it in the same brackets.
bool coll_is_grid(const struct coll_call *c);
void coll_allreduce_grid(struct schedule *s, const struct coll_call *c);
void coll_reduce_grid(struct schedule *s, const struct coll_call *c);
void coll_reduce_scatter_grid(struct schedule *s, const struct coll_call *c,
                              const struct slice *block, // of each rank; the longest has so many
                              MPI_Count longest, MPI_Count most); // elements: so many at a time
void coll_bcast_grid(struct schedule *s, const struct coll_call *c, char *data, MPI_Count n);
void coll_allgather_grid(struct schedule *s, const struct coll_call *c);
void coll_alltoall_grid(struct schedule *s, const struct coll_call *c); // not in place

// On the runtime's collectives (coll_team.c): true, on all members, when it is done.
bool coll_team_run(const struct coll_call *c, int *error);
// The same, of a broadcast of n bytes.
bool coll_team_bcast(const struct coll_call *c, MPI_Count n, int *error);
// Parts of it for coll_lane.c. May the communicator have a team?
bool coll_team_may_be(const struct comm *comm);
// A call by which the members find the places that are free on all of them: the bits that all have in their
// words.
struct coll_call coll_team_question(struct comm *comm, uint64_t *words, MPI_Count n);
struct coll_call coll_team_barrier(struct comm *comm);
// Bytes of what a member gives, or gives to each; the same on every member, whatever its types are.
// -1: more than memory holds.
MPI_Count coll_team_bytes(const struct coll_call *c);
bool coll_team_folds(const struct coll_call *c, MPI_Count n); // few enough to combine them at each?
// Where what this process gives is, if dense, else packed to where the caller says.
const void *coll_team_given(const struct coll_call *c, MPI_Count n, void *packed);
// Combines the members' parts, which it spoils, of n bytes each into the result; of a scan those up to this
// member's. SHOAL_ENOMEM: it needs memory for their gaps (coll_fold.c).
int coll_fold(const struct coll_call *c, char *parts, MPI_Count n);

// MPI_Comm_free: all members come here, and none waits. coll_team_down waits for all that have begun.
void coll_team_end(struct comm *comm);
void coll_team_down(void);
// Bytes of a message that is short: blocking calls of such go without a schedule.
enum { COLL_NOW = 2048 };
// So short, and without gaps, is what each gives to a reduction.
static inline bool coll_folds_now(const struct coll_call *c)
{
    MPI_Count n = coll_team_bytes(c);
    return c->recv.type->is_dense && n >= 0 && n <= COLL_NOW;
}

// Short broadcasts, through the team or by messages: true, on all members, when it is done.
bool coll_bcast_now(const struct coll_call *c, int *error);
// What this process has to do in a blocking gather, scatter, reduction or scan, when that is short: true when it is
// done. Others may not find theirs short.
bool coll_rooted_now(const struct coll_call *c, int *error);
bool coll_reduce_now(const struct coll_call *c, int *error);
bool coll_scan_now(const struct coll_call *c, int *error);
// By messages, blocking; of a resolved call. An error code, which has not been raised.
int coll_messages(const struct coll_call *c);
// The same, not blocking: a request, whose reference is the caller's. tag: from coll_tag.
struct request *coll_begin(const struct coll_call *c, int tag);
// A request, which has not begun; and how it begins by messages. Without memory for them it has ended.
struct coll_request *coll_request_of(const struct coll_call *c, int tag);
void coll_start_messages(struct coll_request *q);

// The three forms of every call of coll_api.c (coll.c, coll_request.c).
int coll_blocking(struct coll_call *c);
int coll_nonblocking(struct coll_call *c, MPI_Request *request);
int coll_persistent(struct coll_call *c, MPI_Info info, MPI_Request *request);

#endif
