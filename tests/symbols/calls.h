// SPDX-License-Identifier: BSD-3-Clause
// Every type-generic name, for each distinct type it takes, without and with a context: the shared
// part of header_c.c and header_cxx.cc. Compiled, never run; check.sh reads from the object file which
// typed routine each call became.
#ifndef TESTS_SYMBOLS_CALLS_H
#define TESTS_SYMBOLS_CALLS_H

#include <shmem.h>

#define ALL_TYPES(X)                                                                            \
    FLOATS(X) SIGNED(X) UNSIGNED(X) SMALL(X)                                                    \
    X(long double, longdouble) X(char, char) X(signed char, schar) X(unsigned char, uchar)
#define SIGNED(X) X(int, int) X(long, long) X(long long, longlong)
#define UNSIGNED(X) X(unsigned, uint) X(unsigned long, ulong) X(unsigned long long, ulonglong)
#define FLOATS(X) X(float, float) X(double, double)
#define SMALL(X) X(short, short) X(unsigned short, ushort)
#define BITS(X) UNSIGNED(X) X(int32_t, int32) X(int64_t, int64)

#define RMA(T, N)                                                                               \
    T rma_##N(shmem_ctx_t c, T *d, T *s, const T *cs, T v, uint64_t *sig)                       \
    {                                                                                           \
        T array[2] = {v, v};                                                                    \
        shmem_put(d, cs, 1, 0), shmem_put(c, d, s, 1, 0);                                       \
        shmem_put(d, array, 2, 0), shmem_put(SHMEM_CTX_DEFAULT, d, array, 2, 0);                \
        shmem_p(d, v, 0), shmem_p(c, d, v, 0), shmem_p(d, 1, 0);                                \
        shmem_iput(d, cs, 1, 1, 1, 0), shmem_iput(c, d, cs, 1, 1, 1, 0);                        \
        shmem_ibput(d, cs, 1, 1, 1, 1, 0), shmem_ibput(c, d, cs, 1, 1, 1, 1, 0);                \
        shmem_get(array, cs, 2, 0), shmem_get(c, array, cs, 2, 0);                              \
        shmem_iget(d, cs, 1, 1, 1, 0), shmem_iget(c, d, cs, 1, 1, 1, 0);                        \
        shmem_ibget(d, cs, 1, 1, 1, 1, 0), shmem_ibget(c, d, cs, 1, 1, 1, 1, 0);                \
        shmem_put_nbi(d, cs, 1, 0), shmem_put_nbi(c, d, cs, 1, 0);                              \
        shmem_get_nbi(d, cs, 1, 0), shmem_get_nbi(c, d, cs, 1, 0);                              \
        shmem_put_signal(d, cs, 1, sig, 1, SHMEM_SIGNAL_SET, 0);                                \
        shmem_put_signal(c, d, cs, 1, sig, 1, SHMEM_SIGNAL_SET, 0);                             \
        shmem_put_signal_nbi(d, cs, 1, sig, 1, SHMEM_SIGNAL_ADD, 0);                            \
        shmem_put_signal_nbi(c, d, cs, 1, sig, 1, SHMEM_SIGNAL_ADD, 0);                         \
        shmem_p(d, shmem_g(c, s, shmem_my_pe()), 0);                                            \
        T sum = shmem_g(s, 0);                                                                  \
        return (T)(sum + shmem_g(cs, 0) + shmem_g(SHMEM_CTX_DEFAULT, array, 0));                \
    }                                                                                           \
    int collective_##N(shmem_team_t t, T *d, T *s, const T *cs)                                 \
    {                                                                                           \
        return shmem_alltoall(t, d, cs, 1) + shmem_alltoalls(t, d, cs, 1, 1, 1) +               \
               shmem_broadcast(t, d, s, 1, 0) + shmem_collect(SHMEM_TEAM_WORLD, d, s, 1) +      \
               shmem_fcollect(t, d, cs, 1) + shmem_max_reduce(t, d, cs, 1) +                    \
               shmem_min_reduce(t, d, d, 1);                                                    \
    }
