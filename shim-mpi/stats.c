// SPDX-License-Identifier: BSD-3-Clause
// See stats.h.
#include "stats.h"

#include "settings.h"

#include <shoal.h>

#include <stdio.h>

struct stats_part stats[SHIM_PARTS];

// What the runtime counts, its own messages included; when it has gone, as at its end.
static struct asked {
    enum stats_word word;
    int query;
    _Atomic uint64_t last;
} asked[] = {{STATS_INBOX, SHOAL_Q_SENT_INBOX, 0},
             {STATS_RING, SHOAL_Q_SENT_RING, 0},
             {STATS_FAR, SHOAL_Q_SENT_FAR, 0}};

static uint64_t ask(struct asked *a)
{
    uint64_t value;
    if (shoal_query(a->query, 0, &value) == SHOAL_OK)
        atomic_store_explicit(&a->last, value, memory_order_relaxed);
    return atomic_load_explicit(&a->last, memory_order_relaxed);
}

void stats_keep(void)
{
    for (size_t i = 0; i < ARRAY_LEN(asked); i++)
        ask(&asked[i]);
}

uint64_t stats_get(enum stats_word word)
{
    uint64_t sum = 0;
    for (size_t i = 0; i < ARRAY_LEN(asked); i++)
        if (word == asked[i].word)
            return ask(&asked[i]);
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
