// SPDX-License-Identifier: BSD-3-Clause
// Which rank of a job is on which node, in the launchers' own compact form (PMI_process_mapping).
#ifndef SHOAL_CORE_NODE_MAP_H
#define SHOAL_CORE_NODE_MAP_H

// Blocks of consecutive ranks, repeated until all ranks have a place.
//
//     (vector,(0,2,4),(2,1,3))   4 ranks on node 0, 4 on node 1, 3 on node 2, 4 on node 0, ...
struct node_block {
    int first, nodes, each; // on each of the nodes [first, first + nodes), so many ranks
};

struct node_map {
    int size;   // ranks
    int nodes;  // numbered from 0, each with a rank
    int period; // ranks in all blocks once
    int nblocks;
    struct node_block *blocks;
};

// Reads PMI_process_mapping's text. Returns 0, or -1 and says nothing when it is not well formed,
// names a node without ranks, or is not of this size. The caller frees map->blocks.
int node_map_parse(struct node_map *map, const char *text, int size);
int node_of(const struct node_map *map, int rank);
// The lowest rank on `node` that is not below `from`, -1: none.
int node_rank(const struct node_map *map, int node, int from);

#endif
