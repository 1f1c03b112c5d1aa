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

#if !defined(FUTEX_32) // headers of kernels before 5.16
#define FUTEX_32 2
struct futex_waitv {
    uint64_t val, uaddr;
    uint32_t flags, reserved;
};
#endif
#if !defined(SYS_futex_waitv)
#define SYS_futex_waitv 449
#endif

enum {
    SPINS_BEFORE_CLOCK = 256,
    SPINS_PER_CLOCK = 16,
    SOON = 128,
    SLEEP_FIRST_US = 1000,
    SLEEP_LAST_US = 16000,
    LEAVE_FIRST_NS = 10000000,
    LEAVE_LAST_NS = 1000000000
};

#if defined(SHOAL_SANITIZED)
_Atomic int compiler_order;
#endif

struct wait_hooks wait_hooks;
TLS_FAST bool wait_is_ours;
_Atomic uint32_t wait_spins = SPINS_BEFORE_CLOCK;

static uint64_t spin_ns = LIMIT_SPIN_NS;
static uint32_t spins_alone = SPINS_BEFORE_CLOCK; // wait_spins, with no other PE on the core
static _Atomic bool is_beside;
static bool have_membarrier;
static _Atomic bool have_waitv = true;

uint64_t wait_now_ns(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (uint64_t)t.tv_sec * 1000000000u + (uint64_t)t.tv_nsec;
}

// This thread, and those that it will start, have as much of the processors with short slices of the
// scheduler's as with long ones, but have it sooner: who yields passes over one slice of its own, and who
// is woken goes before others with longer ones. Beside a program that computes a barrier takes a tenth of
// the time. Kernels before 6.12 show no slice, and a thread cannot choose it.
static void take_short_slices(void)
{
    struct { // sched_setattr's
        uint32_t size, policy;
        uint64_t flags;
        int32_t nice;
        uint32_t priority;
        uint64_t slice_ns, deadline, period;
    } attr = {0}; // valgrind does not know who fills it
    bool is_known = syscall(SYS_sched_getattr, 0, &attr, sizeof attr, 0) == 0;
    if (!is_known || attr.policy != SCHED_OTHER || attr.slice_ns <= LIMIT_SLICE_NS)
        return;
    attr.slice_ns = LIMIT_SLICE_NS;
    syscall(SYS_sched_setattr, 0, &attr, 0);
}

void wait_configure(int peers, int cpus, long spin_us)
{
    bool crowded = peers > cpus;
    if (spin_us >= 0)
        spin_ns = (uint64_t)spin_us * 1000;
    else
        spin_ns = crowded ? 0 : LIMIT_SPIN_NS;
    spins_alone = spin_ns ? SPINS_BEFORE_CLOCK : 0;
    atomic_store_explicit(&is_beside, false, memory_order_relaxed);
    atomic_store_explicit(&wait_spins, spins_alone, memory_order_relaxed);
    take_short_slices();
    have_membarrier = syscall(SYS_membarrier, MEMBARRIER_CMD_REGISTER_GLOBAL_EXPEDITED, 0, 0) == 0;
    log_line(LOG_DEBUG, LOG_WAIT, "%d PEs, %d usable cores: spin %lu us, membarrier %s", peers,
             cpus, (unsigned long)(spin_ns / 1000), have_membarrier ? "yes" : "no");
}

bool wait_fence_everywhere(void)
{
    return have_membarrier && syscall(SYS_membarrier, MEMBARRIER_CMD_GLOBAL_EXPEDITED, 0, 0) == 0;
}

// Two bells a sleeper listens to: that of what it waits for, and that of this process's messages.
static struct bell *second_of(const struct waiter *w)
{
    return wait_hooks.bell && wait_hooks.bell != w->bell ? wait_hooks.bell : NULL;
}

static void arm_one(struct bell *bell, uint32_t *seq)
{
    *seq = atomic_load_explicit(&bell->seq, memory_order_acquire);
    atomic_store_explicit(&bell->armed, 1, memory_order_seq_cst);
}

