// SPDX-License-Identifier: BSD-3-Clause
// The launcher's loop: output, signals, deaths, deadlines. One thread; signals come as data.
#include "launch.h"

#include "libc.h"
#include "log.h"
#include "verdict.h"
#include "wait.h"

#include <errno.h>
#include <poll.h>
#include <stdio.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/mman.h>
#include <sys/signalfd.h>
#include <sys/wait.h>
#include <unistd.h>

#define MS 1000000ull
#define PATIENCE_MS 2000   // from INT or TERM to KILL
#define ONCE_MS 50         // one more is the same: timeout(1) sends two
#define GLOBAL_EXIT_MS 300 // for the others to see it
#define EXIT_MS 100        // for the others to say why they exit, too
#define WATCHED_MS 300     // for those who asked to be told of a death
#define ABSENT_MS 100      // between looks whether others joined
#define PLACES_SHOWN 8

static const int watched[] = {SIGCHLD, SIGINT,  SIGTERM, SIGHUP, SIGQUIT,
                              SIGUSR1, SIGUSR2, SIGTSTP, SIGCONT};

// Left alone, as a script wants those that it ignores; a signal that is read as data would come.
bool watch_is_ignored(int sig)
{
    struct sigaction now;
    return sigaction(sig, NULL, &now) == 0 && now.sa_handler == SIG_IGN;
}

int watch_open(struct launch *l)
{
    sigset_t set;
    sigemptyset(&set);
    signal(SIGCHLD, SIG_DFL); // it may come ignored, and then nobody's status could be read
    for (size_t i = 0; i < ARRAY_LEN(watched); i++)
        if (!watch_is_ignored(watched[i]))
            sigaddset(&set, watched[i]);
    sigprocmask(SIG_BLOCK, &set, &l->mask);
    sigdelset(&l->mask, SIGCHLD);
    struct epoll_event e = {.events = EPOLLIN, .data.ptr = NULL};
    l->signal_fd = signalfd(-1, &set, SFD_CLOEXEC | SFD_NONBLOCK);
    if (l->signal_fd >= 0 && epoll_ctl(l->out.epoll, EPOLL_CTL_ADD, l->signal_fd, &e) == 0)
        return 0;
    log_line(LOG_ERROR, LOG_LAUNCH, "oshrun: signalfd: %s", strerror(errno));
    return -1;
}

static void signal_all(struct launch *l, int sig)
{
    for (int pe = 0; pe < l->npes; pe++)
        if (l->pes[pe].alive)
            kill(l->pes[pe].pid, sig);
}

static void kill_all(struct launch *l)
{
    l->kill_at = 0;
    l->ending = true;
    l->killed = l->alive;
    signal_all(l, SIGKILL);
}

void watch_end(struct launch *l, int status, unsigned wait_ms, const char *line)
{
    if (l->ending || l->status_final)
        return;
    l->status_final = true;
    l->status = status;
    snprintf(l->line, sizeof l->line, "%s", line);
    mpir_aborting(l->line);
    if (wait_ms)
        l->kill_at = wait_now_ns() + wait_ms * MS;
    else
        kill_all(l);
}

static struct death read_pe(const struct launch *l, int pe)
{
    struct death d = {.pe = pe, .pid = l->pes[pe].pid};
    struct pe_ctl *ctl = job_map_ctl(l->job_fd, l->job, pe);
    if (ctl) {
        d.state = atomic_load_explicit(&ctl->state, memory_order_acquire);
        d.call = atomic_load_explicit(&ctl->call, memory_order_relaxed);
        d.told = ctl->told;
        munmap(ctl, sizeof *ctl);
    }
    return d;
}

// Tells those who asked to be told.
static void mark_dead(const struct launch *l, int pe)
{
    struct pe_ctl *ctl = job_map_ctl(l->job_fd, l->job, pe);
    if (!ctl)
        return;
    atomic_store_explicit(&ctl->state, PE_DEAD, memory_order_release);
    munmap(ctl, sizeof *ctl);
    atomic_fetch_add_explicit(&l->job->dead, 1, memory_order_release);
}

// A PE that never joined has left: does another wait for it in shmem_init?
static void look_for_joined(struct launch *l)
{
    l->look_at = wait_now_ns() + ABSENT_MS * MS;
    for (int pe = 0; pe < l->npes; pe++) {
        struct death d = read_pe(l, pe);
        bool has_joined = d.state >= PE_RUNNING || verdict_in_init(&d);
        if (!l->pes[pe].alive || !has_joined)
            continue;
        struct death absent = read_pe(l, l->absent);
        char line[256];
        verdict_describe(&absent, line, sizeof line);
        watch_end(l, STATUS_OWN, 0, line);
        return;
    }
}

