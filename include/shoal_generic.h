// SPDX-License-Identifier: BSD-3-Clause
// The C11 generic names of OpenSHMEM 1.6. The type is that of the first pointer argument, which is
// the first argument, or the second behind a context or a team. A type without such an operation
// selects shoal_no_such_type, which takes no arguments: the compiler then says so.
#ifndef SHOAL_GENERIC_H
#define SHOAL_GENERIC_H

void shoal_no_such_type(void);

#define SHOAL_ARG1(...) SHOAL_ARG1_(__VA_ARGS__, 0)
#define SHOAL_ARG1_(a, ...) a
#define SHOAL_ARG2(...) SHOAL_ARG2_(__VA_ARGS__, 0, 0)
#define SHOAL_ARG2_(a, b, ...) b

// T(TYPE, name before NAME, NAME, name after): one association each for TYPE * and const TYPE *.
#define SHOAL_T(TYPE, pre, NAME, post) \
    TYPE *: pre##NAME##post, const TYPE *: pre##NAME##post,

// The distinct C types of each table.
#define SHOAL_T_AMO(pre, post)                                                                   \
    SHOAL_T(int, pre, int, post) SHOAL_T(long, pre, long, post)                                  \
    SHOAL_T(long long, pre, longlong, post) SHOAL_T(unsigned int, pre, uint, post)               \
    SHOAL_T(unsigned long, pre, ulong, post)                                                     \
    SHOAL_T(unsigned long long, pre, ulonglong, post)
#define SHOAL_T_EXT(pre, post)                                                                   \
    SHOAL_T(float, pre, float, post) SHOAL_T(double, pre, double, post) SHOAL_T_AMO(pre, post)
#define SHOAL_T_BIT(pre, post)                                                                   \
    SHOAL_T(int32_t, pre, int32, post) SHOAL_T(int64_t, pre, int64, post)                        \
    SHOAL_T(unsigned int, pre, uint, post) SHOAL_T(unsigned long, pre, ulong, post)              \
    SHOAL_T(unsigned long long, pre, ulonglong, post)
#define SHOAL_T_SYNC(pre, post)                                                                  \
    SHOAL_T(short, pre, short, post) SHOAL_T(unsigned short, pre, ushort, post)                  \
    SHOAL_T_AMO(pre, post)
#define SHOAL_T_OLD(pre, post)                                                                   \
    SHOAL_T(int, pre, int, post) SHOAL_T(long, pre, long, post)                                  \
    SHOAL_T(long long, pre, longlong, post)
#define SHOAL_T_OLDEXT(pre, post)                                                                \
    SHOAL_T(float, pre, float, post) SHOAL_T(double, pre, double, post) SHOAL_T_OLD(pre, post)
#define SHOAL_T_RMA(pre, post)                                                                   \
    SHOAL_T(char, pre, char, post) SHOAL_T(signed char, pre, schar, post)                        \
    SHOAL_T(unsigned char, pre, uchar, post) SHOAL_T_SYNC(pre, post)                             \
    SHOAL_T(float, pre, float, post) SHOAL_T(double, pre, double, post)                          \
    SHOAL_T(long double, pre, longdouble, post)
#define SHOAL_T_RBIT(pre, post)                                                                  \
    SHOAL_T(int8_t, pre, int8, post) SHOAL_T(int16_t, pre, int16, post)                          \
    SHOAL_T(unsigned char, pre, uchar, post) SHOAL_T(unsigned short, pre, ushort, post)          \
    SHOAL_T_BIT(pre, post)
#define SHOAL_T_ARITH(pre, post)                                                                 \
    SHOAL_T_RMA(pre, post) SHOAL_T(shoal_complexd, pre, complexd, post)                          \
    SHOAL_T(shoal_complexf, pre, complexf, post)

