// SPDX-License-Identifier: BSD-3-Clause
// Predefined datatypes (type_table.h), and the calls that find one by what it can hold.
#include "type_recipe.h"
#include "type_table.h"

#include <limits.h>
#include <stdio.h>
#include <stdlib.h>

#define X(name, type, coding, first, second, second_at) \
    {sizeof(type), _Alignof(type), coding, {first, second}, second_at},
const struct element_info elements[ELEMENT_COUNT] = {ELEMENTS(X)};
#undef X

#define X(name, element, class, first, second) \
    {"MPI_" #name,                             \
     (uint16_t)(uintptr_t)MPI_##name,          \
     ELEMENT_##element,                        \
     CLASS_##class,                            \
     {first, second}},
static const struct predefined table[] = {TYPE_TABLE(X)};
#undef X

enum { TYPES = ARRAY_LEN(table) };
static struct type types[TYPES];
static struct node nodes[TYPES];
static struct part gap_parts[2]; // of MPI_SHORT_INT, the only one with a gap inside
static struct type_body bodies[TYPES];

_Static_assert(sizeof(long) == 8 && sizeof(MPI_Aint) == 8, "the table is that of LP64");
_Static_assert(sizeof(wchar_t) == 4 && sizeof(long double) == 16, "the table says so");

static void node_fill(struct node *node, const struct element_info *e)
{
    MPI_Count size = e->number[0] + e->number[1];
    *node = (struct node){.kind = NODE_BLOCK, .pieces = 1, .bytes = size};
    if (e->number[1] == 0 || e->second_at == e->number[0])
        return;
    gap_parts[0] = (struct part){.bytes = e->number[0]};
    gap_parts[1] = (struct part){.disp = e->second_at, .pos = e->number[0], .bytes = e->number[1]};
    *node = (struct node){
        .kind = NODE_MIX, .pieces = 2, .bytes = size, .count = 2, .parts = gap_parts};
}

// A predefined type: named, or one that MPI_Type_create_f90_* returns.
static void type_fill(struct type *t, const struct predefined *what, struct type_body *body)
{
    t->what = what;
    t->basic = t;
    t->body = body;
    if (what->element == ELEMENT_ABSENT) {
        t->size = MPI_UNDEFINED;
        return;
    }
    const struct element_info *e = &elements[what->element];
    t->size = e->number[0] + e->number[1];
    t->extent = e->size;
    t->true_extent = e->number[1] ? e->second_at + e->number[1] : e->number[0];
    t->elements = what->class == CLASS_PAIR ? 2 : 1;
    t->align = e->align;
    t->is_dense = t->size == t->extent;
    t->is_committed = true;
}

void type_up(void)
{
    static _Atomic int state; // 1: somebody is at it, 2: done
    int none = 0;
    if (!atomic_compare_exchange_strong(&state, &none, 1)) {
        while (atomic_load(&state) != 2)
            ;
        return;
    }
    for (int i = 0; i < TYPES; i++) {
        if (table[i].element != ELEMENT_ABSENT) {
            node_fill(&nodes[i], &elements[table[i].element]);
            bodies[i].layout.node = &nodes[i];
        }
        type_fill(&types[i], &table[i], &bodies[i]);
        snprintf(types[i].name, sizeof types[i].name, "%s", table[i].name);
        object_predefine(&types[i], OBJECT_TYPE, (void *)(uintptr_t)table[i].code);
    }
    atomic_store(&state, 2);
}

// ---- MPI_Type_create_f90_*: unnamed predefined types, the same one for the same arguments
struct f90 {
    int combiner, p, r;
    struct type *type;
    struct f90 *next;
};
static struct f90 *f90_types;
static shim_lock f90_lock;

static struct type *f90_new(const struct f90 *key, MPI_Datatype like)
{
    struct type *base = type_of(like), *t = object_new(sizeof *t, OBJECT_TYPE);
    struct type_recipe *r = recipe_new(key->combiner, false, 2, 0, 0, 0);
    if (!t || !r) {
        recipe_free(r);
        if (t)
            object_end(t);
        return NULL;
    }
    if (key->combiner != MPI_COMBINER_F90_INTEGER)
        recipe_put_int(r, key->p);
    recipe_put_int(r, key->r);
    type_fill(t, base->what, base->body);
    t->basic = base;
    t->recipe = r;
    return t;
}

static struct type *f90_find(struct f90 key, MPI_Datatype like)
{
    shim_lock_take(&f90_lock);
    struct f90 *f = f90_types;
    while (f && (f->combiner != key.combiner || f->p != key.p || f->r != key.r))
        f = f->next;
    if (!f && (f = malloc(sizeof *f))) {
        *f = key;
        f->type = f90_new(f, like);
        f->next = f90_types;
        if (f->type) {
            f90_types = f;
        } else {
            free(f);
            f = NULL;
        }
    }
    shim_lock_give(&f90_lock);
    return f ? f->type : NULL;
}

static int f90_type(const char *call, struct f90 key, MPI_Datatype like, MPI_Datatype *newtype)
{
    if (!shim_is_up())
        return raise_not_up(call);
    if (!newtype)
        return raise_null(call, "newtype");
    if (key.p == MPI_UNDEFINED && key.r == MPI_UNDEFINED)
        return raise_on(NULL, MPI_ERR_ARG, call, "p and r are both MPI_UNDEFINED");
    if (like == MPI_DATATYPE_NULL)
        return raise_on(NULL, MPI_ERR_ARG, call,
                        "no type has so many digits or such a range: p %d, r %d", key.p, key.r);
    struct type *t = f90_find(key, like);
    if (!t)
        return raise_on(NULL, MPI_ERR_NO_MEM, call, "no memory for a datatype");
    *newtype = object_handle(t);
    return MPI_SUCCESS;
}

