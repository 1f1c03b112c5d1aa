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

static bool read_number(const char *text, int *number)
{
    char *end;
    errno = 0;
    long n = strtol(text, &end, 10);
    if (end == text || *end || errno || n < 1 || n > LIMIT_PES)
        return false;
    *number = (int)n;
    return true;
}

static enum options_result take_number(struct options *opt, const struct given *g)
{
    char takes[64];
    snprintf(takes, sizeof takes, "a whole number from 1 to %d", LIMIT_PES);
    return read_number(g->value, field_of(opt, g)) ? OPTIONS_RUN : wrong(opt, g, takes);
}

static enum options_result take_npes(struct options *opt, const struct given *g)
{
    opt->npes_given = true;
    return take_number(opt, g);
}

static enum options_result take_pernode(struct options *opt, const struct given *g UNUSED)
{
    opt->per_host = 1;
    return OPTIONS_RUN;
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

// The kind of places that a word names; -1: none.
static int place_of(const char *word)
{
    static const char *const words[] = {BIND_WORDS};
    for (int i = 0; i < (int)ARRAY_LEN(words); i++)
        if (strcasecmp(word, words[i]) == 0)
            return i;
    return strcasecmp(word, "package") == 0 ? BIND_SOCKET : -1;
}

// What may follow, each after a colon: words that are always so, and one number after `name`.
static bool read_modifiers(char *rest, const char *name, int *number)
{
    static const char *const always[] = {"oversubscribe", "overload-allowed", "if-supported"};
    size_t n = strlen(name), i;
    for (char *word; (word = strsep(&rest, ":"));) {
        for (i = 0; i < ARRAY_LEN(always) && strcasecmp(word, always[i]) != 0;)
            i++;
        if (i == ARRAY_LEN(always) &&
            (strncasecmp(word, name, n) || !read_number(word + n, number)))
            return false;
    }
    return true;
}

// WHERE or ppr:N:WHERE, and what follows. Only which host a PE is on is said by it; on each
// PEs are bound in their order.
static enum options_result take_map(struct options *opt, const struct given *g)
{
    static const char ways[] =
        "slot, node, core, hwthread, socket, numa, l3cache or ppr:N:node, and :PE=N";
    const char *value = g->value ? g->value : g->row->preset;
    char text[64], *rest = text, *where = text;
    int number = 0;
    bool is_good = snprintf(text, sizeof text, "%s", value) < (int)sizeof text;
    bool has_number = strncasecmp(text, "ppr:", 4) == 0;
    strsep(&rest, ":");
    if (has_number) {
        is_good &= read_number(strsep(&rest, ":"), &number) && rest;
        where = rest ? strsep(&rest, ":") : "";
    }
    bool is_node = strcasecmp(where, "node") == 0;
    bool is_nothing = !*where && !has_number && rest; // but what follows
    is_good &= is_node || is_nothing || place_of(where) > BIND_NONE ||
               strcasecmp(where, "slot") == 0;
    if (!is_good || !read_modifiers(rest, "PE=", &opt->cpus))
        return wrong(opt, &(struct given){g->row, g->name, (char *)value}, ways);
    if (is_nothing)
        return OPTIONS_RUN;
    opt->spread = is_node && !has_number;
    if (has_number && is_node)
        opt->per_host = number;
    opt->needs_npes = has_number && !is_node;
    return OPTIONS_RUN;
}

static enum options_result take_rank(struct options *opt, const struct given *g)
{
    bool is_node = strcasecmp(g->value, "node") == 0;
    int place = place_of(g->value);
    if (!is_node && strcasecmp(g->value, "slot") != 0 && place != BIND_CORE &&
        place != BIND_HWTHREAD)
        return wrong(opt, g, "slot, core, hwthread or node");
    opt->rank_by = is_node ? RANK_BY_NODE : RANK_BY_SLOT;
    return OPTIONS_RUN;
}

static enum options_result take_bind(struct options *opt, const struct given *g)
{
    char text[64], *rest = text;
    bool fits = snprintf(text, sizeof text, "%s", g->value) < (int)sizeof text;
    int what = place_of(strsep(&rest, ":"));
    opt->bind_each = 1;
    opt->bind_given = true;
    if (!fits || what < 0 || !read_modifiers(rest, "", &opt->bind_each))
        return wrong(opt, g, "none, core, hwthread, l3cache, socket or numa, and :N");
    opt->bind = (enum bind_what)what;
    return OPTIONS_RUN;
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

// What may follow a folder's name. False: it is none of that.
static bool read_directives(char *rest, bool *copies, bool *has_job)
{
    for (char *word; (word = strsep(&rest, ","));) {
        if (strcasecmp(word, "nocopy") == 0)
            *copies = false;
        else if (strcasecmp(word, "nojobid") == 0)
            *has_job = false;
        else if (strcasecmp(word, "copy") != 0)
            return false;
    }
    return true;
}

// The files' names as Open MPI has them: DIR/1/rank.0/stdout.
static enum options_result take_output_dir(struct options *opt, const struct given *g)
{
    static const char *const ends[] = {"stdout", "stderr"};
    char text[64], *colon = strrchr(g->value, ':');
    bool fits = colon && snprintf(text, sizeof text, "%s", colon + 1) < (int)sizeof text;
    bool copies = true, has_job = true, has_more = fits && read_directives(text, &copies, &has_job);
    int n = has_more ? (int)(colon - g->value) : (int)strlen(g->value);
    if (n == 0 || strchr(g->value, '%'))
        return wrong(opt, g, "a folder");
    for (int i = 0; i < 2; i++) {
        char *name;
        const char *job = !has_more || has_job ? "/1" : "";
        if (asprintf(&name, "%.*s%s/rank.%%R/%s", n, g->value, job, ends[i]) < 0)
            return no_memory(opt, g);
        opt->files[i] = name;
    }
    opt->output_dir = g->value;
    opt->copies = !has_more || copies;
    return OPTIONS_RUN;
}

// Open MPI 5 has one option for the ways that lines go.
static enum options_result take_output(struct options *opt, const struct given *g)
{
    char *rest = g->value;
    for (char *word; (word = strsep(&rest, ","));) {
        bool is_merge = strcasecmp(word, "merge") == 0 ||
                        strcasecmp(word, "merge-stderr-to-stdout") == 0;
        bool *flag = is_merge                             ? &opt->merges
                     : strcasecmp(word, "tag") == 0       ? &opt->tag
                     : strcasecmp(word, "timestamp") == 0 ? &opt->stamp
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
    ROW("--pernode -pernode", NULL, take_pernode, "the same as -ppn 1"),
    ROW("--map-by -map-by", "WAY", take_map,
        "with hosts: slot fills each, node goes round; ppr:N:node is -ppn N"),
    ROW("--bynode -bynode -rr", NULL, take_map, "--map-by node", .preset = "node"),
    ROW("--byslot -byslot", NULL, take_map, NULL, .preset = "slot"),
    ROW("--rank-by -rank-by", "WAY", take_rank,
        "with hosts: slot numbers PEs host by host, node by turns"),
    ROW("--tag -t -l --tag-output -tag-output -prepend-rank", NULL, take_flag,
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
    ROW("--timeout -timeout", "SECONDS", option_take_timeout,
        "end the job when it has run that long; also MPIEXEC_TIMEOUT"),
    ROW("--bind --bind-to -bind-to", "WHAT", take_bind,
        "bind each PE to a core, hwthread, l3cache, socket or numa node, to none, or core:N"),
    ROW("--cpus-per-proc -cpus-per-proc --cpus-per-rank -cpus-per-rank", "N", take_number,
        "bind each PE to N cores; also --map-by WAY:PE=N", SETS(cpus)),
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
    ROW("-genvnone", NULL, take_flag, "pass no variables but those that are named, and Shoal's",
        SETS(no_vars)),
    ROW("-envnone", NULL, take_flag, "the same for this program alone", SETS(bare)),
    ROW("--initial-errhandler -initial-errhandler", "NAME", take_errhandler,
        "of MPI: mpi_errors_are_fatal, mpi_errors_abort or mpi_errors_return",
        .preset = "SHOAL_MPI_INITIAL_ERRHANDLER="),
    ROW("--hosts --host -hosts -host -H", "LIST", take_text,
        "start the PEs on these hosts, a:4,b:4; also --host, -H", SETS(hosts), .glue = GLUE_ANY),
    ROW("--hostfile -hostfile --machinefile -machinefile -f", "FILE", take_text,
        "the same, one host a line; also --machinefile", SETS(hostfile)),
    ROW("-launcher -bootstrap", "NAME", take_setting,
        "with hosts: how hydra reaches them; HYDRA_LAUNCHER", .preset = "HYDRA_LAUNCHER="),
    ROW("-launcher-exec -bootstrap-exec", "FILE", take_setting,
        "with hosts: and by what program; HYDRA_LAUNCHER_EXEC", .preset = "HYDRA_LAUNCHER_EXEC="),
    ROW("-iface", "NAME", take_setting, "with hosts: hydra's interface; HYDRA_IFACE",
        .preset = "HYDRA_IFACE="),
    ROW("--verbose -verbose -v", NULL, take_flag, "with hosts: print the launcher's command; also -v",
        SETS(verbose)),
    ROW("--dry-run", NULL, take_flag, "with hosts: print the launcher's command and exit",
        SETS(dry_run)),
    ROW("-configfile --app -app", "FILE", option_take_config,
        "the whole command line from a file, a program a line"),
    ROW("-arch", "NAME", take_arch, "an error where the machine is not one of these (uname -m)"),
    ROW("-soft", "SET", option_take_nothing, "accepted: N processes are always started"),
    ROW("--oversubscribe -oversubscribe --allow-run-as-root --use-hwthread-cpus -use-hwthread-cpus",
        NULL, option_take_nothing, "more PEs than cores are always allowed"),
    ROW("--quiet -quiet -q", NULL, option_take_nothing, "accepted: what goes well is silent"),
    ROW("--mca -mca --gmca -gmca --prtemca --pmixmca", OPTION_PAIR, option_take_nothing,
        "accepted: a parameter of Open MPI's, which means nothing here"),
    ROW("--prefix -prefix", "DIR", option_take_nothing,
        "accepted: a folder of Open MPI's, which means nothing here"),
    ROW("--help -help -h", NULL, take_help, "print this; also -h"),
    ROW("--version -V", NULL, take_version, "print the version; also -V"),
};
const size_t option_rows = ARRAY_LEN(option_table);
