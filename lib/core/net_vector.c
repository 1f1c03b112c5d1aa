// SPDX-License-Identifier: BSD-3-Clause
// See net_vector.h.
#include "net_vector.h"

#include "log.h"
#include "region.h"
#include "tunables.h"

#include <stdlib.h>
#include <string.h>

enum { SHORT = 1024 }; // bytes; longer parts go by themselves

struct record {
    uint64_t offset, n; // from op->remote
};

// ---- Who asks
// The data of gets comes in one piece.
static bool follows(int kind, const shoal_part_t *before, const shoal_part_t *p)
{
    return p->remote.region == before->remote.region && p->remote.stamp == before->remote.stamp &&
           (kind == SHOAL_WORK_PUT || (char *)before->local + before->n == p->local);
}

size_t vector_fit(int kind, const shoal_part_t part[], size_t parts, size_t room)
{
    size_t i = 0, data = 0;
    for (; i < parts && part[i].n <= SHORT && (i == 0 || follows(kind, &part[i - 1], &part[i]));
         i++) {
        size_t records = (i + 1) * sizeof(struct record);
        data += part[i].n;
        if (kind == SHOAL_WORK_PUT ? records + data > room : records > room || data > room)
            break;
    }
    return i;
}

void *vector_make(int kind, const shoal_part_t part[], size_t parts, struct operation *op)
{
    bool puts = kind == SHOAL_WORK_PUT;
    size_t records = parts * sizeof(struct record), data = 0;
    for (size_t i = 0; i < parts; i++)
        data += part[i].n;
    *op = (struct operation){.kind = puts ? OPERATION_PUTV : OPERATION_GETV,
                             .initiator = world.me,
                             .remote = part[0].remote,
                             .n = records + (puts ? data : 0),
                             .a = puts ? 0 : data,
                             .b = parts};
    struct record *record = malloc(op->n);
    if (!record)
        fatal("no memory for a message of %zu bytes", (size_t)op->n);
    char *to = (char *)(record + parts);
    for (size_t i = 0; i < parts; i++) {
        record[i] = (struct record){part[i].remote.offset - op->remote.offset, part[i].n};
        if (puts && part[i].n)
            memcpy(to, part[i].local, part[i].n);
        to += puts ? part[i].n : 0;
    }
    return record;
}

// ---- Who is asked
bool vector_is_sound(const struct operation *op, size_t n)
{
    return n == op->n && op->b <= n / sizeof(struct record) &&
           (op->kind == OPERATION_GETV ? op->a <= LIMIT_BOUNCE && n == op->b * sizeof(struct record)
                                       : op->a == 0);
}

int vector_run(const struct operation *op, int *needs)
{
    bool puts = op->kind == OPERATION_PUTV;
    const char *records = place_here(op->local);
    char *data = puts ? (char *)records + op->b * sizeof(struct record) : place_here(op->local2);
    size_t left = puts ? op->n - op->b * sizeof(struct record) : op->a;
    int status = SHOAL_OK;
    for (uint64_t i = 0; i < op->b && !status; i++) {
        struct record r;
        struct place at;
        memcpy(&r, records + i * sizeof r, sizeof r);
        if (r.n > left)
            return SHOAL_ERANGE;
        shoal_rptr_t there = shoal_rptr_add(op->remote, (ptrdiff_t)r.offset);
        status = region_resolve(&there, r.n, &at);
        if (!status)
            status = puts ? place_copy(at, place_of(data), r.n, needs)
                          : place_copy(place_of(data), at, r.n, needs);
        data += r.n;
        left -= r.n;
    }
    return status;
}
