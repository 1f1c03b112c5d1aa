// SPDX-License-Identifier: BSD-3-Clause
// The types of OpenSHMEM 1.6, each table once: X(TYPE, NAME). Prototypes, definitions and tests
// are made from these.
#ifndef SHOAL_TYPES_H
#define SHOAL_TYPES_H

// "Standard RMA Types"
#define SHOAL_RMA_TYPES(X)                                                                      \
    X(float, float) X(double, double) X(long double, longdouble) X(char, char)                  \
    X(signed char, schar) X(short, short) X(int, int) X(long, long) X(long long, longlong)      \
    X(unsigned char, uchar) X(unsigned short, ushort) X(unsigned int, uint)                     \
    X(unsigned long, ulong) X(unsigned long long, ulonglong) X(int8_t, int8) X(int16_t, int16)  \
    X(int32_t, int32) X(int64_t, int64) X(uint8_t, uint8) X(uint16_t, uint16)                   \
    X(uint32_t, uint32) X(uint64_t, uint64) X(size_t, size) X(ptrdiff_t, ptrdiff)

// "Standard AMO Types", also those of point-to-point synchronization
#define SHOAL_AMO_TYPES(X)                                                                      \
    X(int, int) X(long, long) X(long long, longlong) X(unsigned int, uint)                      \
    X(unsigned long, ulong) X(unsigned long long, ulonglong) X(int32_t, int32)                  \
    X(int64_t, int64) X(uint32_t, uint32) X(uint64_t, uint64) X(size_t, size)                   \
    X(ptrdiff_t, ptrdiff)

// "Extended AMO Types": fetch, set, swap
#define SHOAL_AMO_EXTENDED_TYPES(X) X(float, float) X(double, double) SHOAL_AMO_TYPES(X)

// "Bitwise AMO Types"
#define SHOAL_AMO_BITWISE_TYPES(X)                                                              \
    X(unsigned int, uint) X(unsigned long, ulong) X(unsigned long long, ulonglong)              \
    X(int32_t, int32) X(int64_t, int64) X(uint32_t, uint32) X(uint64_t, uint64)

// Deprecated names of atomics: add, cswap, fadd, finc, inc; and fetch, set, swap
#define SHOAL_AMO_OLD_TYPES(X) X(int, int) X(long, long) X(long long, longlong)
#define SHOAL_AMO_OLD_EXTENDED_TYPES(X) X(float, float) X(double, double) SHOAL_AMO_OLD_TYPES(X)

// Point-to-point synchronization: all; deprecated for test and wait_until; deprecated wait
#define SHOAL_SYNC_TYPES(X) SHOAL_AMO_TYPES(X)
#define SHOAL_SYNC_OLD_TYPES(X) X(short, short) X(unsigned short, ushort)
#define SHOAL_WAIT_OLD_TYPES(X) X(short, short) X(int, int) X(long, long) X(long long, longlong)

// Team reductions: and, or, xor; max, min; sum, prod and scans
#define SHOAL_REDUCE_BITWISE_TYPES(X)                                                           \
    X(unsigned char, uchar) X(unsigned short, ushort) X(unsigned int, uint)                     \
    X(unsigned long, ulong) X(unsigned long long, ulonglong) X(int8_t, int8) X(int16_t, int16)  \
    X(int32_t, int32) X(int64_t, int64) X(uint8_t, uint8) X(uint16_t, uint16)                   \
    X(uint32_t, uint32) X(uint64_t, uint64) X(size_t, size)
#define SHOAL_REDUCE_ORDER_TYPES(X) SHOAL_RMA_TYPES(X)
#define SHOAL_REDUCE_ARITH_TYPES(X)                                                             \
    SHOAL_RMA_TYPES(X) X(shoal_complexd, complexd) X(shoal_complexf, complexf)

// Active-set reductions (deprecated)
#define SHOAL_TO_ALL_BITWISE_TYPES(X)                                                           \
    X(short, short) X(int, int) X(long, long) X(long long, longlong)
#define SHOAL_TO_ALL_ORDER_TYPES(X)                                                             \
    SHOAL_TO_ALL_BITWISE_TYPES(X) X(float, float) X(double, double) X(long double, longdouble)
#define SHOAL_TO_ALL_ARITH_TYPES(X)                                                             \
    SHOAL_TO_ALL_ORDER_TYPES(X) X(shoal_complexd, complexd) X(shoal_complexf, complexf)

// X(BITS, BYTES): transfers by element size
#define SHOAL_SIZES(X) X(8, 1) X(16, 2) X(32, 4) X(64, 8) X(128, 16)

#endif
