// SPDX-License-Identifier: BSD-3-Clause
// See attendant.h. What others want of private memory comes as a message (help.c). The thread looks at
// the inbox every TICK_MS, and takes messages out when the program's own threads have left one there
// since the last time; then it goes on for LINGER_NS, for the next piece comes soon. Messages of the
// program are kept for its threads: it never runs their handlers.
#include "attendant.h"

#include "handlers.h"
#include "inbox.h"
#include "log.h"
#include "place.h"
#include "slice.h"
#include "wait.h"

#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <string.h>
#include <time.h>

enum { TICK_MS = 1, TICK_MOST_MS = 8, LINGER_NS = 200000 };

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_t thread;
static bool is_there;
static _Atomic bool is_running;

static void rest(int ms)
{
    struct timespec t = {.tv_nsec = ms * 1000000L};
    nanosleep(&t, NULL);
}

static void serve(void)
{
    uint64_t until = wait_now_ns() + LINGER_NS;
    FOR_OTHERS_BEGIN();
    while (atomic_load_explicit(&is_running, memory_order_relaxed) && wait_now_ns() < until) {
        if (inbox_poll())
            until = wait_now_ns() + LINGER_NS;
        // What was kept has rung for nobody who sleeps.
        bell_check(&slice_of(world.me)->inbox.bell);
        sched_yield();
    }
    FOR_OTHERS_END();
}

static void *attend(void *unused)
{
    uint64_t seen = 0;
    int ms = TICK_MS;
    handlers_never();
    wait_is_ours = true;
    while (atomic_load_explicit(&is_running, memory_order_relaxed)) {
        rest(ms);
        uint64_t next = inbox_waiting();
        if (next && next == seen)
            serve();
        ms = next ? TICK_MS : ms < TICK_MOST_MS ? 2 * ms : ms;
        seen = next;
    }
    return unused;
}

static bool is_needed(void)
{
    int other = world.me == world.first ? world.first + 1 : world.first;
    return other < world.end && !place_reaches_private(other);
}

static void start(void)
{
    sigset_t all, before;
    sigfillset(&all);
    is_running = true;
    pthread_sigmask(SIG_SETMASK, &all, &before); // signals are for the program's own threads
    int error = pthread_create(&thread, NULL, attend, NULL);
    pthread_sigmask(SIG_SETMASK, &before, NULL);
    is_there = !error;
    log_line(error ? LOG_WARN : LOG_DEBUG, LOG_RMA,
             "a thread for those who cannot reach private memory: %s",
             error ? strerror(error) : "started");
}

void attendant_want(void)
{
    pthread_mutex_lock(&lock);
    if (!is_there && is_needed())
        start();
    pthread_mutex_unlock(&lock);
}

void attendant_down(void)
{
    if (!is_there)
        return;
    is_running = false;
    pthread_join(thread, NULL);
    is_there = false;
}

// The process may end in the middle of a call, whose locks the thread then waits for; or by the
// thread itself.
void attendant_leave(void)
{
    struct timespec until;
    is_running = false;
    clock_gettime(CLOCK_REALTIME, &until);
    until.tv_sec++;
    if (is_there && !pthread_equal(pthread_self(), thread))
        pthread_timedjoin_np(thread, NULL, &until);
}
