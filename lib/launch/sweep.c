// SPDX-License-Identifier: BSD-3-Clause
// What PEs left behind: the launcher is a subreaper, so an orphan of a dead PE becomes its child. Those
// that it had before, as a shell has that becomes the launcher by exec, are nobody's business.
#include "launch.h"

#include <stdio.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

static pid_t *before;
static int nbefore;

// The list that the kernel keeps; NULL where it has none.
static FILE *open_children(void)
{
    char path[64];
    snprintf(path, sizeof path, "/proc/self/task/%d/children", (int)getpid());
    return fopen(path, "re");
}

void sweep_spare_children(void)
{
    FILE *f = open_children();
    int pid;
    while (f && fscanf(f, "%d", &pid) == 1) {
        pid_t *more = realloc(before, ((size_t)nbefore + 1) * sizeof *more);
        if (!more)
            break;
        before = more;
        before[nbefore++] = pid;
    }
    if (f)
        fclose(f);
}

static bool is_spared(pid_t pid)
{
    for (int i = 0; i < nbefore; i++)
        if (before[i] == pid)
            return true;
    return false;
}

// Returns how many there were.
static int kill_children(void)
{
    FILE *f = open_children();
    if (!f)
        return 0;
    int n = 0, pid;
    while (fscanf(f, "%d", &pid) == 1) {
        if (is_spared(pid))
            continue;
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
