// SPDX-License-Identifier: BSD-3-Clause
// Sessions: their life, and the sets of processes they offer (MPI 5.0, "The Sessions Model").
#include "session.h"

#include "bsend.h"
#include "check.h"
#include "core.h"
#include "error.h"
#include "hint.h"
#include "info.h"

#include <pshmem.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

static int check_session(const char *call, MPI_Session h, struct session **s)
{
    *s = session_of(h);
    if (*s)
        return MPI_SUCCESS;
    return raise_on_session(NULL, MPI_ERR_SESSION, call, "session is %s",
                            h == MPI_SESSION_NULL ? "MPI_SESSION_NULL"
                                                  : "none, or a finalized one");
}

static int check_output(const char *call, struct session *s, const char *name, const void *p)
{
    return p ? MPI_SUCCESS : raise_on_session(s, MPI_ERR_ARG, call, "argument %s is NULL", name);
}

static int check_info(const char *call, struct session *s, MPI_Info info)
{
    return info == MPI_INFO_NULL || info_of(info)
               ? MPI_SUCCESS
               : raise_on_session(s, MPI_ERR_INFO, call, "info is not an info object");
}

// ---- Life
static int raise_new(struct errhandler *e, int code, const char *call, const char *what)
{
    struct error_place at = {&e, OBJECT_SESSION, MPI_SESSION_NULL, "a new session"};
    return raise_at(&at, code, call, "%s", what);
}

MPI_DEFINE(int, Session_init, MPI_Info info, MPI_Errhandler errhandler, MPI_Session *session)
{
    static const char call[] = "MPI_Session_init";
    struct errhandler *e = errhandler_for(errhandler, OBJECT_SESSION);
    if (!e)
        return raise_on_session(NULL, MPI_ERR_ERRHANDLER, call,
                                "errhandler is not one of sessions");
    const struct info *i = info_of(info);
    if (!i && info != MPI_INFO_NULL)
        return raise_new(e, MPI_ERR_INFO, call, "info is not an info object");
    if (!session)
        return raise_new(e, MPI_ERR_ARG, call, "argument session is NULL");
    char room[MPI_MAX_INFO_VAL];
    const char *asked = info_get(i, "thread_level", room);
    int level = asked ? thread_level_of(asked) : MPI_THREAD_SINGLE;
    if (level < 0)
        return raise_new(e, MPI_ERR_INFO_VALUE, call, "thread_level is none of MPI_THREAD_*");
    struct session *s = object_new(sizeof *s, OBJECT_SESSION);
    int error = s ? core_enter(level == MPI_THREAD_MULTIPLE) : MPI_ERR_NO_MEM;
    if (error) {
        if (s)
            object_end(s);
        return raise_new(e, error, call, "the runtime cannot start");
    }
    s->thread_level = shim_threads ? MPI_THREAD_MULTIPLE : level; // given to all once it is given
    errhandler_set(&s->errhandler, e);
    *session = object_handle(s);
    return MPI_SUCCESS;
}

MPI_DEFINE(int, Session_finalize, MPI_Session *session)
{
    static const char call[] = "MPI_Session_finalize";
    struct session *s;
    int error = check_output(call, NULL, "session", session);
    if (!error)
        error = check_session(call, *session, &s);
    if (error)
        return error;
    bsend_end(s);
    hint_catch_up();
    errhandler_set(&s->errhandler, NULL);
    object_end(s);
    core_leave(false);
    *session = MPI_SESSION_NULL;
    return MPI_SUCCESS;
}

static int give_info(struct session *s, struct info *info, int error, MPI_Info *out,
                     const char *call)
{
    if (error) {
        info_free(info);
        return raise_on_session(s, error, call, "no memory for the info");
    }
    *out = object_handle(info);
    return MPI_SUCCESS;
}

MPI_DEFINE(int, Session_get_info, MPI_Session session, MPI_Info *info_used)
{
    static const char call[] = "MPI_Session_get_info";
    struct session *s;
    int error = check_session(call, session, &s);
    if (!error)
        error = check_output(call, s, "info_used", info_used);
    if (error)
        return error;
    struct info *info = info_new();
    error = info ? info_set(info, "thread_level", thread_level_name(s->thread_level))
                 : MPI_ERR_NO_MEM;
    if (!error)
        error = info_set(info, "mpi_memory_alloc_kinds", INFO_KINDS);
    return give_info(s, info, error, info_used, call);
}

