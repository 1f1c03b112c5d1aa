// SPDX-License-Identifier: BSD-3-Clause
// Numbers of counters. See counter.h.
#include "counter.h"

#include "coll.h"
#include "remote.h"

#include <pthread.h>
#include <string.h>

// PIECE: words of the map that are one short exchange.
enum {
    MAP_WORDS = LIMIT_COUNTERS / 64,
    SLOT_WORDS = LIMIT_COLL_SLOT / sizeof(long),
    PIECE = SLOT_WORDS < MAP_WORDS ? SLOT_WORDS : MAP_WORDS
};
_Static_assert(PIECE > 0 && MAP_WORDS % PIECE == 0, "whole pieces");

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static unsigned long used[MAP_WORDS] = {1}; // number 0 is none

// Numbers that are free but for works that were handed to another PE and have not ended (trigger.h): who uses
// the number next would wait for that PE.
static unsigned long lingering[MAP_WORDS];
static int lingers;

static void look_at_lingering(void)
{
    for (shoal_ct_t ct = 1; lingers && ct < LIMIT_COUNTERS; ct++) {
        unsigned long bit = 1UL << (ct % 64);
        struct counter *c = counter_at(world.me, ct);
        // Pairs with the release where the last one ends.
        if (lingering[ct / 64] & bit && !atomic_load_explicit(&c->handed, memory_order_acquire)) {
            lingering[ct / 64] &= ~bit;
            used[ct / 64] &= ~bit;
            lingers--;
        }
    }
}

static shoal_ct_t lowest_free(const unsigned long *map)
{
    for (int word = 0; word < MAP_WORDS; word++)
        if (~map[word])
            return (shoal_ct_t)(word * 64 + __builtin_ctzl(~map[word]));
    return SHOAL_CT_NONE;
}

// What late peers still add to a number that is free would be seen by its next user, so a counter
// starts from zero only here.
static void start(shoal_ct_t ct)
{
    struct counter *c = counter_at(world.me, ct);
    used[ct / 64] |= 1UL << (ct % 64);
    atomic_store_explicit(&c->success, 0, memory_order_relaxed);
    atomic_store_explicit(&c->failure, 0, memory_order_relaxed);
    atomic_store_explicit(&c->next, UINT64_MAX, memory_order_relaxed);
    atomic_store_explicit(&c->users, 1, memory_order_release);
}

static shoal_ct_t alloc_own(void)
{
    pthread_mutex_lock(&lock);
    look_at_lingering();
    shoal_ct_t ct = lowest_free(used);
    if (ct)
        start(ct);
    pthread_mutex_unlock(&lock);
    return ct;
}

// Private counters that another thread takes meanwhile make the members try again.
static shoal_ct_t alloc_common(struct shoal_team *team)
{
    struct group g = group_of_team(team);
    for (;;) {
        unsigned long map[MAP_WORDS], taken = 0;
        pthread_mutex_lock(&lock);
        look_at_lingering();
        memcpy(map, used, sizeof map);
        pthread_mutex_unlock(&lock);
        for (int at = 0; at < MAP_WORDS; at += PIECE) // private memory: only short ones will do
            coll_reduce(&g, &reduce_or_ulong, map + at, map + at, PIECE);
        shoal_ct_t ct = lowest_free(map);
        if (!ct)
            return ct;
        pthread_mutex_lock(&lock);
        if (used[ct / 64] >> (ct % 64) & 1)
            taken = 1;
        else
            start(ct);
        pthread_mutex_unlock(&lock);
        unsigned long mine = !taken;
        coll_reduce(&g, &reduce_or_ulong, &taken, &taken, 1);
        if (!taken)
            return ct;
        if (mine)
            counter_free(NULL, ct);
    }
}

shoal_ct_t counter_alloc(struct shoal_team *team)
{
    return team ? alloc_common(team) : alloc_own();
}

void counter_free(struct shoal_team *team, shoal_ct_t ct)
{
    struct counter *c = counter_at(world.me, ct);
    if (team) { // nobody adds to it any more
        if (team->spans)
            remote_flush();
        coll_sync_team(team);
    }
    trigger_cancel_all(c);
    pthread_mutex_lock(&lock);
    atomic_store_explicit(&c->users, 0, memory_order_relaxed);
    if (atomic_load_explicit(&c->handed, memory_order_acquire)) {
        lingering[ct / 64] |= 1UL << (ct % 64);
        lingers++;
    } else {
        used[ct / 64] &= ~(1UL << (ct % 64));
    }
    pthread_mutex_unlock(&lock);
}

void counter_down(void)
{
    for (shoal_ct_t ct = 1; ct < LIMIT_COUNTERS; ct++)
        if ((used[ct / 64] & ~lingering[ct / 64]) >> (ct % 64) & 1)
            counter_free(NULL, ct);
}
