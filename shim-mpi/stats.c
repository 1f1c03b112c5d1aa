// SPDX-License-Identifier: BSD-3-Clause
// See stats.h.
#include "stats.h"

#include "settings.h"

#include <shoal.h>

#include <stdio.h>

struct stats_part stats[SHIM_PARTS];

// The runtime counts what is sent, its own messages included; when it has gone, as at its end.
static uint64_t ask(int what)
{
    static _Atomic uint64_t last[SHOAL_Q_COUNT_];
    uint64_t value;
    if (shoal_query(what, 0, &value) == SHOAL_OK)
        atomic_store_explicit(&last[what], value, memory_order_relaxed);
    return atomic_load_explicit(&last[what], memory_order_relaxed);
}

void stats_keep(void)
{
    ask(SHOAL_Q_SENT_INBOX);
    ask(SHOAL_Q_SENT_RING);
    ask(SHOAL_Q_SENT_FAR);
}

uint64_t stats_get(enum stats_word word)
{
    uint64_t sum = 0;
    if (word == STATS_INBOX || word == STATS_RING || word == STATS_FAR)
        return ask(word == STATS_INBOX  ? SHOAL_Q_SENT_INBOX
                   : word == STATS_RING ? SHOAL_Q_SENT_RING
                                        : SHOAL_Q_SENT_FAR);
    if (word == STATS_EAGER) // those alone that are not inline are counted there
        sum = stats_get(STATS_INLINE);
    for (int i = 0; i < SHIM_PARTS; i++)
        sum += atomic_load_explicit(&stats[i].word[word], memory_order_relaxed);
    return sum;
}

// A level: all in one part.
void stats_unexpected(int change)
{
    _Atomic uint64_t *word = stats[0].word;
    uint64_t was = atomic_fetch_add_explicit(&word[STATS_UNEXPECTED_NOW], (uint64_t)(int64_t)change,
                                             memory_order_relaxed);
    uint64_t now = was + (uint64_t)(int64_t)change;
    uint64_t most = atomic_load_explicit(&word[STATS_UNEXPECTED_MOST], memory_order_relaxed);
    while (now > most &&
           !atomic_compare_exchange_weak_explicit(&word[STATS_UNEXPECTED_MOST], &most, now,
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
