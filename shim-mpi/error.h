// SPDX-License-Identifier: BSD-3-Clause
// Error handlers and error codes (MPI 5.0, "Error Handling"). How errors are raised: shim.h.
#ifndef SHOAL_MPI_ERROR_H
#define SHOAL_MPI_ERROR_H

#include "shim.h"

struct win;

struct errhandler {
    struct object head;
    _Atomic int handles; // that the program has of it, if it is not predefined
    enum object_kind takes; // of what it handles errors; 0: of anything (predefined)
    union {
        MPI_Comm_errhandler_function *comm;
        MPI_Win_errhandler_function *win;
        MPI_File_errhandler_function *file;
        MPI_Session_errhandler_function *session;
    } fn;
};

extern struct errhandler errors_are_fatal, errors_abort, errors_return;

static inline struct errhandler *errhandler_of(MPI_Errhandler h)
{
    struct errhandler *e = object_at(h, OBJECT_ERRHANDLER);
    bool has = e && (e->head.code || atomic_load_explicit(&e->handles, memory_order_relaxed) > 0);
    return has ? e : NULL;
}

// Where an error is raised: an object's slot for its handler (NULL in it: MPI_ERRORS_ARE_FATAL), the
// object's handle, and how the line that ends a job calls it; NULL, of a communicator or a window: by its rank
// and name.
struct error_place {
    struct errhandler **slot;
    enum object_kind kind;
    void *handle;
    const char *what;
};
int raise_at(const struct error_place *at, int code, const char *call, const char *fmt, ...)
    __attribute__((format(printf, 4, 5), cold));
int raise_on_win_(struct win *win, int code, const char *call, const char *fmt, ...)
    __attribute__((format(printf, 4, 5), cold));
#define raise_on_win(...) error_raised(raise_on_win_(__VA_ARGS__))
// There are no files: on MPI_FILE_NULL, whose handler returns unless the program changes it.
int raise_on_file(int code, const char *call, const char *fmt, ...)
    __attribute__((format(printf, 3, 4), cold));

// Where errors of no object are raised: on MPI_COMM_SELF; unless it has its first handler still and
// MPI_COMM_WORLD has another, as in programs written for MPI 3.1 and before, where that was the rule.
struct comm *errors_of_none(void);

struct errhandler *errhandler_take(struct errhandler **slot); // with a reference
void errhandler_set(struct errhandler **slot, struct errhandler *to);
// Gives MPI_COMM_WORLD and MPI_COMM_SELF the handler that the job was started with (MPI 5.0, "Error
// Handling"): before MPI_Init and after MPI_Finalize too.
void errhandler_initial(void);
void errhandler_drop(struct errhandler *e); // a reference; e may be NULL
// Is h a handler of errors of this kind? NULL: no.
struct errhandler *errhandler_for(MPI_Errhandler h, enum object_kind kind);
extern struct errhandler *errhandler_of_files;

// ---- Codes
int error_exit_status(int code); // of a process that ends for it: 1 where the code is no status
// The text of any code, at most n bytes with the terminating 0; empty when there is none.
void error_text(int code, char *text, size_t n);
extern int error_last_used; // MPI_LASTUSEDCODE

#endif
