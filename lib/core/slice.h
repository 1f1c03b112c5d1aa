// SPDX-License-Identifier: BSD-3-Clause
// The internal part of a PE's slice, in front of its symmetric heap; see job.h for the whole file.
//
//     struct slice | pe_ctl | team areas | counters | works | regions | inbox |
//
// Memory that nobody touched takes no room, so the tables are sized for the most there can be.
// All of it starts as zero bytes, which every structure takes for its initial state: a peer may use
// it before its owner is up. Links between structures are references: offsets from the first
// slice, the same for every PE; 0 is none.
#ifndef SHOAL_CORE_SLICE_H
#define SHOAL_CORE_SLICE_H

#include "inbox_area.h"
#include "job.h"
#include "place.h"
#include "team_area.h"
#include "trigger_area.h"
#include "world.h"

enum { REGION_KEY = 128 };

struct region_entry {
    _Atomic uint64_t asks;  // not 0: only the owner knows whether it is gone. Read before the stamp
    _Atomic uint64_t stamp; // 0: free. Tells this registration from all others, and its keys
    _Atomic uint64_t at;    // offset of its place,
    _Atomic uint64_t space; // and where that is; the PE is the slice's
    _Atomic uint64_t size;
    _Atomic uint64_t base;  // its address at the PE
    uint32_t key_n;         // bytes of the transport's key for it, 0: none (far_region.h)
    unsigned char key[REGION_KEY];
};

struct slice {
    struct pe_ctl ctl;
    struct team_area team[LIMIT_TEAMS];
    struct counter counter[LIMIT_COUNTERS]; // number 0 is none
    struct work_pool works;
    struct region_entry region[LIMIT_REGIONS];
    LINE_ALIGNED _Atomic uint32_t accumulate_lock; // for elements wider than a word
    struct inbox inbox;
};

static inline struct slice *slice_of(int pe)
{
    return (struct slice *)world_ctl(pe);
}

static inline uint64_t ref_of(const void *shared)
{
    return (uint64_t)((const char *)shared - world.slices);
}

static inline void *ref_at(uint64_t ref)
{
    return world.slices + ref;
}

#endif
