// SPDX-License-Identifier: BSD-3-Clause
// MPI_Comm_split: every process tells all others its color, its key and a context that would do if it
// came first; each then picks out its own color and counts the keys into order: O(n) for n
// processes. In an intercommunicator the two sides tell each other theirs.
#include "agree.h"
#include "check.h"

#include <stdlib.h>

struct vote {
    int64_t color; // negative: none
    int key;
    uint32_t context, local;
};

// ---- Sorting by key, stable: eight bits at a time, those in which keys differ
struct ranked {
    uint32_t key; // order of unsigned numbers
    int rank;
};

static void sort_by_byte(const struct ranked *from, struct ranked *to, int n, int shift)
{
    int start[257] = {0};
    for (int i = 0; i < n; i++)
        start[(from[i].key >> shift & 0xff) + 1]++;
    for (int b = 0; b < 256; b++)
        start[b + 1] += start[b];
    for (int i = 0; i < n; i++)
        to[start[from[i].key >> shift & 0xff]++] = from[i];
}

// a has room for 2 n; the result is in one of the halves.
static struct ranked *sort(struct ranked *a, int n)
{
    struct ranked *from = a, *to = a + n;
    uint32_t differ = 0;
    for (int i = 1; i < n; i++)
        differ |= a[i].key ^ a[0].key;
    for (int shift = 0; shift < 32; shift += 8) {
        if (!(differ >> shift & 0xff))
            continue;
        sort_by_byte(from, to, n, shift);
        struct ranked *other = from;
        from = to;
        to = other;
    }
    return from;
}

// Who voted for a color, as a group, and the rank of the first of them. Empty: nobody.
static struct group *pick(const struct group *old, const struct vote *votes, int64_t color,
                          int *first)
{
    int n = 0;
    struct ranked *list = malloc(2 * (size_t)old->size * sizeof *list + 1);
    for (int i = 0; list && i < old->size; i++)
        if (votes[i].color == color)
            list[n++] = (struct ranked){(uint32_t)votes[i].key ^ 0x80000000u, i};
    struct ranked *sorted = list ? sort(list, n) : NULL;
    int *pes = list ? malloc((size_t)(n ? n : 1) * sizeof *pes) : NULL;
    struct group *g = NULL;
    if (pes) {
        for (int i = 0; i < n; i++)
            pes[i] = group_pe(old, sorted[i].rank);
        *first = n ? sorted[0].rank : 0;
        g = group_new(pes, n);
    }
    free(list);
    return g;
}

// ---- Who gets what
static struct vote vote_of(int64_t color, int key)
{
    if (color < 0)
        return (struct vote){.color = -1};
    return (struct vote){color, key, comm_new_context(), comm_new_context()};
}

// Contexts nobody was told to use go back, the last one first.
static void return_unused(const struct vote *mine, uint32_t context, uint32_t local)
{
    if (mine->color < 0)
        return;
    if (mine->local != local)
        comm_return_context(mine->local);
    if (mine->context != context && mine->local != local)
        comm_return_context(mine->context);
}

static int split_intra(struct comm *comm, const struct vote *mine, struct comm **out)
{
    struct circle all = circle_of(comm);
    struct vote *votes = malloc((size_t)all.size * sizeof *votes);
    int error = votes ? agree_allgather(&all, mine, sizeof *mine, votes) : MPI_ERR_NO_MEM;
    *out = NULL;
    if (!error && mine->color >= 0) {
        int first;
        struct group *g = pick(comm->group, votes, mine->color, &first);
        uint32_t context = g ? votes[first].context : 0;
        return_unused(mine, context, 0);
        *out = g ? comm_new(context, g) : NULL;
        error = *out ? MPI_SUCCESS : MPI_ERR_NO_MEM;
        group_free(g);
    }
    free(votes);
    return error;
}

static int make_inter(struct comm *comm, const struct vote *mine, const struct vote *own,
                      const struct vote *theirs, struct comm **out)
{
    int first_own = 0, first_theirs = 0;
    struct group *g = pick(comm->group, own, mine->color, &first_own);
    struct group *remote = pick(comm->remote, theirs, mine->color, &first_theirs);
    int error = g && remote ? MPI_SUCCESS : MPI_ERR_NO_MEM;
    if (!error && remote->size > 0) {
        uint32_t context = comm->is_low ? own[first_own].context : theirs[first_theirs].context;
        uint32_t local = own[first_own].local;
        return_unused(mine, context, local);
        *out = comm_new_inter(context, local, g, remote, comm->is_low);
        error = *out ? MPI_SUCCESS : MPI_ERR_NO_MEM;
    }
    group_free(g);
    group_free(remote);
    return error;
}

static int split_inter(struct comm *comm, const struct vote *mine, struct comm **out)
{
    struct circle own_side = circle_of(comm->local), again = circle_of(comm->local);
    size_t own_n = (size_t)comm->group->size * sizeof *mine;
    size_t their_n = (size_t)comm->remote->size * sizeof *mine;
    struct vote *own = malloc(own_n), *theirs = malloc(their_n);
    int error = own && theirs ? MPI_SUCCESS : MPI_ERR_NO_MEM;
    int tag = comm_next_tag(comm);
    *out = NULL;
    if (!error)
        error = agree_allgather(&own_side, mine, sizeof *mine, own);
    if (!error && comm->rank == 0)
        error = agree_swap(comm, 0, tag, own, own_n, theirs, their_n);
    if (!error)
        error = agree_bcast(&again, 0, theirs, their_n);
    if (!error && mine->color >= 0)
        error = make_inter(comm, mine, own, theirs, out);
    free(own);
    free(theirs);
    return error;
}

int comm_split(struct comm *comm, int64_t color, int key, struct comm **out)
{
    struct vote mine = vote_of(color, key);
    return comm_is_inter(comm) ? split_inter(comm, &mine, out) : split_intra(comm, &mine, out);
}

MPI_DEFINE(int, Comm_split, MPI_Comm comm, int color, int key, MPI_Comm *newcomm)
{
    static const char call[] = "MPI_Comm_split";
    struct comm *c, *new;
    int error = check_comm(call, comm, &c);
    if (!error)
        error = check_pointer(call, c, "newcomm", newcomm);
    if (error)
        return error;
    if (color < 0 && color != MPI_UNDEFINED)
        return raise_on(c, MPI_ERR_ARG, call, "color %d: it must not be negative, or MPI_UNDEFINED",
                        color);
    error = comm_split(c, color, key, &new);
    if (error)
        return raise_on(c, error, call, "the processes could not tell each other their colors");
    if (new)
        return comm_give(new, c, newcomm, call);
    *newcomm = MPI_COMM_NULL;
    return MPI_SUCCESS;
}
