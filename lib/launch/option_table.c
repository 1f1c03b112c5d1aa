// SPDX-License-Identifier: BSD-3-Clause
// oshrun's options. See option_table.h.
#include "option_table.h"

#include "compiler.h"
#include "pattern.h"
#include "settings.h"
#include "tunables.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/utsname.h>

static enum options_result wrong(struct options *opt, const struct given *g, const char *takes)
{
    snprintf(opt->error, sizeof opt->error, "%s takes %s, not \"%.60s\"", g->name, takes, g->value);
    return OPTIONS_WRONG;
}

static enum options_result no_memory(struct options *opt, const struct given *g)
{
    snprintf(opt->error, sizeof opt->error, "no memory for %s", g->name);
    return OPTIONS_WRONG;
}

// ---- What needs no look

static void *field_of(struct options *opt, const struct given *g)
{
    return (char *)opt + g->row->field;
}

static enum options_result take_flag(struct options *opt, const struct given *g)
{
    *(bool *)field_of(opt, g) = true;
    return OPTIONS_RUN;
}

static enum options_result take_text(struct options *opt, const struct given *g)
{
    *(const char **)field_of(opt, g) = g->value;
    return OPTIONS_RUN;
}

enum options_result option_take_nothing(struct options *opt UNUSED, const struct given *g UNUSED)
{
    return OPTIONS_RUN;
}

enum options_result option_take_config(struct options *opt, const struct given *g)
{
    snprintf(opt->error, sizeof opt->error, "%s FILE is a command line of its own", g->name);
    return OPTIONS_WRONG;
}

static enum options_result take_help(struct options *opt UNUSED, const struct given *g UNUSED)
{
    return OPTIONS_HELP;
}

static enum options_result take_version(struct options *opt UNUSED, const struct given *g UNUSED)
{
    return OPTIONS_VERSION;
}

// ---- Numbers and places

static enum options_result take_number(struct options *opt, const struct given *g)
{
    char *end, takes[64];
    errno = 0;
    long n = strtol(g->value, &end, 10);
    if (end == g->value || *end || errno || n < 1 || n > LIMIT_PES) {
        snprintf(takes, sizeof takes, "a whole number from 1 to %d", LIMIT_PES);
        return wrong(opt, g, takes);
    }
    *(int *)field_of(opt, g) = (int)n;
    return OPTIONS_RUN;
}

static enum options_result take_npes(struct options *opt, const struct given *g)
{
    opt->npes_given = true;
    return take_number(opt, g);
}

enum options_result option_take_timeout(struct options *opt, const struct given *g)
{
    char *end;
    double seconds = strtod(g->value, &end);
    if (end == g->value || *end || !(seconds > 0 && seconds <= 1e9))
        return wrong(opt, g, "a number of seconds above 0");
    opt->timeout = seconds;
    return OPTIONS_RUN;
}

// PEs are numbered host by host whatever it says; ppr:N:node is how many each gets.
static enum options_result take_map(struct options *opt, const struct given *g)
{
    static const char ways[] = "slot, core, hwthread, socket, numa or ppr:N:node";
    char *value = g->value, *more = strcasestr(value, ":oversubscribe"); // is always so
    if (more && !more[strlen(":oversubscribe")])
        *more = 0;
    if (!*value && more)
        return OPTIONS_RUN;
    char *colon = strncmp(value, "ppr:", 4) == 0 ? strchr(value + 4, ':') : NULL;
    if (!colon || strcmp(colon, ":node") != 0)
        return settings_is_one_of(ways, value) ? OPTIONS_RUN : wrong(opt, g, ways);
    *colon = 0;
    return take_number(opt, &(struct given){g->row, g->name, value + 4});
}

static enum options_result take_bind(struct options *opt, const struct given *g)
{
    static const char *const words[] = {BIND_WORDS};
    for (int i = 0; i < (int)ARRAY_LEN(words); i++) {
        if (strcmp(g->value, words[i]) == 0) {
            opt->bind = (enum bind_what)i;
            return OPTIONS_RUN;
        }
    }
    return wrong(opt, g, "none, core, socket or numa");
}

static enum options_result take_arch(struct options *opt, const struct given *g)
{
    struct utsname here;
    return uname(&here) || strcmp(g->value, here.machine) == 0 ? OPTIONS_RUN
                                                               : wrong(opt, g, here.machine);
}

// ---- The environment

static enum options_result take_var(struct options *opt, const struct given *g)
{
    opt->vars[opt->nvars++] = g->value;
    if (!g->value[0] || g->value[0] == '=')
        return wrong(opt, g, "VAR or VAR=VALUE");
    return OPTIONS_RUN;
}

