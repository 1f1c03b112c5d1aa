// SPDX-License-Identifier: BSD-3-Clause
// Datatypes as objects: commit, duplicate, free, names, sizes and bounds, addresses.
#include "attr.h"
#include "type_create.h"

#include <limits.h>

int raise_no_type(const char *call, const char *argument, MPI_Datatype handle)
{
    if (!shim_is_up())
        return raise_not_up(call);
    return raise_on(NULL, MPI_ERR_TYPE, call, "%s is no datatype: %s", argument,
                    handle == MPI_DATATYPE_NULL ? "MPI_DATATYPE_NULL" : "freed, or never made");
}

int type_check(const char *call, MPI_Datatype handle, struct type **type)
{
    *type = type_of(handle);
    if (*type && !type_is_freed(*type))
        return MPI_SUCCESS;
    return raise_no_type(call, "datatype", handle);
}

int type_asked(const char *call, struct comm *comm, MPI_Datatype handle, struct type **type)
{
    struct type *t = type_of(handle);
    if (!t || type_is_freed(t))
        return raise_on(comm, MPI_ERR_TYPE, call, "%s",
                        handle == MPI_DATATYPE_NULL ? "the datatype is MPI_DATATYPE_NULL"
                                                    : "there is no such datatype");
    if (t->size == MPI_UNDEFINED)
        return raise_on(comm, MPI_ERR_TYPE, call, "%s does not exist on this machine", t->name);
    *type = t;
    return MPI_SUCCESS;
}

static int check_output(const char *call, const void *output)
{
    if (!output)
        return raise_on(NULL, MPI_ERR_ARG, call, "an output argument is NULL");
    return MPI_SUCCESS;
}

MPI_DEFINE(int, Type_commit, MPI_Datatype *datatype)
{
    static const char call[] = "MPI_Type_commit";
    struct type *t;
    int rc = check_output(call, datatype);
    if (rc || (rc = type_check(call, *datatype, &t)))
        return rc;
    if (t->size == MPI_UNDEFINED)
        return raise_on(NULL, MPI_ERR_TYPE, call, "%s does not exist on this machine", t->name);
    if (!t->is_committed) // else other threads may be using it
        atomic_store_explicit(&t->is_committed, true, memory_order_relaxed);
    return MPI_SUCCESS;
}

MPI_DEFINE(int, Type_dup, MPI_Datatype oldtype, MPI_Datatype *newtype)
{
    static const char call[] = "MPI_Type_dup";
    struct type *old;
    int rc = check_output(call, newtype);
    if (rc || (rc = type_argument(call, oldtype, &old)))
        return rc;
    struct type_recipe *r = recipe_new(MPI_COMBINER_DUP, false, 0, 0, 0, 1);
    if (!r)
        return type_no_memory(call);
    recipe_put_type(r, old);
    MPI_Datatype copy;
    rc = type_finish(call, r, &copy);
    if (rc)
        return rc;
    struct type *t = type_of(copy);
    rc = attributes_copy(OBJECT_TYPE, oldtype, &old->attributes, &t->attributes);
    if (rc) {
        type_drop(t);
        *newtype = MPI_DATATYPE_NULL;
        return raise_on(NULL, rc, call, "the copy function of an attribute failed");
    }
    *newtype = copy;
    return MPI_SUCCESS;
}

MPI_DEFINE(int, Type_free, MPI_Datatype *datatype)
{
    static const char call[] = "MPI_Type_free";
    struct type *t;
    int rc = check_output(call, datatype);
    if (rc || (rc = type_check(call, *datatype, &t)))
        return rc;
    if (t->what)
        return raise_on(NULL, MPI_ERR_TYPE, call, "%s is predefined and is not freed",
                        t->recipe ? "a type of MPI_Type_create_f90_*" : t->name);
    // MPI_Type_get_contents gives out the same object once more, also meanwhile; attributes go with the last
    // handle, before which delete functions may ask about it.
    int handles = atomic_load_explicit(&t->handles, memory_order_relaxed);
    while (handles > 1 &&
           !atomic_compare_exchange_weak_explicit(&t->handles, &handles, handles - 1,
                                                  memory_order_release, memory_order_relaxed))
        ;
    if (handles <= 1) {
        rc = attributes_delete(OBJECT_TYPE, *datatype, &t->attributes);
        if (rc)
            return raise_on(NULL, rc, call, "the delete function of an attribute failed");
        atomic_fetch_sub_explicit(&t->handles, 1, memory_order_release);
    }
    type_drop(t);
    *datatype = MPI_DATATYPE_NULL;
    return MPI_SUCCESS;
}

