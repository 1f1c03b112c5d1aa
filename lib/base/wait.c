// SPDX-License-Identifier: BSD-3-Clause
// Spin, yield, sleep. See wait.h.
#include "wait.h"

#include "log.h"
#include "tunables.h"

#include <errno.h>
#include <limits.h>
#include <linux/futex.h>
#include <linux/membarrier.h>
#include <sched.h>
#include <stdbool.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

enum { SPINS_BEFORE_CLOCK = 256, SPINS_PER_CLOCK = 16,
       SLEEP_FIRST_US = 1000, SLEEP_LAST_US = 16000 };

struct wait_hooks wait_hooks;
uint32_t wait_spins = SPINS_BEFORE_CLOCK;

static uint64_t spin_ns = LIMIT_SPIN_NS;
static bool have_membarrier;

static uint64_t now_ns(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (uint64_t)t.tv_sec * 1000000000u + (uint64_t)t.tv_nsec;
}

void wait_configure(int peers, int cpus, long spin_us)
{
    bool crowded = peers > cpus;
    if (spin_us >= 0)
        spin_ns = (uint64_t)spin_us * 1000;
    else
        spin_ns = crowded ? 0 : LIMIT_SPIN_NS;
    wait_spins = spin_ns ? SPINS_BEFORE_CLOCK : 0;
    have_membarrier =
        syscall(SYS_membarrier, MEMBARRIER_CMD_REGISTER_GLOBAL_EXPEDITED, 0, 0) == 0;
    log_line(LOG_DEBUG, LOG_WAIT, "%d PEs, %d usable cores: spin %lu us, membarrier %s", peers,
             cpus, (unsigned long)(spin_ns / 1000), have_membarrier ? "yes" : "no");
}

// After this, every store a writer made before its load of `armed` is visible here, or that load
// sees 1.
static void arm(struct waiter *w)
{
    w->seq = atomic_load_explicit(&w->bell->seq, memory_order_acquire);
    atomic_store_explicit(&w->bell->armed, 1, memory_order_seq_cst);
    if (have_membarrier)
        syscall(SYS_membarrier, MEMBARRIER_CMD_GLOBAL_EXPEDITED, 0, 0);
    else
        atomic_thread_fence(memory_order_seq_cst);
    w->sleep_us = w->sleep_us ? w->sleep_us * 2 : SLEEP_FIRST_US;
    if (w->sleep_us > SLEEP_LAST_US)
        w->sleep_us = SLEEP_LAST_US;
    if (!have_membarrier)
        w->sleep_us = SLEEP_FIRST_US;
}

static void sleep_on(struct waiter *w)
{
    struct timespec t = {.tv_nsec = (long)w->sleep_us * 1000};
    syscall(SYS_futex, &w->bell->seq, FUTEX_WAIT, w->seq, &t, NULL, 0);
}

// Returns false when it is time to give the core away.
static bool spin(struct waiter *w)
{
    for (int i = 0; i < SPINS_PER_CLOCK; i++)
        cpu_relax();
    if (now_ns() < w->deadline)
        return true;
    w->deadline = 0;
    return false;
}

// One step: spin by the clock, else yield, else arm the bell, else (armed and the condition looked
// at once more by the caller) sleep.
void waiter_pause(struct waiter *w)
{
    if (w->steps - wait_spins == 1 && spin_ns)
        w->deadline = now_ns() + spin_ns;
    if (wait_hooks.progress)
        wait_hooks.progress();
    if (w->deadline && spin(w))
        return;
    if (wait_hooks.check)
        wait_hooks.check();
    if (w->yields < LIMIT_YIELDS) {
        w->yields++;
        sched_yield();
    } else if (!w->is_armed) {
        arm(w);
        w->is_armed = true;
    } else {
        sleep_on(w);
        w->is_armed = false;
    }
}

void bell_ring(struct bell *bell)
{
    if (!atomic_exchange_explicit(&bell->armed, 0, memory_order_acq_rel))
        return;
    atomic_fetch_add_explicit(&bell->seq, 1, memory_order_release);
    syscall(SYS_futex, &bell->seq, FUTEX_WAKE, INT_MAX, NULL, NULL, 0);
}
