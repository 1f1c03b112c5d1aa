// SPDX-License-Identifier: BSD-3-Clause
// Accumulates. The target's blocks are runs of elements of one predefined type; the operands, and the
// old values where they are wanted, are arrays of that type. How a run is changed, each element in
// one piece against all other accumulates:
//
//     the target is locked exclusively,    plain vector loops
//     and this process has one thread
//     in MPI
//     shared memory, aligned elements of   the processor's atomics where it is mapped here, else the
//     1, 2, 4 or 8 bytes, not MPI_BYTE,    runtime's, which are atomic against those
//     nor real or complex numbers in a
//     window of processes of one node
//     anything else, and all where the     plain loops under the target's accumulate lock; what is
//     target's hint                        not mapped here is got, changed and put
//     mpi_accumulate_granularity is more
//     than a word (no dynamic window)
//
// Which row it is depends on the window, the place and the type alone, so all processes agree. In no row
// does the target take part. Bytes are locked because programs move structures as MPI_BYTE and expect to
// see none half changed.
#include "rma.h"

#include "error.h"
#include "rma_words.h"

#include <stdlib.h>
#include <string.h>

enum {
    SMALL = 256, // bytes that are kept on the stack
    RUNS = 256,  // begun by one call
};

// ---- One accumulate
struct acc {
    struct rma *r;
    const struct type *basic;
    const char *in; // operands from here on
    char *old;      // NULL: not wanted
    MPI_Count pos;  // of the target's stream
    bool is_locked;
};

// Elements that others may change by atomics.
static bool is_of_words(const struct win *w, const struct type *basic, const struct place *p)
{
    return p->memory == MEMORY_SHARED && is_word_type(basic) &&
           !(w->is_near && is_computed_type(basic));
}

static void lock(struct acc *a)
{
    if (a->is_locked || rma_is_alone_there(a->r->t))
        return;
    accumulate_lock(a->r->t);
    a->is_locked = true;
}

struct put_back {
    shoal_rptr_t to;
    const char *from;
    int status;
};

static int put_block(MPI_Count disp, MPI_Count bytes, void *arg)
{
    struct put_back *p = arg;
    p->status = shoal_put(shoal_rptr_add(p->to, disp), p->from + disp, (size_t)bytes, NULL, NULL);
    return p->status;
}

static int put_back(const struct acc *a, shoal_rptr_t at, const char *copy, MPI_Count n)
{
    struct put_back p = {at, copy, SHOAL_OK};
    type_walk(a->basic, n, put_block, &p); // not the gaps of pairs
    int quiet = shoal_quiet(at.pe);
    return p.status == SHOAL_OK ? quiet : p.status;
}

// A run at a place that is not mapped here.
static int change_far(struct acc *a, shoal_rptr_t at, MPI_Count n)
{
    _Alignas(max_align_t) char small[SMALL];
    size_t bytes = array_bytes(a->basic, n);
    char *copy = bytes <= SMALL ? small : malloc(bytes);
    int status = copy ? shoal_get(copy, at, bytes, NULL, NULL) : SHOAL_ENOMEM;
    if (status == SHOAL_OK)
        change_here(a->r->op, a->basic, copy, a->in, a->old, n);
    if (status == SHOAL_OK && a->r->op->kind != OP_DOES_NOTHING)
        status = put_back(a, at, copy, n);
    if (copy != small)
        free(copy);
    return status;
}

static int change_at(struct acc *a, const struct place *p, MPI_Count disp, MPI_Count n)
{
    const struct type *basic = a->basic;
    size_t size = (size_t)basic->size, step = (size_t)(n * basic->extent);
    char *here = p->direct ? p->direct + disp : NULL;
    shoal_rptr_t at = shoal_rptr_add(p->at, disp);
    bool words = !rma_is_alone_there(a->r->t) && is_of_words(a->r->w, basic, p) &&
                 (p->va + (uint64_t)disp) % size == 0;
    int status = SHOAL_OK;
    if (!words)
        lock(a);
    if (words && here) {
        struct change c = change_of(a->r->op, basic);
        words_here(&c, size, here, a->in, a->old, n);
    } else if (words)
        status = words_far(a->r->op, basic, at, a->in, a->old, n);
    else if (here)
        change_here(a->r->op, basic, here, a->in, a->old, n);
    else
        status = change_far(a, at, n);
    a->in = a->in ? a->in + step : NULL;
    a->old = a->old ? a->old + step : NULL;
    return status;
}

