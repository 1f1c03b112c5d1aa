// SPDX-License-Identifier: BSD-3-Clause
// Constructors of datatypes but those of arrays (type_array.c): arguments are checked, written down
// as a recipe, and the recipe is built.
#include "type_create.h"

int type_argument(const char *call, MPI_Datatype handle, struct type **type)
{
    struct type *t = *type = type_of(handle);
    if (!t || type_is_freed(t))
        return raise_no_type(call, "oldtype", handle);
    if (t->size == MPI_UNDEFINED)
        return raise_on(NULL, MPI_ERR_TYPE, call, "%s does not exist on this machine", t->name);
    return MPI_SUCCESS;
}

static int check_new(const char *call, MPI_Count count, const MPI_Datatype *newtype)
{
    if (count < 0)
        return raise_on(NULL, MPI_ERR_COUNT, call, "count is %lld, less than 0", (long long)count);
    if (!newtype)
        return raise_null(call, "newtype");
    return MPI_SUCCESS;
}

static int check_length(const char *call, MPI_Count length)
{
    if (length < 0)
        return raise_on(NULL, MPI_ERR_ARG, call, "blocklength is %lld, less than 0",
                        (long long)length);
    return MPI_SUCCESS;
}

static int check_array(const char *call, const char *name, const void *array, MPI_Count count)
{
    if (count > 0 && !array)
        return raise_null(call, name);
    return MPI_SUCCESS;
}

static int check_lengths(const char *call, struct numbers lengths, MPI_Count count)
{
    int rc = check_array(call, "array_of_blocklengths", lengths.at, count);
    for (MPI_Count i = 0; !rc && i < count; i++)
        if (number_at(lengths, i) < 0)
            rc = raise_on(NULL, MPI_ERR_ARG, call, "array_of_blocklengths[%lld] is %lld",
                          (long long)i, (long long)number_at(lengths, i));
    return rc;
}

int type_no_memory(const char *call)
{
    return raise_on(NULL, MPI_ERR_NO_MEM, call, "no memory for a datatype");
}

int type_finish(const char *call, struct type_recipe *r, MPI_Datatype *newtype)
{
    struct type *t;
    const char *why;
    int class = type_build(r, &t, &why);
    if (class)
        return raise_on(NULL, class, call, "%s", why);
    *newtype = object_handle(t);
    return MPI_SUCCESS;
}

// ---- Contiguous, vector, hvector
static int contiguous(const char *call, bool is_large, MPI_Count count, MPI_Datatype oldtype,
                      MPI_Datatype *newtype)
{
    struct type *old;
    int rc = check_new(call, count, newtype);
    if (rc || (rc = type_argument(call, oldtype, &old)))
        return rc;
    struct type_recipe *r = recipe_new(MPI_COMBINER_CONTIGUOUS, is_large, 0, 1, 0, 1);
    if (!r)
        return type_no_memory(call);
    recipe_put_number(r, count);
    recipe_put_type(r, old);
    return type_finish(call, r, newtype);
}

MPI_DEFINE(int, Type_contiguous, int count, MPI_Datatype oldtype, MPI_Datatype *newtype)
{
    return contiguous("MPI_Type_contiguous", false, count, oldtype, newtype);
}

MPI_DEFINE(int, Type_contiguous_c, MPI_Count count, MPI_Datatype oldtype, MPI_Datatype *newtype)
{
    return contiguous("MPI_Type_contiguous_c", true, count, oldtype, newtype);
}

static int vector(const char *call, int combiner, bool is_large, MPI_Count count, MPI_Count length,
                  MPI_Count stride, MPI_Datatype oldtype, MPI_Datatype *newtype)
{
    struct type *old;
    int rc = check_new(call, count, newtype);
    if (rc || (rc = check_length(call, length)) || (rc = type_argument(call, oldtype, &old)))
        return rc;
    struct type_recipe *r = recipe_new(combiner, is_large, 0, 3, 1, 1);
    if (!r)
        return type_no_memory(call);
    recipe_put_number(r, count);
    recipe_put_number(r, length);
    if (combiner == MPI_COMBINER_VECTOR)
        recipe_put_number(r, stride);
    else
        recipe_put_address(r, stride);
    recipe_put_type(r, old);
    return type_finish(call, r, newtype);
}

MPI_DEFINE(int, Type_vector, int count, int blocklength, int stride, MPI_Datatype oldtype,
           MPI_Datatype *newtype)
{
    return vector("MPI_Type_vector", MPI_COMBINER_VECTOR, false, count, blocklength, stride,
                  oldtype, newtype);
}

MPI_DEFINE(int, Type_vector_c, MPI_Count count, MPI_Count blocklength, MPI_Count stride,
           MPI_Datatype oldtype, MPI_Datatype *newtype)
{
    return vector("MPI_Type_vector_c", MPI_COMBINER_VECTOR, true, count, blocklength, stride,
                  oldtype, newtype);
}

