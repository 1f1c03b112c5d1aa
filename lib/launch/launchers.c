// SPDX-License-Identifier: BSD-3-Clause
// What srun, hydra and Open MPI's mpirun are told. See launchers.h.
#include "launchers.h"

#include "compiler.h"
#include "environment.h"
#include "job.h"
#include "log.h"

#include <stdlib.h>
#include <string.h>

#define APP_VALUE "%d:%d" // of JOB_ENV_APP

extern char **environ;

struct want {
    bool is_wanted;
    const char *option;
};

// The first of `n` that is wanted.
static const char *first_wanted(const struct want *want, size_t n)
{
    for (size_t i = 0; i < n; i++)
        if (want[i].is_wanted)
            return want[i].option;
    return NULL;
}

// ---- The job

static FILE *open_list(const struct hosts *h, char **text)
{
    static size_t size;
    FILE *f = open_memstream(text, &size);
    if (!f)
        fatal("no memory for a list of %d hosts", h->n);
    return f;
}

// "a:4,b:4", or with `counts` false "a,b".
static char *list_hosts(const struct hosts *h, bool counts)
{
    char *text = NULL;
    FILE *f = open_list(h, &text);
    for (int i = 0; i < h->n; i++) {
        fprintf(f, "%s%s", i ? "," : "", h->host[i].name);
        if (counts)
            fprintf(f, ":%d", h->host[i].pes);
    }
    fclose(f);
    return text;
}

// The host of every PE, each with `after`. srun takes it as its word with "arbitrary".
static char *list_places(const struct hosts *h, int npes, const char *after)
{
    char *text = NULL;
    FILE *f = open_list(h, &text);
    for (int pe = 0; pe < npes; pe++)
        fprintf(f, "%s%s%s", pe ? "," : "", h->host[h->host_of[pe]].name, after);
    fclose(f);
    return text;
}

static bool is_even(const struct hosts *h)
{
    for (int i = 0; i < h->n; i++)
        if (h->host[i].pes != h->host[0].pes)
            return false;
    return true;
}

// "core", or with a number above 1 "core:2"
static void add_counted(struct command *c, const char *word, const char *between, int n)
{
    if (n > 1)
        command_add(c, "%s%s%d", word, between, n);
    else
        command_add(c, "%s", word);
}

// The name of a variable, of which the entry has the value, too.
static void add_name(struct command *c, const char *option, const char *entry)
{
    command_add(c, "%s", option);
    command_add(c, "%.*s", (int)strcspn(entry, "="), entry);
}

static void add_bind(struct command *c, const char *option, const struct options *opt)
{
    static const char *const words[] = {BIND_WORDS};
    command_add(c, "%s", option);
    add_counted(c, words[opt->bind], ":", opt->bind_each);
}

static void add_dir(struct command *c, const char *option, const struct block *b)
{
    if (b->dir)
        command_add_pair(c, option, b->dir);
}

// Of hydra's mpiexec and Open MPI's mpirun, which say "-hosts" and "--host": the list, which is freed.
static void add_hosts(struct command *c, const char *option, char *list, const struct options *opt,
                      const struct hosts *h)
{
    command_add(c, "%s", option);
    command_add_owned(c, "", list);
    command_add(c, "-n");
    command_add(c, "%d", opt->blocks > 1 ? opt->block[0].npes : h->npes);
}

// PE by PE where they go by turns; it goes round over the list.
static char *hydra_hosts(const struct hosts *h)
{
    if (!h->by_turns)
        return list_hosts(h, true);
    return list_places(h, is_even(h) ? h->n : h->npes, ":1");
}

// The names of the variables that are passed in spite of -genvnone; NULL: none.
static char *list_names(const struct options *opt, const struct hosts *h)
{
    char *text = NULL;
    FILE *f = open_list(h, &text);
    for (char **entry = environ; *entry; entry++)
        if (environment_is_ours(*entry) || environment_is_named(opt, *entry))
            fprintf(f, "%s%.*s", ftell(f) ? "," : "", (int)strcspn(*entry, "="), *entry);
    bool is_empty = ftell(f) == 0;
    fclose(f);
    if (!is_empty)
        return text;
    free(text);
    return NULL;
}

// How many programs do not get the environment.
static int count_bare(const struct options *opt)
{
    int n = 0;
    for (int i = 0; i < opt->blocks; i++)
        n += opt->block[i].bare;
    return n;
}

static bool is_partly_bare(const struct options *opt)
{
    int n = count_bare(opt);
    return n > 0 && n < opt->blocks;
}

static const char *hydra_lacks(const struct options *opt)
{
    bool is_for_other = opt->input > 0 || opt->input == INPUT_ALL;
    const struct want lacking[] = {{opt->output_dir, "--output-filename"},
                                   {opt->merges, "--merge-stderr-to-stdout"},
                                   {is_for_other, "--stdin"},
                                   {is_partly_bare(opt), "-envnone of one program of several"}};
    return first_wanted(lacking, ARRAY_LEN(lacking));
}

