// SPDX-License-Identifier: BSD-3-Clause
// Counting what was received: elements of a type, and basic elements, in a number of bytes of the
// stream (MPI 5.0, "Use of General Datatypes in Communication").
#include "check.h"
#include "type_recipe.h"
#include "type_table.h"

#include <limits.h>

// Children of a type in the order of the stream: which and how many of them is part i.
static MPI_Count parts_of(const struct type *t)
{
    return t->recipe->combiner == MPI_COMBINER_STRUCT ? t->recipe->n_types : 1;
}

static const struct type *part_of(const struct type *t, MPI_Count i, MPI_Count *count)
{
    const struct type_recipe *r = t->recipe;
    const struct type *child = r->types[i];
    *count = r->combiner == MPI_COMBINER_STRUCT ? recipe_number(r, 1 + i)
             : child->size > 0                  ? t->size / child->size
                                                : 0;
    return child;
}

// Elements in the first bytes of one predefined element.
static MPI_Count elements_of_basic(const struct predefined *what, MPI_Count bytes)
{
    const struct element_info *e = &elements[what->element];
    if (bytes == 0)
        return 0;
    return what->class == CLASS_PAIR && bytes == e->number[0] ? 1 : MPI_UNDEFINED;
}

// Whole basic elements in `bytes` of the stream of any number of elements of t, for
// MPI_Get_elements (both parts of a pair count); MPI_UNDEFINED when the last one is not whole.
static MPI_Count type_elements(const struct type *t, MPI_Count bytes)
{
    MPI_Count found = 0;
    while (t->size > 0) {
        found += bytes / t->size * t->elements;
        bytes %= t->size;
        if (bytes == 0)
            return found;
        if (t->what) {
            MPI_Count part = elements_of_basic(t->what, bytes);
            return part == MPI_UNDEFINED ? part : found + part;
        }
        const struct type *child = NULL; // the one that is not whole
        for (MPI_Count i = 0; i < parts_of(t); i++) {
            MPI_Count n;
            child = part_of(t, i, &n);
            if (bytes < n * child->size)
                break;
            bytes -= n * child->size;
            found += n * child->elements;
        }
        t = child;
    }
    return bytes == 0 ? 0 : MPI_UNDEFINED;
}

MPI_Count type_elements_bytes(const struct type *t, MPI_Count count)
{
    MPI_Count bytes = 0;
    while (count > 0) {
        if (t->elements == 0)
            return -1;
        MPI_Count more;
        if (__builtin_mul_overflow(count / t->elements, t->size, &more) ||
            __builtin_add_overflow(bytes, more, &bytes))
            return -1;
        count %= t->elements;
        if (count == 0)
            break;
        if (t->what) // one of a pair
            return bytes + elements[t->what->element].number[0];
        const struct type *child = NULL;
        for (MPI_Count i = 0; i < parts_of(t); i++) {
            MPI_Count n;
            child = part_of(t, i, &n);
            if (count < n * child->elements)
                break;
            bytes += n * child->size;
            count -= n * child->elements;
        }
        t = child;
    }
    return bytes;
}

static int check_counting(const char *call, const MPI_Status *status, MPI_Datatype datatype,
                          const void *count, struct type **type)
{
    if (!status)
        return raise_on(NULL, MPI_ERR_ARG, call, "status is MPI_STATUS_IGNORE: nothing is known");
    int rc = type_asked(call, NULL, datatype, type);
    return rc ? rc : check_pointer(call, NULL, "count", count);
}

static MPI_Count whole_elements(const struct type *t, MPI_Count bytes)
{
    if (t->size == 0)
        return bytes == 0 ? 0 : MPI_UNDEFINED;
    return bytes % t->size == 0 ? bytes / t->size : MPI_UNDEFINED;
}

typedef MPI_Count count_fn(const struct type *t, MPI_Count bytes);

static int count_large(const char *call, count_fn *fn, const MPI_Status *status,
                       MPI_Datatype datatype, MPI_Count *count)
{
    struct type *t = NULL;
    int rc = check_counting(call, status, datatype, count, &t);
    if (!rc)
        *count = fn(t, status_bytes(status));
    return rc;
}

static int count_int(const char *call, count_fn *fn, const MPI_Status *status,
                     MPI_Datatype datatype, int *count)
{
    struct type *t = NULL;
    int rc = check_counting(call, status, datatype, count, &t);
    if (rc)
        return rc;
    MPI_Count n = fn(t, status_bytes(status));
    *count = n > INT_MAX ? MPI_UNDEFINED : (int)n;
    return MPI_SUCCESS;
}

#define X(name, number, how, fn)                                                          \
    MPI_DEFINE(int, name, const MPI_Status *status, MPI_Datatype datatype, number *count) \
    {                                                                                     \
        return how("MPI_" #name, fn, status, datatype, count);                            \
    }
X(Get_count, int, count_int, whole_elements)
X(Get_count_c, MPI_Count, count_large, whole_elements)
X(Get_elements, int, count_int, type_elements)
X(Get_elements_c, MPI_Count, count_large, type_elements)
X(Get_elements_x, MPI_Count, count_large, type_elements)
#undef X
