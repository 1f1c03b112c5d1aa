// SPDX-License-Identifier: BSD-3-Clause
// Records of partners, in chunks that are made on first use. See peers.h.
#include "peers.h"

#include "log.h"
#include "wait.h"
#include "world.h"

#include <stdlib.h>

enum { PER_CHUNK = 64 };

struct chunk {
    struct peer peer[PER_CHUNK];
};

static struct chunk *_Atomic *_Atomic chunks;

static void *install(void *_Atomic *place, size_t size)
{
    void *fresh = calloc(1, size), *there = NULL;
    if (!fresh)
        fatal("no memory for the records of partners (%zu bytes)", size);
    if (atomic_compare_exchange_strong_explicit(place, &there, fresh, memory_order_acq_rel,
                                                memory_order_acquire))
        return fresh;
    free(fresh);
    return there;
}

struct peer *peer_of(int pe)
{
    size_t count = ((size_t)world.npes + PER_CHUNK - 1) / PER_CHUNK;
    struct chunk *_Atomic *table = atomic_load_explicit(&chunks, memory_order_acquire);
    if (unlikely(!table))
        table = install((void *_Atomic *)&chunks, count * sizeof *table);
    struct chunk *chunk = atomic_load_explicit(&table[pe / PER_CHUNK], memory_order_acquire);
    if (unlikely(!chunk))
        chunk = install((void *_Atomic *)&table[pe / PER_CHUNK], sizeof *chunk);
    return &chunk->peer[pe % PER_CHUNK];
}

void peers_forget(void)
{
    size_t count = ((size_t)world.npes + PER_CHUNK - 1) / PER_CHUNK;
    struct chunk *_Atomic *table = atomic_exchange(&chunks, NULL);
    for (size_t i = 0; table && i < count; i++)
        free(table[i]);
    free((void *)table);
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
