// SPDX-License-Identifier: BSD-3-Clause
// The loops of the predefined operators: inout[i] = in[i] op inout[i].
#ifndef SHOAL_MPI_OP_LOOPS_H
#define SHOAL_MPI_OP_LOOPS_H

#include "type_table.h"

enum operator {
    OP_SUM, OP_MIN, OP_MAX, OP_PROD, OP_BAND, OP_BOR, OP_BXOR, OP_LAND, OP_LOR, OP_LXOR, OP_MINLOC,
    OP_MAXLOC, OPERATORS
};

typedef void op_loop(const void *in, void *inout, MPI_Count n);

// NULL: the operator has no meaning for such elements, whatever the type's class.
extern op_loop *const op_loops[OPERATORS][ELEMENT_COUNT];

#endif