// A signal that we passed on killed it, or made it leave.
static bool is_users_doing(const struct launch *l, const struct death *d)
{
    if (WIFSIGNALED(d->status))
        return sigismember(&l->passed_on, WTERMSIG(d->status)) == 1;
    return l->user_signal != 0;
}

// The reader of its output has gone: nothing is said, as when the launcher's has.
static bool has_no_reader(const struct launch *l, const struct death *d)
{
    struct pollfd out[] = {{.fd = STDOUT_FILENO}, {.fd = STDERR_FILENO}};
    return l->out.how.direct && WIFSIGNALED(d->status) && WTERMSIG(d->status) == SIGPIPE &&
           poll(out, 2, 0) > 0 && (out[0].revents | out[1].revents) & (POLLERR | POLLHUP);
}

static void on_fatal_death(struct launch *l, const struct death *d)
{
    char line[512] = "";
    bool is_told = !has_no_reader(l, d);
    if (is_told && !is_users_doing(l, d))
        verdict_describe(d, line, sizeof line);
    else if (is_told && WIFSIGNALED(d->status))
        snprintf(line, sizeof line, "the job was ended by SIG%s",
                 libc_signal_name(WTERMSIG(d->status)));
    bool is_crash = WIFSIGNALED(d->status) && !is_users_doing(l, d);
    bool is_watched = atomic_load_explicit(&l->job->watchers, memory_order_relaxed) > 0;
    if (is_watched)
        mark_dead(l, d->pe);
    watch_end(l, verdict_status(d), is_watched ? WATCHED_MS : is_crash ? 0 : EXIT_MS, line);
}

static void on_death(struct launch *l, int pe, int status)
{
    struct death d = read_pe(l, pe);
    d.status = status;
    l->pes[pe].alive = false;
    l->pes[pe].status = status;
    l->alive--;
    log_line(LOG_DEBUG, LOG_LAUNCH, "PE %d ended, pid %d, wait status 0x%x, state %d", pe,
             (int)d.pid, (unsigned)status, d.state);
    switch (atomic_load_explicit(&l->job->ended, memory_order_acquire)) {
    case JOB_ENDED_GLOBAL_EXIT:
        watch_end(l, atomic_load(&l->job->ended_status) & 0xff, GLOBAL_EXIT_MS, "");
        return;
    case JOB_ENDED_FATAL: watch_end(l, verdict_status(&d), 0, ""); return;
    }
    switch (verdict_of(&d)) {
    case VERDICT_FINE: break;
    case VERDICT_LATE:
        if (!l->status)
            l->status = verdict_status(&d);
        break;
    case VERDICT_FATAL: on_fatal_death(l, &d); break;
    case VERDICT_ABSENT:
        if (l->absent < 0) {
            l->absent = pe;
            l->look_at = wait_now_ns() + ABSENT_MS * MS;
        }
        break;
    }
}

static void reap(struct launch *l)
{
    int status;
    pid_t pid;
    while ((pid = waitpid(-1, &status, WNOHANG)) > 0)
        for (int pe = 0; pe < l->npes; pe++)
            if (l->pes[pe].pid == pid && l->pes[pe].alive) {
                on_death(l, pe, status);
                break;
            }
}

// The PEs have ended well; other processes hold their output, to which nothing is passed on.
static void end_holders(struct launch *l, int sig)
{
    char line[64];
    if (sig != SIGINT && sig != SIGTERM && sig != SIGHUP && sig != SIGQUIT)
        return;
    snprintf(line, sizeof line, "the job was ended by SIG%s", libc_signal_name(sig));
    watch_end(l, STATUS_SIGNAL + sig, 0, line);
}

// The first INT or TERM is passed on; a second one, or PATIENCE_MS, is the end.
static void on_interrupt(struct launch *l, int sig)
{
    char line[96];
    if (!l->user_signal) {
        l->user_signal = sig;
        l->patience_at = wait_now_ns() + PATIENCE_MS * MS;
        return;
    }
    snprintf(line, sizeof line, "the job outlived SIG%s and was killed",
             libc_signal_name(l->user_signal));
    watch_end(l, STATUS_SIGNAL + l->user_signal, 0, line);
}

static bool is_the_same(const struct launch *l, int sig)
{
    return sig == l->user_signal && wait_now_ns() < l->patience_at - (PATIENCE_MS - ONCE_MS) * MS;
}

// What the terminal sends, it sends to the whole foreground group, PEs included.
static void on_signal(struct launch *l, const struct signalfd_siginfo *info)
{
    int sig = (int)info->ssi_signo;
    if (sig == SIGCHLD) {
        reap(l);
        return;
    }
    log_line(LOG_DEBUG, LOG_LAUNCH, "SIG%s from pid %u", libc_signal_name(sig), info->ssi_pid);
    if (is_the_same(l, sig))
        return;
    if (info->ssi_code != SI_KERNEL)
        signal_all(l, sig);
    sigaddset(&l->passed_on, sig);
    if (!l->alive)
        end_holders(l, sig);
    else if (sig == SIGINT || sig == SIGTERM)
        on_interrupt(l, sig);
    if (sig == SIGTSTP)
        kill(getpid(), SIGSTOP);
}