// After this, every store a writer made before its load of `armed` is visible here, or that load
// sees 1.
static void arm(struct waiter *w)
{
    struct bell *second = second_of(w);
    arm_one(w->bell, &w->seq);
    if (second)
        arm_one(second, &w->second_seq);
    if (!wait_fence_everywhere())
        atomic_thread_fence(memory_order_seq_cst);
    w->sleep_us = w->sleep_us ? w->sleep_us * 2 : SLEEP_FIRST_US;
    if (w->sleep_us > SLEEP_LAST_US)
        w->sleep_us = SLEEP_LAST_US;
    if (!have_membarrier)
        w->sleep_us = SLEEP_FIRST_US;
}

// Listens to one bell alone where the kernel (before 5.16) has no call for two. True: it was rung.
static bool sleep_on(struct waiter *w)
{
    struct timespec t = {.tv_nsec = (long)w->sleep_us * 1000};
    struct bell *second = second_of(w);
    if (second && have_waitv) {
        struct futex_waitv both[2] = {
            {.val = w->seq, .uaddr = (uintptr_t)&w->bell->seq, .flags = FUTEX_32},
            {.val = w->second_seq, .uaddr = (uintptr_t)&second->seq, .flags = FUTEX_32}};
        uint64_t until = wait_now_ns() + (uint64_t)t.tv_nsec;
        struct timespec end = {.tv_sec = (time_t)(until / 1000000000u),
                               .tv_nsec = (long)(until % 1000000000u)};
        if (syscall(SYS_futex_waitv, both, 2, 0, &end, CLOCK_MONOTONIC) >= 0)
            return true;
        if (errno != ENOSYS && errno != EPERM)
            return errno == EAGAIN;
        have_waitv = false;
    }
    if (second) // which is not heard
        t.tv_nsec = SLEEP_FIRST_US * 1000;
    return syscall(SYS_futex, &w->bell->seq, FUTEX_WAIT, w->seq, &t, NULL, 0) == 0 ||
           errno == EAGAIN;
}

// Past its yields: does it go on with them all the same? Without a network too, for a while, where it
// has a core: to sleep and to be woken takes as long as a few hundred yields, and the fence everywhere
// stops those who work.
static bool lingers(struct waiter *w)
{
    uint64_t linger_ns = wait_hooks.linger_ns;
    if (!linger_ns && spin_ns && !w->is_beside && !wait_is_ours)
        linger_ns = LIMIT_LINGER_NS;
    if (!linger_ns)
        return false;
    uint64_t now = wait_now_ns();
    if (!w->linger)
        w->linger = now + linger_ns;
    return now < w->linger;
}

// Returns false when it is time to give the core away. Progress of a network is all the pause that is
// needed: it takes longer than the others here.
static bool spin(struct waiter *w)
{
    int relaxes = wait_hooks.linger_ns ? 0 : SPINS_PER_CLOCK;
    for (int i = 0; i < relaxes; i++)
        cpu_relax();
    if (wait_now_ns() < w->deadline)
        return true;
    w->deadline = 0;
    return false;
}

static void yield(struct waiter *w)
{
    w->yields++;
    sched_yield();
}

void wait_spin_less(uint32_t steps)
{
    if (spins_alone > steps)
        spins_alone = steps;
    atomic_store_explicit(&wait_spins, spins_alone, memory_order_relaxed);
}

bool wait_is_beside(void)
{
    return atomic_load_explicit(&is_beside, memory_order_relaxed);
}

// ---- Two PEs on one core, though there are enough. The kernel leaves them there while something else
// keeps another core busy, or where cores share no cache: each sleeps, or yields, when the other runs. Who
// waits writes itself to the core's place, and finds the other one there.
static _Atomic uint32_t *place_of(int core)
{
    return &wait_hooks.waited[(unsigned)core % WAIT_CORES];
}

// At its core from now on, and no longer where it was.
static void stand(int core)
{
    static TLS_FAST int stood = -1;
    if (stood >= 0 && stood != core &&
        atomic_load_explicit(place_of(stood), memory_order_relaxed) == wait_hooks.self)
        atomic_store_explicit(place_of(stood), 0, memory_order_relaxed);
    if (atomic_load_explicit(place_of(core), memory_order_relaxed) != wait_hooks.self)
        atomic_store_explicit(place_of(core), wait_hooks.self, memory_order_relaxed);
    stood = core;
}

