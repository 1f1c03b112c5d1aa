// SPDX-License-Identifier: BSD-3-Clause
// oshrun: starts the PEs of a job on this node and stays until the last has ended. See launch.h.
#include "launch.h"

#include "handover.h"
#include "log.h"
#include "programs.h"
#include "settings.h"
#include "standard.h"
#include "wait.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <unistd.h>

#define FILES_OWN 16 // descriptors the launcher needs besides two per PE, with some room

static void set_vars(const struct options *opt)
{
    for (int i = 0; i < opt->nvars; i++)
        if (strchr(opt->vars[i], '='))
            putenv(opt->vars[i]);
}

// What the options say of the output.
static struct forward_how output_of(const struct options *opt)
{
    static const char *const prefix[2][2] = {{NULL, "[%r] "}, {"%T ", "%T [%r] "}};
    struct forward_how how = {.prefix = opt->prefix ? opt->prefix : prefix[opt->stamp][opt->tag],
                              .files = {opt->files[0], opt->files[1]},
                              .copies = opt->copies,
                              .merges = opt->merges};
    how.direct = opt->npes == 1 && !how.prefix && !how.files[0] && !how.files[1];
    return how;
}

// Can the launcher hold two pipes per PE, and two files? Raises the soft limit for that. 0: it cannot, and the
// PEs write by themselves; -1 when they cannot either.
static int files_suffice(struct launch *l, const struct forward_how *how)
{
    bool has_files = how->files[0] || how->files[1];
    rlim_t need = (has_files ? 4 : 2) * (rlim_t)l->npes + FILES_OWN;
    if (getrlimit(RLIMIT_NOFILE, &l->files) || need <= l->files.rlim_cur)
        return 1;
    struct rlimit more = {.rlim_cur = l->files.rlim_max, .rlim_max = l->files.rlim_max};
    if (need <= more.rlim_cur && setrlimit(RLIMIT_NOFILE, &more) == 0)
        return 1;
    const char *what = has_files     ? "cannot be put into files"
                       : how->prefix ? "is passed on unsorted and without tags"
                                     : "is passed on unsorted";
    log_line(has_files ? LOG_ERROR : LOG_WARN, LOG_LAUNCH,
             "ulimit -n is %ld and %d PEs need %ld: their output %s", (long)l->files.rlim_max,
             l->npes, (long)need, what);
    return has_files ? -1 : 0;
}

static void plan_binding(struct launch *l)
{
    const char *why;
    if (l->opt->bind == BIND_NONE)
        return;
    l->cores = bind_plan(l->opt->bind, l->opt->bind_each, l->npes, &why);
    if (!l->cores)
        log_line(LOG_WARN, LOG_LAUNCH, "--bind: %s; the PEs are not bound", why);
}

static int launch_open(struct launch *l)
{
    size_t heap_size = settings.symmetric_size;
    if (!heap_size && programs_include(l->opt, "valgrind"))
        heap_size = JOB_HEAP_CHECKED;
    l->job_fd = job_create(l->npes, settings.vnodes, heap_size, getpid());
    if (l->job_fd < 0 || fcntl(l->job_fd, F_SETFD, 0)) // for the PEs
        return -1;
    l->job = job_open(l->job_fd);
    l->pes = calloc((size_t)l->npes, sizeof *l->pes);
    if (input_open(l))
        return -1;
    struct forward_how how = output_of(l->opt);
    int suffices = files_suffice(l, &how);
    if (!l->job || !l->pes || suffices < 0)
        return -1;
    how.direct |= !suffices;
    if (forward_open(&l->out, l->npes, &how)) {
        log_line(LOG_ERROR, LOG_LAUNCH, "oshrun: %s", strerror(errno));
        return -1;
    }
    plan_binding(l);
    struct sigaction ignore = {.sa_handler = SIG_IGN};
    sigaction(SIGPIPE, &ignore, &l->on_pipe);
    sweep_spare_children();
    prctl(PR_SET_CHILD_SUBREAPER, 1);
    return watch_open(l);
}

static void say_verdict(struct launch *l)
{
    char line[1200];
    int n = snprintf(line, sizeof line, "oshrun: %s", l->line);
    bool is_about_pe = strncmp(l->line, "PE ", 3) == 0;
    if (l->killed && is_about_pe)
        snprintf(line + n, sizeof line - (size_t)n,
                 l->killed == 1 ? "; the other PE was ended" : "; the other %d PEs were ended",
                 l->killed);
    if (l->line[0])
        forward_say(&l->out, line);
}

// mpiexec of others takes all nodes of an allocation. Within a step it is for the step to say where.
static void warn_of_nodes(const struct options *opt)
{
    const char *nodes = getenv("SLURM_JOB_NUM_NODES");
    if (nodes && atoi(nodes) > 1 && opt->npes > 1 && !getenv("SLURM_STEP_ID"))
        log_line(LOG_WARN, LOG_LAUNCH,
                 "all %d PEs start on this node: Slurm has allocated %d nodes, which `srun "
                 "--mpi=pmi2 -n %d PROGRAM` and --hosts use",
                 opt->npes, atoi(nodes), opt->npes);
}

static int run(const struct options *opt)
{
    static struct launch l = {.absent = -1, .job_fd = -1};
    l.opt = opt;
    l.npes = opt->npes;
    set_vars(opt);
    if (programs_differ(opt))
        setenv("SHOAL_STATIC", "0", false); // nothing of theirs is at the same place
    if (settings_read())
        return STATUS_OWN;
    log_configure(settings.log, false); // PE 0 tells
    if (opt->input == INPUT_NONE)
        input_close();
    if (opt->hosts || opt->hostfile)
        return handover_run(opt);
    warn_of_nodes(opt);
    if (launch_open(&l))
        return STATUS_OWN;
    if (opt->timeout > 0)
        l.timeout_at = wait_now_ns() + (uint64_t)(opt->timeout * 1e9);
    if (opt->print_places)
        report_places(&l);
    spawn_all(&l);
    watch_run(&l);
    if (l.status_final)
        sweep_descendants();
    l.out.is_hurried = l.user_signal || l.status == STATUS_TIMEOUT;
    forward_drain(&l.out);
    if (!l.out.is_hurried)
        watch_output(&l); // what was left of it
    if (opt->print_ends)
        report_ends(&l);
    say_verdict(&l);
    return l.status;
}

int main(int argc, char **argv)
{
    static struct options opt;
    standard_hold();
    switch (options_parse(argc, argv, &opt)) {
    case OPTIONS_HELP: options_help(stdout); return 0;
    case OPTIONS_VERSION: printf("oshrun (Shoal) %s\n", SHOAL_VERSION); return 0;
    case OPTIONS_WRONG:
        fprintf(stderr, "oshrun: %s\n%s\n", opt.error, options_usage);
        return STATUS_USAGE;
    default: break;
    }
    if (programs_find(&opt))
        return run(&opt);
    fprintf(stderr, "oshrun: %s\n", opt.error);
    return STATUS_NOT_FOUND;
}
