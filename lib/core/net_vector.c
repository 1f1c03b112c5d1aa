// SPDX-License-Identifier: BSD-3-Clause
// See net_vector.h.
#include "net_vector.h"

#include "copy.h"
#include "cpus.h"
#include "elements.h"
#include "present.h"
#include "region.h"
#include "tunables.h"
#include "world.h"

#include <string.h>

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
    if (n == sizeof(uint16_t))
        memcpy(to, from, sizeof(uint16_t));
    else if (n <= 32)
        copy_few(to, from, n);
    else
        copy_bytes(to, from, n);
}

static void copy_rows(char *to, ptrdiff_t to_step, const char *from, ptrdiff_t from_step, size_t n,
                      size_t parts)
{
    for (; n == sizeof(uint64_t) && parts; parts--, to += to_step, from += from_step)
        memcpy(to, from, sizeof(uint64_t));
    for (; parts; parts--, to += to_step, from += from_step)
        if (!copy_word(to, from, n))
            copy(to, from, n);
}

// ---- Who asks
// The data of gets comes in one piece.
static bool follows(int kind, const shoal_part_t *before, const shoal_part_t *p)
{
    return p->remote.region == before->remote.region && p->remote.stamp == before->remote.stamp &&
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

size_t vector_fit(int kind, const shoal_part_t part[], size_t parts, size_t longest, size_t room)
{
    size_t i = 0, records = 0, data = 0;
    while (i < parts && part[i].n <= longest && (i == 0 || follows(kind, &part[i - 1], &part[i]))) {
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

// ---- Who asks, for rows
size_t vector_fit_rows(const struct rows *rows, size_t longest, size_t room)
{
    size_t n = rows->n, most = room - sizeof(struct record);
    if (room < sizeof(struct record) || n == 0 || n > longest ||
        rows->remote_step != (int32_t)rows->remote_step)
        return 0;
    most = most / n < UINT16_MAX ? most / n : UINT16_MAX;
    return rows->parts < most ? rows->parts : most;
}

void vector_make_rows(int kind, const struct rows *rows, struct operation *op)
{
    size_t data = rows->parts * rows->n;
    *op = (struct operation){.kind = OPERATION_VECTOR,
                             .initiator = world.me,
                             .remote = rows->remote,
                             .has_local = true,
                             .each = (uint8_t)kind,
                             .n = sizeof(struct record) + (kind == SHOAL_WORK_PUT ? data : 0),
                             .a = kind == SHOAL_WORK_GET ? data : 0,
                             .b = 1};
}

void vector_fill_rows(int kind, const struct rows *rows, void *room)
{
    ptrdiff_t n = (ptrdiff_t)rows->n;
    *(struct record *)room = (struct record){
        .step = (int32_t)rows->remote_step, .parts = (uint16_t)rows->parts, .n = (uint16_t)rows->n};
    if (kind == SHOAL_WORK_PUT)
        copy_rows((char *)room + sizeof(struct record), n, rows->local, rows->local_step, rows->n,
                  rows->parts);
}

void vector_take_rows(const struct rows *rows, const void *from, ptrdiff_t step)
{
    copy_rows(rows->local, rows->local_step, from, step, rows->n, rows->parts);
}

// From the first byte of all parts to the last: how many, and where from op->remote on.
static size_t hull(const struct operation *op, const struct record *r, ptrdiff_t *low)
{
    ptrdiff_t high = *low = 0;
    for (const struct record *end = r + op->b; r < end; r++) {
        ptrdiff_t first = (ptrdiff_t)r->offset, last = first + (ptrdiff_t)r->step * (r->parts - 1);
        ptrdiff_t from = first < last ? first : last, to = (first < last ? last : first) + r->n;
        *low = from < *low ? from : *low;
        high = to > high ? to : high;
    }
    return (size_t)(high - *low);
}

bool vector_is_close(const struct operation *op, const void *room, size_t parts)
{
    ptrdiff_t low;
    return hull(op, room, &low) / page_size() <= parts;
}

// ---- Who is asked
static bool is_there(const struct operation *op, const struct record *records)
{
    ptrdiff_t low;
    struct place at;
    size_t n = hull(op, records, &low);
    shoal_rptr_t lowest = shoal_rptr_add(op->remote, low);
    void *here = region_resolve(&lowest, n, &at) == SHOAL_OK ? place_here(at) : NULL;
    return here && (at.space != SPACE_PRIVATE || present(here, n, op->each == SHOAL_WORK_PUT));
}

static bool must_be_there(const struct operation *op)
{
    return op->initiator != world.me && world_is_here(op->initiator) &&
           place_reaches_private(op->initiator);
}

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
    enum { APART = 4096 }; // else it may be that all of a large region is looked at
    struct place at;
    if ((kind != SHOAL_WORK_PUT && kind != SHOAL_WORK_GET) || r->step < 0 || r->step > APART ||
        region_resolve(first, (size_t)(r->parts - 1) * (size_t)r->step + r->n, &at))
        return false;
    char *there = place_here(at);
    if (there && kind == SHOAL_WORK_PUT)
        copy_rows(there, r->step, data, r->n, r->n, r->parts);
    else if (there)
        copy_rows(back, r->n, there, r->step, r->n, r->parts);
    return there;
}

static int run_each(struct operation *one, const struct record *r, char *data, char *back,
                    int *needs)
{
    size_t parts = r->n ? r->parts : 1;
    int status = SHOAL_OK;
    for (size_t i = 0; i < parts && !status; i++) {
        char *in = data ? data + i * r->n : NULL, *out = back ? back + i * r->n : NULL;
        one->local = place_of(in ? in : out);
        one->local2 = place_of(out);
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
    if (must_be_there(op) && !is_there(op, (struct record *)records))
        return SHOAL_EFAULT;
    one.kind = op->each;
    one.has_local = true;
    one.a = one.b = 0;
    for (uint64_t i = 0; i < op->b && !status; i++) {
        struct record r;
        memcpy(&r, records + i * sizeof r, sizeof r);
        size_t all = (size_t)r.parts * r.n;
        if ((gives && all > given) || (back && all > room) || r.n % size) {
            status = SHOAL_ERANGE;
            break;
        }
        one.remote = shoal_rptr_add(op->remote, (ptrdiff_t)r.offset);
        one.n = r.n;
        if (!move_here(op->each, &one.remote, &r, data, back))
            status = run_each(&one, &r, gives ? data : NULL, back, needs);
        if (gives) {
            data += all;
            given -= all;
        }
        if (back) {
            back += all;
            room -= all;
        }
    }
    peer_wake(op->remote.pe);
    return status;
}
