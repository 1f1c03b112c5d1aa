// SPDX-License-Identifier: BSD-3-Clause
// Operations under way at PEs of other nodes. See net_flight.h.
#include "net_flight.h"

#include "copy.h"
#include "elements.h"
#include "ending.h"
#include "far_region.h"
#include "log.h"
#include "net.h"
#include "net_message.h"
#include "net_vector.h"
#include "remote.h"
#include "wait.h"

#include <pthread.h>
#include <stdlib.h>
#include <string.h>

// Events may keep FLIGHTS - KEPT of them; who waits at once finds one of the rest.
enum { FLIGHTS = 1024, KEPT = 64, MOST_ANSWERS = 16, FEW = 8, WORD = sizeof(uint64_t) };

struct expected {
    void *to;
    size_t n;
};

struct flight {
    struct ending ending;
    _Atomic uint64_t token; // 0: free
    uint64_t never;         // the event's word, which only says that it is not done
    _Atomic int left;       // answers, and 1 while it is being built
    _Atomic int status;     // the first error
    struct transport_request rma;
    struct import *import; // in use until the end, NULL: none
    bool has_event;
    size_t expected, room;
    struct expected *answer;
    struct expected few[FEW];
};

static struct flight flights[FLIGHTS];
static _Atomic int with_events;
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER; // of what is expected

#define TAKEN UINT64_MAX // not yet a token

// ---- Their life
static struct flight *find_free(void)
{
    static _Atomic uint64_t tokens;
    for (int tries = 0; tries < FLIGHTS; tries++) {
        uint64_t token = atomic_fetch_add(&tokens, 1) + 1, none = 0;
        struct flight *f = &flights[token % FLIGHTS];
        if (!atomic_compare_exchange_strong(&f->token, &none, TAKEN))
            continue;
        atomic_store_explicit(&f->left, 1, memory_order_relaxed);
        atomic_store_explicit(&f->status, SHOAL_OK, memory_order_relaxed);
        f->rma = (struct transport_request){0};
        f->import = NULL;
        f->expected = 0;
        f->room = FEW;
        f->answer = f->few;
        // Pairs with the acquire load in flight_answered.
        atomic_store_explicit(&f->token, token, memory_order_release);
        return f;
    }
    return NULL;
}

struct flight *flight_new(bool is_needed)
{
    struct waiter w = waiter_start(&world_ctl(world.me)->bell);
    struct flight *f;
    if (!is_needed && atomic_fetch_add(&with_events, 1) >= FLIGHTS - KEPT) {
        atomic_fetch_sub(&with_events, 1);
        return NULL;
    }
    while (!(f = find_free()))
        waiter_step(&w);
    f->has_event = !is_needed;
    return f;
}

static void give_back(struct flight *f)
{
    if (f->import)
        far_region_give(f->import);
    if (f->answer != f->few)
        free(f->answer);
    if (f->has_event)
        atomic_fetch_sub(&with_events, 1);
    atomic_store_explicit(&f->token, 0, memory_order_release);
}

// acquire: pairs with the release in flight_answered, and with the transport's.
static bool has_ended(struct flight *f)
{
    return atomic_load_explicit(&f->left, memory_order_acquire) == 0 &&
           atomic_load_explicit(&f->rma.left, memory_order_acquire) == 0;
}

static int end(struct flight *f)
{
    int status = atomic_load_explicit(&f->status, memory_order_relaxed);
    if (f->rma.status < 0)
        net_failed("shoal_put or shoal_get", -1, f->rma.status);
    give_back(f);
    return status;
}

int flight_wait(struct flight *f)
{
    struct waiter w = waiter_start(&world_ctl(world.me)->bell);
    atomic_fetch_sub_explicit(&f->left, 1, memory_order_relaxed);
    while (!has_ended(f))
        waiter_step(&w);
    return end(f);
}

static bool event_is_done(struct ending *e)
{
    return has_ended((struct flight *)e);
}

static int event_end(struct ending *e)
{
    return end((struct flight *)e);
}

void flight_leave(struct flight *f, shoal_event_t *event)
{
    f->ending = (struct ending){.is_done = event_is_done, .end = event_end};
    *event = (shoal_event_t){.word = &f->never, .least = 1, .more = &f->ending};
    atomic_fetch_sub_explicit(&f->left, 1, memory_order_relaxed);
}

