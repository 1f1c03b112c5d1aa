// SPDX-License-Identifier: BSD-3-Clause
// Error classes and codes: those of the standard, where every code is its class, and those that the
// program adds, which are numbered from MPI_ERR_LASTCODE + 1 on:
//
//     added[0]  a class:  class == its own number
//     added[1]  a code:   class == the number of one of the standard's or of an added class
#include "error.h"

#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct error_class {
    const char *name, *text;
};

// clang-format off
static const struct error_class standard[] = {
#define X(name, text) [MPI_##name] = {"MPI_" #name, text},
    X(SUCCESS, "no error")
    X(ERR_BUFFER, "invalid buffer pointer")
    X(ERR_COUNT, "invalid count argument")
    X(ERR_TYPE, "invalid datatype argument")
    X(ERR_TAG, "invalid tag argument")
    X(ERR_COMM, "invalid communicator")
    X(ERR_RANK, "invalid rank")
    X(ERR_REQUEST, "invalid request handle")
    X(ERR_ROOT, "invalid root")
    X(ERR_GROUP, "invalid group")
    X(ERR_OP, "invalid operation")
    X(ERR_TOPOLOGY, "invalid topology")
    X(ERR_DIMS, "invalid dimension argument")
    X(ERR_ARG, "invalid argument of some other kind")
    X(ERR_UNKNOWN, "unknown error")
    X(ERR_TRUNCATE, "message truncated on receive")
    X(ERR_OTHER, "known error not in this list")
    X(ERR_INTERN, "internal error of the library")
    X(ERR_PENDING, "pending request")
    X(ERR_IN_STATUS, "error code is in status")
    X(ERR_ACCESS, "permission denied")
    X(ERR_AMODE, "invalid access mode of a file")
    X(ERR_ASSERT, "invalid assertion argument")
    X(ERR_BAD_FILE, "invalid file name")
    X(ERR_BASE, "invalid base address")
    X(ERR_CONVERSION, "error in a data conversion function")
    X(ERR_DISP, "invalid displacement argument")
    X(ERR_DUP_DATAREP, "data representation is defined already")
    X(ERR_FILE_EXISTS, "file exists")
    X(ERR_FILE_IN_USE, "file is open in some process")
    X(ERR_FILE, "invalid file handle")
    X(ERR_INFO_KEY, "invalid info key")
    X(ERR_INFO_NOKEY, "info has no such key")
    X(ERR_INFO_VALUE, "invalid info value")
    X(ERR_INFO, "invalid info object")
    X(ERR_IO, "input or output failed")
    X(ERR_KEYVAL, "invalid attribute key")
    X(ERR_LOCKTYPE, "invalid lock type")
    X(ERR_NAME, "service name is not published")
    X(ERR_NO_MEM, "no memory")
    X(ERR_NOT_SAME, "collective argument differs between processes")
    X(ERR_NO_SPACE, "not enough space")
    X(ERR_NO_SUCH_FILE, "no such file")
    X(ERR_PORT, "invalid port name")
    X(ERR_QUOTA, "quota exceeded")
    X(ERR_READ_ONLY, "file or file system is read-only")
    X(ERR_RMA_ATTACH, "memory cannot be attached")
    X(ERR_RMA_CONFLICT, "conflicting accesses to a window")
    X(ERR_RMA_RANGE, "target memory is not part of the window")
    X(ERR_RMA_SHARED, "memory cannot be shared")
    X(ERR_RMA_SYNC, "wrong synchronization of one-sided calls")
    X(ERR_SERVICE, "service name was not published")
    X(ERR_SIZE, "invalid size argument")
    X(ERR_SPAWN, "processes cannot be started")
    X(ERR_UNSUPPORTED_DATAREP, "data representation is not supported")
    X(ERR_UNSUPPORTED_OPERATION, "operation is not supported")
    X(ERR_WIN, "invalid window")
    X(ERR_RMA_FLAVOR, "wrong flavor of window")
    X(ERR_PROC_ABORTED, "a process has aborted")
    X(ERR_VALUE_TOO_LARGE, "value is too large for its type")
    X(ERR_SESSION, "invalid session")
    X(ERR_ERRHANDLER, "invalid error handler")
    X(ERR_ABI, "this library's ABI is another one, or was fixed before")
#undef X
};

