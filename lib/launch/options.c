// SPDX-License-Identifier: BSD-3-Clause
// oshrun's command line: one loop over its words, for which option_table.c has the options. See options.h.
#include "options.h"

#include "config_file.h"
#include "option_table.h"
#include "tunables.h"

#include <stdlib.h>
#include <string.h>

const char options_usage[] =
    "usage: oshrun [-n N] [--wdir DIR] [-path DIRS] [--tag] [--timeout SECONDS] "
    "[--bind none|core|hwthread|l3cache|socket|numa] [-x VAR[=VALUE]] [--initial-errhandler NAME] [--hosts LIST|--hostfile FILE] [-v|--dry-run] "
    "[--] PROGRAM [ARGUMENT...] [: [-n N] [--wdir DIR] [-path DIRS] PROGRAM [ARGUMENT...]]... | "
    "-configfile FILE";

enum { NAME = 32 }; // bytes

void options_help(FILE *out)
{
    fprintf(out, "%s\n", options_usage);
    for (size_t i = 0; i < option_rows; i++) {
        char left[40];
        snprintf(left, sizeof left, "%.*s %s", (int)strcspn(option_table[i].names, " "),
                 option_table[i].names, option_table[i].value ? option_table[i].value : "");
        if (option_table[i].help)
            fprintf(out, "  %-26s %s\n", left, option_table[i].help);
    }
}

// May a value begin behind the n bytes of the option's name, in the same word?
static bool takes_rest(const struct option_row *row, const char *arg, size_t n)
{
    if (!row->value || arg[n] == '=' || arg[1] == '-')
        return row->value && arg[n] == '=';
    if (row->glue == GLUE_NUMBER)
        return arg[n] && strchr("-0123456789", arg[n]);
    return row->glue == GLUE_ANY && n == 2;
}

// The length of the row's name that `arg` is, or begins with where a value may follow; 0: of none.
static size_t named(const struct option_row *row, const char *arg, bool is_glued)
{
    size_t n;
    for (const char *name = row->names; (n = strcspn(name, " ")); name += n + (name[n] == ' '))
        if (strncmp(arg, name, n) == 0 && (is_glued ? takes_rest(row, arg, n) : !arg[n]))
            return n;
    return 0;
}

// The row that `arg` names; *glued is the value written in the same word (-n4, --np=4) or NULL.
static const struct option_row *find_row(char *arg, char name[NAME], char **glued)
{
    size_t n;
    *glued = NULL;
    for (int is_glued = 0; is_glued < 2; is_glued++)
        for (size_t i = 0; i < option_rows; i++) {
            if (!(n = named(&option_table[i], arg, is_glued)))
                continue;
            snprintf(name, NAME, "%.*s", (int)n, arg);
            if (is_glued)
                *glued = arg + n + (arg[n] == '=');
            return &option_table[i];
        }
    return NULL;
}

