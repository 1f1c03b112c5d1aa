// SPDX-License-Identifier: BSD-3-Clause
// The table of regions, and the checks of keys and remote pointers. See region.h.
//
//     free --- register ---> live --- deregister ---> idle, or free
//                              ^--- register again ----+
//
// An idle entry is refused like a free one, but its memory is still registered with the network: a
// transfer that has begun comes to its end, and who registers the same bytes again finds that done,
// unless the memory was unmapped since, or its pages became others. It ends when there are many of them.
//
// Where others need this PE for its private memory - over a network, or where the kernel lets them
// not reach it - they must not be served from memory that is unmapped. So it is watched (unmap.h), and
// of what cannot be watched this PE looks each time whether it is there.
#include "region.h"

#include "attendant.h"
#include "cpus.h"
#include "far_region.h"
#include "net.h"
#include "slice.h"
#include "unmap.h"

#include <pthread.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/random.h>
#include <time.h>

// What a key's bytes are.
struct key {
    uint64_t stamp, base, size;
    int32_t pe;
    uint32_t index;
};
_Static_assert(sizeof(struct key) == sizeof(shoal_key_t), "a key is 32 bytes");

enum { IDLE_MOST = HOSTILE ? 2 : 64, LOOK_PAGES = 1024 };

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static uint32_t first_maybe_free;            // none below it is: few pages and lines are used
static _Atomic uint32_t used;                // entries from there on have never been
static uint32_t idle[IDLE_MOST], idle_count; // oldest first

// What the owner alone knows of its entries.
static struct own {
    enum { FREE, LIVE, IDLE } state;
    _Atomic bool is_doubtful; // it may be gone, and nobody tells
    _Atomic bool is_stale;    // the network may have pages that it had before
    uint32_t fill;            // of its stamps
    _Atomic uint64_t watched; // tells this watch from all others; 0: none, or its memory is gone
} own[LIMIT_REGIONS];

// Unguessable where the kernel has random bytes ready, else from a count; never 0 and never the same again,
// as an entry that is free is used at once. With the lock held; the kernel is asked for many at a time.
static uint64_t new_stamp(void)
{
    static uint64_t stock[32];
    static uint64_t counted; // an odd number each time, whose product is another one each time
    static size_t left;
    if (left == 0 && getrandom(stock, sizeof stock, GRND_NONBLOCK) == sizeof stock)
        left = sizeof stock / sizeof *stock;
    if (left)
        return stock[--left] | 1;
    counted = counted ? counted + 2 : (uint64_t)clock() | 1;
    return counted * 0x9e3779b97f4a7c15u;
}

// Of one entry.
static uint64_t entry_stamp(uint32_t i)
{
    uint64_t random = new_stamp() & ((UINT64_C(1) << REGION_FILL_SHIFT) - 1);
    return (uint64_t)own[i].fill << REGION_FILL_SHIFT | random;
}

static struct region_entry *entry_of(int pe, uint32_t index)
{
    return &slice_of(pe)->region[index];
}

// ---- Memory that is unmapped
// Others look at the entries meanwhile, and before they know that the memory is gone they must not
// believe the opposite.
static void ask(bool whether)
{
    for (uint32_t i = 0; i < used; i++)
        if (atomic_load_explicit(&own[i].watched, memory_order_relaxed) || !whether)
            atomic_store(&entry_of(world.me, i)->asks, whether);
}

static void begin(void)
{
    ask(true);
}

static void end(void)
{
    ask(false);
}

static uintptr_t start_of(uint32_t i)
{
    return atomic_load_explicit(&entry_of(world.me, i)->base, memory_order_relaxed);
}

static uintptr_t end_of(uint32_t i)
{
    return start_of(i) + atomic_load_explicit(&entry_of(world.me, i)->size, memory_order_relaxed);
}

static bool overlaps(uint32_t i, uintptr_t from, uintptr_t to)
{
    return start_of(i) < to && end_of(i) > from;
}

// An entry may become another one meanwhile: its stamp is looked at first, and that of its watch changes
// with the range.
static void gone(uintptr_t from, uintptr_t to)
{
    for (uint32_t i = 0; i < used; i++) {
        struct own *o = &own[i];
        uint64_t watched = atomic_load_explicit(&o->watched, memory_order_acquire);
        if (!watched)
            continue;
        bool is_it = overlaps(i, from, to);
        uint64_t stamp = atomic_load(&entry_of(world.me, i)->stamp);
        if (is_it && atomic_compare_exchange_strong(&o->watched, &watched, 0))
            atomic_compare_exchange_strong(&entry_of(world.me, i)->stamp, &stamp, 0);
    }
}

