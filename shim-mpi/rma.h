// SPDX-License-Identifier: BSD-3-Clause
// One operation on a window, whatever the call: its arguments, and what they mean.
#ifndef SHOAL_MPI_RMA_H
#define SHOAL_MPI_RMA_H

#include "op.h"
#include "request.h"
#include "type.h"
#include "win.h"

// One side of an operation. `type` is filled in by rma_begin.
struct rma_side {
    void *buf;
    MPI_Count count;
    MPI_Datatype datatype;
    struct type *type;
};

struct rma {
    const char *call;
    MPI_Win win;
    int rank;
    MPI_Aint disp;
    struct rma_side origin, result; // result: of those that fetch
    struct rma_side there;          // the target's; its buf is not used
    MPI_Op op_handle;
    MPI_Request *request; // of MPI_Rput and the like, see rma_request; NULL: another call
    // resolved
    struct win *w;
    struct target *t;
    struct op *op;
    struct place at;   // where the displacement leads to
    bool is_scattered; // over more than one attached region: only at.va is known, see rma_piece
    bool is_again;     // the second try
    bool is_under_way; // when the call returns; its request has been made
};

// What a call with a request was given for it: NULL is told apart from a call without one.
extern MPI_Request rma_no_request;
static inline MPI_Request *rma_request(MPI_Request *request)
{
    return request ? request : &rma_no_request;
}

enum { RMA_ORIGIN = 1, RMA_RESULT = 2, RMA_OP = 4 };

// Checks and resolves. parts: those of the sides and the operator that the call has. With an error,
// or when there is nothing to do (*idle), the call is over.
int rma_begin(struct rma *r, unsigned parts, bool *idle);
// The call is over; a request that is done is left where one is wanted.
int rma_end(struct rma *r, bool idle);
// Of a scattered target: where disp is, and how many of n bytes are there in one piece. 0: nowhere.
size_t rma_piece(struct rma *r, MPI_Count disp, MPI_Count n, struct place *at);
// The class of an error of the runtime, MPI_SUCCESS of SHOAL_OK; and raises it.
int rma_error_of(int shoal_error);
int rma_raise(struct rma *r, int shoal_error);
// An operation failed before it did anything: is it worth another try, at a place looked up anew?
bool rma_again(struct rma *r, int shoal_error);

// Through the runtime, between the target's elements and their stream: 0 or SHOAL_E* (rma_far.c). event:
// of what is not complete when it returns; NULL: all is.
int rma_far_move(struct rma *r, void *data, bool put, shoal_event_t *event);
// Do the target's blocks lie so close that a get is faster that takes all that is between them, too? Then
// *length bytes from *lb on.
bool rma_far_is_close(const struct rma *r, MPI_Count *lb, MPI_Count *length);
// These, to be freed. NULL: there is no memory for so much, or something between the blocks cannot be read.
char *rma_far_span(struct rma *r, MPI_Count lb, MPI_Count length);
int rma_far_get_now(struct rma *r, void *data);
int rma_far_put_now(shoal_rptr_t at, const void *from, size_t n); // both are complete when they return
// Arrays of elements of that predefined type, their gaps left as they are; complete when it returns.
int rma_far_put_elements(const struct type *basic, const shoal_part_t part[], size_t parts);

int rma_accumulate(struct rma *r, bool has_result); // all of such a call (rma_acc.c)
// The target's elements, which are of the type `basic`; in, old: arrays of it, NULL: no operands, or nobody
// wants the old values. 0 or SHOAL_E* (rma_change.c).
int rma_change(struct rma *r, const struct type *basic, const char *in, char *old);
// Is a dense block changed under the lock, or with nobody else there?
bool rma_change_is_locked(const struct rma *r, const struct type *basic);

// ---- Operations that are under way after their call (rma_later.c): those to other nodes, where what
// can be wrong has been looked at before, as it cannot in a dynamic window.
static inline bool rma_may_be_later(const struct rma *r)
{
    return !r->t->control && r->w->flavor != MPI_WIN_FLAVOR_DYNAMIC;
}

// Nobody else changes the target now: neither another process nor another thread of this one.
static inline bool rma_is_alone_there(const struct target *t)
{
    return target_access(t) & ACCESS_EXCLUSIVE && !shim_threads;
}

