// SPDX-License-Identifier: BSD-3-Clause
// A collective of a team that spans nodes, as the leader of one node runs it: when the members of
// the node have all started, part by part (staging memory is bounded)
//
//     in    what the members give, from their memory into the leader's staging memory
//     steps between the leaders, in rounds: sends, receives, and what is computed of them
//     out   the result, to the members' memory
//
// Nothing here waits but for room to send: whatever drives the network (net_move) drives the runs under way,
// the heartbeat's thread too, so that PEs that compute delay nobody for long.
#ifndef SHOAL_CORE_COLL_RUN_H
#define SHOAL_CORE_COLL_RUN_H

#include "coll_message.h"
#include "coll_nodes.h"
#include "transport.h"

enum step_kind {
    STEP_SEND, // n bytes at `from` to `node`,
    STEP_RECV, // and to `to` from `node`; of 0 bytes all the same, a meeting
    STEP_COPY,
    STEP_FOLD, // `to` and `from`, the lower and the higher
    STEP_CALL, // call(run)
    STEP_WAIT, // the end of a round: its sends and receives are done
};

struct coll_run;
struct reduce_op;

// How elements are combined: lower op higher, of members in their order. The result takes the place
// of the lower operand, or with `up`, as operators of users want it, of the higher.
struct coll_fold {
    const struct reduce_op *builtin; // NULL: op and type, as of shoal.h
    int op, type;
    size_t size; // of an element
    bool up;
};
// n bytes. Where the result is; run->status tells a failure.
void *coll_run_fold(struct coll_run *run, void *lower, void *higher, size_t n);

struct coll_step {
    enum step_kind kind;
    enum { RECV_NOTHING, RECV_GETS, RECV_DONE } state;
    int node;
    void *to;
    const void *from;
    size_t n;
    void (*call)(struct coll_run *run);
    struct place at; // of data that is got,
    size_t got;      // and how much has been asked for
    bool is_long;    // a send that waits until it is taken
};

struct coll_run {
    struct coll_run *next; // of those under way
    struct shoal_team *team;
    const struct coll_nodes *nodes;
    struct coll_fold fold;
    uint64_t seq; // which collective of the team
    int status;   // SHOAL_OK, or what went wrong at some node

    bool (*due)(struct coll_run *run); // have the members started?
    bool (*in)(struct coll_run *run);  // adds the steps of the next part; false: there is none
    void (*out)(struct coll_run *run);
    void (*end)(struct coll_run *run); // it is not touched afterwards
    bool is_due, is_last;

    struct coll_step *step;
    size_t steps, room, at, round; // at: the next one; round: the first of this one
    struct transport_request gets;
    int untaken; // long sends of this round that have not been taken yet
    int parts;   // begun
};

void coll_run_start(struct coll_run *run);
void coll_run_free(struct coll_run *run); // its steps
// Goes on with all that are under way. How much was done.
int coll_run_move(void);
bool coll_run_some(void); // is one under way?

// For `in`.
void coll_run_send(struct coll_run *run, int node, const void *from, size_t n);
void coll_run_recv(struct coll_run *run, int node, void *to, size_t n);
void coll_run_copy(struct coll_run *run, void *to, const void *from, size_t n);
void *coll_run_combine(struct coll_run *run, void *lower, void *higher,
                       size_t n); // where it will be
void coll_run_call(struct coll_run *run, void (*call)(struct coll_run *run));
void coll_run_wait(struct coll_run *run);

#endif
