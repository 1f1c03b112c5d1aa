// SPDX-License-Identifier: BSD-3-Clause
// See job.h.
#include "job.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

void job_log(const struct transport_job *job, const char *who, enum log_level level,
             const char *fmt, ...)
{
    char line[256];
    int n = snprintf(line, sizeof line, "%s: ", who);
    va_list args;
    va_start(args, fmt);
    vsnprintf(line + n, sizeof line - (size_t)n, fmt, args);
    va_end(args);
    if (job->log)
        job->log(level, line);
}

uint64_t job_seal(const void *bytes, size_t n)
{
    uint64_t h = n, word;
    for (size_t i = 0; i + 8 < n; i += 8) {
        memcpy(&word, (const char *)bytes + i, 8);
        h = (h ^ word) * UINT64_C(0x9E3779B97F4A7C15);
        h ^= h >> 29;
    }
    return h;
}

int job_import_add(struct job_imports *imports, int pe, void *what)
{
    int i = 0;
    while (i < imports->count && imports->entry[i].pe >= 0)
        i++;
    if (i == imports->count) {
        int more = i ? i * 2 : 8;
        struct job_import *entry = realloc(imports->entry, (size_t)more * sizeof *entry);
        if (!entry)
            return -1;
        for (int k = i; k < more; k++)
            entry[k] = (struct job_import){.pe = -1};
        imports->entry = entry;
        imports->count = more;
    }
    imports->entry[i] = (struct job_import){pe, what};
    return TRANSPORT_REGIONS_FIXED + i;
}

void *job_import_find(const struct job_imports *imports, struct transport_remote at)
{
    int i = at.region - TRANSPORT_REGIONS_FIXED;
    return i >= 0 && i < imports->count && imports->entry[i].pe == at.pe ? imports->entry[i].what
                                                                         : NULL;
}

void *job_import_remove(struct job_imports *imports, int region)
{
    int i = region - TRANSPORT_REGIONS_FIXED;
    if (i < 0 || i >= imports->count || imports->entry[i].pe < 0)
        return NULL;
    void *what = imports->entry[i].what;
    imports->entry[i] = (struct job_import){.pe = -1};
    return what;
}
