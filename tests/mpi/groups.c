// SPDX-License-Identifier: BSD-3-Clause
// NODES: 1
// Groups against sets of numbers: random lists and ranges of the world's ranks, their unions,
// intersections and differences, and how ranks translate.
#include "mpi_check.h"

#include <limits.h>

enum { MOST = 64, ROUNDS = 300 };

struct set {
    int n, at[MOST];
};

static int find(const struct set *s, int rank)
{
    for (int i = 0; i < s->n; i++)
        if (s->at[i] == rank)
            return i;
    return MPI_UNDEFINED;
}

static void check_members(MPI_Group g, const struct set *s, const char *what)
{
    MPI_Group world;
    int size, rank, ranks[MOST], back[MOST], every[MOST];
    OK(MPI_Comm_group(MPI_COMM_WORLD, &world));
    OK(MPI_Group_size(g, &size));
    OK(MPI_Group_rank(g, &rank));
    if (!CHECK_EQ(size, s->n))
        fprintf(stderr, "    after %s\n", what);
    CHECK_EQ(rank, find(s, me));
    for (int i = 0; i < s->n; i++)
        ranks[i] = i;
    OK(MPI_Group_translate_ranks(g, s->n, ranks, world, back));
    CHECK_EACH(i, s->n, back[i], s->at[i]);
    for (int i = 0; i < npes; i++)
        every[i] = i;
    OK(MPI_Group_translate_ranks(world, npes, every, g, back));
    CHECK_EACH(i, npes, back[i], find(s, (int)i));
    OK(MPI_Group_free(&world));
}

// Some of the world in some order.
static struct set random_set(uint64_t *seed)
{
    struct set s = {0};
    int n = (int)rnd_below(seed, (size_t)npes + 1);
    while (s.n < n) {
        int rank = (int)rnd_below(seed, (size_t)npes);
        if (find(&s, rank) == MPI_UNDEFINED)
            s.at[s.n++] = rank;
    }
    return s;
}

static MPI_Group group_of(const struct set *s)
{
    MPI_Group world, g;
    OK(MPI_Comm_group(MPI_COMM_WORLD, &world));
    OK(MPI_Group_incl(world, s->n, s->at, &g));
    OK(MPI_Group_free(&world));
    return g;
}

static struct set keep(const struct set *a, const struct set *b, bool in_b)
{
    struct set s = {0};
    for (int i = 0; i < a->n; i++)
        if ((find(b, a->at[i]) != MPI_UNDEFINED) == in_b)
            s.at[s.n++] = a->at[i];
    return s;
}

static void two_sets(uint64_t *seed)
{
    struct set a = random_set(seed), b = random_set(seed), s;
    MPI_Group ga = group_of(&a), gb = group_of(&b), g;
    check_members(ga, &a, "incl");
    OK(MPI_Group_intersection(ga, gb, &g));
    s = keep(&a, &b, true);
    check_members(g, &s, "intersection");
    OK(MPI_Group_free(&g));
    OK(MPI_Group_difference(ga, gb, &g));
    s = keep(&a, &b, false);
    check_members(g, &s, "difference");
    OK(MPI_Group_free(&g));
    OK(MPI_Group_union(ga, gb, &g));
    struct set more = keep(&b, &a, false);
    s = a;
    for (int i = 0; i < more.n; i++)
        s.at[s.n++] = more.at[i];
    check_members(g, &s, "union");
    int result, same = a.n == b.n && keep(&a, &b, true).n == a.n;
    OK(MPI_Group_compare(ga, gb, &result));
    CHECK_EQ(result, !same                                                ? MPI_UNEQUAL
                     : memcmp(a.at, b.at, (size_t)a.n * sizeof(int)) == 0 ? MPI_IDENT
                                                                          : MPI_SIMILAR);
    OK(MPI_Group_free(&g));
    OK(MPI_Group_free(&ga));
    OK(MPI_Group_free(&gb));
    CHECK(ga == MPI_GROUP_NULL);
}

static void ranges(uint64_t *seed)
{
    MPI_Group world, g;
    int first = (int)rnd_below(seed, (size_t)npes), last = (int)rnd_below(seed, (size_t)npes);
    int stride = (1 + (int)rnd_below(seed, 3)) * (first <= last ? 1 : -1);
    int range[1][3] = {{first, last, stride}};
    struct set in = {0}, out = {0};
    for (int i = first; first <= last ? i <= last : i >= last; i += stride)
        in.at[in.n++] = i;
    for (int i = 0; i < npes; i++)
        if (find(&in, i) == MPI_UNDEFINED)
            out.at[out.n++] = i;
    OK(MPI_Comm_group(MPI_COMM_WORLD, &world));
    OK(MPI_Group_range_incl(world, 1, range, &g));
    check_members(g, &in, "range_incl");
    OK(MPI_Group_free(&g));
    OK(MPI_Group_range_excl(world, 1, range, &g));
    check_members(g, &out, "range_excl");
    OK(MPI_Group_free(&g));
    OK(MPI_Group_excl(world, in.n, in.at, &g));
    check_members(g, &out, "excl");
    OK(MPI_Group_free(&g));
    OK(MPI_Group_free(&world));
}

static void errors(void)
{
    MPI_Group world, g = MPI_GROUP_NULL;
    int twice[] = {0, 0}, beyond[] = {npes}, range[1][3] = {{0, npes, 1}},
        still[1][3] = {{0, 0, 0}};
    OK(MPI_Comm_set_errhandler(MPI_COMM_SELF, MPI_ERRORS_RETURN));
    OK(MPI_Comm_group(MPI_COMM_WORLD, &world));
    CHECK_EQ(class_of(MPI_Group_incl(world, 2, twice, &g)), MPI_ERR_RANK);
    CHECK_EQ(class_of(MPI_Group_excl(world, 1, beyond, &g)), MPI_ERR_RANK);
    CHECK_EQ(class_of(MPI_Group_incl(world, -1, beyond, &g)), MPI_ERR_ARG);
    CHECK_EQ(class_of(MPI_Group_range_incl(world, 1, range, &g)), MPI_ERR_RANK);
    CHECK_EQ(class_of(MPI_Group_range_incl(world, 1, still, &g)), MPI_ERR_ARG);
    CHECK_EQ(class_of(MPI_Group_union(world, MPI_GROUP_NULL, &g)), MPI_ERR_GROUP);
    CHECK(g == MPI_GROUP_NULL);
    int far[1][3] = {{-1, INT_MAX, 1}};
    CHECK_EQ(class_of(MPI_Group_range_incl(world, 1, far, &g)), MPI_ERR_RANK);
    OK(MPI_Group_incl(world, 0, NULL, &g));
    int result;
    OK(MPI_Group_compare(g, MPI_GROUP_EMPTY, &result));
    CHECK_EQ(result, MPI_IDENT);
    OK(MPI_Group_free(&g));
    int null = MPI_PROC_NULL, to = 7;
    OK(MPI_Group_translate_ranks(world, 1, &null, MPI_GROUP_EMPTY, &to));
    CHECK_EQ(to, MPI_PROC_NULL);
    OK(MPI_Group_free(&world));
}

int main(void)
{
    uint64_t seed = 5;
    mpi_start();
    for (int i = 0; i < ROUNDS; i++) {
        two_sets(&seed);
        ranges(&seed);
    }
    errors();
    return mpi_done();
}
