// SPDX-License-Identifier: BSD-3-Clause
// Shoal's own interface: regions, transfers with completion, counting events, triggered operations,
// active messages, nonblocking collectives. For implementers of languages and libraries; a program
// may mix it with shmem.h, whose teams it uses.
//
// What holds for every call unless it says otherwise
//   - It returns 0 (SHOAL_OK) or a negative SHOAL_E* code, and sets its outputs only on success. A
//     wrong argument is an error code, never the end of the program.
//   - It may be called by any thread at any time between shoal_init and shoal_finalize (shoal_threads).
//   - A call that waits runs the handlers of active messages that arrive meanwhile.
//   - Sizes and offsets are in bytes, PE numbers are those of SHMEM_TEAM_WORLD.
// The ideas follow Portals 4 (counting events, triggered operations), GASNet-EX (active messages)
// and libfabric (deferred work).
#ifndef SHOAL_H
#define SHOAL_H

#include <shmem.h>
#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

// ---- Errors
#define SHOAL_OK 0
#define SHOAL_EINVAL (-1)   // an argument is out of its range
#define SHOAL_ENOMEM (-2)   // no memory, or a table is full
#define SHOAL_EKEY (-3)     // a key or remote pointer is forged, or its region is gone
#define SHOAL_ERANGE (-4)   // the bytes named reach beyond their region
#define SHOAL_ELATE (-5)    // too late: the trigger has been released
#define SHOAL_EINIT (-6)    // the library is not up, or this is a child of a PE
#define SHOAL_ECANCELED (-7)
#define SHOAL_EAGAIN (-8)   // nothing happened: no room now, try again
#define SHOAL_EFAULT (-9)   // private memory of another PE could not be read or written

const char *shoal_strerror(int error); // never NULL

// ---- Life
// Initialization is counted: the first of shoal_init and shmem_init on a PE is collective over all
// PEs, as is the last of shoal_finalize and shmem_finalize; in between they return at once, but for
// shmem_finalize, which is a barrier. Legal in constructors, before main. The last one frees counters that are
// left, with what is armed on them.
int shoal_init(void);
int shoal_finalize(void);
// For a layer that is done while the program's OpenSHMEM is not: its state and handlers stay, as others may
// be behind and send to it, and fn() is called by what ends the last use of OpenSHMEM, to take them down and
// call shoal_finalize. SHOAL_EAGAIN: OpenSHMEM is not in use, so the layer can end now. One fn at a time.
int shoal_finalize_after(void (*fn)(void));

// For a layer whose program waits: what for, to be shown where the launcher says where PEs are (a death,
// oshrun --timeout): "in <what> PE <pe> (tag <tag>)", each of which may be -1, and left out then. Up to 35 bytes.
// Of the thread that initialized the library alone; NULL: it goes on.
void shoal_waits(const char *what, int pe, int tag);

// For a layer that programs have to finalize: by this call. A PE of several that exits before it, also with
// status 0, says so and has failed, which ends the job. NULL: it has been called.
void shoal_finalized_by(const char *call);

// For a thread of a layer's own that makes progress for the program: it does not end the process when the job
// ends, nor runs the hook; the program's threads do, or the launcher.
void shoal_thread_apart(void);

// How threads of the program come into the library from now on: at any time (MANY), as after shoal_init,
// or one at a time, each after what the one before did (ONE). Then messages within a node need no locks,
// also where the program has threads, or the library has one (for the network). Only who has initialised
// the library alone can promise it. The next shoal_init or shmem_init ends the promise for good; no other
// thread may be in a call then. Not in a handler.
enum { SHOAL_THREADS_MANY, SHOAL_THREADS_ONE };
int shoal_threads(int how); // SHOAL_EINVAL, SHOAL_EINIT

