// SPDX-License-Identifier: BSD-3-Clause
// The calls for groups (MPI 5.0, "Groups, Contexts, Communicators, and Caching": group management).
// They are local, and take O(n log n) at most.
#include "check.h"
#include "group.h"

#include <stdlib.h>

// What most calls that make a group check and what they end with.
static int check_output(const void *output, const char *call, const char *name)
{
    return output ? MPI_SUCCESS : raise_null(call, name);
}

static int raise_no_memory(const char *call)
{
    return raise_on(NULL, MPI_ERR_NO_MEM, call, "no memory for the group");
}

// A new group, of the session of the one it is made from.
static int give(struct group *g, const struct group *from, MPI_Group *out, const char *call)
{
    if (!g)
        return raise_no_memory(call);
    if (!g->head.code)
        g->session = from->session;
    *out = group_give(g);
    return MPI_SUCCESS;
}

static int check_two(MPI_Group a, MPI_Group b, const void *output, const char *call,
                     struct group **ga, struct group **gb)
{
    int error = group_check(a, NULL, call, "group1", ga);
    if (!error)
        error = group_check(b, NULL, call, "group2", gb);
    return error ? error : check_output(output, call, "the result");
}

static int *list_new(int n)
{
    return malloc((size_t)(n > 0 ? n : 1) * sizeof(int));
}

MPI_DEFINE(int, Group_size, MPI_Group group, int *size)
{
    struct group *g;
    int error = group_check(group, NULL, "MPI_Group_size", "group", &g);
    if (!error)
        error = check_output(size, "MPI_Group_size", "size");
    if (!error)
        *size = g->size;
    return error;
}

MPI_DEFINE(int, Group_rank, MPI_Group group, int *rank)
{
    struct group *g;
    int error = group_check(group, NULL, "MPI_Group_rank", "group", &g);
    if (!error)
        error = check_output(rank, "MPI_Group_rank", "rank");
    if (!error)
        *rank = g->rank;
    return error;
}

MPI_DEFINE(int, Group_translate_ranks, MPI_Group group1, int n, const int ranks1[],
           MPI_Group group2, int ranks2[])
{
    static const char call[] = "MPI_Group_translate_ranks";
    struct group *a, *b;
    int error = check_two(group1, group2, n > 0 ? ranks2 : (int[]){0}, call, &a, &b);
    if (error)
        return error;
    if (n < 0)
        return raise_on(NULL, MPI_ERR_ARG, call, "n is %d", n);
    for (int i = 0; i < n; i++)
        if (!ranks1 || (ranks1[i] != MPI_PROC_NULL && (ranks1[i] < 0 || ranks1[i] >= a->size)))
            return raise_on(NULL, MPI_ERR_RANK, call, "ranks1[%d] is %d, group1 has %d members", i,
                            ranks1 ? ranks1[i] : 0, a->size);
    for (int i = 0; i < n; i++)
        ranks2[i] = ranks1[i] == MPI_PROC_NULL ? MPI_PROC_NULL
                                               : group_rank(b, group_pe(a, ranks1[i]));
    return MPI_SUCCESS;
}

int group_compare(struct group *a, struct group *b)
{
    if (a->size != b->size)
        return MPI_UNEQUAL;
    int result = MPI_IDENT;
    for (int i = 0; i < a->size; i++) {
        int pe = group_pe(a, i);
        if (pe == group_pe(b, i))
            continue;
        if (group_rank(b, pe) == MPI_UNDEFINED)
            return MPI_UNEQUAL;
        result = MPI_SIMILAR;
    }
    return result;
}

MPI_DEFINE(int, Group_compare, MPI_Group group1, MPI_Group group2, int *result)
{
    struct group *a, *b;
    int error = check_two(group1, group2, result, "MPI_Group_compare", &a, &b);
    if (!error)
        *result = group_compare(a, b);
    return error;
}

// ---- Sets: the members of a that are (or are not) in b, in a's order
static int keep_members(struct group *a, struct group *b, bool in_b, int *list)
{
    int n = 0;
    for (int i = 0; i < a->size; i++) {
        int pe = group_pe(a, i);
        if ((group_rank(b, pe) != MPI_UNDEFINED) == in_b)
            list[n++] = pe;
    }
    return n;
}

