// SPDX-License-Identifier: BSD-3-Clause
// Exchanges of short parts. See exchange.h.
#include "exchange.h"

#include <string.h>

void exchange_enter(struct shoal_team *team)
{
    team->exchanges++;
}

static void wait_for_seq(_Atomic uint64_t *word, uint64_t seq, struct bell *bell)
{
    struct waiter w = waiter_start(bell);
    while (atomic_load_explicit(word, memory_order_acquire) < seq)
        waiter_step(&w);
}

static void wait_until_left(struct shoal_team *team, uint64_t seq)
{
    for (int i = 0; i < team->set.size; i++) {
        struct team_area *area = team_area_at(team, i);
        if (i != team->me)
            wait_for_seq(&area->leave.seq, seq, &area->bell);
    }
    team->all_left = seq;
}

void exchange_publish(struct shoal_team *team, const void *part, size_t n)
{
    uint64_t seq = team->exchanges;
    struct team_area *own = team_area_at(team, team->me);
    struct team_line *line = &own->publish[seq & 1];
    if (seq > 2 && team->all_left < seq - 2)
        wait_until_left(team, seq - 2);
    if (n) // or part may be NULL
        memcpy(n <= LINE_BYTES ? line->bytes : own->slot[seq & 1], part, n);
    // Pairs with the acquire load in exchange_read: the part comes before.
    atomic_store_explicit(&line->seq, seq, memory_order_release);
    bell_check(&own->bell);
}

const void *exchange_read(struct shoal_team *team, int i, size_t n)
{
    struct team_area *area = team_area_at(team, i);
    struct team_line *line = &area->publish[team->exchanges & 1];
    wait_for_seq(&line->seq, team->exchanges, &area->bell);
    return n <= LINE_BYTES ? line->bytes : area->slot[team->exchanges & 1];
}

void exchange_leave(struct shoal_team *team, bool read_all)
{
    struct team_area *own = team_area_at(team, team->me);
    // Pairs with the acquire load in wait_until_left: what was read is no longer needed.
    atomic_store_explicit(&own->leave.seq, team->exchanges, memory_order_release);
    bell_check(&own->bell);
    if (read_all && team->all_left < team->exchanges - 1)
        team->all_left = team->exchanges - 1;
}