// Who does that to a region has to know; one that is idle is nobody's.
static void emptied(uintptr_t from, uintptr_t to)
{
    for (uint32_t i = 0; i < used; i++)
        if (overlaps(i, from, to))
            atomic_store_explicit(&own[i].is_stale, true, memory_order_relaxed);
}

static const struct unmap_calls calls = {begin, gone, emptied, end};

// The rest is with the lock held. UNMAP_NEVER: nobody has to know, or nobody can.
static enum unmap_status watch(uint32_t i, void *base, size_t size)
{
    enum unmap_status status = UNMAP_NEVER;
    bool is_wanted = net.transport || attendant_is_needed();
    struct own *o = &own[i];
    atomic_store_explicit(&o->is_stale, false, memory_order_relaxed);
    if (is_wanted)
        status = unmap_watch(base, size, &calls);
    o->is_doubtful = is_wanted && status != UNMAP_WATCHED;
    if (status == UNMAP_WATCHED)
        atomic_store_explicit(&o->watched, new_stamp(), memory_order_release);
    return status;
}

// Pages that others are watched in, too, stay so; those between others' as well.
static void forget(uint32_t i)
{
    uintptr_t page = page_size(), from = start_of(i) / page, to = (end_of(i) - 1) / page + 1;
    if (!atomic_exchange(&own[i].watched, 0))
        return;
    for (uint32_t k = 0; k < used && from < to; k++) {
        uintptr_t first = start_of(k) / page, end = (end_of(k) - 1) / page + 1;
        if (!own[k].watched || first >= to || end <= from)
            continue;
        if (first > from)
            to = end < to ? from : first;
        else
            from = end;
    }
    if (from < to)
        unmap_forget((void *)(from * page), (to - from) * page);
}

// Is there anything in all pages?
static bool is_mapped(uint64_t at, size_t n)
{
    unsigned char seen[LOOK_PAGES];
    uintptr_t page = page_size(), end = at + n;
    for (uintptr_t p = at / page * page, next; p < end; p = next) {
        next = end - p > LOOK_PAGES * page ? p + LOOK_PAGES * page : end;
        if (mincore((void *)p, next - p, seen))
            return false;
    }
    return true;
}

// ---- The table's entries
static void retire(uint32_t i)
{
    far_region_withdraw(i);
    forget(i);
    own[i].state = FREE;
    first_maybe_free = i < first_maybe_free ? i : first_maybe_free;
}

// The entry is no longer among the idle ones.
static uint32_t take_idle(uint32_t at)
{
    uint32_t i = idle[at];
    idle_count--;
    memmove(&idle[at], &idle[at + 1], (idle_count - at) * sizeof idle[0]);
    return i;
}

// Where processors do what a network asks for, a registration is of addresses, whatever is there. So what is idle
// is not watched: the kernel has watched pages as a mapping of their own, and mremap works on one alone.
static bool is_of_addresses(void)
{
    return net.facts.rma_needs_target;
}

static bool needs_no_watch(bool is_lent)
{
    return is_lent && (!net.transport || is_of_addresses());
}

// An entry of the same bytes whose registration is known to be good.
static bool find_idle(void *base, size_t size, bool is_lent, uint32_t *index)
{
    for (uint32_t at = idle_count; at-- > 0;) {
        uint32_t i = idle[at];
        const struct region_entry *e = entry_of(world.me, i);
        bool is_good = is_of_addresses() || (own[i].watched && !own[i].is_stale);
        if (!is_good || e->base != (uintptr_t)base || e->size != size)
            continue;
        *index = take_idle(at);
        if (own[i].watched || needs_no_watch(is_lent) || watch(i, base, size) != UNMAP_CANNOT)
            return true;
        retire(i);
        return false;
    }
    return false;
}

static uint32_t find_free(void)
{
    for (uint32_t i = first_maybe_free; i < LIMIT_REGIONS; i++)
        if (own[i].state == FREE)
            return i;
    if (!idle_count)
        return LIMIT_REGIONS;
    uint32_t oldest = take_idle(0);
    retire(oldest);
    return oldest;
}

