// SPDX-License-Identifier: BSD-3-Clause
// Error handlers (MPI 5.0, "Error Handling"): of communicators, windows, files and sessions.
#include "check.h"
#include "error.h"
#include "session.h"
#include "win.h"

#include <pthread.h>
#include <stdlib.h>
#include <string.h>

struct errhandler errors_are_fatal, errors_abort, errors_return;
struct errhandler *errhandler_of_files = &errors_return;

// Slots are read when an error is raised, by any thread, and changed rarely.
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;

// What is no name the runtime's settings refuse.
void errhandler_initial(void)
{
    const char *name = getenv("SHOAL_MPI_INITIAL_ERRHANDLER");
    struct errhandler *e = NULL;
    if (name && strcmp(name, "mpi_errors_abort") == 0)
        e = &errors_abort;
    if (name && strcmp(name, "mpi_errors_return") == 0)
        e = &errors_return;
    errhandler_set(&comm_world.errhandler, e);
    errhandler_set(&comm_self.errhandler, e);
}

// The predefined ones are arguments of calls that are legal before MPI_Init.
__attribute__((constructor)) static void predefine(void)
{
    object_predefine(&errors_are_fatal, OBJECT_ERRHANDLER, MPI_ERRORS_ARE_FATAL);
    object_predefine(&errors_abort, OBJECT_ERRHANDLER, MPI_ERRORS_ABORT);
    object_predefine(&errors_return, OBJECT_ERRHANDLER, MPI_ERRORS_RETURN);
    errhandler_initial();
}

struct errhandler *errhandler_take(struct errhandler **slot)
{
    pthread_mutex_lock(&lock);
    struct errhandler *e = *slot ? *slot : &errors_are_fatal;
    object_keep(e);
    pthread_mutex_unlock(&lock);
    return e;
}

void errhandler_drop(struct errhandler *e)
{
    if (e && object_drop(e))
        object_end(e);
}

void errhandler_set(struct errhandler **slot, struct errhandler *to)
{
    if (to)
        object_keep(to);
    pthread_mutex_lock(&lock);
    struct errhandler *old = *slot;
    *slot = to;
    pthread_mutex_unlock(&lock);
    errhandler_drop(old);
}

// One more handle of the program's, with the caller's reference.
static MPI_Errhandler give(struct errhandler *e)
{
    object_count(&e->handles, 1);
    return object_handle(e);
}

struct errhandler *errhandler_for(MPI_Errhandler h, enum object_kind kind)
{
    struct errhandler *e = errhandler_of(h);
    return e && (!e->takes || e->takes == kind) ? e : NULL;
}

MPI_DEFINE(int, Errhandler_free, MPI_Errhandler *errhandler)
{
    static const char call[] = "MPI_Errhandler_free";
    struct errhandler *e = errhandler ? errhandler_of(*errhandler) : NULL;
    if (!errhandler)
        return raise_null(call, "errhandler");
    if (!e)
        return raise_on(NULL, MPI_ERR_ERRHANDLER, call, "errhandler is not one, or a freed one");
    object_count(&e->handles, -1);
    errhandler_drop(e);
    *errhandler = MPI_ERRHANDLER_NULL;
    return MPI_SUCCESS;
}

// ---- The four kinds of objects: where the handler of each is. An error code, which was raised.
static int comm_place(MPI_Comm h, struct error_place *at, const char *call)
{
    struct comm *c;
    int error = check_comm(call, h, &c);
    if (!error)
        *at = (struct error_place){&c->errhandler, OBJECT_COMM, h, NULL};
    return error;
}

static int win_place(MPI_Win h, struct error_place *at, const char *call)
{
    struct win *w;
    int error = win_check(call, h, &w);
    if (!error)
        *at = (struct error_place){&w->errhandler, OBJECT_WIN, h, NULL};
    return error;
}

