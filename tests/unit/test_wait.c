// SPDX-License-Identifier: BSD-3-Clause
// Waiting: the stages spin, yield, sleep, each step as it should be. The library's syscall,
// clock_gettime and sched_yield are the ones below, so nothing depends on the machine or on time.
// Real threads are in test_wait_threads.c.
#include "unit.h"

#include "compiler.h"
#include "tunables.h"
#include "wait.h"

#include <dlfcn.h>
#include <errno.h>
#include <linux/futex.h>
#include <linux/membarrier.h>
#include <sched.h>
#include <sys/syscall.h>
#include <time.h>

enum { FAKE_TICK_NS = 100 };

static struct fake {
    bool on;            // nothing reaches the kernel
    bool no_membarrier; // as where it is forbidden
    bool no_waitv;      // as before Linux 5.16
    bool rings;         // a sleep ends by a ring, and not with its time
    uint64_t slice_ns;  // the scheduler's, of this thread
    uint32_t policy;
    uint64_t now; // a look at the clock takes FAKE_TICK_NS
    int clocks, yields, barriers, waits, wakes;
    int bells;            // of the last wait
    const void *word[2];  // their futexes
    uint64_t expected[2]; // and the values they should have
    long sleep_ns;
    int core, moves;  // where the thread is
    cpu_set_t may_be; // where it may
} fake;

// A sanitizer calls these too, before it is ready for code that it watches.
#define UNWATCHED __attribute__((no_sanitize("thread", "address", "undefined")))
#define NEXT(type, name) ((type *)dlsym(RTLD_NEXT, #name))

typedef int clock_fn(clockid_t clock, struct timespec *t);
typedef int yield_fn(void);
typedef long syscall_fn(long number, long a, long b, long c, long d, long e, long f);

UNWATCHED int clock_gettime(clockid_t clock, struct timespec *t)
{
    static clock_fn *_Atomic next;
    if (!fake.on) {
        if (!next)
            next = NEXT(clock_fn, clock_gettime);
        return next(clock, t);
    }
    fake.clocks++;
    fake.now += FAKE_TICK_NS;
    *t = (struct timespec){(time_t)(fake.now / 1000000000), (long)(fake.now % 1000000000)};
    return 0;
}

UNWATCHED int sched_yield(void)
{
    static yield_fn *_Atomic next;
    if (fake.on)
        return fake.yields++, 0;
    if (!next)
        next = NEXT(yield_fn, sched_yield);
    return next();
}

typedef int core_fn(void);
typedef int get_fn(pid_t pid, size_t size, cpu_set_t *set);
typedef int set_fn(pid_t pid, size_t size, const cpu_set_t *set);

UNWATCHED int sched_getcpu(void)
{
    static core_fn *_Atomic next;
    if (fake.on)
        return fake.core;
    if (!next)
        next = NEXT(core_fn, sched_getcpu);
    return next();
}

UNWATCHED int sched_getaffinity(pid_t pid, size_t size, cpu_set_t *set)
{
    static get_fn *_Atomic next;
    if (fake.on)
        return *set = fake.may_be, 0;
    if (!next)
        next = NEXT(get_fn, sched_getaffinity);
    return next(pid, size, set);
}

// Stays where it is, if it may.
UNWATCHED int sched_setaffinity(pid_t pid, size_t size, const cpu_set_t *set)
{
    static set_fn *_Atomic next;
    if (fake.on) {
        fake.may_be = *set;
        while (!CPU_ISSET(fake.core, set))
            fake.core = (fake.core + 1) % CPU_SETSIZE;
        return fake.moves++, 0;
    }
    if (!next)
        next = NEXT(set_fn, sched_setaffinity);
    return next(pid, size, set);
}

