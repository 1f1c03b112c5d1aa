// SPDX-License-Identifier: BSD-3-Clause
// Subarrays and distributed arrays (MPI 5.0, "Subarray Datatype Constructor", "Distributed Array
// Datatype Constructor"): in each dimension a type has some of the indices of a global array, as
// blocks at a constant distance and a shorter last one (struct dimension).
#include "type_create.h"

static bool is_order(int order)
{
    return order == MPI_ORDER_C || order == MPI_ORDER_FORTRAN;
}

static int check_shape(const char *call, int ndims, int order, const MPI_Datatype *newtype)
{
    if (ndims < 1)
        return raise_on(NULL, MPI_ERR_ARG, call, "ndims is %d, less than 1", ndims);
    if (!is_order(order))
        return raise_on(NULL, MPI_ERR_ARG, call,
                        "order is %d, neither MPI_ORDER_C nor MPI_ORDER_FORTRAN", order);
    if (!newtype)
        return raise_null(call, "newtype");
    return MPI_SUCCESS;
}

// ---- Subarray
static int check_part(const char *call, int i, MPI_Count size, MPI_Count part, MPI_Count start)
{
    if (size < 1)
        return raise_on(NULL, MPI_ERR_ARG, call, "array_of_sizes[%d] is %lld, less than 1", i,
                        (long long)size);
    if (part < 1 || part > size)
        return raise_on(NULL, MPI_ERR_ARG, call, "array_of_subsizes[%d] is %lld, not in 1 to %lld",
                        i, (long long)part, (long long)size);
    if (start < 0 || start > size - part)
        return raise_on(NULL, MPI_ERR_ARG, call, "array_of_starts[%d] is %lld, not in 0 to %lld", i,
                        (long long)start, (long long)(size - part));
    return MPI_SUCCESS;
}

static int subarray(const char *call, int ndims, struct numbers sizes, struct numbers subsizes,
                    struct numbers starts, int order, MPI_Datatype oldtype, MPI_Datatype *newtype)
{
    struct type *old;
    int rc = check_shape(call, ndims, order, newtype);
    if (!rc && (!sizes.at || !subsizes.at || !starts.at))
        rc = raise_on(NULL, MPI_ERR_ARG, call, "an array is NULL");
    for (int i = 0; !rc && i < ndims; i++)
        rc = check_part(call, i, number_at(sizes, i), number_at(subsizes, i), number_at(starts, i));
    if (rc || (rc = type_argument(call, oldtype, &old)))
        return rc;
    struct type_recipe *r = recipe_new(MPI_COMBINER_SUBARRAY, sizes.is_large, 2,
                                       3 * (MPI_Count)ndims, 0, 1);
    if (!r)
        return type_no_memory(call);
    recipe_put_int(r, ndims);
    recipe_put_numbers(r, sizes, ndims);
    recipe_put_numbers(r, subsizes, ndims);
    recipe_put_numbers(r, starts, ndims);
    recipe_put_int(r, order);
    recipe_put_type(r, old);
    return type_finish(call, r, newtype);
}

MPI_DEFINE(int, Type_create_subarray, int ndims, const int array_of_sizes[],
           const int array_of_subsizes[], const int array_of_starts[], int order,
           MPI_Datatype oldtype, MPI_Datatype *newtype)
{
    return subarray("MPI_Type_create_subarray", ndims, ints_of(array_of_sizes),
                    ints_of(array_of_subsizes), ints_of(array_of_starts), order, oldtype, newtype);
}

MPI_DEFINE(int, Type_create_subarray_c, int ndims, const MPI_Count array_of_sizes[],
           const MPI_Count array_of_subsizes[], const MPI_Count array_of_starts[], int order,
           MPI_Datatype oldtype, MPI_Datatype *newtype)
{
    return subarray("MPI_Type_create_subarray_c", ndims, counts_of(array_of_sizes),
                    counts_of(array_of_subsizes), counts_of(array_of_starts), order, oldtype,
                    newtype);
}

