// SPDX-License-Identifier: BSD-3-Clause
// Collectives that move data. Short ones go through the members' areas (exchange.h); longer ones
// are loads straight from the peers' buffers between two synchronizations.
#include "coll.h"

#include "arena.h"
#include "coll_span.h"
#include "copy.h"
#include "exchange.h"
#include "log.h"
#include "remote.h"
#include "settings.h"

static void copy(void *dest, const void *src, size_t n)
{
    if (dest != src && n)
        copy_move(dest, src, n);
}

static void broadcast_short(const struct group *g, void *dest, const void *src, size_t n, int root)
{
    exchange_enter(g->team);
    if (g->me == root) {
        exchange_publish(g->team, src, n);
        copy(dest, src, n);
    } else {
        copy(dest, exchange_read(g->team, root, n), n);
    }
    exchange_leave(g->team, false);
}

void coll_broadcast(const struct group *g, void *dest, const void *src, size_t n, int root,
                    bool to_root)
{
    if (unlikely(coll_is_spanning(g))) {
        shoal_coll_t c = {.kind = SHOAL_COLL_BROADCAST,
                          .root = root,
                          .src = src,
                          .count = n,
                          .dst = g->me == root && !to_root ? (void *)src : dest,
                          .element_size = 1};
        coll_span_call(g, &c, NULL);
        return;
    }
    if (coll_is_short(g, n)) {
        broadcast_short(g, g->me == root && !to_root ? (void *)src : dest, src, n, root);
        return;
    }
    coll_sync(g);
    if (g->me != root || to_root)
        coll_fetch(g, root, src, n, dest);
    coll_sync(g);
}

static void fcollect_short(const struct group *g, char *dest, const void *src, size_t n)
{
    exchange_enter(g->team);
    exchange_publish(g->team, src, n);
    for (int i = 0; i < g->set.size; i++)
        copy(dest + (size_t)i * n, exchange_read(g->team, i, n), n);
    exchange_leave(g->team, true);
}

// Each member starts with its own block, so that no buffer is read by all at once.
static void pull_all(const struct group *g, char *dest, const void *src, const size_t *offset,
                     size_t n)
{
    for (int k = 0, i = g->me; k < g->set.size; k++, i = i + 1 < g->set.size ? i + 1 : 0) {
        size_t at = offset ? offset[i] : (size_t)i * n;
        coll_fetch(g, i, src, offset ? offset[i + 1] - at : n, dest + at);
    }
}

// counts: of each member's bytes, NULL: n each.
static void gather_spanning(const struct group *g, void *dest, const void *src, size_t n,
                            const size_t *counts)
{
    shoal_coll_t c = {.kind = SHOAL_COLL_ALLGATHER,
                      .dst = dest,
                      .src = src,
                      .count = n,
                      .element_size = 1,
                      .counts = counts};
    coll_span_call(g, &c, NULL);
}

void coll_fcollect(const struct group *g, void *dest, const void *src, size_t n)
{
    if (unlikely(coll_is_spanning(g))) {
        gather_spanning(g, dest, src, n, NULL);
        return;
    }
    if (coll_is_short(g, n)) {
        fcollect_short(g, dest, src, n);
        return;
    }
    coll_sync(g);
    pull_all(g, dest, src, NULL, n);
    coll_sync(g);
}

// Fills offset[i], where member i's block starts, and offset[size], the end. When it returns all
// have entered, and their sources may be read.
static void gather_offsets(const struct group *g, size_t *offset, size_t n)
{
    if (g->team) {
        coll_fcollect(g, offset + 1, &n, sizeof n);
    } else {
        g->psync[2] = (long)n;
        coll_sync(g);
        for (int i = 0; i < g->set.size; i++)
            coll_fetch(g, i, g->psync + 2, sizeof(long), &offset[i + 1]);
        coll_wait(g);
    }
    offset[0] = 0;
    for (int i = 0; i < g->set.size; i++)
        offset[i + 1] += offset[i];
}

