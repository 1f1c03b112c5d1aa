// SPDX-License-Identifier: BSD-3-Clause
// What accumulates do at their target. Its blocks are runs of elements of one predefined type; the
// operands, and the old values where they are wanted, are arrays of that type. How a run is changed, each
// element in one piece against all other accumulates:
//
//     the target is locked exclusively,    plain vector loops
//     and this process has one thread
//     in MPI
//     shared memory, aligned elements of   the processor's atomics where it is mapped here, else the
//     1, 2, 4 or 8 bytes, not MPI_BYTE,    runtime's, which are atomic against those; many of them in
//     nor real or complex numbers in a     a window of processes of one node by plain loops under the
//     window of processes of one node      lock, once nobody has a claim to atomics (win_claim.c)
//     anything else, and all where the     plain loops under the target's accumulate lock; what is
//     target's hint                        not mapped here is got, changed and put
//     mpi_accumulate_granularity is more
//     than a word (no dynamic window)
//
// Which row it is depends on the window, the place and the type alone, so all processes agree; about the
// claims they agree there. In no row is the target's program needed; what is not mapped here it does when it is
// there (rma_ask.c). Words of memory at another node that are not changed by atomics its runtime changes, under
// the lock (words_far_accv), where it has the operator. Bytes are locked because programs move structures as
// MPI_BYTE and expect to see none half changed.
#include "rma.h"

#include "rma_ask.h"
#include "rma_words.h"

#include <stdlib.h>

enum {
    SMALL = 256, // bytes that are kept on the stack
    MANY = 8,    // words, for which the lock pays
};

struct acc {
    struct rma *r;
    const struct type *basic;
    const char *in; // operands from here on
    char *old;      // NULL: not wanted
    MPI_Count pos;  // of the target's stream
    bool is_locked;
    bool is_plain; // also words: nobody changes any by atomics
    enum hold hold;
};

// Elements that others may change by atomics.
static bool are_words(const struct win *w, const struct type *basic)
{
    return is_word_type(basic) && !(w->is_near && is_computed_type(basic));
}

static bool is_of_words(const struct win *w, const struct type *basic, const struct place *p)
{
    return p->memory == MEMORY_SHARED && are_words(w, basic);
}

static void lock(struct acc *a)
{
    if (a->is_locked || rma_is_alone_there(a->r->t))
        return;
    accumulate_lock(a->r->t);
    a->is_locked = true;
}

// What n words need before any is changed: nothing, a claim or the lock.
static void hold_words(struct acc *a, MPI_Count n)
{
    const struct rma *r = a->r;
    if (!r->w->is_near || rma_is_alone_there(r->t) || !are_words(r->w, a->basic) ||
        !(r->is_scattered || r->at.memory == MEMORY_SHARED))
        return;
    if (n < MANY) {
        a->hold = words_hold(r->w, r->t);
        a->is_locked = a->hold == HOLD_LOCK;
        return;
    }
    lock(a);
    a->is_plain = claims_are_gone(r->w, r->t);
}

// Elements at crooked addresses may have wanted the lock as well.
static void let_go(struct acc *a)
{
    if (a->hold == HOLD_CLAIM)
        claim_give(a->r->w, a->r->t, HOLD_CLAIM);
    if (a->is_locked)
        accumulate_unlock(a->r->t);
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
        status = rma_far_put_elements(a->basic, &(shoal_part_t){at, copy, bytes}, 1);
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
    bool words = !a->is_plain && !rma_is_alone_there(a->r->t) && is_of_words(a->r->w, basic, p) &&
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

static bool asks(struct acc *a)
{
    const struct rma *r = a->r;
    size_t bytes = (size_t)(r->there.count * r->there.type->size);
    struct type_loops loops;
    if (likely(r->at.direct) || r->is_scattered || !rma_may_ask(r->t, &r->at, bytes) ||
        !type_loops(r->there.type, r->there.count, &loops))
        return false;
    shoal_part_t part = {.remote = r->at.at, .n = bytes};
    struct rma_asked asked = {.t = r->t,
                              .at = &r->at,
                              .op = r->op,
                              .basic = a->basic,
                              .is_locked = true,
                              .part = &part,
                              .parts = 1,
                              .loops = &loops,
                              .in = a->in,
                              .old = a->old ? (void *[]){a->old} : NULL,
                              .brings = false};
    return rma_ask(&asked);
}

static int change_all(struct acc *a)
{
    const struct rma_side *there = &a->r->there;
    int status;
    bool is_run = there->type == a->basic && a->basic->is_dense;
    bool is_whole = !is_run &&
                    (!is_of_words(a->r->w, a->basic, &a->r->at) || rma_is_alone_there(a->r->t));
    hold_words(a, there->count * there->type->size / a->basic->size);
    if (!a->r->at.direct && !a->r->is_scattered && is_whole)
        status = change_whole(a);
    else if (there->type == a->basic)
        status = change_run(a, 0, there->count);
    else
        status = type_walk(there->type, there->count, change_block, a);
    let_go(a);
    return status;
}

int rma_change(struct rma *r, const struct type *basic, const char *in, char *old)
{
    struct acc a = {.r = r, .basic = basic, .in = in, .old = old};
    return asks(&a) ? SHOAL_OK : change_all(&a);
}

bool rma_change_is_locked(const struct rma *r, const struct type *basic)
{
    uint64_t va = r->at.va + (uint64_t)r->there.type->true_lb;
    bool words = is_of_words(r->w, basic, &r->at) && va % (uint64_t)basic->size == 0;
    return !words || rma_is_alone_there(r->t);
}
