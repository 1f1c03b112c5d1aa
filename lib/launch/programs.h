// SPDX-License-Identifier: BSD-3-Clause
// The programs of a job, which are its options' blocks: where they are, and which one a PE runs.
#ifndef SHOAL_LAUNCH_PROGRAMS_H
#define SHOAL_LAUNCH_PROGRAMS_H

#include "options.h"

// Puts what -path finds in the place of the programs' names. False: one is not there, error says so.
bool programs_find(struct options *opt);
// The block of this PE.
int programs_block_of(const struct options *opt, int pe);
// Is there more than one executable?
bool programs_differ(const struct options *opt);
// Is one of the programs called so, wherever it is?
bool programs_include(const struct options *opt, const char *name);

#endif
