// SPDX-License-Identifier: BSD-3-Clause
// Exchanges of short parts. See exchange.h.
#include "exchange.h"

#include "copy.h"

void exchange_enter(struct shoal_team *team)
{
    team->exchanges++;
}

enum { AHEAD = 8 }; // lines, of those that come back to their owner before it needs them

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

// Before this member's part of exchange seq overwrites that of an older one. Who is as far ahead as
// there is room, by `most` parts, waits until half of it is free, so that it and the others seldom
// wait for each other.
static inline void wait_for_older(struct shoal_team *team, uint64_t seq, uint64_t older,
                                  uint64_t most)
{
    if (team->all_left >= older)
        return;
    wait_until_left(team, 0);
    if (team->all_left >= older)
        return;
    uint64_t half = most / 2 + 1;
    wait_until_left(team, seq > older + half ? seq - half : older);
}

// The places of a part of n bytes: so many in a row, a power of two.
struct places {
    size_t at, n;
};

static struct places places_of(uint64_t seq, size_t n)
{
    const size_t each = sizeof((struct team_area *)NULL)->place[0];
    struct places p = {.n = 1};
    while (p.n * each < n)
        p.n *= 2;
    p.at = seq * p.n % EXCHANGE_PLACES;
    return p;
}

// The last exchange whose part was in one of them.
static uint64_t last_in(const struct team_area *own, struct places p)
{
    uint64_t last = 0;
    for (size_t i = p.at; i < p.at + p.n; i++)
        last = own->used[i] > last ? own->used[i] : last;
    return last;
}

static void *claim_places(struct shoal_team *team, struct team_area *own, uint64_t seq, size_t n)
{
    struct places p = places_of(seq, n);
    uint64_t older = last_in(own, p);
    for (size_t i = p.at; i < p.at + p.n; i++)
        own->used[i] = seq;
    wait_for_older(team, seq, older, EXCHANGE_PLACES / p.n);
    return own->place[p.at];
}

static void *claim_line(struct shoal_team *team, struct team_line *line, uint64_t seq)
{
    wait_for_older(team, seq, seq > EXCHANGE_LINES ? seq - EXCHANGE_LINES : 0, EXCHANGE_LINES);
    return line->bytes;
}

// Who only gives is ahead of the others: a line to come, if it is known that all have read it.
static INLINE void prefetch_line(const struct shoal_team *team, struct team_area *own, uint64_t seq)
{
    if (seq <= team->all_left + EXCHANGE_LINES)
        prefetch_to_write(line_of(own, seq));
}

// The next part is likely to be as long: the lines it will be in come here while others read this one,
// if it is known that all have read what is there.
static INLINE void prefetch_next(const struct shoal_team *team, const struct team_area *own,
                                 uint64_t seq, size_t n)
{
    struct places p = places_of(seq + 1, n);
    if (last_in(own, p) <= team->all_left)
        prefetch_all_to_write(own->place[p.at], n);
}

void exchange_publish(struct shoal_team *team, const void *part, size_t n)
{
    uint64_t seq = team->exchanges;
    struct team_area *own = team_area_at(team, team->me);
    struct team_line *line = line_of(own, seq);
    // The line of a longer part keeps its bytes: those who read them wait for a number, which only grows.
    void *to = n <= LINE_BYTES ? claim_line(team, line, seq) : claim_places(team, own, seq, n);
    if (n) // or part may be NULL
        copy_bytes(to, part, n);
    // Pairs with the acquire load in exchange_read: the part comes before.
    atomic_store_explicit(&line->seq, seq, memory_order_release);
    bell_check(&own->bell);
    prefetch_line(team, own, seq + AHEAD);
    if (n > LINE_BYTES)
        prefetch_next(team, own, seq, n);
}

const void *exchange_read(struct shoal_team *team, int i, size_t n)
{
    struct team_area *area = team_area_at(team, i);
    struct team_line *line = line_of(area, team->exchanges);
    wait_for_seq(&line->seq, team->exchanges, &area->bell);
    return n <= LINE_BYTES ? line->bytes : area->place[places_of(team->exchanges, n).at];
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
