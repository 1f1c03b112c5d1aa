// SPDX-License-Identifier: BSD-3-Clause
// Waiting: the stages spin, yield, sleep on a clock of our own; then real threads, of which none
// may sleep through a change of what it waits for.
//
// The library's syscall, clock_gettime and sched_yield are the ones below. A futex that really
// waits is given PATIENCE_S in place of the few milliseconds that the library asks for, so a lost
// wake-up is a wait that runs out, not a test that is slow.
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
#include <time.h>

enum { PATIENCE_S = 20, FAKE_TICK_NS = 100 };

static struct fake {
    bool on;             // nothing reaches the kernel
    bool no_membarrier;  // as where it is forbidden
    bool no_waitv;       // as before Linux 5.16
    uint64_t now;        // a look at the clock takes FAKE_TICK_NS
    int clocks, yields, barriers, waits, wakes;
    int bells;                // of the last wait
    const void *word[2];      // their futexes
    uint64_t expected[2];     // and the values they should have
    long sleep_ns;
} fake;

static bool patient;                 // real futexes wait PATIENCE_S
static atomic_int entered, overslept; // real waits; those that ran out

static void *next_of(const char *name)
{
    return dlsym(RTLD_NEXT, name);
}

int clock_gettime(clockid_t clock, struct timespec *t)
{
    static int (*_Atomic next)(clockid_t, struct timespec *);
    if (fake.on) {
        fake.clocks++;
        fake.now += FAKE_TICK_NS;
        *t = (struct timespec){(time_t)(fake.now / 1000000000), (long)(fake.now % 1000000000)};
        return 0;
    }
    if (!next)
        next = (int (*)(clockid_t, struct timespec *))next_of("clock_gettime");
    return next(clock, t);
}

int sched_yield(void)
{
    static int (*_Atomic next)(void);
    if (fake.on)
        return fake.yields++, 0;
    if (!next)
        next = (int (*)(void))next_of("sched_yield");
    return next();
}

static long fake_wait(const void *word, uint32_t value, const struct timespec *t)
{
    fake.waits++;
    fake.bells = 1;
    fake.word[0] = word;
    fake.expected[0] = value;
    fake.sleep_ns = t->tv_sec * 1000000000 + t->tv_nsec;
    errno = ETIMEDOUT;
    return -1;
}

static long fake_waitv(const struct futex_waitv *v, int n, const struct timespec *end)
{
    if (fake.no_waitv) {
        errno = ENOSYS;
        return -1;
    }
    assert_in_range(n, 1, 2);
    fake.waits++;
    fake.bells = n;
    for (int i = 0; i < n; i++) {
        assert_int_equal(v[i].flags, FUTEX_32); // shared between processes
        fake.word[i] = (const void *)(uintptr_t)v[i].uaddr;
        fake.expected[i] = v[i].val;
    }
    fake.sleep_ns = (long)((uint64_t)(end->tv_sec * 1000000000 + end->tv_nsec) - fake.now);
    errno = ETIMEDOUT;
    return -1;
}

static long fake_syscall(long number, const long *a)
{
    if (number == SYS_futex && a[1] == FUTEX_WAKE)
        return fake.wakes++, 0;
    if (number == SYS_futex) {
        assert_int_equal(a[1], FUTEX_WAIT);
        return fake_wait((const void *)a[0], (uint32_t)a[2], (const struct timespec *)a[3]);
    }
    if (number == SYS_futex_waitv)
        return fake_waitv((const struct futex_waitv *)a[0], (int)a[1],
                          (const struct timespec *)a[3]);
    assert_int_equal(number, SYS_membarrier);
    fake.barriers += (int)a[0] == MEMBARRIER_CMD_GLOBAL_EXPEDITED && !fake.no_membarrier;
    errno = EPERM;
    return fake.no_membarrier ? -1 : 0;
}

typedef long syscall_fn(long number, long a, long b, long c, long d, long e, long f);

long syscall(long number, ...)
{
    static syscall_fn *_Atomic next;
    long a[6];
    va_list args;
    va_start(args, number);
    for (int i = 0; i < 6; i++)
        a[i] = va_arg(args, long);
    va_end(args);
    bool sleeps = number == SYS_futex_waitv || (number == SYS_futex && a[1] == FUTEX_WAIT);
    if (fake.on)
        return fake_syscall(number, a);
    if (!next)
        next = (syscall_fn *)next_of("syscall");
    if (!sleeps)
        return next(number, a[0], a[1], a[2], a[3], a[4], a[5]);
    struct timespec until = {0};
    if (number == SYS_futex_waitv)
        clock_gettime(CLOCK_MONOTONIC, &until); // its time is a point, the other's a length
    until.tv_sec += PATIENCE_S;
    atomic_fetch_add(&entered, 1);
    long status = next(number, a[0], a[1], a[2], patient ? (long)&until : a[3], a[4], a[5]);
    if (status < 0 && errno == ETIMEDOUT)
        atomic_fetch_add(&overslept, 1);
    return status;
}

// ---- Stages, with nothing real.
static void start_fake(void)
{
    fake = (struct fake){.on = true, .now = 1000000};
}

