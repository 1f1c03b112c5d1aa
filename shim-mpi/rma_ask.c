// SPDX-License-Identifier: BSD-3-Clause
// Short operations on private memory of another process of this node that their target does, where it is in the
// library just then: to copy some bytes takes the kernel microseconds, and twice as many to change them.
//
//     origin                                   target, in its handler
//     number = 17, sends the question
//     looks for an answer                      finds number 17: makes it 0, does it
//                                              answered = 17
//     takes what was brought
//
// A target that computes does not answer: after some looks the origin makes the number 0 itself, unless the
// target has done so meanwhile, and goes by way of the kernel. So nobody waits for a process that does not come,
// and a question that comes late is none. There is one at a time between two processes, and no other one
// before the last has come, so that they do not fill the channel.
#include "rma_ask.h"

#include "partner.h"
#include "rma.h"
#include "rma_words.h"
#include "settings.h"
#include "stats.h"
#include "transfer.h"

#include <stdlib.h>
#include <string.h>

enum { LOOKS = 128 };
enum { WITH = 512 }; // bytes of operands that go with the question, if it has room

// Of the origin, for one target, in memory that both reach.
struct answer {
    _Alignas(LINE) _Atomic uint64_t number; // of the question, 0: there is none
    _Alignas(LINE) _Atomic uint64_t answered;
    _Atomic uint64_t come; // the last one that came too late
    uint32_t is_refused;   // the lock was not free, or an address is out of date
    unsigned char brought[RMA_ASK_MOST];
    _Alignas(LINE) char given[RMA_ASK_MOST]; // operands
};

struct asker {
    _Atomic unsigned char is_busy; // with another thread's
    struct answer *answer;         // NULL: there is no memory
    shoal_rptr_t at;
    uint64_t number;       // of the last question
    _Atomic uint64_t late; // the last one was taken back: its number; else 0
};

struct question {
    uint64_t number;
    shoal_rptr_t answer, control;
    uint64_t version; // of a dynamic window's table when the addresses were looked up
    MPI_Op op;
    MPI_Datatype basic;
    uint32_t pieces;
    bool is_locked, is_swap, brings;
};

// `count` blocks of n bytes, the first at address va.
struct piece {
    uint64_t va, n, count;
    int64_t step;
};

// ---- The target
static void change_piece(const struct op *op, const struct type *basic, const struct piece *p,
                         const char *in, char *old)
{
    char *at = (char *)(uintptr_t)p->va;
    MPI_Count n = (MPI_Count)p->n, count = (MPI_Count)p->count, step = p->step;
    if (count > 1 && op_is_for_windows(op)) {
        if (old)
            type_copy_steps(old, n, at, step, count, n);
        if (op->kind == OP_REPLACES)
            type_copy_steps(at, step, in, n, count, n);
        return;
    }
    for (MPI_Count i = 0; i < count; i++, in += n)
        change_here(op, basic, at + i * step, in, old ? old + i * n : NULL, n / basic->size);
}

// Operands and old values are in a row each; before the one of a swap comes what to compare with.
static void change(const struct question *q, const char *pieces, const char *in, char *old)
{
    const struct op *op = op_of(q->op);
    const struct type *basic = type_of(q->basic);
    for (size_t i = 0; i < q->pieces; i++) {
        struct piece p;
        memcpy(&p, pieces + i * sizeof p, sizeof p);
        change_piece(op, basic, &p, in, q->brings ? old : NULL);
        in += p.count * p.n;
        old += p.count * p.n;
    }
}

static void swap(const char *piece, const char *in, char *old)
{
    struct piece p;
    memcpy(&p, piece, sizeof p);
    char *at = (char *)(uintptr_t)p.va;
    memcpy(old, at, p.n);
    if (memcmp(old, in, p.n) == 0)
        memcpy(at, in + p.n, p.n);
}