enum { TOOLS_FIRST = MPI_T_ERR_CANNOT_INIT };
static const struct error_class tools[] = {
#define X(name, text) [MPI_T_ERR_##name - TOOLS_FIRST] = {"MPI_T_ERR_" #name, text},
    X(CANNOT_INIT, "the tool interface cannot be initialized")
    X(NOT_ACCESSIBLE, "not accessible now")
    X(NOT_INITIALIZED, "the tool interface is not initialized")
    X(NOT_SUPPORTED, "not supported")
    X(MEMORY, "no memory")
    X(INVALID, "invalid use of the tool interface")
    X(INVALID_INDEX, "invalid index")
    X(INVALID_ITEM, "item index out of range")
    X(INVALID_SESSION, "invalid session of the tool interface")
    X(INVALID_HANDLE, "invalid handle")
    X(INVALID_NAME, "no such name")
    X(OUT_OF_HANDLES, "no more handles")
    X(OUT_OF_SESSIONS, "no more sessions")
    X(CVAR_SET_NOT_NOW, "the variable cannot be set now")
    X(CVAR_SET_NEVER, "the variable cannot be set")
    X(PVAR_NO_WRITE, "the variable cannot be written or reset")
    X(PVAR_NO_STARTSTOP, "the variable cannot be started or stopped")
    X(PVAR_NO_ATOMIC, "the variable cannot be read and written atomically")
#undef X
};
// clang-format on
_Static_assert(ARRAY_LEN(standard) == MPI_ERR_ABI + 1, "every class has its text");

// Of a class that the standard defines, or NULL.
static const struct error_class *predefined(int code)
{
    if (code >= 0 && code < (int)ARRAY_LEN(standard))
        return &standard[code];
    if (code >= TOOLS_FIRST && code < TOOLS_FIRST + (int)ARRAY_LEN(tools))
        return &tools[code - TOOLS_FIRST];
    return NULL;
}

// ---- What the program adds
struct added {
    bool is_used;
    int class;
    char *text; // NULL: none yet
};

enum { ADDED_FIRST = MPI_ERR_LASTCODE + 1 };
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER; // cold, and any thread at any time
static struct added *added;
static int added_room;
int error_last_used = MPI_ERR_LASTCODE;

// NULL: not in use. With the lock held, as long as the result is looked at.
static struct added *added_at(int code)
{
    int i = code - ADDED_FIRST;
    return code >= ADDED_FIRST && i < added_room && added[i].is_used ? &added[i] : NULL;
}

static bool is_class(int code)
{
    const struct added *a = added_at(code);
    return a ? a->class == code : predefined(code) != NULL;
}

// A new number, or -1: no memory. class 0: it is a class.
static int add(int class)
{
    int i = 0;
    while (i < added_room && added[i].is_used)
        i++;
    if (i == added_room) {
        int room = added_room ? 2 * added_room : 16;
        struct added *grown = realloc(added, (size_t)room * sizeof *grown);
        if (!grown)
            return -1;
        memset(grown + added_room, 0, (size_t)(room - added_room) * sizeof *grown);
        added = grown;
        added_room = room;
    }
    int code = ADDED_FIRST + i;
    added[i] = (struct added){.is_used = true, .class = class ? class : code};
    if (code > error_last_used)
        error_last_used = code;
    return code;
}

static bool has_codes(int class)
{
    for (int i = 0; i < added_room; i++)
        if (added[i].is_used && added[i].class == class && ADDED_FIRST + i != class)
            return true;
    return false;
}

static bool is_known(int code)
{
    pthread_mutex_lock(&lock);
    bool known = added_at(code) || predefined(code);
    pthread_mutex_unlock(&lock);
    return known;
}

void error_text(int code, char *text, size_t n)
{
    const struct error_class *p = predefined(code);
    if (p) {
        snprintf(text, n, "%s: %s", p->name, p->text);
        return;
    }
    pthread_mutex_lock(&lock);
    const struct added *a = added_at(code);
    snprintf(text, n, "%s", a && a->text ? a->text : "");
    pthread_mutex_unlock(&lock);
}

MPI_DEFINE(int, Add_error_class, int *errorclass)
{
    if (!errorclass)
        return raise_null("MPI_Add_error_class", "errorclass");
    pthread_mutex_lock(&lock);
    int class = add(0);
    pthread_mutex_unlock(&lock);
    if (class < 0)
        return raise_on(NULL, MPI_ERR_NO_MEM, "MPI_Add_error_class", "no memory for another class");
    *errorclass = class;
    return MPI_SUCCESS;
}

