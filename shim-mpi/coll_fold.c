// SPDX-License-Identifier: BSD-3-Clause
// What all members have given to a short reduction, or those up to this one to a scan, combined in the order
// of the messages' algorithms: the result has the same bits either way.
#include "coll.h"

#include <stdlib.h>

// Combines parts [0, n) by neighbours, neighbours of these, and so on; the result is where the first
// one was.
static void fold_pairs(const struct coll_call *c, void **part, int n)
{
    for (int distance = 1; distance < n; distance *= 2)
        for (int i = 0; i + distance < n; i += 2 * distance) {
            op_apply(c->op, part[i], part[i + distance], c->recv.count, c->recv.type);
            part[i] = part[i + distance];
        }
}

// Combines n parts, of which this is the last, by neighbours from it on; the result is where it was.
static void fold_back(const struct coll_call *c, void **last, int n)
{
    for (int distance = 1; distance < n; distance *= 2)
        for (int i = 0; i + distance < n; i += 2 * distance)
            op_apply(c->op, last[-i - distance], last[-i], c->recv.count, c->recv.type);
}

// As coll_scan does: what comes in a round is of as many ranks as all before it, or one.
static void fold_scan(const struct coll_call *c, void **part)
{
    int me = c->rank;
    if (c->kind == COLL_SCAN) {
        fold_back(c, &part[me], me + 1);
        part[0] = part[me];
        return;
    }
    for (int d = 1; d <= me; d *= 2) {
        fold_back(c, &part[me - d], me - d + 1 < d ? me - d + 1 : d);
        if (d > 1)
            op_apply(c->op, part[me - d], part[me - 1], c->recv.count, c->recv.type);
    }
    if (me > 0)
        part[0] = part[me - 1];
}

// As coll_allreduce does: where the members are no power of two, the first ones begin as pairs. The result
// is where the first part was.
static void fold(const struct coll_call *c, void **part)
{
    int whole = 1, count = 0;
    if (coll_scans(c)) {
        fold_scan(c, part);
        return;
    }
    while (whole * 2 <= c->size)
        whole *= 2;
    if (c->kind == COLL_ALLREDUCE)
        for (int i = 0; i < c->size; i++, count++) {
            part[count] = part[i];
            if (count < c->size - whole) {
                fold_pairs(c, &part[i], 2);
                part[count] = part[i++];
            }
        }
    else
        count = c->size;
    fold_pairs(c, part, count);
}

// Of elements with gaps, as the operator wants them.
static int fold_spread(const struct coll_call *c, char *parts, MPI_Count n)
{
    const struct type *t = c->recv.type;
    MPI_Count lb, length;
    void *part[c->size];
    int given = coll_scans(c) ? c->rank + 1 : c->size;
    type_span(t, c->recv.count, &lb, &length);
    MPI_Count before = lb & 15; // elements are aligned as in any array
    MPI_Count each = (before + length + 15) / 16 * 16;
    char *room = malloc((size_t)(each * c->size));
    if (!room && each)
        return SHOAL_ENOMEM;
    for (int i = 0; i < given; i++) {
        part[i] = type_base(room + i * each + before, lb);
        type_unpack(t, part[i], c->recv.count, 0, parts + i * n, (size_t)n);
    }
    fold(c, part);
    type_pack(t, part[0], c->recv.count, 0, parts, (size_t)n);
    type_unpack(t, c->recv.buf, c->recv.count, 0, parts, (size_t)n);
    free(room);
    return SHOAL_OK;
}

int coll_fold(const struct coll_call *c, char *parts, MPI_Count n)
{
    const struct type *t = c->recv.type;
    void *part[c->size];
    if (!t->is_dense)
        return fold_spread(c, parts, n);
    for (int i = 0; i < c->size; i++)
        part[i] = type_base(parts + i * n, t->true_lb);
    fold(c, part);
    shim_copy(type_at(t, c->recv.buf), type_at(t, part[0]), (size_t)n);
    return SHOAL_OK;
}