static enum options_result take_var_list(struct options *opt, const struct given *g)
{
    enum options_result result = OPTIONS_RUN;
    char *rest = g->value;
    for (char *var; result == OPTIONS_RUN && (var = strsep(&rest, ","));)
        result = take_var(opt, &(struct given){g->row, g->name, var});
    return result;
}

static enum options_result take_own_var(struct options *opt, const struct given *g)
{
    opt->own_vars[opt->own_nvars++] = g->value;
    return g->value[0] == '=' ? wrong(opt, g, OPTION_PAIR) : OPTIONS_RUN;
}

// What is a variable by another name: that is the preset, with all or with the beginning of its value.
static enum options_result take_setting(struct options *opt, const struct given *g)
{
    struct given var = {.row = g->row, .name = g->name};
    if (asprintf(&var.value, "%s%s", g->row->preset, g->value ? g->value : "") < 0)
        return no_memory(opt, g);
    return take_var(opt, &var);
}

// (MPI 5.0, "Error Handling" and "Portable MPI Process Startup")
static enum options_result take_errhandler(struct options *opt, const struct given *g)
{
    return settings_is_one_of(settings_handlers, g->value) ? take_setting(opt, g)
                                                           : wrong(opt, g, settings_handlers);
}

// ---- Input and output

static enum options_result take_input(struct options *opt, const struct given *g)
{
    char *end;
    long n = strtol(g->value, &end, 10);
    bool is_all = strcmp(g->value, "all") == 0, is_none = strcmp(g->value, "none") == 0;
    if (!is_all && !is_none && (end == g->value || *end || n < 0 || n >= LIMIT_PES))
        return wrong(opt, g, "the number of a PE, all or none");
    opt->input = is_all ? INPUT_ALL : is_none ? INPUT_NONE : (int)n;
    return OPTIONS_RUN;
}

static enum options_result take_pattern(struct options *opt, const struct given *g)
{
    return pattern_is_good(g->value) ? take_text(opt, g)
                                     : wrong(opt, g, "a text with %r, %h, %t and %% in it");
}

// The files' names as Open MPI has them: DIR/1/rank.0/stdout.
static enum options_result take_output_dir(struct options *opt, const struct given *g)
{
    static const char *const ends[] = {"stdout", "stderr"};
    char *colon = strrchr(g->value, ':');
    bool has_nocopy = colon && strcasecmp(colon, ":nocopy") == 0;
    bool has_copy = colon && strcasecmp(colon, ":copy") == 0;
    int n = has_nocopy || has_copy ? (int)(colon - g->value) : (int)strlen(g->value);
    if (n == 0 || strchr(g->value, '%'))
        return wrong(opt, g, "a folder");
    for (int i = 0; i < 2; i++) {
        char *name;
        if (asprintf(&name, "%.*s/1/rank.%%R/%s", n, g->value, ends[i]) < 0)
            return no_memory(opt, g);
        opt->files[i] = name;
    }
    opt->output_dir = g->value;
    opt->copies = !has_nocopy;
    return OPTIONS_RUN;
}

// Open MPI 5 has one option for the ways that lines go.
static enum options_result take_output(struct options *opt, const struct given *g)
{
    char *rest = g->value;
    for (char *word; (word = strsep(&rest, ","));) {
        bool *flag = strcasecmp(word, "tag") == 0         ? &opt->tag
                     : strcasecmp(word, "timestamp") == 0 ? &opt->stamp
                     : strcasecmp(word, "merge") == 0     ? &opt->merges
                                                          : NULL;
        if (!flag)
            return wrong(opt, &(struct given){g->row, g->name, word}, "tag, timestamp and merge");
        *flag = true;
    }
    return OPTIONS_RUN;
}

// ----

#define ROW(its_names, its_value, its_take, ...)                                      \
    {                                                                                 \
        .names = its_names, .value = its_value, .take = its_take, .help = __VA_ARGS__ \
    }
#define SETS(member) .field = offsetof(struct options, member)

