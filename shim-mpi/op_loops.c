// SPDX-License-Identifier: BSD-3-Clause
// Every operator for every element that it makes sense for (op_loops.h), one loop each that the
// compiler can vectorise, several times each (CLONES, see the Makefile). Compiled with integers that wrap,
// as those of the machine do.
#include "op_loops.h"

#define LOOP(op, name, type, expression)                                                       \
    CLONES static void op##_##name(const void *restrict in, void *restrict inout, MPI_Count n) \
    {                                                                                          \
        const type *x = in;                                                                    \
        type *y = inout;                                                                       \
        for (MPI_Count i = 0; i < n; i++) {                                                    \
            type a = x[i], b = y[i];                                                           \
            y[i] = (type)(expression);                                                         \
        }                                                                                      \
    }

#define INTEGERS(X)       \
    X(INT8, int8_t)       \
    X(INT16, int16_t)     \
    X(INT32, int32_t)     \
    X(INT64, int64_t)     \
    X(INT128, mpi_int128) \
    X(UINT8, uint8_t)     \
    X(UINT16, uint16_t)   \
    X(UINT32, uint32_t)   \
    X(UINT64, uint64_t)
#define REALS(X)            \
    X(FLOAT, float)         \
    X(DOUBLE, double)       \
    X(LDOUBLE, long double) \
    X(FLOAT128, mpi_float128)
#define COMPLEXES(X)                       \
    X(CFLOAT, mpi_cfloat, float)           \
    X(CDOUBLE, mpi_cdouble, double)        \
    X(CLDOUBLE, mpi_cldouble, long double) \
    X(CFLOAT128, mpi_cfloat128, mpi_float128)
#define PAIRS(X)                    \
    X(FLOAT_INT, mpi_float_int)     \
    X(DOUBLE_INT, mpi_double_int)   \
    X(LONG_INT, mpi_long_int)       \
    X(2INT, mpi_2int)               \
    X(SHORT_INT, mpi_short_int)     \
    X(LDOUBLE_INT, mpi_ldouble_int) \
    X(2FLOAT, mpi_2float)           \
    X(2DOUBLE, mpi_2double)

#define ORDERED(name, type)              \
    LOOP(SUM, name, type, a + b)         \
    LOOP(PROD, name, type, a *b)         \
    LOOP(MIN, name, type, b < a ? b : a) \
    LOOP(MAX, name, type, a < b ? b : a)
INTEGERS(ORDERED)
REALS(ORDERED)

#define BITS(name, type)                        \
    LOOP(BAND, name, type, a &b)                \
    LOOP(BOR, name, type, a | b)                \
    LOOP(BXOR, name, type, a ^ b)               \
    LOOP(LAND, name, type, (a != 0) & (b != 0)) \
    LOOP(LOR, name, type, (a != 0) | (b != 0))  \
    LOOP(LXOR, name, type, (a != 0) ^ (b != 0))
INTEGERS(BITS)

// A complex sum is two sums. A product is by the textbook, without the care for infinities of C's
// annex G, which would be a call for each.
#define COMPLEX(name, type, part)                                                              \
    CLONES static void SUM_##name(const void *restrict in, void *restrict inout, MPI_Count n)  \
    {                                                                                          \
        const part *x = in;                                                                    \
        part *y = inout;                                                                       \
        for (MPI_Count i = 0; i < 2 * n; i++)                                                  \
            y[i] = x[i] + y[i];                                                                \
    }                                                                                          \
    CLONES static void PROD_##name(const void *restrict in, void *restrict inout, MPI_Count n) \
    {                                                                                          \
        const type *x = in;                                                                    \
        type *y = inout;                                                                       \
        for (MPI_Count i = 0; i < n; i++) {                                                    \
            type a = x[i], b = y[i];                                                           \
            y[i].re = a.re * b.re - a.im * b.im;                                               \
            y[i].im = a.re * b.im + a.im * b.re;                                               \
        }                                                                                      \
    }
COMPLEXES(COMPLEX)

// Of equal values the smaller index. Gaps between the numbers of a pair are not written.
#define PLACE(op, name, type, is_better)                                                       \
    CLONES static void op##_##name(const void *restrict in, void *restrict inout, MPI_Count n) \
    {                                                                                          \
        const type *x = in;                                                                    \
        type *y = inout;                                                                       \
        for (MPI_Count i = 0; i < n; i++) {                                                    \
            bool take = x[i].value is_better y[i].value ||                                     \
                        (x[i].value == y[i].value && x[i].index < y[i].index);                 \
            y[i].value = take ? x[i].value : y[i].value;                                       \
            y[i].index = take ? x[i].index : y[i].index;                                       \
        }                                                                                      \
    }
#define PLACES(name, type)       \
    PLACE(MINLOC, name, type, <) \
    PLACE(MAXLOC, name, type, >)
PAIRS(PLACES)

// clang-format off
#define ENTRY(op, name) [OP_##op][ELEMENT_##name] = op##_##name,
#define ORDERED_ENTRIES(name, type) \
    ENTRY(SUM, name) ENTRY(PROD, name) ENTRY(MIN, name) ENTRY(MAX, name)
#define BITS_ENTRIES(name, type)                         \
    ENTRY(BAND, name) ENTRY(BOR, name) ENTRY(BXOR, name) \
    ENTRY(LAND, name) ENTRY(LOR, name) ENTRY(LXOR, name)
#define COMPLEX_ENTRIES(name, type, part) ENTRY(SUM, name) ENTRY(PROD, name)
#define PLACE_ENTRIES(name, type) ENTRY(MINLOC, name) ENTRY(MAXLOC, name)
op_loop *const op_loops[OPERATORS][ELEMENT_COUNT] = {
    INTEGERS(ORDERED_ENTRIES)
    REALS(ORDERED_ENTRIES)
    INTEGERS(BITS_ENTRIES)
    COMPLEXES(COMPLEX_ENTRIES)
    PAIRS(PLACE_ENTRIES)
};
// clang-format on
