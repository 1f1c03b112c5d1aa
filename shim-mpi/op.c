// SPDX-License-Identifier: BSD-3-Clause
// Reduction operators as objects, and MPI_Reduce_local.
#include "op.h"

#include "check.h"
#include "op_loops.h"

#include <limits.h>

#define OF(class) (1 << CLASS_##class)
enum {
    NUMBERS = OF(INTEGER) | OF(REAL),
    SUMS = NUMBERS | OF(COMPLEX),
    BITS = OF(INTEGER) | OF(BYTE),
    TRUTHS = OF(INTEGER) | OF(LOGICAL),
};

// The standard's table of what each operator takes (MPI 5.0, "Predefined Reduction Operations").
// X(handle, classes, what the runtime calls it, or SHOAL_OP_COUNT)
#define OPS(X)                          \
    X(SUM, SUMS, SHOAL_SUM)             \
    X(MIN, NUMBERS, SHOAL_MIN)          \
    X(MAX, NUMBERS, SHOAL_MAX)          \
    X(PROD, SUMS, SHOAL_PROD)           \
    X(BAND, BITS, SHOAL_AND)            \
    X(BOR, BITS, SHOAL_OR)              \
    X(BXOR, BITS, SHOAL_XOR)            \
    X(LAND, TRUTHS, SHOAL_OP_COUNT)     \
    X(LOR, TRUTHS, SHOAL_OP_COUNT)      \
    X(LXOR, TRUTHS, SHOAL_OP_COUNT)     \
    X(MINLOC, OF(PAIR), SHOAL_OP_COUNT) \
    X(MAXLOC, OF(PAIR), SHOAL_OP_COUNT)
