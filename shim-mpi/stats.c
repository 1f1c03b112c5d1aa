// SPDX-License-Identifier: BSD-3-Clause
// See stats.h.
#include "stats.h"

#include "settings.h"

#include <stdio.h>

_Atomic uint64_t stats[STATS_WORDS];

void stats_unexpected(int change)
{
    stats_add(STATS_UNEXPECTED_NOW, (uint64_t)(int64_t)change);
    uint64_t now = stats_get(STATS_UNEXPECTED_NOW), most = stats_get(STATS_UNEXPECTED_MOST);
    while (now > most &&
           !atomic_compare_exchange_weak_explicit(&stats[STATS_UNEXPECTED_MOST], &most, now,
                                                  memory_order_relaxed, memory_order_relaxed))
        ;
}

void stats_print(void)
{
    static const char *const names[] = {
#define X(word, name, class, meaning) name,
        STATS(X)
#undef X
    };
    char line[1024];
    int n = snprintf(line, sizeof line, "shoal: rank %d:", shim_pe());
    if (!shim_settings.stats)
        return;
    for (int i = 0; i < STATS_WORDS; i++)
        if (stats_get((enum stats_word)i))
            n += snprintf(line + n, sizeof line - (size_t)n, " %s %llu", names[i],
                          (unsigned long long)stats_get((enum stats_word)i));
    fprintf(stderr, "%s\n", line);
}
