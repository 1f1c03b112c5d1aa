// SPDX-License-Identifier: BSD-3-Clause
// oshrun's command line as a structure. Parsing has no side effects.
#ifndef SHOAL_LAUNCH_OPTIONS_H
#define SHOAL_LAUNCH_OPTIONS_H

#include "bind.h"

#include <stdbool.h>
#include <stdio.h>

enum options_result { OPTIONS_RUN, OPTIONS_HELP, OPTIONS_VERSION, OPTIONS_WRONG };

struct options {
    int npes;
    bool npes_given;
    bool tag, verbose, dry_run;
    const char *hosts, *hostfile; // NULL: this node
    double timeout;               // seconds, 0: none
    enum bind_what bind;
    char **vars; // of -x, "VAR" or "VAR=VALUE", in argv's memory
    int nvars;
    char **program;  // NULL-terminated, the tail of argv
    char error[160]; // one sentence when the result is OPTIONS_WRONG
};

// Reads argv up to the program. argv must end with NULL. vars is allocated, for ever.
enum options_result options_parse(int argc, char **argv, struct options *opt);

void options_help(FILE *out);
extern const char options_usage[]; // one line

#endif
