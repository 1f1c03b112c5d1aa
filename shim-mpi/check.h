// SPDX-License-Identifier: BSD-3-Clause
// Checks of arguments that many calls share. Each returns MPI_SUCCESS and sets its output, or raises
// the error and returns its code.
#ifndef SHOAL_MPI_CHECK_H
#define SHOAL_MPI_CHECK_H

#include "comm.h"
#include "request.h"
#include "type.h"

int check_comm(const char *call, MPI_Comm handle, struct comm **comm);
int check_raise_null(const char *call, struct comm *comm, const char *argument)
    __attribute__((cold));
static inline int check_pointer(const char *call, struct comm *comm, const char *argument,
                                const void *pointer)
{
    return likely(pointer) ? MPI_SUCCESS : check_raise_null(call, comm, argument);
}
int check_raise_count(const char *call, struct comm *comm, MPI_Count count) __attribute__((cold));
static inline int check_count(const char *call, struct comm *comm, MPI_Count count)
{
    return likely(count >= 0) ? MPI_SUCCESS : check_raise_count(call, comm, count);
}
// A committed type.
int check_type(const char *call, struct comm *comm, MPI_Datatype handle, struct type **type);
int check_raise_bytes(const char *call, struct comm *comm, MPI_Count count,
                      const struct type *type) __attribute__((cold));
// Are `blocks` times so many elements no more bytes than can be counted?
static inline int check_bytes(const char *call, struct comm *comm, MPI_Count blocks,
                              MPI_Count count, const struct type *type)
{
    MPI_Count n;
    if (unlikely(__builtin_mul_overflow(count, type->size, &n) ||
                 __builtin_mul_overflow(n, blocks, &n)))
        return check_raise_bytes(call, comm, count, type);
    return MPI_SUCCESS;
}
// May it be the buffer of elements without absolute addresses?
static inline bool check_is_place(const void *buf)
{
    return (uintptr_t)buf > (uintptr_t)MPI_IN_PLACE; // NULL is below
}
// buf may be NULL where there is nothing to move, or where the type has absolute addresses.
int check_buffer(const char *call, struct comm *comm, const void *buf, MPI_Count count,
                 MPI_Datatype handle, struct type **type);
// The same of a message to or from this rank; with MPI_PROC_NULL neither buffer nor datatype is
// looked at, and the type is any.
int check_message(const char *call, struct comm *comm, int rank, const void *buf, MPI_Count count,
                  MPI_Datatype handle, struct type **type);
int check_rank(const char *call, struct comm *comm, int rank);          // or MPI_PROC_NULL
int check_source(const char *call, struct comm *comm, int rank);        // or MPI_ANY_SOURCE
int check_intra(const char *call, MPI_Comm handle, struct comm **comm); // no intercommunicator
int check_root(const char *call, struct comm *comm, int root);          // of an intracommunicator
int check_tag(const char *call, struct comm *comm, int tag);
int check_any_tag(const char *call, struct comm *comm, int tag);

#endif