const struct option_row option_table[] = {
    ROW("-n -np -c --np --n", "N", take_npes, "start N PEs (1 unless given); also -np, -c, --np",
        SETS(npes), .glue = GLUE_NUMBER),
    ROW("-ppn --ppn -perhost -npernode --npernode -N", "N", take_number,
        "with hosts: PEs on each of them; also -perhost, -npernode", SETS(per_host),
        .glue = GLUE_NUMBER),
    ROW("--map-by -map-by", "WAY", take_map, "accepted: slot, core and so on; ppr:N:node is -ppn N",
        SETS(per_host)),
    ROW("--tag -t -l --tag-output -prepend-rank", NULL, take_flag,
        "put [PE] in front of every line; also -t", SETS(tag)),
    ROW("--timestamp-output -timestamp-output", NULL, take_flag,
        "put the time in front of every line", SETS(stamp)),
    ROW("--merge-stderr-to-stdout -merge-stderr-to-stdout", NULL, take_flag,
        "stderr of the PEs goes to stdout", SETS(merges)),
    ROW("--output", "WAY,WAY...", take_output, "tag, timestamp and merge: the three above"),
    ROW("-prepend-pattern", "PATTERN", take_pattern,
        "put this in front of every line: %r is the PE, %h the host, %t the time", SETS(prefix)),
    ROW("-outfile-pattern", "PATTERN", take_pattern,
        "stdout into files of such names: %r is the PE, %h the host, %t the time", SETS(files[0])),
    ROW("-errfile-pattern", "PATTERN", take_pattern, "the same for stderr", SETS(files[1])),
    ROW("--output-filename -output-filename", "DIR", take_output_dir,
        "both into files DIR/1/rank.PE/stdout as well; with DIR:nocopy only there"),
    ROW("--stdin -stdin", "PE|all|none", take_input,
        "whose standard input is the launcher's: 0 unless given"),
    ROW("-print-all-exitcodes --print-all-exitcodes", NULL, take_flag,
        "a line on stderr about how each PE ended", SETS(print_ends)),
    ROW("-print-rank-map --display-map -display-map", NULL, take_flag,
        "a line on stdout for each host: which PEs are there", SETS(print_places)),
    ROW("--timeout", "SECONDS", option_take_timeout,
        "end the job when it has run that long; also MPIEXEC_TIMEOUT"),
    ROW("--bind --bind-to -bind-to", "WHAT", take_bind,
        "bind each PE to a core, socket or numa node, or to none"),
    ROW("--report-bindings -report-bindings", NULL, take_setting,
        "each PE prints at its start which CPUs it may run on",
        .preset = "SHOAL_REPORT_BINDINGS=1"),
    ROW("--wdir -wdir -wd", "DIR", take_text, "start the PEs of this program in DIR; also -wdir",
        SETS(dir)),
    ROW("-path --path", "DIRS", take_text, "where this program is, a:b; also --path", SETS(path)),
    ROW("-x", "VAR[=VALUE]", take_var,
        "pass an environment variable, or set one; also -genv VAR VALUE", .glue = GLUE_ANY),
    ROW("-genv", OPTION_PAIR, take_var, NULL),
    ROW("-genvlist -envlist", "VAR,VAR...", take_var_list, NULL),
    ROW("-env", OPTION_PAIR, take_own_var, "set an environment variable for this program alone"),
    ROW("-genvall -envall", NULL, take_flag, "pass the whole environment; also -envall",
        SETS(all_vars)),
    ROW("--initial-errhandler -initial-errhandler", "NAME", take_errhandler,
        "of MPI: mpi_errors_are_fatal, mpi_errors_abort or mpi_errors_return",
        .preset = "SHOAL_MPI_INITIAL_ERRHANDLER="),
    ROW("--hosts --host -hosts -host -H", "LIST", take_text,
        "start the PEs on these hosts, a:4,b:4; also --host, -H", SETS(hosts), .glue = GLUE_ANY),
    ROW("--hostfile -hostfile --machinefile -machinefile -f", "FILE", take_text,
        "the same, one host a line; also --machinefile", SETS(hostfile)),
    ROW("--verbose -v", NULL, take_flag, "with hosts: print the launcher's command; also -v",
        SETS(verbose)),
    ROW("--dry-run", NULL, take_flag, "with hosts: print the launcher's command and exit",
        SETS(dry_run)),
    ROW("-configfile", "FILE", option_take_config,
        "the whole command line from a file, a program a line"),
    ROW("-arch", "NAME", take_arch, "an error where the machine is not one of these (uname -m)"),
    ROW("-soft", "SET", option_take_nothing, "accepted: N processes are always started"),
    ROW("--oversubscribe --allow-run-as-root", NULL, option_take_nothing,
        "more PEs than cores are always allowed"),
    ROW("--quiet -quiet -q", NULL, option_take_nothing, "accepted: what goes well is silent"),
    ROW("--mca -mca", OPTION_PAIR, option_take_nothing,
        "accepted: a parameter of Open MPI's, which means nothing here"),
    ROW("--help -help -h", NULL, take_help, "print this; also -h"),
    ROW("--version -V", NULL, take_version, "print the version; also -V"),
};
const size_t option_rows = ARRAY_LEN(option_table);