// ---- Answers
uint64_t flight_token(const struct flight *f)
{
    return atomic_load_explicit(&f->token, memory_order_relaxed);
}

static void grow(struct flight *f)
{
    struct expected *more = malloc(2 * f->room * sizeof *more);
    if (!more)
        fatal("no memory for %zu operations under way", 2 * f->room);
    memcpy(more, f->answer, f->expected * sizeof *more);
    if (f->answer != f->few)
        free(f->answer);
    f->answer = more;
    f->room *= 2;
}

uint64_t flight_expect(struct flight *f, void *to, size_t n)
{
    atomic_fetch_add_explicit(&f->left, 1, memory_order_relaxed);
    pthread_mutex_lock(&lock);
    if (f->expected == f->room)
        grow(f);
    uint64_t which = f->expected++;
    f->answer[which] = (struct expected){to, n};
    pthread_mutex_unlock(&lock);
    return which;
}

bool flight_answered(uint64_t token, uint64_t which, int status, const void *data, size_t n)
{
    struct flight *f = &flights[token % FLIGHTS];
    if (!token || token == TAKEN || atomic_load_explicit(&f->token, memory_order_acquire) != token)
        return false;
    pthread_mutex_lock(&lock);
    struct expected *e = which < f->expected ? &f->answer[which] : NULL;
    bool is_awaited = e && e->n != SIZE_MAX && n <= (e->n < WORD ? WORD : e->n) &&
                      (status || n >= e->n);
    if (is_awaited && n && e->n) // an atomic's old value comes in 64 bits
        copy_bytes(e->to, data, n < e->n ? n : e->n);
    if (is_awaited)
        e->n = SIZE_MAX; // it has come
    pthread_mutex_unlock(&lock);
    if (!is_awaited)
        return false;
    int none = SHOAL_OK;
    if (status)
        atomic_compare_exchange_strong(&f->status, &none, status);
    // Pairs with the acquire load in has_ended.
    atomic_fetch_sub_explicit(&f->left, 1, memory_order_release);
    bell_check(&world_ctl(world.me)->bell);
    return true;
}

// ---- Beginning
// At most so much is under way as the other PE should have to keep.
static void wait_for_room(struct flight *f)
{
    struct waiter w = waiter_start(&world_ctl(world.me)->bell);
    while (atomic_load_explicit(&f->left, memory_order_acquire) > MOST_ANSWERS)
        waiter_step(&w);
}

static void send_piece(struct flight *f, const struct operation *op, int pe, size_t at, size_t n)
{
    bool is_atomic = op->kind == SHOAL_WORK_ATOMIC, is_get = op->kind == SHOAL_WORK_GET;
    bool fetches = op->kind == OPERATION_FETCH_ACC;
    char *local = op->has_local ? (char *)place_here(op->local) + at : NULL;
    char *to = fetches ? (char *)place_here(op->local2) + at : local;
    size_t back = is_get || fetches    ? n
                  : is_atomic && local ? element_size((shoal_type_t)op->type)
                                       : 0;
    struct operation piece = *op;
    piece.has_comp = op->kind == OPERATION_COMPLETE;
    if (!piece.has_comp)
        piece.initiator = world.me;
    piece.remote.offset += at;
    if (!is_atomic)
        piece.n = n;
    wait_for_room(f);
    uint64_t which = flight_expect(f, to, back);
    net_send_run(&piece, pe, flight_token(f), which, is_get || is_atomic ? NULL : local);
}

static size_t piece_of(const struct operation *op, size_t left)
{
    size_t room = net_run_room();
    if (op->kind == OPERATION_ACC || op->kind == OPERATION_FETCH_ACC) // whole elements
        room -= room % 16;
    return left < room ? left : room;
}

static bool add_rma(struct flight *f, const struct operation *op)
{
    struct transport_remote at;
    struct import *import;
    if (!far_region_find(op, &at, &import))
        return false;
    if (import && f->import == import) {
        far_region_give(import);      // one use is enough
    } else if (import && f->import) { // of two regions: the first comes to its end
        struct waiter w = waiter_start(&world_ctl(world.me)->bell);
        while (atomic_load_explicit(&f->rma.left, memory_order_acquire))
            waiter_step(&w);
        far_region_give(f->import);
    }
    f->import = import ? import : f->import;
    remote_start(op->kind == SHOAL_WORK_PUT, at, place_here(op->local), op->n, &f->rma);
    return true;
}

