// SPDX-License-Identifier: BSD-3-Clause
// Puts layouts together in their simplest form (type_body.h): neighbouring blocks become one, what
// repeats itself becomes a loop, however it was written down.
#include "type_body.h"

#include <stdlib.h>
#include <string.h>

enum {
    FLAT_PIECES = 8, // a child of so few blocks is taken apart, to be joined with its neighbours
    LONG_RUN = 16,   // a run of so many equal parts is a loop in an otherwise irregular mix
};

static struct node *node_new(struct builder *b, enum node_kind kind, size_t more)
{
    struct node *node = calloc(1, sizeof *node + more);
    if (!node) {
        b->no_memory = true;
        return NULL;
    }
    node->kind = kind;
    node->owned = b->owned;
    b->owned = node;
    return node;
}

void nodes_free(struct node *owned)
{
    while (owned) {
        struct node *next = owned->owned;
        free(owned);
        owned = next;
    }
}

static int pieces_times(int pieces, MPI_Count count)
{
    return count > PIECES_MANY / pieces ? PIECES_MANY : (int)(count * pieces);
}

struct layout layout_block(struct builder *b, MPI_Count at, MPI_Count bytes)
{
    struct node *node = bytes > 0 ? node_new(b, NODE_BLOCK, 0) : NULL;
    if (node) {
        node->bytes = bytes;
        node->pieces = 1;
    }
    return (struct layout){.node = node, .at = at};
}

const struct node *node_repeat(struct node *root, const struct node *child, MPI_Count count,
                               MPI_Count stride)
{
    if (count == 1)
        return child;
    *root = (struct node){.kind = NODE_LOOP,
                          .bytes = count * child->bytes,
                          .count = count,
                          .stride = stride,
                          .child = child};
    if (child->kind == NODE_BLOCK && stride == child->bytes) {
        root->kind = NODE_BLOCK;
        root->pieces = 1;
    } else {
        if (child->kind == NODE_LOOP && stride == child->count * child->stride) {
            root->count *= child->count;
            root->stride = child->stride;
            root->child = child->child;
        }
        root->pieces = pieces_times(root->child->pieces, root->count);
        root->depth = root->child->depth + 1;
    }
    return root;
}

struct layout layout_repeat(struct builder *b, struct layout child, MPI_Count count,
                            MPI_Count stride)
{
    if (!child.node || count == 0)
        return (struct layout){0};
    struct node root;
    if (node_repeat(&root, child.node, count, stride) == &root) {
        struct node *node = node_new(b, root.kind, 0);
        if (node) {
            root.owned = node->owned;
            *node = root;
        }
        child.node = node;
    }
    return child;
}

// ---- Joining
static bool parts_room(struct builder *b)
{
    if (b->count < b->room)
        return true;
    MPI_Count room = b->room ? 2 * b->room : 16;
    struct part *parts = realloc(b->parts, (size_t)room * sizeof *parts);
    if (!parts) {
        b->no_memory = true;
        return false;
    }
    b->parts = parts;
    b->room = room;
    return true;
}

static void part_add(struct builder *b, const struct node *node, MPI_Count disp, bool flatten)
{
    if (node->kind == NODE_BLOCK) {
        struct part *last = b->count > 0 ? &b->parts[b->count - 1] : NULL;
        if (last && !last->node && last->disp + last->bytes == disp)
            last->bytes += node->bytes;
        else if (parts_room(b))
            b->parts[b->count++] = (struct part){.disp = disp, .bytes = node->bytes};
    } else if (!flatten || node->pieces > FLAT_PIECES) {
        if (parts_room(b))
            b->parts[b->count++] = (struct part){.disp = disp, .bytes = node->bytes, .node = node};
    } else if (node->kind == NODE_MIX) {
        for (MPI_Count i = 0; i < node->count; i++) {
            const struct part *p = &node->parts[i];
            struct node block = {.kind = NODE_BLOCK, .bytes = p->bytes};
            part_add(b, p->node ? p->node : &block, disp + p->disp, true);
        }
    } else {
        for (MPI_Count i = 0; i < node->count; i++)
            part_add(b, node->child,
                     disp + (node->kind == NODE_LOOP ? i * node->stride : node->disp[i]), true);
    }
}

void layout_add(struct builder *b, struct layout child, MPI_Count disp, bool flatten)
{
    if (child.node && !b->no_memory)
        part_add(b, child.node, disp + child.at, flatten);
}

static bool part_same(const struct part *a, const struct part *b);

static bool node_same(const struct node *a, const struct node *b)
{
    if (a == b)
        return true;
    if (a->kind != b->kind || a->bytes != b->bytes || a->count != b->count ||
        a->stride != b->stride)
        return false;
    if (a->kind == NODE_MIX) {
        for (MPI_Count i = 0; i < a->count; i++)
            if (a->parts[i].disp != b->parts[i].disp || !part_same(&a->parts[i], &b->parts[i]))
                return false;
        return true;
    }
    if (a->kind == NODE_LIST && memcmp(a->disp, b->disp, (size_t)a->count * sizeof *a->disp) != 0)
        return false;
    return a->kind == NODE_BLOCK || node_same(a->child, b->child);
}

// Of the same shape, wherever they are.
static bool part_same(const struct part *a, const struct part *b)
{
    if (!a->node || !b->node)
        return a->node == b->node && a->bytes == b->bytes;
    return node_same(a->node, b->node);
}

// Absolute addresses may be further apart than a signed number says.
static MPI_Count gap(const struct part *p)
{
    return (MPI_Count)((uint64_t)p[1].disp - (uint64_t)p[0].disp);
}