static bool try_change(const struct question *q, const shoal_am_t *am, struct answer *a)
{
    struct control *c = shoal_direct(q->control, sizeof *c);
    const char *pieces = (const char *)am->payload + sizeof *q, *in = a->given;
    size_t before = sizeof *q + q->pieces * sizeof(struct piece);
    _Alignas(max_align_t) char with[WITH];
    uint64_t none = 0;
    if (atomic_load_explicit(&c->version, memory_order_relaxed) != q->version)
        return false;
    if (q->is_locked && !atomic_compare_exchange_strong_explicit(
                            &c->accumulate, &none, 1, memory_order_acquire, memory_order_relaxed))
        return false;
    if (am->n > before)
        in = memcpy(with, (const char *)am->payload + before, am->n - before);
    if (q->is_swap)
        swap(pieces, in, (char *)a->brought);
    else
        change(q, pieces, in, (char *)a->brought);
    if (q->is_locked)
        atomic_store_explicit(&c->accumulate, 0, memory_order_release);
    return true;
}

static void on_question(const shoal_am_t *am)
{
    struct question q;
    memcpy(&q, am->payload, sizeof q);
    struct answer *a = shoal_direct(q.answer, sizeof *a);
    uint64_t number = q.number;
    // Either this or take_back has it, and the message orders what else is there. What the question needs
    // stays until it is answered.
    if (!atomic_compare_exchange_strong_explicit(&a->number, &number, 0, memory_order_relaxed,
                                                 memory_order_relaxed)) {
        atomic_store_explicit(&a->come, q.number, memory_order_release);
        return;
    }
    a->is_refused = !try_change(&q, am, a);
    // Pairs with the acquire load in is_answered: what was done, and what was brought.
    atomic_store_explicit(&a->answered, q.number, memory_order_release);
}

int rma_ask_up(void)
{
    return shoal_am_register(AM_QUESTION, on_question, NULL);
}

// ---- The origin
static bool take_back(struct asker *k)
{
    uint64_t number = k->number;
    return atomic_compare_exchange_strong_explicit(&k->answer->number, &number, 0,
                                                   memory_order_relaxed, memory_order_relaxed);
}

static bool is_answered(const struct asker *k)
{
    return atomic_load_explicit(&k->answer->answered, memory_order_acquire) == k->number;
}

static bool wait_for(struct asker *k)
{
    for (int i = 0; i < LOOKS && !is_answered(k); i++)
        progress_look();
    if (!is_answered(k) && take_back(k)) {
        atomic_store_explicit(&k->late, k->number, memory_order_relaxed);
        return false;
    }
    while (!is_answered(k))
        progress_look();
    return !k->answer->is_refused;
}

static struct asker *make_asker(struct partner *p)
{
    struct asker *none = NULL, *k = calloc(1, sizeof *k);
    if (!k)
        return NULL;
    k->answer = shoal_alloc(sizeof *k->answer);
    if (k->answer)
        memset(k->answer, 0, offsetof(struct answer, brought));
    if (k->answer && shoal_rptr_own(k->answer, &k->at) != SHOAL_OK) {
        shoal_free(k->answer);
        k->answer = NULL;
    }
    if (atomic_compare_exchange_strong(&p->asker, &none, k))
        return k;
    shoal_free(k->answer);
    free(k);
    return none;
}

static struct asker *asker_of(int pe)
{
    struct partner *p = partner_of(pe);
    struct asker *k = atomic_load_explicit(&p->asker, memory_order_acquire);
    if (unlikely(!k))
        k = make_asker(p);
    return k && k->answer ? k : NULL;
}

static bool is_late(const struct asker *k)
{
    uint64_t late = atomic_load_explicit(&k->late, memory_order_relaxed);
    return late && atomic_load_explicit(&k->answer->come, memory_order_acquire) != late;
}

static size_t bytes_of(const struct rma_asked *a)
{
    size_t n = 0;
    for (size_t i = 0; i < a->parts; i++)
        n += a->part[i].n;
    return n;
}

static char *write_operands(const struct rma_asked *a, size_t bytes, char *to)
{
    const char *in = a->in;
    if (a->compare)
        to = (char *)memcpy(to, a->compare, bytes) + bytes;
    for (size_t i = 0; i < a->parts && a->op->kind != OP_DOES_NOTHING; i++) {
        size_t n = a->part[i].n;
        shim_copy(to, in ? in : a->part[i].local, n);
        in = in ? in + n : NULL;
        to += n;
    }
    return to;
}

