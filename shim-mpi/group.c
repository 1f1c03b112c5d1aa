// SPDX-License-Identifier: BSD-3-Clause
// Groups as the shim uses them. See group.h. The inverse of an irregular group:
//
//     pes      3 0 7 5        rank -> PE
//     sorted   1 0 3 2        ranks in the order of their PEs: looked up by bisection
#include "group.h"

#include <stdlib.h>

static struct group group_empty = {.rank = MPI_UNDEFINED, .stride = 1};

__attribute__((constructor)) static void predefine(void)
{
    object_predefine(&group_empty, OBJECT_GROUP, MPI_GROUP_EMPTY);
}

static struct group *start(int first, int stride, int size)
{
    if (size == 0) {
        object_keep(&group_empty);
        return &group_empty;
    }
    struct group *g = object_new(sizeof *g, OBJECT_GROUP);
    if (g) {
        g->size = size;
        g->first = first;
        g->stride = stride;
    }
    return g;
}

struct group *group_new_regular(int first, int stride, int size)
{
    struct group *g = start(first, size > 1 ? stride : 1, size);
    if (g && size)
        g->rank = group_rank(g, shim_pe());
    return g;
}

struct group *group_new(int *pes, int size)
{
    int stride = size > 1 ? pes[1] - pes[0] : 1;
    bool is_regular = stride != 0;
    for (int i = 1; i < size && is_regular; i++)
        is_regular = pes[i] - pes[i - 1] == stride;
    if (is_regular) {
        struct group *g = group_new_regular(size ? pes[0] : 0, stride, size);
        free(pes);
        return g;
    }
    struct group *g = start(pes[0], 0, size);
    if (!g) {
        free(pes);
        return NULL;
    }
    g->pes = pes;
    g->rank = MPI_UNDEFINED;
    for (int i = 0; i < size && g->rank == MPI_UNDEFINED; i++)
        if (pes[i] == shim_pe())
            g->rank = i;
    return g;
}

void group_free(struct group *g)
{
    if (!g || !object_drop(g))
        return;
    free(g->pes);
    free(atomic_load_explicit(&g->sorted, memory_order_relaxed));
    object_end(g);
}

static int by_pe(const void *a, const void *b, void *pes)
{
    const int *pe = pes, *x = a, *y = b;
    return (pe[*x] > pe[*y]) - (pe[*x] < pe[*y]);
}

// Two threads may make it at once: the first one's stays. NULL: no memory.
static int *inverse(struct group *g)
{
    int *sorted = atomic_load_explicit(&g->sorted, memory_order_acquire);
    if (sorted)
        return sorted;
    int *mine = malloc((size_t)g->size * sizeof *mine);
    if (!mine)
        return NULL;
    for (int i = 0; i < g->size; i++)
        mine[i] = i;
    qsort_r(mine, (size_t)g->size, sizeof *mine, by_pe, g->pes);
    if (atomic_compare_exchange_strong_explicit(&g->sorted, &sorted, mine, memory_order_acq_rel,
                                                memory_order_acquire))
        return mine;
    free(mine);
    return sorted;
}

static int search_all(const struct group *g, int pe)
{
    for (int i = 0; i < g->size; i++)
        if (g->pes[i] == pe)
            return i;
    return MPI_UNDEFINED;
}

int group_rank_slow(struct group *g, int pe)
{
    if (!g->pes) {
        int distance = pe - g->first;
        int rank = distance / g->stride;
        return distance % g->stride == 0 && rank >= 0 && rank < g->size ? rank : MPI_UNDEFINED;
    }
    const int *sorted = inverse(g);
    if (!sorted)
        return search_all(g, pe);
    int low = 0, high = g->size; // the first that is not below pe is in [low, high]
    while (low < high) {
        int middle = low + (high - low) / 2;
        if (g->pes[sorted[middle]] < pe)
            low = middle + 1;
        else
            high = middle;
    }
    return low < g->size && g->pes[sorted[low]] == pe ? sorted[low] : MPI_UNDEFINED;
}

MPI_Group group_give(struct group *g)
{
    object_count(&g->handles, 1);
    return object_handle(g);
}

int group_check(MPI_Group h, struct comm *comm, const char *call, const char *name,
                struct group **group)
{
    *group = group_of(h);
    if (*group)
        return MPI_SUCCESS;
    return raise_on(comm, MPI_ERR_GROUP, call, "%s is %s", name,
                    h == MPI_GROUP_NULL ? "MPI_GROUP_NULL" : "not a group, or a freed one");
}
