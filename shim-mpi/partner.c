// SPDX-License-Identifier: BSD-3-Clause
// Records of the other processes. See partner.h.
#include "partner.h"

#include "stats.h"
#include "transfer.h"

#include <stdlib.h>

enum { WINDOW_MOST = 1 << 30 };

struct partner *_Atomic *partners;
_Atomic uint32_t partners_out;

// Of what goes round: differences of counts are within it, and some. Where nobody says, few processes may send
// more to another node: what comes from there is long on its way, and so is the word that it has come.
static uint32_t window_of(const struct partner *p)
{
    enum { FEW = 64, TIMES = 4 };
    bool is_more = p->is_far && shim_npes() <= FEW && !shim_window_is_set;
    uint64_t window = shim_settings.window * (is_more ? TIMES : 1);
    return window < WINDOW_MOST ? (uint32_t)window : WINDOW_MOST;
}

static size_t chunks(void)
{
    return ((size_t)shim_npes() + PARTNERS_PER_CHUNK - 1) / PARTNERS_PER_CHUNK;
}

static void measure(struct partner *chunk, int first)
{
    for (int i = 0; i < PARTNERS_PER_CHUNK && first + i < shim_npes(); i++) {
        uint64_t max = 0, direct = 0, gathered = 0;
        shoal_query(SHOAL_Q_AM_MAX_TO, first + i, &max);
        shoal_query(SHOAL_Q_DIRECT, first + i, &direct);
        shoal_query(SHOAL_Q_GATHERED, first + i, &gathered);
        chunk[i].is_self = first + i == shim_pe();
        chunk[i].is_far = !direct;
        atomic_init(&chunk[i].sent, PARTNER_START);
        atomic_init(&chunk[i].most, PARTNER_START + window_of(&chunk[i]));
        atomic_init(&chunk[i].taken, PARTNER_START);
        atomic_init(&chunk[i].tell_at, PARTNER_START + window_of(&chunk[i]) / 4);
        chunk[i].admitted = chunk[i].gone = PARTNER_START;
        chunk[i].am_max = (uint32_t)max;
        chunk[i].gathered = (uint32_t)(gathered < max ? gathered : max);
        chunk[i].eager = (uint32_t)(shim_settings.eager < max ? shim_settings.eager : max);
    }
}

struct partner *partner_make(int pe)
{
    struct partner *_Atomic *at = &partners[pe / PARTNERS_PER_CHUNK];
    struct partner *chunk = NULL, *fresh = calloc(PARTNERS_PER_CHUNK, sizeof *fresh);
    if (!fresh)
        shim_fatal("no memory for partners");
    measure(fresh, pe / PARTNERS_PER_CHUNK * PARTNERS_PER_CHUNK);
    if (atomic_compare_exchange_strong(at, &chunk, fresh))
        chunk = fresh;
    else
        free(fresh);
    return &chunk[pe % PARTNERS_PER_CHUNK];
}

static void take_credit(struct partner *p, uint32_t taken)
{
    uint32_t most = taken + window_of(p), was = atomic_load_explicit(&p->most, memory_order_relaxed);
    // Two threads may tell theirs in either order.
    while ((int32_t)(most - was) > 0 &&
           !atomic_compare_exchange_weak_explicit(&p->most, &was, most, memory_order_relaxed,
                                                  memory_order_relaxed))
        ;
}

void partner_tell(int pe, struct partner *p, uint32_t taken)
{
    uint32_t at = atomic_load_explicit(&p->tell_at, memory_order_relaxed);
    if ((int32_t)(taken - at) <= 0 ||
        !atomic_compare_exchange_strong(&p->tell_at, &at, taken + window_of(p) / 4))
        return; // another thread does
    stats_count(CREDIT);
    if (p->is_self)
        take_credit(p, taken);
    else
        transfer_tell(pe, AM_CREDIT, taken, NULL, 0);
}

static void on_credit(const shoal_am_t *am)
{
    take_credit(partner_of(am->from), (uint32_t)am->arg);
}

static uint8_t reach_of(int pe)
{
    struct partner *p = partner_of(pe);
    uint8_t reach = atomic_load_explicit(&p->reach, memory_order_relaxed);
    if (likely(reach != REACH_UNKNOWN))
        return reach;
    uint64_t direct = 0, private = 0;
    shoal_query(SHOAL_Q_DIRECT, pe, &direct);
    shoal_query(SHOAL_Q_PRIVATE, pe, &private);
    reach = !direct ? REACH_FAR : private ? REACH_PRIVATE : REACH_DIRECT;
    atomic_store_explicit(&p->reach, reach, memory_order_relaxed);
    return reach;
}

bool partner_is_direct(int pe)
{
    return reach_of(pe) >= REACH_DIRECT;
}

bool partner_is_reached(int pe)
{
    return reach_of(pe) == REACH_PRIVATE;
}

bool partner_are_near(struct group *g)
{
    int known = atomic_load_explicit(&g->is_near, memory_order_relaxed), i = 0;
    if (likely(known))
        return known > 0;
    while (i < g->size && partner_is_direct(group_pe(g, i)))
        i++;
    atomic_store_explicit(&g->is_near, i == g->size ? 1 : -1, memory_order_relaxed);
    return i == g->size;
}

static uint64_t node_of(int pe)
{
    uint64_t node = 0;
    shoal_query(SHOAL_Q_NODE, pe, &node);
    return node;
}

static int common_divisor(int a, int b)
{
    while (b) {
        int rest = a % b;
        a = b;
        b = rest;
    }
    return a;
}

int partner_block(struct group *g)
{
    int block = atomic_load_explicit(&g->block, memory_order_relaxed);
    if (likely(block))
        return block;
    block = g->size;
    for (int i = 1; i < g->size && block > 1; i++)
        if (node_of(group_pe(g, i)) != node_of(group_pe(g, i - 1)))
            block = common_divisor(block, i); // one begins here
    atomic_store_explicit(&g->block, block, memory_order_relaxed);
    return block;
}

int partner_up(void)
{
    partners = calloc(chunks(), sizeof *partners);
    return partners ? shoal_am_register(AM_CREDIT, on_credit, NULL) : SHOAL_ENOMEM;
}

static void free_chunk(struct partner *chunk)
{
    for (int i = 0; i < PARTNERS_PER_CHUNK && chunk; i++) {
        free(chunk[i].hints);
        free(chunk[i].asker);
    }
    free(chunk);
}

void partner_down(void)
{
    for (size_t i = 0; i < chunks(); i++)
        free_chunk(partners[i]);
    free((void *)partners);
    partners = NULL;
}
