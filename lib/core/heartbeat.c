// SPDX-License-Identifier: BSD-3-Clause
// The heartbeat: progress while the PE computes or sleeps. See net.h.
//
// The thread looks every BEAT_NS whether the PE has progressed the network since; while it does so
// itself the thread stays out of its way. Else it drains the network and then blocks on the
// transport's descriptor, so that a PE that computes for seconds costs its peers nothing and is
// disturbed only by what comes for it.
#include "net.h"

#include "inbox_area.h"
#include "log.h"
#include "slice.h"

#include <poll.h>
#include <pthread.h>
#include <signal.h>
#include <string.h>
#include <time.h>

enum { BEAT_NS = 250000, BLOCK_MS = 20 };

_Atomic uint32_t heartbeat_seen;

static pthread_t thread;
static _Atomic bool running;

// Others wait for this PE's memory at its bells; what the network wrote has rung none.
static void wake_here(void)
{
    struct slice *own = slice_of(world.me);
    bell_check(&own->ctl.bell);
    bell_check(&own->inbox.bell);
}

static void rest(void)
{
    struct timespec t = {.tv_nsec = BEAT_NS};
    nanosleep(&t, NULL);
}

// True: something came.
static bool block(void)
{
    int fd = net.facts.has_wait_fd ? net.transport->wait_fd(net.ep) : -1;
    if (fd < 0) {
        rest();
    } else if (net.transport->arm(net.ep) == TRANSPORT_DONE) {
        struct pollfd p = {.fd = fd, .events = POLLIN};
        return poll(&p, 1, BLOCK_MS) > 0;
    }
    return false;
}

static void *beat(void *unused)
{
    while (atomic_load_explicit(&running, memory_order_relaxed)) {
        uint32_t seen = atomic_load_explicit(&heartbeat_seen, memory_order_relaxed);
        rest();
        while (atomic_load_explicit(&heartbeat_seen, memory_order_relaxed) == seen &&
               atomic_load_explicit(&running, memory_order_relaxed)) {
            // A PE that waits on a core of its own serves what others want of its memory itself: it is
            // sooner awake for the next one. It goes on for wait_hooks.linger_ns.
            bool came = block() && wait_hooks.linger_ns;
            if (net_move() > 0 || came)
                wake_here();
        }
    }
    return unused;
}

int heartbeat_up(void)
{
    sigset_t all, before;
    sigfillset(&all);
    running = true;
    pthread_sigmask(SIG_SETMASK, &all, &before); // signals are for the program's own threads
    int error = pthread_create(&thread, NULL, beat, NULL);
    pthread_sigmask(SIG_SETMASK, &before, NULL);
    if (error)
        log_line(LOG_ERROR, LOG_BOOT, "no thread for the network's progress: %s", strerror(error));
    return error ? -1 : 0;
}

void heartbeat_down(void)
{
    running = false;
    pthread_join(thread, NULL);
}
