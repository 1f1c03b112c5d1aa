// SPDX-License-Identifier: BSD-3-Clause
// The predefined datatypes, once.
#ifndef SHOAL_MPI_TYPE_TABLE_H
#define SHOAL_MPI_TYPE_TABLE_H

#include "type.h"

typedef __int128 mpi_int128;
typedef float mpi_float128 __attribute__((mode(TF))); // IEEE binary128, by whatever name
typedef struct { float re, im; } mpi_cfloat;
typedef struct { double re, im; } mpi_cdouble;
typedef struct { long double re, im; } mpi_cldouble;
typedef struct { mpi_float128 re, im; } mpi_cfloat128;
#define PAIR_TYPE(name, value_type, index_type) \
    typedef struct { value_type value; index_type index; } name;
PAIR_TYPE(mpi_float_int, float, int)
PAIR_TYPE(mpi_double_int, double, int)
PAIR_TYPE(mpi_long_int, long, int)
PAIR_TYPE(mpi_2int, int, int)
PAIR_TYPE(mpi_short_int, short, int)
PAIR_TYPE(mpi_ldouble_int, long double, int)
PAIR_TYPE(mpi_2float, float, float)
PAIR_TYPE(mpi_2double, double, double)

// What an element is to the machine.
//   X(name, C type, coding, bytes of the first number, of the second, the second's place)
// coding: 'i' and 'u' integers, 'f' IEEE numbers, 'x' the machine's long double. Complex numbers and
// pairs have a second number.
#define ELEMENTS(X)                                                                             \
    X(INT8, int8_t, 'i', 1, 0, 0) X(INT16, int16_t, 'i', 2, 0, 0)                               \
    X(INT32, int32_t, 'i', 4, 0, 0) X(INT64, int64_t, 'i', 8, 0, 0)                             \
    X(INT128, mpi_int128, 'i', 16, 0, 0)                                                        \
    X(UINT8, uint8_t, 'u', 1, 0, 0) X(UINT16, uint16_t, 'u', 2, 0, 0)                           \
    X(UINT32, uint32_t, 'u', 4, 0, 0) X(UINT64, uint64_t, 'u', 8, 0, 0)                         \
    X(FLOAT, float, 'f', 4, 0, 0) X(DOUBLE, double, 'f', 8, 0, 0)                               \
    X(LDOUBLE, long double, 'x', 16, 0, 0) X(FLOAT128, mpi_float128, 'f', 16, 0, 0)                \
    X(CFLOAT, mpi_cfloat, 'f', 4, 4, 4) X(CDOUBLE, mpi_cdouble, 'f', 8, 8, 8)                   \
    X(CLDOUBLE, mpi_cldouble, 'x', 16, 16, 16) X(CFLOAT128, mpi_cfloat128, 'f', 16, 16, 16)     \
    X(FLOAT_INT, mpi_float_int, 'f', 4, 4, 4) X(DOUBLE_INT, mpi_double_int, 'f', 8, 4, 8)       \
    X(LONG_INT, mpi_long_int, 'i', 8, 4, 8) X(2INT, mpi_2int, 'i', 4, 4, 4)                     \
    X(SHORT_INT, mpi_short_int, 'i', 2, 4, 4)                                                   \
    X(LDOUBLE_INT, mpi_ldouble_int, 'x', 16, 4, 16)                                             \
    X(2FLOAT, mpi_2float, 'f', 4, 4, 4) X(2DOUBLE, mpi_2double, 'f', 8, 8, 8)
#define X(name, type, ...) ELEMENT_##name,
enum element { ELEMENTS(X) ELEMENT_COUNT, ELEMENT_ABSENT = ELEMENT_COUNT };
#undef X

// What the operators make of a type (MPI 5.0, "Predefined Reduction Operations"). MPI_CHAR and the
// integers of Fortran and of all languages together take what those of C take: the standard leaves
// MPI_CHAR out, but other MPIs and programs do not.
enum op_class { CLASS_NONE, CLASS_INTEGER, CLASS_REAL, CLASS_LOGICAL, CLASS_COMPLEX, CLASS_BYTE,
                CLASS_PAIR };

