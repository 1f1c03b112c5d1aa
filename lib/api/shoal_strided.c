// SPDX-License-Identifier: BSD-3-Clause
// shoal.h: strided transfers.
#include "shoal_transfer.h"

#include "shoal_check.h"

#include "help.h"
#include "net_flight.h"
#include "net_vector.h"
#include "region.h"

#include <stdlib.h>
#include <sys/uio.h>

// Copies where memory is reached by load and store, else many blocks together, but for those of a
// scale, each of which is an operation.
struct blocks {
    size_t n;
    shoal_part_t part[TRANSFER_PARTS];
};

static int move_blocks(struct call *c, const struct operation *op, struct blocks *b)
{
    int status = b->n ? transfer_move_parts(c, op, b->part, b->n) : SHOAL_OK;
    b->n = 0;
    return status;
}

static void copy_blocks(bool puts, char *there, char *local, const struct strides *s, int level)
{
    if (level == 0) {
        transfer_copy(puts ? there : local, puts ? local : there, s->count[0]);
        return;
    }
    for (size_t i = 0; i < s->count[level]; i++)
        copy_blocks(puts, there + (ptrdiff_t)i * s->remote[level - 1],
                    local + (ptrdiff_t)i * s->local[level - 1], s, level - 1);
}

// n bytes from `low` on are touched. SHOAL_EAGAIN: they are not reached like that.
static int copy_strided(const struct operation *op, char *local, const struct strides *s,
                        ptrdiff_t low, size_t n)
{
    struct place at;
    shoal_rptr_t lowest = shoal_rptr_add(op->remote, low);
    bool puts = op->kind == SHOAL_WORK_PUT;
    if (!puts && op->kind != SHOAL_WORK_GET)
        return SHOAL_EAGAIN;
    int status = region_resolve(&lowest, n, &at);
    char *there = status ? NULL : place_here(at);
    if (!there)
        return status ? status : SHOAL_EAGAIN;
    copy_blocks(puts, there - low, local, s, s->levels);
    if (puts)
        peer_wake(at.pe);
    return SHOAL_OK;
}

bool transfer_strides_ok(const struct strides *s)
{
    return s->count && s->levels >= 0 && s->levels <= SHOAL_MAX_LEVELS &&
           (s->levels == 0 || (s->remote && s->local));
}

static bool is_empty(const struct strides *s)
{
    for (int i = 0; i <= s->levels; i++)
        if (s->count[i] == 0)
            return true;
    return false;
}

// The remote bytes from the lowest to the highest touched; false: more than an address can tell.
static bool extent(const struct strides *s, ptrdiff_t *low, size_t *n)
{
    ptrdiff_t high = 0, reach;
    *low = 0;
    for (int i = 1; i <= s->levels; i++) {
        if (s->count[i] - 1 > PTRDIFF_MAX ||
            __builtin_mul_overflow(s->remote[i - 1], (ptrdiff_t)(s->count[i] - 1), &reach) ||
            (reach < 0 ? __builtin_add_overflow(*low, reach, low)
                       : __builtin_add_overflow(high, reach, &high)))
            return false;
    }
    *n = (size_t)high - (size_t)*low;
    return !__builtin_add_overflow(*n, s->count[0], n);
}

static int move_block(struct call *c, struct operation *op, char *local, size_t n,
                      struct blocks *together)
{
    if (together) {
        int status = together->n == TRANSFER_PARTS ? move_blocks(c, op, together) : SHOAL_OK;
        together->part[together->n++] = (shoal_part_t){op->remote, local, n};
        return status;
    }
    op->local = place_of(local);
    op->n = n;
    return transfer_move(c, op);
}

// Of private memory all that is there, and what is asked for out of that: faster by the kernel than row by
// row. How many; 0: they are not close together, or it does not work.
static size_t get_close(const struct rows *all)
{
    enum { SPAN = 65536, APART = 1024 };
    struct place at;
    struct rows rows = *all;
    size_t step = (size_t)rows.remote_step;
    if (rows.remote_step <= 0 || step > APART || rows.n > step)
        return 0;
    rows.parts = rows.parts < SPAN / step ? rows.parts : SPAN / step;
    size_t length = (rows.parts - 1) * step + rows.n;
    char *span = region_resolve(&rows.remote, length, &at) ? NULL : malloc(length);
    if (!span || place_copy_private(at.pe, false, &(struct iovec){span, length},
                                    &(struct iovec){(void *)(uintptr_t)at.offset, length}, 1))
        rows.parts = 0;
    vector_take_rows(&rows, span, rows.remote_step);
    free(span);
    return rows.parts;
}

