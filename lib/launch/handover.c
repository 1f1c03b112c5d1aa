// SPDX-License-Identifier: BSD-3-Clause
// Handing a job over to another launcher: which, and its command. See handover.h.
#include "handover.h"

#include "compiler.h"
#include "hosts.h"
#include "job.h"
#include "launch.h"
#include "launchers.h"
#include "settings.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static bool is_in_path(const char *name)
{
    const char *path = getenv("PATH");
    for (const char *at = path ? path : "/usr/bin:/bin"; *at;
         at += strcspn(at, ":"), at += *at == ':') {
        char file[4096];
        int n = snprintf(file, sizeof file, "%.*s/%s", (int)strcspn(at, ":"), at, name);
        if (n < (int)sizeof file && access(file, X_OK) == 0)
            return true;
    }
    return false;
}

static bool version_says(const char *name, const char *sign)
{
    char command[128], line[512];
    bool says = false;
    snprintf(command, sizeof command, "%s --version 2>&1 </dev/null", name);
    FILE *f = popen(command, "re");
    while (f && fgets(line, sizeof line, f))
        says |= strstr(line, sign) != NULL;
    if (f)
        pclose(f);
    return says;
}

static const char *name_of(const struct launcher *l)
{
    for (size_t i = 0; i < ARRAY_LEN(l->names) && l->names[i]; i++)
        if (is_in_path(l->names[i]))
            return l->names[i];
    bool has_shared = l->shared_name && is_in_path(l->shared_name);
    return has_shared && version_says(l->shared_name, l->sign) ? l->shared_name : NULL;
}

// NULL after one line.
static const struct launcher *choose(const char **name)
{
    bool is_auto = strcmp(settings.launcher, "auto") == 0;
    for (size_t i = 0; i < LAUNCHERS; i++) {
        const struct launcher *l = &launchers[i];
        bool is_named = strcmp(settings.launcher, l->kind) == 0;
        bool fits = is_auto && (!l->only_with || getenv(l->only_with));
        if ((is_named || fits) && (*name = name_of(l)))
            return l;
    }
    fprintf(stderr,
            "oshrun: no launcher for several hosts is in PATH%s%s: install hydra (mpiexec of "
            "MPICH, package mpich) or Open MPI (mpirun, package openmpi-bin), or use srun inside "
            "an allocation of Slurm's\n",
            is_auto ? "" : " as SHOAL_LAUNCHER=", is_auto ? "" : settings.launcher);
    return NULL;
}

// ---- All together

// As a shell takes it.
static void print_command(FILE *out, const struct command *c, const struct options *opt)
{
    for (int i = 0; i < opt->nvars; i++) {
        if (!strchr(opt->vars[i], '='))
            continue;
        command_print_assignment(out, opt->vars[i]);
        putc(' ', out);
    }
    for (int i = 0; i < c->n; i++) {
        command_print_word(out, c->word[i]);
        putc(i + 1 < c->n ? ' ' : '\n', out);
    }
}

int handover_run(const struct options *opt)
{
    static struct hosts hosts;
    static struct command command;
    char error[300];
    const char *name;
    if (hosts_read(opt, &hosts, error, sizeof error)) {
        fprintf(stderr, "oshrun: %s\n", error);
        return STATUS_USAGE;
    }
    const struct launcher *l = choose(&name);
    if (!l)
        return STATUS_OWN;
    const char *lacking = l->lacks(opt);
    if (lacking) {
        fprintf(stderr,
                "oshrun: %s has nothing like %s; SHOAL_LAUNCHER may name another launcher\n", name,
                lacking);
        return STATUS_USAGE;
    }
    unsetenv(JOB_ENV_FD); // of a job that we may be in ourselves
    unsetenv(JOB_ENV_PE);
    unsetenv(JOB_ENV_APP);
    command_add(&command, "%s", name);
    l->add(&command, opt, &hosts);
    if (l->add_programs(&command, opt))
        return STATUS_USAGE;
    if (opt->dry_run || opt->verbose)
        print_command(opt->dry_run ? stdout : stderr, &command, opt);
    for (int i = 0; opt->print_places && !opt->dry_run && i < hosts.n; i++)
        report_host(hosts.host[i].name, hosts.host_of, i, hosts.npes);
    fflush(stdout);
    return opt->dry_run ? 0 : attend(command.word, opt->timeout);
}