// What shoal_query tells; those marked (pe) about the PE given, others ignore it.
enum {
    SHOAL_Q_PE,         // this PE's number
    SHOAL_Q_NPES,       // PEs in the job
    SHOAL_Q_DIRECT,     // (pe) 1: its shared memory is reached by load and store
    SHOAL_Q_PRIVATE,    // (pe) 1: its private memory is reached without its help (process_vm_*)
    SHOAL_Q_STATUS,     // (pe) SHOAL_PE_*
    SHOAL_Q_PROGRESS,   // (pe) bits of SHOAL_PROGRESS_*: what needs that PE to be in the library
    SHOAL_Q_AM_MAX,     // bytes of payload of a short or medium active message
    SHOAL_Q_AM_INLINE,  // bytes of payload that travel in the envelope's own cache line
    SHOAL_Q_COUNTERS,   // counters a PE can have
    SHOAL_Q_KEY_SIZE,   // sizeof (shoal_key_t)
    SHOAL_Q_COLL_SHORT, // bytes that a member contributes to a collective of shoal_coll_short
    SHOAL_Q_AM_MAX_TO,  // (pe) SHOAL_Q_AM_MAX of messages to that PE: more to one of another node
    SHOAL_Q_SENT_INBOX, // messages this PE has sent, its own and the runtime's: to inboxes that all share,
    SHOAL_Q_SENT_RING,  // through rings that belong to a pair of PEs (SHOAL_RING_AFTER),
    SHOAL_Q_SENT_FAR,   // and to other nodes
    SHOAL_Q_CROWDED,    // 1: this node's PEs are more than the cores that they may use together
    SHOAL_Q_BESIDE,     // 1: they are not, but another one was on this PE's core when it waited last
    SHOAL_Q_GATHERED,   // (pe) bytes of a put to that PE that goes with others (SHOAL_COALESCE); of its node: 0
    SHOAL_Q_NODE,       // (pe) the number of its node, from 0 on
    SHOAL_Q_COUNT_
};
enum { SHOAL_PE_STARTING, SHOAL_PE_RUNNING, SHOAL_PE_FINALIZED, SHOAL_PE_GONE };
enum {
    SHOAL_PROGRESS_NONE = 0,
    SHOAL_PROGRESS_AM = 1,      // active messages run when that PE progresses
    SHOAL_PROGRESS_PRIVATE = 2, // so do transfers to and from its private memory
    SHOAL_PROGRESS_RMA = 4,     // so do all transfers
    SHOAL_PROGRESS_ATOMIC = 8,  // so do atomics and accumulates on its private memory
};
int shoal_query(int what, int pe, uint64_t *value);

// Ends the job: every PE exits with this code, one line says the message and who said it.
void shoal_abort(int code, const char *message);

// Runs what has arrived, without blocking. The number of messages handled, the library's own among
// them, or an error. While there is something from this node to be handled, not every call looks at the
// network.
int shoal_progress(void);
// Runs what has arrived, and does nothing else: it neither moves the network, which takes longer than all
// the rest, nor notices the end of PEs. For one who waits for a PE of this node, and calls shoal_progress
// now and then.
int shoal_progress_near(void);

// A library above this one that has work of its own to move: fn() is called again and again by every
// call that waits, of this interface and of OpenSHMEM, in the thread that waits, and says whether it
// did something (> 0). It may call everything here but what waits for more than room for a message, and
// is not called again within itself; several threads that wait may be in it at once.
// One hook; NULL: none.
typedef int shoal_hook_fn(void);
int shoal_progress_hook(shoal_hook_fn *fn);

// fn(pe, arg) runs, once per PE, in a thread that is waiting or in shoal_progress, when that PE is
// found dead before the launcher ends the job; NULL: none.
typedef void shoal_fail_fn(int pe, void *arg);
int shoal_fail_watch(shoal_fail_fn *fn, void *arg);

// ---- Memory
// Remote memory: a place at a PE. Made by the calls below; a program does not look inside.
typedef struct shoal_rptr {
    uint64_t offset;
    uint64_t stamp;
    int32_t pe;
    uint32_t region;
} shoal_rptr_t;

// A region's name in fixed size, to be carried to other PEs by any means.
typedef struct shoal_key {
    unsigned char bytes[32];
} shoal_key_t;

typedef struct shoal_region *shoal_region_t;

// Memory of this PE alone that all others reach by load and store on a node. Not collective. NULL:
// there is none left. Aligned to 64 bytes.
void *shoal_alloc(size_t size);
int shoal_free(void *ptr);

// Makes any memory reachable: [base, base + size) must stay mapped until shoal_region_deregister (else
// its use from this node is SHOAL_EFAULT, and from another one may never end, or end the owner),
// after which every use of a pointer made from its key is SHOAL_EKEY.
int shoal_region_register(void *base, size_t size, shoal_region_t *region);
// The same of memory that surely stays mapped until then, as that of a message does: where processors do what the
// network asks for, it is not watched meanwhile (which costs two system calls, and lets mremap fail).
int shoal_region_lend(void *base, size_t size, shoal_region_t *region);
int shoal_region_deregister(shoal_region_t region);
int shoal_region_key(shoal_region_t region, shoal_key_t *key);

