// SPDX-License-Identifier: BSD-3-Clause
// Symmetric static data: the main program's global and static variables.
#ifndef SHOAL_CORE_DATA_H
#define SHOAL_CORE_DATA_H

#include "job.h"

// Moves the main program's writable segment, from the page where its read-only relocations end to its
// end, into the job's file. Call it while the process has one thread, at best before main; those of
// data_quiet_threads do not count: they wait, and never touch the main program's variables. Fills
// world.data and the layout in ctl. Does nothing when the job has one PE or SHOAL_STATIC=0.
extern int data_quiet_threads;
void data_move(int fd, const struct job *job, struct pe_ctl *ctl, int me);

// Makes a place as it was before another process moved its data there, which is gone.
void data_forget(int fd, const struct job *job, struct pe_ctl *ctl, int pe);

// For a PE that starts alone, whose data stays where it is: marks forked children as no PEs.
void data_alone_forks(void);

// Maps every PE's static data. Returns 0, or -1 after one line, when the executables differ.
int data_map_peers(void);

#endif
