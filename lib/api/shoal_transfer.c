// SPDX-License-Identifier: BSD-3-Clause
// shoal.h: "Transfers". On a node everything is complete when the call returns, and without an event
// between nodes too; an event is then done at once.
#include "shoal_transfer.h"

#include "shoal_check.h"

#include "copy.h"
#include "counter.h"
#include "elements.h"
#include "help.h"
#include "net_flight.h"
#include "net_vector.h"
#include "operation.h"
#include "region.h"

#include <stdlib.h>
#include <string.h>
#include <sys/uio.h>

enum { PARTS = 256 }; // moved by one call of the kernel

static int end(int status, shoal_event_t *event)
{
    if (event)
        *event = (shoal_event_t){.status = status};
    return status;
}

// ---- One operation, here, with help, or begun at another node. Everything that can be wrong has been
// looked at before.
static struct flight *flight_of(struct call *c)
{
    if (!c->flight && c->event && !c->comp.has_comp)
        c->returns = (c->flight = flight_new(false)) != NULL;
    if (!c->flight)
        c->flight = flight_new(true);
    return c->flight;
}

int transfer_move(struct call *c, struct operation *op)
{
    if (unlikely(!world_is_here(c->pe))) {
        if (op->has_local && !place_here(op->local))
            return SHOAL_EFAULT;
        flight_add(flight_of(c), op, c->pe);
        return SHOAL_OK;
    }
    int needs, status = operation_run(op, &needs);
    return status == SHOAL_EAGAIN ? help_run(op, needs) : status;
}

int transfer_begin(struct call *c, shoal_rptr_t remote, size_t n, const shoal_comp_t *comp,
                   shoal_event_t *event)
{
    struct place at;
    int status = region_resolve(&remote, n, &at);
    c->pe = remote.pe;
    c->event = event;
    c->flight = NULL;
    c->returns = false;
    return status ? status : completion_from(comp, remote.pe, &c->comp);
}

int transfer_finish(const struct call *c, int status)
{
    if (c->returns && !status) {
        flight_leave(c->flight, c->event);
        return SHOAL_OK;
    }
    int flown = c->flight ? flight_wait(c->flight) : SHOAL_OK;
    status = status ? status : flown;
    if (c->comp.has_comp && !status)
        status = completion_run(&c->comp.comp, world.me, c->pe);
    else if (c->comp.has_comp && c->comp.comp.initiator_ct)
        counter_add(counter_at(world.me, c->comp.comp.initiator_ct), world.me, 0, 1);
    return end(status, c->event);
}

// As rma_copy, but the two may overlap.
static inline void copy(void *to, const void *from, size_t n)
{
    if (n == sizeof(uint64_t))
        memmove(to, from, sizeof(uint64_t));
    else
        copy_move(to, from, n);
}

// Private memory of another PE of this node, by a call of the kernel and little else. SHOAL_EAGAIN:
// it is none, or that does not work.
static int copy_private(int kind, struct place at, void *local, size_t n)
{
    bool puts = kind == SHOAL_WORK_PUT;
    if (at.space != SPACE_PRIVATE || at.pe == world.me || !world_is_here(at.pe) || !n)
        return SHOAL_EAGAIN;
    int status = place_copy_private(at.pe, puts, &(struct iovec){local, n},
                                    &(struct iovec){(void *)(uintptr_t)at.offset, n}, 1);
    if (status == SHOAL_OK && puts)
        peer_wake(at.pe);
    return status;
}

static int transfer(int kind, shoal_rptr_t remote, struct place at, void *local, size_t n,
                    const shoal_comp_t *comp, shoal_event_t *event)
{
    struct call c;
    int near = comp || !local ? SHOAL_EAGAIN : copy_private(kind, at, local, n);
    if (near != SHOAL_EAGAIN)
        return end(near, near == SHOAL_OK ? event : NULL);
    struct operation op = {.kind = kind,
                           .initiator = world.me,
                           .remote = remote,
                           .n = n,
                           .local = place_of(local),
                           .has_local = true};
    if (n && !local)
        return SHOAL_EINVAL;
    int status = transfer_begin(&c, remote, n, comp, event);
    return status ? status : transfer_finish(&c, transfer_move(&c, &op));
}

PUBLIC void shoal_copy(void *to, const void *from, size_t n)
{
    copy_bytes(to, from, n);
}

