// SPDX-License-Identifier: BSD-3-Clause
// A job on several hosts is started by a launcher that knows how to reach them: which, and how it is
// asked. attend.c runs it.
#ifndef SHOAL_LAUNCH_HANDOVER_H
#define SHOAL_LAUNCH_HANDOVER_H

#include "options.h"

// --hosts or --hostfile was given: all of it, to the exit status.
int handover_run(const struct options *opt);

// Runs the command and stays until it has ended: passes signals on, ends it after timeout seconds (0:
// never) or when it waits for a host that the PEs have found lost. Returns the exit status.
int attend(char *const *command, double timeout);

#endif
