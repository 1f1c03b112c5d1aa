// SPDX-License-Identifier: BSD-3-Clause
// Requests: what is under way, and how a call waits for it.
//
// A request is done when its word `done` is not 0; whoever completes it fills in the result first
// and then stores the word (release). Every completion also counts up request_activity, the one
// word that all waiting threads of the process sleep on.
#ifndef SHOAL_MPI_REQUEST_H
#define SHOAL_MPI_REQUEST_H

#include "comm.h"
#include "type.h"

enum request_kind {
    REQUEST_SEND, REQUEST_RECV, REQUEST_COLL, REQUEST_GENERALIZED, REQUEST_PARTITIONED,
    REQUEST_PLAIN, // done by whatever made it
};

struct request;

// What a kind of request can do beyond being waited for. NULL: nothing to do.
struct request_class {
    int (*start)(struct request *r);   // persistent: MPI_Start
    void (*cancel)(struct request *r);
    void (*release)(struct request *r); // the last reference is gone: what belongs to it
    int (*finish)(struct request *r);  // before a done request is reported: fills its status
};

struct request {
    struct object head;
    _Atomic uint32_t done;
    uint8_t kind;         // enum request_kind
    bool is_persistent, is_active; // a persistent one is inactive between its runs
    bool is_cancelled;
    bool is_quiet;        // nobody will ask: freed when done (MPI_Request_free before the end)
    int error;            // of the operation: an error code
    int source, tag;      // for the status
    MPI_Count bytes;      // received
    struct comm *comm;    // with a reference; NULL: none
    const struct request_class *class;
    // When it is done (also in a handler of a message, so: short, and no waiting).
    void (*on_done)(struct request *r, void *arg);
    void *on_done_arg;
};

static inline struct request *request_of(MPI_Request h)
{
    return object_at(h, OBJECT_REQUEST);
}

// size >= sizeof (struct request), zeroed past it. NULL: no memory.
void *request_new(size_t size, enum request_kind kind, struct comm *comm,
                  const struct request_class *class);
void request_keep(struct request *r);
void request_drop(struct request *r);

static inline bool request_is_done(const struct request *r)
{
    return atomic_load_explicit(&r->done, memory_order_acquire);
}

void request_complete(struct request *r); // once; error, bytes and so on are set before

// A request that is done from the start, for MPI_PROC_NULL and the like: shared, with an empty
// status (source MPI_PROC_NULL when `proc_null`).
struct request *request_done(bool proc_null);

// ---- Progress
extern _Atomic uint64_t request_activity;

// Moves everything that can be moved, without waiting; true when something was.
bool progress(void);

// Called in every progress while active: advances what no message advances (schedules of
// collectives, transfers that end by themselves). Returns true when it did something.
struct progress_hook {
    bool (*fn)(struct progress_hook *hook);
    struct progress_hook *next, **link; // in the list, NULL: not
};
void progress_add(struct progress_hook *hook);
void progress_remove(struct progress_hook *hook); // also from within fn

// In a loop around a test of anything that a completion or a hook changes.
//     struct idle idle = idle_start();
//     while (!condition)
//         idle_step(&idle);
struct idle {
    uint64_t seen;
    uint32_t steps;
};
struct idle idle_start(void);
void idle_step(struct idle *idle);

static inline void request_wait(struct request *r) // until it is done; takes no reference
{
    if (likely(request_is_done(r)))
        return;
    struct idle idle = idle_start();
    while (!request_is_done(r))
        idle_step(&idle);
}

// What MPI_Wait does with a done request: fills the status (may be MPI_STATUS_IGNORE), frees it or
// makes it inactive and sets *handle. Returns the request's error, which has not been raised.
int request_collect(struct request *r, MPI_Request *handle, MPI_Status *status);

// ---- Status
void status_set(MPI_Status *status, int source, int tag, int error, MPI_Count bytes,
                bool cancelled); // status may be MPI_STATUS_IGNORE
void status_empty(MPI_Status *status);
MPI_Count status_bytes(const MPI_Status *status);
void status_set_bytes(MPI_Status *status, MPI_Count bytes);

#endif
