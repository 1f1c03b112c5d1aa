// SPDX-License-Identifier: BSD-3-Clause
// Messages that wait for room. See outbox.h.
#include "outbox.h"

#include "stats.h"
#include "transfer.h"

#include <stdlib.h>

// A message that was copied.
struct copied {
    struct note note; // first
    uint64_t arg;
    int id;
    uint32_t n;
    unsigned char payload[];
};

struct outbox {
    struct progress_hook hook; // first; while there are notes
    struct note *first, **last;
    int pe;
    struct outbox *next; // of all
};

static struct outbox *outboxes;
static _Atomic int used;
static shim_lock lock; // of all this

static struct note *take_first(struct outbox *o)
{
    shim_lock_take(&lock);
    struct note *note = o->first;
    o->first = note->next;
    if (!o->first)
        o->last = &o->first;
    shim_lock_give(&lock);
    return note;
}

static void put_back(struct outbox *o, struct note *note)
{
    shim_lock_take(&lock);
    note->next = o->first;
    if (!o->first)
        o->last = &note->next;
    o->first = note;
    shim_lock_give(&lock);
}

// A note has gone. True: it was the last, and later messages need not go behind any more.
static bool ends(struct outbox *o)
{
    shim_lock_take(&lock);
    bool is_empty = !o->first;
    if (is_empty) {
        progress_remove(&o->hook);
        atomic_fetch_sub_explicit(&used, 1, memory_order_relaxed);
        // Pairs with the acquire load in outbox_is_used_of.
        atomic_store_explicit(&partner_of(o->pe)->is_waited_for, false, memory_order_release);
    }
    shim_lock_give(&lock);
    return is_empty;
}

// One thread at a time runs it, so nobody else takes notes out.
static bool send_notes(struct progress_hook *hook)
{
    struct outbox *o = (struct outbox *)(void *)hook;
    for (bool did = false;; did = true) {
        struct note *note = take_first(o);
        if (!note->go(note, o->pe)) {
            put_back(o, note);
            return did;
        }
        if (ends(o))
            return true;
    }
}

// With the lock held.
static struct outbox *outbox_of(struct partner *p, int pe)
{
    struct outbox *o = p->outbox;
    if (o)
        return o;
    o = p->outbox = transfer_memory(sizeof *o);
    // Whoever waits does not sleep: nobody is told when there is room.
    *o = (struct outbox){.hook = {.fn = send_notes, .is_brief = true}, .pe = pe, .next = outboxes};
    o->last = &o->first;
    outboxes = o;
    return o;
}

void outbox_put(int pe, struct note *note)
{
    struct partner *partner = partner_of(pe);
    stats_count(KEPT);
    note->next = NULL;
    shim_lock_take(&lock);
    struct outbox *o = outbox_of(partner, pe);
    *o->last = note;
    o->last = &note->next;
    if (!atomic_load_explicit(&partner->is_waited_for, memory_order_relaxed)) {
        atomic_store_explicit(&partner->is_waited_for, true, memory_order_relaxed);
        atomic_fetch_add_explicit(&used, 1, memory_order_relaxed);
        progress_add(&o->hook);
    }
    shim_lock_give(&lock);
}

static bool send_copy(struct note *note, int pe)
{
    struct copied *c = (struct copied *)(void *)note;
    if (!transfer_try(pe, c->id, c->arg, c->payload, c->n))
        return false;
    free(c);
    return true;
}

void outbox_put_copy(int pe, int id, uint64_t arg, const void *payload, size_t n)
{
    struct copied *c = transfer_memory(sizeof *c + n);
    *c = (struct copied){.note = {.go = send_copy}, .arg = arg, .id = id, .n = (uint32_t)n};
    if (n)
        shim_copy(c->payload, payload, n);
    outbox_put(pe, &c->note);
}

void outbox_wait(int pe)
{
    struct idle idle = idle_start("MPI send, for room");
    while (outbox_is_used(pe))
        idle_step(&idle);
}

void outbox_wait_all(void)
{
    struct idle idle = idle_start("MPI send, for room");
    while (atomic_load_explicit(&used, memory_order_relaxed))
        idle_step(&idle);
}

void outbox_down(void)
{
    while (outboxes) {
        struct outbox *next = outboxes->next;
        free(outboxes);
        outboxes = next;
    }
}
