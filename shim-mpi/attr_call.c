// SPDX-License-Identifier: BSD-3-Clause
// The calls of caching, for communicators, datatypes and windows; predefined attributes.
#include "attr_call.h"

#include "check.h"
#include "error.h"
#include "type.h"
#include "win.h"

#include <pthread.h>
#include <shoal.h>

// ---- Predefined attributes: places of values that live as long as the library
static int tag_ub = TAG_UB, host = MPI_PROC_NULL, io = MPI_ANY_SOURCE, appnum;
static int universe_size, wtime_is_global;
static pthread_once_t once = PTHREAD_ONCE_INIT;

// Clocks are those of the node: one clock when all processes are on it.
static int all_on_one_node(void)
{
    uint64_t direct = 1;
    for (int pe = 0; pe < shim_npes() && direct; pe++)
        shoal_query(SHOAL_Q_DIRECT, pe, &direct);
    return direct != 0;
}

static void find_values(void)
{
    int npes;
    appnum = shim_app(&npes);
    universe_size = shim_npes();
    wtime_is_global = all_on_one_node();
}

static void *comm_predefined(const struct comm *c, int keyval)
{
    (void)c; // every communicator is one of the world's processes
    pthread_once(&once, find_values);
    switch (keyval) {
    case MPI_TAG_UB: return &tag_ub;
    case MPI_HOST: return &host;
    case MPI_IO: return &io;
    case MPI_APPNUM: return &appnum;
    case MPI_LASTUSEDCODE: return &error_last_used;
    case MPI_UNIVERSE_SIZE: return &universe_size;
    case MPI_WTIME_IS_GLOBAL: return &wtime_is_global;
    default: return NULL;
    }
}

static void *type_predefined(const struct type *t, int keyval)
{
    (void)t;
    (void)keyval;
    return NULL;
}

static void *win_predefined(const struct win *w, int keyval)
{
    int i = keyval == MPI_WIN_BASE            ? 0
            : keyval == MPI_WIN_SIZE          ? 1
            : keyval == MPI_WIN_DISP_UNIT     ? 2
            : keyval == MPI_WIN_CREATE_FLAVOR ? 3
                                              : 4;
    return keyval >= MPI_WIN_BASE && keyval <= MPI_WIN_MODEL ? (void *)(uintptr_t)w->predefined[i]
                                                             : NULL;
}

static bool is_predefined(enum object_kind kind, int keyval)
{
    return (kind == OBJECT_COMM && keyval >= MPI_TAG_UB && keyval <= MPI_UNIVERSE_SIZE) ||
           (kind == OBJECT_WIN && keyval >= MPI_WIN_BASE && keyval <= MPI_WIN_MODEL);
}

// ---- Whose attributes a call is about
struct owner {
    enum object_kind kind;
    void *handle;
    struct attributes **slot;
    struct error_place errors;
};

static int comm_owner(MPI_Comm h, struct owner *o, const char *call)
{
    struct comm *c;
    int error = check_comm(call, h, &c);
    if (!error)
        *o = (struct owner){OBJECT_COMM, h, &c->attributes, {&c->errhandler, OBJECT_COMM, h, NULL}};
    return error;
}

static int type_owner(MPI_Datatype h, struct owner *o, const char *call)
{
    struct type *t;
    int error = type_check(call, h, &t);
    if (error)
        return error;
    struct comm *none = errors_of_none();
    *o = (struct owner){OBJECT_TYPE,
                        h,
                        &t->attributes,
                        {&none->errhandler, OBJECT_COMM, object_handle(none), "a datatype"}};
    return MPI_SUCCESS;
}

static int win_owner(MPI_Win h, struct owner *o, const char *call)
{
    struct win *w;
    int error = win_check(call, h, &w);
    if (!error)
        *o = (struct owner){OBJECT_WIN, h, &w->attributes, {&w->errhandler, OBJECT_WIN, h, NULL}};
    return error;
}

// A key that the program made.
static int check_keyval(const struct owner *o, int keyval, bool freed_too, const char *call)
{
    if (keyval_is_known(keyval, o->kind, freed_too))
        return MPI_SUCCESS;
    return raise_at(&o->errors, MPI_ERR_KEYVAL, call, "keyval %d is %s", keyval,
                    is_predefined(o->kind, keyval) ? "predefined: its value cannot be changed"
                    : keyval == MPI_KEYVAL_INVALID ? "MPI_KEYVAL_INVALID"
                                                   : "none of this kind of object, or was freed");
}

static int set(const struct owner *o, int keyval, void *value, const char *call)
{
    int error = check_keyval(o, keyval, false, call);
    if (error)
        return error;
    error = attribute_set(o->kind, o->handle, o->slot, keyval, value);
    return error ? raise_at(&o->errors, error, call, "the delete function of keyval %d failed",
                            keyval)
                 : MPI_SUCCESS;
}

