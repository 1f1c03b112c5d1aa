// SPDX-License-Identifier: BSD-3-Clause
// Regions: memory of any kind made reachable under a key. The owner's table in its slice says what
// each registration is; a key or a remote pointer that does not agree with it is refused, each
// time it is used.
#ifndef SHOAL_CORE_REGION_H
#define SHOAL_CORE_REGION_H

#include "place.h"
#include "shoal.h"
#include "world.h"

// Values of shoal_rptr.region below the table's, and beyond it: an address of that process
enum { REGION_SLICE, REGION_DATA, REGION_FIRST };
enum { REGION_FILL_SHIFT = 40, REGION_FILLS = 1 << 24 };
#define REGION_NONE UINT32_MAX
// Less the table's number: of shoal_rptr_lent. No single bit makes one of these of another.
#define REGION_LENT (UINT32_MAX - 1)

// The stamp of such an address: what comes from another node, or was altered, does not have it.
static inline uint64_t region_none_stamp(int pe)
{
    return world.job->stamp + (uint32_t)pe;
}

static inline bool region_is_lent(const shoal_rptr_t *r)
{
    return r->region > UINT32_MAX / 2;
}

// The entry of its owner's table; LIMIT_REGIONS and more: in none.
static inline uint32_t region_slot(const shoal_rptr_t *r)
{
    return region_is_lent(r) ? REGION_LENT - r->region : r->region - REGION_FIRST;
}

// What of a stamp stays as long as the network knows the entry's memory, by the same key, and is never the same
// again; not 0.
static inline uint32_t region_fill(uint64_t stamp)
{
    return (uint32_t)(stamp >> REGION_FILL_SHIFT);
}

static inline bool region_within(uint64_t offset, size_t n, uint64_t size)
{
    return offset <= size && n <= size - offset;
}

void region_down(void); // before the network's end; whatever is registered still

// is_lent: nobody unmaps it before its end.
int region_register(void *base, size_t size, bool is_lent, uint32_t *index);
int region_deregister(uint32_t index);
int region_key(uint32_t index, shoal_key_t *key);
int region_rptr_lent(uint32_t index, uint64_t offset, shoal_rptr_t *rptr);
int region_import(const shoal_key_t *key, uint64_t offset, bool is_va, shoal_rptr_t *rptr);

// Where the n bytes are: SHOAL_EKEY, SHOAL_ERANGE or SHOAL_EFAULT when they are no longer, or never
// were.
int region_resolve(const shoal_rptr_t *rptr, size_t n, struct place *at);

#endif