void coll_collect(const struct group *g, void *dest, const void *src, size_t n)
{
    size_t offset[g->set.size + 1];
    gather_offsets(g, offset, n);
    check_symmetric("shmem_collect", "dest", dest, settings.check ? offset[g->set.size] : 0);
    if (unlikely(coll_is_spanning(g))) {
        for (int i = 0; i < g->set.size; i++)
            offset[i] = offset[i + 1] - offset[i];
        gather_spanning(g, dest, src, n, offset);
        return;
    }
    // Where it lies here tells where the others' lie, also when nothing of it is given.
    check_symmetric("shmem_collect", "source", src, settings.check && offset[g->set.size] ? 1 : 0);
    pull_all(g, dest, src, offset, n);
    coll_sync(g);
    if (!g->team)
        g->psync[2] = 0;
}

static void copy_strided(char *dest, const char *src, ptrdiff_t dst, ptrdiff_t sst, size_t nelems,
                         size_t size)
{
    if (dst == 1 && sst == 1) {
        copy(dest, src, nelems * size);
        return;
    }
    for (size_t i = 0; i < nelems; i++)
        copy_bytes(dest + (ptrdiff_t)i * dst * (ptrdiff_t)size,
                   src + (ptrdiff_t)i * sst * (ptrdiff_t)size, size);
}

// Member i's block for this PE to its place, when blocks do not travel through the areas.
static void fetch_block(const struct group *g, int i, char *to, const char *from, ptrdiff_t dst,
                        ptrdiff_t sst, size_t nelems, size_t size)
{
    int pe = set_pe(&g->set, i);
    if (world_is_here(pe))
        copy_strided(to, shared_at(from, pe), dst, sst, nelems, size);
    else if (dst == 1 && sst == 1)
        coll_fetch(g, i, from, nelems * size, to);
    else
        for (size_t k = 0; k < nelems; k++)
            coll_fetch(g, i, from + (ptrdiff_t)k * sst * (ptrdiff_t)size, size,
                       to + (ptrdiff_t)k * dst * (ptrdiff_t)size);
}

// Strided blocks travel through copies.
static void alltoall_spanning(const struct group *g, void *dest, const void *src, ptrdiff_t dst,
                              ptrdiff_t sst, size_t nelems, size_t size)
{
    size_t all = nelems * (size_t)g->set.size;
    char *out = sst == 1 ? NULL : arena_alloc(all * size);
    char *in = dst == 1 ? NULL : arena_alloc(all * size);
    if ((sst != 1 && !out) || (dst != 1 && !in))
        fatal("shmem_alltoalls: no memory for copies of %zu bytes", all * size);
    if (out)
        copy_strided(out, src, 1, sst, all, size);
    shoal_coll_t c = {.kind = SHOAL_COLL_ALLTOALL,
                      .dst = in ? in : dest,
                      .src = out ? out : src,
                      .count = nelems * size,
                      .element_size = 1};
    coll_span_call(g, &c, NULL);
    if (in)
        copy_strided(dest, in, dst, 1, all, size);
    arena_free(out);
    arena_free(in);
}

void coll_alltoall(const struct group *g, void *dest, const void *src, ptrdiff_t dst, ptrdiff_t sst,
                   size_t nelems, size_t size)
{
    size_t block = nelems * size;
    if (unlikely(coll_is_spanning(g))) {
        alltoall_spanning(g, dest, src, dst, sst, nelems, size);
        return;
    }
    bool brief = coll_is_short(g, block * (size_t)g->set.size) && sst == 1;
    if (brief) {
        exchange_enter(g->team);
        exchange_publish(g->team, src, block * (size_t)g->set.size);
    } else {
        coll_sync(g);
    }
    for (int k = 0, i = g->me; k < g->set.size; k++, i = i + 1 < g->set.size ? i + 1 : 0) {
        char *to = (char *)dest + (ptrdiff_t)((size_t)i * block) * dst;
        ptrdiff_t at = (ptrdiff_t)((size_t)g->me * block) * sst;
        if (brief)
            copy_strided(to,
                         (const char *)exchange_read(g->team, i, block * (size_t)g->set.size) + at,
                         dst, sst, nelems, size);
        else
            fetch_block(g, i, to, (const char *)src + at, dst, sst, nelems, size);
    }
    if (brief)
        exchange_leave(g->team, true);
    else
        coll_sync(g);
}
