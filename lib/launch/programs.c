// SPDX-License-Identifier: BSD-3-Clause
// The programs of a job. See programs.h.
#include "programs.h"

#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static bool is_program(const char *path)
{
    struct stat st;
    return stat(path, &st) == 0 && S_ISREG(st.st_mode) && access(path, X_OK) == 0;
}

// In which of a block's directories its program is, as a path for all hosts; NULL: in none.
static char *find_program(const struct block *block)
{
    char candidate[PATH_MAX];
    for (const char *dir = block->path, *end; dir; dir = *end ? end + 1 : NULL) {
        end = strchrnul(dir, ':');
        int len = (int)(end - dir);
        int n = snprintf(candidate, sizeof candidate, "%.*s%s%s", len, dir, len ? "/" : "",
                         block->program[0]);
        if (n < PATH_MAX && is_program(candidate))
            return realpath(candidate, NULL);
    }
    return NULL;
}

bool programs_find(struct options *opt)
{
    for (struct block *block = opt->block; block < opt->block + opt->blocks; block++) {
        if (!block->path || strchr(block->program[0], '/'))
            continue;
        char *found = find_program(block);
        if (!found) {
            snprintf(opt->error, sizeof opt->error, "cannot run %.60s: it is not in %.60s",
                     block->program[0], block->path);
            return false;
        }
        block->program[0] = found;
    }
    return true;
}

int programs_block_of(const struct options *opt, int pe)
{
    int i = 0;
    while (pe >= opt->block[i].npes)
        pe -= opt->block[i++].npes;
    return i;
}

bool programs_differ(const struct options *opt)
{
    for (int i = 1; i < opt->blocks; i++)
        if (strcmp(opt->block[i].program[0], opt->block[0].program[0]) != 0)
            return true;
    return false;
}

bool programs_include(const struct options *opt, const char *name)
{
    for (int i = 0; i < opt->blocks; i++) {
        const char *program = opt->block[i].program[0], *slash = strrchr(program, '/');
        if (strcmp(slash ? slash + 1 : program, name) == 0)
            return true;
    }
    return false;
}
