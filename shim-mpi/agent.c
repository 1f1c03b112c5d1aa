// SPDX-License-Identifier: BSD-3-Clause
// See agent.h. The thread looks every TICK_NS whether a thread of the program's has waited in the library
// since, or waits there: that makes progress itself, and two that poll are slower than one. Else it makes
// progress, and as long as there is any and LINGER_NS more, for the next piece comes soon.
#include "agent.h"

#include "request.h"

#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stdlib.h>
#include <time.h>
#include <unistd.h>

enum { TICK_NS = 1000000, LINGER_NS = 200000 };

static pthread_t thread;
static pid_t process; // that has it
static _Atomic bool is_running;

static uint64_t now_ns(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (uint64_t)t.tv_sec * 1000000000 + (uint64_t)t.tv_nsec;
}

static bool goes_on(void)
{
    return atomic_load_explicit(&is_running, memory_order_relaxed);
}

static void serve(void)
{
    uint64_t waits = progress_waits(), until = now_ns() + LINGER_NS;
    while (goes_on() && now_ns() < until && progress_waits() == waits) {
        if (progress())
            until = now_ns() + LINGER_NS;
        else
            sched_yield();
    }
}

static void *attend(void *unused)
{
    const struct timespec tick = {.tv_nsec = TICK_NS};
    shoal_thread_apart();
    for (uint64_t seen = 0; goes_on();) {
        nanosleep(&tick, NULL);
        uint64_t waits = progress_waits();
        if (waits == seen && !progress_sleeps() && progress())
            serve();
        seen = waits;
    }
    return unused;
}

// As the process ends without having ended MPI: a second at most, for it may hold locks that the thread
// waits for, or be in the thread. A child of it has no such thread.
static void leave(void)
{
    struct timespec until;
    if (!goes_on() || getpid() != process)
        return;
    is_running = false;
    clock_gettime(CLOCK_REALTIME, &until);
    until.tv_sec++;
    if (!pthread_equal(pthread_self(), thread))
        pthread_timedjoin_np(thread, NULL, &until);
}

int agent_up(void)
{
    static bool leaves;
    sigset_t all, before;
    is_running = true;
    process = getpid();
    sigfillset(&all); // they are for the program's threads
    pthread_sigmask(SIG_SETMASK, &all, &before);
    int error = pthread_create(&thread, NULL, attend, NULL);
    pthread_sigmask(SIG_SETMASK, &before, NULL);
    is_running = !error;
    if (!error && !leaves)
        leaves = atexit(leave) == 0;
    return error;
}

void agent_down(void)
{
    if (!goes_on())
        return;
    is_running = false;
    pthread_join(thread, NULL);
}
