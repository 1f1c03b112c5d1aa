// SPDX-License-Identifier: BSD-3-Clause
// shoal.h: "Errors" and "Life".
#include "shoal_check.h"

#include "call.h"
#include "handlers.h"
#include "inbox.h"
#include "log.h"
#include "net.h"
#include "net_message.h"
#include "peers.h"
#include "place.h"
#include "settings.h"
#include "shoal.h"
#include "wait.h"

#include <errno.h>
#include <signal.h>
#include <unistd.h>

enum { CALLS_PER_NETWORK = 8 };

PUBLIC const char *shoal_strerror(int error)
{
    switch (error) {
    case SHOAL_OK: return "success";
    case SHOAL_EINVAL: return "an argument is out of its range";
    case SHOAL_ENOMEM: return "no memory, or a table is full";
    case SHOAL_EKEY: return "the key or remote pointer is forged, or its region is gone";
    case SHOAL_ERANGE: return "the bytes named reach beyond their region";
    case SHOAL_ELATE: return "too late: it has been released";
    case SHOAL_EINIT: return "the library is not up, or this is a child of a PE";
    case SHOAL_ECANCELED: return "cancelled";
    case SHOAL_EAGAIN: return "nothing happened: try again";
    case SHOAL_EFAULT: return "private memory of another PE could not be read or written";
    default: return "unknown error";
    }
}

PUBLIC int shoal_init(void)
{
    return world_enter(WORLD_SHOAL) < 0 ? SHOAL_EINIT : SHOAL_OK;
}

PUBLIC int shoal_finalize(void)
{
    if (!shoal_is_up() || world.users[WORLD_SHOAL] == 0)
        return SHOAL_EINIT;
    world_leave(WORLD_SHOAL);
    return SHOAL_OK;
}

PUBLIC int shoal_finalize_after(void (*fn)(void))
{
    if (!shoal_is_up() || world.users[WORLD_SHOAL] == 0)
        return SHOAL_EINIT;
    if (!fn)
        return SHOAL_EINVAL;
    return world_leave_after(fn) ? SHOAL_OK : SHOAL_EAGAIN;
}

PUBLIC void shoal_finalized_by(const char *call)
{
    world_finalized_by(call);
}

PUBLIC int shoal_threads(int how)
{
    if (!shoal_is_up())
        return SHOAL_EINIT;
    if (how != SHOAL_THREADS_ONE && how != SHOAL_THREADS_MANY)
        return SHOAL_EINVAL;
    world_promise_turns(how == SHOAL_THREADS_ONE);
    return SHOAL_OK;
}

static uint64_t status_of(int pe)
{
    if (!world_is_here(pe)) // its end would be the job's
        return SHOAL_PE_RUNNING;
    const struct pe_ctl *ctl = world_ctl(pe);
    int pid = atomic_load_explicit(&ctl->pid, memory_order_relaxed);
    switch (atomic_load_explicit(&ctl->state, memory_order_acquire)) {
    case PE_RUNNING:
        return pid && ctl->pids == world_ctl(world.me)->pids && kill(pid, 0) && errno == ESRCH
                   ? SHOAL_PE_GONE
                   : SHOAL_PE_RUNNING;
    case PE_FINALIZED: return SHOAL_PE_FINALIZED;
    case PE_LEFT:
    case PE_DEAD: return SHOAL_PE_GONE;
    default: return SHOAL_PE_STARTING;
    }
}

static uint64_t progress_needed(int pe)
{
    if (pe == world.me || !world_is_here(pe)) // where a thread of its own serves the network
        return SHOAL_PROGRESS_AM;
    return SHOAL_PROGRESS_AM | SHOAL_PROGRESS_ATOMIC |
           (place_reaches_private(pe) ? 0u : SHOAL_PROGRESS_PRIVATE);
}

PUBLIC void shoal_waits(const char *what, int pe, int tag)
{
    if (what)
        call_tell(what, pe, tag);
    else
        call_leave();
}

