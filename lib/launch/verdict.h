// SPDX-License-Identifier: BSD-3-Clause
// What the end of a PE means for the job, and the words for it.
#ifndef SHOAL_LAUNCH_VERDICT_H
#define SHOAL_LAUNCH_VERDICT_H

#include "call.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

// A PE when it ended, or now: what its control block says, and the status of waitpid.
struct death {
    int pe;
    pid_t pid;
    int status;
    int state;     // enum pe_state
    uint64_t call; // CALL_WORD
    struct call_told told;
};

enum verdict {
    VERDICT_FINE,   // it was done
    VERDICT_ABSENT, // left with 0 and never joined: fatal once another PE joins
    VERDICT_LATE,   // failed after shmem_finalize: only the exit status counts
    VERDICT_FATAL,  // the job cannot go on
};

bool verdict_in_init(const struct death *d);
enum verdict verdict_of(const struct death *d);

// The exit status of a job that ends because of d; not 0.
int verdict_status(const struct death *d);

// "PE 2 (pid 4711) was killed by SIGSEGV (Segmentation fault) in shmem_barrier_all"
void verdict_describe(const struct death *d, char *text, size_t size);

// Where a living PE is: "in shmem_barrier_all", "past shmem_put to PE 1"
void verdict_place(const struct death *d, char *text, size_t size);

#endif
