// SPDX-License-Identifier: BSD-3-Clause
// MPI 5.0, "Application Binary Interface": what a program may ask of it, and what a Fortran layer
// leaves here for others. All of it at any time, by any thread.
#include "check.h"
#include "info.h"

#include <pthread.h>
#include <stdio.h>
#include <string.h>

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static struct info *fortran; // NULL: nobody told

enum { LOGICAL_SIZES = 5, LOGICAL_MOST = 16 }; // 1, 2, 4, 8, 16 bytes
static struct logical {
    bool is_set;
    unsigned char values[2][LOGICAL_MOST]; // .FALSE., .TRUE.
} logicals[LOGICAL_SIZES];

MPI_DEFINE(int, Abi_get_version, int *abi_major, int *abi_minor)
{
    static const char call[] = "MPI_Abi_get_version";
    int error = check_pointer(call, NULL, "abi_major", abi_major);
    if (!error)
        error = check_pointer(call, NULL, "abi_minor", abi_minor);
    if (error)
        return error;
    *abi_major = MPI_ABI_VERSION;
    *abi_minor = MPI_ABI_SUBVERSION;
    return MPI_SUCCESS;
}

static int give(struct info *info, MPI_Info *out, const char *call)
{
    if (!info)
        return raise_on(NULL, MPI_ERR_NO_MEM, call, "no memory for the info");
    *out = object_handle(info);
    return MPI_SUCCESS;
}

MPI_DEFINE(int, Abi_get_info, MPI_Info *info)
{
    static const char call[] = "MPI_Abi_get_info";
    static const struct {
        const char *key;
        size_t size;
    } sizes[] = {{"mpi_aint_size", sizeof(MPI_Aint)},
                 {"mpi_count_size", sizeof(MPI_Count)},
                 {"mpi_offset_size", sizeof(MPI_Offset)}};
    int error = check_pointer(call, NULL, "info", info);
    if (error)
        return error;
    struct info *new = info_new();
    for (size_t i = 0; new &&i < ARRAY_LEN(sizes); i++) {
        char text[16];
        snprintf(text, sizeof text, "%zu", sizes[i].size);
        info_set(new, sizes[i].key, text);
    }
    return give(new, info, call);
}

MPI_DEFINE(int, Abi_get_fortran_info, MPI_Info *info)
{
    static const char call[] = "MPI_Abi_get_fortran_info";
    int error = check_pointer(call, NULL, "info", info);
    if (error)
        return error;
    pthread_mutex_lock(&lock);
    bool known = fortran != NULL;
    struct info *copy = known ? info_copy(fortran) : NULL;
    pthread_mutex_unlock(&lock);
    if (known)
        return give(copy, info, call);
    *info = MPI_INFO_NULL;
    return MPI_SUCCESS;
}

// The datatypes of Fortran are as long as its compilers make them without options.
static int check_sizes(const char *call, const struct info *given)
{
    static const struct {
        const char *key, *size;
    } ours[] = {{"mpi_logical_size", "4"},
                {"mpi_integer_size", "4"},
                {"mpi_real_size", "4"},
                {"mpi_double_precision_size", "8"}};
    for (size_t i = 0; i < ARRAY_LEN(ours); i++) {
        char room[MPI_MAX_INFO_VAL];
        const char *size = info_get(given, ours[i].key, room);
        if (size && strcmp(size, ours[i].size) != 0)
            return raise_on(NULL, MPI_ERR_UNSUPPORTED_OPERATION, call,
                            "%s is %s: this library's type has %s bytes", ours[i].key, size,
                            ours[i].size);
    }
    return MPI_SUCCESS;
}

MPI_DEFINE(int, Abi_set_fortran_info, MPI_Info info)
{
    static const char call[] = "MPI_Abi_set_fortran_info";
    const struct info *given = info_of(info);
    if (!given)
        return raise_on(NULL, MPI_ERR_INFO, call, "info is not an info object");
    int error = check_sizes(call, given);
    if (error)
        return error;
    struct info *copy = info_copy(given);
    if (!copy)
        return raise_on(NULL, MPI_ERR_NO_MEM, call, "no memory for the info");
    pthread_mutex_lock(&lock);
    bool known = fortran != NULL;
    if (!known)
        fortran = copy;
    pthread_mutex_unlock(&lock);
    if (!known)
        return MPI_SUCCESS;
    info_free(copy);
    return raise_on(NULL, MPI_ERR_ABI, call, "it has been set before");
}

// NULL: no LOGICAL has this size.
static struct logical *logical_of(int size)
{
    for (int i = 0; i < LOGICAL_SIZES; i++)
        if (size == 1 << i)
            return &logicals[i];
    return NULL;
}

static int check_logical(const char *call, int size, const void *t, const void *f)
{
    if (!logical_of(size))
        return raise_on(NULL, MPI_ERR_ARG, call, "logical_size %d is not 1, 2, 4, 8 or 16", size);
    int error = check_pointer(call, NULL, "logical_true", t);
    return error ? error : check_pointer(call, NULL, "logical_false", f);
}

MPI_DEFINE(int, Abi_set_fortran_booleans, int logical_size, void *logical_true, void *logical_false)
{
    static const char call[] = "MPI_Abi_set_fortran_booleans";
    int error = check_logical(call, logical_size, logical_true, logical_false);
    if (error)
        return error;
    struct logical *l = logical_of(logical_size);
    pthread_mutex_lock(&lock);
    bool known = l->is_set;
    if (!known) {
        memcpy(l->values[0], logical_false, (size_t)logical_size);
        memcpy(l->values[1], logical_true, (size_t)logical_size);
        l->is_set = true;
    }
    pthread_mutex_unlock(&lock);
    return known ? raise_on(NULL, MPI_ERR_ABI, call, "they have been set before") : MPI_SUCCESS;
}

MPI_DEFINE(int, Abi_get_fortran_booleans, int logical_size, void *logical_true, void *logical_false,
           int *is_set)
{
    static const char call[] = "MPI_Abi_get_fortran_booleans";
    int error = check_logical(call, logical_size, logical_true, logical_false);
    if (!error)
        error = check_pointer(call, NULL, "is_set", is_set);
    if (error)
        return error;
    const struct logical *l = logical_of(logical_size);
    pthread_mutex_lock(&lock);
    *is_set = l->is_set;
    if (l->is_set) {
        memcpy(logical_false, l->values[0], (size_t)logical_size);
        memcpy(logical_true, l->values[1], (size_t)logical_size);
    }
    pthread_mutex_unlock(&lock);
    return MPI_SUCCESS;
}