// ---- Sets of processes
static struct group *all(void)
{
    return group_new_regular(0, 1, shim_npes());
}

static struct group *self(void)
{
    return group_new_regular(shim_pe(), 1, 1);
}

static struct group *node(void)
{
    int size = pshmem_team_n_pes(SHMEM_TEAM_SHARED), *pes = malloc((size_t)size * sizeof *pes);
    for (int i = 0; pes && i < size; i++)
        pes[i] = pshmem_team_translate_pe(SHMEM_TEAM_SHARED, i, SHMEM_TEAM_WORLD);
    return pes ? group_new(pes, size) : NULL;
}

static const struct pset {
    const char *name;
    struct group *(*group)(void);
} psets[] = {{"mpi://WORLD", all}, {"mpi://SELF", self}, {"shoal://NODE", node}};

static const struct pset *pset_of(const char *name)
{
    for (size_t i = 0; name && i < ARRAY_LEN(psets); i++)
        if (strcasecmp(psets[i].name, name) == 0)
            return &psets[i];
    return NULL;
}

MPI_DEFINE(int, Session_get_num_psets, MPI_Session session, MPI_Info info, int *npset_names)
{
    static const char call[] = "MPI_Session_get_num_psets";
    struct session *s;
    int error = check_session(call, session, &s);
    if (!error)
        error = check_info(call, s, info);
    if (!error)
        error = check_output(call, s, "npset_names", npset_names);
    if (!error)
        *npset_names = ARRAY_LEN(psets);
    return error;
}

MPI_DEFINE(int, Session_get_nth_pset, MPI_Session session, MPI_Info info, int n, int *pset_len,
           char *pset_name)
{
    static const char call[] = "MPI_Session_get_nth_pset";
    struct session *s;
    int error = check_session(call, session, &s);
    if (!error)
        error = check_info(call, s, info);
    if (!error)
        error = check_output(call, s, "pset_len", pset_len);
    if (error)
        return error;
    if (n < 0 || n >= (int)ARRAY_LEN(psets))
        return raise_on_session(s, MPI_ERR_ARG, call, "n is %d, there are %zu sets", n,
                                ARRAY_LEN(psets));
    if (*pset_len < 0 || (*pset_len > 0 && !pset_name))
        return raise_on_session(s, MPI_ERR_ARG, call,
                                *pset_len < 0 ? "pset_len is negative" : "pset_name is NULL");
    if (*pset_len > 0)
        snprintf(pset_name, (size_t)*pset_len, "%s", psets[n].name);
    *pset_len = (int)strlen(psets[n].name) + 1;
    return MPI_SUCCESS;
}

static int check_pset(const char *call, MPI_Session session, const char *name, struct session **s,
                      const struct pset **pset)
{
    int error = check_session(call, session, s);
    if (error)
        return error;
    *pset = pset_of(name);
    return *pset ? MPI_SUCCESS
                 : raise_on_session(*s, MPI_ERR_ARG, call, "there is no set of processes \"%s\"",
                                    name ? name : "");
}

MPI_DEFINE(int, Session_get_pset_info, MPI_Session session, const char *pset_name, MPI_Info *info)
{
    static const char call[] = "MPI_Session_get_pset_info";
    struct session *s;
    const struct pset *pset;
    int error = check_pset(call, session, pset_name, &s, &pset);
    if (!error)
        error = check_output(call, s, "info", info);
    if (error)
        return error;
    char size[16];
    struct group *g = pset->group();
    struct info *new = info_new();
    snprintf(size, sizeof size, "%d", g ? g->size : 0);
    error = g && new ? info_set(new, "mpi_size", size) : MPI_ERR_NO_MEM;
    group_free(g);
    return give_info(s, new, error, info, call);
}

MPI_DEFINE(int, Group_from_session_pset, MPI_Session session, const char *pset_name,
           MPI_Group *newgroup)
{
    static const char call[] = "MPI_Group_from_session_pset";
    struct session *s;
    const struct pset *pset;
    int error = check_pset(call, session, pset_name, &s, &pset);
    if (!error)
        error = check_output(call, s, "newgroup", newgroup);
    if (error)
        return error;
    struct group *g = pset->group();
    if (!g)
        return raise_on_session(s, MPI_ERR_NO_MEM, call, "no memory for the group");
    g->session = s;
    *newgroup = group_give(g);
    return MPI_SUCCESS;
}
