// SPDX-License-Identifier: BSD-3-Clause
// The table of regions, and the checks of keys and remote pointers. See region.h.
#include "region.h"

#include "attendant.h"
#include "far_region.h"
#include "slice.h"

#include <pthread.h>
#include <string.h>
#include <sys/random.h>
#include <time.h>

// What a key's bytes are.
struct key {
    uint64_t stamp, base, size;
    int32_t pe;
    uint32_t index;
};
_Static_assert(sizeof(struct key) == sizeof(shoal_key_t), "a key is 32 bytes");

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static uint32_t first_maybe_free;

// Unguessable where the kernel has random bytes ready, never 0 and never the same twice in a row.
// With the lock held; the kernel is asked for many at a time.
static uint64_t new_stamp(void)
{
    static uint64_t last, stock[32];
    static size_t left;
    if (left == 0 && getrandom(stock, sizeof stock, GRND_NONBLOCK) == sizeof stock)
        left = sizeof stock / sizeof *stock;
    uint64_t random = left ? stock[--left] : (uint64_t)clock() * 0x9e3779b97f4a7c15u;
    random |= 1;
    last = random == last ? random + 2 : random;
    return last;
}

static struct region_entry *entry_of(int pe, uint32_t index)
{
    return &slice_of(pe)->region[index];
}

static uint32_t find_free(void)
{
    for (uint32_t k = 0; k < LIMIT_REGIONS; k++) {
        uint32_t i = (first_maybe_free + k) % LIMIT_REGIONS;
        if (!atomic_load_explicit(&entry_of(world.me, i)->stamp, memory_order_relaxed))
            return i;
    }
    return LIMIT_REGIONS;
}

int region_register(void *base, size_t size, uint32_t *index)
{
    if (!base || !size || (uintptr_t)base + size < (uintptr_t)base)
        return SHOAL_EINVAL;
    struct place at = place_of(base), last = place_of((char *)base + size - 1);
    if (at.pe != world.me || last.pe != world.me || last.space != at.space)
        return SHOAL_EINVAL; // it begins and ends in one kind of own memory
    if (at.space == SPACE_PRIVATE)
        attendant_want();
    pthread_mutex_lock(&lock);
    uint32_t i = find_free();
    if (i < LIMIT_REGIONS) {
        struct region_entry *e = entry_of(world.me, i);
        atomic_store_explicit(&e->at, at.offset, memory_order_relaxed);
        atomic_store_explicit(&e->space, at.space, memory_order_relaxed);
        atomic_store_explicit(&e->size, size, memory_order_relaxed);
        atomic_store_explicit(&e->base, (uintptr_t)base, memory_order_relaxed);
        far_region_offer(i, base, size);
        // Pairs with the acquire load in region_resolve.
        atomic_store_explicit(&e->stamp, new_stamp(), memory_order_release);
        first_maybe_free = i + 1;
    }
    pthread_mutex_unlock(&lock);
    *index = i;
    return i < LIMIT_REGIONS ? SHOAL_OK : SHOAL_ENOMEM;
}

int region_deregister(uint32_t index)
{
    if (index >= LIMIT_REGIONS)
        return SHOAL_EINVAL;
    pthread_mutex_lock(&lock);
    // seq_cst: the fields of a later registration are not seen under this stamp.
    uint64_t was = atomic_exchange(&entry_of(world.me, index)->stamp, 0);
    if (was)
        far_region_withdraw(index);
    pthread_mutex_unlock(&lock);
    return was ? SHOAL_OK : SHOAL_EINVAL;
}

int region_key(uint32_t index, shoal_key_t *key)
{
    if (index >= LIMIT_REGIONS)
        return SHOAL_EINVAL;
    const struct region_entry *e = entry_of(world.me, index);
    struct key k = {
        .stamp = e->stamp, .base = e->base, .size = e->size, .pe = world.me, .index = index};
    if (!k.stamp)
        return SHOAL_EINVAL;
    memcpy(key, &k, sizeof k);
    return SHOAL_OK;
}

// One consistent look at an entry: false when its stamp is not this one.
static bool read_entry(int pe, uint32_t index, uint64_t stamp, struct place *at, uint64_t *size)
{
    const struct region_entry *e = entry_of(pe, index);
    if (!stamp || atomic_load_explicit(&e->stamp, memory_order_acquire) != stamp)
        return false;
    *at = (struct place){pe, (uint32_t)atomic_load_explicit(&e->space, memory_order_relaxed),
                         atomic_load_explicit(&e->at, memory_order_relaxed)};
    *size = atomic_load_explicit(&e->size, memory_order_relaxed);
    atomic_thread_fence(memory_order_acquire);
    return atomic_load_explicit(&e->stamp, memory_order_relaxed) == stamp;
}

int region_import(const shoal_key_t *key, uint64_t offset, bool is_va, shoal_rptr_t *rptr)
{
    struct key k;
    struct place at;
    uint64_t size;
    memcpy(&k, key, sizeof k);
    if (k.pe < 0 || k.pe >= world.npes || k.index >= LIMIT_REGIONS || !k.stamp)
        return SHOAL_EKEY;
    if (!world_is_here(k.pe))
        size = k.size; // the owner checks each use
    else if (!read_entry(k.pe, k.index, k.stamp, &at, &size) || size != k.size ||
             atomic_load_explicit(&entry_of(k.pe, k.index)->base, memory_order_relaxed) != k.base)
        return SHOAL_EKEY;
    if (is_va)
        offset -= k.base;
    if (offset > size)
        return SHOAL_ERANGE;
    *rptr = (shoal_rptr_t){
        .offset = offset, .stamp = k.stamp, .pe = k.pe, .region = k.index + REGION_FIRST};
    return SHOAL_OK;
}

static bool within(uint64_t offset, size_t n, uint64_t size)
{
    return offset <= size && n <= size - offset;
}

int region_resolve(const shoal_rptr_t *r, size_t n, struct place *at)
{
    uint64_t size;
    if (unlikely((uint32_t)r->pe >= (uint32_t)world.npes))
        return SHOAL_EKEY;
    if (unlikely(r->region < REGION_FIRST && r->stamp)) // not made here
        return SHOAL_EKEY;
    if (likely(r->region == REGION_SLICE)) {
        uint64_t first = (uint64_t)world.slice_size - world.job->arena_size - world.heap_size;
        if (r->offset < first ||
            !within(r->offset - first, n, world.heap_size + world.job->arena_size))
            return SHOAL_ERANGE;
        *at = (struct place){r->pe, SPACE_SLICE, r->offset};
        return SHOAL_OK;
    }
    if (r->region == REGION_DATA) {
        *at = (struct place){r->pe, SPACE_DATA, r->offset};
        return world.data_size && within(r->offset, n, world.data_size) ? SHOAL_OK : SHOAL_ERANGE;
    }
    if (!world_is_here(r->pe)) { // looked up there, when it is used
        *at = (struct place){r->pe, SPACE_PRIVATE, 0};
        return r->region - REGION_FIRST < LIMIT_REGIONS ? SHOAL_OK : SHOAL_EKEY;
    }
    if (r->region - REGION_FIRST >= LIMIT_REGIONS ||
        !read_entry(r->pe, r->region - REGION_FIRST, r->stamp, at, &size))
        return SHOAL_EKEY;
    if (!within(r->offset, n, size))
        return SHOAL_ERANGE;
    at->offset += r->offset;
    return SHOAL_OK;
}