// Decimal digits and exponents of the kinds of gfortran: 4, 8, 10, 16.
struct real_kind {
    int p, r;
    MPI_Datatype real, complex;
};

static const struct real_kind *real_kind(int p, int r)
{
    static const struct real_kind kinds[] = {
        {6, 37, MPI_REAL4, MPI_COMPLEX8},
        {15, 307, MPI_REAL8, MPI_COMPLEX16},
        {18, 4931, MPI_LONG_DOUBLE, MPI_C_LONG_DOUBLE_COMPLEX},
        {33, 4931, MPI_REAL16, MPI_COMPLEX32},
        {INT_MAX, INT_MAX, MPI_DATATYPE_NULL, MPI_DATATYPE_NULL},
    };
    const struct real_kind *k = kinds;
    while (p > k->p || r > k->r)
        k++;
    return k;
}

MPI_DEFINE(int, Type_create_f90_real, int p, int r, MPI_Datatype *newtype)
{
    return f90_type("MPI_Type_create_f90_real", (struct f90){MPI_COMBINER_F90_REAL, p, r, 0, 0},
                    real_kind(p, r)->real, newtype);
}

MPI_DEFINE(int, Type_create_f90_complex, int p, int r, MPI_Datatype *newtype)
{
    return f90_type("MPI_Type_create_f90_complex",
                    (struct f90){MPI_COMBINER_F90_COMPLEX, p, r, 0, 0}, real_kind(p, r)->complex,
                    newtype);
}

MPI_DEFINE(int, Type_create_f90_integer, int r, MPI_Datatype *newtype)
{
    MPI_Datatype like = r <= 2    ? MPI_INTEGER1
                        : r <= 4  ? MPI_INTEGER2
                        : r <= 9  ? MPI_INTEGER4
                        : r <= 18 ? MPI_INTEGER8
                        : r <= 38 ? MPI_INTEGER16
                                  : MPI_DATATYPE_NULL;
    return f90_type("MPI_Type_create_f90_integer",
                    (struct f90){MPI_COMBINER_F90_INTEGER, MPI_UNDEFINED, r, 0, 0}, like, newtype);
}

// ---- By size, by parts
MPI_DEFINE(int, Type_match_size, int typeclass, int size, MPI_Datatype *datatype)
{
    static const char call[] = "MPI_Type_match_size";
    static const MPI_Datatype integers[] = {MPI_INTEGER1, MPI_INTEGER2, MPI_INTEGER4, MPI_INTEGER8,
                                            MPI_INTEGER16},
                              reals[] = {MPI_REAL4, MPI_REAL8, MPI_REAL16},
                              complexes[] = {MPI_COMPLEX8, MPI_COMPLEX16, MPI_COMPLEX32};
    if (!datatype)
        return raise_null(call, "datatype");
    const MPI_Datatype *from = NULL;
    size_t n = 3;
    switch (typeclass) {
    case MPI_TYPECLASS_INTEGER:
        from = integers;
        n = ARRAY_LEN(integers);
        break;
    case MPI_TYPECLASS_REAL: from = reals; break;
    case MPI_TYPECLASS_COMPLEX: from = complexes; break;
    default:
        return raise_on(NULL, MPI_ERR_ARG, call,
                        "typeclass %d is none of MPI_TYPECLASS_INTEGER, _REAL, _COMPLEX",
                        typeclass);
    }
    if (!shim_is_up())
        return raise_not_up(call);
    for (size_t i = 0; i < n; i++)
        if (type_of(from[i])->size == size) {
            *datatype = from[i];
            return MPI_SUCCESS;
        }
    return raise_on(NULL, MPI_ERR_ARG, call, "no type of class %d has %d bytes", typeclass, size);
}

MPI_DEFINE(int, Type_get_value_index, MPI_Datatype value_type, MPI_Datatype index_type,
           MPI_Datatype *pair_type)
{
    static const char call[] = "MPI_Type_get_value_index";
    static const struct {
        MPI_Datatype value, index, pair;
    } pairs[] = {
        {MPI_FLOAT, MPI_INT, MPI_FLOAT_INT},
        {MPI_DOUBLE, MPI_INT, MPI_DOUBLE_INT},
        {MPI_LONG, MPI_INT, MPI_LONG_INT},
        {MPI_INT, MPI_INT, MPI_2INT},
        {MPI_SHORT, MPI_INT, MPI_SHORT_INT},
        {MPI_LONG_DOUBLE, MPI_INT, MPI_LONG_DOUBLE_INT},
        {MPI_REAL, MPI_REAL, MPI_2REAL},
        {MPI_INTEGER, MPI_INTEGER, MPI_2INTEGER},
        {MPI_DOUBLE_PRECISION, MPI_DOUBLE_PRECISION, MPI_2DOUBLE_PRECISION},
    };
    if (!type_of(value_type))
        return raise_no_type(call, "value_type", value_type);
    if (!type_of(index_type))
        return raise_no_type(call, "index_type", index_type);
    if (!pair_type)
        return raise_null(call, "pair_type");
    MPI_Datatype found = MPI_DATATYPE_NULL;
    for (size_t i = 0; i < ARRAY_LEN(pairs); i++)
        if (pairs[i].value == value_type && pairs[i].index == index_type)
            found = pairs[i].pair;
    *pair_type = found;
    return MPI_SUCCESS;
}
