// SPDX-License-Identifier: BSD-3-Clause
// The PEs' environment. See environment.h.
#include "environment.h"

#include "compiler.h"
#include "log.h"

#include <stdlib.h>
#include <string.h>

extern char **environ;

bool environment_is_ours(const char *entry)
{
    static const char *const prefix[] = {"SHOAL_", "SHMEM_", "SMA_", "LD_LIBRARY_PATH="};
    for (size_t i = 0; i < ARRAY_LEN(prefix); i++)
        if (strncmp(entry, prefix[i], strlen(prefix[i])) == 0)
            return true;
    return false;
}

bool environment_is_named(const struct options *opt, const char *entry)
{
    size_t name = strcspn(entry, "=");
    for (int i = 0; i < opt->nvars; i++)
        if (strcspn(opt->vars[i], "=") == name && strncmp(opt->vars[i], entry, name) == 0)
            return true;
    return false;
}

// Does one of the entries give the variable a value that this one does?
static bool has_variable(char **env, size_t n, const char *entry)
{
    size_t name = strcspn(entry, "=") + 1;
    for (size_t i = 0; i < n; i++)
        if (strncmp(env[i], entry, name) == 0)
            return true;
    return false;
}

char **environment_of(const struct options *opt, const struct block *block)
{
    size_t room = (size_t)block->nvars + 1, n = 0;
    for (char **entry = environ; *entry; entry++)
        room++;
    char **env = malloc(room * sizeof *env);
    if (!env)
        fatal("no memory for the environment of %s", block->program[0]);
    for (int i = block->nvars - 1; i >= 0; i--)
        if (!has_variable(env, n, block->vars[i]))
            env[n++] = block->vars[i];
    size_t own = n;
    for (char **entry = environ; *entry; entry++) {
        bool is_passed = !block->bare || environment_is_ours(*entry) ||
                         environment_is_named(opt, *entry);
        if (is_passed && !has_variable(env, own, *entry))
            env[n++] = *entry;
    }
    env[n] = NULL;
    return env;
}
