// SPDX-License-Identifier: BSD-3-Clause
// shoal.h: "Completion of transfers".
#include "shoal_check.h"

#include "call.h"
#include "ending.h"
#include "inbox.h"
#include "net.h"
#include "remote.h"
#include "wait.h"

static bool is_done(shoal_event_t *e)
{
    struct ending *more = e->more;
    if (!e->word)
        return true;
    // acquire: pairs with whoever counted; what the operation wrote is visible.
    if (more && more->is_done
            ? !more->is_done(more)
            : atomic_load_explicit((_Atomic uint64_t *)e->word, memory_order_acquire) < e->least)
        return false;
    e->word = NULL;
    e->more = NULL;
    e->status = more ? more->end(more) : SHOAL_OK;
    return true;
}

static size_t count_done(size_t n, shoal_event_t *const event[], size_t indices[])
{
    size_t done = 0;
    for (size_t i = 0; i < n; i++)
        if (!event[i] || is_done(event[i])) {
            if (indices)
                indices[done] = i;
            done++;
        }
    return done;
}

// Takes part in collectives that are waited for.
static bool help(size_t n, shoal_event_t *const event[])
{
    for (size_t i = 0; i < n; i++) {
        struct ending *more = event[i] && event[i]->word ? event[i]->more : NULL;
        if (more && more->help && more->help(more))
            return true;
    }
    return false;
}

PUBLIC int shoal_test(size_t n, shoal_event_t *const event[], size_t *done, size_t indices[])
{
    if (!shoal_is_up())
        return SHOAL_EINIT;
    if (!done || (n && !event))
        return SHOAL_EINVAL;
    *done = count_done(n, event, indices);
    if (*done < n) {
        net_poke();
        if (!help(n, event))
            inbox_poll();
    }
    return SHOAL_OK;
}

PUBLIC int shoal_wait(size_t n, shoal_event_t *const event[], size_t least, size_t *done,
                      size_t indices[])
{
    size_t got;
    if (!shoal_is_up())
        return SHOAL_EINIT;
    if (least > n || (n && !event))
        return SHOAL_EINVAL;
    bool is_first = call_enter_first(CALL_wait, -1);
    struct waiter w = waiter_start(&world_ctl(world.me)->bell);
    while ((got = count_done(n, event, indices)) < least)
        waiter_turn(&w, help(n, event) || inbox_poll());
    if (is_first)
        call_leave();
    if (done)
        *done = got;
    return SHOAL_OK;
}

PUBLIC int shoal_quiet(int pe)
{
    if (!shoal_is_up())
        return SHOAL_EINIT;
    if (pe != -1 && !shoal_is_pe(pe))
        return SHOAL_EINVAL;
    if (net.transport)
        remote_flush();
    atomic_thread_fence(memory_order_seq_cst);
    return SHOAL_OK;
}
