// SPDX-License-Identifier: BSD-3-Clause
// Handing a job over to srun, hydra or Open MPI's mpirun. See handover.h.
#include "handover.h"

#include "compiler.h"
#include "hosts.h"
#include "job.h"
#include "launch.h"
#include "log.h"
#include "settings.h"

#include <errno.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define APP_VALUE "%d:%d" // of JOB_ENV_APP

extern char **environ;

struct command {
    char **word; // NULL-terminated
    int n;
};

// ---- The command's words

static void add(struct command *c, const char *fmt, ...) PRINTF_LIKE(2, 3);
static void add(struct command *c, const char *fmt, ...)
{
    va_list args;
    char **more = realloc(c->word, ((size_t)c->n + 2) * sizeof *more);
    va_start(args, fmt);
    if (!more || vasprintf(&more[c->n], fmt, args) < 0)
        fatal("no memory for the launcher's command");
    va_end(args);
    c->word = more;
    c->word[++c->n] = NULL;
}

static void add_owned(struct command *c, const char *before, char *text)
{
    add(c, "%s%s", before, text);
    free(text);
}

static void print_word(FILE *out, const char *word)
{
    static const char plain[] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789"
                                "-_./:,=+@%";
    if (*word && strspn(word, plain) == strlen(word)) {
        fputs(word, out);
        return;
    }
    putc('\'', out);
    for (; *word; word++)
        fputs(*word == '\'' ? "'\\''" : (char[]){*word, '\0'}, out);
    putc('\'', out);
}

// VAR=VALUE
static void print_assignment(FILE *out, const char *entry)
{
    int name = (int)strcspn(entry, "=");
    fprintf(out, "%.*s=", name, entry);
    print_word(out, entry + name + 1);
}

// "a:4,b:4", or with `counts` false "a,b".
static char *list_hosts(const struct hosts *h, bool counts)
{
    char *text = NULL;
    size_t size;
    FILE *f = open_memstream(&text, &size);
    if (!f)
        fatal("no memory for a list of %d hosts", h->n);
    for (int i = 0; i < h->n; i++) {
        fprintf(f, "%s%s", i ? "," : "", h->host[i].name);
        if (counts)
            fprintf(f, ":%d", h->host[i].pes);
    }
    fclose(f);
    return text;
}

// The host of every PE, which srun takes as its word with "arbitrary".
static char *list_places(const struct hosts *h)
{
    char *text = NULL;
    size_t size;
    FILE *f = open_memstream(&text, &size);
    if (!f)
        fatal("no memory for a list of %d places", h->npes);
    for (int i = 0; i < h->n; i++)
        for (int pe = 0; pe < h->host[i].pes; pe++)
            fprintf(f, "%s%s", i || pe ? "," : "", h->host[i].name);
    fclose(f);
    return text;
}

static const char *const bind_words[] = {BIND_WORDS};

static void add_dir(struct command *c, const char *option, const struct block *b)
{
    if (b->dir) {
        add(c, "%s", option);
        add(c, "%s", b->dir);
    }
}

// Of hydra's mpiexec and Open MPI's mpirun, which say "-hosts" and "--host".
static void add_hosts(struct command *c, const char *option, const struct options *opt,
                      const struct hosts *h)
{
    add(c, "%s", option);
    add_owned(c, "", list_hosts(h, true));
    add(c, "-n");
    add(c, "%d", opt->blocks > 1 ? opt->block[0].npes : h->npes);
}

static void add_hydra(struct command *c, const struct options *opt, const struct hosts *h)
{
    add_hosts(c, "-hosts", opt, h);
    add(c, "-bind-to");
    add(c, "%s", bind_words[opt->bind]);
    if (opt->tag)
        add(c, "-prepend-rank");
}

// Does srun divide PEs evenly when it is asked to? It does where the allocation has as many cores on
// all hosts: "8(x2)". Of "7,1" the first host gets what the second has no core for.
static bool is_divided_evenly(const struct hosts *h)
{
    const char *cores = getenv("SLURM_JOB_CPUS_PER_NODE");
    for (int i = 0; i < h->n; i++)
        if (h->host[i].pes != h->host[0].pes)
            return false;
    return h->n == 1 || !cores || !strchr(cores, ',');
}

