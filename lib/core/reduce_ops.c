// SPDX-License-Identifier: BSD-3-Clause
// The loops behind every reduction and scan. See reduce_ops.h; for CLONES the Makefile.
#include "reduce_ops.h"

#define DEFINE(op, kind, type, expression)                              \
    CLONES static void op##_##kind(void *acc, const void *in, size_t n) \
    {                                                                   \
        type *x = acc;                                                  \
        const type *y = in;                                             \
        for (size_t i = 0; i < n; i++) {                                \
            type a = x[i], b = y[i];                                    \
            x[i] = (type)(expression);                                  \
        }                                                               \
    }                                                                   \
    const struct reduce_op reduce_##op##_##kind = {op##_##kind, sizeof(type)};

#define ARITH(kind, type) DEFINE(sum, kind, type, a + b) DEFINE(prod, kind, type, a * b)
REDUCE_INTS(ARITH) REDUCE_REALS(ARITH) REDUCE_COMPLEX(ARITH)

#define ORDER(kind, type) \
    DEFINE(max, kind, type, a < b ? b : a) DEFINE(min, kind, type, b < a ? b : a)
REDUCE_INTS(ORDER) REDUCE_REALS(ORDER)

#define BITWISE(kind, type)                                               \
    DEFINE(and, kind, type, a & b) DEFINE(or, kind, type, a | b)          \
    DEFINE(xor, kind, type, a ^ b)
REDUCE_INTS(BITWISE)
