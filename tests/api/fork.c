// SPDX-License-Identifier: BSD-3-Clause
// NODES: 1
// Children of a PE, and its threads. A forked child has variables of its own, as without the
// library: what it stores is seen by nobody, what the PEs store afterwards it does not see, and
// its end is not the job's. popen, posix_spawn, vfork and system start other programs. Threads that
// run before shmem_init write the PE's symmetric variables.
#include "../check.h"

#include <pthread.h>
#include <signal.h>
#include <spawn.h>
#include <stdatomic.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

extern char **environ;

enum { WORDS = 5000 };

static long in_data[WORDS] = {1, 2, 3};
static long in_bss[WORDS];
static long word = 5;
static _Atomic long early_ticks, main_ticks; // counted up by threads from before shmem_init
static _Atomic int stop;
static long meeting;

// ---- Threads from before shmem_init
static void *tick(void *counter)
{
    while (!atomic_load(&stop)) {
        atomic_fetch_add((_Atomic long *)counter, 1);
        sched_yield();
    }
    return NULL;
}

static pthread_t early_thread, main_thread;
static bool has_early;
static long set_early = 3;

__attribute__((constructor)) static void before_main(void)
{
    set_early = 4;
    has_early = pthread_create(&early_thread, NULL, tick, &early_ticks) == 0;
}

// A neighbour sees both counters move.
static void threads_from_before(void)
{
    _Atomic long *counters[] = {&early_ticks, &main_ticks};
    CHECK(has_early);
    for (int pe = 0; pe < npes; pe++)
        CHECK_EQ(shmem_long_g(&set_early, pe), 4);
    for (int i = 0; i < 2; i++) {
        long first = shmem_long_atomic_fetch((long *)counters[i], right_pe());
        while (shmem_long_atomic_fetch((long *)counters[i], right_pe()) == first)
            sched_yield();
    }
    shmem_barrier_all();
    atomic_store(&stop, 1);
    pthread_join(early_thread, NULL);
    pthread_join(main_thread, NULL);
    shmem_barrier_all();
    CHECK_EQ(shmem_long_g((long *)&main_ticks, me), atomic_load(&main_ticks));
}

// ---- fork
static void ends_with(pid_t pid, int status, const char *what)
{
    int got = -1;
    if (!CHECK(pid > 0) || !CHECK(waitpid(pid, &got, 0) == pid))
        return;
    if (got != status && check_count())
        fprintf(stderr, "PE %d: %s: wait status %#x, expected %#x\n", me, what, got, status);
}

// In a child: the values the parent had; none of what it stores is seen outside.
static int look_and_spoil(long expected)
{
    int wrong = in_data[0] != expected || in_data[WORDS - 1] != expected + 1 ||
                in_bss[0] != expected + 2 || in_bss[WORDS - 1] != expected + 3 || in_data[1] != 2 ||
                in_bss[1] != 0 || word != 5;
    for (int i = 0; i < WORDS; i++)
        in_data[i] = in_bss[i] = -1;
    word = -1;
    return wrong;
}

static void set_values(long expected, int pe)
{
    shmem_long_p(&in_data[0], expected, pe);
    shmem_long_p(&in_data[WORDS - 1], expected + 1, pe);
    shmem_long_p(&in_bss[0], expected + 2, pe);
    shmem_long_p(&in_bss[WORDS - 1], expected + 3, pe);
}

static void has_values(long expected, int pe)
{
    CHECK_EQ(shmem_long_g(&in_data[0], pe), expected);
    CHECK_EQ(shmem_long_g(&in_data[WORDS - 1], pe), expected + 1);
    CHECK_EQ(shmem_long_g(&in_bss[0], pe), expected + 2);
    CHECK_EQ(shmem_long_g(&in_bss[WORDS - 1], pe), expected + 3);
    CHECK_EQ(shmem_long_g(&in_data[1], pe), 2);
    CHECK_EQ(shmem_long_g(&in_bss[1], pe), 0);
    CHECK_EQ(shmem_long_g(&word, pe), 5);
}

static void private_copies(void)
{
    for (int round = 0; round < 10; round++) {
        long expected = 100 * round + 10;
        set_values(expected, right_pe());
        shmem_barrier_all();
        pid_t pid = fork();
        if (pid == 0)
            _exit(look_and_spoil(expected));
        ends_with(pid, 0, "a child that spoils its variables");
        shmem_barrier_all();
        for (int pe = 0; pe < npes; pe++)
            has_values(expected, pe);
        CHECK_EQ(in_data[0], expected);
        shmem_barrier_all();
    }
}

