// SPDX-License-Identifier: BSD-3-Clause
// Between a packed stream and the blocks of a layout in memory that is not mapped here, many blocks
// by one call of the runtime: strided where they are loops, else a vector.
#include "rma.h"

#include "rma_words.h"

#include <stdlib.h>

enum { PARTS = 1024 };

struct far {
    struct rma *r;
    char *data;
    bool put;
    size_t n;
    shoal_part_t part[PARTS];
};

static int move_one(shoal_rptr_t at, void *data, size_t n, bool put, shoal_event_t *event)
{
    return put ? shoal_put(at, data, n, NULL, event) : shoal_get(data, at, n, NULL, event);
}

static int flush(struct far *f, shoal_event_t *event)
{
    size_t n = f->n;
    f->n = 0;
    if (n == 0)
        return SHOAL_OK;
    if (n == 1)
        return move_one(f->part[0].remote, f->part[0].local, f->part[0].n, f->put, event);
    return f->put ? shoal_putv(f->part, n, NULL, event) : shoal_getv(f->part, n, NULL, event);
}

static int add(struct far *f, shoal_rptr_t at, size_t n)
{
    int status = f->n == PARTS ? flush(f, NULL) : SHOAL_OK;
    f->part[f->n++] = (shoal_part_t){at, f->data, n};
    f->data += n;
    return status;
}

static int add_block(MPI_Count disp, MPI_Count bytes, void *arg)
{
    struct far *f = arg;
    struct place at;
    int status = SHOAL_OK;
    if (likely(!f->r->is_scattered))
        return add(f, shoal_rptr_add(f->r->at.at, disp), (size_t)bytes);
    while (bytes && status == SHOAL_OK) {
        size_t n = rma_piece(f->r, disp, bytes, &at);
        status = n ? add(f, at.at, n) : SHOAL_EFAULT;
        disp += (MPI_Count)n;
        bytes -= (MPI_Count)n;
    }
    return status;
}

static int move_loops(const struct rma *r, const struct type_loops *l, char *data, bool put,
                      shoal_event_t *event)
{
    shoal_rptr_t at = shoal_rptr_add(r->at.at, l->disp);
    _Static_assert(TYPE_LEVELS <= SHOAL_MAX_LEVELS, "a strided call takes all loops");
    ptrdiff_t dense[TYPE_LEVELS], step = (ptrdiff_t)l->count[0];
    for (int i = 0; i < l->levels; step *= (ptrdiff_t)l->count[++i])
        dense[i] = step;
    return put ? shoal_puts(at, l->stride, data, dense, l->count, l->levels, NULL, event)
               : shoal_gets(data, dense, at, l->stride, l->count, l->levels, NULL, event);
}

int rma_far_move(struct rma *r, void *data, bool put, shoal_event_t *event)
{
    const struct type *there = r->there.type;
    struct type_loops loops;
    size_t bytes = (size_t)(r->there.count * there->size);
    if (there->is_dense && !r->is_scattered)
        return move_one(shoal_rptr_add(r->at.at, there->true_lb), data, bytes, put, event);
    if (!r->is_scattered && type_loops(there, r->there.count, &loops))
        return move_loops(r, &loops, data, put, event);
    struct far *f = malloc(sizeof *f);
    if (!f)
        return SHOAL_ENOMEM;
    f->r = r;
    f->data = data;
    f->put = put;
    f->n = 0;
    int status = type_walk(r->there.type, r->there.count, add_block, f);
    status = status == SHOAL_OK ? flush(f, event) : status;
    free(f);
    return status;
}

// ---- Blocks that are short and close to each other
// Bytes from one to the next on average, and of all. To another node, where many gets may be under way
// and blocks go together otherwise: so many times the data at most.
enum { APART = 1024, SPAN_MOST = 64 << 20, TIMES_FAR = 16, ROWS = 32 };

// The runtime does this itself.
static bool are_rows_here(const struct rma *r)
{
    struct type_loops loops;
    return r->t->control && type_loops(r->there.type, r->there.count, &loops) && loops.levels &&
           loops.count[1] >= ROWS;
}

static int count_block(MPI_Count disp, MPI_Count bytes, void *arg)
{
    MPI_Count *left = arg;
    (void)disp, (void)bytes;
    *left -= APART;
    return *left <= 0;
}

bool rma_far_is_close(const struct rma *r, MPI_Count *lb, MPI_Count *length)
{
    const struct rma_side *there = &r->there;
    if (there->type->is_dense || r->is_scattered || are_rows_here(r))
        return false;
    type_span(there->type, there->count, lb, length);
    MPI_Count left = *length, data = there->count * there->type->size;
    return *length <= SPAN_MOST && (r->t->control || *length / TIMES_FAR <= data) &&
           type_walk(there->type, there->count, count_block, &left);
}

char *rma_far_span(struct rma *r, MPI_Count lb, MPI_Count length)
{
    char *span = malloc((size_t)length);
    if (span && shoal_get(span, shoal_rptr_add(r->at.at, lb), (size_t)length, NULL, NULL)) {
        free(span);
        return NULL;
    }
    return span;
}

int rma_far_get_now(struct rma *r, void *data)
{
    const struct rma_side *there = &r->there;
    MPI_Count lb, length, n = there->count * there->type->size;
    char *span = rma_far_is_close(r, &lb, &length) ? rma_far_span(r, lb, length) : NULL;
    if (!span)
        return rma_far_move(r, data, false, NULL);
    type_pack(there->type, type_base(span, lb), there->count, 0, data, (size_t)n);
    free(span);
    return SHOAL_OK;
}

int rma_far_put_now(shoal_rptr_t at, const void *from, size_t n)
{
    int status = shoal_put(at, from, n, NULL, NULL);
    return status == SHOAL_OK ? shoal_quiet(at.pe) : status;
}

// ---- Elements of a predefined type: those with gaps, of pairs, are put one part of an element each
enum { FEW = 256 };
struct elements {
    shoal_part_t part[FEW];
    size_t parts;
    const shoal_part_t *whole;
};

static int put_parts(struct elements *e)
{
    int status = e->parts ? shoal_putv(e->part, e->parts, NULL, NULL) : SHOAL_OK;
    e->parts = 0;
    return status;
}

static int add_part(MPI_Count disp, MPI_Count bytes, void *arg)
{
    struct elements *e = arg;
    int status = e->parts == FEW ? put_parts(e) : SHOAL_OK;
    e->part[e->parts++] = (shoal_part_t){shoal_rptr_add(e->whole->remote, disp),
                                         (char *)e->whole->local + disp, (size_t)bytes};
    return status;
}

int rma_far_put_elements(const struct type *basic, const shoal_part_t part[], size_t parts)
{
    struct elements e = {.parts = 0};
    int status = SHOAL_OK;
    if (basic->is_dense)
        status = shoal_putv(part, parts, NULL, NULL);
    for (size_t i = 0; i < parts && !basic->is_dense && status == SHOAL_OK; i++) {
        e.whole = &part[i];
        status = type_walk(basic, array_count(basic, part[i].n), add_part, &e);
    }
    if (status == SHOAL_OK)
        status = put_parts(&e);
    int quiet = shoal_quiet(part[0].remote.pe);
    return status == SHOAL_OK ? quiet : status;
}