// The place `offset` bytes into the region of key. SHOAL_EKEY: forged or stale, as far as it can be
// seen on this node: a region of another node is looked up when the pointer is used. SHOAL_ERANGE.
int shoal_rptr(const shoal_key_t *key, uint64_t offset, shoal_rptr_t *rptr);
// The same for an address as it is at the region's owner.
int shoal_rptr_va(const shoal_key_t *key, uint64_t va, shoal_rptr_t *rptr);
// The place `offset` bytes into a region of this PE, for whom it is lent to: that one gives it up before the
// region ends. From another node it takes less time to use: nobody looks there whether the region is still
// meant, once it is known (else a use is as above, after its end).
int shoal_rptr_lent(shoal_region_t region, uint64_t offset, shoal_rptr_t *rptr);
// A symmetric object at PE pe; no key needed.
int shoal_rptr_symmetric(const void *addr, int pe, shoal_rptr_t *rptr);
// A place in memory of this PE that others may be given: symmetric, or from shoal_alloc.
int shoal_rptr_own(const void *addr, shoal_rptr_t *rptr);
// A place in other memory of this PE, for those of its node, who get SHOAL_EKEY elsewhere: without a region,
// which takes less time than to register one. Nobody looks whether it is still meant: what is used must
// be mapped (else SHOAL_EFAULT, or where SHOAL_Q_PRIVATE is 0 the end of this PE).
int shoal_rptr_private(const void *addr, shoal_rptr_t *rptr);
static inline shoal_rptr_t shoal_rptr_add(shoal_rptr_t rptr, ptrdiff_t bytes)
{
    rptr.offset += (uint64_t)bytes;
    return rptr;
}

// The address here of n bytes of remote memory, or NULL when load and store do not reach it.
void *shoal_direct(shoal_rptr_t rptr, size_t n);

// ---- Counting events
// A counter belongs to one PE and is numbered; allocated over a team it has the same number on
// every member. 0 is no counter.
typedef uint32_t shoal_ct_t;
#define SHOAL_CT_NONE 0u

typedef struct shoal_ct_value {
    uint64_t success, failure;
} shoal_ct_value_t;

// team SHMEM_TEAM_INVALID: for this PE alone; else collective over the team. Starts at {0, 0}.
int shoal_ct_alloc(shmem_team_t team, shoal_ct_t *ct);
// Cancels what is armed on it. With a team: collective, synchronizes.
int shoal_ct_free(shmem_team_t team, shoal_ct_t ct);
// Own counter's value; NULL: no such counter. Loads from it are as cheap as any, and may be relaxed;
// only shoal_ct_get orders what was written before the count (acquire).
const shoal_ct_value_t *shoal_ct_at(shoal_ct_t ct);
int shoal_ct_get(shoal_ct_t ct, shoal_ct_value_t *value);
// PE pe's counter of that number. Earlier transfers of this thread to pe are visible to whoever sees
// the new value. set is for when nobody counts: it writes the two numbers one after the other, and
// whoever looks meanwhile may take one of them as it was.
int shoal_ct_inc(int pe, shoal_ct_t ct, shoal_ct_value_t by);
int shoal_ct_set(int pe, shoal_ct_t ct, shoal_ct_value_t to);
// The first of n own counters with success + failure >= its threshold: its index. test returns
// SHOAL_EAGAIN when there is none; wait sleeps until there is one.
int shoal_ct_test(size_t n, const shoal_ct_t ct[], const uint64_t threshold[], size_t *index);
int shoal_ct_wait(size_t n, const shoal_ct_t ct[], const uint64_t threshold[], size_t *index);

// ---- Completion of transfers
// An event belongs to the caller and to one operation at a time: start it as {0}.
typedef struct shoal_event {
    uint64_t *word; // done when *word >= least; NULL: done
    uint64_t least;
    int status;     // of the operation, when done
    void *more;     // what ends with it
} shoal_event_t;

// How many of the events are done, and which (indices may be NULL, else has room for n). wait
// returns when `least` of them are (n: all; 1: any). A NULL in the array counts as done.
int shoal_test(size_t n, shoal_event_t *const event[], size_t *done, size_t indices[]);
int shoal_wait(size_t n, shoal_event_t *const event[], size_t least, size_t *done,
               size_t indices[]);
