// SPDX-License-Identifier: BSD-3-Clause
// Loading modules. See module.h.
#include "module.h"

#include "compiler.h"
#include "log.h"

#include <dlfcn.h>
#include <limits.h>
#include <stdio.h>
#include <string.h>

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
        module = dlopen(path, RTLD_NOW | RTLD_LOCAL);
    }
    return module;
}

void *module_symbol(const char *name, const char *symbol, bool wanted)
{
    char file[64];
    snprintf(file, sizeof file, "libshoal-%s.so", name);
    void *module = open_beside(name);
    if (!module)
        module = dlopen(file, RTLD_NOW | RTLD_LOCAL);
    void *found = module ? dlsym(module, symbol) : NULL;
    if (!found)
        log_line(wanted ? LOG_ERROR : LOG_DEBUG, LOG_BOOT, "module %s: %s", name, dlerror());
    return found;
}

const struct transport *module_transport(const char *name, bool wanted)
{
    char symbol[64];
    snprintf(symbol, sizeof symbol, "shoal_transport_%s", name);
    return module_symbol(name, symbol, wanted);
}