MPI_DEFINE(int, Type_create_hvector, int count, int blocklength, MPI_Aint stride,
           MPI_Datatype oldtype, MPI_Datatype *newtype)
{
    return vector("MPI_Type_create_hvector", MPI_COMBINER_HVECTOR, false, count, blocklength,
                  stride, oldtype, newtype);
}

MPI_DEFINE(int, Type_create_hvector_c, MPI_Count count, MPI_Count blocklength, MPI_Count stride,
           MPI_Datatype oldtype, MPI_Datatype *newtype)
{
    return vector("MPI_Type_create_hvector_c", MPI_COMBINER_HVECTOR, true, count, blocklength,
                  stride, oldtype, newtype);
}

// ---- Lists of blocks: displacements in elements are numbers, those in bytes addresses
struct blocks {
    int combiner;
    bool is_large;
    MPI_Count count;
    struct numbers lengths, disps;
    MPI_Count length; // of every block, of the combiners that say _BLOCK
};

static bool has_one_length(const struct blocks *b)
{
    return b->combiner == MPI_COMBINER_INDEXED_BLOCK || b->combiner == MPI_COMBINER_HINDEXED_BLOCK;
}

static bool is_in_bytes(const struct blocks *b)
{
    return b->combiner != MPI_COMBINER_INDEXED && b->combiner != MPI_COMBINER_INDEXED_BLOCK;
}

static int blocks_check(const char *call, const struct blocks *b, const MPI_Datatype *newtype)
{
    int rc = check_new(call, b->count, newtype);
    if (!rc)
        rc = has_one_length(b) ? check_length(call, b->length)
                               : check_lengths(call, b->lengths, b->count);
    if (!rc)
        rc = check_array(call, "array_of_displacements", b->disps.at, b->count);
    return rc;
}

// All but the types.
static struct type_recipe *blocks_recipe(const struct blocks *b, MPI_Count types)
{
    MPI_Count lengths = has_one_length(b) ? 1 : b->count;
    struct type_recipe *r = recipe_new(b->combiner, b->is_large, 0,
                                       1 + lengths + (is_in_bytes(b) ? 0 : b->count),
                                       is_in_bytes(b) ? b->count : 0, types);
    if (!r)
        return NULL;
    recipe_put_number(r, b->count);
    if (has_one_length(b))
        recipe_put_number(r, b->length);
    else
        recipe_put_numbers(r, b->lengths, b->count);
    for (MPI_Count i = 0; i < b->count; i++)
        if (is_in_bytes(b))
            recipe_put_address(r, number_at(b->disps, i));
        else
            recipe_put_number(r, number_at(b->disps, i));
    return r;
}

static int blocks(const char *call, const struct blocks *b, MPI_Datatype oldtype,
                  MPI_Datatype *newtype)
{
    struct type *old;
    int rc = blocks_check(call, b, newtype);
    if (rc || (rc = type_argument(call, oldtype, &old)))
        return rc;
    struct type_recipe *r = blocks_recipe(b, 1);
    if (!r)
        return type_no_memory(call);
    recipe_put_type(r, old);
    return type_finish(call, r, newtype);
}

MPI_DEFINE(int, Type_indexed, int count, const int array_of_blocklengths[],
           const int array_of_displacements[], MPI_Datatype oldtype, MPI_Datatype *newtype)
{
    return blocks("MPI_Type_indexed",
                  &(struct blocks){MPI_COMBINER_INDEXED, false, count,
                                   ints_of(array_of_blocklengths), ints_of(array_of_displacements),
                                   0},
                  oldtype, newtype);
}

MPI_DEFINE(int, Type_indexed_c, MPI_Count count, const MPI_Count array_of_blocklengths[],
           const MPI_Count array_of_displacements[], MPI_Datatype oldtype, MPI_Datatype *newtype)
{
    return blocks("MPI_Type_indexed_c",
                  &(struct blocks){MPI_COMBINER_INDEXED, true, count,
                                   counts_of(array_of_blocklengths),
                                   counts_of(array_of_displacements), 0},
                  oldtype, newtype);
}

MPI_DEFINE(int, Type_create_hindexed, int count, const int array_of_blocklengths[],
           const MPI_Aint array_of_displacements[], MPI_Datatype oldtype, MPI_Datatype *newtype)
{
    return blocks("MPI_Type_create_hindexed",
                  &(struct blocks){MPI_COMBINER_HINDEXED, false, count,
                                   ints_of(array_of_blocklengths),
                                   counts_of(array_of_displacements), 0},
                  oldtype, newtype);
}

MPI_DEFINE(int, Type_create_hindexed_c, MPI_Count count, const MPI_Count array_of_blocklengths[],
           const MPI_Count array_of_displacements[], MPI_Datatype oldtype, MPI_Datatype *newtype)
{
    return blocks("MPI_Type_create_hindexed_c",
                  &(struct blocks){MPI_COMBINER_HINDEXED, true, count,
                                   counts_of(array_of_blocklengths),
                                   counts_of(array_of_displacements), 0},
                  oldtype, newtype);
}

