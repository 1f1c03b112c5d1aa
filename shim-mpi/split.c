// SPDX-License-Identifier: BSD-3-Clause
// A rendezvous of which both sides copy pieces, on a node (after AzequiaMPI's split copy). See
// transfer.h. The receiver says where its buffer is (GRANT) and begins to get pieces from the
// sender's; a sender that is in the library puts others. Who copies what is settled by a word that
// both reach:
//
//     record  | claim: generation, next piece | done: pieces copied |     of the receiver
//
// A sender that computes claims nothing, and the receiver does it all. The generation ends the claims
// of a sender that comes late to a record which serves another message already.
#include "split.h"

#include "partner.h"
#include "settings.h"
#include "stats.h"

#include <stdlib.h>

enum { PIECES = 2, PIECE_LEAST = 16 << 10, PIECE_MOST = 512 << 10, LONG = 8 << 20 };

struct grant {
    uint64_t sender;
    struct split_copy copy;
};

static struct split *records; // those not in use
static shim_lock lock;
static _Atomic uint32_t generations = UINT32_MAX - 2; // see PARTNER_START

static size_t piece_of(size_t n)
{
    size_t piece = (n / PIECES + 4095) & ~(size_t)4095;
    return piece < PIECE_LEAST ? PIECE_LEAST : piece > PIECE_MOST ? PIECE_MOST : piece;
}

static uint32_t pieces_of(size_t n)
{
    return (uint32_t)((n + piece_of(n) - 1) / piece_of(n));
}

// The next piece's place in the message; false: there is none, or the message is another one.
static bool claim(struct split *s, const struct split_copy *c, size_t *at, size_t *n)
{
    size_t piece = piece_of(c->bytes);
    uint64_t word = atomic_load_explicit(&s->claim, memory_order_acquire);
    do {
        if (word >> 32 != c->generation >> 32 || (uint32_t)word >= pieces_of(c->bytes))
            return false;
        *at = (uint32_t)word * piece;
    } while (!atomic_compare_exchange_weak_explicit(&s->claim, &word, word + 1,
                                                    memory_order_acq_rel, memory_order_acquire));
    *n = c->bytes - *at < piece ? c->bytes - *at : piece;
    return true;
}

// status: of the call; the event belongs to a copy between processes that reach each other, which is
// done when the call returns.
static void copied(struct split *s, int status, const shoal_event_t *e)
{
    if (!status)
        status = e->status;
    if (status)
        atomic_store_explicit(&s->status, status, memory_order_relaxed);
    // Pairs with the acquire load in look_after.
    atomic_fetch_add_explicit(&s->done, 1, memory_order_release);
}

static void finish_copy(shoal_event_t *e)
{
    shoal_event_t *events[] = {e};
    size_t done = !e->word;
    while (!done && shoal_test(1, events, &done, NULL) == SHOAL_OK)
        ;
}

static bool is_copied(struct split *s, uint64_t bytes)
{
    // Pairs with the release in copied.
    return atomic_load_explicit(&s->done, memory_order_acquire) == pieces_of(bytes);
}

// ---- The sender
struct push {
    struct progress_hook hook;
    struct split_copy copy;
    struct split *record;
    const char *from;
    struct transfer *transfer; // the receiver may end it when all has been copied, unless
    bool ends;                 // this does
};

// A record that serves another message says that this one has been received.
static bool is_over(const struct push *p)
{
    return is_copied(p->record, p->copy.bytes) ||
           atomic_load_explicit(&p->record->claim, memory_order_acquire) >> 32 !=
               p->copy.generation >> 32;
}

// A piece each time, so that others have their turn.
static bool push_on(struct progress_hook *hook)
{
    struct push *p = (struct push *)(void *)hook;
    size_t at, n;
    if (claim(p->record, &p->copy, &at, &n)) {
        stats_count(PUSHED);
        shoal_event_t e = {0};
        int status = shoal_put(shoal_rptr_add(p->copy.to, (ptrdiff_t)at), p->from + at, n, NULL,
                               &e);
        finish_copy(&e);
        transfer_out(p->transfer); // the piece has been read
        copied(p->record, status, &e);
        return true;
    }
    if (p->ends && !is_over(p))
        return false;
    progress_remove(hook);
    if (p->ends)
        transfer_end_send(p->transfer);
    free(p);
    return true;
}

static void push(const struct split_copy *copy, const void *from, struct transfer *t, bool ends)
{
    struct push *p = transfer_memory(sizeof *p);
    *p = (struct push){.hook = {.fn = push_on, .is_brief = true},
                       .copy = *copy,
                       .record = shoal_direct(copy->record, sizeof *p->record),
                       .from = from,
                       .transfer = t,
                       .ends = ends};
    progress_add(&p->hook);
}

