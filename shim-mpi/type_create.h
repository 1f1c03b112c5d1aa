// SPDX-License-Identifier: BSD-3-Clause
// What the constructors of datatypes share.
#ifndef SHOAL_MPI_TYPE_CREATE_H
#define SHOAL_MPI_TYPE_CREATE_H

#include "type_recipe.h"

// The type of a handle that a type can be made from (committed or not), or an error.
int type_argument(const char *call, MPI_Datatype handle, struct type **type);
int type_no_memory(const char *call);
// Builds the recipe, which it takes over: the end of every constructor.
int type_finish(const char *call, struct type_recipe *r, MPI_Datatype *newtype);

#endif
