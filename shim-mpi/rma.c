// SPDX-License-Identifier: BSD-3-Clause
// MPI_Put and MPI_Get in all forms, and what every operation on a window begins and ends with. Where
// the target's memory is mapped here, a dense block of one type is copied at once; other layouts by
// the datatype engine, from one to the other. Where it is not, the runtime moves each block of the
// target's layout to or from the packed stream.
#include "rma.h"

#include "check.h"
#include "error.h"
#include "request.h"
#include "rma_ask.h"

#include <stdlib.h>
#include <string.h>

MPI_Request rma_no_request;

// ---- Begin: errors in the order of the arguments' meaning
static int check_side(struct rma *r, struct rma_side *s, bool has_buf)
{
    struct type *t = type_of(s->datatype);
    MPI_Count bytes;
    if (unlikely(s->count < 0))
        return raise_on_win(r->w, MPI_ERR_COUNT, r->call,
                            "the count is %lld: it must not be negative", (long long)s->count);
    if (unlikely(!t))
        return raise_on_win(r->w, MPI_ERR_TYPE, r->call, "%s",
                            s->datatype == MPI_DATATYPE_NULL ? "the datatype is MPI_DATATYPE_NULL"
                                                             : "there is no such datatype");
    if (unlikely(!t->is_committed))
        return raise_on_win(r->w, MPI_ERR_TYPE, r->call,
                            "the datatype is not committed: call MPI_Type_commit first");
    if (unlikely(__builtin_mul_overflow(s->count, t->size, &bytes)))
        return raise_on_win(r->w, MPI_ERR_COUNT, r->call,
                            "%lld elements are more bytes than can be counted",
                            (long long)s->count);
    if (unlikely(has_buf && !check_is_place(s->buf) && s->count && t->size && t->true_lb == 0))
        return raise_on_win(r->w, MPI_ERR_BUFFER, r->call, "a buffer is %s, with %lld elements",
                            s->buf ? "MPI_IN_PLACE" : "NULL", (long long)s->count);
    s->type = t;
    return MPI_SUCCESS;
}

static int check_op(struct rma *r)
{
    r->op = op_of(r->op_handle);
    if (r->op && r->op->kind != OP_OF_USER)
        return MPI_SUCCESS;
    return raise_on_win(r->w, MPI_ERR_OP, r->call, "op is %s",
                        r->op                         ? "a user's, which windows do not take"
                        : r->op_handle == MPI_OP_NULL ? "MPI_OP_NULL"
                                                      : "no operator: freed, or never made");
}

static int check_arguments(struct rma *r, unsigned parts)
{
    bool moves = r->rank != MPI_PROC_NULL; // else a buffer may be NULL, as in sends
    int error = win_check(r->call, r->win, &r->w);
    if (!error && r->request == &rma_no_request)
        error = win_check_pointer(r->call, r->w, "request", NULL);
    if (!error && parts & RMA_ORIGIN)
        error = check_side(r, &r->origin,
                           moves && (!(parts & RMA_OP) || r->op_handle != MPI_NO_OP));
    if (!error && parts & RMA_RESULT)
        error = check_side(r, &r->result, moves);
    if (!error)
        error = check_side(r, &r->there, false);
    if (!error)
        error = win_check_rank(r->call, r->w, r->rank);
    if (!error && parts & RMA_OP)
        error = check_op(r);
    return error;
}

static int raise_range(struct rma *r)
{
    return raise_on_win(r->w, MPI_ERR_RMA_RANGE, r->call,
                        "displacement %lld and %lld elements lead out of the window of rank %d, "
                        "which has %zu bytes in units of %lld",
                        (long long)r->disp, (long long)r->there.count, r->rank, r->t->size,
                        (long long)r->t->disp_unit);
}

// In a dynamic window the displacement is an address.
static bool find_attached(struct rma *r)
{
    MPI_Count lb, length;
    type_span(r->there.type, r->there.count, &lb, &length);
    uint64_t first = (uint64_t)r->disp + (uint64_t)lb;
    size_t there = attached_find(r->w, r->t, first, (size_t)length, &r->at);
    r->is_scattered = there && there < (size_t)length;
    if (!there || r->is_scattered) {
        r->at = (struct place){.va = (uint64_t)r->disp};
        return there != 0;
    }
    r->at.direct = r->at.direct ? r->at.direct - lb : NULL;
    r->at.at = shoal_rptr_add(r->at.at, -lb);
    r->at.va = (uint64_t)r->disp;
    return true;
}

