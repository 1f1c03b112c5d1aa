// SPDX-License-Identifier: BSD-3-Clause
// A command that is put together word by word, and how a shell would take it.
#ifndef SHOAL_LAUNCH_COMMAND_H
#define SHOAL_LAUNCH_COMMAND_H

#include "compiler.h"

#include <stdio.h>

struct command {
    char **word; // NULL-terminated
    int n;
};

// One word more; there is no end of memory.
void command_add(struct command *c, const char *fmt, ...) PRINTF_LIKE(2, 3);
// An option and its value, in two words.
void command_add_pair(struct command *c, const char *option, const char *value);
// before, then text, which is freed.
void command_add_owned(struct command *c, const char *before, char *text);

// As a shell takes them.
void command_print_word(FILE *out, const char *word);
void command_print_assignment(FILE *out, const char *entry); // VAR=VALUE

#endif