// Places are "arbitrary" only where they have to be: then its PMI-2 does not know who is together on a
// host, and the PEs have to find out (pmi_slurm.c).
static void add_places(struct command *c, const struct hosts *h)
{
    bool is_even = is_divided_evenly(h);
    add(c, "--nodes=%d", h->n);
    add(c, "--ntasks=%d", h->npes);
    if (is_even)
        add(c, "--ntasks-per-node=%d", h->host[0].pes);
    else
        unsetenv("SLURM_NTASKS_PER_NODE"); // of the allocation
    add(c, "--distribution=%s", is_even ? "block" : "arbitrary");
    add_owned(c, "--nodelist=", is_even ? list_hosts(h, false) : list_places(h));
    add(c, "--overcommit"); // more PEs than cores
}

static void add_srun(struct command *c, const struct options *opt, const struct hosts *h)
{
    static const char *const bind[] = {NULL, "cores", "sockets", "ldoms"};
    add(c, "--mpi=pmi2");
    add_places(c, h);
    add(c, "--export=ALL");
    add(c, "--input=0");
    add(c, "--kill-on-bad-exit=1");
    if (bind[opt->bind])
        add(c, "--cpu-bind=%s", bind[opt->bind]);
    if (getenv("SLURM_STEP_ID"))
        add(c, "--overlap"); // or it waits for the end of the step that we are in
    if (opt->tag)
        add(c, "--label");
    if (opt->blocks == 1)
        add_dir(c, "--chdir", &opt->block[0]);
}

static bool is_ours(const char *entry)
{
    static const char *const prefix[] = {"SHOAL_", "SHMEM_", "SMA_", "LD_LIBRARY_PATH="};
    for (size_t i = 0; i < ARRAY_LEN(prefix); i++)
        if (strncmp(entry, prefix[i], strlen(prefix[i])) == 0)
            return true;
    return false;
}

// It passes on only what it is told to.
static void add_mpirun(struct command *c, const struct options *opt, const struct hosts *h)
{
    add_hosts(c, "--host", opt, h);
    add(c, "--map-by");
    add(c, "slot");
    add(c, "--bind-to");
    add(c, "%s", bind_words[opt->bind]);
    for (char **entry = environ; *entry; entry++)
        if (opt->all_vars || is_ours(*entry)) {
            add(c, "-x");
            add(c, "%.*s", (int)strcspn(*entry, "="), *entry);
        }
    for (int i = 0; i < opt->nvars; i++)
        if (!opt->all_vars && !is_ours(opt->vars[i])) {
            add(c, "-x");
            add(c, "%.*s", (int)strcspn(opt->vars[i], "="), opt->vars[i]);
        }
    if (opt->tag)
        add(c, "--tag-output");
}

// ---- The programs

static int add_words(struct command *c, const struct block *b)
{
    for (char **word = b->program; *word; word++) {
        if (strcmp(*word, ":") == 0) {
            fprintf(stderr,
                    "oshrun: %s takes the argument \":\" for its own: it cannot be passed\n",
                    c->word[0]);
            return -1;
        }
        add(c, "%s", *word);
    }
    return 0;
}

static void hydra_app(struct command *c, int i, const struct block *b)
{
    for (int j = 0; j < b->nvars; j++) {
        int name = (int)strcspn(b->vars[j], "=");
        add(c, "-env");
        add(c, "%.*s", name, b->vars[j]);
        add(c, "%s", b->vars[j] + name + 1);
    }
    add(c, "-env");
    add(c, JOB_ENV_APP);
    add(c, APP_VALUE, i, b->npes);
}

static void mpirun_app(struct command *c, int i, const struct block *b)
{
    for (int j = 0; j < b->nvars; j++) {
        add(c, "-x");
        add(c, "%s", b->vars[j]);
    }
    add(c, "-x");
    add(c, JOB_ENV_APP "=" APP_VALUE, i, b->npes);
}

