// SPDX-License-Identifier: BSD-3-Clause
// Where the PEs are and how each of them has ended, for those who ask. See launch.h.
#include "launch.h"

#include "log.h"
#include "pattern.h"
#include "verdict.h"

#include <stdio.h>
#include <stdlib.h>

void report_host(const char *host, const int *host_of, int index, int npes)
{
    const char *before = "";
    printf("(%s:", host);
    for (int pe = 0; pe < npes; pe++) {
        if (host_of && host_of[pe] != index)
            continue;
        printf("%s%d", before, pe);
        before = ",";
    }
    printf(")\n");
}

void report_places(const struct launch *l)
{
    report_host(pattern_host(), NULL, 0, l->npes);
    fflush(stdout);
}

static int status_of(const struct pe *pe)
{
    return pe->status ? verdict_status(&(struct death){.status = pe->status}) : 0;
}

void report_ends(struct launch *l)
{
    char *line = NULL;
    size_t size;
    FILE *f = open_memstream(&line, &size);
    if (!f)
        fatal("no memory for the exit codes of %d PEs", l->npes);
    fputs("oshrun: exit codes:", f);
    for (int first = 0, next; first < l->npes; first = next) {
        for (next = first + 1;
             next < l->npes && l->pes[next].pid && l->pes[next].status == l->pes[first].status;)
            next++;
        if (!l->pes[first].pid)
            break; // the last ones were not started
        fprintf(f, first + 1 == next ? "%s PE %d" : "%s PEs %d to %d", first ? "," : "", first,
                next - 1);
        fprintf(f, ": %d", status_of(&l->pes[first]));
    }
    fclose(f);
    forward_say(&l->out, line);
    free(line);
}
