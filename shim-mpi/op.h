// SPDX-License-Identifier: BSD-3-Clause
// Reduction operators (MPI 5.0, "Global Reduction Operations").
#ifndef SHOAL_MPI_OP_H
#define SHOAL_MPI_OP_H

#include "shim.h"
#include "type.h"

#include <shoal.h>

enum op_kind { OP_COMPUTES, OP_REPLACES, OP_DOES_NOTHING, OP_OF_USER };

struct op {
    struct object head;
    bool commutes;
    _Atomic bool is_freed; // by the program; lives as long as what uses it
    uint8_t kind;          // enum op_kind
    uint8_t which;         // of OP_COMPUTES: enum operator (op_loops.h)
    uint8_t classes;       // of OP_COMPUTES: bits of enum op_class that it takes
    MPI_User_function *fn; // of OP_OF_USER: this one,
    MPI_User_function_c *fn_c; // or else this one
};

static inline struct op *op_of(MPI_Op h)
{
    struct op *op = object_at(h, OBJECT_OP);
    return op && !atomic_load_explicit(&op->is_freed, memory_order_relaxed) ? op : NULL;
}

void op_up(void); // predefined operators; any time, idempotent

// Is op a reduction that is defined for elements of t? Predefined operators want predefined types
// (of every basic type that the standard's table allows), those of users take any. MPI_REPLACE and
// MPI_NO_OP are none: they are for windows alone (op_is_for_windows), and there for every type.
bool op_takes(const struct op *op, const struct type *t);

static inline bool op_is_for_windows(const struct op *op)
{
    return op->kind == OP_REPLACES || op->kind == OP_DOES_NOTHING;
}

void op_keep(struct op *op);
void op_drop(struct op *op); // a reference

// inout[i] = in[i] op inout[i], count elements of t at in and inout (which are not the same).
// Predefined operators take elements as they are in an array of their predefined type.
void op_apply(const struct op *op, const void *in, void *inout, MPI_Count count,
              const struct type *t);

// What the runtime calls the operator and the type; false: it has no such pair.
bool op_in_runtime(const struct op *op, const struct type *t, shoal_op_t *shoal_op,
                   shoal_type_t *shoal_type);

#endif