PUBLIC int shoal_query(int what, int pe, uint64_t *value)
{
    bool about_pe = what == SHOAL_Q_DIRECT || what == SHOAL_Q_PRIVATE || what == SHOAL_Q_STATUS ||
                    what == SHOAL_Q_PROGRESS || what == SHOAL_Q_AM_MAX_TO ||
                    what == SHOAL_Q_GATHERED || what == SHOAL_Q_NODE;
    if (!shoal_is_up())
        return SHOAL_EINIT;
    if (!value || what < 0 || what >= SHOAL_Q_COUNT_ || (about_pe && !shoal_is_pe(pe)))
        return SHOAL_EINVAL;
    switch (what) {
    case SHOAL_Q_PE: *value = (uint64_t)world.me; break;
    case SHOAL_Q_NPES: *value = (uint64_t)world.npes; break;
    case SHOAL_Q_DIRECT: *value = world_is_here(pe); break;
    case SHOAL_Q_PRIVATE: *value = (uint64_t)place_reaches_private(pe); break;
    case SHOAL_Q_STATUS: *value = status_of(pe); break;
    case SHOAL_Q_PROGRESS: *value = progress_needed(pe); break;
    case SHOAL_Q_AM_MAX: *value = LIMIT_AM_PAYLOAD; break;
    case SHOAL_Q_AM_MAX_TO: *value = world_is_here(pe) ? LIMIT_AM_PAYLOAD : LIMIT_AM_FAR; break;
    case SHOAL_Q_AM_INLINE: *value = INLINE_BYTES; break;
    case SHOAL_Q_COUNTERS: *value = LIMIT_COUNTERS - 1; break;
    case SHOAL_Q_COLL_SHORT: *value = LIMIT_COLL_SLOT; break;
    case SHOAL_Q_KEY_SIZE: *value = sizeof(shoal_key_t); break;
    case SHOAL_Q_SENT_INBOX: *value = inbox_sent_shared(); break;
    case SHOAL_Q_SENT_RING: *value = peers_sent_in_rings(); break;
    case SHOAL_Q_SENT_FAR: *value = net_messages_sent(); break;
    case SHOAL_Q_CROWDED: *value = world.crowded; break;
    case SHOAL_Q_BESIDE: *value = wait_is_beside(); break;
    case SHOAL_Q_GATHERED: *value = world_is_here(pe) ? 0 : (uint64_t)settings.coalesce; break;
    case SHOAL_Q_NODE: *value = (uint64_t)world.job->pe[pe].node; break;
    }
    return SHOAL_OK;
}

PUBLIC void shoal_abort(int code, const char *message)
{
    log_line(LOG_ERROR, LOG_BOOT, "shoal_abort(%d): %s", code, message ? message : "");
    if (!world_is_up() || world.forked)
        _exit(code);
    world_global_exit(code);
}

// In one of some calls that find nothing to do: it looks at lines that are seldom written.
static bool looks_at_job(void)
{
    static TLS_FAST unsigned calls;
    return calls++ % 32 == 0;
}

// What came from this node does not wait until the network has been looked at, for that takes longer; nor
// does the network wait for long.
static int progress(void)
{
    static TLS_FAST unsigned calls;
    int handled = inbox_poll();
    if (likely(!net.transport) || (handled && calls++ % CALLS_PER_NETWORK))
        return handled;
    return net_progress() > 0 && !handled ? inbox_poll() : handled; // once: see shoal_am_enough
}

PUBLIC int shoal_progress(void)
{
    if (!shoal_is_up())
        return SHOAL_EINIT;
    int handled = progress();
    if (handled == 0 && looks_at_job())
        wait_check();
    return handled;
}

PUBLIC void shoal_thread_apart(void)
{
    wait_is_ours = true;
}

PUBLIC int shoal_progress_near(void)
{
    return shoal_is_up() ? inbox_poll() : SHOAL_EINIT;
}

PUBLIC int shoal_progress_hook(shoal_hook_fn *fn)
{
    if (!shoal_is_up())
        return SHOAL_EINIT;
    // Pairs with the acquire load in run_user (wait.c).
    atomic_store_explicit(&wait_hooks.user, fn, memory_order_release);
    return SHOAL_OK;
}

PUBLIC int shoal_fail_watch(shoal_fail_fn *fn, void *arg)
{
    if (!shoal_is_up())
        return SHOAL_EINIT;
    world_watch_failures(fn, arg);
    return SHOAL_OK;
}
