// SPDX-License-Identifier: BSD-3-Clause
// Mapping a graph on a tree of places. See topo_map.h. From the top of the tree down, the vertices are
// shared out among a place's parts: a part grows from a vertex at the rim, always by the one that
// leaves the fewest links cut. (Graph growing; Karypis and Kumar, "A fast and high quality multilevel
// scheme for partitioning irregular graphs", 1998, section 3.2.)
#include "topo_map.h"

#include "agree.h"
#include "hw.h"

#include <pshmem.h>
#include <stdlib.h>
#include <string.h>

// ---- Seats
static int by_place(const void *a, const void *b)
{
    const struct seat *x = a, *y = b;
    for (int level = 0; level < SEAT_LEVELS; level++)
        if (x->at[level] != y->at[level])
            return x->at[level] < y->at[level] ? -1 : 1;
    return (x->rank > y->rank) - (x->rank < y->rank);
}

static struct seat own_seat(int rank)
{
    struct seat s = {.rank = rank};
    s.at[0] = pshmem_team_translate_pe(SHMEM_TEAM_SHARED, 0, SHMEM_TEAM_WORLD);
    for (int i = 0; i + 1 < SEAT_LEVELS && hw_kind(i); i++)
        s.at[i + 1] = hw_place(hw_kind(i));
    return s;
}

static bool is_alike(const struct seat *a, const struct seat *b)
{
    return memcmp(a->at, b->at, sizeof a->at) == 0;
}

int map_seats(struct comm *comm, int n, struct seat **seats)
{
    struct circle all = circle_of(comm);
    struct seat mine = own_seat(comm->rank);
    struct seat *s = malloc((size_t)all.size * sizeof *s);
    *seats = NULL;
    int error = s ? agree_allgather(&all, &mine, sizeof mine, s) : MPI_ERR_NO_MEM;
    if (!error && n > 0 && n <= MAP_MOST) {
        qsort(s, (size_t)n, sizeof *s, by_place);
        if (!is_alike(&s[0], &s[n - 1]))
            *seats = s;
    }
    if (!*seats)
        free(s);
    return error;
}

static int levels_shared(const struct seat *a, const struct seat *b)
{
    int level = 0;
    while (level < SEAT_LEVELS && a->at[level] == b->at[level])
        level++;
    return level;
}

// The weight of the links, each more the farther its ends are.
static double cost_of(int n, const struct seat *seats, const struct link *links, size_t n_links,
                      const int order[])
{
    const struct seat **of_rank = malloc((size_t)n * sizeof *of_rank);
    double cost = 0;
    for (int i = 0; of_rank && i < n; i++)
        of_rank[seats[i].rank] = &seats[i];
    for (size_t i = 0; of_rank && i < n_links; i++) {
        const struct seat *from = of_rank[order[links[i].from]], *to = of_rank[order[links[i].to]];
        cost += (double)links[i].weight * ((1 << (SEAT_LEVELS - levels_shared(from, to))) - 1);
    }
    free(of_rank);
    return cost;
}

void map_take(int n, const struct seat *seats, const struct link *links, size_t n_links,
              const int other[], int order[])
{
    if (cost_of(n, seats, links, n_links, other) < cost_of(n, seats, links, n_links, order))
        memcpy(order, other, (size_t)n * sizeof *order);
}

// ---- The graph as lists of neighbours
struct near {
    int vertex, weight;
};

struct map {
    const struct seat *seats;
    size_t *first; // vertex v's neighbours: near[first[v]] to near[first[v + 1] - 1]
    struct near *near;
    int *vertex, *pos; // a vertex for each seat, and where each vertex is in this list
    double *cost; // of each vertex: how many links more are cut when it joins the part that grows
};

// first[v + 1] is where the next one of v goes: behind v's last one, in the end.
static void list_neighbors(struct map *m, int n, const struct link *links, size_t n_links)
{
    for (size_t i = 0; i < n_links; i++) {
        m->first[links[i].from + 2]++;
        m->first[links[i].to + 2]++;
    }
    for (int v = 0; v < n; v++)
        m->first[v + 2] += m->first[v + 1];
    for (size_t i = 0; i < n_links; i++) {
        struct link l = links[i];
        if (l.from == l.to)
            l.weight = 0;
        m->near[m->first[l.from + 1]++] = (struct near){l.to, l.weight};
        m->near[m->first[l.to + 1]++] = (struct near){l.from, l.weight};
    }
}

