// SPDX-License-Identifier: BSD-3-Clause
// Short operations on windows that are not mapped here, many to a call of the runtime: one message to another
// node, one call of the kernel for private memory of this one. Those of one kind that follow the first to a
// target are kept, and begin together when
//
//     there is no room for one more            one of another kind comes
//     another one comes to another node,       a synchronization wants them complete
//     and nothing is under way there
//
// The first is one that is under way meanwhile to another node, or the first after a flush of what is done within
// the lock; puts to another node in an epoch of MPI_Win_start or MPI_Win_lock are all kept, and go with the word that it is
// over. What is put or added is copied: the origin's buffer is free when the call returns. Accumulates keep
// their order, since one that is not kept lets those go first that are.
//
// Puts and gets on this node are all kept, longer ones too, and lend the origin's buffers: the kernel copies from
// and to there, and a call of its own for each would be done no sooner than in the flush.
#include "error.h"
#include "partner.h"
#include "rma.h"
#include "rma_ask.h"
#include "rma_words.h"
#include "settings.h"
#include "stats.h"

#include <stdlib.h>
#include <string.h>

enum { PARTS = 256, ROOM = 16384, MOST_TARGETS = 256 };
// Of those whose buffers are lent: as many as malloc has at hand, and their length in multiples of the setting. The
// same of those that go with the word at the end of their epoch.
enum { LENT_PARTS = RMA_ASK_PIECES, LENT_TIMES = 128, WORD_TIMES = 16 };

struct kind {
    enum { PUTS, GETS, ACCUMULATES, FETCHES, LOCKED } what;
    bool is_lent;  // the origin's buffers are
    shoal_op_t op; // of accumulates and those that fetch
    shoal_type_t type;
    const struct op *any_op; // of those within the lock
    const struct type *basic;
};

struct gathered {
    struct kind kind;
    size_t kept, bytes; // operations, and what of them is copied
    size_t parts, brought;
    shoal_part_t part[PARTS];
    uint16_t part_of[PARTS]; // of those within the lock, of which several may have one place
    void *to[PARTS];         // of those that bring something: from `back` on to there
    _Alignas(max_align_t) char data[ROOM];
    _Alignas(max_align_t) char back[ROOM];
};

static bool is_same(const struct kind *a, const struct kind *b)
{
    return a->what == b->what && a->is_lent == b->is_lent && a->op == b->op && a->type == b->type &&
           a->any_op == b->any_op && a->basic == b->basic;
}

static bool brings(const struct kind *k) // and not to where it shall be
{
    return (k->what == GETS && !k->is_lent) || k->what == FETCHES;
}

// ---- They begin, and end
static int begin(struct target *t, struct gathered *g, shoal_event_t *event)
{
    const struct kind *k = &g->kind;
    switch (k->what) {
    case PUTS:
        if (g->parts == 1)
            return shoal_put(g->part->remote, g->part->local, g->part->n, NULL, event);
        return shoal_putv(g->part, g->parts, NULL, event);
    case GETS:
        if (g->parts == 1)
            return shoal_get(g->part->local, g->part->remote, g->part->n, NULL, event);
        return shoal_getv(g->part, g->parts, NULL, event);
    default:
        return words_far_accv(t, g->part, g->parts, k->what == FETCHES ? g->back : NULL, k->op,
                              k->type, event);
    }
}

void rma_gather_end(struct gathered *g, int status)
{
    const char *from = g->back;
    for (size_t i = 0; i < g->parts && brings(&g->kind) && status == SHOAL_OK; i++) {
        memcpy(g->to[i], from, g->part[i].n);
        from += g->part[i].n;
    }
    free(g);
}

// As in rma_change.c: got, changed and put within the target's lock. Parts have no byte in common.
static int do_locked(struct gathered *g, struct target *t)
{
    bool is_alone = rma_is_alone_there(t);
    if (!rma_is_in_order(t))
        rma_later_settle(t);
    if (!is_alone)
        accumulate_lock(t);
    int status = shoal_getv(g->part, g->parts, NULL, NULL);
    const char *in = g->data;
    for (size_t i = 0; i < g->kept && status == SHOAL_OK; i++) {
        const shoal_part_t *part = &g->part[g->part_of[i]];
        change_here(g->kind.any_op, g->kind.basic, part->local, in, g->to[i],
                    array_count(g->kind.basic, part->n));
        in += part->n;
    }
    if (status == SHOAL_OK && g->kind.any_op->kind != OP_DOES_NOTHING)
        status = rma_far_put_elements(g->kind.basic, g->part, g->parts);
    if (!is_alone)
        accumulate_unlock(t);
    return status;
}

