// SPDX-License-Identifier: BSD-3-Clause
// NODES: 1
// PES: 1
// TIMEOUT: 120
// PEs that die, leave or end the job. Such a job cannot judge itself, so this program starts itself
// under oshrun, once for each way to end, and reads what its PEs print.
#include "../check.h"

#include <shoal.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

enum { TRIES = 5, ABORT_STATUS = 7 };

// ---- A PE of such a job
static int told;
static int token;

static void wrong(int pe, void *arg)
{
    (void)arg;
    printf("wrong watch of %d told of %d\n", me, pe);
    fflush(stdout);
}

static void on_fail(int pe, void *arg)
{
    uint64_t status = 4711;
    shoal_query(SHOAL_Q_STATUS, pe, &status);
    bool fine = pe == npes - 1 && arg == &token && status == SHOAL_PE_GONE && ++told == 1;
    printf("%s %d\n", fine ? "told" : "wrong call of", me);
    fflush(stdout);
}

// PE 0 looks, PE 1 sleeps, PE 2 has ended its watch, the others look; one watch replaces another.
static void survive(void)
{
    shoal_ct_t never;
    if (me == 1 && shoal_ct_alloc(SHMEM_TEAM_INVALID, &never) == 0)
        shoal_ct_wait(1, &never, &(uint64_t){1}, NULL);
    for (;;) {
        shoal_progress();
        sched_yield();
    }
}

static void watch(void)
{
    shoal_fail_watch(wrong, NULL);
    shoal_fail_watch(on_fail, &token);
    if (me == 2 && npes > 3) {
        shoal_fail_watch(wrong, NULL);
        shoal_fail_watch(NULL, NULL);
    }
    shmem_barrier_all();
}

// Without finalization and with status 0 a PE is gone, but has not died.
static int leave(void)
{
    uint64_t status = SHOAL_PE_RUNNING;
    watch();
    if (me == npes - 1)
        exit(0);
    while (status == SHOAL_PE_RUNNING)
        shoal_query(SHOAL_Q_STATUS, npes - 1, &status);
    printf("%s %d\n", status == SHOAL_PE_GONE && !told ? "left" : "wrong status at", me);
    fflush(stdout);
    shmem_finalize();
    return 0;
}

static int pe_main(const char *way)
{
    check_start();
    if (strcmp(way, "leave") == 0)
        return leave();
    watch();
    if (me == npes - 1 && strcmp(way, "kill") == 0)
        raise(SIGKILL);
    if (me == npes - 1 && strcmp(way, "exit") == 0)
        exit(3);
    if (me == npes - 1 && strcmp(way, "vanish") == 0)
        _exit(0);
    if (me == npes - 1 && strcmp(way, "abort") == 0)
        shoal_abort(ABORT_STATUS, "that is enough");
    survive();
    return 0;
}

// ---- The program that starts them
static char output[1 << 16];

static int run(int n, const char *way)
{
    char self[512], command[2048];
    ssize_t length = readlink("/proc/self/exe", self, sizeof self - 1);
    if (!CHECK(length > 0))
        return -1;
    self[length] = 0;
    const char *end = strstr(self, "/tests/shoal/");
    if (!CHECK(end != NULL))
        return -1;
    snprintf(command, sizeof command, "'%.*s/bin/oshrun' --timeout 20 -n %d '%s' %s 2>&1",
             (int)(end - self), self, n, self, way);
    FILE *f = popen(command, "r");
    if (!CHECK(f != NULL))
        return -1;
    size_t got = fread(output, 1, sizeof output - 1, f);
    output[got] = 0;
    int status = pclose(f);
    return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
}

static int count(const char *text)
{
    int n = 0;
    for (const char *at = output; (at = strstr(at, text)); at += strlen(text))
        n++;
    return n;
}

static void show_if(unsigned before, const char *way, int n)
{
    if (check_failures != before)
        fprintf(stderr, "with %d PEs, %s:\n%s\n", n, way, output);
}

// How many of the survivors said `word`, each at most once.
static int said_by(int n, const char *word)
{
    char line[32];
    int all = 0;
    for (int pe = 0; pe < n - 1; pe++) {
        snprintf(line, sizeof line, "%s %d\n", word, pe);
        CHECK(count(line) <= 1);
        all += count(line);
    }
    return all;
}

// The survivors have 0.3 seconds: on a machine that is busy otherwise some may miss them.
static void dies(const char *way, int n, int status)
{
    int watchers = n > 3 ? n - 2 : n - 1, heard = 0;
    unsigned before = check_failures;
    for (int i = 0; i < TRIES && heard < watchers && check_failures == before; i++) {
        CHECK_EQ(run(n, way), status);
        CHECK_EQ(count("wrong"), 0);
        heard = said_by(n, "told");
    }
    CHECK_EQ(heard, watchers);
    show_if(before, way, n);
}

static void leaves(int n)
{
    unsigned before = check_failures;
    CHECK_EQ(run(n, "leave"), 0);
    CHECK_EQ(count("wrong"), 0);
    CHECK_EQ(said_by(n, "left"), n - 1);
    show_if(before, "leave", n);
}

static void aborts(int n)
{
    unsigned before = check_failures;
    char pe[16];
    snprintf(pe, sizeof pe, "PE %d", n - 1);
    CHECK_EQ(run(n, "abort"), ABORT_STATUS);
    CHECK_EQ(count("that is enough"), 1);
    CHECK(n == 1 || count(pe) == 1);
    CHECK_EQ(count("told") + count("wrong"), 0);
    show_if(before, "abort", n);
}

// Where the library is not up, only the process that calls it ends.
static void abort_outside(void)
{
    int status = -1;
    fflush(NULL);
    pid_t child = fork();
    if (child == 0) {
        fclose(stderr);
        shoal_abort(9, NULL);
        _exit(1);
    }
    CHECK(child > 0 && waitpid(child, &status, 0) == child);
    CHECK(WIFEXITED(status) && WEXITSTATUS(status) == 9);
}

int main(int argc, char **argv)
{
    if (argc > 1)
        return pe_main(argv[1]);
    abort_outside();
    unsetenv("SHOAL_JOB");
    unsetenv("SHOAL_PE");
    dies("kill", 2, 128 + SIGKILL);
    dies("kill", 7, 128 + SIGKILL);
    dies("exit", 4, 3);
    dies("vanish", 3, 1);
    leaves(2);
    leaves(5);
    aborts(1);
    aborts(4);
    return check_failures > 0;
}
