// SPDX-License-Identifier: BSD-3-Clause
// The graph cut over the PEs: row by row like a deck of cards, since neighbours in the alphabet
// (libs!) are much alike and blocks of them would not be equally heavy. PE 0 puts every PE's rows
// straight into that PE's symmetric memory.

#include "depgraph.h"

static uint32_t part_rows(const struct part *p, int pe)
{
    uint32_t npes = (uint32_t)p->npes;
    return (p->n + npes - 1 - (uint32_t)pe) / npes;
}

// How many edges the PE with most of them has.
static uint32_t part_most_edges(const struct csr *c, uint32_t n, int npes)
{
    uint32_t most = 0;
    uint32_t *count = example_local((size_t)npes, sizeof *count);
    for (uint32_t v = 0; v < n; v++) {
        uint32_t *mine = &count[v % (uint32_t)npes];
        *mine += csr_count(c, v);
        most = *mine > most ? *mine : most;
    }
    free(count);
    return most;
}

// Puts PE pe's rows of c where that PE has room for them.
static void part_send(const struct part *p, const struct csr *c, const struct csr *there, int pe)
{
    uint32_t rows = part_rows(p, pe), edges = 0;
    uint32_t *first = example_local(rows + 1, sizeof *first);
    for (uint32_t row = 0; row < rows; row++)
        edges += csr_count(c, row * (uint32_t)p->npes + (uint32_t)pe);
    uint32_t *to = example_local(edges, sizeof *to);
    for (uint32_t row = 0; row < rows; row++) {
        uint32_t v = row * (uint32_t)p->npes + (uint32_t)pe, n = csr_count(c, v);
        memcpy(to + first[row], c->to + c->first[v], n * sizeof *to);
        first[row + 1] = first[row] + n;
    }
    shmem_put(there->first, first, rows + 1, pe);
    shmem_put(there->to, to, edges, pe);
    free(first);
    free(to);
}

static struct csr part_room(const struct part *p, uint32_t edges)
{
    return (struct csr){example_alloc(p->room + 1, sizeof(uint32_t)),
                        example_alloc(edges, sizeof(uint32_t))};
}

// Returns 0, or -1 on all PEs when PE 0 has no graph.
int part_share(struct part *p, const struct graph *g)
{
    static uint32_t mine[4], all[4]; // n, m, most edges a PE has in each direction
    *p = (struct part){.me = shmem_my_pe(), .npes = shmem_n_pes()};
    if (g && g->n) {
        mine[0] = g->n;
        mine[1] = g->m;
        mine[2] = part_most_edges(&g->needs, g->n, p->npes);
        mine[3] = part_most_edges(&g->needed, g->n, p->npes);
    }
    shmem_barrier_all();
    shmem_broadcastmem(SHMEM_TEAM_WORLD, all, mine, sizeof all, 0);
    p->n = all[0];
    p->m = all[1];
    if (!p->n)
        return -1;
    p->rows = part_rows(p, p->me);
    p->room = part_rows(p, 0);
    p->needs = part_room(p, all[2]);
    p->needed = part_room(p, all[3]);
    for (int pe = 0; g && pe < p->npes; pe++) {
        part_send(p, &g->needs, &p->needs, pe);
        part_send(p, &g->needed, &p->needed, pe);
    }
    shmem_barrier_all();
    return 0;
}

void part_free(struct part *p)
{
    shmem_free(p->needed.to);
    shmem_free(p->needed.first);
    shmem_free(p->needs.to);
    shmem_free(p->needs.first);
}

// Brings something that every PE has for each of its rows, at the same symmetric address, together
// in the order of the whole graph. Only the PE that wants it calls this.
void part_gather(const struct part *p, const void *rows, size_t size, void *all)
{
    char *some = example_local(p->room, size), *to = all;
    for (int pe = 0; pe < p->npes; pe++) {
        uint32_t n = part_rows(p, pe);
        shmem_getmem(some, rows, n * size, pe);
        for (uint32_t row = 0; row < n; row++)
            memcpy(to + ((size_t)row * (size_t)p->npes + (size_t)pe) * size, some + row * size,
                   size);
    }
    free(some);
}
