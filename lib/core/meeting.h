// SPDX-License-Identifier: BSD-3-Clause
// How the processes of one node that know nothing but a name and a secret come to share a file
// descriptor. See meeting.c.
#ifndef SHOAL_CORE_MEETING_H
#define SHOAL_CORE_MEETING_H

#include <stdbool.h>
#include <stdint.h>

struct meeting {
    uint64_t name, secret; // random; they travel through the launcher
};

// The leader: a socket that listens on a new random name, or -1 after one line.
int meeting_listen(struct meeting *m);

// The leader: waits until all other ranks of `local` (ascending, the leader's own first) have
// proved the secret, writes into the job's file `fd` how many cores all of them may use together,
// and passes it to each. *same_pids: do all number processes alike, or are there containers? Closes
// the listener. Returns 0, or -1 after one line.
int meeting_serve(int listener, const struct meeting *m, const int *local, int locals, int fd,
                  int limit_ms, bool *same_pids);

// The others: the descriptor, close-on-exec, or -1 after one line.
int meeting_ask(const struct meeting *m, int rank, int limit_ms, bool *same_pids);

#endif
