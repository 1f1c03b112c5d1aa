// SPDX-License-Identifier: BSD-3-Clause
// Exchanges of short parts. See exchange.h.
#include "exchange.h"

#include <string.h>

void exchange_enter(struct shoal_team *team)
{
    team->exchanges++;
}

static struct team_line *line_of(struct team_area *area, uint64_t seq)
{
    return &area->publish[seq % EXCHANGE_LINES];
}

// What the word is then.
static uint64_t wait_for_seq(_Atomic uint64_t *word, uint64_t seq, struct bell *bell)
{
    struct waiter w = waiter_start(bell);
    uint64_t now;
    while ((now = atomic_load_explicit(word, memory_order_acquire)) < seq)
        waiter_step(&w);
    return now;
}

// Waits until all have left exchange seq, and looks how far they are.
static void wait_until_left(struct shoal_team *team, uint64_t seq)
{
    uint64_t least = UINT64_MAX;
    for (int i = 0; i < team->set.size; i++) {
        struct team_area *area = team_area_at(team, i);
        if (i == team->me)
            continue;
        uint64_t left = wait_for_seq(&area->leave.seq, seq, &area->bell);
        least = left < least ? left : least;
    }
    team->all_left = least;
}

// Before this member's part of exchange seq overwrites an older one. Who is ahead by all lines waits
// until half of them are free, so that it and the others seldom wait for each other.
static inline void wait_for_place(struct shoal_team *team, uint64_t seq, bool in_line)
{
    uint64_t most = in_line ? EXCHANGE_LINES : 2;
    if (seq <= most || team->all_left >= seq - most)
        return;
    if (in_line)
        wait_until_left(team, 0);
    if (team->all_left < seq - most)
        wait_until_left(team, seq - most / (in_line ? 2 : 1));
}

void exchange_publish(struct shoal_team *team, const void *part, size_t n)
{
    uint64_t seq = team->exchanges;
    struct team_area *own = team_area_at(team, team->me);
    struct team_line *line = line_of(own, seq);
    bool in_line = n <= LINE_BYTES;
    wait_for_place(team, seq, in_line);
    if (n) // or part may be NULL
        memcpy(in_line ? line->bytes : own->slot[seq & 1], part, n);
    // Pairs with the acquire load in exchange_read: the part comes before.
    atomic_store_explicit(&line->seq, seq, memory_order_release);
    bell_check(&own->bell);
}

const void *exchange_read(struct shoal_team *team, int i, size_t n)
{
    struct team_area *area = team_area_at(team, i);
    struct team_line *line = line_of(area, team->exchanges);
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