static int get(const struct owner *o, int keyval, void *predefined, void *value, int *flag,
               const char *call)
{
    if (!value || !flag)
        return raise_at(&o->errors, MPI_ERR_ARG, call, "argument %s is NULL",
                        value ? "flag" : "attribute_val");
    void *found = predefined;
    bool exists = is_predefined(o->kind, keyval); // also the base of a window without memory
    if (!exists) {
        int error = check_keyval(o, keyval, true, call);
        if (error)
            return error;
        exists = attribute_get(o->slot, keyval, &found);
    }
    *flag = exists;
    if (exists)
        *(void **)value = found;
    return MPI_SUCCESS;
}

// One that is not there is as good as deleted.
static int delete (const struct owner *o, int keyval, const char *call)
{
    bool found;
    int error = check_keyval(o, keyval, true, call);
    if (error)
        return error;
    error = attribute_delete(o->kind, o->handle, o->slot, keyval, &found);
    return error ? raise_at(&o->errors, error, call, "the delete function of keyval %d failed",
                            keyval)
                 : MPI_SUCCESS;
}

static int create(const struct keyval *k, int *keyval, const char *call)
{
    if (!keyval)
        return raise_null(call, "keyval");
    int number = keyval_new(k);
    if (number == MPI_KEYVAL_INVALID)
        return raise_on(NULL, MPI_ERR_NO_MEM, call, "no memory for another key");
    *keyval = number;
    return MPI_SUCCESS;
}

static int free_key(enum object_kind kind, int *keyval, const char *call)
{
    if (!keyval)
        return raise_null(call, "keyval");
    if (!keyval_free(*keyval, kind))
        return raise_on(NULL, MPI_ERR_KEYVAL, call, "keyval %d is %s", *keyval,
                        is_predefined(kind, *keyval) ? "predefined"
                                                     : "none of this kind, or was freed");
    *keyval = MPI_KEYVAL_INVALID;
    return MPI_SUCCESS;
}

// Kind's name in calls, type of its handle, of its object, and names of fields and functions.
#define KINDS(X)                      \
    X(Comm, MPI_Comm, COMM, comm)     \
    X(Type, MPI_Datatype, TYPE, type) \
    X(Win, MPI_Win, WIN, win)

#define X(Name, handle, KIND, field)                                                             \
    MPI_DEFINE(int, Name##_create_keyval, MPI_##Name##_copy_attr_function *copy_fn,              \
               MPI_##Name##_delete_attr_function *delete_fn, int *keyval, void *extra_state)     \
    {                                                                                            \
        struct keyval k = {.kind = OBJECT_##KIND,                                                \
                           .copy.field = copy_fn,                                                \
                           .delete.field = delete_fn,                                            \
                           .extra = extra_state};                                                \
        return create(&k, keyval, "MPI_" #Name "_create_keyval");                                \
    }                                                                                            \
    MPI_DEFINE(int, Name##_free_keyval, int *keyval)                                             \
    {                                                                                            \
        return free_key(OBJECT_##KIND, keyval, "MPI_" #Name "_free_keyval");                     \
    }                                                                                            \
    MPI_DEFINE(int, Name##_set_attr, handle h, int keyval, void *attribute_val)                  \
    {                                                                                            \
        struct owner o;                                                                          \
        int error = field##_owner(h, &o, "MPI_" #Name "_set_attr");                              \
        return error ? error : set(&o, keyval, attribute_val, "MPI_" #Name "_set_attr");         \
    }                                                                                            \
    MPI_DEFINE(int, Name##_get_attr, handle h, int keyval, void *attribute_val, int *flag)       \
    {                                                                                            \
        struct owner o;                                                                          \
        int error = field##_owner(h, &o, "MPI_" #Name "_get_attr");                              \
        return error ? error                                                                     \
                     : get(&o, keyval, field##_predefined(field##_of(h), keyval), attribute_val, \
                           flag, "MPI_" #Name "_get_attr");                                      \
    }                                                                                            \
    MPI_DEFINE(int, Name##_delete_attr, handle h, int keyval)                                    \
    {                                                                                            \
        struct owner o;                                                                          \
        int error = field##_owner(h, &o, "MPI_" #Name "_delete_attr");                           \
        return error ? error : delete (&o, keyval, "MPI_" #Name "_delete_attr");                 \
    }
KINDS(X)
#undef X

// ---- Deprecated names of the calls for communicators
MPI_DEFINE(int, Attr_put, MPI_Comm comm, int keyval, void *attribute_val)
{
    return PMPI_Comm_set_attr(comm, keyval, attribute_val);
}

MPI_DEFINE(int, Attr_get, MPI_Comm comm, int keyval, void *attribute_val, int *flag)
{
    return PMPI_Comm_get_attr(comm, keyval, attribute_val, flag);
}

MPI_DEFINE(int, Attr_delete, MPI_Comm comm, int keyval)
{
    return PMPI_Comm_delete_attr(comm, keyval);
}

MPI_DEFINE(int, Keyval_create, MPI_Copy_function *copy_fn, MPI_Delete_function *delete_fn,
           int *keyval, void *extra_state)
{
    return PMPI_Comm_create_keyval(copy_fn, delete_fn, keyval, extra_state);
}

MPI_DEFINE(int, Keyval_free, int *keyval)
{
    return PMPI_Comm_free_keyval(keyval);
}
