// SPDX-License-Identifier: BSD-3-Clause
// PageRank: a package gives its rank, in equal shares, to what it depends on; 15 of 100 are spread
// evenly over all. In a round a PE adds up what its rows give to each package, in one place for
// each package, ordered by owner, and sends each owner its stretch with one put-with-signal:
//
//     my rows --add--> out [ for PE 0 | for PE 1 | ... ]
//                               | put, then signal arrived[me]
//     PE 1's inbox [ of PE 0 | of PE 1 | ... ] --add--> sum of PE 1's rows --> their new rank
//
// The last place of a stretch carries the rank of packages that depend on nothing, which goes to
// all alike. Which row each place is for was told once, before the first round. There is no barrier:
// a PE goes on when everyone's stretch is there, and two inboxes in turn are enough, since nobody
// can be two rounds ahead of a PE whose stretch it must have.

#include "depgraph.h"

// Gives every package that my rows depend on its place in out, and each edge its package's place.
// Returns the row of each place on its owner.
static uint32_t *rank_make_places(struct rank *r, const struct part *p)
{
    uint32_t edges = p->needs.first[p->rows], npes = (uint32_t)p->npes;
    uint32_t *place = example_local(p->n, sizeof *place), *next = example_local(npes, sizeof *next);
    for (uint32_t e = 0; e < edges; e++)
        place[p->needs.to[e]] = 1;
    for (uint32_t v = 0; v < p->n; v++)
        r->count[v % npes] += place[v];
    for (uint32_t pe = 0; pe < npes; pe++) {
        next[pe] = r->from[pe];
        r->from[pe + 1] = r->from[pe] + ++r->count[pe]; // one more: what depends on nothing
    }
    uint32_t *row = example_local(r->from[npes], sizeof *row);
    for (uint32_t v = 0; v < p->n; v++)
        if (place[v]) {
            row[next[v % npes]] = v / npes;
            place[v] = next[v % npes]++;
        }
    r->place = example_local(edges, sizeof *r->place);
    for (uint32_t e = 0; e < edges; e++)
        r->place[e] = place[p->needs.to[e]];
    free(next);
    free(place);
    return row;
}

// Makes the inbox, and has everyone know where in it their stretch goes and what it is for.
static void rank_make_inbox(struct rank *r, const struct part *p, const uint32_t *row)
{
    uint32_t *incoming = example_alloc((size_t)p->npes, sizeof *incoming);
    shmem_alltoall(SHMEM_TEAM_WORLD, incoming, r->count, 1);
    for (int pe = 0; pe < p->npes; pe++)
        r->begin[pe + 1] = r->begin[pe] + incoming[pe];
    shmem_alltoall(SHMEM_TEAM_WORLD, r->there, r->begin, 1);
    size_t room = (size_t)example_max(r->begin[p->npes]);
    r->row = example_alloc(room, sizeof *r->row);
    r->inbox[0] = example_alloc(room, sizeof *r->inbox[0]);
    r->inbox[1] = example_alloc(room, sizeof *r->inbox[1]);
    for (int pe = 0; pe < p->npes; pe++)
        shmem_put(r->row + r->there[pe], row + r->from[pe], r->count[pe], pe);
    shmem_barrier_all();
    shmem_free(incoming);
}

static void rank_open(struct rank *r, const struct part *p)
{
    size_t npes = (size_t)p->npes;
    *r = (struct rank){.rank = example_alloc(p->room, sizeof *r->rank)};
    r->sum = example_local(p->rows, sizeof *r->sum);
    r->from = example_local(npes + 1, sizeof *r->from);
    r->count = example_alloc(npes, sizeof *r->count);
    r->begin = example_alloc(npes + 1, sizeof *r->begin);
    r->there = example_alloc(npes, sizeof *r->there);
    r->arrived = example_alloc(2 * npes, sizeof *r->arrived);
    uint32_t *row = rank_make_places(r, p);
    rank_make_inbox(r, p, row);
    r->out = example_local(r->from[npes], sizeof *r->out);
    free(row);
    for (uint32_t v = 0; v < p->rows; v++)
        r->rank[v] = RANK_ONE / p->n;
}

void rank_close(struct rank *r)
{
    free(r->out);
    free(r->place);
    free(r->from);
    free(r->sum);
    shmem_free(r->inbox[1]);
    shmem_free(r->inbox[0]);
    shmem_free(r->row);
    shmem_free(r->arrived);
    shmem_free(r->there);
    shmem_free(r->begin);
    shmem_free(r->count);
    shmem_free(r->rank);
}

// Adds up in out what my rows give, and sends it.
static void rank_give(struct rank *r, const struct part *p)
{
    const uint32_t *first = p->needs.first;
    uint64_t dangling = 0;
    memset(r->out, 0, r->from[p->npes] * sizeof *r->out);
    for (uint32_t row = 0; row < p->rows; row++) {
        uint32_t degree = first[row + 1] - first[row];
        uint64_t share = degree ? r->rank[row] / degree : 0;
        dangling += degree ? 0 : r->rank[row];
        for (uint32_t e = first[row]; e < first[row + 1]; e++)
            r->out[r->place[e]] += share;
    }
    int which = (int)(r->rounds % 2);
    for (int step = 0; step < p->npes; step++) {
        int pe = (p->me + step) % p->npes;
        r->out[r->from[pe + 1] - 1] = dangling;
        shmem_put_signal(r->inbox[which] + r->there[pe], r->out + r->from[pe], r->count[pe],
                         &r->arrived[which * p->npes + p->me], r->rounds + 1, SHMEM_SIGNAL_SET, pe);
    }
}

// Waits for what everyone gives my rows, and adds it up. Returns the dangling rank of all.
static uint64_t rank_receive(struct rank *r, const struct part *p)
{
    int which = (int)(r->rounds % 2);
    uint64_t dangling = 0;
    memset(r->sum, 0, p->rows * sizeof *r->sum);
    for (int step = 0; step < p->npes; step++) {
        int pe = (p->me + step) % p->npes;
        uint32_t last = r->begin[pe + 1] - 1;
        shmem_signal_wait_until(&r->arrived[which * p->npes + pe], SHMEM_CMP_EQ, r->rounds + 1);
        for (uint32_t i = r->begin[pe]; i < last; i++)
            r->sum[r->row[i]] += r->inbox[which][i];
        dangling += r->inbox[which][last];
    }
    return dangling;
}

// Makes sums into ranks. Returns by how much they changed in all.
static uint64_t rank_update(struct rank *r, const struct part *p, uint64_t dangling)
{
    uint64_t change = 0;
    for (uint32_t row = 0; row < p->rows; row++) {
        uint64_t now = rank_next(r->sum[row], dangling, p->n), was = r->rank[row];
        change += now > was ? now - was : was - now;
        r->rank[row] = now;
    }
    return change;
}

// Goes on until the ranks change by less than their last bit, or for most rounds. Everyone's change
// is added up in every eighth round only.
void rank_run(struct rank *r, const struct part *p, uint32_t most)
{
    static uint64_t mine, all;
    rank_open(r, p);
    shmem_barrier_all();
    double start = example_now();
    for (bool more = true; more && r->rounds < most;) {
        rank_give(r, p);
        mine = rank_update(r, p, rank_receive(r, p));
        if (++r->rounds % 8)
            continue;
        shmem_sum_reduce(SHMEM_TEAM_WORLD, &all, &mine, 1);
        more = all > p->n;
    }
    shmem_barrier_all();
    r->seconds = example_now() - start;
}
