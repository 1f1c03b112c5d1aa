// SPDX-License-Identifier: BSD-3-Clause
// Finding out where a team's members are. See coll_nodes.h.
#include "coll_nodes.h"

#include <stdlib.h>

static void add_member(struct coll_nodes *n, const struct pe_set *set, int member)
{
    int node = world.job->pe[set_pe(set, member)].node;
    if (n->number[node] < 0) {
        n->number[node] = n->count;
        n->leader[n->count++] = member;
    } else if (n->number[node] < n->count - 1) { // of a node that seemed to be over
        n->in_order = false;
    }
    int *size = &n->size[n->number[node]];
    n->most = ++*size > n->most ? *size : n->most;
    if (set_pe(set, member) == world.me)
        n->my_local = n->locals;
    if (node == world.node)
        n->local[n->locals++] = member;
}

struct coll_nodes *coll_nodes_new(const struct pe_set *set)
{
    size_t nodes = (size_t)world.nodes, here = (size_t)(world.end - world.first);
    struct coll_nodes *n = calloc(1, sizeof *n + (3 * nodes + here) * sizeof(int));
    if (!n)
        return NULL;
    n->in_order = true;
    n->leader = n->all;
    n->size = n->leader + nodes;
    n->number = n->size + nodes;
    n->local = n->number + nodes;
    for (size_t i = 0; i < nodes; i++)
        n->number[i] = -1;
    for (int i = 0; i < set->size; i++)
        add_member(n, set, i);
    n->mine = n->number[world.node];
    return n;
}
