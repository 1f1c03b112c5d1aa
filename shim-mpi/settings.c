// SPDX-License-Identifier: BSD-3-Clause
// See settings.h.
#include "settings.h"

#include <pthread.h>
#include <stdlib.h>
#include <string.h>

#define X(field, env, def, meaning) .field = (def),
struct shim_settings shim_settings = {SHIM_SETTINGS(X)};
#undef X
bool shim_window_is_set;

// A number with k, m, g or t behind it; what is none leaves the default (the runtime complains).
static void read_size(const char *name, uint64_t *value)
{
    static const char units[] = "kmgt";
    const char *text = getenv(name);
    char *end;
    double n = text ? strtod(text, &end) : -1;
    if (!text || end == text || n < 0)
        return;
    const char *unit = *end ? strchr(units, *end | 0x20) : NULL;
    for (int i = unit ? (int)(unit - units) + 1 : 0; i > 0; i--)
        n *= 1024;
    *value = n < 0x1p62 ? (uint64_t)n : UINT64_C(1) << 62;
}

static void read_all(void)
{
#define X(field, env, def, meaning) read_size(env, &shim_settings.field);
    SHIM_SETTINGS(X)
#undef X
    shim_window_is_set = getenv("SHOAL_MPI_WINDOW") != NULL;
    if (shim_settings.stream)
        shim_settings.stage = shim_settings.hint = 0;
}

void shim_settings_read(void)
{
    static pthread_once_t once = PTHREAD_ONCE_INIT;
    pthread_once(&once, read_all);
}
