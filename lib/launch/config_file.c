// SPDX-License-Identifier: BSD-3-Clause
// A command line from a file. See config_file.h.
#include "config_file.h"

#include <errno.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define BLANKS " \t\r"

struct reader {
    const char *from;
    char *to; // the words, each with its NUL: no longer than what they are read from
    char **argv;
    int argc;
};

// All of the file, up to a NUL. NULL: errno says why not.
static char *read_all(const char *file)
{
    FILE *in = fopen(file, "re");
    char *text = NULL;
    size_t size = 0;
    if (!in)
        return NULL;
    if (getdelim(&text, &size, '\0', in) < 0) { // nothing in it, or an error
        free(text);
        text = ferror(in) ? NULL : strdup("");
    }
    int error = errno;
    fclose(in);
    errno = error;
    return text;
}

static void begin_word(struct reader *r)
{
    r->argv[r->argc++] = r->to;
}

// A line that goes on in the next one is as if that followed.
static bool goes_on(const char *at)
{
    return at[0] == '\\' && at[1] == '\n';
}

static void skip_blanks(struct reader *r)
{
    while (*r->from && (strchr(BLANKS, *r->from) || goes_on(r->from)))
        r->from += goes_on(r->from) ? 2 : 1;
}

// False: a quote has no end.
static bool take_word(struct reader *r)
{
    char quote = '\0';
    begin_word(r);
    for (; *r->from && *r->from != '\n' && (quote || !strchr(BLANKS, *r->from)); r->from++) {
        bool is_quote = *r->from == '"' || *r->from == '\'';
        if (is_quote && (!quote || quote == *r->from)) {
            quote = quote ? '\0' : *r->from;
            continue;
        }
        if (*r->from == '\\' && quote != '\'' && r->from[1]) {
            r->from++;
            if (*r->from == '\n')
                continue;
        }
        *r->to++ = *r->from;
    }
    *r->to++ = '\0';
    return !quote;
}

// The words of a line that has some, behind a ":" if it is not the first such. False as above.
static bool take_line(struct reader *r)
{
    skip_blanks(r);
    if (*r->from && *r->from != '\n' && *r->from != '#' && r->argc > 1) {
        begin_word(r);
        r->to = stpcpy(r->to, ":") + 1;
    }
    if (*r->from == '#')
        r->from += strcspn(r->from, "\n");
    while (*r->from && *r->from != '\n') {
        if (!take_word(r))
            return false;
        skip_blanks(r);
    }
    r->from += *r->from != '\0';
    return true;
}

// NULL: error says why.
static char **words_of(const char *text, char *name, int *argc, const char **error)
{
    size_t length = strlen(text), most = 2 * length + 2;
    size_t words = 3 * length + 1; // bytes, behind their addresses: lines may get a ":"
    char **argv = calloc(1, most * sizeof *argv + words);
    struct reader r = {.from = text, .to = (char *)(argv + most), .argv = argv, .argc = 1};
    *error = argv ? NULL : "no memory";
    while (!*error && *r.from)
        if (!take_line(&r))
            *error = "a line ends inside a quote";
    if (*error) {
        free(argv);
        return NULL;
    }
    argv[0] = name;
    *argc = r.argc;
    return argv;
}

char **config_file_read(const char *file, char *name, int *argc, char *error, size_t size)
{
    char *text = read_all(file);
    const char *why = text ? NULL : strerror(errno);
    char **argv = text ? words_of(text, name, argc, &why) : NULL;
    if (!argv)
        snprintf(error, size, "-configfile %.80s: %s", file, why);
    free(text);
    return argv;
}
