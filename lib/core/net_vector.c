// SPDX-License-Identifier: BSD-3-Clause
// See net_vector.h.
#include "net_vector.h"

#include "copy.h"
#include "elements.h"
#include "region.h"
#include "tunables.h"
#include "world.h"

#include <string.h>

enum { SHORT = 1024 }; // bytes; longer parts go by themselves

// Parts of n bytes each, the first at `offset` from op->remote, each `step` behind the one before.
struct record {
    uint64_t offset;
    int32_t step;
    uint16_t parts, n;
};

static bool brings(int kind)
{
    return kind == SHOAL_WORK_GET || kind == OPERATION_FETCH_ACC;
}

static inline void copy(void *to, const void *from, size_t n)
{
    if (n <= 32)
        copy_few(to, from, n);
    else
        copy_bytes(to, from, n);
}

// ---- Who asks
// The data of gets comes in one piece.
static bool follows(int kind, const shoal_part_t *before, const shoal_part_t *p)
{
    return p->n <= SHORT && p->remote.region == before->remote.region &&
           p->remote.stamp == before->remote.stamp &&
           (kind != SHOAL_WORK_GET || (char *)before->local + before->n == p->local);
}

static int64_t step_to(const shoal_part_t *p)
{
    return (int64_t)(p->remote.offset - p[-1].remote.offset);
}

// The record of the first of them and those behind it that it has room for.
static struct record record_of(int kind, const shoal_part_t part[], size_t parts)
{
    struct record r = {.offset = part[0].remote.offset, .parts = 1, .n = (uint16_t)part[0].n};
    int64_t step = parts > 1 ? step_to(&part[1]) : 0;
    while (step == (int32_t)step && r.parts < parts && r.parts < UINT16_MAX &&
           part[r.parts].n == r.n && step_to(&part[r.parts]) == step &&
           follows(kind, &part[r.parts - 1], &part[r.parts]))
        r.parts++;
    r.step = r.parts > 1 ? (int32_t)step : 0;
    return r;
}

size_t vector_fit(int kind, const shoal_part_t part[], size_t parts, size_t room)
{
    size_t i = 0, records = 0, data = 0;
    while (i < parts && part[i].n <= SHORT && (i == 0 || follows(kind, &part[i - 1], &part[i]))) {
        size_t used = kind == SHOAL_WORK_GET ? data : data + records + sizeof(struct record);
        records += sizeof(struct record);
        if (records > room || used > room)
            break;
        size_t most = part[i].n ? (room - used) / part[i].n : parts;
        size_t n = most ? record_of(kind, part + i, most < parts - i ? most : parts - i).parts : 0;
        if (n == 0)
            break;
        data += n * part[i].n;
        i += n;
    }
    return i;
}

void vector_make(const struct operation *like, const shoal_part_t part[], size_t parts,
                 struct operation *op)
{
    size_t data = 0, records = 0;
    for (size_t i = 0; i < parts; records++) {
        struct record r = record_of(like->kind, part + i, parts - i);
        data += (size_t)r.parts * r.n;
        i += r.parts;
    }
    *op = *like;
    op->kind = OPERATION_VECTOR;
    op->each = (uint8_t)like->kind;
    op->remote = part[0].remote;
    op->n = records * sizeof(struct record) + (like->kind != SHOAL_WORK_GET ? data : 0);
    op->a = brings(like->kind) ? data : 0;
    op->b = records;
}

void vector_fill(const struct operation *op, const shoal_part_t part[], size_t parts, void *room)
{
    bool gives = op->each != SHOAL_WORK_GET;
    struct record *record = room;
    char *to = (char *)(record + op->b);
    for (size_t i = 0; i < parts;) {
        struct record r = record_of(op->each, part + i, parts - i);
        for (size_t end = i + r.parts; i < end; i++) {
            if (gives && r.n && part[i].local)
                copy(to, part[i].local, r.n);
            else if (gives) // there is no operand
                memset(to, 0, r.n);
            to += gives ? r.n : 0;
        }
        r.offset -= op->remote.offset;
        *record++ = r;
    }
}

// ---- Who is asked
bool vector_is_sound(const struct operation *op, size_t n)
{
    size_t records = op->b * sizeof(struct record);
    return n == op->n && op->b <= n / sizeof(struct record) && op->a <= LIMIT_BOUNCE &&
           (brings(op->each) || op->a == 0) && (op->each != SHOAL_WORK_GET || n == records);
}

// The usual case: all parts of a record are in memory that is here. False: nothing was done.
static bool move_here(int kind, const shoal_rptr_t *first, const struct record *r, char *data,
                      char *back)
{
    struct place at;
    if ((kind != SHOAL_WORK_PUT && kind != SHOAL_WORK_GET) || r->step < 0 ||
        region_resolve(first, (size_t)(r->parts - 1) * (size_t)r->step + r->n, &at))
        return false;
    char *there = place_here(at);
    for (size_t i = 0; there && i < r->parts; i++, there += r->step)
        if (kind == SHOAL_WORK_PUT)
            copy(there, data + i * r->n, r->n);
        else
            copy(back + i * r->n, there, r->n);
    return there;
}

static int run_each(struct operation *one, const struct record *r, char *data, char *back,
                    int *needs)
{
    int status = SHOAL_OK;
    for (size_t i = 0; i < r->parts && !status; i++) {
        one->local = place_of(data ? data + i * r->n : back + i * r->n);
        one->local2 = place_of(back ? back + i * r->n : NULL);
        status = operation_run(one, needs);
        one->remote = shoal_rptr_add(one->remote, r->step);
    }
    return status;
}

int vector_run(const struct operation *op, int *needs)
{
    struct operation one = *op;
    char *records = place_here(op->local), *data = records + op->b * sizeof(struct record);
    char *back = brings(op->each) ? place_here(op->local2) : NULL;
    size_t given = op->n - op->b * sizeof(struct record), room = op->a, size = 1;
    bool gives = op->each != SHOAL_WORK_GET;
    if (op->each == OPERATION_ACC || op->each == OPERATION_FETCH_ACC)
        size = element_size((shoal_type_t)op->type);
    int status = SHOAL_OK;
    one.kind = op->each;
    one.has_local = true;
    one.a = one.b = 0;
    for (uint64_t i = 0; i < op->b && !status; i++) {
        struct record r;
        memcpy(&r, records + i * sizeof r, sizeof r);
        size_t all = (size_t)r.parts * r.n;
        if ((gives && all > given) || (back && all > room) || r.n % size)
            return SHOAL_ERANGE;
        one.remote = shoal_rptr_add(op->remote, (ptrdiff_t)r.offset);
        one.n = r.n;
        if (!move_here(op->each, &one.remote, &r, data, back))
            status = run_each(&one, &r, gives ? data : NULL, back, needs);
        data += gives ? all : 0;
        given -= gives ? all : 0;
        back += back ? all : 0;
        room -= back ? all : 0;
    }
    peer_wake(op->remote.pe);
    return status;
}