// The part that is this place, or `parts`. *crosses: there is one that has but some bytes of it.
static size_t find_part(const struct gathered *g, const shoal_rptr_t *at, size_t n, bool *crosses)
{
    size_t same = g->parts;
    for (size_t i = 0; i < g->parts; i++) {
        const shoal_rptr_t *has = &g->part[i].remote;
        if (at->offset == has->offset && n == g->part[i].n && at->region == has->region &&
            at->stamp == has->stamp)
            same = i;
        else if (at->offset < has->offset + g->part[i].n && has->offset < at->offset + n)
            *crosses = true;
    }
    return same;
}

// Those that this process does may change one place several times; who is asked for them takes each for itself.
// *part: which is the operation's, or the next one.
static bool is_in_the_way(const struct target *t, const struct gathered *g, const shoal_rptr_t *at,
                          size_t n, size_t *part)
{
    bool crosses = false;
    *part = find_part(g, at, n, &crosses);
    return crosses || (t->control && *part < g->parts);
}

// ---- A window's targets for which something is kept
static bool link_target(struct win *w, struct target *t)
{
    shim_lock_take(&w->gather.lock);
    bool is_room = w->gather.targets < MOST_TARGETS;
    if (is_room) {
        w->gather.targets++;
        t->next_gathered = w->gather.first;
        w->gather.first = t;
    }
    shim_lock_give(&w->gather.lock);
    return is_room;
}

static void unlink_target(struct win *w, struct target *t)
{
    shim_lock_take(&w->gather.lock);
    struct target **at = &w->gather.first;
    while (*at != t)
        at = &(*at)->next_gathered;
    *at = t->next_gathered;
    w->gather.targets--;
    shim_lock_give(&w->gather.lock);
}

static struct target *first_target(struct win *w)
{
    shim_lock_take(&w->gather.lock);
    struct target *t = w->gather.first;
    shim_lock_give(&w->gather.lock);
    return t;
}

static bool is_done_at_once(const struct target *t, const struct kind *kind)
{
    return t->control || kind->what == LOCKED;
}

// Whose epoch ends with a word to this target alone.
static bool waits_for_end(const struct target *t, const struct kind *kind)
{
    return kind->what == PUTS && !kind->is_lent && target_access(t) & ACCESS_BY_NAME;
}

static bool is_asked_for(struct target *t, const struct gathered *g)
{
    const struct kind *k = &g->kind;
    bool is_locked = k->what == LOCKED;
    struct place at = {.at = t->at, .va = t->va, .memory = t->memory};
    struct rma_asked a = {.t = t,
                          .at = &at,
                          .op = is_locked ? k->any_op
                                          : op_of(k->what == GETS ? MPI_NO_OP : MPI_REPLACE),
                          .basic = is_locked ? k->basic : type_of(MPI_BYTE),
                          .is_locked = is_locked,
                          .part = g->part,
                          .parts = g->parts,
                          .in = is_locked ? g->data : NULL,
                          .old = is_locked ? g->to : NULL,
                          .brings = k->what == GETS};
    return is_done_at_once(t, k) && rma_ask(&a);
}

// What has no memory to be under way is done now.
static int begin_or_do(struct win *w, struct target *t, struct gathered *g)
{
    struct rma r = {.w = w, .t = t};
    if (is_asked_for(t, g)) {
        rma_gather_end(g, SHOAL_OK);
        return SHOAL_OK;
    }
    struct rma_later *l = is_done_at_once(t, &g->kind) ? NULL : rma_later_new(&r);
    int status = g->kind.what == LOCKED ? do_locked(g, t) : begin(t, g, l ? &l->event : NULL);
    if (l && status == SHOAL_OK) {
        l->gathered = g;
        rma_later_start(&r, l);
    } else {
        free(l);
        rma_gather_end(g, status);
    }
    return status;
}