// ---- Darray
struct darray {
    int size, rank, ndims, order;
    struct numbers gsizes;
    const int *distribs, *dargs, *psizes;
};

static int check_distribution(const char *call, const struct darray *a, int i)
{
    MPI_Count gsize = number_at(a->gsizes, i);
    int distrib = a->distribs[i], darg = a->dargs[i], psize = a->psizes[i];
    if (gsize < 1)
        return raise_on(NULL, MPI_ERR_ARG, call, "array_of_gsizes[%d] is %lld, less than 1", i,
                        (long long)gsize);
    if (psize < 1)
        return raise_on(NULL, MPI_ERR_ARG, call, "array_of_psizes[%d] is %d, less than 1", i,
                        psize);
    if (distrib != MPI_DISTRIBUTE_NONE && distrib != MPI_DISTRIBUTE_BLOCK &&
        distrib != MPI_DISTRIBUTE_CYCLIC)
        return raise_on(NULL, MPI_ERR_ARG, call,
                        "array_of_distribs[%d] is %d, none of MPI_DISTRIBUTE_*", i, distrib);
    if (distrib == MPI_DISTRIBUTE_NONE)
        return psize == 1 ? MPI_SUCCESS
                          : raise_on(NULL, MPI_ERR_ARG, call,
                                     "array_of_psizes[%d] is %d, but a dimension that is not "
                                     "distributed has 1 process",
                                     i, psize);
    if (darg != MPI_DISTRIBUTE_DFLT_DARG && darg < 1)
        return raise_on(NULL, MPI_ERR_ARG, call, "array_of_dargs[%d] is %d, less than 1", i, darg);
    if (distrib == MPI_DISTRIBUTE_BLOCK && darg != MPI_DISTRIBUTE_DFLT_DARG &&
        (MPI_Count)darg * psize < gsize)
        return raise_on(NULL, MPI_ERR_ARG, call,
                        "dimension %d: %d processes with blocks of %d do not cover %lld", i, psize,
                        darg, (long long)gsize);
    return MPI_SUCCESS;
}

static int check_darray(const char *call, const struct darray *a)
{
    if (!a->gsizes.at || !a->distribs || !a->dargs || !a->psizes)
        return raise_on(NULL, MPI_ERR_ARG, call, "an array is NULL");
    if (a->size < 1)
        return raise_on(NULL, MPI_ERR_ARG, call, "size is %d, less than 1", a->size);
    if (a->rank < 0 || a->rank >= a->size)
        return raise_on(NULL, MPI_ERR_RANK, call, "rank is %d, not in 0 to %d", a->rank,
                        a->size - 1);
    int64_t processes = 1;
    for (int i = 0; i < a->ndims; i++) {
        int rc = check_distribution(call, a, i);
        if (rc)
            return rc;
        if (processes <= a->size)
            processes *= a->psizes[i];
    }
    if (processes != a->size)
        return raise_on(NULL, MPI_ERR_ARG, call, "the product of array_of_psizes is not size, %d",
                        a->size);
    return MPI_SUCCESS;
}

static int darray(const char *call, const struct darray *a, MPI_Datatype oldtype,
                  MPI_Datatype *newtype)
{
    struct type *old;
    int rc = check_shape(call, a->ndims, a->order, newtype);
    if (rc || (rc = check_darray(call, a)) || (rc = type_argument(call, oldtype, &old)))
        return rc;
    struct type_recipe *r = recipe_new(MPI_COMBINER_DARRAY, a->gsizes.is_large,
                                       4 + 3 * (MPI_Count)a->ndims, a->ndims, 0, 1);
    if (!r)
        return type_no_memory(call);
    recipe_put_int(r, a->size);
    recipe_put_int(r, a->rank);
    recipe_put_int(r, a->ndims);
    recipe_put_numbers(r, a->gsizes, a->ndims);
    for (int k = 0; k < 3; k++)
        for (int i = 0; i < a->ndims; i++)
            recipe_put_int(r, (k == 0 ? a->distribs : k == 1 ? a->dargs : a->psizes)[i]);
    recipe_put_int(r, a->order);
    recipe_put_type(r, old);
    return type_finish(call, r, newtype);
}