#define SHOAL_PICK(arg, TABLE, pre, post) \
    _Generic((arg), SHOAL_T_##TABLE(pre, post) default: shoal_no_such_type)

// fn(pointer, ...), fn(ctx or pointer, ...) and fn(team, pointer, ...)
#define SHOAL_GENERIC(TABLE, post, ...) \
    SHOAL_PICK(SHOAL_ARG1(__VA_ARGS__), TABLE, shmem_, post)(__VA_ARGS__)
#define SHOAL_GENERIC_CTX(TABLE, post, ...)                                                      \
    _Generic((SHOAL_ARG1(__VA_ARGS__)),                                                          \
        shmem_ctx_t: SHOAL_PICK(SHOAL_ARG2(__VA_ARGS__), TABLE, shmem_ctx_, post),               \
        default: SHOAL_PICK(SHOAL_ARG1(__VA_ARGS__), TABLE, shmem_, post))(__VA_ARGS__)
#define SHOAL_GENERIC_TEAM(TABLE, post, ...) \
    SHOAL_PICK(SHOAL_ARG2(__VA_ARGS__), TABLE, shmem_, post)(__VA_ARGS__)

// Remote memory access
#define shmem_put(...) SHOAL_GENERIC_CTX(RMA, _put, __VA_ARGS__)
#define shmem_get(...) SHOAL_GENERIC_CTX(RMA, _get, __VA_ARGS__)
#define shmem_p(...) SHOAL_GENERIC_CTX(RMA, _p, __VA_ARGS__)
#define shmem_g(...) SHOAL_GENERIC_CTX(RMA, _g, __VA_ARGS__)
#define shmem_iput(...) SHOAL_GENERIC_CTX(RMA, _iput, __VA_ARGS__)
#define shmem_iget(...) SHOAL_GENERIC_CTX(RMA, _iget, __VA_ARGS__)
#define shmem_ibput(...) SHOAL_GENERIC_CTX(RMA, _ibput, __VA_ARGS__)
#define shmem_ibget(...) SHOAL_GENERIC_CTX(RMA, _ibget, __VA_ARGS__)
#define shmem_put_nbi(...) SHOAL_GENERIC_CTX(RMA, _put_nbi, __VA_ARGS__)
#define shmem_get_nbi(...) SHOAL_GENERIC_CTX(RMA, _get_nbi, __VA_ARGS__)

// Atomics
#define shmem_atomic_fetch(...) SHOAL_GENERIC_CTX(EXT, _atomic_fetch, __VA_ARGS__)
#define shmem_atomic_set(...) SHOAL_GENERIC_CTX(EXT, _atomic_set, __VA_ARGS__)
#define shmem_atomic_swap(...) SHOAL_GENERIC_CTX(EXT, _atomic_swap, __VA_ARGS__)
#define shmem_atomic_compare_swap(...) SHOAL_GENERIC_CTX(AMO, _atomic_compare_swap, __VA_ARGS__)
#define shmem_atomic_fetch_inc(...) SHOAL_GENERIC_CTX(AMO, _atomic_fetch_inc, __VA_ARGS__)
#define shmem_atomic_inc(...) SHOAL_GENERIC_CTX(AMO, _atomic_inc, __VA_ARGS__)
#define shmem_atomic_fetch_add(...) SHOAL_GENERIC_CTX(AMO, _atomic_fetch_add, __VA_ARGS__)
#define shmem_atomic_add(...) SHOAL_GENERIC_CTX(AMO, _atomic_add, __VA_ARGS__)
#define shmem_atomic_fetch_and(...) SHOAL_GENERIC_CTX(BIT, _atomic_fetch_and, __VA_ARGS__)
#define shmem_atomic_and(...) SHOAL_GENERIC_CTX(BIT, _atomic_and, __VA_ARGS__)
#define shmem_atomic_fetch_or(...) SHOAL_GENERIC_CTX(BIT, _atomic_fetch_or, __VA_ARGS__)
#define shmem_atomic_or(...) SHOAL_GENERIC_CTX(BIT, _atomic_or, __VA_ARGS__)
#define shmem_atomic_fetch_xor(...) SHOAL_GENERIC_CTX(BIT, _atomic_fetch_xor, __VA_ARGS__)
#define shmem_atomic_xor(...) SHOAL_GENERIC_CTX(BIT, _atomic_xor, __VA_ARGS__)
#define shmem_atomic_fetch_nbi(...) SHOAL_GENERIC_CTX(EXT, _atomic_fetch_nbi, __VA_ARGS__)
#define shmem_atomic_swap_nbi(...) SHOAL_GENERIC_CTX(EXT, _atomic_swap_nbi, __VA_ARGS__)
#define shmem_atomic_compare_swap_nbi(...) \
    SHOAL_GENERIC_CTX(AMO, _atomic_compare_swap_nbi, __VA_ARGS__)
#define shmem_atomic_fetch_inc_nbi(...) SHOAL_GENERIC_CTX(AMO, _atomic_fetch_inc_nbi, __VA_ARGS__)
#define shmem_atomic_fetch_add_nbi(...) SHOAL_GENERIC_CTX(AMO, _atomic_fetch_add_nbi, __VA_ARGS__)
#define shmem_atomic_fetch_and_nbi(...) SHOAL_GENERIC_CTX(BIT, _atomic_fetch_and_nbi, __VA_ARGS__)
#define shmem_atomic_fetch_or_nbi(...) SHOAL_GENERIC_CTX(BIT, _atomic_fetch_or_nbi, __VA_ARGS__)
#define shmem_atomic_fetch_xor_nbi(...) SHOAL_GENERIC_CTX(BIT, _atomic_fetch_xor_nbi, __VA_ARGS__)

// Signals
#define shmem_put_signal(...) SHOAL_GENERIC_CTX(RMA, _put_signal, __VA_ARGS__)
#define shmem_put_signal_nbi(...) SHOAL_GENERIC_CTX(RMA, _put_signal_nbi, __VA_ARGS__)
#define SHOAL_IF_CTX(yes, no, ...) \
    _Generic((SHOAL_ARG1(__VA_ARGS__)), shmem_ctx_t: yes, default: no)(__VA_ARGS__)
#define shmem_signal_set(...) SHOAL_IF_CTX(shmem_ctx_signal_set, shmem_signal_set, __VA_ARGS__)
#define shmem_signal_add(...) SHOAL_IF_CTX(shmem_ctx_signal_add, shmem_signal_add, __VA_ARGS__)

// Collectives
#define shmem_sync(...)                                                                          \
    _Generic((SHOAL_ARG1(__VA_ARGS__)), shmem_team_t: shmem_team_sync,                           \
             default: shmem_sync)(__VA_ARGS__)
#define shmem_broadcast(...) SHOAL_GENERIC_TEAM(RMA, _broadcast, __VA_ARGS__)
#define shmem_collect(...) SHOAL_GENERIC_TEAM(RMA, _collect, __VA_ARGS__)
#define shmem_fcollect(...) SHOAL_GENERIC_TEAM(RMA, _fcollect, __VA_ARGS__)
#define shmem_alltoall(...) SHOAL_GENERIC_TEAM(RMA, _alltoall, __VA_ARGS__)
#define shmem_alltoalls(...) SHOAL_GENERIC_TEAM(RMA, _alltoalls, __VA_ARGS__)
#define shmem_and_reduce(...) SHOAL_GENERIC_TEAM(RBIT, _and_reduce, __VA_ARGS__)
#define shmem_or_reduce(...) SHOAL_GENERIC_TEAM(RBIT, _or_reduce, __VA_ARGS__)
#define shmem_xor_reduce(...) SHOAL_GENERIC_TEAM(RBIT, _xor_reduce, __VA_ARGS__)
#define shmem_max_reduce(...) SHOAL_GENERIC_TEAM(RMA, _max_reduce, __VA_ARGS__)
#define shmem_min_reduce(...) SHOAL_GENERIC_TEAM(RMA, _min_reduce, __VA_ARGS__)
#define shmem_sum_reduce(...) SHOAL_GENERIC_TEAM(ARITH, _sum_reduce, __VA_ARGS__)
#define shmem_prod_reduce(...) SHOAL_GENERIC_TEAM(ARITH, _prod_reduce, __VA_ARGS__)
#define shmem_sum_inscan(...) SHOAL_GENERIC_TEAM(ARITH, _sum_inscan, __VA_ARGS__)
#define shmem_sum_exscan(...) SHOAL_GENERIC_TEAM(ARITH, _sum_exscan, __VA_ARGS__)

// Point-to-point synchronization
#define shmem_wait_until(...) SHOAL_GENERIC(SYNC, _wait_until, __VA_ARGS__)
#define shmem_wait_until_all(...) SHOAL_GENERIC(AMO, _wait_until_all, __VA_ARGS__)
#define shmem_wait_until_any(...) SHOAL_GENERIC(AMO, _wait_until_any, __VA_ARGS__)
#define shmem_wait_until_some(...) SHOAL_GENERIC(AMO, _wait_until_some, __VA_ARGS__)
#define shmem_wait_until_all_vector(...) SHOAL_GENERIC(AMO, _wait_until_all_vector, __VA_ARGS__)
#define shmem_wait_until_any_vector(...) SHOAL_GENERIC(AMO, _wait_until_any_vector, __VA_ARGS__)
#define shmem_wait_until_some_vector(...) SHOAL_GENERIC(AMO, _wait_until_some_vector, __VA_ARGS__)
#define shmem_test(...) SHOAL_GENERIC(SYNC, _test, __VA_ARGS__)
#define shmem_test_all(...) SHOAL_GENERIC(AMO, _test_all, __VA_ARGS__)
#define shmem_test_any(...) SHOAL_GENERIC(AMO, _test_any, __VA_ARGS__)
#define shmem_test_some(...) SHOAL_GENERIC(AMO, _test_some, __VA_ARGS__)
#define shmem_test_all_vector(...) SHOAL_GENERIC(AMO, _test_all_vector, __VA_ARGS__)
#define shmem_test_any_vector(...) SHOAL_GENERIC(AMO, _test_any_vector, __VA_ARGS__)
#define shmem_test_some_vector(...) SHOAL_GENERIC(AMO, _test_some_vector, __VA_ARGS__)

// Deprecated
#define shmem_add(...) SHOAL_GENERIC(OLD, _add, __VA_ARGS__)
#define shmem_cswap(...) SHOAL_GENERIC(OLD, _cswap, __VA_ARGS__)
#define shmem_fadd(...) SHOAL_GENERIC(OLD, _fadd, __VA_ARGS__)
#define shmem_finc(...) SHOAL_GENERIC(OLD, _finc, __VA_ARGS__)
#define shmem_inc(...) SHOAL_GENERIC(OLD, _inc, __VA_ARGS__)
#define shmem_fetch(...) SHOAL_GENERIC(OLDEXT, _fetch, __VA_ARGS__)
#define shmem_set(...) SHOAL_GENERIC(OLDEXT, _set, __VA_ARGS__)
#define shmem_swap(...) SHOAL_GENERIC(OLDEXT, _swap, __VA_ARGS__)

#endif
