// SPDX-License-Identifier: BSD-3-Clause
// See attendant.h. What others want of private memory comes as a work in a list, and rings the inbox
// (trigger_hand.c, help.c). The thread looks there every TICK_MS, more seldom when it finds nothing, and does
// what the program's own threads have left since the last time; then it goes on for LINGER_NS, for the next
// piece comes soon. Messages of the program are kept for its threads: it never runs their handlers.
#include "attendant.h"

#include "handlers.h"
#include "inbox.h"
#include "log.h"
#include "place.h"
#include "slice.h"
#include "thread.h"
#include "wait.h"

#include <pthread.h>
#include <sched.h>
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

bool attendant_is_needed(void)
{
    int other = world.me == world.first ? world.first + 1 : world.first;
    return other < world.end && !place_reaches_private(other);
}

static void start(void)
{
    is_running = true;
    if (world_takes_turns) // where there are several threads it is not, and others may read it now
        world_takes_turns = false; // it looks at the inbox
    int error = thread_start(&thread, attend);
    is_there = !error;
    log_line(error ? LOG_WARN : LOG_DEBUG, LOG_RMA,
             "a thread for those who cannot reach private memory: %s",
             error ? strerror(error) : "started");
}

bool attendant_is_there(void)
{
    return is_there;
}

void attendant_want(void)
{
    pthread_mutex_lock(&lock);
    if (!is_there && attendant_is_needed())
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

void attendant_leave(void)
{
    is_running = false;
    if (is_there)
        thread_leave(thread);
}
