// SPDX-License-Identifier: BSD-3-Clause
// The types of each family of calls, from the library's own tables: EACH_RMA(X) is X(type, name)
// for every one of them. A type that the tables lack is found by tests/symbols.
#ifndef TESTS_API_TYPES_H
#define TESTS_API_TYPES_H

#include <complex.h>
#include <shoal_types.h>

#define EACH_RMA(X) SHOAL_RMA_TYPES(X)
#define EACH_AMO(X) SHOAL_AMO_TYPES(X)
#define EACH_AMO_BITWISE(X) SHOAL_AMO_BITWISE_TYPES(X)
#define EACH_AMO_FLOAT(X) X(float, float) X(double, double) // fetch, set and swap only
#define EACH_SYNC_OLD(X) X(short, short) X(unsigned short, ushort)
#define EACH_REDUCE_BITWISE(X) SHOAL_REDUCE_BITWISE_TYPES(X)
#define EACH_COMPLEX(X) X(float _Complex, complexf) X(double _Complex, complexd)
#define EACH_TO_ALL_BITWISE(X) SHOAL_TO_ALL_BITWISE_TYPES(X)
#define EACH_TO_ALL_REAL(X) SHOAL_TO_ALL_ORDER_TYPES(X)
#define EACH_OLD_COUNT(X) SHOAL_AMO_OLD_TYPES(X)
#define EACH_OLD_SWAP(X) SHOAL_AMO_OLD_EXTENDED_TYPES(X)
#define EACH_OLD_WAIT(X) SHOAL_WAIT_OLD_TYPES(X)

#endif
