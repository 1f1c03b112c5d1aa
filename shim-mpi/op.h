// SPDX-License-Identifier: BSD-3-Clause
// Reduction operators (MPI 5.0, "Global Reduction Operations").
#ifndef SHOAL_MPI_OP_H
#define SHOAL_MPI_OP_H

#include "shim.h"
#include "type.h"

#include <shoal.h>

struct op {
    struct object head;
    bool commutes;
    bool is_large;         // fn_c
    MPI_User_function *fn; // of the user, NULL: predefined
    MPI_User_function_c *fn_c;
};

static inline struct op *op_of(MPI_Op h)
{
    return object_at(h, OBJECT_OP);
}

void op_drop(struct op *op); // a reference
void op_up(void);            // predefined operators; any time, idempotent

// Is op defined for elements of t? Predefined operators want predefined types (of every basic type
// that the standard's table allows), those of users take any.
bool op_takes(const struct op *op, const struct type *t);

// inout[i] = in[i] op inout[i], count elements of t at in and inout (which are not the same).
void op_apply(const struct op *op, const void *in, void *inout, MPI_Count count,
              const struct type *t);

// What the runtime calls the operator and the type; false: it has no such pair.
bool op_in_runtime(const struct op *op, const struct type *t, shoal_op_t *shoal_op,
                   shoal_type_t *shoal_type);

#endif
