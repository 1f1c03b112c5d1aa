// SPDX-License-Identifier: BSD-3-Clause
// A member's memory, on this node or another. See coll.h.
#include "coll.h"

#include "copy.h"
#include "remote.h"

const void *coll_look(const struct group *g, int member, const void *addr, size_t n, void *buf)
{
    int pe = set_pe(&g->set, member);
    if (likely(world_is_here(pe)))
        return shared_at(addr, pe);
    remote_load(pe, addr, buf, n, false);
    return buf;
}

void coll_fetch(const struct group *g, int member, const void *addr, size_t n, void *to)
{
    int pe = set_pe(&g->set, member);
    if (likely(world_is_here(pe))) {
        const void *from = shared_at(addr, pe);
        if (to != from && n)
            copy_move(to, from, n);
    } else if (pe != world.me) {
        remote_load(pe, addr, to, n, true);
    }
}

void coll_store(const struct group *g, int member, void *addr, const void *from, size_t n)
{
    int pe = set_pe(&g->set, member);
    if (likely(world_is_here(pe)))
        copy_bytes(shared_at(addr, pe), from, n);
    else
        remote_store(pe, addr, from, n);
}

void coll_wait(const struct group *g)
{
    if (unlikely(g->spans))
        remote_flush();
}