// Where the displacement leads to, when all bytes of the target's elements are within the window.
static int find_place(struct rma *r)
{
    struct target *t = r->t;
    MPI_Count lb, length, first, offset = r->disp;
    if (unlikely(__builtin_mul_overflow(r->there.count, r->there.type->extent, &lb)))
        return raise_range(r);
    type_span(r->there.type, r->there.count, &lb, &length);
    bool dynamic = r->w->flavor == MPI_WIN_FLAVOR_DYNAMIC;
    if (!dynamic && (offset < 0 || __builtin_mul_overflow(offset, t->disp_unit, &offset)))
        return raise_range(r);
    if (__builtin_add_overflow(offset, lb, &first))
        return raise_range(r);
    if (dynamic) {
        if (!find_attached(r))
            return raise_on_win(r->w, MPI_ERR_RMA_RANGE, r->call,
                                "nothing of %lld bytes at %#llx is attached by rank %d",
                                (long long)length, (unsigned long long)first, r->rank);
        return MPI_SUCCESS;
    }
    if (first < 0 || (size_t)first > t->size || (size_t)length > t->size - (size_t)first)
        return raise_range(r);
    r->at = (struct place){.direct = t->direct ? t->direct + offset : NULL,
                           .at = shoal_rptr_add(t->at, offset),
                           .va = t->va + (uint64_t)offset,
                           .memory = t->memory};
    return MPI_SUCCESS;
}

size_t rma_piece(struct rma *r, MPI_Count disp, MPI_Count n, struct place *at)
{
    return attached_find(r->w, r->t, r->at.va + (uint64_t)disp, (size_t)n, at);
}

static int check_passive(struct rma *r)
{
    if (!r->request || target_access(r->t) & ACCESS_PASSIVE)
        return MPI_SUCCESS;
    return raise_on_win(r->w, MPI_ERR_RMA_SYNC, r->call,
                        "only within MPI_Win_lock or MPI_Win_lock_all");
}

int rma_begin(struct rma *r, unsigned parts, bool *idle)
{
    int error = check_arguments(r, parts);
    *idle = true;
    if (error || r->rank == MPI_PROC_NULL)
        return error;
    r->t = &r->w->target[r->rank];
    if (!target_access(r->t))
        error = win_open(r->call, r->w, r->t);
    if (!error)
        error = check_passive(r);
    *idle = r->there.count == 0 || r->there.type->size == 0;
    return error || *idle ? error : find_place(r);
}

int rma_end(struct rma *r, bool idle)
{
    if (!r->request)
        return MPI_SUCCESS;
    atomic_thread_fence(memory_order_acquire); // what later ones get is not older
    if (!r->is_under_way)
        *r->request = object_handle(request_done(idle && r->rank == MPI_PROC_NULL));
    return MPI_SUCCESS;
}

int rma_error_of(int shoal_error)
{
    return shoal_error == SHOAL_EFAULT ? MPI_ERR_RMA_RANGE : error_of(shoal_error);
}

int rma_raise(struct rma *r, int shoal_error)
{
    return raise_on_win(r->w, rma_error_of(shoal_error), r->call,
                        "rank %d's memory cannot be reached: %s", r->rank,
                        shoal_strerror(shoal_error));
}

// What was attached at the place is gone; there may be something else now.
bool rma_again(struct rma *r, int shoal_error)
{
    if (shoal_error != SHOAL_EKEY || r->w->flavor != MPI_WIN_FLAVOR_DYNAMIC || r->is_again)
        return false;
    r->is_again = true;
    attached_forget(r->w, r->t);
    return find_attached(r);
}

