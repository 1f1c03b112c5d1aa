// SPDX-License-Identifier: BSD-3-Clause
// Recipes of datatypes, and MPI_Type_get_envelope and MPI_Type_get_contents, which tell them.
#include "type_recipe.h"

#include <stdlib.h>
#include <string.h>

struct type_recipe *recipe_new(int combiner, bool is_large, MPI_Count ints, MPI_Count numbers,
                               MPI_Count addresses, MPI_Count types)
{
    MPI_Count n_ints = ints + (is_large ? 0 : numbers);
    MPI_Count n_words = addresses + (is_large ? numbers : 0); // addresses, or all are counts
    struct type_recipe *r = malloc(sizeof *r + (size_t)n_words * sizeof(MPI_Count) +
                                   (size_t)types * sizeof *r->types + (size_t)n_ints * sizeof(int));
    if (!r)
        return NULL;
    *r = (struct type_recipe){.combiner = combiner, .is_large = is_large};
    MPI_Count *words = (MPI_Count *)(r + 1);
    r->counts = words;
    r->addresses = (MPI_Aint *)words;
    r->types = (struct type **)(words + n_words);
    r->ints = (int *)(r->types + types);
    return r;
}

void recipe_free(struct type_recipe *r)
{
    for (MPI_Count i = 0; r && i < r->n_types; i++)
        type_drop(r->types[i]);
    free(r);
}

void recipe_put_int(struct type_recipe *r, int value)
{
    r->ints[r->n_ints++] = value;
}

void recipe_put_number(struct type_recipe *r, MPI_Count value)
{
    if (r->is_large)
        r->counts[r->n_counts++] = value;
    else
        recipe_put_int(r, (int)value);
}

void recipe_put_numbers(struct type_recipe *r, struct numbers values, MPI_Count n)
{
    for (MPI_Count i = 0; i < n; i++)
        recipe_put_number(r, number_at(values, i));
}

void recipe_put_address(struct type_recipe *r, MPI_Count value)
{
    if (r->is_large)
        r->counts[r->n_counts++] = value;
    else
        r->addresses[r->n_addresses++] = value;
}

void recipe_put_type(struct type_recipe *r, struct type *t)
{
    type_keep(t);
    r->types[r->n_types++] = t;
}

// ---- MPI_Type_get_envelope
static int check_small(const char *call, const struct type *t)
{
    if (t->recipe && t->recipe->n_counts > 0)
        return raise_on(NULL, MPI_ERR_TYPE, call,
                        "the datatype was made with large counts: call %s_c", call);
    return MPI_SUCCESS;
}

MPI_DEFINE(int, Type_get_envelope, MPI_Datatype datatype, int *num_integers, int *num_addresses,
           int *num_datatypes, int *combiner)
{
    static const char call[] = "MPI_Type_get_envelope";
    struct type *t;
    int rc = type_check(call, datatype, &t);
    if (rc || (rc = check_small(call, t)))
        return rc;
    if (!num_integers || !num_addresses || !num_datatypes || !combiner)
        return raise_on(NULL, MPI_ERR_ARG, call, "an output argument is NULL");
    static const struct type_recipe named = {.combiner = MPI_COMBINER_NAMED};
    const struct type_recipe *r = t->recipe ? t->recipe : &named;
    *num_integers = (int)r->n_ints;
    *num_addresses = (int)r->n_addresses;
    *num_datatypes = (int)r->n_types;
    *combiner = r->combiner;
    return MPI_SUCCESS;
}

MPI_DEFINE(int, Type_get_envelope_c, MPI_Datatype datatype, MPI_Count *num_integers,
           MPI_Count *num_addresses, MPI_Count *num_large_counts, MPI_Count *num_datatypes,
           int *combiner)
{
    static const char call[] = "MPI_Type_get_envelope_c";
    struct type *t;
    int rc = type_check(call, datatype, &t);
    if (rc)
        return rc;
    if (!num_integers || !num_addresses || !num_large_counts || !num_datatypes || !combiner)
        return raise_on(NULL, MPI_ERR_ARG, call, "an output argument is NULL");
    static const struct type_recipe named = {.combiner = MPI_COMBINER_NAMED};
    const struct type_recipe *r = t->recipe ? t->recipe : &named;
    *num_integers = r->n_ints;
    *num_addresses = r->n_addresses;
    *num_large_counts = r->n_counts;
    *num_datatypes = r->n_types;
    *combiner = r->combiner;
    return MPI_SUCCESS;
}

