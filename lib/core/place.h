// SPDX-License-Identifier: BSD-3-Clause
// A place in some PE's memory, in a form that means the same to every PE of the node.
#ifndef SHOAL_CORE_PLACE_H
#define SHOAL_CORE_PLACE_H

#include "world.h"

#include <stddef.h>
#include <stdint.h>

enum space {
    SPACE_SLICE,   // offset in the PE's slice: heap and arena
    SPACE_DATA,    // offset in its symmetric static data
    SPACE_PRIVATE, // an address of that process
};

struct place {
    int32_t pe;
    uint32_t space; // enum space
    uint64_t offset;
};

struct place place_of(const void *addr); // an address of this process, whosever memory it maps

static inline struct place place_add(struct place p, ptrdiff_t bytes)
{
    p.offset += (uint64_t)bytes;
    return p;
}

// Where it is mapped here; NULL: private memory of another PE, or any on another node.
static inline void *place_here(struct place p)
{
    if (unlikely(!world_is_here(p.pe)))
        return NULL;
    if (likely(p.space == SPACE_SLICE))
        return world.slices + (size_t)p.pe * (size_t)world.slice_size + p.offset;
    if (p.space == SPACE_DATA)
        return p.pe == world.me ? (char *)world.data + p.offset
                                : world.data_peers + (size_t)p.pe * world.data_size + p.offset;
    return p.pe == world.me ? (void *)(uintptr_t)p.offset : NULL;
}

// Copies n bytes without anybody's help. SHOAL_EAGAIN: the kernel does not let this PE reach the
// private memory of *needs, or it is on another node; *needs has to do its part; SHOAL_EFAULT: it is
// not mapped there.
int place_copy(struct place to, struct place from, size_t n, int *needs);

// n pieces at once between own memory and the private memory of one other PE. SHOAL_EAGAIN: not
// without help, though some may have been copied; SHOAL_EFAULT.
struct iovec;
int place_copy_private(int pe, bool put, const struct iovec *own, const struct iovec *there,
                       size_t n);

// Does this PE reach the private memory of pe without help? Tried once per peer, on real memory.
int place_reaches_private(int pe);

#endif
