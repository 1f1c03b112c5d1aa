// SPDX-License-Identifier: BSD-3-Clause
// Breadth-first search and PageRank on one PE, with nothing shared and nothing remote, to compare
// the PEs' results with. PageRank is done twice: in the same whole numbers, which must give the
// same bits, and in floating point, which says that the whole numbers are good enough.

#include "depgraph.h"

bool serial_same_depths(const struct graph *g, uint32_t root, const int32_t *depth)
{
    uint32_t *queue = example_local(g->n, sizeof *queue), head = 0, tail = 0;
    int32_t *mine = example_local(g->n, sizeof *mine);
    memset(mine, 0xff, g->n * sizeof *mine);
    mine[root] = 0;
    queue[tail++] = root;
    while (head < tail) {
        uint32_t v = queue[head++];
        for (uint32_t e = g->needed.first[v]; e < g->needed.first[v + 1]; e++) {
            uint32_t w = g->needed.to[e];
            if (mine[w] >= 0)
                continue;
            mine[w] = mine[v] + 1;
            queue[tail++] = w;
        }
    }
    bool same = true;
    for (uint32_t v = 0; v < g->n && same; v++) {
        same = mine[v] == depth[v];
        if (!same)
            printf("depgraph: %s is at depth %d, should be at %d from %s\n", g->name[v],
                   (int)depth[v], (int)mine[v], g->name[root]);
    }
    free(mine);
    free(queue);
    return same;
}

static void serial_round(const struct graph *g, uint64_t *rank, uint64_t *sum)
{
    uint64_t dangling = 0;
    memset(sum, 0, g->n * sizeof *sum);
    for (uint32_t v = 0; v < g->n; v++) {
        uint32_t degree = csr_count(&g->needs, v);
        dangling += degree ? 0 : rank[v];
        for (uint32_t e = g->needs.first[v]; e < g->needs.first[v + 1]; e++)
            sum[g->needs.to[e]] += rank[v] / degree;
    }
    for (uint32_t v = 0; v < g->n; v++)
        rank[v] = rank_next(sum[v], dangling, g->n);
}

static void serial_round_float(const struct graph *g, double *rank, double *sum)
{
    double dangling = 0, n = g->n;
    memset(sum, 0, g->n * sizeof *sum);
    for (uint32_t v = 0; v < g->n; v++) {
        uint32_t degree = csr_count(&g->needs, v);
        dangling += degree ? 0 : rank[v];
        for (uint32_t e = g->needs.first[v]; e < g->needs.first[v + 1]; e++)
            sum[g->needs.to[e]] += rank[v] / degree;
    }
    for (uint32_t v = 0; v < g->n; v++)
        rank[v] = 0.15 / n + 0.85 * (sum[v] + dangling / n);
}

static bool serial_compare(const struct graph *g, const uint64_t *rank, const uint64_t *exact,
                           const double *about)
{
    double difference = 0;
    for (uint32_t v = 0; v < g->n; v++) {
        if (rank[v] != exact[v]) {
            printf("depgraph: the rank of %s is %.17g, should be %.17g\n", g->name[v],
                   (double)rank[v] / (double)RANK_ONE, (double)exact[v] / (double)RANK_ONE);
            return false;
        }
        double d = (double)rank[v] / (double)RANK_ONE - about[v];
        difference += d < 0 ? -d : d;
    }
    if (difference > 1e-9)
        printf("depgraph: ranks differ from those in floating point by %g\n", difference);
    return difference <= 1e-9;
}

bool serial_same_ranks(const struct graph *g, uint32_t rounds, const uint64_t *rank)
{
    uint64_t *exact = example_local(g->n, sizeof *exact), *sum = example_local(g->n, sizeof *sum);
    double *about = example_local(g->n, sizeof *about), *part = example_local(g->n, sizeof *part);
    for (uint32_t v = 0; v < g->n; v++) {
        exact[v] = RANK_ONE / g->n;
        about[v] = 1.0 / g->n;
    }
    for (uint32_t i = 0; i < rounds; i++) {
        serial_round(g, exact, sum);
        serial_round_float(g, about, part);
    }
    bool same = serial_compare(g, rank, exact, about);
    free(part);
    free(about);
    free(sum);
    free(exact);
    return same;
}
