// SPDX-License-Identifier: BSD-3-Clause
// Triggered operations that the network runs. A PE releases a put or atomic to another node, and
// what counts its end, done_ct, makes the next such work due, and so on: these works go to the
// provider as one chain, where it takes deferred work. It begins each when the one before is
// complete, by itself.
//
//     ct ---- put ----> done_ct ---- put ----> done_ct ---- atomic ----> done_ct
//             released       in the chain, whose counts net_move brings into the counters
//
// A work in a chain is as good as released: nothing but the work before it, which will end, is
// missing. It can no longer be taken back (sockets has no FI_CANCEL_WORK), so who cancels waits
// until it has been released for everybody to see. Everything else that is armed on its counter
// waits for it.
//
// The counters themselves stay words in shared memory, which any PE of the node adds to with its
// processor. The provider's can only be counted by the process that opened them, so whatever else
// makes a counter pass is seen and released by software.
#ifndef SHOAL_CORE_DEFERRED_H
#define SHOAL_CORE_DEFERRED_H

#include "trigger_area.h"

#include <stdbool.h>

// Runs w, which is released, and those that follow it as a chain; false: there is none, and nothing
// has happened. The lock of w's counter is held.
bool deferred_start(struct work *w);

// Counts works that are complete. How many.
int deferred_move(void);

// Until no chain of this PE is under way.
void deferred_wait(void);

void deferred_down(void);

#endif
