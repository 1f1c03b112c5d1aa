// SPDX-License-Identifier: BSD-3-Clause
// Reductions and scans. Both go through the members in their order for every element, so results
// repeat bit for bit. Short arrays: everybody reads everybody's slot. Long ones: each member takes
// a slice of the elements, reads it from every source, and stores the result to every destination.
#include "coll.h"

#include "coll_span.h"
#include "copy.h"
#include "exchange.h"

#include <string.h>

// What a slice's walk does at each member: reduce stores once at the end, scans at every member.
enum flavour { REDUCE, SCAN_INCLUSIVE, SCAN_EXCLUSIVE };

static void reduce_short(const struct group *g, const struct reduce_op *op, void *dest,
                         const void *src, size_t n)
{
    size_t bytes = n * op->size;
    LINE_ALIGNED unsigned char acc[LIMIT_COLL_SLOT];
    exchange_enter(g->team);
    exchange_publish(g->team, src, bytes);
    copy_bytes(acc, exchange_read(g->team, 0, bytes), bytes);
    for (int i = 1; i < g->set.size; i++)
        op->fn(acc, exchange_read(g->team, i, bytes), n);
    exchange_leave(g->team, true);
    if (bytes)
        copy_bytes(dest, acc, bytes);
}

static void scan_short(const struct group *g, const struct reduce_op *op, void *dest,
                       const void *src, size_t n, int last)
{
    size_t bytes = n * op->size;
    LINE_ALIGNED unsigned char acc[LIMIT_COLL_SLOT];
    memset(acc, 0, bytes);
    exchange_enter(g->team);
    exchange_publish(g->team, src, bytes);
    if (last >= 0)
        copy_bytes(acc, exchange_read(g->team, 0, bytes), bytes);
    for (int i = 1; i <= last; i++)
        op->fn(acc, exchange_read(g->team, i, bytes), n);
    exchange_leave(g->team, false);
    if (bytes)
        copy_bytes(dest, acc, bytes);
}

static void reduce_block(const struct group *g, const struct reduce_op *op, void *dest,
                         const void *src, size_t at, size_t n)
{
    LINE_ALIGNED unsigned char acc[LIMIT_COLL_BLOCK], part[LIMIT_COLL_BLOCK];
    size_t bytes = n * op->size;
    copy_bytes(acc, coll_look(g, 0, (const char *)src + at, bytes, part), bytes);
    for (int i = 1; i < g->set.size; i++)
        op->fn(acc, coll_look(g, i, (const char *)src + at, bytes, part), n);
    for (int i = 0; i < g->set.size; i++)
        coll_store(g, i, (char *)dest + at, acc, bytes);
}

// dest may be src: a member's elements are read before they are overwritten.
static void scan_block(const struct group *g, const struct reduce_op *op, void *dest,
                       const void *src, size_t at, size_t n, enum flavour flavour)
{
    LINE_ALIGNED unsigned char acc[LIMIT_COLL_BLOCK], part[LIMIT_COLL_BLOCK], far[LIMIT_COLL_BLOCK];
    size_t bytes = n * op->size;
    memset(acc, 0, bytes);
    for (int i = 0; i < g->set.size; i++) {
        copy_bytes(part, coll_look(g, i, (const char *)src + at, bytes, far), bytes);
        if (flavour == SCAN_EXCLUSIVE)
            coll_store(g, i, (char *)dest + at, acc, bytes);
        if (i == 0)
            copy_bytes(acc, part, bytes);
        else
            op->fn(acc, part, n);
        if (flavour == SCAN_INCLUSIVE)
            coll_store(g, i, (char *)dest + at, acc, bytes);
    }
}

static void by_slices(const struct group *g, const struct reduce_op *op, void *dest,
                      const void *src, size_t n, enum flavour flavour)
{
    size_t block = LIMIT_COLL_BLOCK / op->size;
    size_t first = n / (size_t)g->set.size * (size_t)g->me;
    size_t end = g->me == g->set.size - 1 ? n : first + n / (size_t)g->set.size;
    coll_sync(g);
    for (size_t at = first; at < end; at += block) {
        size_t count = end - at < block ? end - at : block;
        if (flavour == REDUCE)
            reduce_block(g, op, dest, src, at * op->size, count);
        else
            scan_block(g, op, dest, src, at * op->size, count, flavour);
    }
    coll_sync(g);
}

static void spanning(const struct group *g, const struct reduce_op *op, void *dest, const void *src,
                     size_t n, int kind)
{
    shoal_coll_t c = {.kind = kind, .dst = dest, .src = src, .count = n, .element_size = op->size};
    coll_span_call(g, &c, op);
}

void coll_reduce(const struct group *g, const struct reduce_op *op, void *dest, const void *src,
                 size_t n)
{
    if (unlikely(coll_is_spanning(g)))
        spanning(g, op, dest, src, n, SHOAL_COLL_ALLREDUCE);
    else if (coll_is_short(g, n * op->size))
        reduce_short(g, op, dest, src, n);
    else
        by_slices(g, op, dest, src, n, REDUCE);
}

void coll_scan(const struct group *g, const struct reduce_op *op, void *dest, const void *src,
               size_t n, bool inclusive)
{
    if (unlikely(coll_is_spanning(g)))
        spanning(g, op, dest, src, n, inclusive ? SHOAL_COLL_SCAN : SHOAL_COLL_EXSCAN);
    else if (coll_is_short(g, n * op->size))
        scan_short(g, op, dest, src, n, inclusive ? g->me : g->me - 1);
    else
        by_slices(g, op, dest, src, n, inclusive ? SCAN_INCLUSIVE : SCAN_EXCLUSIVE);
}
