// SPDX-License-Identifier: BSD-3-Clause
// Commands. See command.h.
#include "command.h"

#include "log.h"

#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

void command_add(struct command *c, const char *fmt, ...)
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

void command_add_pair(struct command *c, const char *option, const char *value)
{
    command_add(c, "%s", option);
    command_add(c, "%s", value);
}

void command_add_owned(struct command *c, const char *before, char *text)
{
    command_add(c, "%s%s", before, text);
    free(text);
}

void command_print_word(FILE *out, const char *word)
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

void command_print_assignment(FILE *out, const char *entry)
{
    int name = (int)strcspn(entry, "=");
    fprintf(out, "%.*s=", name, entry);
    command_print_word(out, entry + name + 1);
}