MPI_DEFINE(int, Add_error_code, int errorclass, int *errorcode)
{
    static const char call[] = "MPI_Add_error_code";
    if (!errorcode)
        return raise_null(call, "errorcode");
    pthread_mutex_lock(&lock);
    bool known = is_class(errorclass);
    int code = known && errorclass != MPI_SUCCESS ? add(errorclass) : -1;
    pthread_mutex_unlock(&lock);
    if (!known || errorclass == MPI_SUCCESS)
        return raise_on(NULL, MPI_ERR_ARG, call, "errorclass %d is no error class", errorclass);
    if (code < 0)
        return raise_on(NULL, MPI_ERR_NO_MEM, call, "no memory for another code");
    *errorcode = code;
    return MPI_SUCCESS;
}

// Sets or, with NULL, removes the text of an added class or code.
static int set_text(int code, const char *text, const char *call)
{
    char *copy = text ? strdup(text) : NULL;
    if (text && !copy)
        return raise_on(NULL, MPI_ERR_NO_MEM, call, "no memory for the text");
    pthread_mutex_lock(&lock);
    struct added *a = added_at(code);
    char *old = a ? a->text : copy;
    if (a)
        a->text = copy;
    pthread_mutex_unlock(&lock);
    free(old);
    if (!a)
        return raise_on(NULL, MPI_ERR_ARG, call, "errorcode %d was not added by this program",
                        code);
    if (!text && !old)
        return raise_on(NULL, MPI_ERR_ARG, call, "errorcode %d has no text", code);
    return MPI_SUCCESS;
}

MPI_DEFINE(int, Add_error_string, int errorcode, const char *string)
{
    static const char call[] = "MPI_Add_error_string";
    if (!string)
        return raise_null(call, "string");
    if (strlen(string) >= MPI_MAX_ERROR_STRING)
        return raise_on(NULL, MPI_ERR_ARG, call, "the text has %zu characters, %d are the most",
                        strlen(string), MPI_MAX_ERROR_STRING - 1);
    return set_text(errorcode, string, call);
}

MPI_DEFINE(int, Remove_error_string, int errorcode)
{
    return set_text(errorcode, NULL, "MPI_Remove_error_string");
}

static int remove_added(int code, bool class, const char *call)
{
    pthread_mutex_lock(&lock);
    struct added *a = added_at(code);
    bool fits = a && (a->class == code) == class;
    bool with_codes = fits && class && has_codes(code), with_text = fits && a->text;
    if (fits && !with_codes && !with_text)
        *a = (struct added){0};
    pthread_mutex_unlock(&lock);
    if (with_codes || with_text)
        return raise_on(NULL, MPI_ERR_OTHER, call, "%d still has %s: remove that first", code,
                        with_codes ? "codes" : "a text");
    if (!fits)
        return raise_on(NULL, MPI_ERR_ARG, call, "%d is no error %s that this program added", code,
                        class ? "class" : "code");
    return MPI_SUCCESS;
}

MPI_DEFINE(int, Remove_error_code, int errorcode)
{
    return remove_added(errorcode, false, "MPI_Remove_error_code");
}

MPI_DEFINE(int, Remove_error_class, int errorclass)
{
    return remove_added(errorclass, true, "MPI_Remove_error_class");
}

MPI_DEFINE(int, Error_class, int errorcode, int *errorclass)
{
    static const char call[] = "MPI_Error_class";
    if (!errorclass)
        return raise_null(call, "errorclass");
    pthread_mutex_lock(&lock);
    const struct added *a = added_at(errorcode);
    int class = a ? a->class : errorcode;
    pthread_mutex_unlock(&lock);
    if (!a && !predefined(errorcode))
        return raise_on(NULL, MPI_ERR_ARG, call, "%d is no error code", errorcode);
    *errorclass = class;
    return MPI_SUCCESS;
}

MPI_DEFINE(int, Error_string, int errorcode, char *string, int *resultlen)
{
    static const char call[] = "MPI_Error_string";
    if (!string || !resultlen)
        return raise_null(call, string ? "resultlen" : "string");
    if (!is_known(errorcode))
        return raise_on(NULL, MPI_ERR_ARG, call, "%d is no error code", errorcode);
    char text[MPI_MAX_ERROR_STRING];
    error_text(errorcode, text, sizeof text);
    strcpy(string, text);
    *resultlen = (int)strlen(text);
    return MPI_SUCCESS;
}