MPI_DEFINE(int, Group_union, MPI_Group group1, MPI_Group group2, MPI_Group *newgroup)
{
    static const char call[] = "MPI_Group_union";
    struct group *a, *b;
    int error = check_two(group1, group2, newgroup, call, &a, &b);
    if (error)
        return error;
    int *list = list_new(a->size + b->size);
    if (!list)
        return raise_no_memory(call);
    for (int i = 0; i < a->size; i++)
        list[i] = group_pe(a, i);
    int n = a->size + keep_members(b, a, false, list + a->size);
    return give(group_new(list, n), a->session ? a : b, newgroup, call);
}

static int subset(MPI_Group group1, MPI_Group group2, bool in_b, MPI_Group *newgroup,
                  const char *call)
{
    struct group *a, *b;
    int error = check_two(group1, group2, newgroup, call, &a, &b);
    if (error)
        return error;
    int *list = list_new(a->size);
    if (!list)
        return raise_no_memory(call);
    int n = keep_members(a, b, in_b, list);
    return give(group_new(list, n), a, newgroup, call);
}

MPI_DEFINE(int, Group_intersection, MPI_Group group1, MPI_Group group2, MPI_Group *newgroup)
{
    return subset(group1, group2, true, newgroup, "MPI_Group_intersection");
}

MPI_DEFINE(int, Group_difference, MPI_Group group1, MPI_Group group2, MPI_Group *newgroup)
{
    return subset(group1, group2, false, newgroup, "MPI_Group_difference");
}

// ---- Lists and ranges of ranks. A list of ranks that are members, each once.
static int check_ranks(const struct group *g, int n, const int ranks[], const char *call)
{
    if (n < 0 || n > g->size)
        return raise_on(NULL, n < 0 ? MPI_ERR_ARG : MPI_ERR_RANK, call,
                        "%d ranks of a group of %d members", n, g->size);
    if (n == 0)
        return MPI_SUCCESS;
    if (!ranks)
        return raise_null(call, "ranks");
    unsigned char *seen = calloc((size_t)g->size, 1);
    if (!seen)
        return raise_no_memory(call);
    int i = 0;
    while (i < n && ranks[i] >= 0 && ranks[i] < g->size && !seen[ranks[i]])
        seen[ranks[i++]] = 1;
    free(seen);
    if (i == n)
        return MPI_SUCCESS;
    return raise_on(NULL, MPI_ERR_RANK, call, "rank %d (number %d of the list) is %s", ranks[i], i,
                    ranks[i] < 0 || ranks[i] >= g->size ? "no member" : "in it twice");
}

static int include(struct group *g, int n, const int ranks[], MPI_Group *newgroup, const char *call)
{
    int error = check_ranks(g, n, ranks, call);
    if (error)
        return error;
    int *list = list_new(n);
    if (!list)
        return raise_no_memory(call);
    for (int i = 0; i < n; i++)
        list[i] = group_pe(g, ranks[i]);
    return give(group_new(list, n), g, newgroup, call);
}

static int exclude(struct group *g, int n, const int ranks[], MPI_Group *newgroup, const char *call)
{
    int error = check_ranks(g, n, ranks, call);
    if (error)
        return error;
    unsigned char *gone = calloc((size_t)g->size + 1, 1);
    int *list = list_new(g->size), left = 0;
    if (!list || !gone) {
        free(list);
        free(gone);
        return raise_no_memory(call);
    }
    for (int i = 0; i < n; i++)
        gone[ranks[i]] = 1;
    for (int i = 0; i < g->size; i++)
        if (!gone[i])
            list[left++] = group_pe(g, i);
    free(gone);
    return give(group_new(list, left), g, newgroup, call);
}

typedef int listed_fn(struct group *, int n, const int ranks[], MPI_Group *, const char *call);

static int by_list(listed_fn *fn, MPI_Group group, int n, const int ranks[], MPI_Group *newgroup,
                   const char *call)
{
    struct group *g;
    int error = group_check(group, NULL, call, "group", &g);
    if (!error)
        error = check_output(newgroup, call, "newgroup");
    return error ? error : fn(g, n, ranks, newgroup, call);
}

MPI_DEFINE(int, Group_incl, MPI_Group group, int n, const int ranks[], MPI_Group *newgroup)
{
    return by_list(include, group, n, ranks, newgroup, "MPI_Group_incl");
}

MPI_DEFINE(int, Group_excl, MPI_Group group, int n, const int ranks[], MPI_Group *newgroup)
{
    return by_list(exclude, group, n, ranks, newgroup, "MPI_Group_excl");
}