static void add_hydra(struct command *c, const struct options *opt, const struct hosts *h)
{
    add_hosts(c, "-hosts", hydra_hosts(h), opt, h);
    add_bind(c, "-bind-to", opt);
    char *names = count_bare(opt) ? list_names(opt, h) : NULL;
    if (names)
        command_add(c, "-genvlist");
    if (names)
        command_add_owned(c, "", names);
    else if (count_bare(opt))
        command_add(c, "-genvnone");
    if (opt->prefix)
        command_add_pair(c, "-prepend-pattern", opt->prefix);
    else if (opt->stamp)
        command_add_pair(c, "-prepend-pattern", opt->tag ? "%t [%r] " : "%t ");
    else if (opt->tag)
        command_add(c, "-prepend-rank");
    if (opt->files[0])
        command_add_pair(c, "-outfile-pattern", opt->files[0]);
    if (opt->files[1])
        command_add_pair(c, "-errfile-pattern", opt->files[1]);
    if (opt->print_ends)
        command_add(c, "-print-all-exitcodes");
}

// Does srun divide PEs evenly when it is asked to? It does where the allocation has as many cores on
// all hosts: "8(x2)". Of "7,1" the first host gets what the second has no core for.
static bool is_divided_evenly(const struct hosts *h)
{
    const char *cores = getenv("SLURM_JOB_CPUS_PER_NODE");
    return is_even(h) && (h->n == 1 || !cores || !strchr(cores, ','));
}

// Places are "arbitrary" only where they have to be: then its PMI-2 does not know who is together on a
// host, and the PEs have to find out (pmi_slurm.c). But else the hosts are in its own order.
static void add_places(struct command *c, const struct options *opt, const struct hosts *h)
{
    bool is_its = is_divided_evenly(h) && !opt->print_places;
    command_add(c, "--nodes=%d", h->n);
    command_add(c, "--ntasks=%d", h->npes);
    if (is_its)
        command_add(c, "--ntasks-per-node=%d", h->host[0].pes);
    else
        unsetenv("SLURM_NTASKS_PER_NODE"); // of the allocation
    command_add(c, "--distribution=%s", !is_its ? "arbitrary" : h->by_turns ? "cyclic" : "block");
    command_add_owned(c,
                      "--nodelist=", is_its ? list_hosts(h, false) : list_places(h, h->npes, ""));
    command_add(c, "--overcommit"); // more PEs than cores
}

static const char *const srun_bind[] = {[BIND_CORE] = "cores",
                                        [BIND_SOCKET] = "sockets",
                                        [BIND_NUMA] = "ldoms",
                                        [BIND_HWTHREAD] = "threads",
                                        [BIND_L3] = NULL};

static const char *srun_lacks(const struct options *opt)
{
    bool has_time = (opt->files[0] && strstr(opt->files[0], "%t")) ||
                    (opt->files[1] && strstr(opt->files[1], "%t"));
    const struct want lacking[] = {{opt->output_dir, "--output-filename"},
                                   {opt->merges, "--merge-stderr-to-stdout"},
                                   {opt->prefix, "-prepend-pattern"},
                                   {opt->stamp, "--timestamp-output"},
                                   {opt->print_ends, "-print-all-exitcodes"},
                                   {has_time, "%t in a file's name"},
                                   {is_partly_bare(opt), "-envnone of one program of several"},
                                   {opt->bind == BIND_L3, "--bind l3cache"},
                                   {opt->bind_each > 1, "--bind with a number"}};
    return first_wanted(lacking, ARRAY_LEN(lacking));
}

// A pattern in its words.
static void add_file(struct command *c, const char *option, const char *pattern)
{
    static const char ours[] = "rhgp%", *const its[] = {"%t", "%N", "0", "0", "%%"};
    char *text = NULL;
    size_t size;
    FILE *f = pattern ? open_memstream(&text, &size) : NULL;
    if (!pattern)
        return;
    if (!f)
        fatal("no memory for the name of a file");
    for (const char *at = pattern; *at; at++) {
        const char *item = *at == '%' && at[1] ? strchr(ours, at[1]) : NULL;
        if (item)
            fputs(its[item - ours], f);
        else
            putc(*at, f);
        at += item != NULL;
    }
    fclose(f);
    command_add_owned(c, option, text);
}

static void add_srun(struct command *c, const struct options *opt, const struct hosts *h)
{
    command_add(c, "--mpi=pmi2");
    add_places(c, opt, h);
    char *names = count_bare(opt) ? list_names(opt, h) : NULL;
    if (names)
        command_add_owned(c, "--export=", names);
    else
        command_add(c, "--export=%s", count_bare(opt) ? "NONE" : "ALL");
    if (opt->input == INPUT_ALL)
        command_add(c, "--input=all");
    else
        command_add(c, "--input=%d", opt->input < 0 ? 0 : opt->input);
    command_add(c, "--kill-on-bad-exit=1");
    if (srun_bind[opt->bind])
        command_add(c, "--cpu-bind=%s", srun_bind[opt->bind]);
    if (getenv("SLURM_STEP_ID"))
        command_add(c, "--overlap"); // or it waits for the end of the step that we are in
    if (opt->tag)
        command_add(c, "--label");
    add_file(c, "--output=", opt->files[0]);
    add_file(c, "--error=", opt->files[1]);
    if (opt->blocks == 1)
        add_dir(c, "--chdir", &opt->block[0]);
}