// The value, which is in the same word or the next one. A pair that has no "=" in it goes on in the word
// behind. NULL: there is none.
static char *value_of(const struct option_row *row, char *glued, char **argv, int *at)
{
    char *value = glued ? glued : argv[++*at], *joined = value;
    if (!value || strcmp(row->value, OPTION_PAIR) != 0 || strchr(value, '='))
        return value;
    char *second = argv[*at + 1];
    if (!second ||
        (row->take != option_take_nothing && asprintf(&joined, "%s=%s", value, second) < 0))
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
        const struct option_row *row = find_row(argv[*at], name, &value);
        if (!row) {
            snprintf(opt->error, sizeof opt->error, "unknown option %.60s", argv[*at]);
            return OPTIONS_WRONG;
        }
        if (row->value && !(value = value_of(row, value, argv, at))) {
            snprintf(opt->error, sizeof opt->error, "%s needs a value (%s)", name, row->value);
            return OPTIONS_WRONG;
        }
        enum options_result result = row->take(opt, &(struct given){row, name, value});
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

// From argv[*at] to the ":" or NULL behind it.
static enum options_result parse_block(char **argv, int *at, struct options *opt, bool *is_last)
{
    opt->npes = 1;
    opt->dir = opt->path = NULL;
    opt->bare = false;
    opt->own_nvars = 0;
    enum options_result result = parse_options(argv, at, opt, is_last);
    if (result == OPTIONS_RUN)
        opt->block[opt->blocks++] = (struct block){.npes = opt->npes,
                                                   .dir = opt->dir,
                                                   .path = opt->path,
                                                   .bare = opt->bare,
                                                   .program = take_program(argv, at, *is_last),
                                                   .vars = opt->own_vars,
                                                   .nvars = opt->own_nvars};
    if (result == OPTIONS_RUN)
        opt->own_vars += opt->own_nvars;
    return result;
}

static const char *what_is_wrong(const struct options *opt)
{
    bool has_hosts = opt->hosts || opt->hostfile;
    for (int i = 0; i < opt->blocks; i++)
        if (!opt->block[i].program[0])
            return "no program given";
    if (opt->npes > LIMIT_PES)
        return "too many PEs in all";
    if (opt->needs_npes && !opt->npes_given)
        return "ppr of anything but node needs -n";
    if (opt->hosts && opt->hostfile)
        return "--hosts or --hostfile, not both";
    if (!has_hosts && opt->input >= opt->npes)
        return "--stdin names a PE that is not there";
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

static bool is_config(char *arg)
{
    char name[NAME], *value;
    const struct option_row *row = find_row(arg, name, &value);
    return row && row->take == option_take_config && !value;
}

// Cores for each PE are asked for by themselves, too.
static void settle_binding(struct options *opt)
{
    if (opt->cpus && !opt->bind_given)
        opt->bind = BIND_CORE;
    bool is_counted = opt->bind == BIND_CORE || opt->bind == BIND_HWTHREAD;
    if (opt->cpus && is_counted)
        opt->bind_each = opt->cpus;
    if (opt->bind == BIND_NONE)
        opt->bind_each = 1;
}

enum options_result options_parse(int argc, char **argv, struct options *opt)
{
    bool is_last = false, goes_on = true;
    long sum = 0;
    *opt = (struct options){.npes = 1};
    if (argc == 3 && is_config(argv[1])) {
        argv = config_file_read(argv[2], argv[0], &argc, opt->error, sizeof opt->error);
        if (!argv)
            return OPTIONS_WRONG;
    }
    *opt = (struct options){.bind_each = 1,
                            .vars = calloc(words_of(argc, argv) + 1, sizeof(char *)),
                            .own_vars = calloc((size_t)argc + 1, sizeof(char *)),
                            .block = calloc((size_t)argc + 1, sizeof(struct block))};
    struct given timeout = {.name = "MPIEXEC_TIMEOUT"}; // as other launchers have it
    timeout.value = getenv(timeout.name);
    if (timeout.value && option_take_timeout(opt, &timeout) != OPTIONS_RUN)
        return OPTIONS_WRONG;
    for (int i = 1; goes_on; i++) {
        enum options_result result = parse_block(argv, &i, opt, &is_last);
        if (result != OPTIONS_RUN)
            return result;
        sum += opt->npes;
        goes_on = argv[i] != NULL;
        argv[i] = NULL;
    }
    opt->npes = sum > LIMIT_PES ? LIMIT_PES + 1 : (int)sum;
    opt->npes_given |= opt->blocks > 1;
    if (!opt->npes_given && opt->per_host) // of the one host that there is
        opt->npes = opt->block[0].npes = opt->per_host;
    for (int i = 0; opt->blocks == 1 && i < opt->block[0].nvars; i++)
        opt->vars[opt->nvars++] = opt->block[0].vars[i]; // all are this program's
    for (int i = 0; opt->no_vars && i < opt->blocks; i++)
        opt->block[i].bare = true;
    settle_binding(opt);
    const char *wrong = what_is_wrong(opt);
    if (wrong)
        snprintf(opt->error, sizeof opt->error, "%s", wrong);
    return wrong ? OPTIONS_WRONG : OPTIONS_RUN;
}
