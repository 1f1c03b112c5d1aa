// SPDX-License-Identifier: BSD-3-Clause
// One process per PE. vfork, because the child only arranges descriptors and calls exec: nothing
// is copied, and what goes wrong in the child is seen here in plain memory.
#include "launch.h"

#include "environment.h"
#include "log.h"
#include "programs.h"

#include <errno.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <unistd.h>

struct child {
    struct launch *l;
    int pe;
    const struct block *block;
    char **env;
    int fds[3]; // its stdin, stdout, stderr; -1: as ours
    pid_t parent;
    volatile int exec_error; // written by the child
    volatile int bind_error;
    volatile int dir_error;
};

// Runs in the child, in this process's memory: system calls only.
static void __attribute__((noinline, noreturn)) child_exec(struct child *c)
{
    struct launch *l = c->l;
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    if (getppid() != c->parent)
        _exit(STATUS_OWN);
    for (int i = 0; i < 3; i++)
        if (c->fds[i] >= 0)
            dup2(c->fds[i], i);
    if (l->cores && sched_setaffinity(0, sizeof l->cores[0], &l->cores[c->pe]))
        c->bind_error = errno;
    setrlimit(RLIMIT_NOFILE, &l->files);
    sigaction(SIGPIPE, &l->on_pipe, NULL);
    sigprocmask(SIG_SETMASK, &l->mask, NULL);
    if (c->block->dir && chdir(c->block->dir)) {
        c->dir_error = errno;
        _exit(STATUS_OWN);
    }
    execvpe(c->block->program[0], c->block->program, c->env);
    c->exec_error = errno;
    _exit(STATUS_NOT_FOUND);
}

static pid_t child_start(struct child *c)
{
    pid_t pid = vfork();
    if (pid == 0)
        child_exec(c);
    return pid;
}

static const struct block *block_of(const struct launch *l, int pe)
{
    return &l->opt->block[programs_block_of(l->opt, pe)];
}

static void end_unstarted(struct launch *l, int pe, const char *what, int error)
{
    char line[512];
    const struct block *block = block_of(l, pe);
    const char *program = block->program[0];
    bool is_there = !block->dir && strchr(program, '/') && access(program, F_OK) == 0;
    int status = STATUS_OWN;
    if (what)
        snprintf(line, sizeof line, "cannot start PE %d of %d: %.300s: %s", pe, l->npes, what,
                 strerror(error));
    else if (error == ENOENT && is_there)
        snprintf(line, sizeof line, "cannot run %.300s: its interpreter is missing", program);
    else
        snprintf(line, sizeof line, "cannot run %.300s: %s", program, strerror(error));
    if (!what)
        status = error == ENOENT && !is_there ? STATUS_NOT_FOUND : STATUS_NOT_EXECUTABLE;
    watch_end(l, status, 0, line);
}

// Returns 0, or -1 when the job has been ended for it.
static int spawn_one(struct launch *l, int pe)
{
    const struct block *block = block_of(l, pe);
    struct child c = {.l = l,
                      .pe = pe,
                      .block = block,
                      .env = environment_of(l->opt, block),
                      .fds = {input_of(l, pe), -1, l->out.how.merges ? STDOUT_FILENO : -1},
                      .parent = getpid()};
    bool has_pipes = !l->out.how.direct;
    if (c.fds[0] < 0 || (has_pipes && forward_pipes(&l->out, pe, c.fds + 1))) {
        end_unstarted(l, pe, c.fds[0] < 0 ? "no standard input" : l->out.wrong, errno);
        free(c.env);
        return -1;
    }
    pid_t pid = child_start(&c);
    int error = errno;
    free(c.env);
    if (c.fds[0] > STDIN_FILENO)
        close(c.fds[0]);
    if (has_pipes) {
        close(c.fds[1]);
        close(c.fds[2]);
    }
    if (pid < 0) {
        end_unstarted(l, pe, error == EAGAIN ? "no more processes allowed (ulimit -u)" : "fork",
                      error);
        return -1;
    }
    l->pes[pe] = (struct pe){.pid = pid, .alive = true};
    l->alive++;
    if (c.exec_error || c.dir_error) {
        end_unstarted(l, pe, c.dir_error ? block->dir : NULL, c.exec_error | c.dir_error);
        return -1;
    }
    if (c.bind_error) {
        log_line(LOG_WARN, LOG_LAUNCH, "PE %d is not bound: %s", pe, strerror(c.bind_error));
        free(l->cores);
        l->cores = NULL; // one warning is enough
    }
    log_line(LOG_DEBUG, LOG_LAUNCH, "PE %d started, pid %d", pe, (int)pid);
    return 0;
}

// Which of several programs the PE is, and how many PEs are.
static void tell_app(const struct options *opt, int pe)
{
    static char entry[64];
    int i = programs_block_of(opt, pe);
    unsetenv(JOB_ENV_APP); // we may be in a job ourselves
    if (opt->blocks == 1)
        return;
    snprintf(entry, sizeof entry, JOB_ENV_APP "=%d:%d", i, opt->block[i].npes);
    putenv(entry);
}

void spawn_all(struct launch *l)
{
    static char fd_entry[32], pe_entry[32];
    atomic_store_explicit(&l->job->is_held, mpir_is_debugged(), memory_order_release);
    snprintf(fd_entry, sizeof fd_entry, JOB_ENV_FD "=%d", l->job_fd);
    putenv(fd_entry);
    snprintf(pe_entry, sizeof pe_entry, JOB_ENV_PE "=%d", 0);
    putenv(pe_entry); // the entry itself is in the environment, and rewritten for each PE
    for (int pe = 0; pe < l->npes; pe++) {
        snprintf(pe_entry, sizeof pe_entry, JOB_ENV_PE "=%d", pe);
        tell_app(l->opt, pe);
        if (spawn_one(l, pe))
            break;
    }
    if (!l->ending)
        mpir_spawned(l);
    atomic_store_explicit(&l->job->is_held, 0, memory_order_release);
    close(l->input_fd);
    unsetenv(JOB_ENV_FD);
    unsetenv(JOB_ENV_PE);
    unsetenv(JOB_ENV_APP);
}
