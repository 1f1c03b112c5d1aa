// SPDX-License-Identifier: BSD-3-Clause
// Cores and memory, as affinity and cgroups (v2) allow. See cpus.h.
#include "cpus.h"

#include "compiler.h"

#include <sched.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

// The first line of `file` in this process's cgroup, or in the root of the cgroup mount (which is
// what a container shows). Returns NULL when there is none.
static char *cgroup_line(const char *file, char *line, int size)
{
    char group[256] = "", path[512];
    FILE *f = fopen("/proc/self/cgroup", "re");
    if (f) {
        while (fgets(group, sizeof group, f) && strncmp(group, "0::", 3))
            group[0] = '\0';
        fclose(f);
        group[strcspn(group, "\n")] = '\0';
    }
    const char *const dirs[] = {group[0] ? group + 3 : "", ""};
    for (size_t i = 0; i < ARRAY_LEN(dirs); i++) {
        snprintf(path, sizeof path, "/sys/fs/cgroup%s/%s", dirs[i], file);
        f = fopen(path, "re");
        if (!f)
            continue;
        char *got = fgets(line, size, f);
        fclose(f);
        if (got)
            return got;
    }
    return NULL;
}

int cpus_usable(void)
{
    static int known;
    if (known)
        return known;
    cpu_set_t set;
    int n = sched_getaffinity(0, sizeof set, &set) ? (int)sysconf(_SC_NPROCESSORS_ONLN)
                                                   : CPU_COUNT(&set);
    char line[128];
    long quota, period;
    if (cgroup_line("cpu.max", line, sizeof line) &&
        sscanf(line, "%ld %ld", &quota, &period) == 2 && period > 0 && quota / period < n)
        n = (int)(quota / period);
    return known = n > 0 ? n : 1;
}

const char *cpus_list(char *text, size_t size)
{
    static const char name[] = "Cpus_allowed_list:\t";
    char line[4096] = "";
    FILE *f = fopen("/proc/self/status", "re");
    while (f && fgets(line, sizeof line, f) && strncmp(line, name, sizeof name - 1) != 0)
        line[0] = '\0';
    if (f)
        fclose(f);
    const char *list = line[0] ? line + sizeof name - 1 : "unknown";
    size_t length = strcspn(list, "\n");
    snprintf(text, size, "%.*s", (int)length, list);
    if (length >= size)
        memcpy(text + size - sizeof "...", "...", sizeof "...");
    return text;
}

size_t memory_usable(void)
{
    size_t bytes = (size_t)sysconf(_SC_PHYS_PAGES) * (size_t)sysconf(_SC_PAGESIZE);
    char line[128];
    size_t limit;
    if (cgroup_line("memory.max", line, sizeof line) && sscanf(line, "%zu", &limit) == 1 &&
        limit < bytes)
        bytes = limit;
    return bytes;
}

size_t page_size(void)
{
    return (size_t)sysconf(_SC_PAGESIZE);
}
