// SPDX-License-Identifier: BSD-3-Clause
// Strided transfers; contiguous ones are inline in rma.h.
#include "rma.h"

#include "copy.h"
#include "log.h"
#include "net.h"
#include "net_flight.h"
#include "net_vector.h"
#include "region.h"

#include <stdlib.h>

void rma_put_copy(void *to, const void *from, size_t n, struct bell *bell)
{
    rma_copy(to, from, n);
    bell_check(bell);
}

// Bytes from the first to the end of the last block, on the side with this stride; more than there
// is anywhere when that overflows.
static size_t extent(const struct rma_strides *s, ptrdiff_t stride)
{
    size_t n;
    if (!s->count || !s->block)
        return 0;
    return __builtin_mul_overflow(s->count - 1, (size_t)stride, &n) ||
                   __builtin_add_overflow(n, s->block, &n) || __builtin_mul_overflow(n, s->size, &n)
               ? SIZE_MAX
               : n;
}

static void check_strides(const char *call, const struct rma_strides *s)
{
    ptrdiff_t least = s->block > 1 ? (ptrdiff_t)s->block : 1;
    if (s->count > 1 && s->block && (s->dst < least || s->sst < least))
        fatal("%s: arguments dst %td and sst %td must be at least %td elements", call, s->dst,
              s->sst, least);
}

// Elements of a size known to the compiler are single loads and stores.
static inline void copy_blocks(char *to, const char *from, ptrdiff_t to_step, ptrdiff_t from_step,
                               size_t count, size_t bytes)
{
    for (; count; count--, to += to_step, from += from_step)
        copy_bytes(to, from, bytes);
}

static void copy_strided(char *to, const char *from, ptrdiff_t to_step, ptrdiff_t from_step,
                         const struct rma_strides *s)
{
    size_t bytes = s->block * s->size;
    switch (bytes) {
    case 2: copy_blocks(to, from, to_step, from_step, s->count, 2); return;
    case 4: copy_blocks(to, from, to_step, from_step, s->count, 4); return;
    case 8: copy_blocks(to, from, to_step, from_step, s->count, 8); return;
    default: copy_blocks(to, from, to_step, from_step, s->count, bytes);
    }
}

static shoal_rptr_t rptr_of(const void *own, int pe)
{
    struct place at = place_of(own);
    return (shoal_rptr_t){.offset = at.offset,
                          .pe = pe,
                          .region = at.space == SPACE_DATA ? REGION_DATA : REGION_SLICE};
}

// To another node by messages, whose answers are waited for. False: nothing was done, as there are few of them.
static bool put_far(struct shoal_ctx *ctx, const char *call, void *dest, ptrdiff_t to_step,
                    const void *src, ptrdiff_t from_step, const struct rma_strides *s, int pe)
{
    enum { LEAST = 256 }; // fewer are sooner gathered with others
    const struct rows rows = {rptr_of(dest, pe), (char *)src, to_step,
                              from_step,         s->count,    s->block * s->size};
    if (s->count < LEAST || world_is_here(pe))
        return false;
    remote_alone(ctx);
    struct flight *f = flight_new(true);
    bool are_rows = flight_add_rows(f, SHOAL_WORK_PUT, &rows);
    int status = flight_wait(f);
    if (status)
        net_failed(call, pe, status);
    return are_rows;
}

void rma_iput(struct shoal_ctx *ctx, const char *call, enum call_id id, void *dest, const void *src,
              const struct rma_strides *s, int pe)
{
    call_note(id, pe);
    check_strides(call, s);
    ptrdiff_t to_step = s->dst * (ptrdiff_t)s->size, from_step = s->sst * (ptrdiff_t)s->size;
    size_t whole = extent(s, s->dst);
    char *to = peer_at(dest, whole, pe);
    if (likely(to != NULL)) {
        copy_strided(to, src, to_step, from_step, s);
        peer_wake(pe);
        return;
    }
    check_up(call);
    check_pe(call, pe);
    check_symmetric(call, "dest", dest, whole);
    if (put_far(ctx, call, dest, to_step, src, from_step, s, pe))
        return;
    for (size_t i = 0; i < s->count; i++)
        remote_put(ctx, call, (char *)dest + (ptrdiff_t)i * to_step,
                   (const char *)src + (ptrdiff_t)i * from_step, s->block * s->size, pe, false);
}