// The ranks of {first, last, stride}; all within the group, so as many as it has at most.
static int count_range(const struct group *g, const int range[3], const char *call, int *n)
{
    int64_t first = range[0], last = range[1], stride = range[2];
    if (stride == 0)
        return raise_on(NULL, MPI_ERR_ARG, call, "a range has stride 0");
    int64_t count = (stride > 0 ? last < first : last > first) ? 0 : (last - first) / stride + 1;
    int64_t end = first + (count - 1) * stride;
    if (count > 0 && (first < 0 || first >= g->size || end < 0 || end >= g->size))
        return raise_on(NULL, MPI_ERR_RANK, call, "range {%d, %d, %d} leaves a group of %d members",
                        range[0], range[1], range[2], g->size);
    *n = (int)count;
    return MPI_SUCCESS;
}

static int by_ranges(listed_fn *fn, MPI_Group group, int n, int ranges[][3], MPI_Group *newgroup,
                     const char *call)
{
    struct group *g;
    int error = group_check(group, NULL, call, "group", &g);
    if (!error)
        error = check_output(newgroup, call, "newgroup");
    if (error)
        return error;
    if (n < 0 || (n > 0 && !ranges))
        return raise_on(NULL, MPI_ERR_ARG, call, n < 0 ? "n is negative" : "ranges is NULL");
    int64_t total = 0;
    for (int i = 0; i < n; i++) {
        int more;
        if ((error = count_range(g, ranges[i], call, &more)))
            return error;
        total += more;
    }
    if (total > g->size)
        return raise_on(NULL, MPI_ERR_RANK, call, "the ranges name a member twice");
    int *list = list_new((int)total), k = 0;
    if (!list)
        return raise_no_memory(call);
    for (int i = 0; i < n; i++) {
        int more;
        count_range(g, ranges[i], call, &more);
        for (int j = 0; j < more; j++)
            list[k++] = ranges[i][0] + j * ranges[i][2];
    }
    error = fn(g, k, list, newgroup, call);
    free(list);
    return error;
}

MPI_DEFINE(int, Group_range_incl, MPI_Group group, int n, int ranges[][3], MPI_Group *newgroup)
{
    return by_ranges(include, group, n, ranges, newgroup, "MPI_Group_range_incl");
}

MPI_DEFINE(int, Group_range_excl, MPI_Group group, int n, int ranges[][3], MPI_Group *newgroup)
{
    return by_ranges(exclude, group, n, ranges, newgroup, "MPI_Group_range_excl");
}

MPI_DEFINE(int, Group_free, MPI_Group *group)
{
    static const char call[] = "MPI_Group_free";
    struct group *g;
    int error = check_output(group, call, "group");
    if (!error)
        error = group_check(*group, NULL, call, "group", &g);
    if (error)
        return error;
    object_count(&g->handles, -1);
    group_free(g);
    *group = MPI_GROUP_NULL;
    return MPI_SUCCESS;
}

// ---- Groups of communicators. Of a communicator that descends from a session so does its group.
static int give_of(const struct comm *c, struct group *g, MPI_Group *out, const char *call)
{
    if (g->session == c->session || g->head.code) {
        object_keep(g);
        *out = group_give(g);
        return MPI_SUCCESS;
    }
    int *list = list_new(g->size);
    if (!list)
        return raise_no_memory(call);
    for (int i = 0; i < g->size; i++)
        list[i] = group_pe(g, i);
    struct group *copy = group_new(list, g->size);
    int error = give(copy, g, out, call);
    if (!error)
        copy->session = c->session;
    return error;
}

MPI_DEFINE(int, Comm_group, MPI_Comm comm, MPI_Group *group)
{
    static const char call[] = "MPI_Comm_group";
    struct comm *c;
    int error = check_comm(call, comm, &c);
    if (error)
        return error;
    if (!group)
        return raise_on(c, MPI_ERR_ARG, call, "argument group is NULL");
    return give_of(c, c->group, group, call);
}

MPI_DEFINE(int, Comm_remote_group, MPI_Comm comm, MPI_Group *group)
{
    static const char call[] = "MPI_Comm_remote_group";
    struct comm *c;
    int error = check_comm(call, comm, &c);
    if (error)
        return error;
    if (!comm_is_inter(c))
        return raise_on(c, MPI_ERR_COMM, call, "comm is no intercommunicator");
    if (!group)
        return raise_on(c, MPI_ERR_ARG, call, "argument group is NULL");
    return give_of(c, c->remote, group, call);
}