void split_push(const struct split_copy *copy, const void *from, struct transfer *t)
{
    push(copy, from, t, true);
}

// ---- To another node, all at once: takes the offer, puts the data, counts the pieces
enum far_step { FAR_CLAIM, FAR_PUT, FAR_COUNT };

struct far_push {
    struct progress_hook hook;
    struct split_copy copy;
    const void *from;
    struct transfer *ends; // not touched before the offer is taken: the receiver may have ended it
    enum far_step step;
    uint64_t was;
    shoal_event_t event;
};

static _Atomic int far_pushes; // under way

static shoal_rptr_t claim_of(shoal_rptr_t record)
{
    return shoal_rptr_add(record, offsetof(struct split, claim));
}

static int swap_claim(shoal_rptr_t record, uint64_t from, uint64_t to, uint64_t *was,
                      shoal_event_t *e)
{
    return shoal_atomic(claim_of(record), SHOAL_CSWAP, SHOAL_UINT64, &to, &from, was, NULL, e);
}

void split_offer_far(struct split *s, uint64_t generation)
{
    uint64_t offer = generation | SPLIT_OFFERED;
    int status = shoal_atomic(claim_of(s->place), SHOAL_SET, SHOAL_UINT64, &offer, NULL, NULL, NULL,
                              NULL);
    transfer_check(shim_pe(), status);
}

bool split_retract_far(struct split *s, uint64_t generation)
{
    uint64_t offer = generation | SPLIT_OFFERED, was = 0;
    return swap_claim(s->place, offer, 0, &was, NULL) == SHOAL_OK && was == offer;
}

// The next step; false: there is none.
static bool far_next(struct far_push *p)
{
    int status = p->event.status;
    uint32_t pieces = pieces_of(p->copy.bytes);
    shoal_rptr_t record = p->copy.record;
    if (p->step == FAR_COUNT ||
        (p->step == FAR_CLAIM && (status || p->was != (p->copy.generation | SPLIT_OFFERED))))
        return false;
    p->event = (shoal_event_t){0};
    if (p->step == FAR_CLAIM) {
        status = shoal_put(p->copy.to, p->from, p->copy.bytes, NULL, &p->event);
    } else {
        if (status)
            shoal_put(shoal_rptr_add(record, offsetof(struct split, status)), &status,
                      sizeof status, NULL, NULL);
        status = shoal_atomic(shoal_rptr_add(record, offsetof(struct split, done)), SHOAL_SUM,
                              SHOAL_UINT32, &pieces, NULL, NULL, NULL, &p->event);
    }
    if (status) // of the call: nothing is under way
        p->event.status = status;
    p->step++;
    return true;
}

static bool far_on(struct progress_hook *hook)
{
    struct far_push *p = (struct far_push *)(void *)hook;
    if (!transfer_event_is_done(&p->event))
        return false;
    if (far_next(p))
        return true;
    progress_remove(hook);
    if (p->step == FAR_COUNT)
        transfer_end_send(p->ends);
    free(p);
    atomic_fetch_sub_explicit(&far_pushes, 1, memory_order_relaxed);
    return true;
}

void split_push_far(const struct split_copy *copy, const void *from, struct transfer *ends)
{
    struct far_push *p = transfer_memory(sizeof *p);
    uint64_t generation = copy->generation;
    *p = (struct far_push){.hook = {.fn = far_on}, .copy = *copy, .from = from, .ends = ends};
    int status = swap_claim(copy->record, generation | SPLIT_OFFERED, generation | SPLIT_TAKEN,
                            &p->was, &p->event);
    if (status)
        p->event.status = status;
    atomic_fetch_add_explicit(&far_pushes, 1, memory_order_relaxed);
    progress_add(&p->hook);
}

static void on_grant(const shoal_am_t *am)
{
    struct grant g;
    memcpy(&g, am->payload, sizeof g);
    struct transfer *t = transfer_back(g.sender);
    push(&g.copy, t->copy ? t->copy : type_at(t->type, t->buf), t, false);
}

// ---- The receiver
static struct split *make_record(void)
{
    struct split *s = shoal_alloc(sizeof *s);
    if (s && shoal_rptr_own(s, &s->place)) {
        shoal_free(s);
        s = NULL;
    }
    return s;
}

// 0 is none (hint.c).
static uint32_t next_generation(void)
{
    uint32_t next;
    do
        next = atomic_fetch_add_explicit(&generations, 1, memory_order_relaxed) + 1;
    while (!next);
    return next;
}