// ---- Names
MPI_DEFINE(int, Type_set_name, MPI_Datatype datatype, const char *type_name)
{
    static const char call[] = "MPI_Type_set_name";
    struct type *t;
    int rc = type_check(call, datatype, &t);
    if (rc)
        return rc;
    if (!type_name)
        return raise_null(call, "type_name");
    object_set_name(t->name, type_name);
    return MPI_SUCCESS;
}

MPI_DEFINE(int, Type_get_name, MPI_Datatype datatype, char *type_name, int *resultlen)
{
    static const char call[] = "MPI_Type_get_name";
    struct type *t;
    if (datatype == MPI_DATATYPE_NULL && type_name && resultlen) {
        *resultlen = object_get_name("MPI_DATATYPE_NULL", type_name);
        return MPI_SUCCESS;
    }
    int rc = type_check(call, datatype, &t);
    if (rc || (rc = check_output(call, type_name)) || (rc = check_output(call, resultlen)))
        return rc;
    *resultlen = object_get_name(t->name, type_name);
    return MPI_SUCCESS;
}

// ---- Sizes and bounds
MPI_DEFINE(int, Type_size, MPI_Datatype datatype, int *size)
{
    static const char call[] = "MPI_Type_size";
    struct type *t;
    int rc = type_check(call, datatype, &t);
    if (rc || (rc = check_output(call, size)))
        return rc;
    *size = t->size > INT_MAX ? MPI_UNDEFINED : (int)t->size;
    return MPI_SUCCESS;
}

static int type_size(const char *call, MPI_Datatype datatype, MPI_Count *size)
{
    struct type *t;
    int rc = type_check(call, datatype, &t);
    if (rc || (rc = check_output(call, size)))
        return rc;
    *size = t->size;
    return MPI_SUCCESS;
}

MPI_DEFINE(int, Type_size_c, MPI_Datatype datatype, MPI_Count *size)
{
    return type_size("MPI_Type_size_c", datatype, size);
}

MPI_DEFINE(int, Type_size_x, MPI_Datatype datatype, MPI_Count *size)
{
    return type_size("MPI_Type_size_x", datatype, size);
}

static int type_extent(const char *call, bool is_true, MPI_Datatype datatype, MPI_Count *lb,
                       MPI_Count *extent)
{
    struct type *t;
    int rc = type_check(call, datatype, &t);
    if (rc || (rc = check_output(call, lb)) || (rc = check_output(call, extent)))
        return rc;
    *lb = is_true ? t->true_lb : t->lb;
    *extent = is_true ? t->true_extent : t->extent;
    return MPI_SUCCESS;
}

#define X(name, number, is_true)                                             \
    MPI_DEFINE(int, name, MPI_Datatype datatype, number *lb, number *extent) \
    {                                                                        \
        return type_extent("MPI_" #name, is_true, datatype, lb, extent);     \
    }
X(Type_get_extent, MPI_Aint, false)
X(Type_get_extent_c, MPI_Count, false)
X(Type_get_extent_x, MPI_Count, false)
X(Type_get_true_extent, MPI_Aint, true)
X(Type_get_true_extent_c, MPI_Count, true)
X(Type_get_true_extent_x, MPI_Count, true)
#undef X

// ---- Addresses
MPI_DEFINE(int, Get_address, const void *location, MPI_Aint *address)
{
    int rc = check_output("MPI_Get_address", address);
    if (!rc)
        *address = (MPI_Aint)location;
    return rc;
}

MPI_DEFINE(MPI_Aint, Aint_add, MPI_Aint base, MPI_Aint disp)
{
    return (MPI_Aint)((uintptr_t)base + (uintptr_t)disp);
}

MPI_DEFINE(MPI_Aint, Aint_diff, MPI_Aint addr1, MPI_Aint addr2)
{
    return (MPI_Aint)((uintptr_t)addr1 - (uintptr_t)addr2);
}
