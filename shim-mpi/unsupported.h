// SPDX-License-Identifier: BSD-3-Clause
// Functions that this library exports and does not have. Whatever the arguments, each raises
// MPI_ERR_UNSUPPORTED_OPERATION with its name; mpi.h has the signatures, a table the names:
//
//     #define FUNCTIONS(X) X(Open_port) X(Close_port) ...
//     FUNCTIONS(UNSUPPORTED)
//
// The functions behind the names take no arguments, which no calling convention of C minds.
#ifndef SHOAL_MPI_UNSUPPORTED_H
#define SHOAL_MPI_UNSUPPORTED_H

#include "shim.h"

#ifndef __clang__
#pragma GCC diagnostic ignored "-Wattribute-alias"
#endif

#define UNSUPPORTED_BY(raise, name)                                                                \
    static int unsupported_##name(void)                                                            \
    {                                                                                              \
        return raise("MPI_" #name);                                                                \
    }                                                                                              \
    extern __typeof__(PMPI_##name) PMPI_##name                                                     \
        __attribute__((visibility("default"), alias("unsupported_" #name)));                       \
    extern __typeof__(MPI_##name) MPI_##name                                                       \
        __attribute__((visibility("default"), weak, alias("unsupported_" #name)));

#define UNSUPPORTED(name) UNSUPPORTED_BY(raise_unsupported, name)

#endif
