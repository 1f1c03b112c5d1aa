// SPDX-License-Identifier: BSD-3-Clause
// Requests: what is under way, and how a call waits for it.
//
// A request is done when its word `done` is not 0; whoever completes it fills in the result first
// and then stores the word (release). Every completion also counts up the activity of its thread's
// part; where threads sleep, that of part 0 too, the one word that all of the process sleep on.
#ifndef SHOAL_MPI_REQUEST_H
#define SHOAL_MPI_REQUEST_H

#include "agent.h"
#include "comm.h"
#include "settings.h"
#include "type.h"

#include <shoal.h>

#include <string.h>

enum request_kind {
    REQUEST_SEND,
    REQUEST_RECV,
    REQUEST_COLL,
    REQUEST_GENERALIZED,
    REQUEST_PARTITIONED,
    REQUEST_PLAIN, // done by whatever made it
};

// Memory of requests of these many bytes, those of messages and of collectives, is kept for the next ones.
enum { REQUEST_SHORT = 384, REQUEST_LONG = 1920 };
enum request_pool_of { POOL_NONE, POOL_SHORT, POOL_LONG, POOLS };

struct request;
struct win;
typedef void request_then_fn(struct request *r, void *arg);

// What a kind of request can do beyond being waited for. NULL, of a member: nothing to do.
struct request_class {
    int (*start)(struct request *r);    // persistent: MPI_Start
    int (*cancel)(struct request *r);   // done or not; an error code
    int (*give_up)(struct request *r);  // there is no handle any more; an error code
    void (*release)(struct request *r); // the last reference is gone: what belongs to it
    int (*finish)(struct request *r);   // before a done request is reported: fills its status
    void (*tell)(const struct request *r); // what who waits for it waits for; NULL: a request
    // Where its errors are raised; NULL: on its communicator.
    struct win *(*window)(struct request *r);
};

struct request {
    struct object head;
    _Atomic uint32_t done;
    uint8_t kind;                  // enum request_kind
    bool is_persistent, is_active; // a persistent one is inactive between its runs
    bool is_cancelled;
    bool is_held; // what completes it has a reference, given back then
    uint8_t pool; // enum request_pool_of
    bool is_attended; // what completes it needs this process, or its agent
    int error;         // of the operation: an error code
    int source, tag;   // for the status
    MPI_Count bytes;   // received
    struct comm *comm; // with a reference; NULL: none
    const struct request_class *class;
    request_then_fn *_Atomic then; // see request_then
    void *then_arg;
};

extern const struct request_class request_plain; // nothing at all

static inline struct request *request_of(MPI_Request h)
{
    return object_at(h, OBJECT_REQUEST);
}

struct free_request {
    struct free_request *next;
};
enum { REQUESTS_KEPT = 256 }; // of a part at most: threads may make requests that others end

HIDDEN extern struct request_pool {
    _Alignas(64) struct free_request *first[POOLS];
    int n[POOLS];
} request_pools[SHIM_PARTS]; // SHIM_SHARED's is always empty

void *request_memory(size_t size); // malloc, or the end

// Its bytes without anything in them, for request_init.
static inline void *request_take(enum request_pool_of pool)
{
    struct request_pool *p = &request_pools[shim_part()];
    struct free_request *r = p->first[pool];
    if (unlikely(!r))
        return request_memory(pool == POOL_SHORT ? REQUEST_SHORT : REQUEST_LONG);
    p->first[pool] = r->next;
    p->n[pool]--;
    return r;
}

// size >= sizeof (struct request), zeroed past it, with one reference.
void *request_new(size_t size, enum request_kind kind, struct comm *comm,
                  const struct request_class *class);
void request_end(struct request *r);
// Where a done request's errors are raised: its window, its communicator or, NULL, neither; also where it
// cannot have any. With a reference, as the request may have had the last one.
struct request_place {
    struct comm *comm;
    struct win *win;
    int source, tag; // of a message that was received; source MPI_UNDEFINED: of none
};
struct request_place request_place(struct request *r);
void request_leave(struct request_place place);
// And leave it.
int request_raise(const char *call, struct request_place place, int error);
// So many of several that were ended together, the first of which failed with that.
int request_raise_many(const char *call, struct request_place place, int errors, int first);

// None is predefined: all count their references.
static inline void request_keep(struct request *r)
{
    object_count(&r->head.refs, 1);
}

static inline void request_drop(struct request *r)
{
    // Who has the last one needs no atomic operation: there is nobody who could count it up. Acquire: what
    // all others did with it.
    if (atomic_load_explicit(&r->head.refs, memory_order_acquire) == 1 ||
        object_count(&r->head.refs, -1) == 1)
        request_end(r);
}

// Takes a reference to comm.
static inline void request_init(struct request *r, enum request_kind kind, struct comm *comm,
                                const struct request_class *class, enum request_pool_of pool)
{
    *r = (struct request){.head.magic = OBJECT_REQUEST,
                          .head.refs = 1,
                          .kind = (uint8_t)kind,
                          .is_active = true,
                          .pool = (uint8_t)pool,
                          .source = MPI_ANY_SOURCE,
                          .tag = MPI_ANY_TAG,
                          .comm = comm,
                          .class = class};
    if (comm)
        object_keep(comm);
}

static inline bool request_is_done(const struct request *r)
{
    return atomic_load_explicit(&r->done, memory_order_acquire);
}

// A persistent one begins a new run.
void request_restart(struct request *r);
// fn(r, arg) is called when r is complete: by what completes it, just before it is done (also in a
// handler of a message, so: short, and no waiting), or now if it is. Once for a request.
void request_then(struct request *r, request_then_fn *fn, void *arg);
bool request_is_crowded(void); // the node has fewer cores than processes
// Of a new one, or one that begins a new run: if it is not done soon it is seen to while the program computes,
// where several threads may be in the library.
static inline void request_attend(struct request *r)
{
    if (!shim_threads || !shim_settings.hint)
        return;
    r->is_attended = true;
    agent_want();
}

