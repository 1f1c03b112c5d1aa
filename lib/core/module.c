// SPDX-License-Identifier: BSD-3-Clause
// Loading modules. See module.h.
#include "module.h"

#include "compiler.h"
#include "log.h"

#include <dlfcn.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

// UCX looks when it is loaded whether it shall handle signals, patch the functions that map memory
// and write its lines to standard output, all of which are the program's; and which lines: none but
// its last ones, as what went wrong is told here. It finds the answers behind the program's own
// environment, which stays as it is: other threads may be reading it.
static void *load(const char *path)
{
    static char *const answers[] = {"UCX_HANDLE_ERRORS=none", "UCX_MEM_EVENTS=n",
                                    "UCX_LOG_FILE=stderr", "UCX_LOG_LEVEL=fatal"};
    size_t added = ARRAY_LEN(answers) - log_enabled(LOG_DEBUG, LOG_BOOT); // then its errors too
    static char **wider; // the last one, until the next: somebody may still be reading it
    char **before = environ;
    size_t n = 0;
    while (before && before[n])
        n++;
    free(wider);
    wider = malloc((n + added + 1) * sizeof *wider);
    if (!wider)
        return NULL;
    if (n)
        memcpy(wider, before, n * sizeof *wider);
    memcpy(wider + n, answers, added * sizeof *wider);
    wider[n + added] = NULL;
    environ = wider;
    void *module = dlopen(path, RTLD_NOW | RTLD_LOCAL);
    environ = before;
    return module;
}

// Beside the library, or beside the program that it is part of: there in ../lib.
static void *open_beside(const char *name)
{
    static const char *const ways[] = {"%.*s/libshoal-%s.so", "%.*s/../lib/libshoal-%s.so"};
    Dl_info self;
    char path[PATH_MAX];
    void *module = NULL;
    if (!dladdr((void *)&module_symbol, &self) || !self.dli_fname)
        return NULL;
    const char *slash = strrchr(self.dli_fname, '/');
    for (size_t i = 0; slash && i < ARRAY_LEN(ways) && !module; i++) {
        snprintf(path, sizeof path, ways[i], (int)(slash - self.dli_fname), self.dli_fname, name);
        module = load(path);
    }
    return module;
}

static const char *reason(void)
{
    const char *why = dlerror();
    return why ? why : "no memory";
}

void *module_open(const char *name, const char **why)
{
    char file[64];
    snprintf(file, sizeof file, "libshoal-%s.so", name);
    void *module = open_beside(name);
    if (!module && !(module = load(file)))
        *why = reason();
    return module;
}

void *module_symbol(const char *name, const char *symbol, bool wanted)
{
    const char *why = NULL;
    void *module = module_open(name, &why), *found = module ? dlsym(module, symbol) : NULL;
    if (!found)
        log_line(wanted ? LOG_ERROR : LOG_DEBUG, LOG_BOOT, "module %s: %s", name,
                 why ? why : reason());
    return found;
}

const struct transport *module_transport(const char *name, bool wanted)
{
    char symbol[64];
    snprintf(symbol, sizeof symbol, "shoal_transport_%s", name);
    return module_symbol(name, symbol, wanted);
}
