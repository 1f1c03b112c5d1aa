// SPDX-License-Identifier: BSD-3-Clause
// Pairing heap: a node's children are a list through `sibling`, first one in `child`; `prev` of the
// first child is its parent, of the others the sibling in front; of the root it says nothing. See work_heap.h.
#include "work_heap.h"

#include "slice.h"

#include <stdbool.h>

static struct work *at(uint64_t ref)
{
    return ref_at(ref);
}

static bool before(const struct work *a, const struct work *b)
{
    return a->threshold != b->threshold ? a->threshold < b->threshold : a->order < b->order;
}

// Both are roots, 0 is the empty heap.
static uint64_t meld(uint64_t a, uint64_t b)
{
    if (!a || !b)
        return a ? a : b;
    if (before(at(b), at(a))) {
        uint64_t other = a;
        a = b;
        b = other;
    }
    struct work *parent = at(a), *child = at(b);
    child->sibling = parent->child;
    child->prev = a;
    if (parent->child)
        at(parent->child)->prev = b;
    parent->child = b;
    return a;
}

static uint64_t take_first(uint64_t *list)
{
    uint64_t first = *list;
    if (first) {
        *list = at(first)->sibling;
        at(first)->sibling = 0;
    }
    return first;
}

// One heap of a list of siblings: pairs from left to right, then all of these from right to left.
static uint64_t meld_list(uint64_t list)
{
    uint64_t pairs = 0, root = 0;
    while (list) {
        uint64_t a = take_first(&list), pair = meld(a, take_first(&list));
        at(pair)->sibling = pairs;
        pairs = pair;
    }
    while (pairs)
        root = meld(root, take_first(&pairs));
    return root;
}

struct work *work_heap_least(const struct counter *c)
{
    return c->root ? at(c->root) : NULL;
}

void work_heap_insert(struct counter *c, struct work *w)
{
    w->order = c->orders++;
    w->child = w->sibling = w->prev = 0;
    c->root = meld(c->root, ref_of(w));
}

void work_heap_remove(struct counter *c, struct work *w)
{
    uint64_t self = ref_of(w), below = meld_list(w->child);
    if (c->root == self) {
        c->root = below;
        return;
    }
    if (at(w->prev)->child == self)
        at(w->prev)->child = w->sibling;
    else
        at(w->prev)->sibling = w->sibling;
    if (w->sibling)
        at(w->sibling)->prev = w->prev;
    c->root = meld(c->root, below);
}