static uint32_t fill(void *base, size_t size, struct place at, bool is_lent)
{
    uint32_t i = find_free();
    if (i == LIMIT_REGIONS)
        return i;
    struct region_entry *e = entry_of(world.me, i);
    // Pairs with the acquire fence in read_entry: who sees a field of this registration sees, too, that
    // the stamp of the one before is gone.
    atomic_thread_fence(memory_order_release);
    atomic_store_explicit(&e->at, at.offset, memory_order_relaxed);
    atomic_store_explicit(&e->space, at.space, memory_order_relaxed);
    atomic_store_explicit(&e->size, size, memory_order_relaxed);
    atomic_store_explicit(&e->base, (uintptr_t)base, memory_order_relaxed);
    e->key_n = 0;
    if (size >= LIMIT_REGION_RMA ||
        !own[i].fill) // others import none that are shorter (far_region.c)
        own[i].fill = own[i].fill + 1 < REGION_FILLS ? own[i].fill + 1 : 1;
    own[i].is_doubtful = false;
    used = i < used ? used : i + 1;
    if (at.space == SPACE_PRIVATE &&
        (needs_no_watch(is_lent) || watch(i, base, size) != UNMAP_CANNOT))
        far_region_offer(i, base, size);
    first_maybe_free = i + 1;
    return i;
}

int region_register(void *base, size_t size, bool is_lent, uint32_t *index)
{
    if (!base || !size || (uintptr_t)base + size < (uintptr_t)base)
        return SHOAL_EINVAL;
    struct place at = place_of(base), last = place_of((char *)base + size - 1);
    if (at.pe != world.me || last.pe != world.me || last.space != at.space)
        return SHOAL_EINVAL; // it begins and ends in one kind of own memory
    if (at.space == SPACE_PRIVATE)
        attendant_want();
    unmap_settle_all(); // what was at this address before is known to be gone
    pthread_mutex_lock(&lock);
    uint32_t i;
    if (at.space != SPACE_PRIVATE || !find_idle(base, size, is_lent, &i))
        i = fill(base, size, at, is_lent);
    if (i < LIMIT_REGIONS) {
        own[i].state = LIVE;
        // Pairs with the acquire load in region_resolve.
        atomic_store_explicit(&entry_of(world.me, i)->stamp, entry_stamp(i), memory_order_release);
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
    struct own *o = &own[index];
    bool was = o->state == LIVE;
    if (was) {
        // seq_cst: the fields of a later registration are not seen under this stamp.
        atomic_exchange(&entry_of(world.me, index)->stamp, 0);
        if (entry_of(world.me, index)->key_n) {
            if (idle_count == IDLE_MOST)
                retire(take_idle(0));
            o->state = IDLE;
            idle[idle_count++] = index;
            if (is_of_addresses())
                forget(index);
        } else {
            retire(index);
        }
    }
    pthread_mutex_unlock(&lock);
    return was ? SHOAL_OK : SHOAL_EINVAL;
}

void region_down(void)
{
    pthread_mutex_lock(&lock);
    for (uint32_t i = 0; i < used; i++) {
        atomic_store_explicit(&own[i].watched, 0, memory_order_relaxed);
        atomic_store_explicit(&entry_of(world.me, i)->stamp, 0, memory_order_relaxed);
        far_region_withdraw(i);
        own[i].state = FREE;
    }
    idle_count = first_maybe_free = 0;
    pthread_mutex_unlock(&lock);
    unmap_down();
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

int region_rptr_lent(uint32_t index, uint64_t offset, shoal_rptr_t *rptr)
{
    shoal_key_t key;
    int status = region_key(index, &key);
    if (!status)
        status = region_import(&key, offset, false, rptr);
    if (!status)
        rptr->region = REGION_LENT - index;
    return status;
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
            !region_within(r->offset - first, n, world.heap_size + world.job->arena_size))
            return SHOAL_ERANGE;
        *at = (struct place){r->pe, SPACE_SLICE, r->offset};
        return SHOAL_OK;
    }
    if (r->region == REGION_DATA) {
        *at = (struct place){r->pe, SPACE_DATA, r->offset};
        return world.data_size && region_within(r->offset, n, world.data_size) ? SHOAL_OK
                                                                               : SHOAL_ERANGE;
    }
    if (r->region == REGION_NONE && r->stamp == region_none_stamp(r->pe) && world_is_here(r->pe)) {
        *at = (struct place){r->pe, SPACE_PRIVATE, r->offset};
        return SHOAL_OK;
    }
    if (!world_is_here(r->pe)) { // looked up there, when it is used
        *at = (struct place){r->pe, SPACE_PRIVATE, 0};
        return region_slot(r) < LIMIT_REGIONS ? SHOAL_OK : SHOAL_EKEY;
    }
    if (r->pe == world.me)
        unmap_settle();
    if (region_slot(r) >= LIMIT_REGIONS || !read_entry(r->pe, region_slot(r), r->stamp, at, &size))
        return SHOAL_EKEY;
    if (!region_within(r->offset, n, size))
        return SHOAL_ERANGE;
    at->offset += r->offset;
    bool is_doubtful = r->pe == world.me && own[region_slot(r)].is_doubtful;
    return unlikely(is_doubtful) && !is_mapped(at->offset, n) ? SHOAL_EFAULT : SHOAL_OK;
}
