// SPDX-License-Identifier: BSD-3-Clause
// See net_vector.h.
#include "net_vector.h"

#include "copy.h"
#include "elements.h"
#include "log.h"
#include "tunables.h"

#include <stdlib.h>
#include <string.h>

enum { SHORT = 1024 }; // bytes; longer parts go by themselves

struct record {
    uint64_t offset, n; // from op->remote
};

static bool brings(int kind)
{
    return kind == SHOAL_WORK_GET || kind == OPERATION_FETCH_ACC;
}

// ---- Who asks
// The data of gets comes in one piece.
static bool follows(int kind, const shoal_part_t *before, const shoal_part_t *p)
{
    return p->remote.region == before->remote.region && p->remote.stamp == before->remote.stamp &&
           (kind != SHOAL_WORK_GET || (char *)before->local + before->n == p->local);
}

size_t vector_fit(int kind, const shoal_part_t part[], size_t parts, size_t room)
{
    size_t i = 0, data = 0;
    for (; i < parts && part[i].n <= SHORT && (i == 0 || follows(kind, &part[i - 1], &part[i]));
         i++) {
        size_t records = (i + 1) * sizeof(struct record);
        data += part[i].n;
        if (kind != SHOAL_WORK_GET ? records + data > room : records > room || data > room)
            break;
    }
    return i;
}

void *vector_make(const struct operation *like, const shoal_part_t part[], size_t parts,
                  struct operation *op)
{
    bool gives = like->kind != SHOAL_WORK_GET;
    size_t records = parts * sizeof(struct record), data = 0;
    for (size_t i = 0; i < parts; i++)
        data += part[i].n;
    *op = *like;
    op->kind = OPERATION_VECTOR;
    op->each = (uint8_t)like->kind;
    op->remote = part[0].remote;
    op->n = records + (gives ? data : 0);
    op->a = brings(like->kind) ? data : 0;
    op->b = parts;
    struct record *record = malloc(op->n);
    if (!record)
        fatal("no memory for a message of %zu bytes", (size_t)op->n);
    char *to = (char *)(record + parts);
    for (size_t i = 0; i < parts; i++) {
        record[i] = (struct record){part[i].remote.offset - op->remote.offset, part[i].n};
        if (gives && part[i].n && part[i].local)
            copy_bytes(to, part[i].local, part[i].n);
        else if (gives) // there is no operand
            memset(to, 0, part[i].n);
        to += gives ? part[i].n : 0;
    }
    return record;
}

// ---- Who is asked
bool vector_is_sound(const struct operation *op, size_t n)
{
    size_t records = op->b * sizeof(struct record);
    return n == op->n && op->b <= n / sizeof(struct record) && op->a <= LIMIT_BOUNCE &&
           (brings(op->each) || op->a == 0) && (op->each != SHOAL_WORK_GET || n == records);
}

int vector_run(const struct operation *op, int *needs)
{
    struct operation one = *op;
    char *records = place_here(op->local), *data = records + op->b * sizeof(struct record);
    char *back = place_here(op->local2);
    size_t given = op->n - op->b * sizeof(struct record), room = op->a, size = 1;
    bool gives = op->each != SHOAL_WORK_GET, answers = brings(op->each);
    if (op->each == OPERATION_ACC || op->each == OPERATION_FETCH_ACC)
        size = element_size((shoal_type_t)op->type);
    int status = SHOAL_OK;
    one.kind = op->each;
    one.has_local = true;
    one.a = one.b = 0;
    for (uint64_t i = 0; i < op->b && !status; i++) {
        struct record r;
        memcpy(&r, records + i * sizeof r, sizeof r);
        if ((gives && r.n > given) || (answers && r.n > room) || r.n % size)
            return SHOAL_ERANGE;
        one.remote = shoal_rptr_add(op->remote, (ptrdiff_t)r.offset);
        one.n = r.n;
        one.local = place_of(gives ? data : back);
        one.local2 = place_of(back);
        status = operation_run(&one, needs);
        data += gives ? r.n : 0;
        given -= gives ? r.n : 0;
        back += answers ? r.n : 0;
        room -= answers ? r.n : 0;
    }
    return status;
}
