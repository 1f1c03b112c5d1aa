// SPDX-License-Identifier: BSD-3-Clause
// Communicators over a group: the first member gives the context and only members speak.
#include "agree.h"
#include "check.h"
#include "error.h"
#include "info.h"

#include <string.h>

// Are all of g in c's group?
static int check_subset(struct comm *c, struct group *g, const char *call)
{
    for (int i = 0; i < g->size; i++)
        if (group_rank(c->group, group_pe(g, i)) == MPI_UNDEFINED)
            return raise_on(c, MPI_ERR_GROUP, call, "member %d of the group is not in comm", i);
    return MPI_SUCCESS;
}

static int create(const struct circle *members, struct comm **out)
{
    uint32_t context = members->me == 0 ? comm_new_context() : 0;
    int error = agree_bcast(members, 0, &context, sizeof context);
    if (error)
        return error;
    *out = comm_new(context, members->members);
    return *out ? MPI_SUCCESS : MPI_ERR_NO_MEM;
}

int comm_over(struct comm *old, struct group *members, struct comm **out)
{
    struct circle circle = {old, members, members->rank, members->size, comm_next_tag(old)};
    *out = NULL;
    return members->rank == MPI_UNDEFINED ? MPI_SUCCESS : create(&circle, out);
}

static int give(struct comm *old, int error, struct comm *new, MPI_Comm *out, const char *call)
{
    if (error)
        return raise_on(old, error, call, "the members could not agree on a context");
    if (new)
        return comm_give(new, old, out, call);
    *out = MPI_COMM_NULL;
    return MPI_SUCCESS;
}

static int check_arguments(const char *call, MPI_Comm comm, MPI_Group group, MPI_Comm *newcomm,
                           struct comm **c, struct group **g)
{
    int error = check_comm(call, comm, c);
    if (!error)
        error = group_check(group, *c, call, "group", g);
    if (!error)
        error = check_pointer(call, *c, "newcomm", newcomm);
    return error ? error : check_subset(*c, *g, call);
}

// Processes may give different groups, which do not overlap: each has its own tree.
MPI_DEFINE(int, Comm_create, MPI_Comm comm, MPI_Group group, MPI_Comm *newcomm)
{
    static const char call[] = "MPI_Comm_create";
    struct comm *c;
    struct group *g;
    int error = check_arguments(call, comm, group, newcomm, &c, &g);
    if (error)
        return error;
    if (comm_is_inter(c))
        return comm_create_inter(c, g, newcomm, call);
    struct comm *new;
    error = comm_over(c, g, &new);
    return give(c, error, new, newcomm, call);
}

MPI_DEFINE(int, Comm_create_group, MPI_Comm comm, MPI_Group group, int tag, MPI_Comm *newcomm)
{
    static const char call[] = "MPI_Comm_create_group";
    struct comm *c;
    struct group *g;
    int error = check_intra(call, comm, &c);
    if (!error)
        error = check_arguments(call, comm, group, newcomm, &c, &g);
    if (!error)
        error = check_tag(call, c, tag);
    if (error)
        return error;
    struct circle members = circle_named(c, g, tag);
    struct comm *new = NULL;
    if (g->rank != MPI_UNDEFINED)
        error = create(&members, &new);
    return give(c, error, new, newcomm, call);
}

// ---- From a group of processes alone. Errors go to the handler that the new one would have.
static int raise_new(struct errhandler *e, int code, const char *call, const char *what)
{
    struct error_place at = {&e, OBJECT_COMM, MPI_COMM_NULL, "a new communicator"};
    return raise_at(&at, code, call, "%s", what);
}

int comm_check_new(const char *call, const struct new_comm *n, struct errhandler **e,
                   struct info **info)
{
    *e = errhandler_for(n->errhandler, OBJECT_COMM);
    if (!*e)
        return raise_on(NULL, MPI_ERR_ERRHANDLER, call, "errhandler is not one of communicators");
    *info = info_of(n->info);
    if (!shim_is_up())
        return raise_new(*e, MPI_ERR_OTHER, call,
                         "there is no session, and MPI is not initialized");
    if (!n->stringtag || strlen(n->stringtag) >= MPI_MAX_STRINGTAG_LEN)
        return raise_new(*e, MPI_ERR_ARG, call, "stringtag is NULL, or too long");
    if (!*info && n->info != MPI_INFO_NULL)
        return raise_new(*e, MPI_ERR_INFO, call, "info is not an info object");
    if (!n->newcomm)
        return raise_new(*e, MPI_ERR_ARG, call, "argument newcomm is NULL");
    return MPI_SUCCESS;
}

int comm_give_new(struct comm *c, int error, struct errhandler *e, const struct info *info,
                  const struct new_comm *n, const char *call)
{
    if (!error)
        error = comm_set_hints(c, info);
    if (error) {
        comm_free(c);
        return raise_new(e, error, call, "the processes could not make a communicator");
    }
    errhandler_set(&c->errhandler, e);
    c->session = c->group->session;
    *n->newcomm = object_handle(c);
    return MPI_SUCCESS;
}

MPI_DEFINE(int, Comm_create_from_group, MPI_Group group, const char *stringtag, MPI_Info info,
           MPI_Errhandler errhandler, MPI_Comm *newcomm)
{
    static const char call[] = "MPI_Comm_create_from_group";
    struct new_comm n = {stringtag, info, errhandler, newcomm};
    struct errhandler *e;
    struct info *i;
    int error = comm_check_new(call, &n, &e, &i);
    struct group *g = group_of(group);
    if (error)
        return error;
    if (!g)
        return raise_new(e, MPI_ERR_GROUP, call, "group is not a group");
    if (g->size == 0) {
        *newcomm = MPI_COMM_NULL;
        return MPI_SUCCESS;
    }
    if (g->rank == MPI_UNDEFINED)
        return raise_new(e, MPI_ERR_GROUP, call, "this process is not in the group");
    struct circle members = circle_texted(&comm_world, g, stringtag);
    struct comm *new = NULL;
    error = create(&members, &new);
    return comm_give_new(new, error, e, i, &n, call);
}