static long fake_wait(const void *word, uint32_t value, const struct timespec *t)
{
    fake.waits++;
    fake.bells = 1;
    fake.word[0] = word;
    fake.expected[0] = value;
    fake.sleep_ns = t->tv_sec * 1000000000 + t->tv_nsec;
    errno = ETIMEDOUT;
    return fake.rings ? 0 : -1;
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

struct scheduling { // what sched_getattr and sched_setattr take
    uint32_t size, policy;
    uint64_t flags;
    int32_t nice;
    uint32_t priority;
    uint64_t slice_ns, deadline, period;
};

static long fake_scheduling(long number, struct scheduling *s)
{
    if (number == SYS_sched_getattr) {
        *s = (struct scheduling){
            .size = sizeof *s, .policy = fake.policy, .nice = 7, .slice_ns = fake.slice_ns};
        return 0;
    }
    assert_int_equal(s->policy, fake.policy);
    assert_int_equal(s->nice, 7);
    fake.slice_ns = s->slice_ns;
    return 0;
}

static long fake_syscall(long number, const long *a)
{
    if (number == SYS_sched_getattr || number == SYS_sched_setattr)
        return fake_scheduling(number, (struct scheduling *)a[1]);
    if (number == SYS_futex && (int)a[1] == FUTEX_WAKE)
        return fake.wakes++, 0;
    if (number == SYS_futex) {
        assert_int_equal((int)a[1], FUTEX_WAIT);
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

UNWATCHED long syscall(long number, ...)
{
    static syscall_fn *_Atomic next;
    long a[6];
    va_list args;
    va_start(args, number);
    for (int i = 0; i < 6; i++)
        a[i] = va_arg(args, long);
    va_end(args);
    if (fake.on)
        return fake_syscall(number, a);
    if (!next)
        next = NEXT(syscall_fn, syscall);
    return next(number, a[0], a[1], a[2], a[3], a[4], a[5]);
}

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

static int count_progress(void)
{
    progresses++;
    return 0;
}

static void count_check(void)
{
    checks++;
}

static void check_yields(struct waiter *w, int n)
{
    fake.yields = 0;
    for (int i = 0; i < n; i++) {
        assert_int_equal(fake.yields, i);
        waiter_step(w);
    }
    assert_int_equal(fake.yields, n);
}

// Yields, `lingering` of them beyond those that all do; arms, sleeps; each sleep twice as long as the last, up
// to 16 ms.
static void check_sleeping(struct waiter *w, struct bell *bell, int lingering,
                           const long *sleeps_us, int n)
{
    check_yields(w, LIMIT_YIELDS + lingering);
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
    assert_int_equal(fake.yields, LIMIT_YIELDS + lingering);
}

static void test_stages(void **state)
{
    static const long sleeps_us[] = {1000, 2000, 4000, 8000, 16000, 16000, 16000};
    enum { LINGERING = LIMIT_LINGER_NS / FAKE_TICK_NS }; // a look at the clock each
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
    w.yields = 0;
    check_sleeping(&w, &bell, LINGERING, sleeps_us, (int)ARRAY_LEN(sleeps_us));
    assert_int_equal(checks, 1 + LIMIT_YIELDS + LINGERING + 2 * (int)ARRAY_LEN(sleeps_us));
    assert_int_equal(progresses, steps - 1 + checks);
    waiter_step(&w);
    fake.rings = true;
    waiter_step(&w);
    check_yields(&w, LINGERING); // after a ring again
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
    check_sleeping(&w, &bell, 0, sleeps_us, 2);
    assert_int_equal(fake.clocks, 0);
    wait_configure(4, 4, -1);
    assert_int_equal(wait_spins > 0, LIMIT_SPIN_NS > 0);
    wait_configure(5, 4, 1); // as the user says
    assert_true(wait_spins > 0);
    wait_configure(1, 4, 0);
    assert_int_equal(wait_spins, 0);
}

static void test_slices(void **state)
{
    static const struct {
        uint32_t policy;
        uint64_t before, after;
    } row[] = {{SCHED_OTHER, 2800000, LIMIT_SLICE_NS},
               {SCHED_OTHER, LIMIT_SLICE_NS / 2, LIMIT_SLICE_NS / 2},
               {SCHED_OTHER, 0, 0}, // before Linux 6.12
               {SCHED_BATCH, 2800000, 2800000}};
    (void)state;
    for (size_t i = 0; i < ARRAY_LEN(row); i++) {
        start_fake();
        fake.policy = row[i].policy;
        fake.slice_ns = row[i].before;
        wait_configure(5, 4, -1);
        assert_int_equal(fake.slice_ns, row[i].after);
        fake.on = false;
    }
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
    check_sleeping(&w, &bell, 0, sleeps_us, 4);
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

// One wait past its first spins.
static void wait_once(void)
{
    struct bell bell = {0};
    struct waiter w = waiter_start(&bell);
    while (!w.is_begun)
        waiter_step(&w);
}

// Two PEs wait on one core: the one of the greater number goes to one where none has waited, once in a while,
// and may be anywhere all the same.
static void test_leaves_core(void **state)
{
    static _Atomic uint32_t waited[WAIT_CORES];
    cpu_set_t three;
    (void)state;
    start_fake();
    wait_hooks = (struct wait_hooks){.waited = waited, .self = 5};
    wait_configure(3, 3, 20); // spins, with tiny sizes too
    CPU_ZERO(&three);
    for (int i = 0; i < 3; i++)
        CPU_SET(2 * i, &three);
    fake.may_be = three;
    waited[0] = 9;
    wait_once(); // the other one goes
    assert_int_equal(fake.moves, 0);
    assert_true(wait_is_beside());
    waited[0] = 3;
    waited[2] = 4;
    wait_once();
    assert_int_equal(fake.core, 4);
    assert_true(CPU_EQUAL(&fake.may_be, &three)); // as before
    assert_false(wait_is_beside());
    assert_int_equal(waited[4], 5);
    assert_int_equal(waited[0], 0);
    waited[4] = 3; // it has come there, too
    wait_once();
    assert_int_equal(fake.core, 4);
    assert_true(wait_is_beside());
    fake.now += 11000000;
    waited[4] = 3;
    wait_once();
    assert_int_equal(fake.core, 0);
    assert_false(wait_is_beside());
    fake.now += 11000000;
    waited[0] = 3; // no core is free
    waited[4] = 3;
    int moves = fake.moves;
    wait_once();
    assert_int_equal(fake.moves, moves);
    assert_true(wait_is_beside());
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

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_teardown(test_stages, end_fake),
        cmocka_unit_test_teardown(test_crowded, end_fake),
        cmocka_unit_test_teardown(test_slices, end_fake),
        cmocka_unit_test_teardown(test_no_membarrier, end_fake),
        cmocka_unit_test_teardown(test_two_bells, end_fake),
        cmocka_unit_test_teardown(test_fence, end_fake),
        cmocka_unit_test_teardown(test_leaves_core, end_fake),
        cmocka_unit_test_teardown(test_ring, end_fake),
        cmocka_unit_test_teardown(test_no_waitv, end_fake),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
