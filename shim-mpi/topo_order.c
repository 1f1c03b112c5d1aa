// SPDX-License-Identifier: BSD-3-Clause
// Reordering a distributed graph: every process gathers all of it, finds the same order of processes,
// and takes the neighbours of the vertex that it becomes. (Where no process is nearer to one than to
// another nothing is gathered.)
#include "agree.h"
#include "topo.h"
#include "topo_map.h"

#include <stdlib.h>
#include <string.h>

struct degrees {
    int in, out;
};

struct whole {
    int n;
    size_t width;          // integers that each vertex has in `lists`
    struct degrees *count; // of each vertex
    int *lists;            // its sources, destinations, and the weights of both
};

static int *list_of(const struct whole *w, int v)
{
    return w->lists + (size_t)v * w->width;
}

static size_t widest(const struct whole *w)
{
    size_t most = 0;
    for (int v = 0; v < w->n; v++) {
        size_t all = 2 * ((size_t)w->count[v].in + (size_t)w->count[v].out);
        most = all > most ? all : most;
    }
    return most;
}

static int gather(const struct circle *all, const struct topology *t, struct whole *w)
{
    struct degrees mine = {t->dist.in, t->dist.out};
    size_t n = (size_t)mine.in + (size_t)mine.out;
    int error = agree_allgather(all, &mine, sizeof mine, w->count);
    if (error)
        return error;
    w->width = widest(w);
    w->lists = calloc((size_t)w->n * w->width + 1, sizeof *w->lists);
    int *own = calloc(w->width + 1, sizeof *own);
    if (own && w->lists) {
        memcpy(own, t->space, n * sizeof *own);
        for (size_t i = 0; i < n; i++)
            own[n + i] = t->dist.source_weights ? t->space[n + i] : 1;
        error = agree_allgather(all, own, w->width * sizeof *own, w->lists);
    }
    error = own && w->lists ? error : MPI_ERR_NO_MEM;
    free(own);
    return error;
}

static struct link *links_of(const struct whole *w, size_t *count)
{
    size_t all = 0, k = 0;
    for (int v = 0; v < w->n; v++)
        all += (size_t)w->count[v].out;
    struct link *links = malloc((all + 1) * sizeof *links);
    for (int v = 0; links && v < w->n; v++) {
        int in = w->count[v].in, out = w->count[v].out;
        const int *peer = list_of(w, v) + in, *weight = peer + out + in;
        for (int i = 0; i < out; i++)
            links[k++] = (struct link){v, peer[i], weight[i]};
    }
    *count = all;
    return links;
}

static struct topology *topology_of(const struct whole *w, int v, bool weighted)
{
    struct degrees d = w->count[v];
    size_t n = (size_t)d.in + (size_t)d.out;
    struct topology *t = topology_dist_new(d.in, d.out, weighted);
    if (t)
        memcpy(t->space, list_of(w, v), n * (weighted ? 2 : 1) * sizeof *t->space);
    return t;
}

static bool take_place(struct comm *c, const struct whole *w, const struct seat *seats,
                       struct topology **t, int order[])
{
    size_t count;
    struct link *links = links_of(w, &count);
    bool done = links && map_improve(w->n, seats, links, count, order);
    free(links);
    for (int v = 0; done && v < w->n; v++)
        if (order[v] == c->rank) {
            struct topology *other = topology_of(w, v, (*t)->dist.source_weights);
            topology_drop(*t);
            *t = other;
            break;
        }
    return done && *t;
}

int topology_dist_order(struct comm *c, struct topology **t, struct group **members)
{
    struct circle all = circle_of(c);
    struct seat *seats;
    int error = map_seats(c, all.size, &seats);
    if (!seats)
        return error;
    struct whole w = {.n = all.size};
    int *order = map_new_order(w.n);
    w.count = malloc((size_t)all.size * sizeof *w.count);
    error = order && w.count ? gather(&all, *t, &w) : MPI_ERR_NO_MEM;
    if (!error && !take_place(c, &w, seats, t, order))
        error = MPI_ERR_NO_MEM;
    if (error)
        free(order);
    else
        *members = map_group(c, order, w.n);
    free(w.count);
    free(w.lists);
    free(seats);
    return error;
}