// Within the target's lock, so that nobody's next operation comes before. A flush in another thread finds it
// kept, or under way.
static void send(struct win *w, struct target *t)
{
    int none = SHOAL_OK, status = begin_or_do(w, t, t->gathered);
    if (status != SHOAL_OK)
        atomic_compare_exchange_strong(&w->later.status, &none, status);
    unlink_target(w, t);
    t->gathered = NULL;
}

static void send_some(struct win *w, struct target *t, bool is_flush)
{
    shim_lock_take(&t->gather_lock);
    if (t->gathered)
        send(w, t);
    t->flushes += is_flush;
    shim_lock_give(&t->gather_lock);
}

void rma_gather_push(struct win *w, struct target *t)
{
    if (rma_is_kept_for(t))
        send_some(w, t, false);
}

void rma_gather_flush(struct win *w, struct target *t)
{
    if (t) {
        send_some(w, t, true);
        return;
    }
    atomic_fetch_add_explicit(&w->gather.flushes, 1, memory_order_relaxed);
    while ((t = first_target(w)))
        send_some(w, t, false);
}

// Within the target's lock: puts, and all there is for it. NULL: there is something else.
static struct gathered *last_puts(struct target *t)
{
    struct gathered *g = t->gathered;
    bool are = g && g->kind.what == PUTS &&
               atomic_load_explicit(&t->under_way, memory_order_acquire) == 0;
    return are ? g : NULL;
}

static void drop(struct win *w, struct target *t)
{
    rma_gather_end(t->gathered, SHOAL_OK);
    unlink_target(w, t);
    t->gathered = NULL;
}

bool rma_gather_tell(struct win *w, struct target *t, size_t offset)
{
    if (t->control || !rma_is_kept_for(t))
        return false;
    shim_lock_take(&t->gather_lock);
    struct gathered *g = last_puts(t);
    bool told = g && word_add_after(t, offset, 1, g->part, g->parts);
    if (told)
        drop(w, t);
    shim_lock_give(&t->gather_lock);
    return told;
}

bool rma_gather_signal(struct win *w, struct target *t, size_t offset, uint64_t n)
{
    if (t->control || !rma_is_kept_for(t))
        return false;
    shoal_rptr_t word = shoal_rptr_add(t->control_at, (ptrdiff_t)offset);
    shoal_comp_t signal = {.signal = &word, .signal_value = n, .signal_op = SHMEM_SIGNAL_ADD};
    shim_lock_take(&t->gather_lock);
    struct gathered *g = last_puts(t);
    bool told = g && g->parts == 1 &&
                shoal_put(g->part->remote, g->part->local, g->part->n, &signal, NULL) == SHOAL_OK;
    if (told)
        drop(w, t);
    shim_lock_give(&t->gather_lock);
    return told;
}

// ---- One more
static struct gathered *new_for(struct win *w, struct target *t, const struct kind *kind)
{
    bool has_back = brings(kind) || kind->what == LOCKED;
    struct gathered *g = malloc(has_back        ? sizeof *g
                                : kind->is_lent ? offsetof(struct gathered, part[LENT_PARTS])
                                                : offsetof(struct gathered, back));
    if (!g || !link_target(w, t)) {
        free(g);
        return NULL;
    }
    g->kind = *kind;
    g->kept = g->bytes = g->parts = g->brought = 0;
    t->gathered = g;
    return g;
}

// Of this target and of all, and 1.
static uint64_t flushes_of(const struct win *w, const struct target *t)
{
    return t->flushes + atomic_load_explicit(&w->gather.flushes, memory_order_relaxed) + 1;
}

// Is there a reason to keep one? A row has begun, and what it began with is under way, if it takes its time.
static bool is_kept(const struct win *w, const struct target *t, const struct kind *kind)
{
    bool is_row = t->row_after == flushes_of(w, t);
    int under_way = atomic_load_explicit(&t->under_way, memory_order_relaxed);
    if (kind->is_lent || waits_for_end(t, kind))
        return true;
    return is_done_at_once(t, kind) ? is_row : under_way > 0;
}

