// SPDX-License-Identifier: BSD-3-Clause
// Reordering a distributed graph: every process gathers all of it, finds the same order of processes,
// and takes the neighbours of the vertex that it becomes. (Where no process is nearer to one than to
// another, and of a graph with very many links, nothing is gathered.)
#include "agree.h"
#include "topo.h"
#include "topo_map.h"

#include <stdlib.h>
#include <string.h>

// Links of a graph that is gathered: each process needs some 50 bytes for one. Larger ones keep their order.
enum { MOST_LINKS = 1 << 20 };

struct degrees {
    int in, out, is_weighted;
};

struct whole {
    int n;
    struct degrees *count; // of each vertex
    size_t *start;         // of its part of `lists`, n + 1
    int *lists;            // its sources, destinations, and the weights of both if it has any
};

static size_t part_of(const struct degrees *d)
{
    return (d->is_weighted ? 2 : 1) * ((size_t)d->in + (size_t)d->out);
}

// As the degrees come from all, all find the same.
static bool is_too_large(const struct whole *w)
{
    size_t in = 0, out = 0;
    for (int v = 0; v < w->n; v++) {
        in += (size_t)w->count[v].in;
        out += (size_t)w->count[v].out;
    }
    return in > MOST_LINKS || out > MOST_LINKS;
}

static int send_part(const struct circle *c, const struct whole *w, int to, int bit)
{
    int end = c->me + bit < w->n ? c->me + bit : w->n;
    size_t n = w->start[end] - w->start[c->me];
    return agree_swap(c->comm, to, c->tag, w->lists + w->start[c->me], n * sizeof *w->lists, NULL,
                      0);
}

static int receive_part(const struct circle *c, const struct whole *w, int from, int bit)
{
    int end = from + bit < w->n ? from + bit : w->n;
    size_t n = w->start[end] - w->start[from];
    return agree_swap(c->comm, from, c->tag, NULL, 0, w->lists + w->start[from],
                      n * sizeof *w->lists);
}

// Up a binomial tree, where each has the parts of the vertices that follow its own, then to all.
static int gather_lists(const struct circle *c, const struct whole *w)
{
    int error = MPI_SUCCESS;
    for (int bit = 1; bit < w->n && !error; bit *= 2) {
        if (c->me & bit) {
            error = send_part(c, w, c->me - bit, bit);
            break;
        }
        if (c->me + bit < w->n)
            error = receive_part(c, w, c->me + bit, bit);
    }
    return error ? error : agree_bcast(c, 0, w->lists, w->start[w->n] * sizeof *w->lists);
}

static int gather(const struct circle *all, const struct topology *t, struct whole *w)
{
    w->start = malloc(((size_t)w->n + 1) * sizeof *w->start);
    if (!w->start)
        return MPI_ERR_NO_MEM;
    w->start[0] = 0;
    for (int v = 0; v < w->n; v++)
        w->start[v + 1] = w->start[v] + part_of(&w->count[v]);
    w->lists = malloc((w->start[w->n] + 1) * sizeof *w->lists);
    if (!w->lists)
        return MPI_ERR_NO_MEM;
    memcpy(w->lists + w->start[all->me], t->space, part_of(&w->count[all->me]) * sizeof *t->space);
    return gather_lists(all, w);
}

static struct link *links_of(const struct whole *w, size_t *count)
{
    size_t all = 0, k = 0;
    for (int v = 0; v < w->n; v++)
        all += (size_t)w->count[v].out;
    struct link *links = malloc((all + 1) * sizeof *links);
    for (int v = 0; links && v < w->n; v++) {
        struct degrees d = w->count[v];
        const int *peer = w->lists + w->start[v] + d.in, *weight = peer + d.out + d.in;
        for (int i = 0; i < d.out; i++)
            links[k++] = (struct link){v, peer[i], d.is_weighted ? weight[i] : 1};
    }
    *count = all;
    return links;
}

static struct topology *topology_of(const struct whole *w, int v)
{
    const struct degrees *d = &w->count[v];
    struct topology *t = topology_dist_new(d->in, d->out, d->is_weighted);
    if (t)
        memcpy(t->space, w->lists + w->start[v], part_of(d) * sizeof *t->space);
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
            struct topology *other = topology_of(w, v);
            topology_drop(*t);
            *t = other;
            break;
        }
    return done && *t;
}

static int order_whole(struct comm *c, const struct circle *all, const struct seat *seats,
                       struct whole *w, struct topology **t, struct group **members)
{
    struct degrees mine = {(*t)->dist.in, (*t)->dist.out, (*t)->dist.source_weights != NULL};
    int error = agree_allgather(all, &mine, sizeof mine, w->count);
    if (error || is_too_large(w))
        return error;
    error = gather(all, *t, w);
    int *order = error ? NULL : map_new_order(w->n);
    if (!error && (!order || !take_place(c, w, seats, t, order)))
        error = MPI_ERR_NO_MEM;
    if (error)
        free(order);
    else
        *members = map_group(c, order, w->n);
    return error;
}

int topology_dist_order(struct comm *c, struct topology **t, struct group **members)
{
    struct circle all = circle_of(c);
    struct seat *seats;
    int error = map_seats(c, all.size, &seats);
    if (!seats)
        return error;
    struct whole w = {.n = all.size};
    w.count = malloc((size_t)all.size * sizeof *w.count);
    error = w.count ? order_whole(c, &all, seats, &w, t, members) : MPI_ERR_NO_MEM;
    free(w.count);
    free(w.start);
    free(w.lists);
    free(seats);
    return error;
}
