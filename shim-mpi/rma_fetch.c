// SPDX-License-Identifier: BSD-3-Clause
// The calls for one element, which return its old value: an atomic of the processor where the window
// is mapped here, else as accumulates do (rma_acc.c).
#include "error.h"
#include "rma.h"
#include "rma_ask.h"
#include "rma_words.h"

#include <stdlib.h>
#include <string.h>

// ---- Fetch and op
static __attribute__((noinline)) int fetch_slow(struct rma *r)
{
    struct win *w = win_of(r->win);
    const struct type *t = type_of(r->there.datatype);
    if (w && t && t->is_committed && !t->what)
        return raise_on_win(w, MPI_ERR_TYPE, r->call, "the datatype is not a predefined one");
    return rma_accumulate(r, true);
}

MPI_DEFINE(int, Fetch_and_op, const void *origin_addr, void *result_addr, MPI_Datatype datatype,
           int target_rank, MPI_Aint target_disp, MPI_Op op, MPI_Win win)
{
    const struct type *t = type_of(datatype);
    const struct op *o = op_of(op);
    struct win *w = win_of(win);
    struct target *target;
    char *at;
    if (likely(t && t->what && o && result_addr && is_word_type(t) &&
               (origin_addr || o->kind == OP_DOES_NOTHING) &&
               (op_is_for_windows(o) || op_takes(o, t)) && o->kind != OP_OF_USER &&
               (target = rma_direct(w, target_rank, target_disp, 0, (size_t)t->size, &at)) &&
               target->memory == MEMORY_SHARED && (uintptr_t)at % (size_t)t->size == 0)) {
        enum hold hold = HOLD_LOCK;
        struct change c = change_of(o, t);
        if (is_computed_type(t) && w->is_near) // as accumulates do
            accumulate_lock(target);
        else
            hold = words_hold(w, target);
        words_here(&c, (size_t)t->size, at, origin_addr, result_addr, 1);
        words_let_go(w, target, hold);
        return MPI_SUCCESS;
    }
    struct rma r = {.call = "MPI_Fetch_and_op",
                    .win = win,
                    .rank = target_rank,
                    .disp = target_disp,
                    .origin = {(void *)(uintptr_t)origin_addr, 1, datatype, NULL},
                    .result = {result_addr, 1, datatype, NULL},
                    .there = {NULL, 1, datatype, NULL},
                    .op_handle = op};
    return fetch_slow(&r);
}

// ---- Compare and swap
#define WORDS(X) \
    X(8)         \
    X(16)        \
    X(32)        \
    X(64)