// Room for n bytes, of which so many are copied, and which part they are. NULL: the operation goes by itself, and
// comes after those that are kept.
static struct gathered *room_for(struct win *w, struct target *t, const struct kind *kind,
                                 const shoal_rptr_t *at, size_t n, size_t copied, size_t *part)
{
    struct gathered *g = t->gathered;
    *part = g ? g->parts : 0;
    if (g && (!is_same(&g->kind, kind) || g->bytes + copied > ROOM ||
              (kind->what == LOCKED && is_in_the_way(t, g, at, n, part)))) {
        send(w, t);
        g = NULL;
        *part = 0;
    }
    bool keeps = is_kept(w, t, kind);
    if (keeps || is_done_at_once(t, kind))
        t->row_after = flushes_of(w, t);
    return !g && keeps ? new_for(w, t, kind) : g;
}

static void add_locked(struct gathered *g, size_t part, shoal_rptr_t at, size_t n)
{
    g->part_of[g->kept] = (uint16_t)part;
    if (part < g->parts)
        return;
    g->part[g->parts++] = (shoal_part_t){at, g->back + g->brought, n};
    g->brought += n;
}

static void add(struct gathered *g, size_t part, shoal_rptr_t at, const void *in, void *out,
                size_t n)
{
    const struct kind *kind = &g->kind;
    char *data = g->data + g->bytes;
    void *local = in ? data : NULL;
    if (kind->is_lent)
        local = in ? (void *)(uintptr_t)in : out;
    else if (kind->what == GETS)
        local = g->back + g->bytes;
    if (kind->what == LOCKED)
        add_locked(g, part, at, n);
    else
        g->part[g->parts++] = (shoal_part_t){at, local, n};
    if (!kind->is_lent) {
        if (in)
            memcpy(data, in, n);
        g->to[g->kept] = out;
        g->bytes += n;
    }
    g->kept++;
}

static size_t longest(const struct target *t, const struct kind *kind)
{
    size_t most = shim_settings.gather;
    size_t gathered = t->control || !most ? 0 : partner_of(t->at.pe)->gathered;
    if (kind->is_lent)
        return most * LENT_TIMES;
    most = gathered > most ? gathered : most;
    return waits_for_end(t, kind) ? most * WORD_TIMES : most;
}

// in: what is put or added; out: where what is brought goes to. Either may be NULL.
static bool gather(struct rma *r, const struct kind *kind, const void *in, void *out, size_t n)
{
    struct win *w = r->w;
    struct target *t = r->t;
    size_t most = longest(t, kind), copied = kind->is_lent ? 0 : n;
    if (n > most || copied > ROOM || (out && r->request))
        return false;
    shoal_rptr_t at = shoal_rptr_add(r->at.at, r->there.type->true_lb);
    shim_lock_take(&t->gather_lock);
    size_t part;
    struct gathered *g = room_for(w, t, kind, &at, n, copied, &part);
    bool is_taken = g, is_full = false;
    if (g) {
        add(g, part, at, in, out, n);
        stats_count(GATHERED);
        is_full = g->kept == (kind->is_lent ? LENT_PARTS : PARTS);
        if (is_full || !is_kept(w, t, kind))
            send(w, t);
    }
    shim_lock_give(&t->gather_lock);
    if (is_full && !kind->is_lent)
        progress(); // what is under way ends now and then
    return is_taken;
}

bool rma_gather_move(struct rma *r, bool put)
{
    const struct rma_side *o = &r->origin, *there = &r->there;
    struct kind kind = {.what = put ? PUTS : GETS, .is_lent = r->t->control && !r->request};
    void *at = type_at(o->type, o->buf);
    return o->type->is_dense && there->type->is_dense &&
           gather(r, &kind, put ? at : NULL, put ? NULL : at,
                  (size_t)(there->count * there->type->size));
}

bool rma_gather_accumulate(struct rma *r, const struct type *basic, const char *in, char *old,
                           size_t bytes)
{
    struct kind kind = {.what = old ? FETCHES : ACCUMULATES};
    return r->there.type->is_dense && words_far_op(r->op, basic, &kind.op, &kind.type) &&
           gather(r, &kind, in, old, bytes);
}

bool rma_gather_locked(struct rma *r, const struct type *basic, const char *in, char *old,
                       size_t bytes)
{
    struct kind kind = {.what = LOCKED, .any_op = r->op, .basic = basic};
    return gather(r, &kind, in, old, bytes);
}
