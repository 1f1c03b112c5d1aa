// SPDX-License-Identifier: BSD-3-Clause
// How a datatype was made: the arguments of its constructor, in the order and in the arrays in which
// MPI_Type_get_contents gives them back (MPI 5.0, "Decoding a Datatype"). Types are built from their
// recipe alone, so that what is told of a type is what it was made from.
#ifndef SHOAL_MPI_TYPE_RECIPE_H
#define SHOAL_MPI_TYPE_RECIPE_H

#include "numbers.h"
#include "type_body.h"

struct type_recipe {
    int combiner;
    bool is_large; // made by a function whose name ends in _c: counts are in counts
    MPI_Count n_ints, n_addresses, n_counts, n_types;
    int *ints;
    MPI_Aint *addresses;
    MPI_Count *counts;
    struct type **types; // with a reference each
};

// Room for so many arguments; then they are put in one by one. NULL: no memory. Numbers go to counts
// when the recipe is large, else numbers to ints and addresses to addresses.
struct type_recipe *recipe_new(int combiner, bool is_large, MPI_Count ints, MPI_Count numbers,
                               MPI_Count addresses, MPI_Count types);
void recipe_free(struct type_recipe *r); // of a type that was not made
void recipe_put_int(struct type_recipe *r, int value);
void recipe_put_number(struct type_recipe *r, MPI_Count value);
void recipe_put_numbers(struct type_recipe *r, struct numbers values, MPI_Count n);
void recipe_put_address(struct type_recipe *r, MPI_Count value);
void recipe_put_type(struct type_recipe *r, struct type *t); // takes a reference of its own

// The i-th number and the i-th address that were put.
static inline MPI_Count recipe_number(const struct type_recipe *r, MPI_Count i)
{
    return r->is_large ? r->counts[i] : r->ints[i];
}

static inline MPI_Count recipe_address(const struct type_recipe *r, MPI_Count numbers, MPI_Count i)
{
    return r->is_large ? r->counts[numbers + i] : r->addresses[i];
}

// Makes the type (type_build.c) and takes the recipe over, also when it fails: an error class, with
// the reason in *why.
int type_build(struct type_recipe *r, struct type **type, const char **why);

// The global array of a subarray or a darray in one dimension, for type_build.
struct dimension {
    MPI_Count size;   // of the global array
    MPI_Count start;  // index of the first element that belongs to the type
    MPI_Count block;  // elements that follow each other
    MPI_Count blocks; // full ones, step apart
    MPI_Count step;
    MPI_Count rest;   // elements of the last block, when it is shorter
};
int recipe_dimensions(const struct type_recipe *r); // 0: neither
bool recipe_is_fortran(const struct type_recipe *r);
struct dimension recipe_dimension(const struct type_recipe *r, int i);

#endif
