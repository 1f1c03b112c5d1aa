// SPDX-License-Identifier: BSD-3-Clause
// For debuggers: the names by which they find the PEs, as "The MPIR Process Acquisition Interface" (MPI
// Forum, version 1.0) has them. One that starts oshrun sets MPIR_being_debugged before main; at
// MPIR_Breakpoint the table is filled, and PEs that have joined the job wait in front of main until it
// returns (job.h). One that comes later finds the table. None has to attach to all PEs, or to let them go.
#include "launch.h"

#include "log.h"
#include "pattern.h"

#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

typedef struct {
    char *host_name;
    char *executable_name;
    int pid;
} MPIR_PROCDESC;

enum { MPIR_NULL, MPIR_DEBUG_SPAWNED, MPIR_DEBUG_ABORTING };

// A debugger reads these, and writes the first. They are volatile by the interface.
extern volatile int MPIR_being_debugged, MPIR_debug_state;
extern MPIR_PROCDESC *MPIR_proctable;
extern int MPIR_proctable_size;
extern char *MPIR_debug_abort_string;
extern int MPIR_i_am_starter, MPIR_partial_attach_ok; // that they are there says it
void MPIR_Breakpoint(void);

volatile int MPIR_being_debugged, MPIR_debug_state = MPIR_NULL;
MPIR_PROCDESC *MPIR_proctable;
int MPIR_proctable_size;
char *MPIR_debug_abort_string;
int MPIR_i_am_starter, MPIR_partial_attach_ok;

__attribute__((noinline)) void MPIR_Breakpoint(void)
{
    __asm__ volatile("" ::: "memory"); // a call that is not left out
}

bool mpir_is_debugged(void)
{
    return MPIR_being_debugged;
}

// What the process runs, which may be a script's interpreter.
static char *executable_of(pid_t pid, const char *program)
{
    char link[64], path[PATH_MAX];
    snprintf(link, sizeof link, "/proc/%d/exe", (int)pid);
    ssize_t n = readlink(link, path, sizeof path);
    return n > 0 && n < PATH_MAX ? strndup(path, (size_t)n) : strdup(program);
}

void mpir_spawned(struct launch *l)
{
    char *host = strdup(pattern_host());
    MPIR_PROCDESC *table = calloc((size_t)l->npes, sizeof *table);
    if (!host || !table)
        fatal("no memory for a table of %d PEs", l->npes);
    for (int block = 0, pe = 0; block < l->opt->blocks; block++) {
        char *executable = executable_of(l->pes[pe].pid, l->opt->block[block].program[0]);
        for (int end = pe + l->opt->block[block].npes; pe < end; pe++)
            table[pe] = (MPIR_PROCDESC){host, executable, l->pes[pe].pid};
    }
    MPIR_proctable = table;
    MPIR_proctable_size = l->npes;
    MPIR_debug_state = MPIR_DEBUG_SPAWNED;
    if (MPIR_being_debugged)
        MPIR_Breakpoint();
}

void mpir_aborting(char *line)
{
    if (!MPIR_being_debugged)
        return;
    MPIR_debug_abort_string = line;
    MPIR_debug_state = MPIR_DEBUG_ABORTING;
    MPIR_Breakpoint();
}