int request_up(void);
void request_down(void);

// A request that is done from the start, for MPI_PROC_NULL and the like: shared, with an empty
// status (source MPI_PROC_NULL when `proc_null`).
struct request *request_done(bool proc_null);
// The same for a message that may have been kept, to leave with others: it leaves when this is reported.
struct request *request_gathered(void);

// ---- Progress
HIDDEN extern struct request_activity {
    _Alignas(64) _Atomic uint64_t n;
} request_activity[SHIM_PARTS];
void request_wake(void);

// Something changed that a waiting thread may look for.
static inline void request_count_activity(void)
{
    if (unlikely(shim_threads)) {
        request_wake();
        return;
    }
    uint64_t n = atomic_load_explicit(&request_activity->n, memory_order_relaxed);
    atomic_store_explicit(&request_activity->n, n + 1, memory_order_release);
}

void request_run_then(struct request *r);

// Once; error, bytes and so on are set before.
static inline void request_complete(struct request *r)
{
    bool is_held = r->is_held;
    if (is_held && unlikely(shim_threads || atomic_load_explicit(&r->then, memory_order_relaxed)))
        request_run_then(r);
    // Pairs with the acquire load in request_is_done. Nothing of r may be touched after it unless
    // the reference of what completes it keeps it.
    atomic_store_explicit(&r->done, 1, memory_order_release);
    request_count_activity();
    if (is_held)
        request_drop(r);
}

// Moves everything that can be moved, without waiting; true when something was.
bool progress(void);

// Called in every progress while active: advances what no message advances (schedules of
// collectives, transfers that end by themselves). Returns true when it did something.
struct progress_hook {
    bool (*fn)(struct progress_hook *hook); // by one thread at a time; others run other hooks
    bool is_brief;        // it waits for a process that is at work: nobody sleeps meanwhile
    bool is_running;      // by a thread: the list's
    struct progress_hook *next, **link;
};
void progress_add(struct progress_hook *hook);
void progress_remove(struct progress_hook *hook); // with threads, from within its fn only
HIDDEN extern _Atomic int progress_hooks;         // how many there are
// How often a call that waits for one message alone looks again before it does more than look.
HIDDEN extern unsigned request_looks;
bool progress_sleeps(void);    // a thread waits that is woken when there is something to do
bool progress_may_sleep(void); // for a hook: this thread waits, and may have slept since its last look

// For calls that look and return, done or not (MPI_Test, MPI_Iprobe). A thread that calls them over
// and over gives its core away now and then, soon where there are fewer cores than PEs: what it
// looks for may be another PE's work. False: nothing came, so what it looks for is as it was.
bool progress_look(void);

// In a loop around a test of anything that a completion or a hook changes.
//     struct idle idle = idle_start("MPI_Waitany");
//     while (!condition)
//         idle_step(&idle);
struct idle {
    uint64_t seen;
    uint32_t steps, looks;
    bool is_near; // for what a process of this node does: the network is looked at now and then
    const struct request *request; // that it waits for; NULL: it is said in words,
    const char *what;              // for those who look where this process is (shoal_waits)
};
struct idle idle_start(const char *what);
void idle_step(struct idle *idle);

void request_wait(struct request *r); // until it is done; takes no reference
void request_wait_for(struct request *r, bool is_near);

// ---- Status: 64 bits of count and a mark are kept in the library's part. MPI_ERROR is set by calls that
// return MPI_ERR_IN_STATUS only.
struct status_inner {
    int64_t bytes;
    int32_t is_cancelled;
};

// status may be MPI_STATUS_IGNORE, here and below.
static inline void status_set(MPI_Status *status, int source, int tag, MPI_Count bytes,
                              bool cancelled)
{
    if (status == MPI_STATUS_IGNORE)
        return;
    struct status_inner inner = {.bytes = bytes, .is_cancelled = cancelled};
    status->MPI_SOURCE = source;
    status->MPI_TAG = tag;
    memcpy(status->MPI_internal, &inner, sizeof inner);
}

void status_empty(MPI_Status *status);
MPI_Count status_bytes(const MPI_Status *status);
bool status_is_cancelled(const MPI_Status *status);

// ---- The end of a request
// What MPI_Request_free does, done or not; an error code, which has not been raised.
static inline int request_give_up(struct request *r, MPI_Request *handle)
{
    int error = r->class->give_up ? r->class->give_up(r) : MPI_SUCCESS;
    *handle = MPI_REQUEST_NULL;
    request_drop(r);
    return error;
}

// Of a done one, to the status; its error.
static inline int request_report(struct request *r, MPI_Status *status)
{
    int error = r->class->finish ? r->class->finish(r) : r->error;
    status_set(status, r->source, r->tag, r->bytes, r->is_cancelled);
    return error;
}

int request_collect_persistent(struct request *r, MPI_Status *status);
// request_collect, which follows, and raises the error.
int request_collect_or_raise(const char *call, struct request *r, MPI_Request *handle,
                             MPI_Status *status);

// What MPI_Wait does with a done request: fills the status, frees it or makes it inactive and sets
// *handle. Returns the request's error, which has not been raised.
static inline int request_collect(struct request *r, MPI_Request *handle, MPI_Status *status)
{
    if (unlikely(r->is_persistent))
        return request_collect_persistent(r, status);
    int error = request_report(r, status), last = request_give_up(r, handle);
    return last ? last : error;
}

#endif
