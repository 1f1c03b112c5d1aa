// SPDX-License-Identifier: BSD-3-Clause
// One message on its way, at either end. How it goes:
//
//   eager       the data in one active message; the receiver copies it to where it belongs, or
//   (eager.c)   keeps a copy until it is received
//   synchronous the same, and an answer once it is matched
//
//   staged      on a node: the sender copies the data to memory that both reach, and is done; the receiver
//   (stage.c)   follows it, piece by piece:
//               RTS {the stage} ------------->  matches, copies what is there
//               copies on, counts ...........>  copies on, counts
//
//   rendezvous  sender                         receiver
//   (pull.c)    RTS {where the data is} ------>  matches, and gets the data itself
//               done  <--------------- DONE
//               where a short synchronous message is: in a copy in memory that both reach
//
//   split       of a long one on a node, both copy: the receiver gets pieces, and tells where its
//   (split.c)   buffer is (GRANT), so that a sender in the library puts others
//
//   hint        a receive that is posted first is told to its source (HINT), whose RTS says then that
//   (hint.c)    it copies, without the receiver's help:
//                           <---------------- HINT {where the buffer is}
//               RTS  ------------------------>
//               copies  .....................>  may copy other pieces
//               or, of one that is matched by a call that is about to send something, too:
//               RTS  ------------------------>  matches, and copies at its next call
//               copies if it waits longer  <---- OFFER {where the buffer is}
//
//   stream      when the sender cannot say where its data is (no room to register it):
//   (stream.c)  RTS {nowhere}   -------------->  matches
//               sends it in pieces  <-- STREAM
//               DATA DATA DATA  -------------->  copies each to its place
//
// One get moves the data once: by load from memory both can reach, by process_vm_readv from private
// memory, through a pipelined copy where the kernel forbids that, over the network between nodes;
// which one is the runtime's business. Nothing is asked of a sender that computes, but the pieces of
// a stream; of a receiver that computes, whether a send that is cancelled has been matched.
#ifndef SHOAL_MPI_TRANSFER_H
#define SHOAL_MPI_TRANSFER_H

#include "match.h"
#include "outbox.h"
#include "p2p.h"
#include "settings.h"

// Numbers of the shim's active messages; those below are the program's.
enum {
    AM_EAGER = 240,
    AM_SYNC,
    AM_RTS,
    AM_DONE,
    AM_STREAM,
    AM_DATA,
    AM_CREDIT,
    AM_CANCEL,
    AM_CANCELLED,
    AM_PARTITIONED,
    AM_GRANT,
    AM_HINT,
    AM_OFFER,
    AM_QUESTION,
    AM_WORD,
};

struct split;
struct stage;

struct transfer {
    struct request request; // first
    enum space space;
    int pe;        // of the peer; MPI_ANY_SOURCE
    int peer, tag; // as the user gave them
    enum send_mode mode;
    void *buf;
    MPI_Count count;
    struct type *type; // with a reference where the request outlives the call
    MPI_Count bytes;   // of data here: what is sent, or what there is room for
    struct posted posted;
    struct note note;
    uint64_t told; // to its source, or offered to it (hint.c): t->split's generation; 0: not so
    struct later *later; // it follows a hint in a while (hint.c); NULL: it does not
    void *copy;          // packed data, or what will be unpacked:
    bool is_shared;      // from shoal_alloc
    shoal_region_t region;
    struct split *split;
    // What follows is set by the mover that uses it.
    uint64_t other; // the peer's transfer
    MPI_Count moved;
    bool tells_done;     // that the data has been got
    bool is_counted;     // of a send: among those that are out to the partner
    _Atomic bool is_out; // the peer knows of it: its answer may come in another thread
    struct stage *stage;
    const char *data; // the sender's, where it is reached by load, and
    shoal_rptr_t from;
    shoal_event_t event;
    struct progress_hook hook;
};
#define TRANSFER(member, p) \
    ((struct transfer *)(void *)((char *)(p)-offsetof(struct transfer, member)))

void transfer_send(struct transfer *t); // completes it, now or later
void transfer_accept_rts(struct transfer *t, struct match_key key, const struct rts *rts);
// A message that was taken from the queues; frees it.
void transfer_accept(struct transfer *t, struct arrived *a);
int transfer_cancel(struct request *r);

void transfer_send_later(struct transfer *t); // what p2p_send_now did not take

int transfer_up(void);
void transfer_down(void);

// ---- What the movers share
void *transfer_memory(size_t n); // malloc, or the end
// Sends a message, now or as soon as there is room; messages to a process go in their order. Short
// ones: a copy is kept.
void transfer_tell(int pe, int id, uint64_t arg, const void *payload, size_t n);
// Of up to the partner's am_max bytes, without an order: others may be kept before it. False: there
// is no room now.
bool transfer_try(int pe, int id, uint64_t arg, const void *payload, size_t n);
void transfer_check(int pe, int status); // of what the runtime was asked to send
// An envelope, or a cancel, to this process itself: it arrives at once, in this thread. False: another.
bool transfer_to_self(int id, uint64_t address, const void *payload, size_t n);