// All operations of this PE to pe (-1: to every PE) that were given no event are complete there.
int shoal_quiet(int pe);

// Element types and operators, for atomics, accumulate, reductions.
#define SHOAL_TYPES(X)                                                                         \
    X(INT8, int8_t) X(INT16, int16_t) X(INT32, int32_t) X(INT64, int64_t) X(UINT8, uint8_t)    \
    X(UINT16, uint16_t) X(UINT32, uint32_t) X(UINT64, uint64_t) X(FLOAT, float)                \
    X(DOUBLE, double) X(LONG_DOUBLE, long double) X(COMPLEX_FLOAT, shoal_complexf)             \
    X(COMPLEX_DOUBLE, shoal_complexd)
#define SHOAL_TYPE_NAME(name, type) SHOAL_##name,
typedef enum shoal_type { SHOAL_TYPES(SHOAL_TYPE_NAME) SHOAL_TYPE_COUNT } shoal_type_t;
#undef SHOAL_TYPE_NAME
// MIN and MAX not for complex types; AND, OR, XOR for integers. SET and NOOP (the old value alone)
// for all. CSWAP in shoal_atomic only. SHOAL_OP_USER + k: operator k of shoal_op_register.
typedef enum shoal_op {
    SHOAL_SUM, SHOAL_PROD, SHOAL_MIN, SHOAL_MAX, SHOAL_AND, SHOAL_OR, SHOAL_XOR,
    SHOAL_SET, SHOAL_NOOP, SHOAL_CSWAP, SHOAL_OP_COUNT,
    SHOAL_OP_USER = 64
} shoal_op_t;

// acc[i] = in[i] op acc[i], n elements; `in` comes from the member with the lower number, so
// operators need not commute. Register the same operator under the same number (0 to 63) on every
// PE, before any PE uses it.
typedef void shoal_op_fn(void *acc, const void *in, size_t n, void *user);
int shoal_op_register(int number, shoal_op_fn *fn, void *user, size_t element_size);

// What else happens when a transfer is complete at its target, in this order: the signal, the
// target's counter (a counter of rptr.pe), the message to the target, this PE's counter. {0}: none.
typedef struct shoal_comp {
    shoal_ct_t initiator_ct;
    shoal_ct_t target_ct;
    const shoal_rptr_t *signal; // an aligned 64-bit word at the target's PE; NULL: none
    uint64_t signal_value;
    int signal_op;              // SHMEM_SIGNAL_SET or SHMEM_SIGNAL_ADD
    int am_id;                  // active message to the target's PE without payload; 0: none
    uint64_t am_arg;
} shoal_comp_t;

// ---- Transfers. comp and event may be NULL; without an event shoal_quiet completes them. Sources
// may be reused and destinations read when the event is done. Those to other nodes with an event and
// no comp return at once; what only the target can tell (SHOAL_EKEY, SHOAL_EFAULT) is then the event's
// status. Puts to other nodes of up to SHOAL_Q_GATHERED bytes, or with a signal and no more in comp, return at
// once without an event too, but for those to memory of a region: their source is free then; messages,
// counters, atomics and accumulates of this thread come after them, and a get may not see them before
// shoal_quiet. (Their signal may come before what has an event and is not done yet.) Atomics and
// accumulates of one thread at a PE take effect in the order of the calls, those of
// elements of more than 8 bytes and those under a lock (shoal_accv_locked) excepted.
int shoal_put(shoal_rptr_t to, const void *from, size_t n, const shoal_comp_t *comp,
              shoal_event_t *event);
int shoal_get(void *to, shoal_rptr_t from, size_t n, const shoal_comp_t *comp,
              shoal_event_t *event);

// Strided: blocks of count[0] bytes; dimension i (1 to levels) repeats count[i] times at distances
// of stride[i - 1] bytes, which may be negative.
#define SHOAL_MAX_LEVELS 8
int shoal_puts(shoal_rptr_t to, const ptrdiff_t to_stride[], const void *from,
               const ptrdiff_t from_stride[], const size_t count[], int levels,
               const shoal_comp_t *comp, shoal_event_t *event);
int shoal_gets(void *to, const ptrdiff_t to_stride[], shoal_rptr_t from,
               const ptrdiff_t from_stride[], const size_t count[], int levels,
               const shoal_comp_t *comp, shoal_event_t *event);