// ---- Through the runtime
// The packed stream is the origin's buffer itself where that is dense. To another node it is but
// begun here; its copy of the stream stays with it.
static int begin_far(struct rma *r, char *data, size_t n, bool put)
{
    struct rma_side *o = &r->origin;
    struct rma_later *l = rma_later_new(r);
    int status = l ? rma_far_move(r, data, put, &l->event) : SHOAL_ENOMEM;
    if (status != SHOAL_OK) {
        free(l);
        return status;
    }
    if (!o->type->is_dense)
        l->back = data;
    if (!o->type->is_dense && !put)
        rma_later_unpack(l, o, NULL, (MPI_Count)n);
    rma_later_start(r, l);
    return status;
}

static int begin_span(struct rma *r, MPI_Count lb, MPI_Count length)
{
    struct rma_later *l = rma_later_new(r);
    char *data = malloc((size_t)length);
    int status = l && data ? shoal_get(data, shoal_rptr_add(r->at.at, lb), (size_t)length, NULL,
                                       &l->event)
                           : SHOAL_ENOMEM;
    if (status != SHOAL_OK) {
        free(data);
        free(l);
        return status;
    }
    l->back = data;
    l->lb = lb;
    rma_later_unpack(l, &r->origin, r->there.type, r->there.count);
    rma_later_start(r, l);
    return status;
}

// All that is there, and then what is asked for out of that. False: nothing was done, but the blocks
// alone may do.
static bool get_span(struct rma *r)
{
    const struct rma_side *o = &r->origin, *there = &r->there;
    MPI_Count lb, length;
    if (!rma_far_is_close(r, &lb, &length))
        return false;
    if (rma_may_be_later(r) && begin_span(r, lb, length) == SHOAL_OK)
        return true;
    char *data = rma_far_span(r, lb, length);
    if (!data)
        return false;
    type_copy(o->type, o->buf, o->count, there->type, type_base(data, lb), there->count);
    free(data);
    return true;
}

// Of its blocks, when they are loops.
static bool asks_to_move(struct rma *r, bool put)
{
    const struct rma_side *o = &r->origin, *there = &r->there;
    size_t n = (size_t)(there->count * there->type->size);
    struct type_loops loops;
    char copy[RMA_ASK_MOST];
    if (r->is_scattered || !rma_may_ask(r->t, &r->at, n) ||
        !type_loops(there->type, there->count, &loops))
        return false;
    shoal_part_t part = {r->at.at, o->type->is_dense ? type_at(o->type, o->buf) : copy, n};
    struct rma_asked asked = {.t = r->t,
                              .at = &r->at,
                              .op = op_of(put ? MPI_REPLACE : MPI_NO_OP),
                              .basic = type_of(MPI_BYTE),
                              .part = &part,
                              .parts = 1,
                              .loops = &loops,
                              .brings = !put};
    if (put && !o->type->is_dense)
        type_pack(o->type, o->buf, o->count, 0, copy, n);
    if (!rma_ask(&asked))
        return false;
    if (!put && !o->type->is_dense)
        type_unpack(o->type, o->buf, o->count, 0, copy, n);
    return true;
}

static int move_far(struct rma *r, bool put)
{
    if ((rma_may_be_kept(r) && rma_gather_move(r, put)) || asks_to_move(r, put))
        return MPI_SUCCESS;
    if (!put && get_span(r))
        return MPI_SUCCESS;
    struct rma_side *o = &r->origin;
    size_t n = (size_t)(r->there.count * r->there.type->size);
    bool is_dense = o->type->is_dense;
    char *data = is_dense ? type_at(o->type, o->buf) : malloc(n);
    if (!data)
        return raise_on_win(r->w, MPI_ERR_NO_MEM, r->call, "no memory for %zu bytes", n);
    if (put && !is_dense)
        type_pack(o->type, o->buf, o->count, 0, data, n);
    if (rma_may_be_later(r) && begin_far(r, data, n, put) == SHOAL_OK)
        return MPI_SUCCESS;
    int status;
    do
        status = rma_far_move(r, data, put, NULL);
    while (status != SHOAL_OK && rma_again(r, status));
    if (!put && !is_dense && status == SHOAL_OK)
        type_unpack(o->type, o->buf, o->count, 0, data, n);
    if (!is_dense)
        free(data);
    return status == SHOAL_OK ? MPI_SUCCESS : rma_raise(r, status);
}

