// SPDX-License-Identifier: BSD-3-Clause
// Who changes elements how, in a window of one node. An accumulate of few elements is fastest by the
// processor's atomics, one of many by vector loops under the lock of accumulates, and one must not meet
// the other. So a process that comes with few claims the target's elements, and keeps that: while nobody
// asks for claims, it needs no lock. Who comes with many takes the lock and asks for them. Who has a claim
// drops it when it comes again, or its epoch ends; from then on it changes elements under the lock, still
// by atomics, as others may have claims. Once nobody has one, the loops are vector loops: everybody is
// under the lock now. Until somebody still has one, those, too, are atomics.
//
// Between a claim and who asks: each writes its own word, then reads the other's (seq_cst). So either
// the claim is seen, or it is dropped before it is used. A claim that is kept was not dropped: no vector
// loop has run since it was made, whatever else was asked and answered meanwhile.
#include "win.h"

// Accumulates of few elements in a row under the lock, until claims are made again.
enum { PATIENCE = 256 };

static _Atomic uint64_t *own_claim(const struct win *w, struct target *t)
{
    return &t->control->peer[w->rank].claim;
}

static bool is_asked(struct target *t)
{
    return atomic_load_explicit(&t->control->asked, memory_order_seq_cst) != 0;
}

// Of one thread among several: for one operation. release: what was changed by atomics is there for who
// sees the claim gone.
static bool claim_once(struct win *w, struct target *t)
{
    if (is_asked(t))
        return false;
    atomic_fetch_add_explicit(own_claim(w, t), 1, memory_order_seq_cst);
    if (!is_asked(t))
        return true;
    atomic_fetch_sub_explicit(own_claim(w, t), 1, memory_order_release);
    return false;
}

static bool claim_and_keep(struct win *w, struct target *t)
{
    if (is_asked(t)) {
        claim_leave(w, t);
        return false;
    }
    atomic_store_explicit(own_claim(w, t), 1, memory_order_seq_cst);
    t->has_claim = true;
    if (is_asked(t))
        claim_drop(w, t);
    return t->has_claim;
}

enum hold claim_take(struct win *w, struct target *t)
{
    struct control *c = t->control;
    if (c && (shim_threads ? claim_once(w, t) : claim_and_keep(w, t)))
        return shim_threads ? HOLD_CLAIM : HOLD_NOTHING;
    accumulate_lock(t);
    if (c && ++c->few == PATIENCE) {
        c->few = 0;
        // release: who makes a claim then sees what vector loops have written.
        atomic_store_explicit(&c->asked, 0, memory_order_release);
    }
    return HOLD_LOCK;
}

void claim_give(struct win *w, struct target *t, enum hold hold)
{
    if (hold == HOLD_LOCK)
        accumulate_unlock(t);
    else if (hold == HOLD_CLAIM)
        atomic_fetch_sub_explicit(own_claim(w, t), 1, memory_order_release);
}

void claim_drop(struct win *w, struct target *t)
{
    t->has_claim = false;
    atomic_store_explicit(own_claim(w, t), 0, memory_order_release);
}

bool claims_are_gone(struct win *w, struct target *t)
{
    struct control *c = t->control;
    if (!c)
        return false;
    c->few = 0;
    if (!shim_threads)
        claim_leave(w, t);
    if (!claim_is_asked_for(t))
        atomic_store_explicit(&c->asked, 1, memory_order_seq_cst);
    for (int i = 0; i < w->size; i++)
        if (atomic_load_explicit(&c->peer[i].claim, memory_order_seq_cst))
            return false;
    return true;
}
