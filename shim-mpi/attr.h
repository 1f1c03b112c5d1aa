// SPDX-License-Identifier: BSD-3-Clause
// Caching (MPI 5.0, "Groups, Contexts, Communicators, and Caching"): values that a program hangs on
// communicators, datatypes and windows under keys of its own.
#ifndef SHOAL_MPI_ATTR_H
#define SHOAL_MPI_ATTR_H

#include "shim.h"

struct attributes; // NULL: none

// To a new object, those that their copy functions let through. kind: OBJECT_COMM, OBJECT_TYPE or
// OBJECT_WIN; the handle is the old object's. An error code of a copy function, which has not been
// raised; then *to has none.
int attributes_copy(enum object_kind kind, void *handle, struct attributes *const *from,
                    struct attributes **to);

// The object ends: delete functions in the reverse order of setting. An error code of one of them,
// which has not been raised; that attribute and those set before it stay.
int attributes_delete(enum object_kind kind, void *handle, struct attributes **attributes);

#endif
