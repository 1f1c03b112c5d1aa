// SPDX-License-Identifier: BSD-3-Clause
// Element-wise operators on arrays, by operation and C type.
#ifndef SHOAL_CORE_REDUCE_OPS_H
#define SHOAL_CORE_REDUCE_OPS_H

#include <stddef.h>

// acc[i] = acc[i] op in[i] for n elements.
typedef void reduce_fn(void *acc, const void *in, size_t n);

struct reduce_op {
    reduce_fn *fn;
    size_t size; // of an element
};

// X(kind, C type): every type that some reduction takes, by its distinct C type. Names of fixed
// width (int32, size, ...) are one of these; REDUCE_OP finds which.
#define REDUCE_INTS(X)                                                                       \
    X(char, char) X(schar, signed char) X(short, short) X(int, int) X(long, long)           \
    X(longlong, long long) X(uchar, unsigned char) X(ushort, unsigned short)                \
    X(uint, unsigned) X(ulong, unsigned long) X(ulonglong, unsigned long long)
#define REDUCE_REALS(X) X(float, float) X(double, double) X(longdouble, long double)
#define REDUCE_COMPLEX(X) X(complexf, float _Complex) X(complexd, double _Complex)

#define DECLARE(kind, type) \
    extern const struct reduce_op reduce_sum_##kind, reduce_prod_##kind;
REDUCE_INTS(DECLARE) REDUCE_REALS(DECLARE) REDUCE_COMPLEX(DECLARE)
#undef DECLARE
#define DECLARE(kind, type) \
    extern const struct reduce_op reduce_max_##kind, reduce_min_##kind;
REDUCE_INTS(DECLARE) REDUCE_REALS(DECLARE)
#undef DECLARE
#define DECLARE(kind, type) \
    extern const struct reduce_op reduce_and_##kind, reduce_or_##kind, reduce_xor_##kind;
REDUCE_INTS(DECLARE)
#undef DECLARE

#define REDUCE_CASE(op, kind, type) , type: &reduce_##op##_##kind
#define CASE_sum(kind, type) REDUCE_CASE(sum, kind, type)
#define CASE_prod(kind, type) REDUCE_CASE(prod, kind, type)
#define CASE_max(kind, type) REDUCE_CASE(max, kind, type)
#define CASE_min(kind, type) REDUCE_CASE(min, kind, type)
#define CASE_and(kind, type) REDUCE_CASE(and, kind, type)
#define CASE_or(kind, type) REDUCE_CASE(or, kind, type)
#define CASE_xor(kind, type) REDUCE_CASE(xor, kind, type)
#define REDUCE_KINDS_sum REDUCE_INTS(CASE_sum) REDUCE_REALS(CASE_sum) REDUCE_COMPLEX(CASE_sum)
#define REDUCE_KINDS_prod REDUCE_INTS(CASE_prod) REDUCE_REALS(CASE_prod) REDUCE_COMPLEX(CASE_prod)
#define REDUCE_KINDS_max REDUCE_INTS(CASE_max) REDUCE_REALS(CASE_max)
#define REDUCE_KINDS_min REDUCE_INTS(CASE_min) REDUCE_REALS(CASE_min)
#define REDUCE_KINDS_and REDUCE_INTS(CASE_and)
#define REDUCE_KINDS_or REDUCE_INTS(CASE_or)
#define REDUCE_KINDS_xor REDUCE_INTS(CASE_xor)

// The operator for a C type: REDUCE_OP(sum, ptrdiff_t). A type it is not defined for does not
// compile.
struct reduce_none;
#define REDUCE_OP(op, TYPE) \
    _Generic(*(TYPE *)NULL, struct reduce_none *: NULL REDUCE_KINDS_##op)

#endif
