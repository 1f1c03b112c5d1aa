// SPDX-License-Identifier: BSD-3-Clause
// MPI 5.0, "Status": what it holds beside the fields that programs see, and what calls other than receives
// do with one. (Counts of elements: type chapter.)
#include "check.h"
#include "request.h"

#include <string.h>

void status_empty(MPI_Status *status)
{
    status_set(status, MPI_ANY_SOURCE, MPI_ANY_TAG, 0, false);
    if (status != MPI_STATUS_IGNORE)
        status->MPI_ERROR = MPI_SUCCESS;
}

static struct status_inner inner_of(const MPI_Status *status)
{
    struct status_inner inner;
    memcpy(&inner, status->MPI_internal, sizeof inner);
    return inner;
}

MPI_Count status_bytes(const MPI_Status *status)
{
    return inner_of(status).bytes;
}

bool status_is_cancelled(const MPI_Status *status)
{
    return inner_of(status).is_cancelled;
}

// ---- Calls
static int check(const char *call, const void *status, const char *argument, const void *other)
{
    if (status == MPI_STATUS_IGNORE)
        return raise_on(NULL, MPI_ERR_ARG, call, "the status is MPI_STATUS_IGNORE");
    return check_pointer(call, NULL, argument, other);
}

#define FIELD(get, set, member, argument)                            \
    MPI_DEFINE(int, get, const MPI_Status *status, int *argument)    \
    {                                                                \
        int error = check("MPI_" #get, status, #argument, argument); \
        if (!error)                                                  \
            *argument = status->member;                              \
        return error;                                                \
    }                                                                \
    MPI_DEFINE(int, set, MPI_Status *status, int argument)           \
    {                                                                \
        int error = check("MPI_" #set, status, #argument, status);   \
        if (!error)                                                  \
            status->member = argument;                               \
        return error;                                                \
    }

FIELD(Status_get_error, Status_set_error, MPI_ERROR, error_)
FIELD(Status_get_source, Status_set_source, MPI_SOURCE, source)
FIELD(Status_get_tag, Status_set_tag, MPI_TAG, tag)

MPI_DEFINE(int, Test_cancelled, const MPI_Status *status, int *flag)
{
    int error = check("MPI_Test_cancelled", status, "flag", flag);
    if (!error)
        *flag = status_is_cancelled(status);
    return error;
}

MPI_DEFINE(int, Status_set_cancelled, MPI_Status *status, int flag)
{
    int error = check("MPI_Status_set_cancelled", status, "status", status);
    if (!error)
        status_set(status, status->MPI_SOURCE, status->MPI_TAG, status_bytes(status), flag);
    return error;
}

static int set_elements(const char *call, MPI_Status *status, MPI_Datatype datatype,
                        MPI_Count count)
{
    struct type *type;
    int error = check(call, status, "status", status);
    if (!error)
        error = check_count(call, NULL, count);
    if (!error)
        error = type_asked(call, NULL, datatype, &type);
    if (error)
        return error;
    MPI_Count bytes = type_elements_bytes(type, count);
    if (bytes < 0)
        return raise_on(NULL, MPI_ERR_ARG, call, "no message of this datatype has %lld elements",
                        (long long)count);
    status_set(status, status->MPI_SOURCE, status->MPI_TAG, bytes, status_is_cancelled(status));
    return MPI_SUCCESS;
}

MPI_DEFINE(int, Status_set_elements, MPI_Status *status, MPI_Datatype datatype, int count)
{
    return set_elements("MPI_Status_set_elements", status, datatype, count);
}

MPI_DEFINE(int, Status_set_elements_c, MPI_Status *status, MPI_Datatype datatype, MPI_Count count)
{
    return set_elements("MPI_Status_set_elements_c", status, datatype, count);
}

MPI_DEFINE(int, Status_set_elements_x, MPI_Status *status, MPI_Datatype datatype, MPI_Count count)
{
    return set_elements("MPI_Status_set_elements_x", status, datatype, count);
}
