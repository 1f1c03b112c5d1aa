// SPDX-License-Identifier: BSD-3-Clause
// Intercommunicators. The two leaders tell each other their groups and a context each would give, and
// then their own sides. The low side, whose first process has the lower PE, gives the context.
//
//     own members --- own leader  <-- group, context -->  remote leader --- remote members
#include "agree.h"
#include "check.h"
#include "error.h"

#include <stdlib.h>

// What a leader tells the other one and its own members; after it, the PEs of the group.
struct card {
    int size; // 0: this side cannot, for the reason in error
    int error;
    uint32_t context, local;
};

struct side {
    struct circle own; // leader is its number there
    int leader;
    struct group *group;
    struct comm *peer; // of the leaders, with the rank and the tag there
    int remote_rank, tag;
};

static int *list_of(const struct group *g)
{
    int *pes = malloc(((size_t)g->size + 1) * sizeof *pes);
    for (int i = 0; pes && i < g->size; i++)
        pes[i] = group_pe(g, i);
    return pes;
}

// Between the leaders: cards, then lists. *pes: of the remote group, to be freed.
static int swap_groups(const struct side *s, const struct card *mine, struct card *theirs,
                       int **pes)
{
    int *own = list_of(s->group);
    if (!own)
        return MPI_ERR_NO_MEM;
    int error = agree_swap(s->peer, s->remote_rank, s->tag, mine, sizeof *mine, theirs,
                           sizeof *theirs);
    *pes = error ? NULL : malloc(((size_t)theirs->size + 1) * sizeof **pes);
    if (!error)
        error = *pes ? agree_swap(s->peer, s->remote_rank, s->tag, own,
                                  (size_t)mine->size * sizeof *own, *pes,
                                  (size_t)theirs->size * sizeof **pes)
                     : MPI_ERR_NO_MEM;
    free(own);
    return error;
}

// From the leader to its side.
static int spread(const struct side *s, struct card *mine, struct card *theirs, int **pes)
{
    struct card both[2] = {*mine, *theirs};
    int error = agree_bcast(&s->own, s->leader, both, sizeof both);
    *mine = both[0];
    *theirs = both[1];
    if (error || theirs->error)
        return error ? error : theirs->error;
    if (s->own.me != s->leader)
        *pes = malloc(((size_t)theirs->size + 1) * sizeof **pes);
    return *pes ? agree_bcast(&s->own, s->leader, *pes, (size_t)theirs->size * sizeof **pes)
                : MPI_ERR_NO_MEM;
}

// The remote group; *low: this side comes first.
static int meet(const struct side *s, int error, struct group **remote, struct card *mine,
                bool *low, uint32_t *context)
{
    struct card theirs = {0};
    int *pes = NULL;
    if (s->own.me == s->leader) {
        *mine = (struct card){s->group->size, error, comm_new_context(), comm_new_context()};
        if (!error)
            error = swap_groups(s, mine, &theirs, &pes);
        theirs.error = error;
    }
    error = spread(s, mine, &theirs, &pes);
    if (error) {
        free(pes);
        return error;
    }
    *low = s->group->size == 0 || (theirs.size > 0 && group_pe(s->group, 0) < pes[0]);
    *context = *low ? mine->context : theirs.context;
    *remote = group_new(pes, theirs.size);
    return *remote ? MPI_SUCCESS : MPI_ERR_NO_MEM;
}

static bool overlap(struct group *a, struct group *b)
{
    for (int i = 0; i < a->size; i++)
        if (group_rank(b, group_pe(a, i)) != MPI_UNDEFINED)
            return true;
    return false;
}

// error: why the leader cannot; then nobody of its side can.
static int connect(const struct side *s, int error, struct comm **out)
{
    struct group *remote;
    struct card mine = {0};
    bool low = false;
    uint32_t context = 0;
    error = meet(s, error, &remote, &mine, &low, &context);
    if (error)
        return error;
    if (overlap(remote, s->group))
        error = MPI_ERR_COMM;
    if (!error) {
        *out = comm_new_inter(context, mine.local, s->group, remote, low);
        error = *out ? MPI_SUCCESS : MPI_ERR_NO_MEM;
    }
    group_free(remote);
    return error;
}

static int check_leader(const char *call, struct comm *c, int size, int leader)
{
    if (leader >= 0 && leader < size)
        return MPI_SUCCESS;
    return raise_on(c, MPI_ERR_RANK, call, "local_leader %d: there are ranks 0 to %d", leader,
                    size - 1);
}

// What only the leader's arguments tell. Not raised: its side hears of it.
static int check_peer(MPI_Comm peer_comm, int remote_leader, int tag, struct side *s)
{
    s->peer = comm_of(peer_comm);
    s->remote_rank = remote_leader;
    if (!s->peer || comm_is_freed(s->peer))
        return MPI_ERR_COMM;
    if (remote_leader < 0 || remote_leader >= s->peer->peers->size)
        return MPI_ERR_RANK;
    if (tag < 0 || tag > TAG_UB)
        return MPI_ERR_TAG;
    s->tag = agree_leaders_tag(tag);
    return MPI_SUCCESS;
}

