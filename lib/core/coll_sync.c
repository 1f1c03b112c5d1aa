// SPDX-License-Identifier: BSD-3-Clause
// Groups, and how they synchronize: dissemination when every PE has a core (log2 P rounds, one
// store and one line moved in each), a central counter when they share cores (each PE has to run
// only once), the user's pSync for active sets.
#include "coll.h"

#include "coll_message.h"
#include "coll_nodes.h"
#include "remote.h"

struct group group_of_team(struct shoal_team *team)
{
    return (struct group){.team = team, .set = team->set, .me = team->me, .spans = team->spans};
}

struct group group_of_active_set(int start, int stride, int size, long *psync)
{
    struct pe_set set = {start, stride, size};
    if (start == 0 && stride == 1 && size == world.npes)
        return group_of_team(&shoal_team_world);
    return (struct group){.set = set, .me = set_find(&set, world.me), .psync = psync,
                          .spans = !set_is_here(&set)};
}

// Among `count` members, of which this is number `me`; local: their numbers in the team, NULL: all
// are of this node, and the numbers are the same.
static void disseminate(struct shoal_team *team, uint64_t seq, int me, int count, const int *local)
{
    struct team_area *own = team_area_at(team, team->me);
    for (int round = 0, distance = 1; distance < count; round++, distance *= 2) {
        int partner = me + distance;
        partner -= partner >= count ? count : 0;
        struct team_area *theirs = team_area_at(team, local ? local[partner] : partner);
        // Pairs with the partner's acquire load below.
        atomic_store_explicit(&theirs->flag[round].seq, seq, memory_order_release);
        bell_check(&theirs->flag_bell);
        struct waiter w = waiter_start(&own->flag_bell);
        while (atomic_load_explicit(&own->flag[round].seq, memory_order_acquire) < seq)
            waiter_step(&w);
    }
}

static void sync_dissemination(struct shoal_team *team)
{
    disseminate(team, ++team->syncs, team->me, team->set.size, NULL);
}

static void wait_until_open(struct team_area *first, uint64_t seq)
{
    struct waiter w = waiter_start(&first->bell);
    w.is_for_near = true;
    // Pairs with the release store of who opens.
    while (atomic_load_explicit(&first->opened, memory_order_acquire) < seq)
        waiter_step(&w);
}

static void open_all(struct team_area *first, uint64_t seq)
{
    atomic_store_explicit(&first->opened, seq, memory_order_release);
    bell_check(&first->bell);
}

static void sync_central(struct shoal_team *team)
{
    uint64_t seq = ++team->syncs;
    struct team_area *first = team_area_at(team, 0);
    // acq_rel: the last to arrive has seen what all the others wrote before they arrived.
    uint64_t arrived = 1 + atomic_fetch_add_explicit(&first->arrived, 1, memory_order_acq_rel);
    if (arrived == seq * (uint64_t)team->set.size)
        open_all(first, seq);
    else
        wait_until_open(first, seq);
}

// Dissemination between the leaders: one message each way for a pair and round.
static void meet_leaders(struct shoal_team *team, uint64_t seq)
{
    const struct coll_nodes *n = team->nodes;
    struct coll_head head = {.area = team->area, .kind = COLL_SYNC, .seq = seq};
    for (int distance = 1; distance < n->count; distance *= 2) {
        int to = (n->mine + distance) % n->count, from = (n->mine - distance + n->count) % n->count;
        coll_message_send(set_pe(&team->set, n->leader[to]), &head, NULL);
        coll_message_wait(set_pe(&team->set, n->leader[from]), &head);
    }
}

// Over nodes: the members of a node arrive at their leader, the leaders meet, and open. What was sent
// to other nodes before is not complete there: who means that calls remote_flush first.
static void sync_spanning(struct shoal_team *team)
{
    const struct coll_nodes *n = team->nodes;
    uint64_t seq = ++team->syncs, all = seq * (uint64_t)n->locals;
    struct team_area *first = team_area_at(team, n->local[0]);
    uint64_t arrived = 1 + atomic_fetch_add_explicit(&first->arrived, 1, memory_order_acq_rel);
    if (team->me != n->local[0]) {
        if (arrived == all)
            bell_check(&first->flag_bell);
        wait_until_open(first, seq);
        return;
    }
    struct waiter w = waiter_start(&first->flag_bell);
    w.is_for_near = true;
    while (atomic_load_explicit(&first->arrived, memory_order_acquire) < all)
        waiter_step(&w);
    meet_leaders(team, seq);
    open_all(first, seq);
}

static _Atomic long *own_word(const struct group *g, int word)
{
    return (_Atomic long *)(g->psync + word);
}

// To word `word` of a member.
static void psync_add(const struct group *g, int member, int word)
{
    int pe = set_pe(&g->set, member);
    if (g->spans) {
        remote_add(pe, g->psync + word, 1);
        return;
    }
    atomic_fetch_add_explicit((_Atomic long *)shared_at(g->psync + word, pe), 1,
                              memory_order_acq_rel);
    peer_wake(pe);
}

static void psync_wait(_Atomic long *word, long value)
{
    struct waiter w = waiter_start(&world_ctl(world.me)->bell);
    while (atomic_load_explicit(word, memory_order_acquire) != value)
        waiter_step(&w);
    atomic_store_explicit(word, 0, memory_order_relaxed); // as the user must find it
}

// Word 0 of the first member counts arrivals, word 1 of the others is their release.
static void sync_psync(const struct group *g)
{
    if (g->spans)
        remote_flush();
    if (g->me != 0) {
        psync_add(g, 0, 0);
        psync_wait(own_word(g, 1), 1);
        return;
    }
    psync_wait(own_word(g, 0), g->set.size - 1);
    for (int i = 1; i < g->set.size; i++) {
        psync_add(g, i, 1);
    }
}

void coll_sync_team(struct shoal_team *team)
{
    if (unlikely(team->spans))
        sync_spanning(team);
    else if (world.crowded)
        sync_central(team);
    else
        sync_dissemination(team);
}

// The last synchronization of a team: in the central one others may still be reading the first
// member's area when that member goes on, in this one each waits for its own area alone.
void coll_part_team(struct shoal_team *team)
{
    if (!team->spans) {
        sync_dissemination(team);
        return;
    }
    const struct coll_nodes *n = team->nodes;
    remote_flush();
    sync_spanning(team);
    disseminate(team, team->syncs, n->my_local, n->locals, n->local);
}

void coll_barrier_world(void)
{
    if (unlikely(!world_is_direct()))
        remote_flush();
    coll_sync_world();
}

void coll_sync_world(void)
{
    coll_sync_team(&shoal_team_world);
}

void coll_sync(const struct group *g)
{
    if (g->team)
        coll_sync_team(g->team);
    else if (g->set.size > 1)
        sync_psync(g);
}