static int end_fake(void **state)
{
    (void)state;
    fake.on = false;
    wait_hooks = (struct wait_hooks){0};
    return 0;
}

static int progresses, checks;

static void count_progress(void)
{
    progresses++;
}

static void count_check(void)
{
    checks++;
}

// Yields, arms, sleeps; each sleep twice as long as the last, up to 16 ms.
static void check_sleeping(struct waiter *w, struct bell *bell, const long *sleeps_us, int n)
{
    for (int i = 0; i < LIMIT_YIELDS; i++) {
        assert_int_equal(fake.yields, i);
        waiter_step(w);
    }
    assert_int_equal(fake.yields, LIMIT_YIELDS);
    for (int i = 0; i < n; i++) {
        atomic_store(&bell->seq, 40u + (unsigned)i);
        assert_int_equal(fake.waits, i);
        waiter_step(w); // arms; the caller looks at its condition before the next step
        assert_int_equal(fake.waits, i);
        assert_int_equal(fake.barriers, fake.no_membarrier ? 0 : i + 1);
        assert_int_equal(atomic_load(&bell->armed), 1);
        atomic_store(&bell->seq, 90); // a ring from now on ends the sleep at once
        waiter_step(w);
        assert_int_equal(fake.waits, i + 1);
        assert_int_equal(fake.bells, 1);
        assert_ptr_equal(fake.word[0], &bell->seq);
        assert_int_equal(fake.expected[0], 40 + i);
        assert_int_equal(fake.sleep_ns, sleeps_us[i] * 1000);
    }
    assert_int_equal(fake.yields, LIMIT_YIELDS);
}

static void test_stages(void **state)
{
    static const long sleeps_us[] = {1000, 2000, 4000, 8000, 16000, 16000, 16000};
    struct bell bell = {0};
    (void)state;
    start_fake();
    wait_hooks = (struct wait_hooks){.progress = count_progress, .check = count_check};
    progresses = checks = 0;
    wait_configure(2, 4, 20);
    struct waiter w = waiter_start(&bell);
    assert_true(wait_spins > 0);
    for (uint32_t i = 0; i < wait_spins; i++)
        waiter_step(&w);
    assert_int_equal(fake.clocks, 0); // the first spins look at nothing
    assert_int_equal(progresses, 0);
    uint64_t start = fake.now;
    int steps = 0;
    while (fake.now < start + FAKE_TICK_NS + 20000) {
        assert_int_equal(fake.yields, 0);
        waiter_step(&w);
        steps++;
    }
    assert_true(steps > 150); // 20 us, 0.1 us a look
    assert_int_equal(progresses, steps);
    assert_int_equal(fake.yields, 1); // the step that finds the time over yields
    assert_int_equal(checks, 1);
    fake.yields = 0;
    w.yields = 0;
    check_sleeping(&w, &bell, sleeps_us, (int)ARRAY_LEN(sleeps_us));
    assert_int_equal(checks, 1 + LIMIT_YIELDS + 2 * (int)ARRAY_LEN(sleeps_us));
    assert_int_equal(progresses, steps - 1 + checks);
}

// More PEs than cores: no spinning at all.
static void test_crowded(void **state)
{
    static const long sleeps_us[] = {1000, 2000};
    struct bell bell = {0};
    (void)state;
    start_fake();
    wait_configure(5, 4, -1);
    assert_int_equal(wait_spins, 0);
    struct waiter w = waiter_start(&bell);
    check_sleeping(&w, &bell, sleeps_us, 2);
    assert_int_equal(fake.clocks, 0);
    wait_configure(4, 4, -1);
    assert_int_equal(wait_spins > 0, LIMIT_SPIN_NS > 0);
    wait_configure(5, 4, 1); // as the user says
    assert_true(wait_spins > 0);
    wait_configure(1, 4, 0);
    assert_int_equal(wait_spins, 0);
}

// Without the barrier a wake-up may be missed: the sleeps stay short.
static void test_no_membarrier(void **state)
{
    static const long sleeps_us[] = {1000, 1000, 1000, 1000};
    struct bell bell = {0};
    (void)state;
    start_fake();
    fake.no_membarrier = true;
    wait_configure(5, 4, -1);
    struct waiter w = waiter_start(&bell);
    check_sleeping(&w, &bell, sleeps_us, 4);
}

// A sleeper listens to the bell of its process's messages too, when that is another.
static void test_two_bells(void **state)
{
    struct bell bell = {.seq = 3}, second = {.seq = 5};
    struct waiter w = waiter_start(&bell);
    (void)state;
    start_fake();
    wait_configure(5, 4, -1);
    wait_hooks.bell = &second;
    w.yields = LIMIT_YIELDS;
    waiter_step(&w);
    assert_int_equal(atomic_load(&bell.armed), 1);
    assert_int_equal(atomic_load(&second.armed), 1);
    assert_int_equal(fake.barriers, 1); // one for both
    atomic_store(&bell.seq, 90);
    atomic_store(&second.seq, 90);
    waiter_step(&w);
    assert_int_equal(fake.waits, 1);
    assert_int_equal(fake.bells, 2);
    assert_ptr_equal(fake.word[0], &bell.seq);
    assert_ptr_equal(fake.word[1], &second.seq);
    assert_int_equal(fake.expected[0], 3);
    assert_int_equal(fake.expected[1], 5);
    assert_int_equal(fake.sleep_ns, 1000000);
    wait_hooks.bell = &bell; // the same one: no need for two
    waiter_step(&w);
    waiter_step(&w);
    assert_int_equal(fake.bells, 1);
    assert_int_equal(fake.sleep_ns, 2000000);
}

