// SPDX-License-Identifier: BSD-3-Clause
// Windows (MPI 5.0, "One-Sided Communications"), as far as the rest of the shim knows them.
#ifndef SHOAL_MPI_WIN_H
#define SHOAL_MPI_WIN_H

#include "shim.h"

struct attributes;
struct errhandler;

struct win {
    struct object head;
    struct errhandler *errhandler;
    struct attributes *attributes;
    // What MPI_Win_get_attr gives for MPI_WIN_BASE, _SIZE, _DISP_UNIT, _CREATE_FLAVOR, _MODEL; the
    // first is the base itself, the others are pointers to the values.
    const void *predefined[5];
    char name[MPI_MAX_OBJECT_NAME];
};

static inline struct win *win_of(MPI_Win h)
{
    return object_at(h, OBJECT_WIN);
}

#endif
