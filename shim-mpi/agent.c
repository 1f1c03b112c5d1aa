// SPDX-License-Identifier: BSD-3-Clause
// See agent.h. The thread looks every TICK_NS whether a thread of the program's has waited in the library
// since, or waits there: that makes progress itself, and two that poll are slower than one. Else it makes
// progress, and as long as there is any and LINGER_NS more, for the next piece comes soon. It starts when
// it is wanted first, and sleeps when it has not been for IDLE_TICKS and nothing is left to do: what a
// request was done with may have been kept for want of room, as the answer to its sender.
#include "agent.h"

#include "request.h"

#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stdlib.h>
#include <time.h>
#include <unistd.h>

enum { TICK_NS = 1000000, LINGER_NS = 200000, IDLE_TICKS = 20 };

_Atomic bool agent_is_awake;
_Atomic uint64_t agent_waits;

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER; // to start, to end, and to sleep
static pthread_cond_t wakes = PTHREAD_COND_INITIALIZER;
static pthread_t thread;
static pid_t process; // that has it
static _Atomic bool is_running;
static bool is_open;       // it may start
static bool is_for_all;    // it is wanted for everything,
static _Atomic int wanted; // which counts as one, and for so many requests

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

static uint64_t waits_now(void)
{
    return atomic_load_explicit(&agent_waits, memory_order_relaxed);
}

static void serve(void)
{
    uint64_t waits = waits_now(), until = now_ns() + LINGER_NS;
    while (goes_on() && now_ns() < until && waits_now() == waits) {
        if (progress())
            until = now_ns() + LINGER_NS;
        else
            sched_yield();
    }
}

// Pairs with agent_want: either who wants it sees that it sleeps, or it sees that it is wanted.
static void sleep_until_wanted(void)
{
    pthread_mutex_lock(&lock);
    atomic_store_explicit(&agent_is_awake, false, memory_order_seq_cst);
    while (goes_on() && !atomic_load_explicit(&wanted, memory_order_seq_cst))
        pthread_cond_wait(&wakes, &lock);
    atomic_store_explicit(&agent_is_awake, true, memory_order_relaxed);
    pthread_mutex_unlock(&lock);
}

static bool has_work(void)
{
    return atomic_load_explicit(&wanted, memory_order_relaxed) ||
           atomic_load_explicit(&progress_hooks, memory_order_relaxed);
}

static void *attend(void *unused)
{
    const struct timespec tick = {.tv_nsec = TICK_NS};
    int idle = 0;
    shoal_thread_apart();
    for (uint64_t seen = 0; goes_on();) {
        nanosleep(&tick, NULL);
        uint64_t waits = waits_now();
        if (waits == seen && !progress_sleeps() && progress())
            serve();
        seen = waits;
        idle = has_work() ? 0 : idle + 1;
        if (idle == IDLE_TICKS) {
            sleep_until_wanted();
            idle = 0;
        }
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
    // Else it may miss the signal, and has until then.
    bool is_locked = pthread_mutex_trylock(&lock) == 0;
    pthread_cond_signal(&wakes);
    if (is_locked)
        pthread_mutex_unlock(&lock);
    clock_gettime(CLOCK_REALTIME, &until);
    until.tv_sec++;
    if (!pthread_equal(pthread_self(), thread))
        pthread_timedjoin_np(thread, NULL, &until);
}

// With the lock.
static int start(void)
{
    static bool leaves;
    sigset_t all, before;
    is_running = agent_is_awake = true;
    process = getpid();
    sigfillset(&all); // they are for the program's threads
    pthread_sigmask(SIG_SETMASK, &all, &before);
    int error = pthread_create(&thread, NULL, attend, NULL);
    pthread_sigmask(SIG_SETMASK, &before, NULL);
    is_running = agent_is_awake = !error;
    if (!error && !leaves)
        leaves = atexit(leave) == 0;
    return error;
}

int agent_up(bool for_all)
{
    pthread_mutex_lock(&lock);
    int error = for_all ? start() : 0;
    is_open = true;
    is_for_all = for_all && !error;
    wanted += is_for_all;
    pthread_mutex_unlock(&lock);
    return error;
}

void agent_want(void)
{
    atomic_fetch_add_explicit(&wanted, 1, memory_order_seq_cst);
    if (atomic_load_explicit(&agent_is_awake, memory_order_seq_cst))
        return;
    pthread_mutex_lock(&lock);
    if (goes_on())
        pthread_cond_signal(&wakes);
    else if (is_open)
        start();
    pthread_mutex_unlock(&lock);
}

void agent_leave(void)
{
    atomic_fetch_sub_explicit(&wanted, 1, memory_order_relaxed);
}

void agent_down(void)
{
    pthread_mutex_lock(&lock);
    bool is_there = goes_on();
    is_running = is_open = false;
    wanted -= is_for_all;
    is_for_all = false;
    pthread_cond_signal(&wakes);
    pthread_mutex_unlock(&lock);
    if (is_there)
        pthread_join(thread, NULL);
    agent_is_awake = false;
}