// The last test: the library remembers that the kernel has no such call.
static void test_no_waitv(void **state)
{
    struct bell bell = {.seq = 3}, second = {0};
    struct waiter w = waiter_start(&bell);
    (void)state;
    start_fake();
    fake.no_waitv = true;
    wait_configure(5, 4, -1);
    wait_hooks.bell = &second;
    w.yields = LIMIT_YIELDS;
    for (int i = 1; i <= 3; i++) {
        waiter_step(&w);
        waiter_step(&w);
        assert_int_equal(fake.waits, i); // as many sleeps as with it
        assert_int_equal(fake.bells, 1);
        assert_ptr_equal(fake.word[0], &bell.seq);
    }
    fake.no_waitv = false;
    waiter_step(&w);
    waiter_step(&w);
    assert_int_equal(fake.bells, 1);
}

static void test_fence(void **state)
{
    (void)state;
    start_fake();
    wait_configure(5, 4, -1);
    assert_true(wait_fence_everywhere());
    assert_int_equal(fake.barriers, 1);
    fake.no_membarrier = true;
    assert_false(wait_fence_everywhere());
    wait_configure(5, 4, -1);
    assert_false(wait_fence_everywhere());
}

static void test_ring(void **state)
{
    struct bell bell = {.seq = 7};
    (void)state;
    start_fake();
    bell_check(&bell); // nobody sleeps: one load
    bell_ring(&bell);
    assert_int_equal(fake.wakes, 0);
    assert_int_equal(atomic_load(&bell.seq), 7);
    atomic_store(&bell.armed, 1);
    bell_check(&bell);
    assert_int_equal(fake.wakes, 1);
    assert_int_equal(atomic_load(&bell.armed), 0);
    assert_int_equal(atomic_load(&bell.seq), 8); // who was about to sleep does not
    bell_check(&bell);
    assert_int_equal(fake.wakes, 1);
}

// ---- Real threads.
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

static bool have_membarrier(void)
{
    return syscall(SYS_membarrier, MEMBARRIER_CMD_REGISTER_GLOBAL_EXPEDITED, 0, 0, 0, 0, 0) == 0;
}

static int start_real(void **state)
{
    (void)state;
    fake.on = false;
    wait_configure(2, 1, -1);
    patient = have_membarrier();
    entered = overslept = 0;
    value = arrived = 0;
    return 0;
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

// A message comes for a sleeper that waits for something else: its progress hook takes it, and what
// it does is what the sleeper waits for.
static LINE_ALIGNED atomic_uint message;
static LINE_ALIGNED struct bell message_bell;
static _Thread_local bool takes_messages;

static void take_message(void)
{
    if (takes_messages)
        atomic_store_explicit(&value, atomic_load_explicit(&message, memory_order_acquire),
                              memory_order_relaxed);
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
static void test_idle(void **state)
{
    enum { IDLE_NS = 300000000 };
    struct bell bell = {0};
    (void)state;
    patient = false;
    uint64_t cpu = clock_ns(CLOCK_THREAD_CPUTIME_ID), start = clock_ns(CLOCK_MONOTONIC);
    struct waiter w = waiter_start(&bell);
    while (clock_ns(CLOCK_MONOTONIC) - start < IDLE_NS)
        waiter_step(&w);
    cpu = clock_ns(CLOCK_THREAD_CPUTIME_ID) - cpu;
    if (cpu > IDLE_NS / 4)
        fail_msg("%lu us of the core in a wait of %d us", (unsigned long)(cpu / 1000),
                 IDLE_NS / 1000);
    assert_in_range(atomic_load(&entered), 1, IDLE_NS / 1000000); // sleeps of 1 ms and more
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_teardown(test_stages, end_fake),
        cmocka_unit_test_teardown(test_crowded, end_fake),
        cmocka_unit_test_teardown(test_no_membarrier, end_fake),
        cmocka_unit_test_teardown(test_two_bells, end_fake),
        cmocka_unit_test_teardown(test_fence, end_fake),
        cmocka_unit_test_teardown(test_ring, end_fake),
        cmocka_unit_test_setup(test_one_sleeper, start_real),
        cmocka_unit_test_setup(test_many_sleepers, start_real),
        cmocka_unit_test_setup(test_all_wake, start_real),
        cmocka_unit_test_setup_teardown(test_messages, start_real, end_fake),
        cmocka_unit_test_setup(test_idle, start_real),
        cmocka_unit_test_teardown(test_no_waitv, end_fake),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