static void read_signals(struct launch *l)
{
    struct signalfd_siginfo info;
    while (read(l->signal_fd, &info, sizeof info) == sizeof info)
        on_signal(l, &info);
}

static void on_timeout(struct launch *l)
{
    char line[900], place[128];
    int n = snprintf(line, sizeof line, "timed out after %g s", l->opt->timeout), shown = 0;
    for (int pe = 0; pe < l->npes; pe++) {
        if (!l->pes[pe].alive)
            continue;
        if (++shown > PLACES_SHOWN)
            continue;
        struct death d = read_pe(l, pe);
        verdict_place(&d, place, sizeof place);
        n += snprintf(line + n, sizeof line - (size_t)n, "%s PE %d %s", shown == 1 ? ";" : ",", pe,
                      place);
    }
    if (shown > PLACES_SHOWN)
        snprintf(line + n, sizeof line - (size_t)n, ", and %d more PEs", shown - PLACES_SHOWN);
    if (!shown)
        snprintf(line + n, sizeof line - (size_t)n,
                 "; processes that PEs have started still hold the output");
    watch_end(l, STATUS_TIMEOUT, 0, line);
}

static void earlier(uint64_t *next, uint64_t at)
{
    if (at && (!*next || at < *next))
        *next = at;
}

void watch_output(struct launch *l)
{
    char line[512] = "";
    const struct sink *failed = forward_failed(&l->out);
    if (!failed)
        return;
    if (failed->error != EPIPE)
        snprintf(line, sizeof line, "cannot write to %.300s: %s", failed->name,
                 strerror(failed->error));
    watch_end(l, line[0] ? STATUS_OWN : STATUS_SIGNAL + SIGPIPE, 0, line);
}

// Acts on the deadlines that are over; returns the next one, 0: none.
static uint64_t check_deadlines(struct launch *l, uint64_t now)
{
    uint64_t next = forward_tick(&l->out, now);
    watch_output(l);
    if (l->ending)
        return next;
    if (l->kill_at && now >= l->kill_at)
        kill_all(l);
    if (l->timeout_at && now >= l->timeout_at)
        on_timeout(l);
    if (l->patience_at && now >= l->patience_at)
        on_interrupt(l, l->user_signal);
    if (!l->alive)
        l->absent = -1;
    if (l->absent >= 0 && now >= l->look_at)
        look_for_joined(l);
    earlier(&next, l->kill_at);
    earlier(&next, l->timeout_at);
    earlier(&next, l->patience_at);
    earlier(&next, l->absent >= 0 ? l->look_at : 0);
    return next;
}

static int ms_until(uint64_t at, uint64_t now)
{
    if (!at)
        return -1;
    return at <= now ? 0 : (int)((at - now) / MS > 1000000 ? 1000000 : (at - now) / MS + 1);
}

// A system may forbid it.
static void on_failed_wait(struct launch *l)
{
    char line[96];
    snprintf(line, sizeof line, "cannot wait for the PEs: epoll_wait: %s", strerror(errno));
    watch_end(l, STATUS_OWN, 0, line);
    usleep(1000);
    reap(l);
}

static void wait_for_events(struct launch *l, int timeout_ms)
{
    struct epoll_event events[16];
    if (forward_blocked(&l->out)) {
        forward_wait(&l->out, l->signal_fd, timeout_ms);
        read_signals(l);
        return;
    }
    int n = epoll_wait(l->out.epoll, events, ARRAY_LEN(events), timeout_ms);
    if (n < 0 && errno != EINTR)
        on_failed_wait(l);
    uint64_t now = wait_now_ns();
    bool has_signal = false;
    for (int i = 0; i < n; i++) {
        if (events[i].data.ptr)
            forward_read(&l->out, events[i].data.ptr, now);
        else
            has_signal = true;
    }
    forward_flush(&l->out);
    if (has_signal)
        read_signals(l);
}

// By processes that PEs have left, when the job has ended well.
static bool is_output_held(const struct launch *l)
{
    return l->out.nopen && !l->status_final && !l->user_signal;
}

void watch_run(struct launch *l)
{
    reap(l);
    while (l->alive || is_output_held(l)) {
        uint64_t now = wait_now_ns();
        uint64_t next = check_deadlines(l, now);
        forward_flush(&l->out);
        wait_for_events(l, ms_until(next, now));
    }
    // From here on nobody is left to pass a signal to.
    epoll_ctl(l->out.epoll, EPOLL_CTL_DEL, l->signal_fd, NULL);
    close(l->signal_fd);
    sigprocmask(SIG_SETMASK, &l->mask, NULL);
}
