// SPDX-License-Identifier: BSD-3-Clause
// PageRank: a package gives its rank, in equal shares, to what it depends on; 15 of 100 are spread
// evenly over all. Each PE first adds up what its own rows give to each package (a popular one gets
// one add from a PE, not thousands), then adds that to the owner's sum with one remote atomic:
//
//     rank of my rows -> gather[slot of each edge]   --atomic add-->   sum[row] on the owner
//     barrier; new rank = 15 % + 85 % of the sum; one reduction: the change, and the rank of
//     packages that depend on nothing, which goes to all alike in the next round

#include "depgraph.h"

// Gives every package that my rows depend on a slot, and each of my edges its slot.
static void rank_make_slots(struct rank *r, const struct part *p)
{
    uint32_t edges = p->needs.first[p->rows];
    uint32_t *slot_of = example_local(p->n, sizeof *slot_of); // plus one; 0 is none
    r->slot = example_local(edges, sizeof *r->slot);
    r->vertex = example_local(edges, sizeof *r->vertex);
    for (uint32_t e = 0; e < edges; e++) {
        uint32_t v = p->needs.to[e];
        if (!slot_of[v]) {
            r->vertex[r->slots] = v;
            slot_of[v] = ++r->slots;
        }
        r->slot[e] = slot_of[v] - 1;
    }
    r->gather = example_local(r->slots, sizeof *r->gather);
    free(slot_of);
}

static void rank_open(struct rank *r, const struct part *p)
{
    *r = (struct rank){0};
    r->rank = example_alloc(p->room, sizeof *r->rank);
    r->sum = example_alloc(p->room, sizeof *r->sum);
    rank_make_slots(r, p);
    for (uint32_t row = 0; row < p->rows; row++)
        r->rank[row] = RANK_ONE / p->n;
}

void rank_close(struct rank *r)
{
    free(r->gather);
    free(r->vertex);
    free(r->slot);
    shmem_free(r->sum);
    shmem_free(r->rank);
}

static void rank_give(struct rank *r, const struct part *p)
{
    const uint32_t *first = p->needs.first;
    for (uint32_t row = 0; row < p->rows; row++) {
        uint32_t degree = first[row + 1] - first[row];
        uint64_t share = degree ? r->rank[row] / degree : 0;
        for (uint32_t e = first[row]; e < first[row + 1]; e++)
            r->gather[r->slot[e]] += share;
    }
    for (uint32_t s = 0; s < r->slots; s++) {
        uint32_t v = r->vertex[s];
        shmem_atomic_add(&r->sum[v / (uint32_t)p->npes], r->gather[s],
                         (int)(v % (uint32_t)p->npes));
        r->gather[s] = 0;
    }
}

// Makes sums into ranks. Returns by how much they changed in all, and the dangling rank.
static uint64_t rank_take(struct rank *r, const struct part *p, uint64_t *dangling)
{
    uint64_t change = 0, before = *dangling;
    *dangling = 0;
    for (uint32_t row = 0; row < p->rows; row++) {
        uint64_t now = rank_next(r->sum[row], before, p->n), was = r->rank[row];
        change += now > was ? now - was : was - now;
        r->rank[row] = now;
        r->sum[row] = 0;
        *dangling += csr_count(&p->needs, row) ? 0 : now;
    }
    return change;
}

static uint64_t rank_dangling(const struct rank *r, const struct part *p)
{
    uint64_t dangling = 0;
    for (uint32_t row = 0; row < p->rows; row++)
        dangling += csr_count(&p->needs, row) ? 0 : r->rank[row];
    return example_sum(dangling);
}

// Goes on until a round changes nothing, not even a last bit, or for most rounds.
void rank_run(struct rank *r, const struct part *p, uint32_t most)
{
    static uint64_t mine[2], all[2];
    rank_open(r, p);
    uint64_t dangling = rank_dangling(r, p), change = RANK_ONE;
    shmem_barrier_all();
    double start = example_now();
    while (r->rounds < most && change) {
        rank_give(r, p);
        shmem_barrier_all();
        mine[1] = dangling;
        mine[0] = rank_take(r, p, &mine[1]);
        shmem_sum_reduce(SHMEM_TEAM_WORLD, all, mine, 2); // also: all sums are 0 again
        change = all[0];
        dangling = all[1];
        r->rounds++;
    }
    r->seconds = example_now() - start;
}
