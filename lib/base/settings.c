// SPDX-License-Identifier: BSD-3-Clause
// Settings from the environment: parse, print, and catch misspelt names. See settings.h.
#include "settings.h"

#include "compiler.h"
#include "log.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

extern char **environ;

struct settings settings;

typedef int parse_fn(const char *text, void *value);

struct row {
    const char *env, *def, *meaning, *takes;
    void *value;
    parse_fn *parse;
    const char *source; // "default", or the environment name it came from
    const char *text;   // as it was there, NULL: it was not
};

static int parse_FLAG(const char *text, void *value)
{
    (void)text;
    *(bool *)value = true;
    return 0;
}

static int parse_BOOL(const char *text, void *value)
{
    if ((text[0] != '0' && text[0] != '1') || text[1])
        return -1;
    *(bool *)value = text[0] == '1';
    return 0;
}

static int parse_INT(const char *text, void *value)
{
    char *end;
    errno = 0;
    long n = strtol(text, &end, 10);
    if (end == text || *end || errno)
        return -1;
    *(long *)value = n;
    return 0;
}

static int parse_at_least(long least, const char *text, void *value)
{
    long n;
    if (parse_INT(text, &n) || n < least)
        return -1;
    *(long *)value = n;
    return 0;
}

static int parse_NATURAL(const char *text, void *value)
{
    return parse_at_least(0, text, value);
}

static int parse_COUNT(const char *text, void *value)
{
    return parse_at_least(1, text, value);
}

static int parse_SIZE(const char *text, void *value)
{
    return settings_parse_size(text, value);
}

static int parse_TEXT(const char *text, void *value)
{
    *(const char **)value = text;
    return 0;
}

static const char takes_FLAG[] = "anything";
static const char takes_BOOL[] = "0 or 1";
static const char takes_INT[] = "a whole number";
static const char takes_NATURAL[] = "a whole number >= 0";
static const char takes_COUNT[] = "a whole number >= 1";
static const char takes_SIZE[] = "a number from 0 to 128t with an optional k, m, g or t";
static const char takes_TEXT[] = "a word";
static const char takes_TRANSPORT[] = "auto, ofi or ucx";
static const char takes_LAUNCHER[] = "auto, srun, hydra or mpirun";
const char settings_handlers[] = "mpi_errors_are_fatal, mpi_errors_abort or mpi_errors_return";
#define takes_HANDLER settings_handlers

bool settings_is_one_of(const char *words, const char *text)
{
    size_t n = strlen(text);
    if (n == 0 || strcspn(text, " ,") < n || strcmp(text, "or") == 0)
        return false;
    for (const char *at = words; (at = strstr(at, text)); at += n)
        if ((at == words || at[-1] == ' ') && strchr(" ,", at[n]))
            return true;
    return false;
}

static int parse_one_of(const char *words, const char *text, void *value)
{
    return settings_is_one_of(words, text) ? parse_TEXT(text, value) : -1;
}

static int parse_TRANSPORT(const char *text, void *value)
{
    return parse_one_of(takes_TRANSPORT, text, value);
}

static int parse_LAUNCHER(const char *text, void *value)
{
    return parse_one_of(takes_LAUNCHER, text, value);
}

static int parse_HANDLER(const char *text, void *value)
{
    return parse_one_of(takes_HANDLER, text, value);
}

