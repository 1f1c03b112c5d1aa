// SPDX-License-Identifier: BSD-3-Clause
// PES: none
// elapsed KEY REPEATS COPIES COMMAND...: the median time, in ms, from starting COPIES of COMMAND
// at once to the end of the last; a start is one event, of which nobody gets the fastest only.
// Their output goes nowhere; it is an error when one of them fails.
#include "bench.h"

#include <fcntl.h>
#include <spawn.h>
#include <sys/wait.h>

extern char **environ;

static double run_once(int copies, char **command)
{
    posix_spawn_file_actions_t to_nowhere;
    posix_spawn_file_actions_init(&to_nowhere);
    for (int fd = 0; fd < 3; fd++)
        posix_spawn_file_actions_addopen(&to_nowhere, fd, "/dev/null", O_RDWR, 0);
    double start = now_ns();
    for (int i = 0; i < copies; i++) {
        pid_t pid;
        if (posix_spawnp(&pid, command[0], &to_nowhere, NULL, command, environ)) {
            perror(command[0]);
            exit(1);
        }
    }
    int status, failed = 0;
    while (wait(&status) > 0)
        failed += status != 0;
    if (failed) {
        fprintf(stderr, "elapsed: %s failed\n", command[0]);
        exit(1);
    }
    posix_spawn_file_actions_destroy(&to_nowhere);
    return (now_ns() - start) / 1e6;
}

int main(int argc, char **argv)
{
    if (argc < 5) {
        fprintf(stderr, "usage: elapsed KEY REPEATS COPIES COMMAND...\n");
        return 2;
    }
    int repeats = atoi(argv[2]), copies = atoi(argv[3]);
    double *ms = calloc((size_t)repeats + 1, sizeof *ms);
    for (int i = 0; i < repeats; i++)
        ms[i] = run_once(copies, argv + 4);
    qsort(ms, (size_t)repeats, sizeof *ms, ascending);
    figure(argv[1], -1, ms[repeats / 2], "ms");
    free(ms);
    return 0;
}