// From another node many short blocks come by a message, one behind the other, and longer ones beside each
// other, where they belong.
static void get_blocks(const char *call, char *dest, ptrdiff_t to_step, shoal_rptr_t from,
                       ptrdiff_t from_step, const struct rma_strides *s)
{
    enum { PARTS = 64 };
    shoal_part_t part[PARTS];
    struct operation like = {
        .kind = SHOAL_WORK_GET, .initiator = world.me, .remote = from, .has_local = true};
    const struct rows rows = {from, dest, from_step, to_step, s->count, s->block * s->size};
    struct flight *f = flight_new(true);
    bool are_rows = flight_add_rows(f, SHOAL_WORK_GET, &rows);
    for (size_t done = 0, parts; done < s->count && !are_rows; done += parts) {
        for (parts = 0; parts < PARTS && done + parts < s->count; parts++) {
            ptrdiff_t i = (ptrdiff_t)(done + parts);
            part[parts] = (shoal_part_t){shoal_rptr_add(from, i * from_step), dest + i * to_step,
                                         s->block * s->size};
        }
        flight_add_parts(f, &like, part, parts);
    }
    int status = flight_wait(f);
    if (status)
        net_failed(call, from.pe, status);
}

static void get_far(const char *call, char *dest, ptrdiff_t to_step, const char *src,
                    ptrdiff_t from_step, const struct rma_strides *s, int pe)
{
    enum { SHORT = 1024, ROOM = 1 << 18 };
    size_t bytes = s->block * s->size, at_once = bytes < SHORT ? ROOM / bytes : s->count;
    bool is_dense = to_step == (ptrdiff_t)bytes || bytes >= SHORT;
    size_t most = at_once < s->count ? at_once : s->count;
    char *room = is_dense ? NULL : malloc(most * bytes);
    shoal_rptr_t from = rptr_of(src, pe);
    struct rma_strides some = *s;
    if (!room) { // there is none, or no need of it
        get_blocks(call, dest, to_step, from, from_step, s);
        return;
    }
    for (size_t done = 0; done < s->count; done += some.count) {
        some.count = s->count - done < most ? s->count - done : most;
        get_blocks(call, room, (ptrdiff_t)bytes, shoal_rptr_add(from, (ptrdiff_t)done * from_step),
                   from_step, &some);
        copy_strided(dest + (ptrdiff_t)done * to_step, room, to_step, (ptrdiff_t)bytes, &some);
    }
    free(room);
}

void rma_iget(struct shoal_ctx *ctx, const char *call, enum call_id id, void *dest, const void *src,
              const struct rma_strides *s, int pe)
{
    call_note(id, pe);
    check_strides(call, s);
    ptrdiff_t to_step = s->dst * (ptrdiff_t)s->size, from_step = s->sst * (ptrdiff_t)s->size;
    size_t whole = extent(s, s->sst);
    const char *from = peer_at(src, whole, pe);
    if (likely(from != NULL)) {
        copy_strided(dest, from, to_step, from_step, s);
        atomic_thread_fence(memory_order_acquire); // as in rma_get
        return;
    }
    check_up(call);
    check_pe(call, pe);
    check_symmetric(call, "source", src, whole);
    if (!world_is_here(pe)) {
        if (whole)
            get_far(call, dest, to_step, src, from_step, s, pe);
        return;
    }
    for (size_t i = 0; i < s->count; i++)
        remote_get(ctx, call, (char *)dest + (ptrdiff_t)i * to_step,
                   (const char *)src + (ptrdiff_t)i * from_step, s->block * s->size, pe, false);
}