// X(name, element, class, bytes in external32 of the first number, of the second). Fortran's default
// types are those of gfortran. ELEMENT_ABSENT: an optional type that no compiler here has.
#define TYPE_TABLE(X)                                                                           \
    X(AINT, INT64, INTEGER, 8, 0) X(COUNT, INT64, INTEGER, 8, 0)                                \
    X(OFFSET, INT64, INTEGER, 8, 0) X(PACKED, UINT8, NONE, 1, 0)                                \
    X(SHORT, INT16, INTEGER, 2, 0) X(INT, INT32, INTEGER, 4, 0)                                 \
    X(LONG, INT64, INTEGER, 4, 0) X(LONG_LONG_INT, INT64, INTEGER, 8, 0)                        \
    X(UNSIGNED_SHORT, UINT16, INTEGER, 2, 0) X(UNSIGNED, UINT32, INTEGER, 4, 0)                 \
    X(UNSIGNED_LONG, UINT64, INTEGER, 4, 0) X(UNSIGNED_LONG_LONG, UINT64, INTEGER, 8, 0)        \
    X(FLOAT, FLOAT, REAL, 4, 0) X(DOUBLE, DOUBLE, REAL, 8, 0)                                   \
    X(LONG_DOUBLE, LDOUBLE, REAL, 16, 0)                                                        \
    X(C_COMPLEX, CFLOAT, COMPLEX, 4, 4) X(C_DOUBLE_COMPLEX, CDOUBLE, COMPLEX, 8, 8)             \
    X(C_LONG_DOUBLE_COMPLEX, CLDOUBLE, COMPLEX, 16, 16)                                         \
    X(CXX_FLOAT_COMPLEX, CFLOAT, COMPLEX, 4, 4)                                                 \
    X(CXX_DOUBLE_COMPLEX, CDOUBLE, COMPLEX, 8, 8)                                               \
    X(CXX_LONG_DOUBLE_COMPLEX, CLDOUBLE, COMPLEX, 16, 16)                                       \
    X(LOGICAL, INT32, LOGICAL, 4, 0) X(INTEGER, INT32, INTEGER, 4, 0)                           \
    X(REAL, FLOAT, REAL, 4, 0) X(COMPLEX, CFLOAT, COMPLEX, 4, 4)                                \
    X(DOUBLE_PRECISION, DOUBLE, REAL, 8, 0) X(DOUBLE_COMPLEX, CDOUBLE, COMPLEX, 8, 8)           \
    X(CHARACTER, UINT8, NONE, 1, 0)                                                             \
    X(FLOAT_INT, FLOAT_INT, PAIR, 4, 4) X(DOUBLE_INT, DOUBLE_INT, PAIR, 8, 4)                   \
    X(LONG_INT, LONG_INT, PAIR, 4, 4) X(2INT, 2INT, PAIR, 4, 4)                                 \
    X(SHORT_INT, SHORT_INT, PAIR, 2, 4) X(LONG_DOUBLE_INT, LDOUBLE_INT, PAIR, 16, 4)            \
    X(2REAL, 2FLOAT, PAIR, 4, 4) X(2DOUBLE_PRECISION, 2DOUBLE, PAIR, 8, 8)                      \
    X(2INTEGER, 2INT, PAIR, 4, 4)                                                               \
    X(C_BOOL, UINT8, LOGICAL, 1, 0) X(CXX_BOOL, UINT8, LOGICAL, 1, 0)                           \
    X(WCHAR, UINT32, NONE, 2, 0)                                                                \
    X(INT8_T, INT8, INTEGER, 1, 0) X(UINT8_T, UINT8, INTEGER, 1, 0)                             \
    X(CHAR, INT8, INTEGER, 1, 0) X(SIGNED_CHAR, INT8, INTEGER, 1, 0)                            \
    X(UNSIGNED_CHAR, UINT8, INTEGER, 1, 0) X(BYTE, UINT8, BYTE, 1, 0)                           \
    X(INT16_T, INT16, INTEGER, 2, 0) X(UINT16_T, UINT16, INTEGER, 2, 0)                         \
    X(INT32_T, INT32, INTEGER, 4, 0) X(UINT32_T, UINT32, INTEGER, 4, 0)                         \
    X(INT64_T, INT64, INTEGER, 8, 0) X(UINT64_T, UINT64, INTEGER, 8, 0)                         \
    X(LOGICAL1, INT8, LOGICAL, 1, 0) X(INTEGER1, INT8, INTEGER, 1, 0)                           \
    X(LOGICAL2, INT16, LOGICAL, 2, 0) X(INTEGER2, INT16, INTEGER, 2, 0)                         \
    X(REAL2, ABSENT, NONE, 2, 0)                                                                \
    X(LOGICAL4, INT32, LOGICAL, 4, 0) X(INTEGER4, INT32, INTEGER, 4, 0)                         \
    X(REAL4, FLOAT, REAL, 4, 0) X(COMPLEX4, ABSENT, NONE, 2, 2)                                 \
    X(LOGICAL8, INT64, LOGICAL, 8, 0) X(INTEGER8, INT64, INTEGER, 8, 0)                         \
    X(REAL8, DOUBLE, REAL, 8, 0) X(COMPLEX8, CFLOAT, COMPLEX, 4, 4)                             \
    X(LOGICAL16, INT128, LOGICAL, 16, 0) X(INTEGER16, INT128, INTEGER, 16, 0)                   \
    X(REAL16, FLOAT128, REAL, 16, 0) X(COMPLEX16, CDOUBLE, COMPLEX, 8, 8)                       \
    X(COMPLEX32, CFLOAT128, COMPLEX, 16, 16)

struct element_info {
    uint8_t size, align;
    char coding;
    uint8_t number[2], second_at;
};
extern const struct element_info elements[ELEMENT_COUNT];

struct predefined {
    const char *name;
    uint16_t code;
    uint8_t element; // enum element
    uint8_t class;   // enum op_class
    uint8_t external[2];
};

#endif
