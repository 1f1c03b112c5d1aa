// SPDX-License-Identifier: BSD-3-Clause
// The launchers that a job is handed over to, and how each is told what oshrun's options say.
#ifndef SHOAL_LAUNCH_LAUNCHERS_H
#define SHOAL_LAUNCH_LAUNCHERS_H

#include "command.h"
#include "hosts.h"
#include "options.h"

// A name that several launchers use counts when its --version says `sign`.
struct launcher {
    const char *kind, *names[4], *shared_name, *sign;
    const char *only_with; // unless named it is taken only where this variable is; NULL: anywhere
    const char *(*lacks)(const struct options *opt); // an option that it has nothing for, or NULL
    void (*add)(struct command *c, const struct options *opt, const struct hosts *h);
    int (*add_programs)(struct command *c, const struct options *opt); // -1 after one line
};

enum { LAUNCHERS = 3 };
extern const struct launcher launchers[LAUNCHERS]; // in the order in which they are looked for

#endif
