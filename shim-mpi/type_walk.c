// SPDX-License-Identifier: BSD-3-Clause
// Walks over the blocks of a datatype, for memory that is not reached by load and store.
#include "type_body.h"

struct walk {
    type_block_fn *fn;
    void *arg;
};

static int walk_node(const struct walk *w, const struct node *node, MPI_Count at)
{
    int stop = 0;
    if (node->kind == NODE_BLOCK)
        return w->fn(at, node->bytes, w->arg);
    for (MPI_Count i = 0; i < node->count && !stop; i++) {
        if (node->kind == NODE_MIX) {
            const struct part *p = &node->parts[i];
            stop = p->node ? walk_node(w, p->node, at + p->disp)
                           : w->fn(at + p->disp, p->bytes, w->arg);
        } else {
            MPI_Count disp = node->kind == NODE_LOOP ? i * node->stride : node->disp[i];
            stop = walk_node(w, node->child, at + disp);
        }
    }
    return stop;
}

int type_walk(const struct type *t, MPI_Count count, type_block_fn *fn, void *arg)
{
    struct node root;
    if (count <= 0 || t->size <= 0)
        return 0;
    if (t->is_dense)
        return fn(t->true_lb, count * t->size, arg);
    const struct layout *layout = &t->body->layout;
    struct walk w = {fn, arg};
    return walk_node(&w, node_repeat(&root, layout->node, count, t->extent), layout->at);
}

bool type_loops(const struct type *t, MPI_Count count, struct type_loops *loops)
{
    struct node root;
    if (count <= 0 || t->size <= 0)
        return false;
    if (t->is_dense) {
        loops->disp = t->true_lb;
        loops->levels = 0;
        loops->count[0] = (size_t)(count * t->size);
        return true;
    }
    const struct node *node = node_repeat(&root, t->body->layout.node, count, t->extent), *n = node;
    loops->disp = t->body->layout.at;
    loops->levels = 0;
    for (; n->kind == NODE_LOOP; n = n->child)
        loops->levels++;
    if (n->kind != NODE_BLOCK || loops->levels > TYPE_LEVELS)
        return false;
    loops->count[0] = (size_t)n->bytes;
    for (int i = loops->levels; i > 0; i--, node = node->child) {
        loops->count[i] = (size_t)node->count;
        loops->stride[i - 1] = (ptrdiff_t)node->stride;
    }
    return true;
}