// What a message is addressed to, in an active message's argument.
#define TAG_MASK UINT64_C(0x7fffffff)
static inline uint64_t address_of(const struct comm *comm, enum space space, int tag)
{
    return (uint64_t)comm->context << 32 | (uint64_t)space << 31 | (uint32_t)tag;
}
static inline uint32_t context_in(uint64_t address)
{
    return (uint32_t)(address >> 32);
}
static inline enum space space_in(uint64_t address)
{
    return (enum space)(address >> 31 & 1);
}
static inline int tag_in(uint64_t address)
{
    return (int)(address & TAG_MASK);
}

// The address of a transfer goes to the peer, whose answer brings it back, perhaps to another thread
// of this process: what was written here before is seen there. (The way through the peer orders them
// already; this says so to whoever sees one process only.)
static inline uint64_t transfer_out(struct transfer *t)
{
    atomic_store_explicit(&t->is_out, true, memory_order_release);
    return (uintptr_t)t;
}
static inline struct transfer *transfer_back(uint64_t address)
{
    struct transfer *t = (struct transfer *)(uintptr_t)address;
    (void)atomic_load_explicit(&t->is_out, memory_order_acquire);
    return t;
}

// Whose message it is and how much of it fits; the result says how much.
static inline MPI_Count transfer_describe(struct transfer *t, struct match_key key, MPI_Count bytes)
{
    struct request *r = &t->request;
    r->source = group_rank(r->comm->peers, key.pe);
    r->tag = key.tag;
    r->error = bytes > t->bytes ? MPI_ERR_TRUNCATE : MPI_SUCCESS;
    r->bytes = bytes > t->bytes ? t->bytes : bytes;
    t->pe = key.pe;
    return r->bytes;
}

// To the buffer; from and to count bytes of data.
static inline void transfer_place(struct transfer *t, MPI_Count from, const void *data, size_t n)
{
    if (likely(t->type->is_dense))
        shim_copy((char *)type_at(t->type, t->buf) + from, data, n);
    else
        type_unpack(t->type, t->buf, t->count, from, data, n);
}

// An envelope, in order. False, but for LEAVE_WAITING: there is no room.
static inline bool transfer_tell_next(struct partner *p, int pe, int id, uint64_t address,
                                      const void *payload, size_t n, enum leave leave)
{
    if (outbox_is_used_of(p)) {
        if (leave != LEAVE_WAITING)
            return false;
        outbox_wait(pe);
    }
    if (unlikely(p->is_self) && transfer_to_self(id, address, payload, n))
        return true;
    int status = (leave == LEAVE_WAITING    ? shoal_am_request
                  : leave == LEAVE_GATHERED ? shoal_am_gather
                                            : shoal_am_try)(pe, id, address, payload, n);
    if (unlikely(status)) {
        if (status == SHOAL_EAGAIN)
            return false;
        transfer_check(pe, status);
    }
    return true;
}

// SHOAL_MPI_KEEP: it goes through the outbox, as if there were no room.
static inline bool transfer_is_kept(enum space space, const struct partner *p, MPI_Count bytes)
{
    return unlikely(shim_settings.keep) && space == SPACE_P2P && bytes <= (MPI_Count)p->eager;
}

// The envelope of a message to this address has been sent, or given to the outbox, as the last for
// now: it gets its number (hint.c).
static inline void transfer_number(struct partner *p, uint64_t address)
{
    if (!shim_threads && space_in(address) == SPACE_P2P)
        p->recent[p->gone++ % PARTNER_RECENT] = partner_mark(address);
}

static inline bool transfer_event_is_done(shoal_event_t *e)
{
    size_t done;
    return !e->word || (shoal_test(1, &e, &done, NULL) == SHOAL_OK && done);
}

void transfer_end_send(struct transfer *t); // its data is not needed any more

// Each mover: what it sends, how it takes what was sent, its handlers (0 or SHOAL_E*).
bool eager_send_sync(struct transfer *t); // false: it must go in another way
bool eager_send_later(struct transfer *t);
void eager_accept(struct transfer *t, struct match_key key, const void *data, MPI_Count bytes);
void eager_accept_sync(struct transfer *t, struct match_key key, const void *data, MPI_Count bytes,
                       uint64_t sender);
void eager_arrived(const shoal_am_t *am);
void eager_arrived_sync(const shoal_am_t *am);
int eager_up(void);

bool stage_send(struct comm *comm, enum space space, const void *buf, MPI_Count count,
                const struct type *type, int pe, int tag, bool waits);
void stage_accept(struct transfer *t, const struct rts *rts); // described already
void stage_accept_later(struct transfer *t, const struct rts *rts); // and progress copies its data
void stage_drop(const struct rts *rts); // nobody will receive it
bool stage_is_caught_up(double *when);  // the last one sent has been received; 0: not said when
void stage_down(void);

void pull_send(struct transfer *t);
void pull_arrived(const shoal_am_t *am); // an RTS
void pull_accept(struct transfer *t, const struct rts *rts);
void pull_begin(struct transfer *t, const struct rts *rts); // gets the data, or has it got
void pull_end(struct transfer *t); // the data has been got, with t->event.status
// Where others find data of this process: false when it cannot say.
bool pull_expose(struct transfer *t, const void *data, size_t n, shoal_rptr_t *at);
int pull_up(void);

void stream_accept(struct transfer *t, const struct rts *rts);
int stream_up(void);

bool split_accept(struct transfer *t, const struct rts *rts, void *to); // false: not so
int split_up(void);
void split_down(void);

void cancel_arrived(const shoal_am_t *am);
int cancel_up(void);

#endif
