// SPDX-License-Identifier: BSD-3-Clause
// Operations that are under way to other nodes after their call has returned. They are in a list of
// their window, which a progress hook goes through; flushes wait until the list has none for them.
//
// The events are looked at within the hook alone, which one thread runs at a time.
#include "error.h"
#include "rma.h"

#include <stdlib.h>

struct rma_later *rma_later_new(struct rma *r)
{
    struct rma_later *l = calloc(1, sizeof *l);
    if (!l)
        return NULL;
    l->w = r->w;
    l->t = r->t;
    return l;
}

void rma_later_unpack(struct rma_later *l, const struct rma_side *to, struct type *from,
                      MPI_Count n)
{
    l->to = *to;
    l->from = from;
    l->n = n;
    type_keep(l->to.type);
    if (from)
        type_keep(from);
}

void rma_later_fail(struct rma_later *whole, int status)
{
    int none = SHOAL_OK;
    // relaxed: rma_later_drop_part orders it.
    if (status != SHOAL_OK)
        atomic_compare_exchange_strong_explicit(&whole->status, &none, status, memory_order_relaxed,
                                                memory_order_relaxed);
}

// l's memory is gone; the caller tells the window.
static void end(struct rma_later *l, int status)
{
    if (l->whole) {
        rma_later_fail(l->whole, status);
        rma_later_drop_part(l->whole);
        free(l);
        return;
    }
    const struct rma_side *to = &l->to;
    if (to->type && status == SHOAL_OK && l->from)
        type_copy(to->type, to->buf, to->count, l->from, type_base(l->back, l->lb), l->n);
    else if (to->type && status == SHOAL_OK)
        type_unpack(to->type, to->buf, to->count, 0, l->back, (size_t)l->n);
    if (to->type)
        type_drop(l->to.type);
    if (l->from)
        type_drop(l->from);
    if (l->gathered)
        rma_gather_end(l->gathered, status);
    free(l->out);
    free(l->back);
    if (l->request) {
        l->request->error = rma_error_of(status);
        request_complete(l->request);
    }
    free(l);
}

// ---- The list. Others add at its end; only the hook takes something out.
static struct win *win_of_hook(struct progress_hook *hook)
{
    return (struct win *)(void *)((char *)hook - offsetof(struct win, later.hook));
}

static bool is_done(struct rma_later *l)
{
    shoal_event_t *event = &l->event;
    size_t done;
    return shoal_test(1, &event, &done, NULL) == SHOAL_OK && done;
}

static void unlink_later(struct win *w, struct rma_later **link, struct rma_later *l)
{
    shim_lock_take(&w->later.lock);
    *link = l->next;
    if (w->later.last == &l->next)
        w->later.last = link;
    shim_lock_give(&w->later.lock);
}

static struct rma_later *next_of(struct win *w, struct rma_later **link)
{
    shim_lock_take(&w->later.lock);
    struct rma_later *l = *link;
    shim_lock_give(&w->later.lock);
    return l;
}

// Those that are done, in a list of their own.
static struct rma_later *take_done(struct win *w)
{
    struct rma_later *done = NULL, **end_of_done = &done, **link = &w->later.first, *l;
    while ((l = next_of(w, link))) {
        if (!is_done(l)) {
            link = &l->next;
            continue;
        }
        unlink_later(w, link, l);
        l->next = NULL;
        *end_of_done = l;
        end_of_done = &l->next;
    }
    return done;
}

// The window may be gone when the last one has been counted.
static bool look(struct progress_hook *hook)
{
    struct win *w = win_of_hook(hook);
    struct rma_later *done = take_done(w), *l;
    if (!done)
        return false;
    shim_lock_take(&w->later.lock);
    if (!w->later.first) {
        progress_remove(hook);
        w->later.is_hooked = false;
    }
    shim_lock_give(&w->later.lock);
    while ((l = done)) {
        struct target *t = l->t;
        int none = SHOAL_OK, status = l->event.status;
        bool is_told = (l->whole ? l->whole : l)->request != NULL;
        done = l->next;
        end(l, status);
        if (status != SHOAL_OK && !is_told)
            atomic_compare_exchange_strong(&w->later.status, &none, status);
        // release: pairs with the acquire loads in rma_later_wait.
        atomic_fetch_sub_explicit(&t->under_way, 1, memory_order_release);
        atomic_fetch_sub_explicit(&w->later.under_way, 1, memory_order_release);
        request_count_activity();
    }
    return true;
}

static void add(struct rma_later *l)
{
    struct win *w = l->w;
    atomic_fetch_add_explicit(&l->t->under_way, 1, memory_order_relaxed);
    atomic_fetch_add_explicit(&w->later.under_way, 1, memory_order_relaxed);
    shim_lock_take(&w->later.lock);
    if (!w->later.first)
        w->later.last = &w->later.first;
    *w->later.last = l;
    w->later.last = &l->next;
    if (!w->later.is_hooked) {
        w->later.is_hooked = true;
        w->later.hook = (struct progress_hook){.fn = look};
        progress_add(&w->later.hook);
    }
    shim_lock_give(&w->later.lock);
}

struct win_request {
    struct request request; // first
    struct win *win;
};

static struct win *window(struct request *r)
{
    return ((struct win_request *)r)->win;
}

static void release(struct request *r)
{
    win_drop(window(r));
}

static const struct request_class win_class = {.window = window, .release = release};

static void take_request(struct rma *r, struct rma_later *l)
{
    r->is_under_way = true;
    if (r->request) {
        l->request = request_new(sizeof(struct win_request), REQUEST_PLAIN, NULL, &win_class);
        ((struct win_request *)l->request)->win = r->w;
        object_keep(r->w);
        l->request->is_held = true; // given back at its end
        request_keep(l->request);
        *r->request = object_handle(l->request);
    }
}

void rma_later_start(struct rma *r, struct rma_later *l)
{
    take_request(r, l);
    add(l);
}

void rma_later_start_whole(struct rma *r, struct rma_later *whole)
{
    take_request(r, whole);
    atomic_store_explicit(&whole->parts, 1, memory_order_relaxed); // it is in nobody else's hands
}

void rma_later_start_part(struct rma_later *whole, struct rma_later *part)
{
    part->whole = whole;
    atomic_fetch_add_explicit(&whole->parts, 1, memory_order_relaxed);
    add(part);
}

// acq_rel: the last one ends the whole after what all have brought.
void rma_later_drop_part(struct rma_later *whole)
{
    if (atomic_fetch_sub_explicit(&whole->parts, 1, memory_order_acq_rel) == 1)
        end(whole, atomic_load_explicit(&whole->status, memory_order_relaxed));
}

static void settle(_Atomic int *under_way)
{
    struct idle idle = idle_start("MPI window");
    while (atomic_load_explicit(under_way, memory_order_acquire))
        idle_step(&idle);
}

void rma_later_settle(struct target *t)
{
    settle(&t->under_way);
}

int rma_later_wait(struct win *w, int rank)
{
    rma_gather_flush(w, rank < 0 ? NULL : &w->target[rank]);
    settle(rank < 0 ? &w->later.under_way : &w->target[rank].under_way);
    return atomic_exchange_explicit(&w->later.status, SHOAL_OK, memory_order_relaxed);
}