void flight_add(struct flight *f, const struct operation *op, int pe)
{
    bool by_pieces = op->kind == SHOAL_WORK_PUT || op->kind == SHOAL_WORK_GET ||
                     op->kind == OPERATION_ACC || op->kind == OPERATION_FETCH_ACC;
    net_push_first(pe);
    bool by_message = op->kind == SHOAL_WORK_PUT && op->n <= net.facts.put_by_message;
    if (!by_message && add_rma(f, op))
        return;
    if (!by_pieces)
        send_piece(f, op, pe, 0, 0);
    for (size_t at = 0, n; by_pieces && at < op->n; at += n) {
        n = piece_of(op, op->n - at);
        send_piece(f, op, pe, at, n);
    }
}

// Where what the answer brings goes to, n bytes; on to the next.
static void *place_of_answer(struct operation *like, const shoal_part_t *first, size_t n)
{
    if (like->kind != OPERATION_FETCH_ACC)
        return first->local;
    void *to = place_here(like->local2);
    like->local2 = place_add(like->local2, (ptrdiff_t)n);
    return to;
}

static void add_part(struct flight *f, struct operation *like, const shoal_part_t *p)
{
    struct operation op = operation_of_part(like, p);
    flight_add(f, &op, p->remote.pe);
    place_of_answer(like, p, p->n);
}

static void *vector_memory(const struct operation *op)
{
    void *data = malloc(op->n);
    if (!data)
        fatal("no memory for a message of %zu bytes", (size_t)op->n);
    return data;
}

// Frees the data. What the answer brings goes to `to`.
static void send_vector(struct flight *f, const struct operation *op, void *data, void *to)
{
    int pe = op->remote.pe;
    net_push_first(pe);
    wait_for_room(f);
    net_send_run(op, pe, flight_token(f), flight_expect(f, to, op->a), data);
    free(data);
}

static void add_vector(struct flight *f, struct operation *like, const shoal_part_t part[],
                       size_t parts)
{
    struct operation op;
    vector_make(like, part, parts, &op);
    void *data = vector_memory(&op);
    vector_fill(&op, part, parts, data);
    send_vector(f, &op, data, place_of_answer(like, part, op.a));
}

// Where puts and gets are messages anyway, more of them go together.
static size_t longest(void)
{
    return net.facts.rma_needs_target ? VECTOR_LONGEST_OF_ALL : VECTOR_LONGEST;
}

size_t flight_add_rows(struct flight *f, int kind, const struct rows *all)
{
    struct rows rows = *all;
    struct operation op;
    size_t room = net_run_room_soon(), left = all->parts;
    if ((kind != SHOAL_WORK_PUT && kind != SHOAL_WORK_GET) ||
        (kind == SHOAL_WORK_GET && all->local_step != (ptrdiff_t)all->n) ||
        vector_fit_rows(all, longest(), room) < FEW)
        return 0;
    for (; left; left -= rows.parts) {
        rows.parts = left;
        rows.parts = vector_fit_rows(&rows, longest(), room);
        vector_make_rows(kind, &rows, &op);
        void *data = vector_memory(&op);
        vector_fill_rows(kind, &rows, data);
        send_vector(f, &op, data, rows.local);
        rows.local += (ptrdiff_t)rows.parts * rows.local_step;
        rows.remote = shoal_rptr_add(rows.remote, (ptrdiff_t)rows.parts * rows.remote_step);
    }
    return all->parts;
}

void flight_add_parts(struct flight *f, const struct operation *like, const shoal_part_t part[],
                      size_t parts)
{
    struct operation each = *like;
    for (size_t n; parts; part += n, parts -= n) {
        n = vector_fit(each.kind, part, parts, longest(), net_run_room_soon());
        n = n ? n : 1;
        if (n > 1)
            add_vector(f, &each, part, n);
        else
            add_part(f, &each, part);
    }
}