static size_t pieces_of(const struct rma_asked *a)
{
    const struct type_loops *l = a->loops;
    return !l ? a->parts : l->levels < 2 ? 1 : l->levels == 2 ? l->count[2] : RMA_ASK_PIECES + 1;
}

static struct piece piece_of(const struct rma_asked *a, size_t i)
{
    const struct type_loops *l = a->loops;
    const shoal_part_t *part = &a->part[l ? 0 : i];
    uint64_t va = a->at->va + part->remote.offset - a->at->at.offset;
    if (!l)
        return (struct piece){va, part->n, 1, 0};
    va += (uint64_t)l->disp + (l->levels > 1 ? i * (uint64_t)l->stride[1] : 0);
    return (struct piece){va, l->count[0], l->levels ? l->count[1] : 1,
                          l->levels ? l->stride[0] : 0};
}

// The payload: the question, its pieces, and operands. Its length.
static size_t write_down(const struct rma_asked *a, struct asker *k, size_t bytes, char *to,
                         size_t room)
{
    size_t pieces = pieces_of(a);
    struct question q = {.number = ++k->number,
                         .answer = k->at,
                         .control = a->t->control_at,
                         .version = a->at->version,
                         .op = object_handle(a->op),
                         .basic = object_handle(a->basic),
                         .pieces = (uint32_t)pieces,
                         .is_locked = a->is_locked,
                         .is_swap = a->compare != NULL,
                         .brings = a->old || a->brings};
    char *end = to;
    end = (char *)memcpy(end, &q, sizeof q) + sizeof q;
    for (size_t i = 0; i < pieces; i++) {
        struct piece p = piece_of(a, i);
        end = (char *)memcpy(end, &p, sizeof p) + sizeof p;
    }
    size_t operands = bytes * ((a->compare != NULL) + (a->op->kind != OP_DOES_NOTHING));
    if (operands <= WITH && (size_t)(end - to) + operands <= room)
        end = write_operands(a, bytes, end);
    else
        write_operands(a, bytes, k->answer->given);
    return (size_t)(end - to);
}

static void bring(const struct rma_asked *a, const struct answer *from)
{
    const unsigned char *data = from->brought;
    for (size_t i = 0; i < a->parts; data += a->part[i++].n) {
        void *to = a->old ? a->old[i] : a->brings ? a->part[i].local : NULL;
        if (to)
            shim_copy(to, data, a->part[i].n);
    }
}

static bool ask(const struct rma_asked *a, struct asker *k, size_t bytes)
{
    char payload[sizeof(struct question) + RMA_ASK_PIECES * sizeof(struct piece) + WITH];
    int pe = a->t->control_at.pe;
    size_t room = partner_of(pe)->am_max, n = write_down(a, k, bytes, payload, room);
    atomic_store_explicit(&k->late, 0, memory_order_relaxed);
    atomic_store_explicit(&k->answer->number, k->number, memory_order_relaxed);
    if (n > room || shoal_am_try(pe, AM_QUESTION, 0, payload, n) != SHOAL_OK) {
        atomic_store_explicit(&k->answer->number, 0, memory_order_relaxed);
        return false;
    }
    if (!wait_for(k))
        return false;
    bring(a, k->answer);
    stats_count(ASKED);
    return true;
}

bool rma_may_ask(struct target *t, const struct place *at, size_t bytes)
{
    struct asker *k = NULL;
    return at->memory == MEMORY_PRIVATE && t->control && bytes <= shim_settings.ask &&
           bytes <= RMA_ASK_MOST && !request_is_crowded() && (k = asker_of(t->control_at.pe)) &&
           !atomic_load_explicit(&k->is_busy, memory_order_relaxed) && !is_late(k);
}

bool rma_ask(const struct rma_asked *a)
{
    size_t bytes = bytes_of(a);
    if (!rma_may_ask(a->t, a->at, bytes) || !a->basic->is_dense || pieces_of(a) > RMA_ASK_PIECES)
        return false;
    struct asker *k = asker_of(a->t->control_at.pe);
    if (atomic_exchange_explicit(&k->is_busy, 1, memory_order_acquire))
        return false;
    bool done = !is_late(k) && ask(a, k, bytes);
    atomic_store_explicit(&k->is_busy, 0, memory_order_release);
    return done;
}