// The child looks when its parent and the peers have stored other values. Pipes keep the order.
static void snapshot(void)
{
    int go[2];
    char c = 0;
    set_values(500, me);
    shmem_barrier_all();
    if (!CHECK(pipe(go) == 0))
        return;
    pid_t pid = fork();
    if (pid == 0) {
        close(go[1]);
        _exit(read(go[0], &c, 1) != 1 || look_and_spoil(500));
    }
    shmem_barrier_all();
    set_values(700, right_pe());
    shmem_barrier_all();
    CHECK(write(go[1], &c, 1) == 1);
    ends_with(pid, 0, "a child that looks late");
    close(go[0]);
    close(go[1]);
    has_values(700, me);
    shmem_barrier_all();
}

static void grandchild(void)
{
    set_values(900, me);
    shmem_barrier_all();
    pid_t pid = fork();
    if (pid == 0) {
        in_data[0] = 901;
        in_data[WORDS - 1] = 902;
        in_bss[0] = 903;
        in_bss[WORDS - 1] = 904;
        in_bss[WORDS / 2] = 77; // in a page that no PE has touched
        pid_t second = fork();
        int status = 1;
        if (second == 0)
            _exit(in_bss[WORDS / 2] != 77 || look_and_spoil(901));
        waitpid(second, &status, 0);
        _exit(status != 0 || look_and_spoil(901));
    }
    ends_with(pid, 0, "a child with a child");
    has_values(900, me);
    shmem_barrier_all();
}

static void no_core(void)
{
    struct rlimit none = {0, 0};
    setrlimit(RLIMIT_CORE, &none);
}

// However a child ends, its parent goes on, and can still wait, meet and finish.
static void *answer_late(void *unused)
{
    for (int i = 0; i < 3000; i++) // so that the other looks around while it waits
        sched_yield();
    shmem_long_atomic_set(&meeting, 1, me);
    return unused;
}

static void ends(void)
{
    for (int how = 0; how < 4; how++) {
        fflush(NULL);
        pid_t pid = fork();
        if (pid == 0) {
            no_core();
            if (how == 0)
                exit(0); // with its exit handlers
            if (how == 1)
                exit(3);
            if (how == 2)
                _exit(4);
            raise(SIGKILL);
        }
        ends_with(pid, how == 0 ? 0 : how == 1 ? 3 << 8 : how == 2 ? 4 << 8 : SIGKILL, "a child");
    }
    shmem_barrier_all();
    shmem_barrier_all();
    pthread_t thread;
    meeting = 0;
    if (!CHECK(pthread_create(&thread, NULL, answer_late, NULL) == 0))
        return;
    shmem_long_wait_until(&meeting, SHMEM_CMP_EQ, 1);
    pthread_join(thread, NULL);
    shmem_barrier_all();
}

// A child is no PE: its calls are refused, and reach nobody's memory.
static long untouched[2] = {41, 42};
static long *heap_word; // 43 on every PE

static void call_barrier(void)
{
    shmem_barrier_all();
}
static void call_p(void)
{
    shmem_long_p(&untouched[0], -1, me);
}
static void call_p_right(void)
{
    shmem_long_p(&untouched[1], -1, right_pe());
}
static void call_p_heap(void)
{
    shmem_long_p(heap_word, -1, right_pe());
}
static void call_g(void)
{
    shmem_long_g(&untouched[0], right_pe());
}
static void call_atomic(void)
{
    shmem_long_atomic_inc(heap_word, right_pe());
}

static const struct {
    void (*call)(void);
    const char *name;
} refused[] = {
    {call_barrier, "shmem_barrier_all"},
    {call_p, "shmem_long_p"},
    {call_p_right, "shmem_long_p"},
    {call_p_heap, "shmem_long_p"},
    {call_g, "shmem_long_g"},
    {call_atomic, "shmem_long_atomic_inc"},
};

static void child_call(void (*call)(void), const char *name)
{
    int fds[2];
    char text[512] = "", expected[128];
    if (!CHECK(pipe(fds) == 0))
        return;
    pid_t pid = fork();
    if (pid == 0) {
        dup2(fds[1], STDERR_FILENO);
        call();
        _exit(0);
    }
    close(fds[1]);
    size_t have = 0;
    for (ssize_t n; (n = read(fds[0], text + have, sizeof text - 1 - have)) > 0;)
        have += (size_t)n;
    close(fds[0]);
    ends_with(pid, 1 << 8, name);
    snprintf(expected, sizeof expected, "%s: called in a child of a PE", name);
    if (!strstr(text, expected) && check_count())
        fprintf(stderr, "PE %d: a child that calls %s said: %s\n", me, name, text);
}