PUBLIC void shoal_copy_streaming(void *to, const void *from, size_t n)
{
    copy_streaming(to, from, n);
}

PUBLIC int shoal_put(shoal_rptr_t to, const void *from, size_t n, const shoal_comp_t *comp,
                     shoal_event_t *event)
{
    struct place at;
    if (unlikely(!shoal_is_up()))
        return SHOAL_EINIT;
    int status = region_resolve(&to, n, &at);
    void *here = status ? NULL : place_here(at);
    if (unlikely(!here || comp || !from))
        return status ? status : transfer(SHOAL_WORK_PUT, to, at, (void *)from, n, comp, event);
    copy(here, from, n);
    peer_wake(at.pe);
    return end(SHOAL_OK, event);
}

PUBLIC int shoal_get(void *to, shoal_rptr_t from, size_t n, const shoal_comp_t *comp,
                     shoal_event_t *event)
{
    struct place at;
    if (unlikely(!shoal_is_up()))
        return SHOAL_EINIT;
    int status = region_resolve(&from, n, &at);
    const void *here = status ? NULL : place_here(at);
    if (unlikely(!here || comp || !to))
        return status ? status : transfer(SHOAL_WORK_GET, from, at, to, n, comp, event);
    copy(to, here, n);
    return end(SHOAL_OK, event);
}

// ---- Many parts
int transfer_check(const shoal_part_t part[], size_t parts, bool has_local)
{
    struct place at;
    int status = part && parts ? SHOAL_OK : SHOAL_EINVAL;
    for (size_t i = 0; i < parts && !status; i++) {
        if (part[i].remote.pe != part[0].remote.pe || (has_local && part[i].n && !part[i].local))
            return SHOAL_EINVAL;
        status = region_resolve(&part[i].remote, part[i].n, &at);
    }
    return status;
}

void transfer_move_far(struct call *c, const struct operation *like, const shoal_part_t part[],
                       size_t parts)
{
    flight_add_parts(flight_of(c), like, part, parts);
}

static int move_each(struct call *c, const struct operation *like, const shoal_part_t part[],
                     size_t parts)
{
    int status = SHOAL_OK;
    if (!world_is_here(c->pe)) {
        transfer_move_far(c, like, part, parts);
        return status;
    }
    for (size_t i = 0; i < parts && !status; i++) {
        struct operation op = operation_of_part(like, &part[i]);
        status = transfer_move(c, &op);
    }
    return status;
}

static bool may_help(const shoal_rptr_t *r)
{
    struct place at;
    return r->pe != world.me && world_is_here(r->pe) && region_resolve(r, 0, &at) == SHOAL_OK &&
           at.space == SPACE_PRIVATE;
}

// The first ones, short, in private memory of a PE of this node, which moves them itself: how many.
static size_t move_with_help(int kind, const shoal_part_t part[], size_t parts)
{
    return may_help(&part[0].remote) ? help_move_parts(kind, part[0].remote.pe, part, parts) : 0;
}

// Up to PARTS of them by few calls of the kernel where all are private memory of a PE of this node.
// SHOAL_EAGAIN: they are not, or it does not work.
static int move_private(int kind, const shoal_part_t part[], size_t parts)
{
    struct iovec own[PARTS], there[PARTS];
    int pe = part[0].remote.pe;
    for (size_t i = 0; i < parts; i++) {
        struct place at;
        int status = region_resolve(&part[i].remote, part[i].n, &at);
        if (status)
            return status;
        if (at.space != SPACE_PRIVATE || pe == world.me || !world_is_here(pe))
            return SHOAL_EAGAIN;
        own[i] = (struct iovec){part[i].local, part[i].n};
        there[i] = (struct iovec){(void *)(uintptr_t)at.offset, part[i].n};
    }
    int status = place_copy_private(pe, kind == SHOAL_WORK_PUT, own, there, parts);
    if (status == SHOAL_OK && kind == SHOAL_WORK_PUT)
        peer_wake(pe);
    return status;
}

// Those up to the first that is not reached by load and store: *copied of them. SHOAL_EAGAIN: there is such a one.
static int copy_parts(int kind, const shoal_part_t part[], size_t parts, size_t *copied)
{
    bool puts = kind == SHOAL_WORK_PUT;
    for (size_t i = 0; i < parts; i++, *copied = i) {
        struct place at;
        int status = region_resolve(&part[i].remote, part[i].n, &at);
        void *there = status ? NULL : place_here(at);
        if (!there)
            return status ? status : SHOAL_EAGAIN;
        if (part[i].n)
            copy(puts ? there : part[i].local, puts ? part[i].local : there, part[i].n);
    }
    if (puts)
        peer_wake(part[0].remote.pe);
    return SHOAL_OK;
}

