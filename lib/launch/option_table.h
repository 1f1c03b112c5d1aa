// SPDX-License-Identifier: BSD-3-Clause
// oshrun's options: their names, what each takes and does.
#ifndef SHOAL_LAUNCH_OPTION_TABLE_H
#define SHOAL_LAUNCH_OPTION_TABLE_H

#include "options.h"

#include <stddef.h>

struct option_row;

// An option as it was found.
struct given {
    const struct option_row *row;
    const char *name; // as it was written
    char *value;      // NULL: it takes none
};

typedef enum options_result take_fn(struct options *opt, const struct given *g);

// May a value follow the name in the same word, as in -n4 or -xA=B? (After "=" it may always.)
enum glue { GLUE_NOTHING, GLUE_NUMBER, GLUE_ANY };

#define OPTION_PAIR "VAR VALUE" // in words of their own, or VAR=VALUE in one
struct option_row {
    const char *names; // of which the help shows the first
    const char *value; // what it takes, NULL: nothing
    take_fn *take;
    const char *help;   // NULL: not shown
    const char *preset; // what stands in front of a value, or for one
    size_t field;       // of struct options: what is set
    enum glue glue;
};

extern const struct option_row option_table[];
extern const size_t option_rows;

take_fn option_take_timeout;
take_fn option_take_nothing;
take_fn option_take_config; // always wrong: it is a command line of its own

#endif
