// SPDX-License-Identifier: BSD-3-Clause
// The types of each family of calls, from the library's own tables: EACH_RMA(X) is X(type, name)
// for every one of them. A type that the tables lack is found by the list of symbols.
#ifndef TESTS_API_TYPES_H
#define TESTS_API_TYPES_H

#include <complex.h>
#include <shoal_types.h>

#define ROW_OF_TWO(T, N, X) X(T, N)
#define EACH_RMA(X) SHOAL_RMA_TYPES(ROW_OF_TWO, X)
#define EACH_AMO(X) SHOAL_AMO_TYPES(ROW_OF_TWO, X)
#define EACH_AMO_BITWISE(X) SHOAL_AMO_BIT_TYPES(ROW_OF_TWO, X)
#define EACH_AMO_FLOAT(X) \
    X(float, float)       \
    X(double, double) // fetch, set and swap only
#define EACH_SYNC_OLD(X) SHOAL_OLD_SYNC_TYPES(ROW_OF_TWO, X)
#define EACH_REDUCE_BITWISE(X) SHOAL_REDUCE_BIT_TYPES(ROW_OF_TWO, X)
#define EACH_COMPLEX(X) SHOAL_COMPLEX_TYPES(ROW_OF_TWO, X)
#define EACH_TO_ALL_BITWISE(X) SHOAL_TO_ALL_BIT_TYPES(ROW_OF_TWO, X)
#define EACH_TO_ALL_REAL(X) SHOAL_TO_ALL_ORDER_TYPES(ROW_OF_TWO, X)
#define EACH_OLD_COUNT(X) SHOAL_OLD_AMO_TYPES(ROW_OF_TWO, X)
#define EACH_OLD_SWAP(X) SHOAL_OLD_AMO_EXT_TYPES(ROW_OF_TWO, X)
#define EACH_OLD_WAIT(X) SHOAL_OLD_WAIT_TYPES(ROW_OF_TWO, X)

#endif