// Vectors: parts in any order, all at one PE.
typedef struct shoal_part {
    shoal_rptr_t remote;
    void *local;
    size_t n;
} shoal_part_t;
int shoal_putv(const shoal_part_t part[], size_t parts, const shoal_comp_t *comp,
               shoal_event_t *event);
int shoal_getv(const shoal_part_t part[], size_t parts, const shoal_comp_t *comp,
               shoal_event_t *event);

// What these do with memory that is mapped here, for a layer's own copies: memcpy, but where the processor
// has a faster way, or the C library a slow one (AMD's Zen 3 and 4: much too slow from 2 KB on where to is
// less than 64 bytes further in its page than from). The two do not overlap.
void shoal_copy(void *to, const void *from, size_t n);
// The same, of what the caches would not hold until it is used, or of a part of that, at any length: past
// them, where the processor can (x86-64), which saves reading first what will be overwritten.
void shoal_copy_streaming(void *to, const void *from, size_t n);

// One element: *at = *at op *a. CSWAP: *at = *a if *at == *b. fetch (may be NULL) gets the old value.
// Types of up to 8 bytes. Atomic against all other calls of this interface and of OpenSHMEM.
int shoal_atomic(shoal_rptr_t at, shoal_op_t op, shoal_type_t type, const void *a, const void *b,
                 void *fetch, const shoal_comp_t *comp, shoal_event_t *event);

// to[i] = to[i] op (scale * from[i]), element by element, each atomic against other accumulates and,
// up to 8 bytes, against atomics. scale: one element, or NULL for none (SUM only). Strides as above,
// count[0] in bytes, all multiples of the element's size.
int shoal_acc(shoal_rptr_t to, const ptrdiff_t to_stride[], const void *from,
              const ptrdiff_t from_stride[], const size_t count[], int levels, shoal_op_t op,
              shoal_type_t type, const void *scale, const shoal_comp_t *comp,
              shoal_event_t *event);

// The same of n elements of up to 8 bytes in a row, each atomic against all, with their old values:
// old[i] = to[i], to[i] = to[i] op in[i]. in may be NULL for NOOP. To another node it is one message
// there and one back, where shoal_atomic takes these for every element.
int shoal_fetch_acc(shoal_rptr_t to, const void *in, void *old, size_t n, shoal_op_t op,
                    shoal_type_t type, const shoal_comp_t *comp, shoal_event_t *event);

// Of parts, all at one PE, whole elements each: remote[i] = remote[i] op local[i], as in shoal_acc; elements
// of up to 8 bytes in the order of the parts. old may be NULL; else it gets the old values, one part's after
// the other's, as in shoal_fetch_acc (elements of up to 8 bytes). Short parts to another node go many to a
// message.
int shoal_accv(const shoal_part_t part[], size_t parts, void *old, shoal_op_t op, shoal_type_t type,
               const shoal_comp_t *comp, shoal_event_t *event);

// The same of elements of up to 8 bytes at a PE of another node, which holds the 64-bit word at `lock` meanwhile: it is
// 0, and 1 for that time. Whoever changes the elements without being atomic holds it too, by a CSWAP from 0 to 1.
// `lock`: of the same PE, in memory that its node shares (shoal_alloc, the symmetric heap). Those of one PE under one
// word are done in their order; a long one takes several messages, and the word once for each. Not by who holds the
// word: the call may wait for it, with an event, too. SHOAL_EINVAL for a PE of this node, where the caller takes the
// word itself.
int shoal_accv_locked(shoal_rptr_t lock, const shoal_part_t part[], size_t parts, void *old,
                      shoal_op_t op, shoal_type_t type, shoal_event_t *event);

// ---- Triggered operations
enum {
    SHOAL_WORK_PUT = 1, // remote, local, n
    SHOAL_WORK_GET,     // remote, local, n
    SHOAL_WORK_ATOMIC,  // remote; op, type, a, b; local: the old value's place, or NULL
    SHOAL_WORK_REDUCE,  // local = local2 op local, n elements of type, all at this PE
    SHOAL_WORK_AM,      // pe; am_id, a: its argument; local, n: payload
    SHOAL_WORK_CT_INC,  // pe, ct, value
    SHOAL_WORK_CT_SET,
};
typedef struct shoal_work {
    int kind;
    int pe;
    shoal_rptr_t remote;
    void *local;
    const void *local2;
    size_t n;
    shoal_op_t op;
    shoal_type_t type;
    uint64_t a, b; // operands of an atomic, in the low bytes
    int am_id;
    shoal_ct_t ct;
    shoal_ct_value_t value;
    shoal_comp_t comp;
} shoal_work_t;

