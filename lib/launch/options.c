// SPDX-License-Identifier: BSD-3-Clause
// oshrun's command line: one table of options, one loop. See options.h.
#include "options.h"

#include "compiler.h"
#include "config_file.h"
#include "settings.h"
#include "tunables.h"

#include <errno.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/utsname.h>
#include <unistd.h>

const char options_usage[] =
    "usage: oshrun [-n N] [--wdir DIR] [-path DIRS] [--tag] [--timeout SECONDS] [--bind none|core|socket|numa] "
    "[-x VAR[=VALUE]] [--initial-errhandler NAME] [--hosts LIST|--hostfile FILE] [-v|--dry-run] "
    "[--] PROGRAM [ARGUMENT...] [: [-n N] [--wdir DIR] [-path DIRS] PROGRAM [ARGUMENT...]]... | "
    "-configfile FILE";

typedef enum options_result take_fn(struct options *opt, char *value, const char *name);

#define PAIR "VAR VALUE" // in words of their own
#define CONFIG_FILE "-configfile"
struct row {
    const char *names; // of which the help shows the first
    const char *value; // what it takes, NULL: nothing
    take_fn *take;
    const char *help; // NULL: not shown
};
enum { NAME = 32 }; // bytes

static enum options_result wrong(struct options *opt, const char *name, const char *takes,
                                 const char *value)
{
    snprintf(opt->error, sizeof opt->error, "%s takes %s, not \"%.60s\"", name, takes, value);
    return OPTIONS_WRONG;
}

static enum options_result take_number(struct options *opt, char *value, const char *name,
                                       int *number)
{
    char *end;
    errno = 0;
    long n = strtol(value, &end, 10);
    if (end == value || *end || errno || n < 1 || n > LIMIT_PES) {
        char takes[64];
        snprintf(takes, sizeof takes, "a whole number from 1 to %d", LIMIT_PES);
        return wrong(opt, name, takes, value);
    }
    *number = (int)n;
    return OPTIONS_RUN;
}

static enum options_result take_npes(struct options *opt, char *value, const char *name)
{
    opt->npes_given = true;
    return take_number(opt, value, name, &opt->npes);
}

static enum options_result take_per_host(struct options *opt, char *value, const char *name)
{
    return take_number(opt, value, name, &opt->per_host);
}

// PEs are numbered host by host whatever it says; ppr:N:node is how many each gets.
static enum options_result take_map(struct options *opt, char *value, const char *name)
{
    static const char ways[] = "slot, core, hwthread, socket, numa or ppr:N:node";
    char *more = strcasestr(value, ":oversubscribe"); // is always so
    if (more && !more[strlen(":oversubscribe")])
        *more = 0;
    if (!*value && more)
        return OPTIONS_RUN;
    char *colon = strncmp(value, "ppr:", 4) == 0 ? strchr(value + 4, ':') : NULL;
    if (!colon || strcmp(colon, ":node") != 0)
        return settings_is_one_of(ways, value) ? OPTIONS_RUN : wrong(opt, name, ways, value);
    *colon = 0;
    return take_per_host(opt, value + 4, name);
}

static enum options_result take_timeout(struct options *opt, char *value, const char *name)
{
    char *end;
    double seconds = strtod(value, &end);
    if (end == value || *end || !(seconds > 0 && seconds <= 1e9))
        return wrong(opt, name, "a number of seconds above 0", value);
    opt->timeout = seconds;
    return OPTIONS_RUN;
}

static enum options_result take_bind(struct options *opt, char *value, const char *name)
{
    static const char *const words[] = {BIND_WORDS};
    for (int i = 0; i < (int)ARRAY_LEN(words); i++) {
        if (strcmp(value, words[i]) == 0) {
            opt->bind = (enum bind_what)i;
            return OPTIONS_RUN;
        }
    }
    return wrong(opt, name, "none, core, socket or numa", value);
}

static enum options_result take_var(struct options *opt, char *value, const char *name)
{
    opt->vars[opt->nvars++] = value;
    if (!value[0] || value[0] == '=')
        return wrong(opt, name, "VAR or VAR=VALUE", value);
    return OPTIONS_RUN;
}

static enum options_result take_var_list(struct options *opt, char *value, const char *name)
{
    enum options_result result = OPTIONS_RUN;
    for (char *var; result == OPTIONS_RUN && (var = strsep(&value, ","));)
        result = take_var(opt, var, name);
    return result;
}

static enum options_result take_own_var(struct options *opt, char *value, const char *name)
{
    opt->own_vars[opt->own_nvars++] = value;
    return value[0] == '=' ? wrong(opt, name, PAIR, value) : OPTIONS_RUN;
}

static enum options_result take_all_vars(struct options *opt, char *value UNUSED,
                                         const char *name UNUSED)
{
    opt->all_vars = true;
    return OPTIONS_RUN;
}

