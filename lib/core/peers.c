// SPDX-License-Identifier: BSD-3-Clause
// Records of partners, in chunks that are made on first use. See peers.h.
#include "peers.h"

#include "log.h"
#include "tunables.h"
#include "wait.h"
#include "world.h"

#include <stdlib.h>
#include <string.h>

struct peer_chunk *_Atomic *_Atomic peer_chunks;

// Whole lines, as a record is one: others' are changed by other threads.
static void *new (size_t size)
{
    size_t lines = (size + CACHE_LINE - 1) / CACHE_LINE * CACHE_LINE;
    void *fresh = aligned_alloc(CACHE_LINE, lines);
    if (!fresh)
        fatal("no memory for the records of partners (%zu bytes)", size);
    return memset(fresh, 0, lines);
}

// Unless another thread was first: then that one's.
static void *install(void *_Atomic *place, void *fresh)
{
    void *there = NULL;
    if (atomic_compare_exchange_strong_explicit(place, &there, fresh, memory_order_acq_rel,
                                                memory_order_acquire))
        return fresh;
    free(fresh);
    return there;
}

static size_t chunk_count(void)
{
    return ((size_t)world.npes + PEERS_PER_CHUNK - 1) / PEERS_PER_CHUNK;
}

static struct peer_chunk *make_chunk(void *_Atomic *at)
{
    struct peer_chunk *fresh = new (sizeof *fresh);
    for (int i = 0; i < PEERS_PER_CHUNK; i++) {
        fresh->peer[i].sent = LIMIT_FIRST_NUMBER;
        atomic_init(&fresh->peer[i].received, LIMIT_FIRST_NUMBER);
        atomic_init(&fresh->peer[i].taken, LIMIT_FIRST_NUMBER);
    }
    return install(at, fresh);
}

struct peer *peer_make(int pe)
{
    struct peer_chunk *_Atomic *table = atomic_load_explicit(&peer_chunks, memory_order_acquire);
    if (!table)
        table = install((void *_Atomic *)&peer_chunks, new (chunk_count() * sizeof *table));
    struct peer_chunk *_Atomic *at = &table[pe / PEERS_PER_CHUNK];
    struct peer_chunk *chunk = atomic_load_explicit(at, memory_order_acquire);
    if (!chunk)
        chunk = make_chunk((void *_Atomic *)at);
    return &chunk->peer[pe % PEERS_PER_CHUNK];
}

void peers_forget(void)
{
    size_t count = chunk_count();
    struct peer_chunk *_Atomic *table = atomic_exchange(&peer_chunks, NULL);
    for (size_t i = 0; table && i < count; i++)
        free(table[i]);
    free((void *)table);
}

uint64_t peers_sent_in_rings(void)
{
    struct peer_chunk *_Atomic *table = atomic_load_explicit(&peer_chunks, memory_order_acquire);
    uint64_t sum = 0;
    for (size_t i = 0; table && i < chunk_count(); i++) {
        struct peer_chunk *chunk = atomic_load_explicit(&table[i], memory_order_acquire);
        for (int k = 0; chunk && k < PEERS_PER_CHUNK; k++) {
            peer_lock(&chunk->peer[k]);
            sum += chunk->peer[k].ticket;
            peer_unlock(&chunk->peer[k]);
        }
    }
    return sum;
}

void peer_wait(struct peer *p)
{
    uint32_t is_free = 0;
    struct waiter w = waiter_start(&world_ctl(world.me)->bell);
    while (unlikely(!atomic_compare_exchange_weak_explicit(
        &p->lock, &is_free, 1, memory_order_acquire, memory_order_relaxed))) {
        is_free = 0;
        waiter_step(&w);
    }
}