MPI_DEFINE(int, Intercomm_create, MPI_Comm local_comm, int local_leader, MPI_Comm peer_comm,
           int remote_leader, int tag, MPI_Comm *newintercomm)
{
    static const char call[] = "MPI_Intercomm_create";
    struct comm *c, *new;
    int error = check_intra(call, local_comm, &c);
    if (!error)
        error = check_leader(call, c, c->group->size, local_leader);
    if (!error)
        error = check_pointer(call, c, "newintercomm", newintercomm);
    if (error)
        return error;
    struct side s = {.own = circle_of(c), .leader = local_leader, .group = c->group};
    if (c->rank == local_leader)
        error = check_peer(peer_comm, remote_leader, tag, &s);
    error = connect(&s, error, &new);
    if (error)
        return raise_on(
            c, error, call,
            "peer_comm, remote_leader or tag of the leader is wrong, or groups overlap");
    return comm_give(new, c, newintercomm, call);
}

enum { NOBODY = -1 }; // for an error: the remote group is empty

// From groups of sessions, in the world. No communicator, where one of them is empty.
MPI_DEFINE(int, Intercomm_create_from_groups, MPI_Group local_group, int local_leader,
           MPI_Group remote_group, int remote_leader, const char *stringtag, MPI_Info info,
           MPI_Errhandler errhandler, MPI_Comm *newintercomm)
{
    static const char call[] = "MPI_Intercomm_create_from_groups";
    struct new_comm n = {stringtag, info, errhandler, newintercomm};
    struct errhandler *e;
    struct info *i;
    int error = comm_check_new(call, &n, &e, &i);
    if (error)
        return error;
    struct error_place at = {&e, OBJECT_COMM, MPI_COMM_NULL, "a new communicator"};
    struct group *own = group_of(local_group), *remote = group_of(remote_group);
    *newintercomm = MPI_COMM_NULL;
    if (own && own->size == 0)
        return MPI_SUCCESS;
    if (!own || own->rank == MPI_UNDEFINED)
        return raise_at(&at, MPI_ERR_GROUP, call, "local_group is none, or without this process");
    if (local_leader < 0 || local_leader >= own->size)
        return raise_at(&at, MPI_ERR_RANK, call, "local_leader %d of a group of %d", local_leader,
                        own->size);
    struct side s = {.own = circle_texted(&comm_world, own, stringtag),
                     .leader = local_leader,
                     .group = own,
                     .peer = &comm_world,
                     .tag = agree_texted_tag(stringtag)};
    if (own->rank == local_leader) {
        if (!remote)
            error = MPI_ERR_GROUP;
        else if (remote->size == 0)
            error = NOBODY;
        else if (remote_leader < 0 || remote_leader >= remote->size)
            error = MPI_ERR_RANK;
        else
            s.remote_rank = group_pe(remote, remote_leader);
    }
    struct comm *new = NULL;
    error = connect(&s, error, &new);
    return error == NOBODY ? MPI_SUCCESS : comm_give_new(new, error, e, i, &n, call);
}

// Of an intercommunicator: the members that each side chose, in its first process's order.
int comm_create_inter(struct comm *c, struct group *chosen, MPI_Comm *out, const char *call)
{
    struct side s = {
        .own = circle_of(c->local), .group = chosen, .peer = c, .tag = comm_next_tag(c)};
    struct group *remote = NULL;
    struct card mine = {0};
    uint32_t context = 0;
    bool low = false;
    int error = meet(&s, MPI_SUCCESS, &remote, &mine, &low, &context);
    struct comm *new = NULL;
    bool is_in = !error && chosen->rank != MPI_UNDEFINED && remote->size > 0;
    if (is_in) {
        new = comm_new_inter(context, mine.local, chosen, remote, low);
        error = new ? MPI_SUCCESS : MPI_ERR_NO_MEM;
    }
    group_free(remote);
    if (error)
        return raise_on(c, error, call, "the two sides could not tell each other their groups");
    if (is_in)
        return comm_give(new, c, out, call);
    *out = MPI_COMM_NULL;
    return MPI_SUCCESS;
}

// ---- One communicator of both sides
struct wish {
    uint32_t context;
    int high;
};

static struct group *join(const struct comm *c, bool own_first)
{
    const struct group *a = own_first ? c->group : c->remote, *b = own_first ? c->remote : c->group;
    int *pes = malloc(((size_t)a->size + (size_t)b->size) * sizeof *pes);
    if (!pes)
        return NULL;
    for (int i = 0; i < a->size; i++)
        pes[i] = group_pe(a, i);
    for (int i = 0; i < b->size; i++)
        pes[a->size + i] = group_pe(b, i);
    return group_new(pes, a->size + b->size);
}

MPI_DEFINE(int, Intercomm_merge, MPI_Comm intercomm, int high, MPI_Comm *newintracomm)
{
    static const char call[] = "MPI_Intercomm_merge";
    struct comm *c;
    int error = check_comm(call, intercomm, &c);
    if (!error && !comm_is_inter(c))
        return raise_on(c, MPI_ERR_COMM, call, "comm is not an intercommunicator");
    if (!error)
        error = check_pointer(call, c, "newintracomm", newintracomm);
    if (error)
        return error;
    struct circle own = circle_of(c->local);
    int tag = comm_next_tag(c);
    struct wish both[2] = {{c->rank == 0 ? comm_new_context() : 0, high != 0}};
    if (c->rank == 0)
        error = agree_swap(c, 0, tag, &both[0], sizeof both[0], &both[1], sizeof both[1]);
    if (!error)
        error = agree_bcast(&own, 0, both, sizeof both);
    if (error)
        return raise_on(c, error, call, "the two sides could not agree");
    bool own_first = both[0].high == both[1].high ? c->is_low : !both[0].high;
    struct group *all = join(c, own_first);
    struct comm *new = all ? comm_new(both[own_first ? 0 : 1].context, all) : NULL;
    group_free(all);
    return comm_give(new, c, newintracomm, call);
}
