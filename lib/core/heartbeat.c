// SPDX-License-Identifier: BSD-3-Clause
// The heartbeat: progress while the PE computes or sleeps. See net.h.
//
// The thread looks every BEAT_NS whether the PE has progressed the network since; while it does so
// itself the thread stays out of its way, and looks more rarely when the PE has done nothing else for a
// while: a timer that ends takes 75 us of a core on some virtual machines. Else it drains the network and then
// blocks on the transport's descriptor, so that a PE that computes for seconds costs its peers nothing and
// is disturbed only by what comes for it.
#include "net.h"

#include "coll_run.h"
#include "host_watch.h"
#include "inbox.h"
#include "log.h"
#include "net_work.h"
#include "slice.h"
#include "stream.h"
#include "thread.h"

#include <errno.h>
#include <poll.h>
#include <pthread.h>
#include <string.h>
#include <sys/eventfd.h>
#include <time.h>
#include <unistd.h>

enum {
    BEAT_NS = 250000,
    BEAT_MOST_NS = 8 * BEAT_NS,
    CALL_NS = 64000, // a PE that calls as often needs nobody
    BEATS = 64,      // in each of which it has waited, before they get longer
    SERVE_NS = 50000,
    BLOCK_MS = 20,
    BLOCK_SOON_MS = 1
};

_Atomic uint32_t heartbeat_seen;
_Atomic bool heartbeat_inside;

static pthread_t thread;
static _Atomic bool running;
static _Atomic bool is_blocked; // in poll, where a kick is needed to get it out
static _Atomic bool is_resting; // for longer than a beat, until the PE itself goes to sleep
static int kick_fd = -1;

// Others wait for this PE's memory at its bells; what the network wrote has rung none.
static void wake_here(void)
{
    struct slice *own = slice_of(world.me);
    bell_check(&own->ctl.bell);
    bell_check(&own->inbox.bell);
}

// Until fd is readable (-1: it is none), which is told, or a kick comes. One that is late, whose poll has
// ended, ends the next one too soon, and no other.
static bool poll_for(int fd, long ns)
{
    struct timespec t = {.tv_nsec = ns};
    struct pollfd p[] = {{.fd = fd, .events = POLLIN}, {.fd = kick_fd, .events = POLLIN}};
    eventfd_t kicks;
    bool some = ppoll(p, ARRAY_LEN(p), &t, NULL) > 0;
    if (some && p[1].revents)
        eventfd_read(kick_fd, &kicks);
    return some && p[0].revents;
}

static void kick_out_of(_Atomic bool *poll)
{
    if (unlikely(atomic_load(poll)) && atomic_exchange(poll, false))
        eventfd_write(kick_fd, 1);
}

void heartbeat_kick(void)
{
    kick_out_of(&is_blocked);
}

void heartbeat_sleeps(void)
{
    kick_out_of(&is_resting);
}

// False: the PE went to sleep, which ends what is longer than a beat.
static bool rest(long ns)
{
    atomic_store(&is_resting, ns > BEAT_NS);
    poll_for(-1, ns);
    return atomic_exchange(&is_resting, false) || ns == BEAT_NS;
}

// Either the loads here see the new batch, or its maker sees is_blocked (both seq_cst).
static bool may_block(void)
{
    atomic_store(&is_blocked, true);
    return atomic_load(&stream_open) <= 0 && atomic_load(&running);
}

enum seen { NOTHING, PERHAPS, CAME };

static enum seen block(void)
{
    int fd = net.facts.has_wait_fd ? net.transport->wait_fd(net.ep) : -1;
    enum seen seen = PERHAPS;
    if (fd < 0 || atomic_load_explicit(&stream_open, memory_order_relaxed) > 0) {
        rest(BEAT_NS); // a batch may become a beat old
        stream_push_all();
    } else if (net.transport->arm(net.ep) == TRANSPORT_DONE) {
        // What a collective or a locked accumulate waits for may come from this node, too.
        int ms = coll_run_some() || net_work_is_locked_out() ? BLOCK_SOON_MS : BLOCK_MS;
        seen = may_block() && poll_for(fd, ms * 1000000L) ? CAME : NOTHING;
        atomic_store(&is_blocked, false);
    } else {
        seen = CAME;
    }
    return seen;
}

// How much was moved. Where that is not told, more may be behind what came.
static int serve(enum seen seen)
{
    int moved = net_move();
    if (!net.facts.silent_progress || seen == NOTHING)
        return moved;
    for (uint64_t until = wait_now_ns() + SERVE_NS; wait_now_ns() < until;)
        moved += net_move();
    return moved;
}

// To the next look, after one of ns in which the PE has called so often. A call may take long.
static long next_beat(long ns, uint32_t calls, bool sleeps)
{
    static int waited;
    bool is_inside = atomic_load_explicit(&heartbeat_inside, memory_order_relaxed);
    if (sleeps || (!calls && !is_inside))
        waited = 0;
    if (sleeps || (!is_inside && calls < ns / CALL_NS))
        return BEAT_NS;
    waited += waited < BEATS;
    return waited < BEATS ? BEAT_NS : ns < BEAT_MOST_NS ? 2 * ns : ns;
}

static void *beat(void *unused)
{
    long ns = BEAT_NS;
    inbox_leave_alone();
    wait_is_ours = true;
    while (atomic_load_explicit(&running, memory_order_relaxed)) {
        uint32_t count = atomic_load_explicit(&heartbeat_seen, memory_order_relaxed);
        bool sleeps = !rest(ns);
        host_watch_beat();
        uint32_t calls = atomic_load_explicit(&heartbeat_seen, memory_order_relaxed) - count;
        ns = next_beat(ns, calls, sleeps);
        if (calls == 0)
            stream_push_all(); // of a PE that has stopped calling, or called just once since
        while (atomic_load_explicit(&heartbeat_seen, memory_order_relaxed) == count &&
               atomic_load_explicit(&running, memory_order_relaxed)) {
            // A PE that waits on a core of its own serves what others want of its memory itself: it is
            // sooner awake for the next one. It goes on for wait_hooks.linger_ns.
            enum seen seen = block();
            host_watch_beat();
            if (serve(seen) > 0 || (seen == CAME && wait_hooks.linger_ns))
                wake_here();
        }
    }
    return unused;
}

int heartbeat_up(void)
{
    running = true;
    kick_fd = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
    if (kick_fd < 0) {
        log_line(LOG_ERROR, LOG_BOOT, "no descriptor to wake a thread by: %s", strerror(errno));
        return -1;
    }
    int error = thread_start(&thread, beat);
    if (!error)
        return 0;
    log_line(LOG_ERROR, LOG_BOOT, "no thread for the network's progress: %s", strerror(error));
    close(kick_fd);
    kick_fd = -1;
    return -1;
}

void heartbeat_down(void)
{
    running = false;
    heartbeat_kick();
    heartbeat_sleeps();
    pthread_join(thread, NULL);
    close(kick_fd);
    kick_fd = -1;
}

void heartbeat_leave(void)
{
    running = false;
    heartbeat_kick();
    heartbeat_sleeps();
    thread_leave(thread);
}