MPI_DEFINE(int, Type_create_indexed_block, int count, int blocklength,
           const int array_of_displacements[], MPI_Datatype oldtype, MPI_Datatype *newtype)
{
    return blocks("MPI_Type_create_indexed_block",
                  &(struct blocks){.combiner = MPI_COMBINER_INDEXED_BLOCK,
                                   .count = count,
                                   .length = blocklength,
                                   .disps = ints_of(array_of_displacements)},
                  oldtype, newtype);
}

MPI_DEFINE(int, Type_create_indexed_block_c, MPI_Count count, MPI_Count blocklength,
           const MPI_Count array_of_displacements[], MPI_Datatype oldtype, MPI_Datatype *newtype)
{
    return blocks("MPI_Type_create_indexed_block_c",
                  &(struct blocks){.combiner = MPI_COMBINER_INDEXED_BLOCK,
                                   .is_large = true,
                                   .count = count,
                                   .length = blocklength,
                                   .disps = counts_of(array_of_displacements)},
                  oldtype, newtype);
}

MPI_DEFINE(int, Type_create_hindexed_block, int count, int blocklength,
           const MPI_Aint array_of_displacements[], MPI_Datatype oldtype, MPI_Datatype *newtype)
{
    return blocks("MPI_Type_create_hindexed_block",
                  &(struct blocks){.combiner = MPI_COMBINER_HINDEXED_BLOCK,
                                   .count = count,
                                   .length = blocklength,
                                   .disps = counts_of(array_of_displacements)},
                  oldtype, newtype);
}

MPI_DEFINE(int, Type_create_hindexed_block_c, MPI_Count count, MPI_Count blocklength,
           const MPI_Count array_of_displacements[], MPI_Datatype oldtype, MPI_Datatype *newtype)
{
    return blocks("MPI_Type_create_hindexed_block_c",
                  &(struct blocks){.combiner = MPI_COMBINER_HINDEXED_BLOCK,
                                   .is_large = true,
                                   .count = count,
                                   .length = blocklength,
                                   .disps = counts_of(array_of_displacements)},
                  oldtype, newtype);
}

static int structure(const char *call, const struct blocks *b, const MPI_Datatype types[],
                     MPI_Datatype *newtype)
{
    struct type *old;
    int rc = blocks_check(call, b, newtype);
    if (!rc)
        rc = check_array(call, "array_of_types", types, b->count);
    for (MPI_Count i = 0; !rc && i < b->count; i++)
        rc = type_argument(call, types[i], &old);
    if (rc)
        return rc;
    struct type_recipe *r = blocks_recipe(b, b->count);
    if (!r)
        return type_no_memory(call);
    for (MPI_Count i = 0; i < b->count; i++)
        recipe_put_type(r, type_of(types[i]));
    return type_finish(call, r, newtype);
}

MPI_DEFINE(int, Type_create_struct, int count, const int array_of_blocklengths[],
           const MPI_Aint array_of_displacements[], const MPI_Datatype array_of_types[],
           MPI_Datatype *newtype)
{
    return structure("MPI_Type_create_struct",
                     &(struct blocks){MPI_COMBINER_STRUCT, false, count,
                                      ints_of(array_of_blocklengths),
                                      counts_of(array_of_displacements), 0},
                     array_of_types, newtype);
}

MPI_DEFINE(int, Type_create_struct_c, MPI_Count count, const MPI_Count array_of_blocklengths[],
           const MPI_Count array_of_displacements[], const MPI_Datatype array_of_types[],
           MPI_Datatype *newtype)
{
    return structure("MPI_Type_create_struct_c",
                     &(struct blocks){MPI_COMBINER_STRUCT, true, count,
                                      counts_of(array_of_blocklengths),
                                      counts_of(array_of_displacements), 0},
                     array_of_types, newtype);
}

// ---- Resized
static int resized(const char *call, bool is_large, MPI_Datatype oldtype, MPI_Count lb,
                   MPI_Count extent, MPI_Datatype *newtype)
{
    struct type *old;
    int rc = check_new(call, 0, newtype);
    if (rc || (rc = type_argument(call, oldtype, &old)))
        return rc;
    struct type_recipe *r = recipe_new(MPI_COMBINER_RESIZED, is_large, 0, 0, 2, 1);
    if (!r)
        return type_no_memory(call);
    recipe_put_address(r, lb);
    recipe_put_address(r, extent);
    recipe_put_type(r, old);
    return type_finish(call, r, newtype);
}

MPI_DEFINE(int, Type_create_resized, MPI_Datatype oldtype, MPI_Aint lb, MPI_Aint extent,
           MPI_Datatype *newtype)
{
    return resized("MPI_Type_create_resized", false, oldtype, lb, extent, newtype);
}

MPI_DEFINE(int, Type_create_resized_c, MPI_Datatype oldtype, MPI_Count lb, MPI_Count extent,
           MPI_Datatype *newtype)
{
    return resized("MPI_Type_create_resized_c", true, oldtype, lb, extent, newtype);
}
