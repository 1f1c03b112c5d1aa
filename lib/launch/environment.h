// SPDX-License-Identifier: BSD-3-Clause
// Which variables the PEs get.
#ifndef SHOAL_LAUNCH_ENVIRONMENT_H
#define SHOAL_LAUNCH_ENVIRONMENT_H

#include "options.h"

// Entries are "VAR=VALUE", or "VAR".

// Is it of Shoal's, or where libraries are? These are passed whatever the options say.
bool environment_is_ours(const char *entry);
// Do the options name it?
bool environment_is_named(const struct options *opt, const char *entry);
// That of a block's PEs, to be freed. Of several values of a variable's the last counts.
char **environment_of(const struct options *opt, const struct block *block);

#endif