ALL_TYPES(RMA)

#define ARITH(T, N)                                                                             \
    int arith_##N(shmem_team_t t, T *d, const T *s)                                             \
    {                                                                                           \
        return shmem_sum_reduce(t, d, s, 1) + shmem_prod_reduce(t, d, s, 1) +                   \
               shmem_sum_inscan(t, d, s, 1) + shmem_sum_exscan(t, d, s, 1);                     \
    }
ALL_TYPES(ARITH)
ARITH(shoal_complexd, complexd)
ARITH(shoal_complexf, complexf)

#define REDUCE_BITS(T, N)                                                                       \
    int reduce_##N(shmem_team_t t, T *d, const T *s)                                            \
    {                                                                                           \
        return shmem_and_reduce(t, d, s, 1) + shmem_or_reduce(t, d, s, 1) +                     \
               shmem_xor_reduce(t, d, s, 1);                                                    \
    }
BITS(REDUCE_BITS)
REDUCE_BITS(int8_t, int8)
REDUCE_BITS(int16_t, int16)
REDUCE_BITS(uint8_t, uint8)
REDUCE_BITS(uint16_t, uint16)

#define AMO_EXT(T, N)                                                                           \
    T amo_ext_##N(shmem_ctx_t c, T *d, const T *s, T v)                                         \
    {                                                                                           \
        shmem_atomic_set(d, v, 0), shmem_atomic_set(c, d, v, 0);                                \
        shmem_atomic_fetch_nbi(d, s, 0), shmem_atomic_fetch_nbi(c, d, s, 0);                    \
        shmem_atomic_swap_nbi(d, d, v, 0), shmem_atomic_swap_nbi(c, d, d, v, 0);                \
        return shmem_atomic_fetch(s, 0) + shmem_atomic_fetch(c, d, 0) +                         \
               shmem_atomic_swap(d, v, 0) + shmem_atomic_swap(c, d, v, 0);                      \
    }
FLOATS(AMO_EXT) SIGNED(AMO_EXT) UNSIGNED(AMO_EXT)

#define AMO(T, N)                                                                               \
    T amo_##N(shmem_ctx_t c, T *d, T v)                                                         \
    {                                                                                           \
        shmem_atomic_inc(d, 0), shmem_atomic_inc(c, d, 0);                                      \
        shmem_atomic_add(d, v, 0), shmem_atomic_add(c, d, v, 0);                                \
        shmem_atomic_compare_swap_nbi(d, d, v, v, 0);                                           \
        shmem_atomic_compare_swap_nbi(c, d, d, v, v, 0);                                        \
        shmem_atomic_fetch_inc_nbi(d, d, 0), shmem_atomic_fetch_inc_nbi(c, d, d, 0);            \
        shmem_atomic_fetch_add_nbi(d, d, v, 0), shmem_atomic_fetch_add_nbi(c, d, d, v, 0);      \
        return shmem_atomic_compare_swap(d, v, v, 0) +                                          \
               shmem_atomic_compare_swap(c, d, v, v, 0) + shmem_atomic_fetch_inc(d, 0) +        \
               shmem_atomic_fetch_inc(c, d, 0) + shmem_atomic_fetch_add(d, v, 0) +              \
               shmem_atomic_fetch_add(c, d, v, 0);                                              \
    }
SIGNED(AMO) UNSIGNED(AMO)