static void child_calls(void)
{
    heap_word = shmem_malloc(sizeof *heap_word);
    if (!CHECK(heap_word != NULL))
        return;
    *heap_word = 43;
    shmem_barrier_all();
    for (size_t i = 0; i < sizeof refused / sizeof refused[0]; i++)
        child_call(refused[i].call, refused[i].name);
    shmem_barrier_all();
    CHECK(untouched[0] == 41 && untouched[1] == 42);
    CHECK_EQ(*heap_word, 43);
    shmem_barrier_all();
    shmem_free(heap_word);
}

static void *fork_often(void *unused)
{
    for (int i = 0; i < 5; i++) {
        pid_t pid = fork();
        if (pid == 0) {
            word = -3;
            _exit(in_data[1] != 2);
        }
        ends_with(pid, 0, "a child of a thread");
    }
    return unused;
}

// From two threads at once, while the neighbours store.
static void from_threads(void)
{
    pthread_t threads[2];
    for (int i = 0; i < 2; i++)
        CHECK(pthread_create(&threads[i], NULL, fork_often, NULL) == 0);
    for (long i = 0; i < 2000; i++)
        shmem_long_atomic_inc(&in_bss[2], right_pe());
    for (int i = 0; i < 2; i++)
        pthread_join(threads[i], NULL);
    shmem_barrier_all();
    CHECK_EQ(in_bss[2], 2000);
    CHECK_EQ(word, 5);
    shmem_barrier_all();
}

// ---- Other programs
static void programs(void)
{
    char text[32] = "";
    FILE *f = popen("echo hello; exit 3", "r");
    if (CHECK(f != NULL)) {
        CHECK(fgets(text, sizeof text, f) && strcmp(text, "hello\n") == 0);
        CHECK_EQ(pclose(f), 3 << 8);
    }
    CHECK_EQ(system("exit 6"), 6 << 8);
    pid_t pid = -1;
    char *arguments[] = {"sh", "-c", "exit 4", NULL};
    CHECK(posix_spawn(&pid, "/bin/sh", NULL, NULL, arguments, environ) == 0);
    ends_with(pid, 4 << 8, "posix_spawn");
    pid = vfork();
    if (pid == 0) {
        execl("/bin/sh", "sh", "-c", "exit 5", (char *)NULL);
        _exit(1);
    }
    ends_with(pid, 5 << 8, "vfork and exec");
    has_values(900, me);
    shmem_barrier_all();
}

// A child may become a program that is a job of its own.
static void own_job(char *self)
{
    pid_t pid = fork();
    if (pid == 0) {
        static const char *const launchers[] = {"SHOAL_JOB", "SHOAL_PE", "PMI_FD", "PMI_SIZE",
                                                "PMIX_NAMESPACE", "OMPI_COMM_WORLD_SIZE",
                                                "SLURM_STEP_NUM_TASKS"};
        for (size_t i = 0; i < sizeof launchers / sizeof launchers[0]; i++)
            unsetenv(launchers[i]);
        execl(self, self, "alone", (char *)NULL);
        _exit(1);
    }
    ends_with(pid, 0, "a child that is a job of its own");
    shmem_barrier_all();
}

static int run_alone(void)
{
    atomic_store(&stop, 1);
    pthread_join(early_thread, NULL);
    check_start();
    CHECK(npes == 1 && word == 5 && in_bss[0] == 0);
    shmem_long_p(&word, 6, 0);
    CHECK_EQ(word, 6);
    return check_done();
}

int main(int argc, char **argv)
{
    (void)argv;
    if (argc > 1)
        return run_alone();
    pid_t pid = fork(); // before shmem_init
    if (pid == 0) {
        word = -2;
        _exit(set_early != 4);
    }
    ends_with(pid, 0, "a child from before shmem_init");
    CHECK(pthread_create(&main_thread, NULL, tick, &main_ticks) == 0);
    check_start();
    CHECK_EQ(word, 5);
    threads_from_before();
    private_copies();
    snapshot();
    grandchild();
    ends();
    child_calls();
    programs();
    from_threads();
    own_job("/proc/self/exe");
    return check_done();
}