static int change_run(struct acc *a, MPI_Count disp, MPI_Count n)
{
    MPI_Count extent = a->basic->extent, some;
    struct place at;
    int status = SHOAL_OK;
    if (likely(!a->r->is_scattered))
        return change_at(a, &a->r->at, disp, n);
    for (; n && status == SHOAL_OK; n -= some, disp += some * extent) {
        some = (MPI_Count)rma_piece(a->r, disp, n * extent, &at) / extent;
        status = some ? change_at(a, &at, 0, some) : SHOAL_EFAULT;
    }
    return status;
}

// A block has whole elements, unless they have gaps: then it is (or is not) the start of one.
static int change_block(MPI_Count disp, MPI_Count bytes, void *arg)
{
    struct acc *a = arg;
    MPI_Count size = a->basic->size, at = (size - a->pos % size) % size;
    int status = SHOAL_OK;
    a->pos += bytes;
    if (a->basic->is_dense)
        return change_run(a, disp, bytes / size);
    for (; at < bytes && status == SHOAL_OK; at += size)
        status = change_run(a, disp + at, 1);
    return status;
}

// Elements in many places are got, changed and put under the lock, all by one call of the runtime
// each. stream: room for the target's.
static int change_stream(struct acc *a, char *stream, char *array, MPI_Count n)
{
    size_t bytes = (size_t)(n * a->basic->size);
    lock(a);
    int status = rma_far_get_now(a->r, stream);
    if (status != SHOAL_OK)
        return status;
    if (array != stream)
        type_unpack(a->basic, array, n, 0, stream, bytes);
    change_here(a->r->op, a->basic, array, a->in, a->old, n);
    if (a->r->op->kind == OP_DOES_NOTHING)
        return status;
    if (array != stream)
        type_pack(a->basic, array, n, 0, stream, bytes);
    status = rma_far_move(a->r, stream, true, NULL);
    return status == SHOAL_OK ? shoal_quiet(a->r->at.at.pe) : status;
}

static int change_whole(struct acc *a)
{
    MPI_Count n = a->r->there.count * a->r->there.type->size / a->basic->size;
    char *stream = malloc((size_t)(n * a->basic->size));
    char *array = a->basic->is_dense ? stream : malloc(array_bytes(a->basic, n));
    int status = stream && array ? change_stream(a, stream, array, n) : SHOAL_ENOMEM;
    if (array != stream)
        free(array);
    free(stream);
    return status;
}

static int change_all(struct acc *a)
{
    const struct rma_side *there = &a->r->there;
    int status;
    bool is_run = there->type == a->basic && a->basic->is_dense;
    bool is_whole = !is_run &&
                    (!is_of_words(a->r->w, a->basic, &a->r->at) || rma_is_alone_there(a->r->t));
    if (!a->r->at.direct && !a->r->is_scattered && is_whole)
        status = change_whole(a);
    else if (there->type == a->basic)
        status = change_run(a, 0, there->count);
    else
        status = type_walk(there->type, there->count, change_block, a);
    if (a->is_locked)
        accumulate_unlock(a->r->t);
    return status;
}

// ---- Operands and results as arrays of the basic type
struct array {
    char *at;
    bool is_copy;
    char small[SMALL];
};