static enum options_result take_dir(struct options *opt, char *value, const char *name UNUSED)
{
    opt->dir = value;
    return OPTIONS_RUN;
}

static enum options_result take_path(struct options *opt, char *value, const char *name UNUSED)
{
    opt->path = value;
    return OPTIONS_RUN;
}

static enum options_result take_arch(struct options *opt, char *value, const char *name)
{
    struct utsname here;
    return uname(&here) || strcmp(value, here.machine) == 0 ? OPTIONS_RUN
                                                            : wrong(opt, name, here.machine, value);
}

static enum options_result take_config(struct options *opt, char *value UNUSED, const char *name)
{
    snprintf(opt->error, sizeof opt->error, "%s FILE is a command line of its own", name);
    return OPTIONS_WRONG;
}

// It is a setting of the MPI layer's (MPI 5.0, "Error Handling" and "Portable MPI Process Startup").
static enum options_result take_errhandler(struct options *opt, char *value, const char *name)
{
    char *entry;
    if (!settings_is_one_of(settings_handlers, value))
        return wrong(opt, name, settings_handlers, value);
    if (asprintf(&entry, "SHOAL_MPI_INITIAL_ERRHANDLER=%s", value) < 0)
        return wrong(opt, name, "memory", "none");
    return take_var(opt, entry, name);
}

static enum options_result take_report(struct options *opt, char *value UNUSED, const char *name)
{
    static char entry[] = "SHOAL_REPORT_BINDINGS=1";
    return take_var(opt, entry, name);
}

static enum options_result take_nothing(struct options *opt UNUSED, char *value UNUSED,
                                        const char *name UNUSED)
{
    return OPTIONS_RUN;
}

static enum options_result take_tag(struct options *opt, char *value UNUSED,
                                    const char *name UNUSED)
{
    opt->tag = true;
    return OPTIONS_RUN;
}

static enum options_result take_hosts(struct options *opt, char *value, const char *name UNUSED)
{
    opt->hosts = value;
    return OPTIONS_RUN;
}

static enum options_result take_hostfile(struct options *opt, char *value, const char *name UNUSED)
{
    opt->hostfile = value;
    return OPTIONS_RUN;
}

static enum options_result take_verbose(struct options *opt, char *value UNUSED,
                                        const char *name UNUSED)
{
    opt->verbose = true;
    return OPTIONS_RUN;
}

static enum options_result take_dry_run(struct options *opt, char *value UNUSED,
                                        const char *name UNUSED)
{
    opt->dry_run = true;
    return OPTIONS_RUN;
}

static enum options_result take_help(struct options *opt UNUSED, char *value UNUSED,
                                     const char *name UNUSED)
{
    return OPTIONS_HELP;
}

static enum options_result take_version(struct options *opt UNUSED, char *value UNUSED,
                                        const char *name UNUSED)
{
    return OPTIONS_VERSION;
}

static const struct row rows[] = {
    {"-n -np -c --np --n", "N", take_npes, "start N PEs (1 unless given); also -np, -c, --np"},
    {"-ppn --ppn -perhost -npernode --npernode -N", "N", take_per_host,
     "with hosts: PEs on each of them; also -perhost, -npernode"},
    {"--map-by -map-by", "WAY", take_map, "accepted: slot, core and so on; ppr:N:node is -ppn N"},
    {"--tag -t -l --tag-output -prepend-rank", NULL, take_tag,
     "put [PE] in front of every line; also -t"},
    {"--timeout", "SECONDS", take_timeout,
     "end the job when it has run that long; also MPIEXEC_TIMEOUT"},
    {"--bind --bind-to -bind-to", "WHAT", take_bind,
     "bind each PE to a core, socket or numa node, or to none"},
    {"--report-bindings -report-bindings", NULL, take_report,
     "each PE prints at its start which CPUs it may run on"},
    {"--wdir -wdir -wd", "DIR", take_dir, "start the PEs of this program in DIR; also -wdir"},
    {"-path --path", "DIRS", take_path, "where this program is, a:b; also --path"},
    {"-x", "VAR[=VALUE]", take_var,
     "pass an environment variable, or set one; also -genv VAR VALUE"},
    {"-genv", PAIR, take_var, NULL},
    {"-genvlist -envlist", "VAR,VAR...", take_var_list, NULL},
    {"-env", PAIR, take_own_var, "set an environment variable for this program alone"},
    {"-genvall -envall", NULL, take_all_vars, "pass the whole environment; also -envall"},
    {"--initial-errhandler -initial-errhandler", "NAME", take_errhandler,
     "of MPI: mpi_errors_are_fatal, mpi_errors_abort or mpi_errors_return"},
    {"--hosts --host -hosts -host -H", "LIST", take_hosts,
     "start the PEs on these hosts, a:4,b:4; also --host, -H"},
    {"--hostfile -hostfile --machinefile -machinefile -f", "FILE", take_hostfile,
     "the same, one host a line; also --machinefile"},
    {"--verbose -v", NULL, take_verbose, "with hosts: print the launcher's command; also -v"},
    {"--dry-run", NULL, take_dry_run, "with hosts: print the launcher's command and exit"},
    {CONFIG_FILE, "FILE", take_config, "the whole command line from a file, a program a line"},
    {"-arch", "NAME", take_arch, "an error where the machine is not one of these (uname -m)"},
    {"-soft", "SET", take_nothing, "accepted: N processes are always started"},
    {"--oversubscribe --allow-run-as-root", NULL, take_nothing,
     "more PEs than cores are always allowed"},
    {"--quiet -quiet -q", NULL, take_nothing, "accepted: what goes well is silent"},
    {"--mca -mca", PAIR, take_nothing,
     "accepted: a parameter of Open MPI's, which means nothing here"},
    {"--help -help -h", NULL, take_help, "print this; also -h"},
    {"--version -V", NULL, take_version, "print the version; also -V"},
};