MPI_DEFINE(int, Type_create_darray, int size, int rank, int ndims, const int array_of_gsizes[],
           const int array_of_distribs[], const int array_of_dargs[], const int array_of_psizes[],
           int order, MPI_Datatype oldtype, MPI_Datatype *newtype)
{
    struct darray a = {
        size,           rank,           ndims, order, ints_of(array_of_gsizes), array_of_distribs,
        array_of_dargs, array_of_psizes};
    return darray("MPI_Type_create_darray", &a, oldtype, newtype);
}

MPI_DEFINE(int, Type_create_darray_c, int size, int rank, int ndims,
           const MPI_Count array_of_gsizes[], const int array_of_distribs[],
           const int array_of_dargs[], const int array_of_psizes[], int order, MPI_Datatype oldtype,
           MPI_Datatype *newtype)
{
    struct darray a = {
        size,           rank,           ndims, order, counts_of(array_of_gsizes), array_of_distribs,
        array_of_dargs, array_of_psizes};
    return darray("MPI_Type_create_darray_c", &a, oldtype, newtype);
}

// ---- What a recipe says of a dimension
int recipe_dimensions(const struct type_recipe *r)
{
    return r->combiner == MPI_COMBINER_SUBARRAY ? r->ints[0]
           : r->combiner == MPI_COMBINER_DARRAY ? r->ints[2]
                                                : 0;
}

bool recipe_is_fortran(const struct type_recipe *r)
{
    return r->ints[r->n_ints - 1] == MPI_ORDER_FORTRAN;
}

static struct dimension subarray_dimension(const struct type_recipe *r, int i)
{
    int n = r->ints[0], skip = r->is_large ? 0 : 1;
    MPI_Count part = recipe_number(r, skip + n + i);
    return (struct dimension){.size = recipe_number(r, skip + i),
                              .start = recipe_number(r, skip + 2 * n + i),
                              .block = part,
                              .blocks = 1,
                              .step = part};
}

// The processes form a grid in the order of C, whatever the order of the array.
static int grid_coordinate(int rank, const int *psizes, int n, int i)
{
    for (int k = n - 1; k > i; k--)
        rank /= psizes[k];
    return rank % psizes[i];
}

static struct dimension darray_dimension(const struct type_recipe *r, int i)
{
    int n = r->ints[2];
    const int *distribs = r->ints + 3 + (r->is_large ? 0 : n), *dargs = distribs + n,
              *psizes = dargs + n;
    MPI_Count size = r->is_large ? r->counts[i] : r->ints[3 + i], block = dargs[i];
    MPI_Count processes = psizes[i], mine = grid_coordinate(r->ints[1], psizes, n, i);
    if (distribs[i] == MPI_DISTRIBUTE_NONE)
        block = size;
    else if (dargs[i] == MPI_DISTRIBUTE_DFLT_DARG)
        block = distribs[i] == MPI_DISTRIBUTE_CYCLIC ? 1
                                                     : size / processes + (size % processes != 0);
    struct dimension d = {.size = size, .block = block, .step = block * processes};
    MPI_Count left = size - mine * block; // from the first of mine on
    if (left <= 0)
        return d;
    d.start = mine * block;
    d.blocks = left / d.step;
    d.rest = left % d.step;
    if (d.rest >= block) {
        d.blocks++;
        d.rest = 0;
    }
    if (d.step > size) // then there is one block, and the product with an extent must not overflow
        d.step = size;
    return d;
}

struct dimension recipe_dimension(const struct type_recipe *r, int i)
{
    return r->combiner == MPI_COMBINER_SUBARRAY ? subarray_dimension(r, i) : darray_dimension(r, i);
}
