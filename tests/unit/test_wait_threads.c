// SPDX-License-Identifier: BSD-3-Clause
// Waiting by real threads, of which none may sleep through a change of what it waits for.
//
// The library's syscall is the one below. A futex is given PATIENCE_S in place of the few
// milliseconds that the library asks for, so a lost wake-up is a wait that runs out, not a test
// that is slow. Where the whole machine stands still meanwhile, as a virtual one may, time jumps and
// waits run out that nobody forgot: a thread that ticks tells the two apart. The stages, step by
// step, are in test_wait.c.
#include "unit.h"

#include "compiler.h"
#include "tunables.h"
#include "wait.h"

#include <dlfcn.h>
#include <errno.h>
#include <linux/futex.h>
#include <linux/membarrier.h>
#include <pthread.h>
#include <sched.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

enum { PATIENCE_S = 20, TICK_MS = 50 };

static bool patient;                  // futexes wait PATIENCE_S
static atomic_int entered, overslept; // waits; those that ran out

static atomic_uint ticks;
static atomic_bool ticking;

static void *tick(void *unused)
{
    struct timespec t = {.tv_nsec = TICK_MS * 1000000L};
    while (atomic_load(&ticking)) {
        nanosleep(&t, NULL);
        atomic_fetch_add(&ticks, 1);
    }
    return unused;
}

static void say_overslept(void);

typedef long syscall_fn(long number, long a, long b, long c, long d, long e, long f);

static long real_syscall(long number, const long *a)
{
    static syscall_fn *_Atomic next;
    bool sleeps = number == SYS_futex_waitv || (number == SYS_futex && (int)a[1] == FUTEX_WAIT);
    if (!next)
        next = (syscall_fn *)dlsym(RTLD_NEXT, "syscall");
    if (!sleeps)
        return next(number, a[0], a[1], a[2], a[3], a[4], a[5]);
    struct timespec until = {0};
    if (number == SYS_futex_waitv)
        clock_gettime(CLOCK_MONOTONIC, &until); // its time is a point, the other's a length
    until.tv_sec += PATIENCE_S;
    atomic_fetch_add(&entered, 1);
    unsigned before = atomic_load(&ticks);
    long status = next(number, a[0], a[1], a[2], patient ? (long)&until : a[3], a[4], a[5]);
    if (status < 0 && errno == ETIMEDOUT &&
        atomic_load(&ticks) - before > PATIENCE_S * 1000 / TICK_MS / 4) {
        atomic_fetch_add(&overslept, 1);
        say_overslept();
        errno = ETIMEDOUT;
    }
    return status;
}

long syscall(long number, ...)
{
    long a[6];
    va_list args;
    va_start(args, number);
    for (int i = 0; i < 6; i++)
        a[i] = va_arg(args, long);
    va_end(args);
    return real_syscall(number, a);
}

enum { MOST_SLEEPERS = 5, TRASH_LINES = 48 };

static LINE_ALIGNED atomic_uint value; // what the sleepers wait for
static LINE_ALIGNED struct bell value_bell;
static LINE_ALIGNED atomic_uint arrived;
static LINE_ALIGNED struct bell arrived_bell;
// Lines that both sides write: the writer's store of `value` stays behind theirs in its store
// buffer for as long as they take, which is the moment in which a wake-up could be lost.
static struct {
    LINE_ALIGNED atomic_uint word;
} trash[TRASH_LINES];
static int sleepers, rounds;

static bool kernel_has_membarrier(void)
{
    return syscall(SYS_membarrier, MEMBARRIER_CMD_REGISTER_GLOBAL_EXPEDITED, 0, 0, 0, 0, 0) == 0;
}

static pthread_t ticker;

static int end_real(void **state)
{
    (void)state;
    ticking = false;
    pthread_join(ticker, NULL);
    wait_hooks = (struct wait_hooks){0};
    return 0;
}