#define AMO_BITS(T, N)                                                                          \
    T amo_bits_##N(shmem_ctx_t c, T *d, T v)                                                    \
    {                                                                                           \
        shmem_atomic_and(d, v, 0), shmem_atomic_and(c, d, v, 0);                                \
        shmem_atomic_or(d, v, 0), shmem_atomic_or(c, d, v, 0);                                  \
        shmem_atomic_xor(d, v, 0), shmem_atomic_xor(c, d, v, 0);                                \
        shmem_atomic_fetch_and_nbi(d, d, v, 0), shmem_atomic_fetch_and_nbi(c, d, d, v, 0);      \
        shmem_atomic_fetch_or_nbi(d, d, v, 0), shmem_atomic_fetch_or_nbi(c, d, d, v, 0);        \
        shmem_atomic_fetch_xor_nbi(d, d, v, 0), shmem_atomic_fetch_xor_nbi(c, d, d, v, 0);      \
        return shmem_atomic_fetch_and(d, v, 0) + shmem_atomic_fetch_and(c, d, v, 0) +           \
               shmem_atomic_fetch_or(d, v, 0) + shmem_atomic_fetch_or(c, d, v, 0) +             \
               shmem_atomic_fetch_xor(d, v, 0) + shmem_atomic_fetch_xor(c, d, v, 0);            \
    }
BITS(AMO_BITS)

#define OLD_EXT(T, N) \
    T old_ext_##N(T *d, const T *s, T v) \
    { \
        shmem_set(d, v, 0); \
        return shmem_fetch(s, 0) + shmem_swap(d, v, 0); \
    }
FLOATS(OLD_EXT) SIGNED(OLD_EXT)
#define OLD(T, N)                                                                               \
    T old_##N(T *d, T v)                                                                        \
    {                                                                                           \
        shmem_inc(d, 0), shmem_add(d, v, 0);                                                    \
        return shmem_cswap(d, v, v, 0) + shmem_finc(d, 0) + shmem_fadd(d, v, 0);                \
    }
SIGNED(OLD)

#define WAIT(T, N)                                                                              \
    int wait_##N(T *i, T v)                                                                     \
    {                                                                                           \
        shmem_wait_until(i, SHMEM_CMP_GE, v);                                                   \
        return shmem_test(i, SHMEM_CMP_EQ, v);                                                  \
    }
SIGNED(WAIT) UNSIGNED(WAIT) SMALL(WAIT)

#define MANY(T, N)                                                                              \
    size_t many_##N(T *i, size_t n, size_t *where, const int *off, T v, const T *vs)            \
    {                                                                                           \
        shmem_wait_until_all(i, n, off, SHMEM_CMP_NE, v);                                       \
        shmem_wait_until_all_vector(i, n, NULL, SHMEM_CMP_LT, vs);                              \
        return shmem_wait_until_any(i, n, off, SHMEM_CMP_GT, v) +                               \
               shmem_wait_until_some(i, n, where, off, SHMEM_CMP_LE, v) +                       \
               shmem_wait_until_any_vector(i, n, off, SHMEM_CMP_GT, vs) +                       \
               shmem_wait_until_some_vector(i, n, where, off, SHMEM_CMP_LE, vs) +               \
               (size_t)shmem_test_all(i, n, off, SHMEM_CMP_EQ, v) +                             \
               (size_t)shmem_test_all_vector(i, n, off, SHMEM_CMP_EQ, vs) +                     \
               shmem_test_any(i, n, off, SHMEM_CMP_EQ, v) +                                     \
               shmem_test_some(i, n, where, off, SHMEM_CMP_EQ, v) +                             \
               shmem_test_any_vector(i, n, off, SHMEM_CMP_EQ, vs) +                             \
               shmem_test_some_vector(i, n, where, off, SHMEM_CMP_EQ, vs);                      \
    }
SIGNED(MANY) UNSIGNED(MANY)

int untyped(shmem_ctx_t c, shmem_team_t t, uint64_t *sig, long *sync)
{
    shmem_signal_add(sig, 1, 0), shmem_signal_add(c, sig, 1, 0);
    shmem_signal_set(sig, 1, 0), shmem_signal_set(SHMEM_CTX_DEFAULT, sig, 1, 0);
    shmem_sync(0, 0, 1, sync);
    return shmem_sync(t) + shmem_sync(SHMEM_TEAM_WORLD);
}

// The routines that share a name with a generic can still be named without calling them.
void (*const active_set_sync)(int, int, int, long *) = shmem_sync;
void (*const long_wait)(long *, int, long) = shmem_wait_until;
void (*const signal_set)(uint64_t *, uint64_t, int) = &shmem_signal_set;

#endif
