// SPDX-License-Identifier: BSD-3-Clause
// What this thread is in the middle of: what polling, handlers and triggered operations look at before
// they begin, in one word.
#ifndef SHOAL_CORE_BUSY_H
#define SHOAL_CORE_BUSY_H

#include "compiler.h"

enum {
    BUSY_POLLS = 1,   // it is the one that polls
    BUSY_HANDLES = 2, // in a handler, or it never runs any
    BUSY_WORKS = 4,   // runs works: must not wait for a counter's lock
    BUSY_APART = 8,   // one of the library's, which leaves messages of this node to the program's
};
extern TLS_FAST unsigned busy;

#endif
