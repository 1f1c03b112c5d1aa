// SPDX-License-Identifier: BSD-3-Clause
// Handlers and kept messages. See handlers.h.
#include "handlers.h"

#include "log.h"

#include <pthread.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

struct kept {
    struct kept *next;
    struct message message; // as much of the payload as there is
};

struct handler *_Atomic handlers[HANDLERS];
static struct handler *every;
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER; // of `every`

// All of this belongs to the thread that polls. Those that may run now, or soon, and those without a
// handler, which are looked at when one is registered.
static struct list {
    struct kept *first, **last;
} ready = {NULL, &ready.first}, unknown = {NULL, &unknown.first};
static int kept;
static bool is_unknown[HANDLERS]; // there are messages with this id among the latter
static _Atomic bool registered;
static _Atomic bool is_quiet; // what comes is dropped
_Atomic bool handlers_news;
TLS_FAST bool handlers_enough;
TLS_FAST unsigned busy;

int handlers_register(int id, shoal_am_fn *fn, void *user)
{
    if (id < 1 || id >= HANDLERS)
        return SHOAL_EINVAL;
    struct handler *h = fn ? malloc(sizeof *h) : NULL;
    if (fn && !h)
        return SHOAL_ENOMEM;
    if (fn) {
        pthread_mutex_lock(&lock);
        *h = (struct handler){fn, user, every};
        every = h;
        pthread_mutex_unlock(&lock);
    }
    // Pairs with the acquire load in handler_of.
    atomic_store_explicit(&handlers[id], h, memory_order_release);
    atomic_store_explicit(&registered, true, memory_order_release);
    atomic_store_explicit(&handlers_news, true, memory_order_release);
    return SHOAL_OK;
}

static inline const struct handler *handler_of(const struct message *m)
{
    return atomic_load_explicit(&handlers[m->envelope.id], memory_order_acquire);
}

static void run(const struct handler *h, const struct message *m)
{
    const struct envelope *e = &m->envelope;
    bool is_long = e->flags & ENVELOPE_LONG;
    const void *payload = e->n <= INLINE_BYTES ? e->bytes : m->far ? m->far : m->payload;
    shoal_am_t am = is_long ? handlers_am(h, e, place_here(e->at), e->long_n)
                            : handlers_am(h, e, payload, e->n);
    busy |= BUSY_HANDLES;
    h->fn(&am);
    busy &= ~(unsigned)BUSY_HANDLES;
}

static void append(struct list *l, struct kept *k)
{
    k->next = NULL;
    *l->last = k;
    l->last = &k->next;
}

static void keep(struct list *l, const struct message *m)
{
    bool has_payload = !(m->envelope.flags & ENVELOPE_LONG) && m->envelope.n > INLINE_BYTES;
    size_t size = offsetof(struct kept, message.payload) + (has_payload ? m->envelope.n : 0);
    struct kept *k = aligned_alloc(CACHE_LINE, (size + CACHE_LINE - 1) / CACHE_LINE * CACHE_LINE);
    if (!k)
        fatal("no memory to keep an active message of %zu bytes", size);
    k->message.envelope = m->envelope;
    k->message.far = NULL;
    if (has_payload)
        memcpy((unsigned char *)k + offsetof(struct kept, message.payload),
               m->far ? m->far : m->payload, m->envelope.n);
    append(l, k);
    kept++;
}

bool handlers_give(const struct message *m)
{
    if (unlikely(handlers_are_quiet()))
        return true;
    const struct handler *h = handler_of(m);
    if (!h) {
        keep(&unknown, m);
        is_unknown[m->envelope.id] = true;
        return false;
    }
    // Not before those that came earlier.
    if (handlers_may_run() && !ready.first && !is_unknown[m->envelope.id] &&
        !atomic_load_explicit(&handlers_news, memory_order_relaxed)) {
        run(h, m);
        return true;
    }
    keep(&ready, m);
    // Another thread has registered it, and is about to say so.
    if (is_unknown[m->envelope.id])
        atomic_store_explicit(&registered, true, memory_order_relaxed);
    atomic_store_explicit(&handlers_news, true, memory_order_relaxed);
    return false;
}

int handlers_kept(void)
{
    return kept;
}

// Runs those of a list that have a handler; the others are in front of what is without one.
static int run_list(struct list *l)
{
    struct kept *next = l->first;
    struct list without = {NULL, &without.first};
    int handled = 0;
    *l = (struct list){NULL, &l->first};
    if (l == &unknown)
        memset(is_unknown, 0, sizeof is_unknown);
    for (struct kept *k; (k = next);) {
        const struct handler *h = handler_of(&k->message);
        next = k->next;
        if (h && !is_unknown[k->message.envelope.id]) {
            kept--;
            run(h, &k->message);
            free(k);
            handled++;
        } else {
            append(&without, k);
            is_unknown[k->message.envelope.id] = true;
        }
    }
    if (without.first) {
        *without.last = unknown.first;
        unknown.last = unknown.first ? unknown.last : without.last;
        unknown.first = without.first;
    }
    return handled;
}

int handlers_run(void)
{
    int handled = 0;
    if (!handlers_may_run() || handlers_are_quiet())
        return 0;
    while (atomic_load_explicit(&handlers_news, memory_order_relaxed) &&
           atomic_exchange_explicit(&handlers_news, false, memory_order_acquire)) {
        if (atomic_exchange_explicit(&registered, false, memory_order_acquire))
            handled += run_list(&unknown);
        handled += run_list(&ready);
    }
    return handled;
}

void handlers_never(void)
{
    busy |= BUSY_HANDLES;
}

// With news that are never looked at, no message takes the way of handlers_next.
void handlers_fall_quiet(void)
{
    atomic_store_explicit(&is_quiet, true, memory_order_relaxed);
    atomic_store_explicit(&handlers_news, true, memory_order_relaxed);
}

bool handlers_are_quiet(void)
{
    return atomic_load_explicit(&is_quiet, memory_order_relaxed);
}

static void forget(struct list *l)
{
    while (l->first) {
        struct kept *next = l->first->next;
        free(l->first);
        l->first = next;
    }
    l->last = &l->first;
}

void handlers_forget(void)
{
    forget(&ready);
    forget(&unknown);
    kept = 0;
    memset(is_unknown, 0, sizeof is_unknown);
    handlers_news = registered = is_quiet = false;
}