void options_help(FILE *out)
{
    fprintf(out, "%s\n", options_usage);
    for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
        char left[40];
        snprintf(left, sizeof left, "%.*s %s", (int)strcspn(rows[i].names, " "), rows[i].names,
                 rows[i].value ? rows[i].value : "");
        if (rows[i].help)
            fprintf(out, "  %-20s %s\n", left, rows[i].help);
    }
}

// May a value begin behind the n bytes of the option's name, in the same word?
static bool takes_rest(const struct row *row, const char *arg, size_t n)
{
    if (!row->value || arg[n] == '=' || arg[1] == '-')
        return row->value && arg[n] == '=';
    if (row->take == take_npes || row->take == take_per_host)
        return arg[n] && strchr("-0123456789", arg[n]);
    return (row->take == take_var || row->take == take_hosts) && n == 2;
}

// The length of the row's name that `arg` is, or begins with where a value may follow; 0: of none.
static size_t named(const struct row *row, const char *arg, bool is_glued)
{
    size_t n;
    for (const char *name = row->names; (n = strcspn(name, " ")); name += n + (name[n] == ' '))
        if (strncmp(arg, name, n) == 0 && (is_glued ? takes_rest(row, arg, n) : !arg[n]))
            return n;
    return 0;
}

// The row that `arg` names; *glued is the value written in the same word (-n4, --np=4) or NULL.
static const struct row *find_row(char *arg, char name[NAME], char **glued)
{
    size_t n;
    *glued = NULL;
    for (int is_glued = 0; is_glued < 2; is_glued++)
        for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
            if (!(n = named(&rows[i], arg, is_glued)))
                continue;
            snprintf(name, NAME, "%.*s", (int)n, arg);
            if (is_glued)
                *glued = arg + n + (arg[n] == '=');
            return &rows[i];
        }
    return NULL;
}

// The value in argv[*at], which a pair ends behind. NULL: there is none.
static char *next_value(const struct row *row, char **argv, int *at)
{
    char *value = argv[++*at], *joined = value;
    if (!value || strcmp(row->value, PAIR) != 0)
        return value;
    char *second = argv[*at + 1];
    if (!second || (row->take != take_nothing && asprintf(&joined, "%s=%s", value, second) < 0))
        return NULL;
    ++*at;
    return joined;
}

// From argv[*at] on, to the program or behind "--" (*is_last: it takes all that follows).
static enum options_result parse_options(char **argv, int *at, struct options *opt, bool *is_last)
{
    for (; argv[*at] && argv[*at][0] == '-' && argv[*at][1]; ++*at) {
        if (strcmp(argv[*at], "--") == 0) {
            ++*at;
            *is_last = true;
            break;
        }
        char name[NAME], *value;
        const struct row *row = find_row(argv[*at], name, &value);
        if (!row) {
            snprintf(opt->error, sizeof opt->error, "unknown option %.60s", argv[*at]);
            return OPTIONS_WRONG;
        }
        if (row->value && !value && !(value = next_value(row, argv, at))) {
            snprintf(opt->error, sizeof opt->error, "%s needs a value (%s)", name, row->value);
            return OPTIONS_WRONG;
        }
        enum options_result result = row->take(opt, value, name);
        if (result != OPTIONS_RUN)
            return result;
    }
    return OPTIONS_RUN;
}

// Ends at a ":", which becomes the end of its words, or with argv.
static char **take_program(char **argv, int *at, bool is_last)
{
    char **program = argv + *at;
    while (argv[*at] && (is_last || strcmp(argv[*at], ":") != 0))
        ++*at;
    return program;
}