typedef uint64_t shoal_trigger_t; // 0: none

// Arms: when success + failure of this PE's counter ct reaches threshold, the work is run, by
// whoever makes it so; at once when it has. The work is copied; its buffers are read at release and
// must stay until done_ct (may be SHOAL_CT_NONE) has counted it: success, or failure when it could
// not be done. Works of one threshold are run in the order they were armed. handle may be NULL.
int shoal_trigger(const shoal_work_t *work, shoal_ct_t ct, uint64_t threshold, shoal_ct_t done_ct,
                  shoal_trigger_t *handle);
// SHOAL_ELATE: it was released before. A cancelled work is not counted.
int shoal_trigger_cancel(shoal_trigger_t handle);
// Everything armed on an own counter; how many those were.
int shoal_ct_cancel(shoal_ct_t ct, size_t *cancelled);

// ---- Active messages
typedef struct shoal_am {
    int from;            // PE
    int id;
    uint64_t arg;
    const void *payload; // until the handler returns; of a long message, where it was put
    size_t n;
    void *user;          // as registered
    int is_reply;
} shoal_am_t;
typedef void shoal_am_fn(const shoal_am_t *am);

// Handler of messages with this id (1 to 255); messages that come before are kept. Handlers run in
// the thread that progresses, one at a time; between a pair of PEs in the order of the requests. A
// handler may call everything here that does not wait, and may reply.
int shoal_am_register(int id, shoal_am_fn *fn, void *user);
// Short and medium: payload of up to SHOAL_Q_AM_MAX_TO bytes, copied. May wait for room; handles own
// messages that have come.
int shoal_am_request(int pe, int id, uint64_t arg, const void *payload, size_t n);
// The same, but SHOAL_EAGAIN instead of waiting: then nothing was sent. A message to another node that is
// longer than one of the network's has begun to leave when there was room for its beginning; then the call
// returns when the network has taken all of it, and runs no handler meanwhile.
int shoal_am_try(int pe, int id, uint64_t arg, const void *payload, size_t n);
// As shoal_am_try, for one of many: to another node, messages of up to 4096 bytes that follow
// another one closely, or puts that are gathered, are kept and leave together: when this PE waits, tests,
// progresses or sends otherwise to the same PE, when shoal_am_push says so, and within half a millisecond
// when it computes.
int shoal_am_gather(int pe, int id, uint64_t arg, const void *payload, size_t n);
int shoal_am_push(void); // what is kept leaves, as far as it can now; waits for nothing
// Long: the payload is put to `to` first; the handler is given its address there.
int shoal_am_request_long(int id, uint64_t arg, const void *payload, size_t n, shoal_rptr_t to);
// From a handler, to the sender of the message.
int shoal_am_reply(const shoal_am_t *am, int id, uint64_t arg, const void *payload, size_t n);
int shoal_am_reply_long(const shoal_am_t *am, int id, uint64_t arg, const void *payload, size_t n,
                        shoal_rptr_t to);
// The payload, up to SHOAL_Q_AM_MAX bytes, built in place: reserve gives room for n, commit sends
// that many or fewer. Commit before this thread sends to that PE again: later messages wait behind.
typedef struct shoal_am_room {
    void *payload;     // where to build it; NULL: committed
    size_t n;          // bytes of room
    uint64_t inner[8]; // the library's
} shoal_am_room_t;
int shoal_am_reserve(int pe, size_t n, shoal_am_room_t *room);
int shoal_am_commit(shoal_am_room_t *room, int id, uint64_t arg, size_t n);
// From a handler: this is what the program waits for, so what else has come the same way may stay in
// the inbox until the next call that waits or progresses.
void shoal_am_enough(void);
// Takes a request of up to SHOAL_Q_AM_MAX bytes that the program waits for to where it belongs, and its
// handler, which there has to be, is not called: the next of those that have come, if it is this one.
// SHOAL_EAGAIN: nothing has come, though it looked, and at least `more` times again; or something else is
// to be done first (shoal_progress, which handles also this message should it be the next); or it came
// another way than between PEs of a node that talk a lot; or there are other threads, were they the
// library's. (One for the network does not count where shoal_threads has said that the program's take
// turns; one that copies private memory, where the kernel does not let others do so, does.)
typedef struct shoal_am_wanted {
    int from;           // a PE, or -1: any; then the PE
    int id;
    uint64_t arg, mask; // where its arg has these bits; then its arg
    void *buf;          // its payload is copied to,
    size_t room;        // when it is no longer;
    size_t n;           // then so many bytes
} shoal_am_wanted_t;
int shoal_am_take(shoal_am_wanted_t *wanted, unsigned more);

