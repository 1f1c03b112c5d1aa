// SPDX-License-Identifier: BSD-3-Clause
// PES: none
// One wrong argument for every name that the library's tables make: the line must give the very
// name that was called, as must the forms with a context, without blocking and of old. bad_args.c
// has all kinds of mistakes for one type.
#include "../check.h"
#include "bad.h"

#include <complex.h>
#include <shoal_types.h>

static char room[4096]; // symmetric
static char mine[4096];
static uint64_t words[8];
static long sync_words[SHMEM_SYNC_SIZE];
static long no_handle[64]; // not a team
static char *priv;

#define NO_TEAM ((shmem_team_t)(void *)no_handle)
#define DEFAULT SHMEM_CTX_DEFAULT
#define TO (void *)room
#define FROM (void *)mine
#define PRIVATE (void *)priv

// X(name, arguments): transfers to or from PE -1
#define TRANSFERS(X, N)                                                                       \
    X(shmem_##N, TO, FROM, 1, -1) X(shmem_##N##_nbi, TO, FROM, 1, -1)                         \
    X(shmem_ctx_##N, DEFAULT, TO, FROM, 1, -1) X(shmem_ctx_##N##_nbi, DEFAULT, TO, FROM, 1, -1)
#define STRIDES(X, PRE, POST)                                                                 \
    X(shmem_##PRE##iput##POST, TO, FROM, 1, 1, 2, -1)                                         \
    X(shmem_##PRE##iget##POST, TO, FROM, 1, 1, 2, -1)                                         \
    X(shmem_##PRE##ibput##POST, TO, FROM, 2, 2, 2, 2, -1)                                     \
    X(shmem_##PRE##ibget##POST, TO, FROM, 2, 2, 2, 2, -1)                                     \
    X(shmem_ctx_##PRE##iput##POST, DEFAULT, TO, FROM, 1, 1, 2, -1)                            \
    X(shmem_ctx_##PRE##iget##POST, DEFAULT, TO, FROM, 1, 1, 2, -1)                            \
    X(shmem_ctx_##PRE##ibput##POST, DEFAULT, TO, FROM, 2, 2, 2, 2, -1)                        \
    X(shmem_ctx_##PRE##ibget##POST, DEFAULT, TO, FROM, 2, 2, 2, 2, -1)
#define SIGNALS(X, N)                                                                         \
    X(shmem_##N##_signal, TO, FROM, 1, words, 1, SHMEM_SIGNAL_SET, -1)                        \
    X(shmem_##N##_signal_nbi, TO, FROM, 1, words, 1, SHMEM_SIGNAL_ADD, -1)                    \
    X(shmem_ctx_##N##_signal, DEFAULT, TO, FROM, 1, words, 1, SHMEM_SIGNAL_SET, -1)           \
    X(shmem_ctx_##N##_signal_nbi, DEFAULT, TO, FROM, 1, words, 1, SHMEM_SIGNAL_ADD, -1)
#define RMA_OF(TYPE, N)                                                                       \
    TRANSFERS(CALL, N##_put) TRANSFERS(CALL, N##_get) STRIDES(CALL, N##_, )                   \
    SIGNALS(CALL, N##_put) CALL(shmem_##N##_p, TO, 0, -1) CALL(shmem_##N##_g, TO, -1)         \
    CALL(shmem_ctx_##N##_p, DEFAULT, TO, 0, -1) CALL(shmem_ctx_##N##_g, DEFAULT, TO, -1)
#define SIZED_OF(BITS, BYTES)                                                                 \
    TRANSFERS(CALL, put##BITS) TRANSFERS(CALL, get##BITS) STRIDES(CALL, , BITS)               \
    SIGNALS(CALL, put##BITS)
#define RMA_CALLS() \
    SHOAL_RMA_TYPES(RMA_OF) SHOAL_SIZES(SIZED_OF) TRANSFERS(CALL, putmem)                     \
    TRANSFERS(CALL, getmem) SIGNALS(CALL, putmem) CALL(shmem_signal_set, words, 1, -1)        \
    CALL(shmem_signal_add, words, 1, -1) CALL(shmem_ctx_signal_set, DEFAULT, words, 1, -1)    \
    CALL(shmem_ctx_signal_add, DEFAULT, words, 1, -1)

// Atomics on PE -1
#define NOTHING(N, OP, ...)                                                                   \
    CALL(shmem_##N##_atomic_##OP, TO, __VA_ARGS__ - 1)                                        \
    CALL(shmem_ctx_##N##_atomic_##OP, DEFAULT, TO, __VA_ARGS__ - 1)
#define FETCHES(N, OP, ...)                                                                   \
    NOTHING(N, OP, __VA_ARGS__)                                                               \
    CALL(shmem_##N##_atomic_##OP##_nbi, FROM, TO, __VA_ARGS__ - 1)                            \
    CALL(shmem_ctx_##N##_atomic_##OP##_nbi, DEFAULT, FROM, TO, __VA_ARGS__ - 1)
#define AMO_EXTENDED_OF(TYPE, N) NOTHING(N, set, 1, ) FETCHES(N, fetch, ) FETCHES(N, swap, 1, )
#define AMO_OF(TYPE, N)                                                                       \
    NOTHING(N, add, 1, ) NOTHING(N, inc, ) FETCHES(N, fetch_add, 1, )                         \
    FETCHES(N, fetch_inc, ) FETCHES(N, compare_swap, 1, 2, )
#define AMO_BITWISE_OF(TYPE, N)                                                               \
    NOTHING(N, and, 1, ) NOTHING(N, or, 1, ) NOTHING(N, xor, 1, )                             \
    FETCHES(N, fetch_and, 1, ) FETCHES(N, fetch_or, 1, ) FETCHES(N, fetch_xor, 1, )
#define AMO_OLD_OF(TYPE, N)                                                                   \
    CALL(shmem_##N##_add, TO, 1, -1) CALL(shmem_##N##_inc, TO, -1)                            \
    CALL(shmem_##N##_fadd, TO, 1, -1) CALL(shmem_##N##_finc, TO, -1)                          \
    CALL(shmem_##N##_cswap, TO, 1, 2, -1)
#define AMO_OLD_EXTENDED_OF(TYPE, N)                                                          \
    CALL(shmem_##N##_set, TO, 1, -1) CALL(shmem_##N##_fetch, TO, -1)                          \
    CALL(shmem_##N##_swap, TO, 1, -1)
#define AMO_CALLS() \
    SHOAL_AMO_EXTENDED_TYPES(AMO_EXTENDED_OF) SHOAL_AMO_TYPES(AMO_OF)                         \
    SHOAL_AMO_BITWISE_TYPES(AMO_BITWISE_OF) SHOAL_AMO_OLD_TYPES(AMO_OLD_OF)                   \
    SHOAL_AMO_OLD_EXTENDED_TYPES(AMO_OLD_EXTENDED_OF)

// Waits and tests on private memory
#define SYNC_ONE_OF(TYPE, N)                                                                  \
    CALL(shmem_##N##_wait_until, PRIVATE, SHMEM_CMP_EQ, 0)                                    \
    CALL(shmem_##N##_test, PRIVATE, SHMEM_CMP_EQ, 0)
#define SYNC_OF(TYPE, N)                                                                      \
    SYNC_ONE_OF(TYPE, N)                                                                      \
    CALL(shmem_##N##_wait_until_all, PRIVATE, 2, NULL, SHMEM_CMP_EQ, 0)                       \
    CALL(shmem_##N##_wait_until_any, PRIVATE, 2, NULL, SHMEM_CMP_EQ, 0)                       \
    CALL(shmem_##N##_wait_until_some, PRIVATE, 2, FROM, NULL, SHMEM_CMP_EQ, 0)                \
    CALL(shmem_##N##_test_all, PRIVATE, 2, NULL, SHMEM_CMP_EQ, 0)                             \
    CALL(shmem_##N##_test_any, PRIVATE, 2, NULL, SHMEM_CMP_EQ, 0)                             \
    CALL(shmem_##N##_test_some, PRIVATE, 2, FROM, NULL, SHMEM_CMP_EQ, 0)                      \
    CALL(shmem_##N##_wait_until_all_vector, PRIVATE, 2, NULL, SHMEM_CMP_EQ, FROM)             \
    CALL(shmem_##N##_wait_until_any_vector, PRIVATE, 2, NULL, SHMEM_CMP_EQ, FROM)             \
    CALL(shmem_##N##_wait_until_some_vector, PRIVATE, 2, FROM, NULL, SHMEM_CMP_EQ, FROM)      \
    CALL(shmem_##N##_test_all_vector, PRIVATE, 2, NULL, SHMEM_CMP_EQ, FROM)                   \
    CALL(shmem_##N##_test_any_vector, PRIVATE, 2, NULL, SHMEM_CMP_EQ, FROM)                   \
    CALL(shmem_##N##_test_some_vector, PRIVATE, 2, FROM, NULL, SHMEM_CMP_EQ, FROM)
#define SYNC_CALLS() SHOAL_SYNC_TYPES(SYNC_OF) SHOAL_SYNC_OLD_TYPES(SYNC_ONE_OF)

// Collectives on no team
#define MOVES(PRE, POST)                                                                      \
    CALL(shmem_##PRE##broadcast##POST, NO_TEAM, TO, FROM, 1, 0)                               \
    CALL(shmem_##PRE##collect##POST, NO_TEAM, TO, FROM, 1)                                    \
    CALL(shmem_##PRE##fcollect##POST, NO_TEAM, TO, FROM, 1)                                   \
    CALL(shmem_##PRE##alltoall##POST, NO_TEAM, TO, FROM, 1)                                   \
    CALL(shmem_##PRE##alltoalls##POST, NO_TEAM, TO, FROM, 1, 1, 1)
#define REDUCE(N, OP) CALL(shmem_##N##_##OP##_reduce, NO_TEAM, TO, FROM, 1)
#define MOVES_OF(TYPE, N) MOVES(N##_, )
#define BITWISE_OF(TYPE, N) REDUCE(N, and) REDUCE(N, or) REDUCE(N, xor)
#define ORDER_OF(TYPE, N) REDUCE(N, max) REDUCE(N, min)
#define ARITH_OF(TYPE, N)                                                                     \
    REDUCE(N, sum) REDUCE(N, prod) CALL(shmem_##N##_sum_inscan, NO_TEAM, TO, FROM, 1)         \
    CALL(shmem_##N##_sum_exscan, NO_TEAM, TO, FROM, 1)
#define TEAM_CALLS() \
    SHOAL_RMA_TYPES(MOVES_OF) MOVES(, mem) SHOAL_REDUCE_BITWISE_TYPES(BITWISE_OF)             \
    SHOAL_REDUCE_ORDER_TYPES(ORDER_OF) SHOAL_REDUCE_ARITH_TYPES(ARITH_OF)

// Collectives of old into private memory
#define ONE_PE 0, 0, 1
#define TO_ALL(N, OP) CALL(shmem_##N##_##OP##_to_all, PRIVATE, TO, 1, ONE_PE, FROM, sync_words)
#define ACTIVE_OF(BITS)                                                                       \
    CALL(shmem_broadcast##BITS, PRIVATE, TO, 1, 0, ONE_PE, sync_words)                        \
    CALL(shmem_collect##BITS, PRIVATE, TO, 1, ONE_PE, sync_words)                             \
    CALL(shmem_fcollect##BITS, PRIVATE, TO, 1, ONE_PE, sync_words)                            \
    CALL(shmem_alltoall##BITS, PRIVATE, TO, 1, ONE_PE, sync_words)                            \
    CALL(shmem_alltoalls##BITS, PRIVATE, TO, 1, 1, 1, ONE_PE, sync_words)
#define OLD_BITWISE_OF(TYPE, N) TO_ALL(N, and) TO_ALL(N, or) TO_ALL(N, xor)
#define OLD_ORDER_OF(TYPE, N) TO_ALL(N, max) TO_ALL(N, min)
#define OLD_ARITH_OF(TYPE, N) TO_ALL(N, sum) TO_ALL(N, prod)
#define ACTIVE_CALLS() \
    ACTIVE_OF(32) ACTIVE_OF(64) SHOAL_TO_ALL_BITWISE_TYPES(OLD_BITWISE_OF)                    \
    SHOAL_TO_ALL_ORDER_TYPES(OLD_ORDER_OF) SHOAL_TO_ALL_ARITH_TYPES(OLD_ARITH_OF)

// ---- Functions that make the i-th call of a list, and the names in the same order.
#define CALL(name, ...)                                  \
    case __COUNTER__ - FIRST_COUNTER:                    \
        (void)name(__VA_ARGS__);                         \
        break;
#define MAKE(list, LIST)                                 \
    static void list##_call(int which)                   \
    {                                                    \
        enum { FIRST_COUNTER = __COUNTER__ + 1 };        \
        shmem_init();                                    \
        priv = must_alloc(64);                           \
        switch (which) {                                 \
            LIST()                                       \
        }                                                \
        shmem_finalize();                                \
    }
MAKE(rma, RMA_CALLS)
MAKE(amo, AMO_CALLS)
MAKE(sync, SYNC_CALLS)
MAKE(team, TEAM_CALLS)
MAKE(active, ACTIVE_CALLS)
#undef CALL
#define CALL(name, ...) #name,
static const char *const rma_names[] = {RMA_CALLS()};
static const char *const amo_names[] = {AMO_CALLS()};
static const char *const sync_names[] = {SYNC_CALLS()};
static const char *const team_names[] = {TEAM_CALLS()};
static const char *const active_names[] = {ACTIVE_CALLS()};

#define RUN(list, pattern)                                                    \
    for (size_t i = 0; i < sizeof list##_names / sizeof list##_names[0]; i++) \
        bad_run(list##_names[i], pattern, list##_call, (int)i, 1)

int main(void)
{
    setenv("SHMEM_SYMMETRIC_SIZE", "2m", 1);
    RUN(rma, BAD_PE("-1", "0"));
    RUN(amo, BAD_PE("-1", "0"));
    RUN(sync, BAD_PRIVATE("ivars?"));
    RUN(team, AT " is not a team, or a destroyed one");
    RUN(active, BAD_PRIVATE("dest"));
    return bad_done();
}