// Do parts[i] and parts[j] look the same, and the way to the next of each?
static bool step_same(const struct part *parts, MPI_Count i, MPI_Count j)
{
    return gap(parts + i) == gap(parts + j) && part_same(parts + i, parts + j);
}

// The smallest number of parts whose repetition, at a constant distance, is all n; n: none. By the
// borders of Knuth, Morris and Pratt's search. -1: no memory.
static MPI_Count parts_period(const struct part *parts, MPI_Count n)
{
    MPI_Count steps = n - 1;
    if (steps < 1)
        return n;
    MPI_Count *border = malloc((size_t)steps * sizeof *border);
    if (!border)
        return -1;
    border[0] = 0;
    for (MPI_Count i = 1, k = 0; i < steps; i++) {
        while (k > 0 && !step_same(parts, i, k))
            k = border[k - 1];
        k += step_same(parts, i, k);
        border[i] = k;
    }
    MPI_Count found = n;
    for (MPI_Count k = border[steps - 1];; k = border[k - 1]) {
        MPI_Count period = steps - k;
        if (n % period == 0 && part_same(parts + n - 1, parts + n - 1 - period)) {
            found = period;
            break;
        }
        if (k == 0)
            break;
    }
    free(border);
    return found;
}

static MPI_Count run_length(const struct part *parts, MPI_Count n)
{
    MPI_Count run = 1;
    while (run < n && part_same(parts, parts + run) && gap(parts + run - 1) == gap(parts))
        run++;
    return run;
}

// Makes loops of long runs, in place, when that leaves far fewer parts. Their number.
static MPI_Count parts_fold(struct builder *b, struct part *parts, MPI_Count n)
{
    MPI_Count folded = 0;
    for (MPI_Count i = 0, run; i < n; i += run, folded++) {
        run = run_length(parts + i, n - i);
        if (run < LONG_RUN)
            run = 1;
    }
    if (folded > n / 4)
        return n;
    folded = 0;
    for (MPI_Count i = 0, run; i < n; i += run, folded++) {
        run = run_length(parts + i, n - i);
        if (run < LONG_RUN) {
            run = 1;
            parts[folded] = parts[i];
            continue;
        }
        struct layout item = {.node = parts[i].node};
        if (!item.node)
            item = layout_block(b, 0, parts[i].bytes);
        item = layout_repeat(b, item, run, gap(parts + i));
        if (b->no_memory)
            return 0;
        parts[folded] = (struct part){.disp = parts[i].disp,
                                      .bytes = item.node->bytes,
                                      .node = item.node->kind == NODE_BLOCK ? NULL : item.node};
    }
    return folded;
}

static struct layout list_of(struct builder *b, const struct part *parts, MPI_Count n)
{
    struct layout child = {.node = parts->node};
    if (!child.node)
        child = layout_block(b, 0, parts->bytes);
    struct node *node = node_new(b, NODE_LIST, (size_t)n * sizeof *node->disp);
    if (!node || !child.node)
        return (struct layout){0};
    MPI_Count *disp = (MPI_Count *)(node + 1);
    for (MPI_Count i = 0; i < n; i++)
        disp[i] = parts[i].disp - parts->disp;
    node->disp = disp;
    node->count = n;
    node->child = child.node;
    node->bytes = n * child.node->bytes;
    node->pieces = pieces_times(child.node->pieces, n);
    node->depth = child.node->depth + 1;
    return (struct layout){.node = node, .at = parts->disp};
}

static struct layout mix_of(struct builder *b, const struct part *parts, MPI_Count n)
{
    struct node *node = node_new(b, NODE_MIX, (size_t)n * sizeof *parts);
    if (!node)
        return (struct layout){0};
    struct part *own = (struct part *)(node + 1);
    for (MPI_Count i = 0; i < n; i++) {
        own[i] = parts[i];
        own[i].disp -= parts->disp;
        own[i].pos = node->bytes;
        node->bytes += parts[i].bytes;
        int pieces = node->pieces + (parts[i].node ? parts[i].node->pieces : 1);
        node->pieces = pieces < PIECES_MANY ? pieces : PIECES_MANY;
        if (parts[i].node && parts[i].node->depth >= node->depth)
            node->depth = parts[i].node->depth + 1;
    }
    node->parts = own;
    node->count = n;
    return (struct layout){.node = node, .at = parts->disp};
}

static struct layout parts_join(struct builder *b, struct part *parts, MPI_Count n)
{
    if (n == 0 || b->no_memory)
        return (struct layout){0};
    if (n == 1)
        return parts->node ? (struct layout){.node = parts->node, .at = parts->disp}
                           : layout_block(b, parts->disp, parts->bytes);
    MPI_Count period = parts_period(parts, n);
    if (period < 0) {
        b->no_memory = true;
        return (struct layout){0};
    }
    if (period < n) {
        MPI_Count stride = parts[period].disp - parts->disp;
        return layout_repeat(b, parts_join(b, parts, period), n / period, stride);
    }
    MPI_Count folded = parts_fold(b, parts, n);
    if (folded < n)
        return parts_join(b, parts, folded);
    for (MPI_Count i = 1; i < n; i++)
        if (!part_same(parts, parts + i))
            return mix_of(b, parts, n);
    return list_of(b, parts, n);
}

struct layout layout_join(struct builder *b)
{
    struct layout layout = parts_join(b, b->parts, b->count);
    free(b->parts);
    b->parts = NULL;
    b->count = b->room = 0;
    return layout;
}