static int move(struct rma *r, bool put)
{
    bool idle;
    int error = rma_begin(r, RMA_ORIGIN, &idle);
    if (error)
        return error;
    struct rma_side *o = &r->origin, *there = &r->there;
    if (!idle && o->count * o->type->size != there->count * there->type->size)
        return raise_on_win(
            r->w, MPI_ERR_TRUNCATE, r->call, "the origin has %lld bytes, the target %lld",
            (long long)(o->count * o->type->size), (long long)(there->count * there->type->size));
    if (idle)
        return rma_end(r, true);
    if (!r->at.direct)
        error = move_far(r, put);
    else if (put)
        type_copy(there->type, r->at.direct, there->count, o->type, o->buf, o->count);
    else
        type_copy(o->type, o->buf, o->count, there->type, r->at.direct, there->count);
    return error ? error : rma_end(r, false);
}

// ---- The usual case: the same dense type on both sides, a target that is mapped here and open
static inline void copy(void *to, const void *from, size_t n)
{
    if (n == sizeof(uint64_t))
        memcpy(to, from, sizeof(uint64_t));
    else
        shim_copy(to, from, n);
}

// Apart, so that the usual case is not burdened with what this needs.
static NOINLINE int move_slow(const char *call, bool put, void *origin, MPI_Count count,
                              MPI_Datatype datatype, int rank, MPI_Aint disp, MPI_Count there_count,
                              MPI_Datatype there_type, MPI_Win win, MPI_Request *request)
{
    struct rma r = {.call = call,
                    .win = win,
                    .rank = rank,
                    .disp = disp,
                    .origin = {origin, count, datatype, NULL},
                    .there = {NULL, there_count, there_type, NULL},
                    .request = request};
    return move(&r, put);
}

static inline __attribute__((always_inline)) int rma_move(const char *call, bool put, void *origin,
                                                          MPI_Count count, MPI_Datatype datatype,
                                                          int rank, MPI_Aint disp,
                                                          MPI_Count there_count,
                                                          MPI_Datatype there_type, MPI_Win win,
                                                          MPI_Request *request)
{
    struct win *w = win_of(win);
    const struct type *type = type_of(datatype);
    size_t bytes;
    char *to;
    if (likely(!request && datatype == there_type && count == there_count && type &&
               check_is_place(origin) && type->is_dense && type->is_committed && count > 0 &&
               !__builtin_mul_overflow((size_t)count, (size_t)type->size, &bytes) &&
               rma_direct(w, rank, disp, type->true_lb, bytes, &to))) {
        char *from = (char *)origin + type->true_lb;
        copy(put ? to : from, put ? from : to, bytes);
        return MPI_SUCCESS;
    }
    return move_slow(call, put, origin, count, datatype, rank, disp, there_count, there_type, win,
                     request);
}

// name, count's type, what the origin's buffer is, put?
#define MOVES(X)                                    \
    X(Put, Rput, int, const void *, true)           \
    X(Put_c, Rput_c, MPI_Count, const void *, true) \
    X(Get, Rget, int, void *, false)                \
    X(Get_c, Rget_c, MPI_Count, void *, false)
#define X(name, request_name, number, buffer, put)                                                \
    MPI_DEFINE(int, name, buffer origin_addr, number origin_count, MPI_Datatype origin_datatype,  \
               int target_rank, MPI_Aint target_disp, number target_count,                        \
               MPI_Datatype target_datatype, MPI_Win win)                                         \
    {                                                                                             \
        return rma_move("MPI_" #name, put, (void *)(uintptr_t)origin_addr, origin_count,          \
                        origin_datatype, target_rank, target_disp, target_count, target_datatype, \
                        win, NULL);                                                               \
    }                                                                                             \
    MPI_DEFINE(int, request_name, buffer origin_addr, number origin_count,                        \
               MPI_Datatype origin_datatype, int target_rank, MPI_Aint target_disp,               \
               number target_count, MPI_Datatype target_datatype, MPI_Win win,                    \
               MPI_Request *request)                                                              \
    {                                                                                             \
        return rma_move("MPI_" #request_name, put, (void *)(uintptr_t)origin_addr, origin_count,  \
                        origin_datatype, target_rank, target_disp, target_count, target_datatype, \
                        win, rma_request(request));                                               \
    }
MOVES(X)
#undef X
