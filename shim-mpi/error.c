// SPDX-License-Identifier: BSD-3-Clause
// Raising errors: from the call that found one to the handler of the object concerned.
#include "comm.h"
#include "error.h"
#include "session.h"
#include "win.h"

#include <shoal.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>

enum { LINE_MOST = 1024, WHAT_MOST = MPI_MAX_OBJECT_NAME + 64 };

int error_exit_status(int code)
{
    return code >= 0 && code < 256 ? code : 1;
}

static _Noreturn void die(int code, const char *line)
{
    int status = error_exit_status(code ? code : 1);
    if (shim_is_up())
        shoal_abort(status, line);
    // The runtime is not there yet, or gone.
    fprintf(stderr, "shoal: %s\n", line);
    exit(status);
}

static void call_user(struct errhandler *e, const struct error_place *at, int code)
{
    switch (at->kind) {
    case OBJECT_COMM: e->fn.comm((MPI_Comm[]){at->handle}, &code); break;
    case OBJECT_WIN: e->fn.win((MPI_Win[]){at->handle}, &code); break;
    case OBJECT_FILE: e->fn.file((MPI_File[]){at->handle}, &code); break;
    default: e->fn.session((MPI_Session[]){at->handle}, &code); break;
    }
}

static void describe_comm(const struct comm *c, char *text, size_t n)
{
    if (!shim_is_up())
        snprintf(text, n, "this process");
    else if (c->name[0])
        snprintf(text, n, "rank %d of %s", c->rank, c->name);
    else
        snprintf(text, n, "rank %d of a communicator of %d", c->rank, c->group->size);
}

static void describe_win(const struct win *w, char *text, size_t n)
{
    if (w->name[0])
        snprintf(text, n, "rank %d of window %s", w->rank, w->name);
    else
        snprintf(text, n, "rank %d of a window of %d", w->rank, w->size);
}

static const char *describe(const struct error_place *at, char *text, size_t n)
{
    const struct win *w = at->kind == OBJECT_WIN ? win_of(at->handle) : NULL;
    const struct comm *c = at->kind == OBJECT_COMM ? comm_of(at->handle) : NULL;
    if (at->what)
        return at->what;
    snprintf(text, n, "this process");
    if (w)
        describe_win(w, text, n);
    else if (c)
        describe_comm(c, text, n);
    return text;
}

__attribute__((format(printf, 4, 0))) static int raise_with(const struct error_place *at, int code,
                                                            const char *call, const char *fmt,
                                                            va_list args)
{
    struct errhandler *e = errhandler_take(at->slot);
    if (e != &errors_are_fatal && e != &errors_abort) {
        if (e != &errors_return)
            call_user(e, at, code);
        errhandler_drop(e);
        return code;
    }
    char what[WHAT_MOST], more[LINE_MOST], text[MPI_MAX_ERROR_STRING], line[2 * LINE_MOST];
    vsnprintf(more, sizeof more, fmt, args);
    error_text(code, text, sizeof text);
    snprintf(line, sizeof line, "%s: %s: %s [%s]", call, describe(at, what, sizeof what), more,
             text);
    die(code, line);
}

// How the place is found, then the same for all: a variadic function cannot be forwarded.
#define RAISE(place)                                  \
    do {                                              \
        va_list args_;                                \
        va_start(args_, fmt);                         \
        raise_with(&(place), code, call, fmt, args_); \
        va_end(args_);                                \
        return code;                                  \
    } while (0)

int raise_at(const struct error_place *at, int code, const char *call, const char *fmt, ...)
{
    RAISE(*at);
}

struct comm *errors_of_none(void)
{
    return !comm_self.errhandler && comm_world.errhandler ? &comm_world : &comm_self;
}

int raise_on_(struct comm *comm, int code, const char *call, const char *fmt, ...)
{
    char what[WHAT_MOST];
    struct comm *on = comm ? comm : errors_of_none();
    describe_comm(comm ? comm : &comm_world, what, sizeof what);
    struct error_place at = {&on->errhandler, OBJECT_COMM, object_handle(on), what};
    RAISE(at);
}

int raise_on_session(struct session *session, int code, const char *call, const char *fmt, ...)
{
    struct comm *none = errors_of_none();
    struct error_place at = {&none->errhandler, OBJECT_COMM, object_handle(none), "no session"};
    if (session)
        at = (struct error_place){&session->errhandler, OBJECT_SESSION, object_handle(session),
                                  "a session"};
    RAISE(at);
}

int raise_on_win_(struct win *win, int code, const char *call, const char *fmt, ...)
{
    struct error_place at = {&win->errhandler, OBJECT_WIN, object_handle(win), NULL};
    RAISE(at);
}

int raise_on_file(int code, const char *call, const char *fmt, ...)
{
    struct error_place at = {&errhandler_of_files, OBJECT_FILE, MPI_FILE_NULL, "MPI_FILE_NULL"};
    RAISE(at);
}

int raise_unsupported(const char *call)
{
    return raise_on(NULL, MPI_ERR_UNSUPPORTED_OPERATION, call, "this library does not have it");
}

int error_of(int shoal_error)
{
    switch (shoal_error) {
    case SHOAL_OK: return MPI_SUCCESS;
    case SHOAL_EINVAL: return MPI_ERR_ARG;
    case SHOAL_ENOMEM: return MPI_ERR_NO_MEM;
    case SHOAL_EKEY:
    case SHOAL_ERANGE: return MPI_ERR_RMA_RANGE;
    case SHOAL_EFAULT: return MPI_ERR_BUFFER;
    case SHOAL_EINIT: return MPI_ERR_OTHER;
    default: return MPI_ERR_INTERN;
    }
}

int raise_on_message(struct comm *comm, int error, const char *call, int source, int tag)
{
    if (error != MPI_ERR_TRUNCATE)
        return raise_on(comm, error, call, "the message did not go through");
    if (source < 0 || tag < 0)
        return raise_on(comm, error, call, "the message is longer than the receive buffer");
    return raise_on(comm, error, call,
                    "the message from rank %d with tag %d is longer than the receive buffer",
                    source, tag);
}

int raise_null(const char *call, const char *argument)
{
    return raise_on(NULL, MPI_ERR_ARG, call, "argument %s is NULL", argument);
}

int raise_not_up(const char *call)
{
    return raise_on(NULL, MPI_ERR_OTHER, call, "MPI is not initialized, or finalized already");
}

void shim_fatal(const char *fmt, ...)
{
    char line[LINE_MOST];
    va_list args;
    va_start(args, fmt);
    vsnprintf(line, sizeof line, fmt, args);
    va_end(args);
    die(1, line);
}