#define X(name, takes, ...) \
    [OP_##name] = {.commutes = true, .kind = OP_COMPUTES, .which = OP_##name, .classes = takes},
static struct op ops[OPERATORS] = {OPS(X)};
#undef X
static struct op replace = {.kind = OP_REPLACES}, no_op = {.kind = OP_DOES_NOTHING};

void op_up(void)
{
    static _Atomic int state; // 1: somebody is at it, 2: done
    int none = 0;
    if (!atomic_compare_exchange_strong(&state, &none, 1)) {
        while (atomic_load(&state) != 2)
            ;
        return;
    }
#define X(name, ...) object_predefine(&ops[OP_##name], OBJECT_OP, MPI_##name);
    OPS(X)
#undef X
    object_predefine(&replace, OBJECT_OP, MPI_REPLACE);
    object_predefine(&no_op, OBJECT_OP, MPI_NO_OP);
    atomic_store(&state, 2);
}

void op_keep(struct op *op)
{
    object_keep(op);
}

void op_drop(struct op *op)
{
    if (object_drop(op))
        object_end(op);
}

bool op_takes(const struct op *op, const struct type *t)
{
    if (op->kind != OP_COMPUTES)
        return op->kind == OP_OF_USER;
    return t->what && t->size != MPI_UNDEFINED && (op->classes >> t->what->class & 1);
}

// Functions with an int count get more elements in pieces.
static void apply_user(const struct op *op, const void *in, void *inout, MPI_Count count,
                       const struct type *t)
{
    MPI_Datatype handle = object_handle(t);
    char *from = (char *)(uintptr_t)in, *to = inout;
    if (op->fn_c) {
        op->fn_c(from, to, &count, &handle);
        return;
    }
    while (count > 0) {
        int n = count < INT_MAX ? (int)count : INT_MAX;
        op->fn(from, to, &n, &handle);
        count -= n;
        from += n * t->extent;
        to += n * t->extent;
    }
}

void op_apply(const struct op *op, const void *in, void *inout, MPI_Count count,
              const struct type *t)
{
    if (count <= 0)
        return;
    if (op->kind == OP_COMPUTES)
        op_loops[op->which][t->what->element](in, inout, count);
    else if (op->kind == OP_OF_USER)
        apply_user(op, in, inout, count, t);
    else if (op->kind == OP_REPLACES)
        type_copy(t, inout, count, t, in, count);
}

// ---- As the runtime calls them
static bool type_in_runtime(const struct type *t, shoal_type_t *shoal_type)
{
    static const uint8_t names[ELEMENT_COUNT] = {
#define X(element, name) [ELEMENT_##element] = SHOAL_##name + 1
        X(INT8, INT8),
        X(INT16, INT16),
        X(INT32, INT32),
        X(INT64, INT64),
        X(UINT8, UINT8),
        X(UINT16, UINT16),
        X(UINT32, UINT32),
        X(UINT64, UINT64),
        X(FLOAT, FLOAT),
        X(DOUBLE, DOUBLE),
        X(LDOUBLE, LONG_DOUBLE),
        X(CFLOAT, COMPLEX_FLOAT),
        X(CDOUBLE, COMPLEX_DOUBLE),
#undef X
    };
    if (!t->what || t->size == MPI_UNDEFINED || names[t->what->element] == 0)
        return false;
    *shoal_type = (shoal_type_t)(names[t->what->element] - 1);
    return true;
}

bool op_in_runtime(const struct op *op, const struct type *t, shoal_op_t *shoal_op,
                   shoal_type_t *shoal_type)
{
    static const uint8_t names[OPERATORS] = {
#define X(name, takes, shoal) [OP_##name] = shoal,
        OPS(X)
#undef X
    };
    shoal_op_t found = op->kind == OP_REPLACES       ? SHOAL_SET
                       : op->kind == OP_DOES_NOTHING ? SHOAL_NOOP
                       : op->kind == OP_OF_USER      ? SHOAL_OP_COUNT
                                                     : (shoal_op_t)names[op->which];
    if (found == SHOAL_OP_COUNT || (op->kind == OP_COMPUTES && !op_takes(op, t)) ||
        !type_in_runtime(t, shoal_type))
        return false;
    *shoal_op = found;
    return true;
}

// ---- Calls
static int check_op(const char *call, MPI_Op handle, struct op **op)
{
    *op = op_of(handle);
    if (*op)
        return MPI_SUCCESS;
    return raise_on(NULL, MPI_ERR_OP, call, "op is no operator: %s",
                    handle == MPI_OP_NULL ? "MPI_OP_NULL" : "freed, or never made");
}

static int op_create(const char *call, MPI_User_function *fn, MPI_User_function_c *fn_c,
                     int commute, MPI_Op *op)
{
    if (!fn && !fn_c)
        return raise_null(call, "user_fn");
    if (!op)
        return raise_null(call, "op");
    struct op *o = object_new(sizeof *o, OBJECT_OP);
    if (!o)
        return raise_on(NULL, MPI_ERR_NO_MEM, call, "no memory for an operator");
    o->kind = OP_OF_USER;
    o->commutes = commute != 0;
    o->fn = fn;
    o->fn_c = fn_c;
    *op = object_handle(o);
    return MPI_SUCCESS;
}

MPI_DEFINE(int, Op_create, MPI_User_function *user_fn, int commute, MPI_Op *op)
{
    return op_create("MPI_Op_create", user_fn, NULL, commute, op);
}

MPI_DEFINE(int, Op_create_c, MPI_User_function_c *user_fn, int commute, MPI_Op *op)
{
    return op_create("MPI_Op_create_c", NULL, user_fn, commute, op);
}

MPI_DEFINE(int, Op_free, MPI_Op *op)
{
    static const char call[] = "MPI_Op_free";
    struct op *o;
    if (!op)
        return raise_null(call, "op");
    int rc = check_op(call, *op, &o);
    if (rc)
        return rc;
    if (o->kind != OP_OF_USER)
        return raise_on(NULL, MPI_ERR_OP, call, "op is predefined and is not freed");
    atomic_store_explicit(&o->is_freed, true, memory_order_relaxed);
    op_drop(o);
    *op = MPI_OP_NULL;
    return MPI_SUCCESS;
}

MPI_DEFINE(int, Op_commutative, MPI_Op op, int *commute)
{
    static const char call[] = "MPI_Op_commutative";
    struct op *o;
    int rc = check_op(call, op, &o);
    if (rc)
        return rc;
    if (!commute)
        return raise_null(call, "commute");
    *commute = o->commutes;
    return MPI_SUCCESS;
}

static int check_reduction(const char *call, MPI_Count count, MPI_Datatype datatype, MPI_Op op,
                           struct type **t, struct op **o)
{
    int rc = check_count(call, NULL, count);
    if (!rc)
        rc = check_type(call, NULL, datatype, t);
    if (!rc)
        rc = check_op(call, op, o);
    if (!rc && !op_takes(*o, *t))
        rc = raise_on(NULL, MPI_ERR_OP, call, "op is not defined for %s",
                      (*t)->what && (*t)->name[0] ? (*t)->name : "such a datatype");
    return rc;
}

static int reduce_local(const char *call, const void *in, void *inout, MPI_Count count,
                        MPI_Datatype datatype, MPI_Op op)
{
    struct type *t = NULL;
    struct op *o = NULL;
    int rc = check_reduction(call, count, datatype, op, &t, &o);
    if (rc)
        return rc;
    if (in == MPI_IN_PLACE || inout == MPI_IN_PLACE)
        return raise_on(NULL, MPI_ERR_BUFFER, call, "MPI_IN_PLACE is not for this call");
    if (count > 0 && t->what && (!in || !inout))
        return raise_on(NULL, MPI_ERR_BUFFER, call, "a buffer is NULL");
    if (count > 0 && in == inout && t->size > 0)
        return raise_on(NULL, MPI_ERR_BUFFER, call, "inbuf and inoutbuf are the same");
    op_apply(o, in, inout, count, t);
    return MPI_SUCCESS;
}

MPI_DEFINE(int, Reduce_local, const void *inbuf, void *inoutbuf, int count, MPI_Datatype datatype,
           MPI_Op op)
{
    return reduce_local("MPI_Reduce_local", inbuf, inoutbuf, count, datatype, op);
}

MPI_DEFINE(int, Reduce_local_c, const void *inbuf, void *inoutbuf, MPI_Count count,
           MPI_Datatype datatype, MPI_Op op)
{
    return reduce_local("MPI_Reduce_local_c", inbuf, inoutbuf, count, datatype, op);
}