// ---- MPI_Type_get_contents
static int check_room(const char *call, const char *what, MPI_Count needed, MPI_Count max,
                      const void *array)
{
    if (max < needed)
        return raise_on(NULL, MPI_ERR_ARG, call,
                        "max_%s is %lld, the datatype has %lld: ask MPI_Type_get_envelope", what,
                        (long long)max, (long long)needed);
    if (needed > 0 && !array)
        return raise_on(NULL, MPI_ERR_ARG, call, "array_of_%s is NULL", what);
    return MPI_SUCCESS;
}

struct contents {
    MPI_Count max_ints, max_addresses, max_counts, max_types;
    int *ints;
    MPI_Aint *addresses;
    MPI_Count *counts;
    MPI_Datatype *types;
};

static int contents(const char *call, const struct type *t, const struct contents *to)
{
    const struct type_recipe *r = t->recipe;
    if (!r)
        return raise_on(NULL, MPI_ERR_TYPE, call,
                        "%s is a named predefined datatype: it has no contents", t->name);
    int rc = check_room(call, "integers", r->n_ints, to->max_ints, to->ints);
    if (!rc)
        rc = check_room(call, "addresses", r->n_addresses, to->max_addresses, to->addresses);
    if (!rc)
        rc = check_room(call, "large_counts", r->n_counts, to->max_counts, to->counts);
    if (!rc)
        rc = check_room(call, "datatypes", r->n_types, to->max_types, to->types);
    if (rc)
        return rc;
    if (r->n_ints > 0)
        memcpy(to->ints, r->ints, (size_t)r->n_ints * sizeof *to->ints);
    if (r->n_addresses > 0)
        memcpy(to->addresses, r->addresses, (size_t)r->n_addresses * sizeof *to->addresses);
    if (r->n_counts > 0)
        memcpy(to->counts, r->counts, (size_t)r->n_counts * sizeof *to->counts);
    for (MPI_Count i = 0; i < r->n_types; i++) {
        struct type *old = r->types[i];
        if (!old->what) { // the user frees what is not predefined
            type_keep(old);
            atomic_fetch_add_explicit(&old->handles, 1, memory_order_relaxed);
        }
        to->types[i] = object_handle(old);
    }
    return MPI_SUCCESS;
}

MPI_DEFINE(int, Type_get_contents, MPI_Datatype datatype, int max_integers, int max_addresses,
           int max_datatypes, int array_of_integers[], MPI_Aint array_of_addresses[],
           MPI_Datatype array_of_datatypes[])
{
    static const char call[] = "MPI_Type_get_contents";
    struct type *t;
    int rc = type_check(call, datatype, &t);
    if (rc || (rc = check_small(call, t)))
        return rc;
    return contents(call, t,
                    &(struct contents){.max_ints = max_integers,
                                       .max_addresses = max_addresses,
                                       .max_types = max_datatypes,
                                       .ints = array_of_integers,
                                       .addresses = array_of_addresses,
                                       .types = array_of_datatypes});
}

MPI_DEFINE(int, Type_get_contents_c, MPI_Datatype datatype, MPI_Count max_integers,
           MPI_Count max_addresses, MPI_Count max_large_counts, MPI_Count max_datatypes,
           int array_of_integers[], MPI_Aint array_of_addresses[],
           MPI_Count array_of_large_counts[], MPI_Datatype array_of_datatypes[])
{
    static const char call[] = "MPI_Type_get_contents_c";
    struct type *t;
    int rc = type_check(call, datatype, &t);
    if (rc)
        return rc;
    return contents(call, t,
                    &(struct contents){max_integers, max_addresses, max_large_counts, max_datatypes,
                                       array_of_integers, array_of_addresses, array_of_large_counts,
                                       array_of_datatypes});
}