// An array itself, or room for one; `stays`: after the call.
static bool array_init(struct array *array, const struct rma_side *s, const struct type *basic,
                       size_t bytes, bool stays)
{
    const struct type *t = s->type;
    array->is_copy = !(t->is_dense && basic->is_dense) && t != basic;
    array->at = !array->is_copy            ? (char *)s->buf + t->true_lb
                : bytes <= SMALL && !stays ? array->small
                                           : malloc(bytes);
    return array->at != NULL;
}

static void array_free(struct array *array)
{
    if (array->is_copy && array->at != array->small)
        free(array->at);
}

// ---- Begun by the call, where all of it is words at another node: many runs of them by one call of the
// runtime, which is a part of the whole
struct begun {
    struct acc acc; // its operands and old values from the next call on
    struct rma_later *whole;
    const struct array *in, *old;
    bool is_begun;
    size_t runs;
    MPI_Count bytes; // in these
    shoal_part_t run[RUNS];
};

static int has_whole_words(MPI_Count disp, MPI_Count bytes, void *size)
{
    return disp % *(MPI_Count *)size || bytes % *(MPI_Count *)size ? SHOAL_EFAULT : SHOAL_OK;
}

static bool may_be_later(const struct rma *r, const struct type *basic)
{
    MPI_Count size = basic->size;
    return rma_may_change_later(r) && is_word_type(basic) && r->at.va % (uint64_t)size == 0 &&
           words_far_begins(r->op, basic) &&
           (r->there.type == basic ||
            type_walk(r->there.type, r->there.count, has_whole_words, &size) == SHOAL_OK);
}

// A dense block that is not mapped here, and is changed within the lock, or alone.
static bool is_locked_there(const struct rma *r, const struct type *basic)
{
    uint64_t va = r->at.va + (uint64_t)r->there.type->true_lb;
    bool words = is_of_words(r->w, basic, &r->at) && va % (uint64_t)basic->size == 0;
    return rma_may_be_kept(r) && r->there.type->is_dense && (!words || rma_is_alone_there(r->t));
}

// The whole takes the arrays that are copies.
static void start_whole(struct begun *b)
{
    struct rma *r = b->acc.r;
    const struct type *basic = b->acc.basic;
    if (b->in->is_copy)
        b->whole->out = b->in->at;
    if (b->old->is_copy) {
        b->whole->back = b->old->at;
        rma_later_unpack(b->whole, &r->result, (struct type *)(uintptr_t)basic,
                         r->there.count * r->there.type->size / basic->size);
    }
    rma_later_start_whole(r, b->whole);
}

static int begin_runs(struct begun *b)
{
    struct acc *a = &b->acc;
    struct rma_later *part = rma_later_new(a->r);
    int status = part ? words_far_begin(a->r->op, a->basic, b->run, b->runs, a->old, &part->event)
                      : SHOAL_ENOMEM;
    if (status != SHOAL_OK) {
        free(part);
        return status;
    }
    if (!b->is_begun)
        start_whole(b);
    else
        progress(); // many may be under way
    b->is_begun = true;
    rma_later_start_part(b->whole, part);
    a->old = a->old ? a->old + b->bytes : NULL;
    b->bytes = 0;
    b->runs = 0;
    return SHOAL_OK;
}

static int add_run(MPI_Count disp, MPI_Count bytes, void *arg)
{
    struct begun *b = arg;
    struct acc *a = &b->acc;
    int status = b->runs == RUNS ? begin_runs(b) : SHOAL_OK;
    if (status != SHOAL_OK)
        return status;
    b->run[b->runs++] = (shoal_part_t){shoal_rptr_add(a->r->at.at, disp), (void *)(uintptr_t)a->in,
                                       (size_t)bytes};
    b->bytes += bytes;
    a->in = a->in ? a->in + bytes : NULL;
    return status;
}

