// SPDX-License-Identifier: BSD-3-Clause
// Which hosts get how many PEs: --hosts and --hostfile as a list.
#ifndef SHOAL_LAUNCH_HOSTS_H
#define SHOAL_LAUNCH_HOSTS_H

#include "options.h"

#define HOSTS_NAME 256 // bytes of a name, with its end

struct host {
    char name[HOSTS_NAME];
    int places; // at least 1
    int pes;    // how many of them are taken
};

struct hosts {
    struct host *host;
    int n;
    int npes;      // of all
    bool by_turns; // PEs are numbered so, not host by host
    int *host_of;  // for each PE
};

// Reads opt's list or file and gives its PEs places: on each host until it is full, in the order of the
// list, or by turns (--map-by node). They are numbered host by host, or by turns (--rank-by node). A host
// that is there several times stands where it is first, with the sum of its counts, 1 for each time
// without. Where no host has a count, all PEs are divided evenly; else each host takes as many as its
// count, which is 1 when only others have one, and the last ones stay empty when -n is less.
// 0, or -1 with a sentence in `error`.
int hosts_read(const struct options *opt, struct hosts *hosts, char *error, size_t size);

#endif
