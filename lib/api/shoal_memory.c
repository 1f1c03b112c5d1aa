// SPDX-License-Identifier: BSD-3-Clause
// shoal.h: "Memory".
#include "shoal_check.h"

#include "arena.h"
#include "attendant.h"
#include "compiler.h"
#include "region.h"
#include "slice.h"

// A region's handle is its entry in this PE's table.
static struct region_entry *entries(void)
{
    return slice_of(world.me)->region;
}

static uint32_t index_of(shoal_region_t region)
{
    uintptr_t offset = (uintptr_t)region - (uintptr_t)entries();
    return offset < sizeof slice_of(0)->region ? (uint32_t)(offset / sizeof(struct region_entry))
                                               : LIMIT_REGIONS;
}

PUBLIC void *shoal_alloc(size_t size)
{
    return shoal_is_up() ? arena_alloc(size) : NULL;
}

PUBLIC int shoal_free(void *ptr)
{
    return shoal_is_up() ? arena_free(ptr) : SHOAL_EINIT;
}

static int region_of(void *base, size_t size, bool is_lent, shoal_region_t *region)
{
    uint32_t index;
    if (!shoal_is_up())
        return SHOAL_EINIT;
    if (!region)
        return SHOAL_EINVAL;
    int status = region_register(base, size, is_lent, &index);
    if (status == SHOAL_OK)
        *region = (shoal_region_t)&entries()[index];
    return status;
}

PUBLIC int shoal_region_register(void *base, size_t size, shoal_region_t *region)
{
    return region_of(base, size, false, region);
}

PUBLIC int shoal_region_lend(void *base, size_t size, shoal_region_t *region)
{
    return region_of(base, size, true, region);
}

PUBLIC int shoal_region_deregister(shoal_region_t region)
{
    return shoal_is_up() ? region_deregister(index_of(region)) : SHOAL_EINIT;
}

PUBLIC int shoal_region_key(shoal_region_t region, shoal_key_t *key)
{
    if (!shoal_is_up())
        return SHOAL_EINIT;
    return key ? region_key(index_of(region), key) : SHOAL_EINVAL;
}

PUBLIC int shoal_rptr(const shoal_key_t *key, uint64_t offset, shoal_rptr_t *rptr)
{
    if (!shoal_is_up())
        return SHOAL_EINIT;
    return key && rptr ? region_import(key, offset, false, rptr) : SHOAL_EINVAL;
}

PUBLIC int shoal_rptr_lent(shoal_region_t region, uint64_t offset, shoal_rptr_t *rptr)
{
    if (!shoal_is_up())
        return SHOAL_EINIT;
    return rptr ? region_rptr_lent(index_of(region), offset, rptr) : SHOAL_EINVAL;
}

PUBLIC int shoal_rptr_va(const shoal_key_t *key, uint64_t va, shoal_rptr_t *rptr)
{
    if (!shoal_is_up())
        return SHOAL_EINIT;
    return key && rptr ? region_import(key, va, true, rptr) : SHOAL_EINVAL;
}

static int rptr_of(struct place at, int pe, shoal_rptr_t *rptr)
{
    if (at.space == SPACE_PRIVATE)
        return SHOAL_EINVAL;
    shoal_rptr_t r = {.offset = at.offset,
                      .pe = pe,
                      .region = at.space == SPACE_DATA ? REGION_DATA : REGION_SLICE};
    struct place check;
    int status = region_resolve(&r, 0, &check);
    if (status == SHOAL_OK)
        *rptr = r;
    return status;
}

PUBLIC int shoal_rptr_symmetric(const void *addr, int pe, shoal_rptr_t *rptr)
{
    if (!shoal_is_up())
        return SHOAL_EINIT;
    if (!shoal_is_pe(pe) || !rptr || (!world_in_heap(addr, 1) && !world_in_data(addr, 1)))
        return SHOAL_EINVAL;
    return rptr_of(place_of(addr), pe, rptr);
}

PUBLIC int shoal_rptr_own(const void *addr, shoal_rptr_t *rptr)
{
    if (!shoal_is_up())
        return SHOAL_EINIT;
    struct place at = place_of(addr);
    return rptr ? rptr_of(at, at.pe, rptr) : SHOAL_EINVAL;
}

PUBLIC int shoal_rptr_private(const void *addr, shoal_rptr_t *rptr)
{
    if (!shoal_is_up())
        return SHOAL_EINIT;
    if (!rptr || !addr || place_of(addr).space != SPACE_PRIVATE)
        return SHOAL_EINVAL;
    attendant_want();
    *rptr = (shoal_rptr_t){.offset = (uintptr_t)addr,
                           .stamp = region_none_stamp(world.me),
                           .pe = world.me,
                           .region = REGION_NONE};
    return SHOAL_OK;
}

PUBLIC void *shoal_direct(shoal_rptr_t rptr, size_t n)
{
    struct place at;
    if (!shoal_is_up() || region_resolve(&rptr, n, &at))
        return NULL;
    return place_here(at);
}
