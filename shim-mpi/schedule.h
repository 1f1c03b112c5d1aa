// SPDX-License-Identifier: BSD-3-Clause
// A schedule: what one process does in a collective, as rounds of steps. The steps of a round start
// together, the local ones (copy, reduce) first and in their order, those beside the messages when these
// have started; the next round starts when all of them are done. (The last receive of a round that
// somebody waits for begins when all others have.)
//
//     schedule_recv(s, ...); schedule_send(s, ...); schedule_round(s); schedule_reduce(s, ...);
//
// It is a request. Blocking collectives advance theirs while they wait; others are advanced by
// every progress of the process. Messages go in the communicator's own space under the schedule's
// tag, so that collectives that overlap do not mix.
#ifndef SHOAL_MPI_SCHEDULE_H
#define SHOAL_MPI_SCHEDULE_H

#include "op.h"
#include "p2p.h"

enum step_kind {
    STEP_SEND,
    STEP_LEND,
    STEP_RECV,
    STEP_COPY,
    STEP_PACK,
    STEP_UNPACK,
    STEP_UNPACK_PAST, // the caches, where it can
    STEP_REDUCE,
    STEP_BESIDE, // a copy, too
    STEP_ROUND
};

struct step {
    enum step_kind kind;
    int peer;
    struct comm *comm;
    const void *from;
    void *to;
    MPI_Count count, to_count; // to_count: of a copy; bytes of one that packs or unpacks,
    MPI_Count at;              // from there
    struct type *type, *to_type;
};

enum { SCHEDULE_STEPS = 16 };

struct schedule;
typedef void schedule_fn(struct schedule *s, void *arg);

struct schedule {
    struct request request; // first
    struct comm *comm;
    int tag;
    const struct op *op;
    struct step *steps, first[SCHEDULE_STEPS];
    int n, room, next;
    struct request **active, *first_active[SCHEDULE_STEPS]; // of the round
    int active_n, active_room;
    _Atomic int pending; // of these, not done
    bool waits;          // somebody waits for it, and for nothing else
    struct schedule_memory *memory;
    size_t lacks; // bytes for data that there is no memory for: MPI_ERR_NO_MEM, and no more steps
    void *shared;
    schedule_fn *then;
    void *then_arg;
    struct progress_hook hook;
};

void schedule_init(struct schedule *s, struct comm *comm, int tag);
void schedule_down(void);
void schedule_free(struct schedule *s);

// Over the communicator, or with _on over another one that the same calls use.
void schedule_send(struct schedule *s, const void *buf, MPI_Count count, struct type *type,
                   int peer);
void schedule_recv(struct schedule *s, void *buf, MPI_Count count, struct type *type, int peer);
// A send that is done when the peer has got the data, from where it is.
void schedule_lend(struct schedule *s, const void *buf, MPI_Count count, struct type *type,
                   int peer);
void schedule_send_on(struct schedule *s, struct comm *comm, const void *buf, MPI_Count count,
                      struct type *type, int peer);
void schedule_recv_on(struct schedule *s, struct comm *comm, void *buf, MPI_Count count,
                      struct type *type, int peer);
void schedule_copy(struct schedule *s, void *to, MPI_Count to_count, struct type *to_type,
                   const void *from, MPI_Count from_count, struct type *from_type);
// The same, of data that no message of the round needs or brings: others need not wait for it.
void schedule_copy_beside(struct schedule *s, void *to, MPI_Count to_count, struct type *to_type,
                          const void *from, MPI_Count from_count, struct type *from_type);
// Bytes at to at + n of what there is at buf, to there, or from there; of so much that caches would not hold it
// past them.
void schedule_pack(struct schedule *s, void *to, const void *buf, MPI_Count count,
                   struct type *type, MPI_Count at, MPI_Count n);
void schedule_unpack(struct schedule *s, void *buf, MPI_Count count, struct type *type,
                     MPI_Count at, const void *from, MPI_Count n, bool is_long);
// to = from op to: from is of the lower ranks.
void schedule_reduce(struct schedule *s, const void *from, void *to, MPI_Count count,
                     struct type *type);
void schedule_round(struct schedule *s);
// fn adds what comes after all that has been added: it may depend on what these steps have brought. At most
// one at a time.
void schedule_then(struct schedule *s, schedule_fn *fn, void *arg);

// Room for count elements of type, as an address to use with the type, and for bytes of a stream: steps
// alone touch it. And bytes for what builds the steps. They live as long as the schedule.
void *schedule_elements(struct schedule *s, MPI_Count count, const struct type *type);
void *schedule_room(struct schedule *s, size_t n);
void *schedule_bytes(struct schedule *s, size_t n);
// Bytes that others of the node reach, once. NULL: no room.
void *schedule_shared(struct schedule *s, size_t n);

// Until it is done; the error. `waits` is set before steps are added.
int schedule_run(struct schedule *s);
// From now on by progress; the request's reference of progress is taken here.
void schedule_start(struct schedule *s);

#endif
