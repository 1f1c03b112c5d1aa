// SPDX-License-Identifier: BSD-3-Clause
// The arena: see arena.h.
#include "arena.h"

#include "dump.h"
#include "log.h"
#include "shoal.h"
#include "tlsf.h"
#include "world.h"

#include <pthread.h>
#include <stdatomic.h>
#include <stdint.h>

static struct tlsf *space;
static size_t dumped; // from its start on, in whatever life of the library
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER; // of both

enum { BLOCKS = 32, RESERVE = BLOCKS * ARENA_RESERVED };
static char *reserve;            // so many blocks; NULL: the arena is too small
static _Atomic uint32_t is_free; // a bit for each

static char *start(void)
{
    return (char *)world.heap + world.heap_size;
}

int arena_up(void)
{
    space = tlsf_create(world.job->arena_size);
    if (!space) {
        log_line(LOG_ERROR, LOG_HEAP, "no memory for the arena's records");
        return -1;
    }
    reserve = arena_alloc(RESERVE);
    atomic_store_explicit(&is_free, reserve ? UINT32_MAX : 0, memory_order_relaxed);
    return 0;
}

void arena_down(void)
{
    tlsf_destroy(space);
    space = NULL;
}

void *arena_alloc(size_t size)
{
    pthread_mutex_lock(&lock);
    size_t offset = tlsf_alloc(space, size ? size : 1, 1);
    if (offset != TLSF_NONE)
        dump_take_in(start(), world.job->arena_size, &dumped, offset + size);
    pthread_mutex_unlock(&lock);
    return offset == TLSF_NONE ? NULL : start() + offset;
}

void *arena_alloc_reserved(void)
{
    uint32_t left = atomic_load_explicit(&is_free, memory_order_relaxed);
    // Pairs with the release in arena_free: what was done in the block comes before.
    while (left &&
           !atomic_compare_exchange_weak_explicit(&is_free, &left, left & (left - 1),
                                                  memory_order_acquire, memory_order_relaxed)) {
    }
    return left ? reserve + (size_t)__builtin_ctz(left) * ARENA_RESERVED : NULL;
}

int arena_free(void *ptr)
{
    size_t offset = (size_t)((uintptr_t)ptr - (uintptr_t)start());
    size_t in_reserve = (size_t)((uintptr_t)ptr - (uintptr_t)reserve);
    int status = SHOAL_OK;
    if (!ptr)
        return SHOAL_OK;
    if (reserve && in_reserve < RESERVE) {
        atomic_fetch_or_explicit(&is_free, UINT32_C(1) << in_reserve / ARENA_RESERVED,
                                 memory_order_release);
        return SHOAL_OK;
    }
    if (offset >= world.job->arena_size)
        return SHOAL_EINVAL;
    pthread_mutex_lock(&lock);
    if (tlsf_size(space, offset))
        tlsf_free(space, offset);
    else
        status = SHOAL_EINVAL;
    pthread_mutex_unlock(&lock);
    return status;
}