// ---- Collectives
// A team of PEs first, first + stride, ... made by these PEs alone, who agree by means of their own:
// each says which places it has free (bit p % 64 of word p / 64), they choose one that all have, and
// each makes the team there. SHOAL_EAGAIN: another thread took the place, and all try again. A member
// uses the team when it knows that all have made it. It ends with shmem_team_destroy.
#define SHOAL_TEAM_WORDS 4
int shoal_team_places(uint64_t free_places[SHOAL_TEAM_WORDS]);
int shoal_team_make(int first, int stride, int size, int place, shmem_team_t *team);
// Gives back one that not all could make, or of which this member knows that all others have left the
// last collective: shmem_team_destroy without its barrier. Not collective, may be called in a handler.
int shoal_team_undo(shmem_team_t team);

enum {
    SHOAL_COLL_BARRIER = 1,
    SHOAL_COLL_BROADCAST,  // count elements from src at root to dst on all
    SHOAL_COLL_REDUCE,     // to dst at root
    SHOAL_COLL_ALLREDUCE,
    SHOAL_COLL_SCAN,       // inclusive
    SHOAL_COLL_EXSCAN,     // exclusive; member 0's dst is left alone
    SHOAL_COLL_GATHER,     // count elements from each to dst at root
    SHOAL_COLL_ALLGATHER,  // with counts and displacements: allgatherv
    SHOAL_COLL_ALLTOALL,   // with counts and displacements: alltoallv
    SHOAL_COLL_REDUCE_SCATTER, // count elements to each; with counts: as many to each
    SHOAL_COLL_GATHER_BEFORE,  // shoal_coll_short alone: an allgather where each gets the blocks of the
                               // members before it and its own, and waits for no other
};
// Elements are of type, or of element_size bytes when that is not 0 (then op, if any, is a user
// operator). counts and displs, where used, have an entry per member, in elements; NULL: count each,
// one after the other. alltoallv: counts and displs of src, and recv_counts, recv_displs of dst. src
// NULL: in place (dst holds the contribution, of a member of a gather that is not the root at its
// beginning). Of gathers and reduce_scatter all members give the same counts. Members are combined in their order, those of a node first: results repeat bit for bit for
// a given count and the same members on the same nodes. Users' operators are associative, and need not
// commute.
typedef struct shoal_coll {
    int kind;
    int root;
    void *dst;
    const void *src;
    size_t count;
    shoal_type_t type;
    shoal_op_t op;
    size_t element_size;
    const size_t *counts, *displs, *recv_counts, *recv_displs;
} shoal_coll_t;

// Collective over the team; every member starts its collectives on a team in one order. event NULL:
// blocks. With an event it returns at once, the buffers and arrays stay with the collective until
// the event is done; the last member to start it moves the data (in a broadcast who starts after the
// root copies its own), or, where a member's count is 64 KiB or more and it is no broadcast, those who
// wait for the event or test it, so that members that compute or sleep delay nobody. A start waits
// when the one SHOAL_COLL_DEPTH before it on the team is not done here.
#define SHOAL_COLL_DEPTH 8
int shoal_coll(shmem_team_t team, const shoal_coll_t *coll, shoal_event_t *event);
// The same for what is so short that it goes in a message's time: barriers; and in a team of one node
// broadcasts, gathers of all three kinds and all-to-alls, without counts, of which no member contributes
// more than SHOAL_Q_COLL_SHORT bytes. Blocks, on all members. SHOAL_EAGAIN on all members: it is none of
// these.
int shoal_coll_short(shmem_team_t team, const shoal_coll_t *coll);
// Persistent: prepared once (collective), started many times.
typedef struct shoal_coll_plan *shoal_coll_plan_t;
int shoal_coll_init(shmem_team_t team, const shoal_coll_t *coll, shoal_coll_plan_t *plan);
int shoal_coll_start(shoal_coll_plan_t plan, shoal_event_t *event);
int shoal_coll_free(shoal_coll_plan_t plan);

#ifdef __cplusplus
}
#endif
#endif
