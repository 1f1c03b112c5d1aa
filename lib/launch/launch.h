// SPDX-License-Identifier: BSD-3-Clause
// A job as the launcher sees it, and what its parts offer each other.
//
//     options.c, option_table.c, config_file.c   the command line
//     programs.c  where the programs are, and which one a PE runs
//     oshrun.c   main: options, the job's memory, start, watch, exit status
//     spawn.c    one process per PE; environment.c  what variables it has
//     forward.c  the PEs' output, by whole lines; pattern.c  names of its files
//     input.c    the PEs' input
//     watch.c    the loop: output, signals, deaths, deadlines
//     mpir.c     what debuggers look for
//     verdict.c  what a death means, in words
//     report.c   where PEs are and how they end, if asked
//     sweep.c    processes that PEs left behind
//     hosts.c, handover.c, launchers.c, command.c, attend.c
//                a job on several hosts: another launcher's (handover.h)
#ifndef SHOAL_LAUNCH_LAUNCH_H
#define SHOAL_LAUNCH_LAUNCH_H

#include "forward.h"
#include "job.h"
#include "options.h"

#include <signal.h>
#include <stdbool.h>
#include <stdint.h>
#include <sys/resource.h>
#include <sys/types.h>

enum {
    STATUS_OWN = 1,
    STATUS_USAGE = 2,
    STATUS_TIMEOUT = 124,
    STATUS_NOT_EXECUTABLE = 126,
    STATUS_NOT_FOUND = 127,
    STATUS_SIGNAL = 128
};

struct pe {
    pid_t pid; // 0: not started
    bool alive;
    int status; // of waitpid, when it has ended
};

struct launch {
    const struct options *opt;
    int npes;
    int alive;
    int job_fd;
    struct job *job;
    struct pe *pes;
    struct forward out;
    int signal_fd;
    int input_fd;     // what PEs read that do not read our stdin
    cpu_set_t *cores; // per PE, NULL: not bound

    // As found, to be given to the PEs.
    sigset_t mask;
    struct sigaction on_pipe;
    struct rlimit files;

    // How it ends.
    bool ending;        // PEs were killed: more deaths mean nothing
    bool status_final;  // the first cause is known: nothing changes status or line
    int status;         // of the job
    char line[1024];    // the one line about it, "" for none
    int killed;         // PEs alive when the others were ended
    int user_signal;    // INT or TERM that came, 0: none
    sigset_t passed_on; // all signals that were
    int absent;         // a PE that left without shmem_init, -1: none
    uint64_t timeout_at, kill_at, look_at, patience_at; // deadlines, ns; 0: none
};

// spawn.c. Starts all PEs. When it cannot, the job is ended with a line, as for a death.
void spawn_all(struct launch *l);

// input.c. Makes what PEs read; 0, or -1 after one line.
int input_open(struct launch *l);
int input_of(const struct launch *l,
             int pe);   // the PE's stdin: STDIN_FILENO, or to be closed; -1 with errno
void input_close(void); // our stdin is empty from now on

// report.c. A line on stdout for a host: which PEs are there, those for which host_of says index, or all.
void report_host(const char *host, const int *host_of, int index, int npes);
void report_places(const struct launch *l);
void report_ends(struct launch *l); // exit codes, a line on stderr

// mpir.c. Was the launcher started by a debugger?
bool mpir_is_debugged(void);
void mpir_spawned(struct launch *l); // all PEs are there: tells it where
void mpir_aborting(char *line);      // why the PEs are about to be ended

// watch.c. Blocks the signals it will read; 0, or -1 after one line.
int watch_open(struct launch *l);
bool watch_is_ignored(int sig); // from the start
// Until no PE is left and, when all is well, no other process that holds their output.
void watch_run(struct launch *l);
void watch_output(struct launch *l); // ends the job if its output cannot be written
// The first cause counts. line may be "". PEs left are killed now, or in wait_ms.
void watch_end(struct launch *l, int status, unsigned wait_ms, const char *line);

// sweep.c. Spares the children there are now, and kills all other descendants; call it when no PE is left.
void sweep_spare_children(void);
void sweep_descendants(void);

#endif