// Many of n of the innermost dimension, from the first on, at once: how many.
static size_t move_rows(struct call *c, const struct operation *op, char *local,
                        const struct strides *s, size_t n_rows)
{
    enum {
        LEAST = 32,
        LEAST_FAR = 2 * TRANSFER_PARTS
    }; // fewer are kept with those of the next dimension
    struct rows rows = {op->remote, local, s->remote[0], s->local[0], n_rows, s->count[0]};
    if (!world_is_here(c->pe))
        return rows.parts < LEAST_FAR ? 0 : flight_add_rows(transfer_flight(c), op->kind, &rows);
    size_t done = 0, n = rows.parts >= LEAST && transfer_may_help(&rows.remote);
    while (n && rows.parts) {
        n = help_move_rows(op->kind, rows.remote.pe, &rows);
        if (n == 0 && op->kind == SHOAL_WORK_GET)
            n = get_close(&rows);
        done += n;
        rows.parts -= n;
        rows.local += (ptrdiff_t)n * rows.local_step;
        rows.remote = shoal_rptr_add(rows.remote, (ptrdiff_t)n * rows.remote_step);
    }
    return done;
}

// The rest of the rows by the kernel, some at a time: whose they are may look again meanwhile.
static int for_rows(struct call *c, struct operation *op, char *local, const struct strides *s,
                    struct blocks *together)
{
    uint64_t start = op->remote.offset;
    int status = SHOAL_OK;
    for (size_t i = 0, rows = s->count[1]; i < rows && !status;) {
        op->remote.offset = start + i * (uint64_t)s->remote[0];
        i += move_rows(c, op, local + (ptrdiff_t)i * s->local[0], s, rows - i);
        size_t end = rows - i < TRANSFER_PARTS ? rows : i + TRANSFER_PARTS;
        for (; i < end && !status; i++) {
            op->remote.offset = start + i * (uint64_t)s->remote[0];
            status = move_block(c, op, local + (ptrdiff_t)i * s->local[0], s->count[0], together);
        }
    }
    return status;
}

static int for_blocks(struct call *c, struct operation *op, char *local, const struct strides *s,
                      int level, struct blocks *together)
{
    int status = SHOAL_OK;
    if (level == 0)
        return move_block(c, op, local, s->count[0], together);
    if (level == 1 && together)
        return for_rows(c, op, local, s, together);
    uint64_t start = op->remote.offset;
    for (size_t i = 0; i < s->count[level] && !status; i++) {
        op->remote.offset = start + i * (uint64_t)s->remote[level - 1];
        status = for_blocks(c, op, local + (ptrdiff_t)i * s->local[level - 1], s, level - 1,
                            together);
    }
    return status;
}

int transfer_strided(struct operation *op, void *local, const struct strides *s,
                     const shoal_comp_t *comp, shoal_event_t *event)
{
    struct call c;
    ptrdiff_t low = 0;
    size_t n = 0;
    if (!shoal_is_up())
        return SHOAL_EINIT;
    if (!transfer_strides_ok(s))
        return SHOAL_EINVAL;
    bool empty = is_empty(s);
    if (!empty && !local)
        return SHOAL_EINVAL;
    if (!empty && !extent(s, &low, &n))
        return SHOAL_ERANGE;
    op->initiator = world.me;
    op->has_local = true;
    int status = transfer_begin(&c, shoal_rptr_add(op->remote, low), n, comp, event);
    if (status)
        return status;
    if (empty)
        return transfer_finish(&c, SHOAL_OK);
    if (op->value.success) // a scale
        return transfer_finish(&c, for_blocks(&c, op, local, s, s->levels, NULL));
    status = copy_strided(op, local, s, low, n);
    if (status != SHOAL_EAGAIN)
        return transfer_finish(&c, status);
    struct blocks together;
    together.n = 0;
    status = for_blocks(&c, op, local, s, s->levels, &together);
    return transfer_finish(&c, status ? status : move_blocks(&c, op, &together));
}

PUBLIC int shoal_puts(shoal_rptr_t to, const ptrdiff_t to_stride[], const void *from,
                      const ptrdiff_t from_stride[], const size_t count[], int levels,
                      const shoal_comp_t *comp, shoal_event_t *event)
{
    struct strides s = {to_stride, from_stride, count, levels};
    struct operation op = {.kind = SHOAL_WORK_PUT, .remote = to};
    return transfer_strided(&op, (void *)from, &s, comp, event);
}

PUBLIC int shoal_gets(void *to, const ptrdiff_t to_stride[], shoal_rptr_t from,
                      const ptrdiff_t from_stride[], const size_t count[], int levels,
                      const shoal_comp_t *comp, shoal_event_t *event)
{
    struct strides s = {from_stride, to_stride, count, levels};
    struct operation op = {.kind = SHOAL_WORK_GET, .remote = from};
    return transfer_strided(&op, to, &s, comp, event);
}