static const char *what_is_wrong(const struct options *opt)
{
    bool has_hosts = opt->hosts || opt->hostfile;
    for (int i = 0; i < opt->blocks; i++)
        if (!opt->block[i].program[0])
            return "no program given";
    if (opt->npes > LIMIT_PES)
        return "too many PEs in all";
    if (opt->hosts && opt->hostfile)
        return "--hosts or --hostfile, not both";
    return !has_hosts && (opt->verbose || opt->dry_run) ? "-v and --dry-run go with --hosts" : NULL;
}

// Arguments, and as many more as one of them may list.
static size_t words_of(int argc, char **argv)
{
    size_t words = (size_t)argc;
    for (int i = 0; i < argc; i++)
        for (const char *c = argv[i]; *c; c++)
            words += *c == ',';
    return words;
}

enum options_result options_parse(int argc, char **argv, struct options *opt)
{
    bool is_last = false, goes_on = true;
    long sum = 0;
    *opt = (struct options){.npes = 1};
    if (argc == 3 && strcmp(argv[1], CONFIG_FILE) == 0) {
        argv = config_file_read(argv[2], argv[0], &argc, opt->error, sizeof opt->error);
        if (!argv)
            return OPTIONS_WRONG;
    }
    *opt = (struct options){.vars = calloc(words_of(argc, argv) + 1, sizeof(char *)),
                            .own_vars = calloc((size_t)argc + 1, sizeof(char *)),
                            .block = calloc((size_t)argc + 1, sizeof(struct block))};
    char *timeout = getenv("MPIEXEC_TIMEOUT"); // as other launchers have it
    if (timeout && take_timeout(opt, timeout, "MPIEXEC_TIMEOUT") != OPTIONS_RUN)
        return OPTIONS_WRONG;
    for (int i = 1; goes_on; i++) {
        opt->npes = 1;
        opt->dir = opt->path = NULL;
        opt->own_nvars = 0;
        enum options_result result = parse_options(argv, &i, opt, &is_last);
        if (result != OPTIONS_RUN)
            return result;
        struct block *block = &opt->block[opt->blocks++];
        block->program = take_program(argv, &i, is_last);
        block->npes = opt->npes;
        block->dir = opt->dir;
        block->path = opt->path;
        block->vars = opt->own_vars;
        block->nvars = opt->own_nvars;
        opt->own_vars += opt->own_nvars;
        sum += opt->npes;
        goes_on = argv[i] != NULL;
        argv[i] = NULL;
    }
    opt->npes = sum > LIMIT_PES ? LIMIT_PES + 1 : (int)sum;
    opt->npes_given |= opt->blocks > 1;
    for (int i = 0; opt->blocks == 1 && i < opt->block[0].nvars; i++)
        opt->vars[opt->nvars++] = opt->block[0].vars[i]; // all are this program's
    const char *wrong = what_is_wrong(opt);
    if (wrong)
        snprintf(opt->error, sizeof opt->error, "%s", wrong);
    return wrong ? OPTIONS_WRONG : OPTIONS_RUN;
}

static bool is_program(const char *path)
{
    struct stat st;
    return stat(path, &st) == 0 && S_ISREG(st.st_mode) && access(path, X_OK) == 0;
}

// In which of a block's directories its program is, as a path for all hosts; NULL: in none.
static char *find_program(const struct block *block)
{
    char candidate[PATH_MAX];
    for (const char *dir = block->path, *end; dir; dir = *end ? end + 1 : NULL) {
        end = strchrnul(dir, ':');
        int len = (int)(end - dir);
        int n = snprintf(candidate, sizeof candidate, "%.*s%s%s", len, dir, len ? "/" : "",
                         block->program[0]);
        if (n < PATH_MAX && is_program(candidate))
            return realpath(candidate, NULL);
    }
    return NULL;
}

bool options_find_programs(struct options *opt)
{
    for (struct block *block = opt->block; block < opt->block + opt->blocks; block++) {
        if (!block->path || strchr(block->program[0], '/'))
            continue;
        char *found = find_program(block);
        if (!found) {
            snprintf(opt->error, sizeof opt->error, "cannot run %.60s: it is not in %.60s",
                     block->program[0], block->path);
            return false;
        }
        block->program[0] = found;
    }
    return true;
}

int options_block_of(const struct options *opt, int pe)
{
    int i = 0;
    while (pe >= opt->block[i].npes)
        pe -= opt->block[i++].npes;
    return i;
}

bool options_differ(const struct options *opt)
{
    for (int i = 1; i < opt->blocks; i++)
        if (strcmp(opt->block[i].program[0], opt->block[0].program[0]) != 0)
            return true;
    return false;
}

bool options_has_program(const struct options *opt, const char *name)
{
    for (int i = 0; i < opt->blocks; i++) {
        const char *program = opt->block[i].program[0], *slash = strrchr(program, '/');
        if (strcmp(slash ? slash + 1 : program, name) == 0)
            return true;
    }
    return false;
}
