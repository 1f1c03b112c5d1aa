// SPDX-License-Identifier: BSD-3-Clause
// Breadth-first search from one package through those that depend on it: who breaks if it goes?
// Level by level. A PE goes through its rows of the level, and claims each vertex found with a
// compare-and-swap of its depth, wherever that is; the one PE whose claim succeeds reserves a place
// in the owner's queue for the next level (fetch-and-increment) and writes the row there.
//
//     my queue [row row row]   depth of w: -1 -> level + 1    owner's next queue [ ... row of w ]
//         |  its dependents w -----^  compare-and-swap                                ^
//         +------ claimed: fetch-and-increment of the owner's tail, then a put -------+

#include "depgraph.h"

void bfs_open(struct bfs *b, const struct part *p)
{
    *b = (struct bfs){0};
    b->depth = example_alloc(p->room, sizeof *b->depth);
    b->queue[0] = example_alloc(p->room, sizeof *b->queue[0]);
    b->queue[1] = example_alloc(p->room, sizeof *b->queue[1]);
    b->tail = example_alloc(2, sizeof *b->tail);
    b->seen = example_local(p->n / 64 + 1, sizeof *b->seen);
}

void bfs_close(struct bfs *b)
{
    free(b->seen);
    shmem_free(b->tail);
    shmem_free(b->queue[1]);
    shmem_free(b->queue[0]);
    shmem_free(b->depth);
}

static void bfs_start(struct bfs *b, const struct part *p, uint32_t root)
{
    memset(b->depth, 0xff, p->room * sizeof *b->depth);
    memset(b->seen, 0, (p->n / 64 + 1) * sizeof *b->seen);
    memset(b->level, 0, sizeof b->level);
    b->tail[0] = b->tail[1] = 0;
    b->levels = 0;
    b->reached = b->edges = 0;
    if ((int)(root % (uint32_t)p->npes) == p->me) {
        uint32_t row = root / (uint32_t)p->npes;
        b->depth[row] = 0;
        b->queue[0][b->tail[0]++] = row;
    }
}

// Queues vertex w for the next level unless someone else has been there first.
static void bfs_claim(struct bfs *b, const struct part *p, uint32_t w, int32_t depth, int next)
{
    uint64_t bit = UINT64_C(1) << w % 64;
    if (b->seen[w / 64] & bit)
        return;
    b->seen[w / 64] |= bit;
    uint32_t row = w / (uint32_t)p->npes;
    int owner = (int)(w % (uint32_t)p->npes);
    if (shmem_atomic_compare_swap(&b->depth[row], -1, depth, owner) != -1)
        return;
    uint32_t place = shmem_atomic_fetch_inc(&b->tail[next], owner);
    shmem_uint32_p(&b->queue[next][place], row, owner);
}

// Goes through this PE's rows of one level. Returns how many edges it followed.
static uint64_t bfs_level(struct bfs *b, const struct part *p, int32_t depth, int now)
{
    uint64_t edges = 0;
    for (uint32_t i = 0; i < b->tail[now]; i++) {
        uint32_t row = b->queue[now][i];
        for (uint32_t e = p->needed.first[row]; e < p->needed.first[row + 1]; e++)
            bfs_claim(b, p, p->needed.to[e], depth + 1, !now);
        edges += csr_count(&p->needed, row);
    }
    return edges;
}

void bfs_run(struct bfs *b, const struct part *p, uint32_t root)
{
    bfs_start(b, p, root);
    shmem_barrier_all();
    double start = example_now();
    uint64_t edges = 0, found = 1;
    for (int32_t depth = 0; found; depth++) {
        uint32_t at = depth < BFS_LEVELS ? (uint32_t)depth : BFS_LEVELS - 1;
        int now = depth % 2;
        b->level[at] += found;
        b->levels = at + 1;
        b->reached += found;
        edges += bfs_level(b, p, depth, now);
        shmem_barrier_all(); // all claims and places of the next level are there
        b->tail[now] = 0;    // before anyone can add to it again: the sum waits for all
        found = example_sum(b->tail[!now]);
    }
    b->edges = example_sum(edges);
    b->seconds += example_now() - start;
    b->all_edges += b->edges;
}
