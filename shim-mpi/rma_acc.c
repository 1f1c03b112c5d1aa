// SPDX-License-Identifier: BSD-3-Clause
// Accumulates: their calls and checks, the operands, and the old values where they are wanted, as arrays of
// one predefined type, and those that are begun at other nodes. How elements are changed: rma_change.c.
#include "rma.h"

#include "check.h"
#include "error.h"
#include "rma_words.h"
#include "type_table.h"

#include <stdlib.h>

enum {
    SMALL = 256, // bytes that are kept on the stack
    RUNS = 256,  // begun by one call
};

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
    struct rma *r;
    const struct type *basic;
    const char *next_in; // operands and old values from the next call on
    char *next_old;
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
    return rma_may_be_later(r) && is_word_type(basic) && r->at.va % (uint64_t)size == 0 &&
           words_far_begins(r->op, basic) &&
           (r->there.type == basic ||
            type_walk(r->there.type, r->there.count, has_whole_words, &size) == SHOAL_OK);
}

// An array that is not mapped here, and is changed within the lock, or alone.
static bool is_locked_there(const struct rma *r, const struct type *basic)
{
    return rma_may_be_kept(r) && (r->there.type->is_dense || r->there.type == basic) &&
           rma_change_is_locked(r, basic);
}

// The whole takes the arrays that are copies.
static void start_whole(struct begun *b)
{
    struct rma *r = b->r;
    const struct type *basic = b->basic;
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
    struct rma_later *part = rma_later_new(b->r);
    int status = part ? words_far_begin(b->r->t, b->r->op, b->basic, b->run, b->runs, b->next_old,
                                        &part->event)
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
    b->next_old = b->next_old ? b->next_old + b->bytes : NULL;
    b->bytes = 0;
    b->runs = 0;
    return SHOAL_OK;
}

static int add_run(MPI_Count disp, MPI_Count bytes, void *arg)
{
    struct begun *b = arg;
    int status = b->runs == RUNS ? begin_runs(b) : SHOAL_OK;
    if (status != SHOAL_OK)
        return status;
    b->run[b->runs++] = (shoal_part_t){shoal_rptr_add(b->r->at.at, disp),
                                       (void *)(uintptr_t)b->next_in, (size_t)bytes};
    b->bytes += bytes;
    b->next_in = b->next_in ? b->next_in + bytes : NULL;
    return status;
}

// False: nothing was begun. A failure after the first run is the request's, or *status.
static bool begin(struct rma *r, const struct type *basic, struct array *in, struct array *old,
                  int *status)
{
    struct begun b;
    b.r = r;
    b.basic = basic;
    b.next_in = in->at;
    b.next_old = old->at;
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
    if (!r->at.direct && !rma_is_in_order(r->t))
        rma_later_settle(r->t);
    do
        status = rma_change(r, basic, in.at, old.at);
    while (status != SHOAL_OK && rma_again(r, status));
    if (old.is_copy && status == SHOAL_OK)
        type_copy(r->result.type, r->result.buf, r->result.count, basic, old.at, n);
    array_free(&in);
    array_free(&old);
    return status == SHOAL_OK ? MPI_SUCCESS : rma_raise(r, status);
}

// ---- Checks
// Integers of one size, of whatever name and sign, are alike, as programs mix them.
static bool is_alike(const struct rma *r, const struct type *t, const struct type *basic)
{
    bool computes = r->op->kind == OP_COMPUTES;
    if (!t->basic)
        return !computes || t->size == 0;
    return t->basic->size == basic->size &&
           (!computes || t->basic->what->class == basic->what->class);
}

static int check_elements(struct rma *r, const struct rma_side *s, const char *name,
                          const struct type *basic)
{
    MPI_Count bytes = s->count * s->type->size, want = r->there.count * r->there.type->size;
    if (!is_alike(r, s->type, basic))
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
                                               : check_elements(r, &r->origin, "origin", b);
    return error || !has_result ? error : check_elements(r, &r->result, "result", b);
}

static bool is_array(const struct rma_side *s, const struct rma_side *there)
{
    return s->datatype == there->datatype && s->count == there->count && check_is_place(s->buf);
}

// The usual case: arrays of one predefined type that the operator computes with, at a target that is mapped here
// and open. False: somebody has to look closer.
static INLINE bool is_usual(struct rma *r, bool has_result)
{
    const struct rma_side *there = &r->there;
    struct type *t = type_of(there->datatype);
    MPI_Count bytes;
    char *to;
    if (r->request || !is_array(&r->origin, there) ||
        (has_result && !is_array(&r->result, there)) || !t || t->basic != t || !t->is_dense ||
        there->count <= 0 || __builtin_mul_overflow(there->count, t->size, &bytes))
        return false;
    r->w = win_of(r->win);
    r->op = op_of(r->op_handle);
    if (!r->op || r->op->kind != OP_COMPUTES || !op_takes(r->op, t) ||
        !(r->t = rma_direct(r->w, r->rank, r->disp, 0, (size_t)bytes, &to)))
        return false;
    r->there.type = t;
    r->at = (struct place){
        .direct = to, .va = r->t->va + (uint64_t)(to - r->t->direct), .memory = r->t->memory};
    return true;
}

int rma_accumulate(struct rma *r, bool has_result)
{
    if (likely(is_usual(r, has_result))) {
        int status = rma_change(r, r->there.type, r->origin.buf, has_result ? r->result.buf : NULL);
        return status == SHOAL_OK ? MPI_SUCCESS : rma_raise(r, status);
    }
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