// ---- Sharing out
static void put(struct map *m, int i, int vertex)
{
    m->vertex[i] = vertex;
    m->pos[vertex] = i;
}

static void swap(struct map *m, int i, int j)
{
    int v = m->vertex[i];
    put(m, i, m->vertex[j]);
    put(m, j, v);
}

static void count_links(struct map *m, int lo, int hi)
{
    for (int i = lo; i < hi; i++) {
        int v = m->vertex[i];
        m->cost[v] = 0;
        for (size_t k = m->first[v]; k < m->first[v + 1]; k++)
            if (m->pos[m->near[k].vertex] >= lo && m->pos[m->near[k].vertex] < hi)
                m->cost[v] += m->near[k].weight;
    }
}

static int cheapest(const struct map *m, int lo, int hi)
{
    int best = lo;
    for (int i = lo + 1; i < hi; i++) {
        int v = m->vertex[i], b = m->vertex[best];
        if (m->cost[v] < m->cost[b] || (m->cost[v] == m->cost[b] && v < b))
            best = i;
    }
    return best;
}

// Brings vertices of [lo, hi) that belong together to [lo, end).
static void grow(struct map *m, int lo, int end, int hi)
{
    count_links(m, lo, hi);
    for (int i = lo; i < end; i++) {
        swap(m, i, cheapest(m, i, hi));
        int v = m->vertex[i];
        for (size_t k = m->first[v]; k < m->first[v + 1]; k++)
            m->cost[m->near[k].vertex] -= 2.0 * m->near[k].weight;
    }
}

static int by_number(const void *a, const void *b)
{
    return *(const int *)a - *(const int *)b;
}

static void share_out(struct map *m, int lo, int hi)
{
    int level = levels_shared(&m->seats[lo], &m->seats[hi - 1]);
    if (level == SEAT_LEVELS) {
        qsort(m->vertex + lo, (size_t)(hi - lo), sizeof *m->vertex, by_number);
        for (int i = lo; i < hi; i++)
            m->pos[m->vertex[i]] = i;
        return;
    }
    for (int end = lo; lo < hi; lo = end) {
        while (end < hi && m->seats[end].at[level] == m->seats[lo].at[level])
            end++;
        if (end < hi)
            grow(m, lo, end, hi);
        share_out(m, lo, end);
    }
}

static bool map_new(struct map *m, int n, size_t n_links)
{
    size_t all = (size_t)n;
    m->first = calloc(all + 2, sizeof *m->first);
    m->near = malloc((2 * n_links + 1) * sizeof *m->near);
    m->vertex = malloc(all * sizeof *m->vertex);
    m->pos = malloc(all * sizeof *m->pos);
    m->cost = malloc(all * sizeof *m->cost);
    return m->first && m->near && m->vertex && m->pos && m->cost;
}

static void map_free(struct map *m)
{
    free(m->first);
    free(m->near);
    free(m->vertex);
    free(m->pos);
    free(m->cost);
}

bool map_improve(int n, const struct seat *seats, const struct link *links, size_t n_links,
                 int order[])
{
    struct map m = {.seats = seats};
    int *found = malloc((size_t)n * sizeof *found);
    bool done = map_new(&m, n, n_links) && found;
    if (done) {
        list_neighbors(&m, n, links, n_links);
        for (int i = 0; i < n; i++)
            put(&m, i, i);
        share_out(&m, 0, n);
        for (int i = 0; i < n; i++)
            found[m.vertex[i]] = seats[i].rank;
        map_take(n, seats, links, n_links, found, order);
    }
    map_free(&m);
    free(found);
    return done;
}

// ---- Orders
int *map_new_order(int n)
{
    int *order = malloc(((size_t)n + 1) * sizeof *order);
    for (int v = 0; order && v < n; v++)
        order[v] = v;
    return order;
}

struct group *map_group(const struct comm *comm, int *order, int n)
{
    for (int v = 0; v < n; v++)
        order[v] = group_pe(comm->group, order[v]);
    return group_new(order, n);
}