static int file_place(MPI_File h, struct error_place *at, const char *call)
{
    if (h != MPI_FILE_NULL) // whose handler is that of files to come
        return raise_on_file(MPI_ERR_FILE, call, "file is not an open file");
    *at = (struct error_place){&errhandler_of_files, OBJECT_FILE, h, "MPI_FILE_NULL"};
    return MPI_SUCCESS;
}

static int session_place(MPI_Session h, struct error_place *at, const char *call)
{
    struct session *s = session_of(h);
    if (!s)
        return raise_on_session(NULL, MPI_ERR_SESSION, call,
                                "session is not one, or a finalized one");
    *at = (struct error_place){&s->errhandler, OBJECT_SESSION, h, "a session"};
    return MPI_SUCCESS;
}

static struct errhandler *create(enum object_kind kind, bool has_fn, MPI_Errhandler *out,
                                 const char *call, int *error)
{
    struct errhandler *e = has_fn && out ? object_new(sizeof *e, OBJECT_ERRHANDLER) : NULL;
    *error = MPI_SUCCESS;
    if (!has_fn || !out)
        *error = raise_null(call, has_fn ? "errhandler" : "the function");
    else if (!e)
        *error = raise_on(NULL, MPI_ERR_NO_MEM, call, "no memory for an error handler");
    else
        e->takes = kind;
    return e;
}

static int get(const struct error_place *at, MPI_Errhandler *out, const char *call)
{
    if (!out)
        return raise_at(at, MPI_ERR_ARG, call, "argument errhandler is NULL");
    *out = give(errhandler_take(at->slot));
    return MPI_SUCCESS;
}

static int set(const struct error_place *at, MPI_Errhandler h, const char *call)
{
    struct errhandler *e = errhandler_for(h, at->kind);
    if (!e)
        return raise_at(at, MPI_ERR_ERRHANDLER, call,
                        "errhandler is not one, or one for another kind of object");
    errhandler_set(at->slot, e);
    return MPI_SUCCESS;
}

// Name, type of the handle, name of the function's field and of what finds the place.
#define KINDS(X)                  \
    X(Comm, MPI_Comm, COMM, comm) \
    X(Win, MPI_Win, WIN, win)     \
    X(File, MPI_File, FILE, file) \
    X(Session, MPI_Session, SESSION, session)

#define X(Name, type, KIND, field)                                                        \
    MPI_DEFINE(int, Name##_create_errhandler, MPI_##Name##_errhandler_function *fn,       \
               MPI_Errhandler *errhandler)                                                \
    {                                                                                     \
        int error;                                                                        \
        struct errhandler *e = create(OBJECT_##KIND, fn != NULL, errhandler,              \
                                      "MPI_" #Name "_create_errhandler", &error);         \
        if (!error) {                                                                     \
            e->fn.field = fn;                                                             \
            *errhandler = give(e);                                                        \
        }                                                                                 \
        return error;                                                                     \
    }                                                                                     \
    MPI_DEFINE(int, Name##_get_errhandler, type h, MPI_Errhandler *errhandler)            \
    {                                                                                     \
        static const char call[] = "MPI_" #Name "_get_errhandler";                        \
        struct error_place at;                                                            \
        int error = field##_place(h, &at, call);                                          \
        return error ? error : get(&at, errhandler, call);                                \
    }                                                                                     \
    MPI_DEFINE(int, Name##_set_errhandler, type h, MPI_Errhandler errhandler)             \
    {                                                                                     \
        static const char call[] = "MPI_" #Name "_set_errhandler";                        \
        struct error_place at;                                                            \
        int error = field##_place(h, &at, call);                                          \
        return error ? error : set(&at, errhandler, call);                                \
    }                                                                                     \
    MPI_DEFINE(int, Name##_call_errhandler, type h, int errorcode)                        \
    {                                                                                     \
        static const char call[] = "MPI_" #Name "_call_errhandler";                       \
        struct error_place at;                                                            \
        int error = field##_place(h, &at, call);                                          \
        if (!error)                                                                       \
            raise_at(&at, errorcode, call, "error %d, raised by the program", errorcode); \
        return error;                                                                     \
    }
KINDS(X)
#undef X