static const char *mpirun_lacks(const struct options *opt)
{
    bool has_cores = opt->bind == BIND_CORE || opt->bind == BIND_HWTHREAD;
    const struct want lacking[] = {
        {opt->bind_each > 1 && !has_cores, "--bind with a number"},
        {count_bare(opt), "-genvnone"},
        {opt->prefix, "-prepend-pattern"},
        {opt->print_ends, "-print-all-exitcodes"},
        {opt->input == INPUT_ALL, "--stdin all"}, // of Open MPI 4.1 it never ends
        {!opt->output_dir && opt->files[0], "-outfile-pattern"},
        {!opt->output_dir && opt->files[1], "-errfile-pattern"},
    };
    return first_wanted(lacking, ARRAY_LEN(lacking));
}

// It passes on only what it is told to.
static void add_mpirun(struct command *c, const struct options *opt, const struct hosts *h)
{
    static const char *const bind[] = {BIND_WORDS};
    add_hosts(c, "--host", list_hosts(h, true), opt, h);
    command_add(c, "--map-by");
    add_counted(c, h->by_turns ? "node" : "slot", ":PE=", opt->bind_each);
    if (h->by_turns)
        command_add_pair(c, "--rank-by", "node");
    command_add_pair(c, "--bind-to", bind[opt->bind]);
    for (char **entry = environ; *entry; entry++)
        if (opt->all_vars || environment_is_ours(*entry))
            add_name(c, "-x", *entry);
    for (int i = 0; i < opt->nvars; i++)
        if (!opt->all_vars && !environment_is_ours(opt->vars[i]))
            add_name(c, "-x", opt->vars[i]);
    if (opt->tag)
        command_add(c, "--tag-output");
    if (opt->input > 0) {
        command_add(c, "--stdin");
        command_add(c, "%d", opt->input);
    }
    if (opt->stamp)
        command_add(c, "--timestamp-output");
    if (opt->merges)
        command_add(c, "--merge-stderr-to-stdout");
    if (opt->output_dir)
        command_add_pair(c, "--output-filename", opt->output_dir);
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
        command_add(c, "%s", *word);
    }
    return 0;
}

static void hydra_app(struct command *c, int i, const struct block *b)
{
    for (int j = 0; j < b->nvars; j++) {
        add_name(c, "-env", b->vars[j]);
        command_add(c, "%s", strchr(b->vars[j], '=') + 1);
    }
    command_add(c, "-env");
    command_add(c, JOB_ENV_APP);
    command_add(c, APP_VALUE, i, b->npes);
}

static void mpirun_app(struct command *c, int i, const struct block *b)
{
    for (int j = 0; j < b->nvars; j++)
        command_add_pair(c, "-x", b->vars[j]);
    command_add(c, "-x");
    command_add(c, JOB_ENV_APP "=" APP_VALUE, i, b->npes);
}

// Program after program, with ":" between them. The first one's -n is there already.
static int add_segments(struct command *c, const struct options *opt, const char *dir_option,
                        void (*add_app)(struct command *c, int i, const struct block *b))
{
    int failed = 0;
    for (int i = 0; i < opt->blocks && !failed; i++) {
        const struct block *b = &opt->block[i];
        if (i > 0) {
            command_add(c, ":");
            command_add(c, "-n");
            command_add(c, "%d", b->npes);
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
        command_print_assignment(out, b->vars[j]);
        fputs("; ", out);
    }
    if (b->dir) {
        fputs("cd ", out);
        command_print_word(out, b->dir);
        fputs(" || exit; ", out);
    }
    fputs("exec", out);
    for (char **word = b->program; *word; word++) {
        putc(' ', out);
        command_print_word(out, *word);
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
    command_add(c, "sh");
    command_add(c, "-c");
    command_add_owned(c, "", script);
    return 0;
}

const struct launcher launchers[LAUNCHERS] = {
    {"srun", {"srun"}, NULL, NULL, "SLURM_JOB_ID", srun_lacks, add_srun, add_srun_programs},
    {"hydra",
     {"mpiexec.hydra"},
     "mpiexec",
     "HYDRA",
     NULL,
     hydra_lacks,
     add_hydra,
     add_hydra_programs},
    {"mpirun",
     {"mpirun.openmpi", "orterun", "prterun"},
     "mpirun",
     "Open MPI",
     NULL,
     mpirun_lacks,
     add_mpirun,
     add_mpirun_programs},
};