// The first ones, those of a kind: how many. At another node all go together.
static size_t move_first(struct call *c, const struct operation *like, const shoal_part_t part[],
                         size_t parts, bool moves, int *status)
{
    size_t n = moves ? move_with_help(like->kind, part, parts) : 0;
    *status = SHOAL_OK;
    if (n)
        return n;
    n = parts < PARTS || !world_is_here(c->pe) ? parts : PARTS;
    *status = moves && world_is_here(c->pe) ? move_private(like->kind, part, n) : SHOAL_EAGAIN;
    if (*status == SHOAL_EAGAIN)
        *status = move_each(c, like, part, n);
    return n;
}

static int move_some(struct call *c, const struct operation *like, const shoal_part_t part[],
                     size_t parts)
{
    bool moves = like->kind == SHOAL_WORK_PUT || like->kind == SHOAL_WORK_GET;
    int status = SHOAL_OK;
    for (size_t done = 0; done < parts && !status;) {
        size_t copied = 0;
        status = moves ? copy_parts(like->kind, part + done, parts - done, &copied) : SHOAL_EAGAIN;
        done += copied;
        if (status == SHOAL_EAGAIN)
            done += move_first(c, like, part + done, parts - done, moves, &status);
    }
    return status;
}

// ---- Strided: copies where memory is reached by load and store, else many blocks together, but for those of a
// scale, each of which is an operation.
struct blocks {
    size_t n;
    shoal_part_t part[PARTS];
};

static int move_blocks(struct call *c, const struct operation *op, struct blocks *b)
{
    int status = b->n ? move_some(c, op, b->part, b->n) : SHOAL_OK;
    b->n = 0;
    return status;
}

static void copy_blocks(bool puts, char *there, char *local, const struct strides *s, int level)
{
    if (level == 0) {
        copy(puts ? there : local, puts ? local : there, s->count[0]);
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
        int status = together->n == PARTS ? move_blocks(c, op, together) : SHOAL_OK;
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

// Many of the innermost dimension, from the first on, at once: how many.
static size_t move_rows(struct call *c, const struct operation *op, char *local,
                        const struct strides *s)
{
    enum { LEAST = 32, LEAST_FAR = 2 * PARTS }; // fewer are kept with those of the next dimension
    struct rows rows = {op->remote, local, s->remote[0], s->local[0], s->count[1], s->count[0]};
    if (!world_is_here(c->pe))
        return rows.parts < LEAST_FAR ? 0 : flight_add_rows(flight_of(c), op->kind, &rows);
    size_t done = 0, n = rows.parts >= LEAST && may_help(&rows.remote);
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

static int for_blocks(struct call *c, struct operation *op, char *local, const struct strides *s,
                      int level, struct blocks *together)
{
    int status = SHOAL_OK;
    if (level == 0)
        return move_block(c, op, local, s->count[0], together);
    uint64_t start = op->remote.offset;
    size_t i = level == 1 && together ? move_rows(c, op, local, s) : 0;
    for (; i < s->count[level] && !status; i++) {
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

// ---- Vectors
static int move_parts(int kind, const shoal_part_t part[], size_t parts, const shoal_comp_t *comp,
                      shoal_event_t *event)
{
    struct call c;
    struct operation op = {.kind = kind, .initiator = world.me};
    if (!shoal_is_up())
        return SHOAL_EINIT;
    int status = transfer_check(part, parts, true);
    if (!status)
        status = transfer_begin(&c, part[0].remote, 0, comp, event);
    if (status)
        return status;
    return transfer_finish(&c, move_some(&c, &op, part, parts));
}

PUBLIC int shoal_putv(const shoal_part_t part[], size_t parts, const shoal_comp_t *comp,
                      shoal_event_t *event)
{
    return move_parts(SHOAL_WORK_PUT, part, parts, comp, event);
}

PUBLIC int shoal_getv(const shoal_part_t part[], size_t parts, const shoal_comp_t *comp,
                      shoal_event_t *event)
{
    return move_parts(SHOAL_WORK_GET, part, parts, comp, event);
}