// False: nothing was begun. A failure after the first run is the request's, or *status.
static bool begin(struct rma *r, const struct type *basic, struct array *in, struct array *old,
                  int *status)
{
    struct begun b;
    b.acc = (struct acc){.r = r, .basic = basic, .in = in->at, .old = old->at};
    b.whole = rma_later_new(r);
    b.in = in;
    b.old = old;
    b.is_begun = false;
    b.runs = 0;
    b.bytes = 0;
    if (!b.whole)
        return false;
    *status = r->there.type == basic ? add_run(0, r->there.count * basic->size, &b)
                                     : type_walk(r->there.type, r->there.count, add_run, &b);
    if (*status == SHOAL_OK)
        *status = begin_runs(&b);
    if (!b.is_begun) {
        free(b.whole);
        return false;
    }
    rma_later_fail(b.whole, *status);
    if (r->request)
        *status = SHOAL_OK;
    rma_later_drop_part(b.whole);
    return true;
}

static int accumulate(struct rma *r, const struct type *basic, bool has_result)
{
    struct array in = {0}, old = {0};
    struct acc a;
    MPI_Count n = r->there.count * r->there.type->size / basic->size;
    size_t bytes = array_bytes(basic, n);
    bool has_origin = r->op->kind != OP_DOES_NOTHING;
    bool later = may_be_later(r, basic);
    if ((has_origin && !array_init(&in, &r->origin, basic, bytes, later)) ||
        (has_result && !array_init(&old, &r->result, basic, bytes, later))) {
        array_free(&in);
        return raise_on_win(r->w, MPI_ERR_NO_MEM, r->call, "no memory for %zu bytes", bytes);
    }
    if (in.is_copy)
        type_copy(basic, in.at, n, r->origin.type, r->origin.buf, r->origin.count);
    int status;
    if (!old.is_copy &&
        (later ? rma_gather_accumulate(r, basic, in.at, old.at, bytes)
               : is_locked_there(r, basic) && rma_gather_locked(r, basic, in.at, old.at, bytes))) {
        array_free(&in);
        return MPI_SUCCESS;
    }
    if (!r->at.direct)
        rma_gather_push(r->w, r->t); // what came before on these elements is done before
    if (later && begin(r, basic, &in, &old, &status))
        return status == SHOAL_OK ? MPI_SUCCESS : rma_raise(r, status);
    if (!r->at.direct && rma_is_alone_there(r->t)) // no lock and no atomic keeps the order
        rma_later_settle(r->t);
    do {
        a = (struct acc){.r = r, .basic = basic, .in = in.at, .old = old.at};
        status = change_all(&a);
    } while (status != SHOAL_OK && rma_again(r, status));
    if (old.is_copy && status == SHOAL_OK)
        type_copy(r->result.type, r->result.buf, r->result.count, basic, old.at, n);
    array_free(&in);
    array_free(&old);
    return status == SHOAL_OK ? MPI_SUCCESS : rma_raise(r, status);
}

// ---- Checks
static int check_bytes(struct rma *r, const struct rma_side *s, const char *name,
                       const struct type *basic)
{
    MPI_Count bytes = s->count * s->type->size, want = r->there.count * r->there.type->size;
    if (s->type->basic && s->type->basic->size != basic->size)
        return raise_on_win(r->w, MPI_ERR_TYPE, r->call,
                            "the %s and the target have different elements", name);
    if (bytes != want)
        return raise_on_win(r->w, MPI_ERR_TRUNCATE, r->call,
                            "the %s has %lld bytes, the target %lld", name, (long long)bytes,
                            (long long)want);
    return MPI_SUCCESS;
}

// The predefined type that the target's elements are of.
static int find_basic(struct rma *r, bool has_result, const struct type **basic)
{
    const struct type *b = type_basic(r->there.type);
    if (!b && !op_is_for_windows(r->op))
        return raise_on_win(r->w, MPI_ERR_TYPE, r->call,
                            "the target's datatype is not made of one predefined type");
    if (!b) // moved byte by byte
        b = type_of(MPI_BYTE);
    if (r->op->kind == OP_COMPUTES && !op_takes(r->op, b))
        return raise_on_win(r->w, MPI_ERR_OP, r->call, "op is not defined for %s", b->name);
    if (r->op->kind == OP_DOES_NOTHING && !has_result)
        return raise_on_win(r->w, MPI_ERR_OP, r->call, "MPI_NO_OP is for calls that fetch");
    *basic = b;
    int error = r->op->kind == OP_DOES_NOTHING ? MPI_SUCCESS
                                               : check_bytes(r, &r->origin, "origin", b);
    return error || !has_result ? error : check_bytes(r, &r->result, "result", b);
}