#define X(field, env, type, def, meaning) \
    {env, def, meaning, takes_##type, &settings.field, parse_##type, "default", NULL},
static struct row rows[] = {SETTINGS_TABLE(X)};
#undef X

// Names that belong to the launcher and the PEs it starts, and to oshcc.
static const char *const internal_names[] = {"SHOAL_JOB",    "SHOAL_PE", "SHOAL_APP",
                                             "SHOAL_JOINED", "SHMEM_CC", "SHMEM_CXX"};

int settings_parse_size(const char *text, size_t *bytes)
{
    char *end;
    if (!strchr("0123456789.", text[0]) || !text[0])
        return -1;
    if (text[0] == '0' && (text[1] == 'x' || text[1] == 'X'))
        return -1;
    double n = strtod(text, &end);
    if (end == text || !(n >= 0))
        return -1;
    static const char units[] = "kmgt"; // what follows the unit is ignored, as the chapter says
    if (*end) {
        const char *unit = strchr(units, *end | 0x20);
        if (!unit)
            return -1;
        n *= (double)(1ULL << (10 * (unit - units + 1)));
    }
    if (n > (double)(1ULL << 47))
        return -1;
    size_t whole = (size_t)n;
    *bytes = whole + ((double)whole < n);
    return 0;
}

static const char *look_up(struct row *row)
{
    const char *text = getenv(row->env);
    row->source = row->env;
    if (!text && strncmp(row->env, "SHMEM_", 6) == 0) {
        static char old[64];
        snprintf(old, sizeof old, "SMA_%s", row->env + 6);
        text = getenv(old);
        row->source = text ? "old name SMA_" : row->env;
    }
    row->text = text;
    if (!text)
        row->source = "default";
    return text;
}

// Levenshtein distance of two short names.
static int distance(const char *a, const char *b)
{
    int line[64];
    int lb = (int)strlen(b);
    if (lb > 62 || strlen(a) > 62)
        return 99;
    for (int j = 0; j <= lb; j++)
        line[j] = j;
    for (int i = 1; a[i - 1]; i++) {
        int diagonal = line[0];
        line[0] = i;
        for (int j = 1; j <= lb; j++) {
            int best = diagonal + (a[i - 1] != b[j - 1]);
            diagonal = line[j];
            if (line[j] + 1 < best)
                best = line[j] + 1;
            if (line[j - 1] + 1 < best)
                best = line[j - 1] + 1;
            line[j] = best;
        }
    }
    return line[lb];
}

static bool is_known(const char *name)
{
    for (size_t i = 0; i < ARRAY_LEN(rows); i++)
        if (strcmp(name, rows[i].env) == 0)
            return true;
    for (size_t i = 0; i < ARRAY_LEN(internal_names); i++)
        if (strcmp(name, internal_names[i]) == 0)
            return true;
    return false;
}

static void warn_unknown(const char *entry)
{
    size_t len = strcspn(entry, "=");
    char name[64];
    if ((strncmp(entry, "SHOAL_", 6) && strncmp(entry, "SHMEM_", 6)) || len >= sizeof name)
        return;
    memcpy(name, entry, len);
    name[len] = '\0';
    if (is_known(name))
        return;
    const char *nearest = rows[0].env;
    for (size_t i = 1; i < ARRAY_LEN(rows); i++)
        if (distance(name, rows[i].env) < distance(name, nearest))
            nearest = rows[i].env;
    if (distance(name, nearest) <= 4)
        log_line(LOG_WARN, LOG_BOOT, "%s is no setting; did you mean %s?", name, nearest);
    else
        log_line(LOG_WARN, LOG_BOOT, "%s is no setting; `shoal info` lists them", name);
}

int settings_read(void)
{
    memset(&settings, 0, sizeof settings);
    for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
        struct row *row = &rows[i];
        const char *text = look_up(row);
        if (!text && row->parse == parse_FLAG)
            continue;
        if (row->parse(text ? text : row->def, row->value)) {
            bool is_old = row->source != row->env && text;
            log_line(LOG_ERROR, LOG_BOOT, "%s%s=\"%s\": it takes %s", is_old ? "SMA_" : "",
                     row->env + (is_old ? 6 : 0), text, row->takes);
            return -1;
        }
    }
    return 0;
}

void settings_warn_unknown(void)
{
    for (char **entry = environ; *entry; entry++)
        warn_unknown(*entry);
}

void settings_print(FILE *out)
{
    for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
        const struct row *row = &rows[i];
        bool is_default = strcmp(row->source, "default") == 0;
        fprintf(out, "%-22s %-10s %-10s %s\n", row->env,
                is_default ? (row->def[0] ? row->def : "-") : row->text,
                is_default ? "default" : "environment", row->meaning);
    }
}
