// SPDX-License-Identifier: BSD-3-Clause
// Keys and single attributes, between what keeps them (attr.c) and the calls (attr_call.c).
#ifndef SHOAL_MPI_ATTR_CALL_H
#define SHOAL_MPI_ATTR_CALL_H

#include "shim.h"

struct attributes;

enum { KEYVAL_FIRST = 1024 }; // keys below are the standard's

struct keyval {
    enum object_kind kind; // 0: unused
    bool is_freed;         // by the program; lives as long as it has uses
    int uses;              // attributes with this key, and calls that set one
    union {
        MPI_Comm_copy_attr_function *comm;
        MPI_Type_copy_attr_function *type;
        MPI_Win_copy_attr_function *win;
    } copy;
    union {
        MPI_Comm_delete_attr_function *comm;
        MPI_Type_delete_attr_function *type;
        MPI_Win_delete_attr_function *win;
    } delete;
    void *extra;
};

int keyval_new(const struct keyval *keyval); // its number; MPI_KEYVAL_INVALID: no memory
// Once more is no error, as long as attributes have the key. False: no such key.
bool keyval_free(int number, enum object_kind kind);
// freed_too: also one that was freed and that attributes have.
bool keyval_is_known(int number, enum object_kind kind, bool freed_too);

// Error codes of the program's functions, MPI_ERR_NO_MEM, or MPI_ERR_KEYVAL where the key has been freed
// meanwhile; not raised.
bool attribute_get(struct attributes *const *slot, int keyval, void **value);
int attribute_set(enum object_kind kind, void *handle, struct attributes **slot, int keyval,
                  void *value);
int attribute_delete(enum object_kind kind, void *handle, struct attributes **slot, int keyval,
                     bool *found);

#endif
