// SPDX-License-Identifier: BSD-3-Clause
// Beside another launcher that runs the job. It does all the work; this process passes its standard
// error on and reads along, because a launcher may wait for ever for a host that does not answer: the
// PEs find that out (lib/core/host_watch.c), say so and end.
#include "handover.h"

#include "compiler.h"
#include "launch.h"
#include "wait.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/signalfd.h>
#include <sys/wait.h>
#include <unistd.h>

#define MS 1000000ull
#define LOST_MS 1500     // for a launcher to end by itself when a host is lost,
#define PATIENCE_MS 1500 // and from TERM to KILL

static const int passed_on[] = {SIGINT, SIGTERM, SIGHUP, SIGQUIT, SIGUSR1, SIGUSR2};

struct attended {
    pid_t pid;
    int err, signals;
    sigset_t mask;
    char line[1024]; // the beginning of a line of its standard error
    size_t got;
    uint64_t end_at, kill_at; // deadlines, ns; 0: none
    const char *why;          // it is ended: for the last line
    int status;               // and then
};

static void run_command(char *const *command, const struct attended *a, int err)
{
    prctl(PR_SET_PDEATHSIG, SIGTERM);
    dup2(err, STDERR_FILENO);
    sigprocmask(SIG_SETMASK, &a->mask, NULL);
    execvp(command[0], command);
    dprintf(STDERR_FILENO, "oshrun: cannot run %s: %s\n", command[0], strerror(errno));
    _exit(errno == ENOENT ? STATUS_NOT_FOUND : STATUS_NOT_EXECUTABLE);
}

static int start(struct attended *a, char *const *command)
{
    int err[2];
    sigset_t set;
    sigemptyset(&set);
    sigaddset(&set, SIGCHLD);
    for (size_t i = 0; i < ARRAY_LEN(passed_on); i++)
        if (!watch_is_ignored(passed_on[i]))
            sigaddset(&set, passed_on[i]);
    signal(SIGCHLD, SIG_DFL);
    sigprocmask(SIG_BLOCK, &set, &a->mask);
    sigdelset(&a->mask, SIGCHLD);
    a->signals = signalfd(-1, &set, SFD_CLOEXEC | SFD_NONBLOCK);
    if (a->signals < 0 || pipe2(err, O_CLOEXEC) || (a->pid = fork()) < 0) {
        fprintf(stderr, "oshrun: cannot start %s: %s\n", command[0], strerror(errno));
        return -1;
    }
    if (a->pid == 0)
        run_command(command, a, err[1]);
    close(err[1]);
    a->err = err[0];
    return 0;
}

static void end(struct attended *a, int status, const char *why, unsigned wait_ms)
{
    if (a->why)
        return;
    a->status = status;
    a->why = why;
    a->end_at = wait_now_ns() + wait_ms * MS;
}

// The line that host_watch.c writes, perhaps with a tag in front.
static void look_at_line(struct attended *a)
{
    const char *ours = strstr(a->line, "shoal: PE ");
    if (ours && strstr(ours, ": host ") && strstr(ours, " is lost: "))
        end(a, STATUS_OWN, "it still waited for a host that is lost", LOST_MS);
}

static void read_along(struct attended *a, const char *bytes, size_t n)
{
    for (size_t i = 0; i < n; i++) {
        if (bytes[i] != '\n') {
            if (a->got < sizeof a->line - 1)
                a->line[a->got++] = bytes[i];
            continue;
        }
        a->line[a->got] = '\0';
        look_at_line(a);
        a->got = 0;
    }
}

static void pass_on(struct attended *a)
{
    char bytes[4096];
    ssize_t n = read(a->err, bytes, sizeof bytes);
    if (n <= 0) {
        close(a->err);
        a->err = -1;
        return;
    }
    for (ssize_t at = 0, put; at < n; at += put)
        if ((put = write(STDERR_FILENO, bytes + at, (size_t)(n - at))) < 0)
            break;
    read_along(a, bytes, (size_t)n);
}

// What a terminal sends it has sent to the launcher, too.
static void take_signals(struct attended *a)
{
    struct signalfd_siginfo s;
    while (read(a->signals, &s, sizeof s) == sizeof s)
        if (s.ssi_signo != SIGCHLD && s.ssi_code <= 0)
            kill(a->pid, (int)s.ssi_signo);
}

static void look_at_clock(struct attended *a, uint64_t now)
{
    if (a->end_at && now >= a->end_at) {
        kill(a->pid, SIGTERM);
        a->end_at = 0;
        a->kill_at = now + PATIENCE_MS * MS;
    }
    if (a->kill_at && now >= a->kill_at)
        kill(a->pid, SIGKILL);
}

// Until it has ended; its standard error may stay open in processes it has left behind.
static int wait_for_end(struct attended *a, uint64_t timeout_at)
{
    int status;
    while (waitpid(a->pid, &status, WNOHANG) == 0) {
        struct pollfd p[] = {{.fd = a->signals, .events = POLLIN},
                             {.fd = a->err, .events = POLLIN}};
        bool has_deadline = timeout_at || a->end_at || a->kill_at;
        poll(p, 2, has_deadline ? 100 : -1);
        if (p[0].revents)
            take_signals(a);
        if (a->err >= 0 && p[1].revents)
            pass_on(a);
        uint64_t now = wait_now_ns();
        if (timeout_at && now >= timeout_at)
            end(a, STATUS_TIMEOUT, "timed out", 0);
        look_at_clock(a, now);
    }
    struct pollfd p = {.fd = a->err, .events = POLLIN};
    while (a->err >= 0 && (p.fd = a->err, poll(&p, 1, 0) == 1))
        pass_on(a);
    return status;
}

int attend(char *const *command, double timeout)
{
    struct attended a = {0};
    if (start(&a, command))
        return STATUS_OWN;
    int status = wait_for_end(&a, timeout > 0 ? wait_now_ns() + (uint64_t)(timeout * 1e9) : 0);
    bool was_ended = a.why && !a.end_at; // by us
    if (was_ended)
        fprintf(stderr, "oshrun: %s was ended: %s\n", command[0], a.why);
    // A PE's, unless it is none: hydra's 255 is of its own parts, which found each other gone.
    bool is_told = WIFEXITED(status) && WEXITSTATUS(status) && WEXITSTATUS(status) != 255;
    if (was_ended || (a.why && !is_told))
        return a.status;
    return WIFSIGNALED(status) ? STATUS_SIGNAL + WTERMSIG(status) : WEXITSTATUS(status);
}