// Program after program, with ":" between them. The first one's -n is there already.
static int add_segments(struct command *c, const struct options *opt, const char *dir_option,
                        void (*add_app)(struct command *c, int i, const struct block *b))
{
    int failed = 0;
    for (int i = 0; i < opt->blocks && !failed; i++) {
        const struct block *b = &opt->block[i];
        if (i > 0) {
            add(c, ":");
            add(c, "-n");
            add(c, "%d", b->npes);
        }
        add_dir(c, dir_option, b);
        if (opt->blocks > 1)
            add_app(c, i, b);
        failed = add_words(c, b);
    }
    return failed;
}

static int add_hydra_programs(struct command *c, const struct options *opt)
{
    return add_segments(c, opt, "-wdir", hydra_app);
}

static int add_mpirun_programs(struct command *c, const struct options *opt)
{
    return add_segments(c, opt, "--wdir", mpirun_app);
}

// A shell's words: in this block's directory become its program.
static void print_program(FILE *out, const struct block *b, int i)
{
    fprintf(out, "export " JOB_ENV_APP "=" APP_VALUE "; ", i, b->npes);
    for (int j = 0; j < b->nvars; j++) {
        fputs("export ", out);
        print_assignment(out, b->vars[j]);
        fputs("; ", out);
    }
    if (b->dir) {
        fputs("cd ", out);
        print_word(out, b->dir);
        fputs(" || exit; ", out);
    }
    fputs("exec", out);
    for (char **word = b->program; *word; word++) {
        putc(' ', out);
        print_word(out, *word);
    }
}

// srun starts one program: of several, a shell that becomes the one that is due. (--multi-prog reads
// them from a file, in which an argument can have no blanks.)
static int add_srun_programs(struct command *c, const struct options *opt)
{
    char *script = NULL;
    size_t size;
    FILE *f = opt->blocks > 1 ? open_memstream(&script, &size) : NULL;
    if (opt->blocks == 1)
        return add_words(c, &opt->block[0]);
    if (!f)
        fatal("no memory for the words of %d programs", opt->blocks);
    for (int i = 0, end = 0; i < opt->blocks; i++) {
        end += opt->block[i].npes;
        if (end < opt->npes)
            fprintf(f, "if [ $SLURM_PROCID -lt %d ]; then ", end);
        print_program(f, &opt->block[i], i);
        if (end < opt->npes)
            fputs("; fi; ", f);
    }
    fclose(f);
    add(c, "sh");
    add(c, "-c");
    add_owned(c, "", script);
    return 0;
}

// ---- Which launcher

// What each is called. A name that several launchers use counts when its --version says `sign`.
static const struct launcher {
    const char *kind, *names[4], *shared_name, *sign;
    void (*add)(struct command *c, const struct options *opt, const struct hosts *h);
    int (*add_programs)(struct command *c, const struct options *opt); // -1 after one line
} launchers[] = {
    {"srun", {"srun"}, NULL, NULL, add_srun, add_srun_programs},
    {"hydra", {"mpiexec.hydra"}, "mpiexec", "HYDRA", add_hydra, add_hydra_programs},
    {"mpirun",
     {"mpirun.openmpi", "orterun", "prterun"},
     "mpirun",
     "Open MPI",
     add_mpirun,
     add_mpirun_programs},
};

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
    for (size_t i = 0; i < ARRAY_LEN(launchers); i++) {
        const struct launcher *l = &launchers[i];
        bool is_named = strcmp(settings.launcher, l->kind) == 0;
        bool fits = is_auto && (l->add != add_srun || getenv("SLURM_JOB_ID"));
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
        print_assignment(out, opt->vars[i]);
        putc(' ', out);
    }
    for (int i = 0; i < c->n; i++) {
        print_word(out, c->word[i]);
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
    unsetenv(JOB_ENV_FD); // of a job that we may be in ourselves
    unsetenv(JOB_ENV_PE);
    unsetenv(JOB_ENV_APP);
    add(&command, "%s", name);
    l->add(&command, opt, &hosts);
    if (l->add_programs(&command, opt))
        return STATUS_USAGE;
    if (opt->dry_run || opt->verbose)
        print_command(opt->dry_run ? stdout : stderr, &command, opt);
    return opt->dry_run ? 0 : attend(command.word, opt->timeout);
}
