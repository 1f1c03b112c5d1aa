// SPDX-License-Identifier: BSD-3-Clause
// Where the members of a team that spans nodes are. Found once, when the team is made: O(members)
// time, O(nodes) memory in each member. The nodes are numbered in the order of their first members;
// the first member of a node is its leader, the only one that speaks with other nodes in collectives.
#ifndef SHOAL_CORE_COLL_NODES_H
#define SHOAL_CORE_COLL_NODES_H

#include "team.h"

struct coll_nodes {
    int count, mine; // nodes with members; the number of this one
    int locals;      // members on this node,
    int my_local;    // and which of them this PE is
    int most;        // members on the node that has most
    bool in_order;   // each node's members come before those of the next
    int *local;      // the members here, in their order: local[0] leads
    int *leader;     // of each node: its first member
    int *size;       // of each node: its members
    int *number;     // by the job's numbers of nodes
    int all[];       // room for the four
};

// NULL: no memory.
struct coll_nodes *coll_nodes_new(const struct pe_set *set);

static inline int coll_nodes_of(const struct coll_nodes *n, const struct pe_set *set, int member)
{
    return n->number[world.job->pe[set_pe(set, member)].node];
}

#endif