// Is an accumulate that its call does behind those that are under way? No lock and no atomic keeps it there when
// nobody else is; and the target may do those that it does under its lock after this one.
static inline bool rma_is_in_order(const struct target *t)
{
    return !rma_is_alone_there(t) && (t->control || t->memory == MEMORY_SHARED);
}

struct rma_later {
    struct rma_later *next;
    struct win *w;
    struct target *t;
    struct request *request; // NULL: none
    char *out, *back;        // freed at its end; NULL: none
    struct rma_side to;      // `back` goes there then, when it has a type:
    struct type *from;       // n elements of this type, the first byte of them at lb; NULL: a stream
    MPI_Count n, lb;         // of n bytes
    shoal_event_t event;
    struct gathered *gathered; // ended with it; NULL: none
    // An operation of several parts: each part has its own event, the whole all the rest.
    struct rma_later *whole; // NULL: no part
    _Atomic int parts;       // of a whole: those that are not done, and 1 while more may come
    _Atomic int status;      // the first failure of one
};
struct rma_later *rma_later_new(struct rma *r); // NULL: no memory
void rma_later_unpack(struct rma_later *l, const struct rma_side *to, struct type *from,
                      MPI_Count n);
void rma_later_start(struct rma *r, struct rma_later *l);
void rma_later_settle(struct target *t); // none is under way there
void rma_later_start_whole(struct rma *r, struct rma_later *whole);
void rma_later_start_part(struct rma_later *whole, struct rma_later *part);
void rma_later_fail(struct rma_later *whole, int status); // of a part, or of starting one
void rma_later_drop_part(struct rma_later *whole); // done, or the hold of who starts them

// ---- Short operations that go with others (rma_gather.c). Of a call whose arguments are right; true: it was
// taken, and its origin's buffer is free, but that of a get. A call with a request that brings nothing is
// done then, one that does is not taken.
static inline bool rma_may_be_kept(const struct rma *r)
{
    return !r->at.direct && r->w->flavor != MPI_WIN_FLAVOR_DYNAMIC;
}
bool rma_gather_move(struct rma *r, bool put);
bool rma_gather_accumulate(struct rma *r, const struct type *basic, const char *in, char *old,
                           size_t bytes); // old NULL: nobody wants the old values
// The same of one whose elements no atomic covers.
bool rma_gather_locked(struct rma *r, const struct type *basic, const char *in, char *old,
                       size_t bytes);
// Those for t begin now; later ones of this thread come behind them.
static inline bool rma_is_kept_for(struct target *t)
{
    return atomic_load_explicit(&t->gathered, memory_order_relaxed);
}
void rma_gather_push(struct win *w, struct target *t);
void rma_gather_flush(struct win *w, struct target *t); // the same, and a new row begins; NULL: for all
// They are puts, and all there is: to another node they go now, and 1 is added to a word of t's control after them
// (word_add). False: nothing was done.
bool rma_gather_tell(struct win *w, struct target *t, size_t offset);
// The same of one put, and n is added whatever the target's program does; both are complete after shoal_quiet.
bool rma_gather_signal(struct win *w, struct target *t, size_t offset, uint64_t n);
void rma_gather_end(struct gathered *g, int status);

// The target, when it may be used now and the element(s) of `bytes` at disp lie there and are mapped
// here; *to is where. NULL: somebody has to look closer.
static inline struct target *rma_direct(struct win *w, int rank, MPI_Aint disp, MPI_Count at,
                                        size_t bytes, char **to)
{
    size_t offset;
    if (unlikely(!w || (unsigned)rank >= (unsigned)w->size))
        return NULL;
    struct target *t = &w->target[rank];
    if (unlikely(!target_access(t) || disp < 0 ||
                 __builtin_mul_overflow((size_t)disp, (size_t)t->disp_unit, &offset)))
        return NULL;
    offset += (size_t)at;
    // 0 bytes are more than SIZE_MAX here.
    if (unlikely(offset > t->reach || bytes - 1 >= t->reach - offset))
        return NULL;
    *to = t->direct + offset;
    return t;
}

#endif