static inline void swap_here(size_t size, void *at, const void *new, const void *compare, void *old)
{
    switch (size) {
#define X(bits)                                                                              \
    case bits / 8: {                                                                         \
        uint##bits##_t was, want;                                                            \
        memcpy(&was, compare, sizeof was);                                                   \
        memcpy(&want, new, sizeof want);                                                     \
        atomic_compare_exchange_strong_explicit((_Atomic uint##bits##_t *)at, &was, want,    \
                                                memory_order_acq_rel, memory_order_acquire); \
        memcpy(old, &was, sizeof was);                                                       \
        break;                                                                               \
    }
        WORDS(X)
#undef X
    }
}

static bool asks_to_swap(struct rma *r, const void *compare, size_t size)
{
    shoal_part_t part = {.remote = r->at.at, .n = size};
    struct rma_asked asked = {.t = r->t,
                              .at = &r->at,
                              .op = op_of(MPI_REPLACE),
                              .basic = type_of(MPI_BYTE),
                              .is_locked = true,
                              .compare = compare,
                              .part = &part,
                              .parts = 1,
                              .in = r->origin.buf,
                              .old = &r->result.buf};
    return !r->at.direct && rma_ask(&asked);
}

static int swap_locked(struct rma *r, const void *compare, size_t size)
{
    char was[sizeof(long double)];
    int status = SHOAL_OK;
    if (asks_to_swap(r, compare, size))
        return status;
    if (!r->at.direct && !rma_is_in_order(r->t))
        rma_later_settle(r->t);
    accumulate_lock(r->t);
    if (r->at.direct)
        memcpy(was, r->at.direct, size);
    else
        status = shoal_get(was, r->at.at, size, NULL, NULL);
    if (status == SHOAL_OK && memcmp(was, compare, size) == 0) {
        if (r->at.direct)
            memcpy(r->at.direct, r->origin.buf, size);
        else
            status = rma_far_put_now(r->at.at, r->origin.buf, size);
    }
    accumulate_unlock(r->t);
    if (status == SHOAL_OK)
        memcpy(r->result.buf, was, size);
    return status;
}

static int swap_far(struct rma *r, const void *compare, size_t size, shoal_event_t *event)
{
    return shoal_atomic(r->at.at, SHOAL_CSWAP, word_type(size), r->origin.buf, compare,
                        r->result.buf, NULL, event);
}

// To another node, where it is but begun here.
static bool begin_swap(struct rma *r, const void *compare, size_t size)
{
    struct rma_later *l = rma_may_be_later(r) ? rma_later_new(r) : NULL;
    if (!l || swap_far(r, compare, size, &l->event) != SHOAL_OK) {
        free(l);
        return false;
    }
    rma_later_start(r, l);
    return true;
}

static int swap(struct rma *r, const void *compare, size_t size)
{
    if (r->is_scattered)
        return SHOAL_EFAULT;
    if (!r->at.direct)
        rma_gather_push(r->w, r->t);
    if (r->at.memory != MEMORY_SHARED || !is_word_type(r->there.type) || r->at.va % size)
        return swap_locked(r, compare, size);
    if (!r->at.direct)
        return begin_swap(r, compare, size) ? SHOAL_OK : swap_far(r, compare, size, NULL);
    enum hold hold = words_hold(r->w, r->t);
    swap_here(size, r->at.direct, r->origin.buf, compare, r->result.buf);
    words_let_go(r->w, r->t, hold);
    return SHOAL_OK;
}

static __attribute__((noinline)) int swap_slow(struct rma *r, const void *compare)
{
    bool idle;
    int error = rma_begin(r, RMA_ORIGIN | RMA_RESULT, &idle);
    if (error)
        return error;
    const struct type *t = r->there.type;
    if (!t->what ||
        !((1 << t->what->class) & (1 << CLASS_INTEGER | 1 << CLASS_LOGICAL | 1 << CLASS_BYTE)))
        return raise_on_win(r->w, MPI_ERR_TYPE, r->call,
                            "the datatype is not a predefined integer, logical or byte");
    if (idle)
        return MPI_SUCCESS;
    if (!compare)
        return raise_on_win(r->w, MPI_ERR_BUFFER, r->call, "compare_addr is NULL");
    int status;
    do
        status = swap(r, compare, (size_t)t->size);
    while (status != SHOAL_OK && rma_again(r, status));
    return status == SHOAL_OK ? MPI_SUCCESS : rma_raise(r, status);
}

MPI_DEFINE(int, Compare_and_swap, const void *origin_addr, const void *compare_addr,
           void *result_addr, MPI_Datatype datatype, int target_rank, MPI_Aint target_disp,
           MPI_Win win)
{
    const struct type *t = type_of(datatype);
    struct win *w = win_of(win);
    struct target *target;
    char *at;
    if (likely(t && t->what && t->what->class == CLASS_INTEGER && is_word((size_t)t->size) &&
               origin_addr && compare_addr && result_addr &&
               (target = rma_direct(w, target_rank, target_disp, 0, (size_t)t->size, &at)) &&
               target->memory == MEMORY_SHARED && (uintptr_t)at % (size_t)t->size == 0)) {
        enum hold hold = words_hold(w, target);
        swap_here((size_t)t->size, at, origin_addr, compare_addr, result_addr);
        words_let_go(w, target, hold);
        return MPI_SUCCESS;
    }
    struct rma r = {.call = "MPI_Compare_and_swap",
                    .win = win,
                    .rank = target_rank,
                    .disp = target_disp,
                    .origin = {(void *)(uintptr_t)origin_addr, 1, datatype, NULL},
                    .result = {result_addr, 1, datatype, NULL},
                    .there = {NULL, 1, datatype, NULL}};
    return swap_slow(&r, compare_addr);
}