int rma_accumulate(struct rma *r, bool has_result)
{
    bool idle;
    const struct type *basic = NULL;
    unsigned parts = RMA_OP | (has_result ? RMA_RESULT : 0u) |
                     (r->op_handle == MPI_NO_OP ? 0u : RMA_ORIGIN);
    int error = rma_begin(r, parts, &idle);
    if (!error && !idle)
        error = find_basic(r, has_result, &basic);
    if (!error && !idle)
        error = accumulate(r, basic, has_result);
    return error ? error : rma_end(r, idle);
}

// ---- Calls
#define FORMS(X) \
    X(, int)     \
    X(_c, MPI_Count)
#define SIDE(name, count)                                            \
    {                                                                \
        (void *)(uintptr_t)name##_addr, count, name##_datatype, NULL \
    }
#define THERE                                     \
    {                                             \
        NULL, target_count, target_datatype, NULL \
    }
#define ACCUMULATE(name, request_)                        \
    struct rma r = {.call = name,                         \
                    .win = win,                           \
                    .rank = target_rank,                  \
                    .disp = target_disp,                  \
                    .origin = SIDE(origin, origin_count), \
                    .there = THERE,                       \
                    .op_handle = op,                      \
                    .request = request_}
#define X(c, number)                                                                      \
    MPI_DEFINE(int, Accumulate##c, const void *origin_addr, number origin_count,          \
               MPI_Datatype origin_datatype, int target_rank, MPI_Aint target_disp,       \
               number target_count, MPI_Datatype target_datatype, MPI_Op op, MPI_Win win) \
    {                                                                                     \
        ACCUMULATE("MPI_Accumulate" #c, NULL);                                            \
        return rma_accumulate(&r, false);                                                 \
    }                                                                                     \
    MPI_DEFINE(int, Raccumulate##c, const void *origin_addr, number origin_count,         \
               MPI_Datatype origin_datatype, int target_rank, MPI_Aint target_disp,       \
               number target_count, MPI_Datatype target_datatype, MPI_Op op, MPI_Win win, \
               MPI_Request *request)                                                      \
    {                                                                                     \
        ACCUMULATE("MPI_Raccumulate" #c, rma_request(request));                           \
        return rma_accumulate(&r, false);                                                 \
    }                                                                                     \
    MPI_DEFINE(int, Get_accumulate##c, const void *origin_addr, number origin_count,      \
               MPI_Datatype origin_datatype, void *result_addr, number result_count,      \
               MPI_Datatype result_datatype, int target_rank, MPI_Aint target_disp,       \
               number target_count, MPI_Datatype target_datatype, MPI_Op op, MPI_Win win) \
    {                                                                                     \
        ACCUMULATE("MPI_Get_accumulate" #c, NULL);                                        \
        r.result = (struct rma_side)SIDE(result, result_count);                           \
        return rma_accumulate(&r, true);                                                  \
    }                                                                                     \
    MPI_DEFINE(int, Rget_accumulate##c, const void *origin_addr, number origin_count,     \
               MPI_Datatype origin_datatype, void *result_addr, number result_count,      \
               MPI_Datatype result_datatype, int target_rank, MPI_Aint target_disp,       \
               number target_count, MPI_Datatype target_datatype, MPI_Op op, MPI_Win win, \
               MPI_Request *request)                                                      \
    {                                                                                     \
        ACCUMULATE("MPI_Rget_accumulate" #c, rma_request(request));                       \
        r.result = (struct rma_side)SIDE(result, result_count);                           \
        return rma_accumulate(&r, true);                                                  \
    }
FORMS(X)
#undef X
