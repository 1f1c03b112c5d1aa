// SPDX-License-Identifier: BSD-3-Clause
// Handlers of active messages, and the messages that wait for one: because a handler is running
// already, or because none is registered yet.
#ifndef SHOAL_CORE_HANDLERS_H
#define SHOAL_CORE_HANDLERS_H

#include "busy.h"
#include "inbox_area.h"
#include "shoal.h"

#include <stdatomic.h>
#include <stdbool.h>

struct message {
    struct envelope envelope;
    const unsigned char *far; // from another node: where the payload is; NULL: behind this
    LINE_ALIGNED unsigned char payload[LIMIT_AM_PAYLOAD];
};

int handlers_register(int id, shoal_am_fn *fn, void *user);

// Never changed, nor freed: another thread may be about to run one that was replaced.
struct handler {
    shoal_am_fn *fn;
    void *user;
    struct handler *before;
};
enum { HANDLERS = 256 };
HIDDEN extern struct handler *_Atomic handlers[HANDLERS]; // NULL: none is registered

// For the thread that polls: runs the message's handler, or keeps the message and returns false.
bool handlers_give(const struct message *m);
// Runs those kept whose time has come; how many.
int handlers_run(void);
// Something was kept, or a handler registered, since the last run.
HIDDEN extern _Atomic bool handlers_news;

static inline bool handlers_may_run(void) // in this thread, now
{
    return !(busy & (BUSY_HANDLES | BUSY_WORKS));
}

static inline bool handlers_waiting(void) // handlers_run may find something
{
    return unlikely(atomic_load_explicit(&handlers_news, memory_order_relaxed)) &&
           handlers_may_run();
}
int handlers_kept(void);

// The handler that a message just come may be given to at once; NULL: there is none, or none may run, or
// others are to be run before.
static inline const struct handler *handlers_next(int id)
{
    return likely(handlers_may_run() && !atomic_load_explicit(&handlers_news, memory_order_relaxed))
               ? atomic_load_explicit(&handlers[id], memory_order_acquire)
               : NULL;
}

// What a handler is told of a message, whose payload is where the caller says.
static inline shoal_am_t handlers_am(const struct handler *h, const struct envelope *e,
                                     const void *payload, size_t n)
{
    return (shoal_am_t){.from = e->from,
                        .id = e->id,
                        .arg = e->arg,
                        .user = h->user,
                        .payload = payload,
                        .n = n,
                        .is_reply = e->flags & ENVELOPE_REPLY};
}
_Static_assert(ENVELOPE_REPLY == 1, "as is_reply");

// The handler that ran last has what the program waits for: of the thread that polls.
extern TLS_FAST bool handlers_enough;

// This thread is in a handler, or will never run one again.
static inline bool handlers_running(void)
{
    return busy & BUSY_HANDLES;
}
void handlers_never(void); // this thread does not from now on
// From now on, until handlers_forget, what comes is dropped.
void handlers_fall_quiet(void);
bool handlers_are_quiet(void);
void handlers_forget(void);  // all messages, not the handlers

#endif
