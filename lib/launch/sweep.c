// SPDX-License-Identifier: BSD-3-Clause
// What PEs left behind: the launcher is a subreaper, so an orphan of a dead PE becomes its child.
#include "launch.h"

#include <stdio.h>
#include <sys/wait.h>
#include <unistd.h>

// Kills the children listed by the kernel; returns how many there were.
static int kill_children(void)
{
    char path[64];
    snprintf(path, sizeof path, "/proc/self/task/%d/children", (int)getpid());
    FILE *f = fopen(path, "re");
    if (!f)
        return 0;
    int n = 0, pid;
    while (fscanf(f, "%d", &pid) == 1) {
        kill(pid, SIGKILL);
        n++;
    }
    fclose(f);
    return n;
}

// Each round may turn grandchildren into children. Bounded, for a child that cannot be reaped
// (another user's, or stuck in the kernel).
void sweep_descendants(void)
{
    for (int round = 0; round < 200; round++) {
        int n = kill_children();
        if (n == 0)
            return;
        while (waitpid(-1, NULL, WNOHANG) > 0)
            ;
        usleep(1000);
    }
}