// Once in a while, for others may have work on the free core: then it finds itself beside a PE again.
static bool may_leave(void)
{
    static TLS_FAST uint64_t next_ns, pause_ns;
    uint64_t now = wait_now_ns();
    if (now < next_ns)
        return false;
    pause_ns = pause_ns && now < next_ns + pause_ns ? 2 * pause_ns : LEAVE_FIRST_NS;
    next_ns = now + (pause_ns < LEAVE_LAST_NS ? pause_ns : LEAVE_LAST_NS);
    return true;
}

// To a core that it may use and where no PE has waited last. The one of the greater number goes.
static bool leaves(int core, uint32_t other)
{
    cpu_set_t all, one;
    if (other > wait_hooks.self || !may_leave() || sched_getaffinity(0, sizeof all, &all))
        return false;
    for (int i = 1; i < CPU_SETSIZE; i++) {
        int to = (core + i) % CPU_SETSIZE;
        if (!CPU_ISSET(to, &all) || atomic_load_explicit(place_of(to), memory_order_relaxed))
            continue;
        CPU_ZERO(&one);
        CPU_SET(to, &one);
        bool is_there = sched_setaffinity(0, sizeof one, &one) == 0;
        sched_setaffinity(0, sizeof all, &all);
        if (is_there)
            stand(to);
        return is_there;
    }
    return false;
}

static bool finds_another(void)
{
    int core = sched_getcpu();
    if (!wait_hooks.waited || core < 0)
        return false;
    uint32_t who = atomic_load_explicit(place_of(core), memory_order_relaxed);
    stand(core);
    return who && who != wait_hooks.self && !leaves(core, who);
}

static void begin(struct waiter *w)
{
    w->is_begun = true;
    if (!spin_ns)
        return;
    w->is_beside = finds_another();
    uint32_t spins = w->is_beside ? 0 : spins_alone;
    if (w->is_beside != wait_is_beside())
        atomic_store_explicit(&is_beside, w->is_beside, memory_order_relaxed);
    if (spins != atomic_load_explicit(&wait_spins, memory_order_relaxed))
        atomic_store_explicit(&wait_spins, spins, memory_order_relaxed);
    if (!w->is_beside)
        w->deadline = wait_now_ns() + spin_ns;
}

// The hook may wait for room, but not within itself.
static bool run_user(void)
{
    static TLS_FAST bool is_running;
    int (*user)(void) = atomic_load_explicit(&wait_hooks.user, memory_order_acquire);
    if (!user || wait_is_ours || is_running)
        return false;
    is_running = true;
    bool did = user() > 0;
    is_running = false;
    return did;
}

// Did they do something?
static bool run_hooks(void)
{
    bool did = wait_hooks.progress && wait_hooks.progress();
    return run_user() || did;
}

void wait_serve(void)
{
    run_hooks();
    wait_check();
}

// One step: spin by the clock, else yield, else arm the bell, else (armed and the condition looked
// at once more by the caller) sleep.
void waiter_pause(struct waiter *w)
{
    if (!w->is_begun)
        begin(w);
    if (w->is_for_near && (!spin_ns || w->is_beside) && !w->yields) {
        yield(w);
        return;
    }
    if (run_hooks()) {
        w->soon = spin_ns && !w->is_beside ? SOON : 0;
        return; // that may be what is waited for
    }
    if (w->deadline && spin(w))
        return;
    wait_check();
    if (w->soon) {
        w->soon--;
        cpu_relax();
        return;
    }
    if (w->yields < LIMIT_YIELDS) {
        yield(w);
    } else if (w->is_armed) {
        if (wait_hooks.sleeps)
            wait_hooks.sleeps();
        if (sleep_on(w))
            w->linger = 0;
        w->is_armed = false;
    } else if (lingers(w)) {
        sched_yield();
    } else {
        arm(w);
        w->is_armed = true;
    }
}

void bell_ring(struct bell *bell)
{
    if (!atomic_exchange_explicit(&bell->armed, 0, memory_order_acq_rel))
        return;
    atomic_fetch_add_explicit(&bell->seq, 1, memory_order_release);
    syscall(SYS_futex, &bell->seq, FUTEX_WAKE, INT_MAX, NULL, NULL, 0);
}