struct split *split_take_record(struct split_copy *copy)
{
    shim_lock_take(&lock);
    struct split *s = records;
    if (s)
        records = s->next;
    shim_lock_give(&lock);
    if (!s && !(s = make_record()))
        return NULL;
    copy->record = s->place;
    copy->generation = (uint64_t)next_generation() << 32;
    // A sender that has not looked yet sees that the message before is over. Pairs with the acquire there.
    atomic_store_explicit(&s->claim, 0, memory_order_release);
    atomic_store_explicit(&s->done, 0, memory_order_relaxed);
    atomic_store_explicit(&s->status, 0, memory_order_relaxed);
    return s;
}

void split_give_record(struct split *s)
{
    shim_lock_take(&lock);
    s->next = records;
    records = s;
    shim_lock_give(&lock);
}

static bool is_received(const struct transfer *t)
{
    return is_copied(t->split, (uint64_t)t->request.bytes);
}

static void finish(struct transfer *t)
{
    t->event.status = atomic_load_explicit(&t->split->status, memory_order_relaxed);
    split_give_record(t->split);
    pull_end(t);
}

static bool look_after(struct progress_hook *hook)
{
    struct transfer *t = TRANSFER(hook, hook);
    if (!is_received(t))
        return false;
    progress_remove(hook);
    finish(t);
    return true;
}

// ---- The receiver's pieces
struct pull {
    struct progress_hook hook;
    struct transfer *transfer;
    struct split_copy copy;
    char *to;
    shoal_rptr_t from;
};

// False: none is left.
static bool pull_piece(const struct pull *p)
{
    struct transfer *t = p->transfer;
    size_t at, n;
    if (!claim(t->split, &p->copy, &at, &n))
        return false;
    shoal_event_t e = {0};
    int status = shoal_get(p->to + at, shoal_rptr_add(p->from, (ptrdiff_t)at), n, NULL, &e);
    finish_copy(&e);
    copied(t->split, status, &e);
    return true;
}

static void look_for_rest(struct transfer *t)
{
    if (is_received(t)) {
        finish(t);
        return;
    }
    t->hook = (struct progress_hook){.fn = look_after, .is_brief = true};
    progress_add(&t->hook);
}

static bool pull_on(struct progress_hook *hook)
{
    struct pull *p = (struct pull *)(void *)hook;
    struct transfer *t = p->transfer;
    if (pull_piece(p))
        return true;
    progress_remove(hook);
    free(p);
    look_for_rest(t);
    return true;
}

// With several threads whoever handles the message leaves the pieces to those that wait, one at a time: it
// keeps the inbox from them.
void split_pull(struct transfer *t, const struct split_copy *copy, void *to, shoal_rptr_t from)
{
    struct pull pull = {{.fn = pull_on, .is_brief = true}, t, *copy, to, from};
    if (shim_threads) {
        struct pull *p = transfer_memory(sizeof *p);
        *p = pull;
        progress_add(&p->hook);
        request_count_activity();
        return;
    }
    while (pull_piece(&pull))
        ;
    look_for_rest(t);
}

// In a collective of processes that share cores nobody has one left to help; nor has a sender that gets
// something from here at the same time. But of what takes long with several threads the pieces matter: see
// split_pull.
static bool gets_no_help(const struct transfer *t)
{
    if (shim_threads && t->request.bytes >= LONG)
        return false;
    return (t->space == SPACE_COLL && request_is_crowded()) ||
           atomic_load_explicit(&partner_of(t->pe)->out, memory_order_relaxed);
}

bool split_accept(struct transfer *t, const struct rts *rts, void *to)
{
    struct grant g = {.sender = rts->sender, .copy.bytes = (uint64_t)t->request.bytes};
    if (g.copy.bytes < shim_settings.split || !shim_settings.split || t->pe == shim_pe() ||
        !partner_is_reached(t->pe) || gets_no_help(t))
        return false;
    struct split *s = split_take_record(&g.copy);
    if (!s || !pull_expose(t, to, g.copy.bytes, &g.copy.to)) {
        if (s)
            split_give_record(s);
        return false;
    }
    stats_count(SPLIT);
    t->split = s;
    // Pairs with the acquire in claim of a sender that looks at it for an older message.
    atomic_store_explicit(&s->claim, g.copy.generation, memory_order_release);
    transfer_tell(t->pe, AM_GRANT, 0, &g, sizeof g);
    split_pull(t, &g.copy, to, rts->from);
    return true;
}

int split_up(void)
{
    return shoal_am_register(AM_GRANT, on_grant, NULL);
}

void split_down(void)
{
    struct idle idle = idle_start("MPI_Finalize");
    while (
        atomic_load_explicit(&far_pushes, memory_order_relaxed)) // of offers that were taken back
        idle_step(&idle);
    records = NULL; // they go with the runtime's memory
}