// A kernel's core that has run this process before it registered, and nobody else since, is not told
// (wait.h): somebody else runs on each for a moment.
static void leave_cores(void)
{
    cpu_set_t all;
    if (sched_getaffinity(0, sizeof all, &all))
        return;
    for (int core = 0; core < CPU_SETSIZE; core++) {
        if (!CPU_ISSET(core, &all))
            continue;
        pid_t child = fork();
        if (child == 0) {
            cpu_set_t one;
            CPU_ZERO(&one);
            CPU_SET(core, &one);
            sched_setaffinity(0, sizeof one, &one);
            _exit(0);
        }
        if (child > 0)
            waitpid(child, NULL, 0);
    }
}

static int start_real(void **state)
{
    (void)state;
    wait_configure(2, 1, -1);
    leave_cores();
    patient = kernel_has_membarrier();
    entered = overslept = 0;
    value = arrived = 0;
    ticking = true;
    return pthread_create(&ticker, NULL, tick, NULL);
}

static void dirty(void)
{
    for (int i = 0; i < TRASH_LINES; i++)
        atomic_store_explicit(&trash[i].word, 1, memory_order_relaxed);
}

// Mostly straight to sleep; now and then through all stages.
static void wait_for(atomic_uint *what, unsigned least, struct bell *bell, bool at_once)
{
    struct waiter w = waiter_start(bell);
    if (at_once)
        w.yields = LIMIT_YIELDS;
    while (atomic_load_explicit(what, memory_order_acquire) < least)
        waiter_step(&w);
}

static void *sleeper(void *arg)
{
    for (unsigned round = 1; round <= (unsigned)rounds; round++) {
        dirty();
        wait_for(&value, round, &value_bell, round % 16);
        atomic_fetch_add(&arrived, 1);
        bell_check(&arrived_bell);
    }
    return arg;
}

// Before every other store, waits until somebody has armed the bell.
static void write_rounds(void)
{
    uint64_t random = 12345;
    for (unsigned round = 1; round <= (unsigned)rounds; round++) {
        if (round % 2 && round % 16)
            while (!atomic_load_explicit(&value_bell.armed, memory_order_relaxed))
                sched_yield();
        for (uint64_t i = next_random(&random) % 64; i; i--)
            cpu_relax();
        dirty();
        atomic_store_explicit(&value, round, memory_order_release); // a plain store
        bell_check(&value_bell);
        wait_for(&arrived, round * (unsigned)sleepers, &arrived_bell, round % 16);
    }
}

static void run_sleepers(int n, int times)
{
    pthread_t thread[MOST_SLEEPERS];
    sleepers = n;
    rounds = times;
    for (int i = 0; i < n; i++)
        assert_int_equal(pthread_create(&thread[i], NULL, sleeper, NULL), 0);
    write_rounds();
    for (int i = 0; i < n; i++)
        pthread_join(thread[i], NULL);
    assert_int_equal(atomic_load(&arrived), (unsigned)(n * times));
    if (patient)
        assert_int_equal(atomic_load(&overslept), 0);
}

static void test_one_sleeper(void **state)
{
    (void)state;
    run_sleepers(1, 20000);
}

static void test_many_sleepers(void **state)
{
    (void)state;
    run_sleepers(MOST_SLEEPERS, 3000);
}

// All of them are in their sleep, or a step before it, when the one store comes.
static void test_all_wake(void **state)
{
    pthread_t thread[MOST_SLEEPERS];
    (void)state;
    sleepers = MOST_SLEEPERS;
    rounds = 1;
    for (int i = 0; i < sleepers; i++)
        assert_int_equal(pthread_create(&thread[i], NULL, sleeper, NULL), 0);
    while (atomic_load(&entered) < sleepers)
        sched_yield();
    atomic_store_explicit(&value, 1, memory_order_release);
    bell_check(&value_bell);
    for (int i = 0; i < sleepers; i++)
        pthread_join(thread[i], NULL);
    if (patient)
        assert_int_equal(atomic_load(&overslept), 0);
}

