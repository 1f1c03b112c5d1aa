// SPDX-License-Identifier: BSD-3-Clause
// Checks of arguments. See check.h.
#include "check.h"

int check_comm(const char *call, MPI_Comm handle, struct comm **comm)
{
    struct comm *c = comm_of(handle);
    if (likely(c && !comm_is_freed(c))) {
        *comm = c;
        return MPI_SUCCESS;
    }
    if (!shim_is_up())
        return raise_not_up(call);
    if (handle == MPI_COMM_WORLD || handle == MPI_COMM_SELF)
        return raise_on(NULL, MPI_ERR_COMM, call,
                        "MPI_COMM_WORLD and MPI_COMM_SELF are no communicators of sessions: call "
                        "MPI_Init first, and MPI_Finalize last");
    return raise_on(NULL, MPI_ERR_COMM, call, "%s",
                    handle == MPI_COMM_NULL
                        ? "the communicator is MPI_COMM_NULL"
                        : "there is no such communicator: it was freed, or never made");
}

int check_intra(const char *call, MPI_Comm handle, struct comm **comm)
{
    struct comm *c = NULL;
    int error = check_comm(call, handle, &c);
    if (!error && comm_is_inter(c))
        return raise_on(c, MPI_ERR_COMM, call, "the communicator is an intercommunicator");
    if (!error)
        *comm = c;
    return error;
}

int check_raise_null(const char *call, struct comm *comm, const char *argument)
{
    return raise_on(comm, MPI_ERR_ARG, call, "argument %s is NULL", argument);
}

int check_raise_count(const char *call, struct comm *comm, MPI_Count count)
{
    return raise_on(comm, MPI_ERR_COUNT, call, "the count is %lld: it must not be negative",
                    (long long)count);
}

int check_type(const char *call, struct comm *comm, MPI_Datatype handle, struct type **type)
{
    struct type *t = type_of(handle);
    if (unlikely(!t || handle == MPI_DATATYPE_NULL))
        return raise_on(comm, MPI_ERR_TYPE, call, "%s",
                        handle == MPI_DATATYPE_NULL ? "the datatype is MPI_DATATYPE_NULL"
                                                    : "there is no such datatype");
    if (unlikely(!t->is_committed))
        return raise_on(comm, MPI_ERR_TYPE, call,
                        "the datatype is not committed: call MPI_Type_commit first");
    *type = t;
    return MPI_SUCCESS;
}

int check_raise_bytes(const char *call, struct comm *comm, MPI_Count count, const struct type *type)
{
    return raise_on(comm, MPI_ERR_COUNT, call,
                    "the count is %lld: so many elements of %lld bytes are more than 2^63 bytes",
                    (long long)count, (long long)type->size);
}

static NOINLINE int find_wrong(const char *call, struct comm *comm, const void *buf,
                               MPI_Count count, MPI_Datatype handle, struct type **type)
{
    int error = check_count(call, comm, count);
    if (!error)
        error = check_type(call, comm, handle, type);
    if (!error)
        error = check_bytes(call, comm, 1, count, *type);
    if (!error && !check_is_place(buf) && count && (*type)->size && (*type)->true_lb == 0)
        return raise_on(comm, MPI_ERR_BUFFER, call, "the buffer is %s, with %lld elements",
                        buf ? "MPI_IN_PLACE" : "NULL", (long long)count);
    return error;
}

// What nearly all have, first.
int check_buffer(const char *call, struct comm *comm, const void *buf, MPI_Count count,
                 MPI_Datatype handle, struct type **type)
{
    struct type *t = type_of(handle);
    MPI_Count n;
    if (unlikely(count < 0 || !check_is_place(buf) || !t || !t->is_committed ||
                 __builtin_mul_overflow(count, t->size, &n)))
        return find_wrong(call, comm, buf, count, handle, type);
    *type = t;
    return MPI_SUCCESS;
}

int check_message(const char *call, struct comm *comm, int rank, const void *buf, MPI_Count count,
                  MPI_Datatype handle, struct type **type)
{
    if (likely(rank != MPI_PROC_NULL))
        return check_buffer(call, comm, buf, count, handle, type);
    *type = type_of(MPI_BYTE);
    return MPI_SUCCESS;
}

int check_rank(const char *call, struct comm *comm, int rank)
{
    if (likely((unsigned)rank < (unsigned)comm->peers->size || rank == MPI_PROC_NULL))
        return MPI_SUCCESS;
    return raise_on(comm, MPI_ERR_RANK, call, "rank %d: there are ranks 0 to %d", rank,
                    comm->peers->size - 1);
}

int check_source(const char *call, struct comm *comm, int rank)
{
    return rank == MPI_ANY_SOURCE ? MPI_SUCCESS : check_rank(call, comm, rank);
}

int check_root(const char *call, struct comm *comm, int root)
{
    if (likely((unsigned)root < (unsigned)comm->group->size))
        return MPI_SUCCESS;
    return raise_on(comm, MPI_ERR_ROOT, call, "root %d: there are ranks 0 to %d", root,
                    comm->group->size - 1);
}

int check_tag(const char *call, struct comm *comm, int tag)
{
    if (likely((unsigned)tag <= TAG_UB))
        return MPI_SUCCESS;
    return raise_on(comm, MPI_ERR_TAG, call, "tag %d: there are tags 0 to %d", tag, TAG_UB);
}

int check_any_tag(const char *call, struct comm *comm, int tag)
{
    return tag == MPI_ANY_TAG ? MPI_SUCCESS : check_tag(call, comm, tag);
}