// A message comes for a sleeper that waits for something else: its progress hook takes it, does what
// the sleeper waits for, and rings as everybody does who changes memory.
static LINE_ALIGNED atomic_uint message;
static LINE_ALIGNED struct bell message_bell;
static _Thread_local bool takes_messages;

static int take_message(void)
{
    unsigned new_value = atomic_load_explicit(&message, memory_order_acquire);
    if (!takes_messages || new_value == atomic_load_explicit(&value, memory_order_relaxed))
        return 0;
    atomic_store_explicit(&value, new_value, memory_order_relaxed); // rings nothing
    return 1;
}

// Who forgot whom: an armed bell was not looked at, or looked at too early; one that is not was rung.
static void say_overslept(void)
{
    print_message("overslept: %s; value %u, arrived %u, message %u; armed: value %u, arrived %u, "
                  "message %u\n",
                  takes_messages ? "who takes messages" : "another", atomic_load(&value),
                  atomic_load(&arrived), atomic_load(&message), atomic_load(&value_bell.armed),
                  atomic_load(&arrived_bell.armed), atomic_load(&message_bell.armed));
}

static void *message_sleeper(void *arg)
{
    takes_messages = true;
    return sleeper(arg);
}

static void test_messages(void **state)
{
    pthread_t thread;
    (void)state;
    if (syscall(SYS_futex_waitv, NULL, 0, 0, NULL, 0, 0) && errno == ENOSYS) {
        print_message("test_messages: this kernel has no futex_waitv\n");
        skip();
    }
    message = 0;
    sleepers = 1;
    rounds = 5000;
    wait_hooks = (struct wait_hooks){.progress = take_message, .bell = &message_bell};
    assert_int_equal(pthread_create(&thread, NULL, message_sleeper, NULL), 0);
    for (unsigned round = 1; round <= (unsigned)rounds; round++) {
        if (round % 2 && round % 16)
            while (!atomic_load_explicit(&message_bell.armed, memory_order_relaxed))
                sched_yield();
        dirty();
        atomic_store_explicit(&message, round, memory_order_release);
        bell_check(&message_bell);
        wait_for(&arrived, round, &arrived_bell, round % 16);
    }
    pthread_join(thread, NULL);
    if (patient)
        assert_int_equal(atomic_load(&overslept), 0);
}

static uint64_t clock_ns(clockid_t clock)
{
    struct timespec t;
    clock_gettime(clock, &t);
    return (uint64_t)t.tv_sec * 1000000000 + (uint64_t)t.tv_nsec;
}

// A wait in which nothing happens takes next to no time of the core. Load of the machine makes the
// wait longer, not its share larger.
// For longer where others have the cores: it yields before it sleeps.
static void test_idle(void **state)
{
    const uint64_t least_ns = 300000000, most_ns = 100 * least_ns;
    struct bell bell = {0};
    (void)state;
    patient = false;
    uint64_t cpu = clock_ns(CLOCK_THREAD_CPUTIME_ID), start = clock_ns(CLOCK_MONOTONIC), took;
    struct waiter w = waiter_start(&bell);
    while ((took = clock_ns(CLOCK_MONOTONIC) - start) < least_ns ||
           (!atomic_load(&entered) && took < most_ns))
        waiter_step(&w);
    cpu = clock_ns(CLOCK_THREAD_CPUTIME_ID) - cpu;
    if (cpu > took / 4)
        fail_msg("%lu us of the core in a wait of %lu us", (unsigned long)(cpu / 1000),
                 (unsigned long)(took / 1000));
    assert_in_range(atomic_load(&entered), 1, took / 1000000); // sleeps of 1 ms and more
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(test_one_sleeper, start_real, end_real),
        cmocka_unit_test_setup_teardown(test_many_sleepers, start_real, end_real),
        cmocka_unit_test_setup_teardown(test_all_wake, start_real, end_real),
        cmocka_unit_test_setup_teardown(test_messages, start_real, end_real),
        cmocka_unit_test_setup_teardown(test_idle, start_real, end_real),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
