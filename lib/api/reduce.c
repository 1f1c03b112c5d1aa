// SPDX-License-Identifier: BSD-3-Clause
// "Collective Routines": reductions and scans over teams.
#include "call.h"
#include "check_coll.h"
#include "coll.h"
#include "pshmem.h"

static int reduce(const char *call, shmem_team_t team, const struct reduce_op *op, void *dest,
                  const void *source, size_t n)
{
    if (!check_team(call, team))
        return -1;
    check_in_place(call, dest, source, BYTES_OF(n, op->size));
    struct group g = group_of_team(team);
    call_enter(CALL_reduce);
    coll_reduce(&g, op, dest, source, n);
    call_leave();
    return 0;
}

static int scan(const char *call, shmem_team_t team, const struct reduce_op *op, void *dest,
                const void *source, size_t n, bool inclusive)
{
    if (!check_team(call, team))
        return -1;
    check_in_place(call, dest, source, BYTES_OF(n, op->size));
    struct group g = group_of_team(team);
    call_enter(CALL_scan);
    coll_scan(&g, op, dest, source, n, inclusive);
    call_leave();
    return 0;
}

#define REDUCE(op, TYPE, name)                                                             \
    int p##name(shmem_team_t team, TYPE *dest, const TYPE *source, size_t nreduce)         \
    {                                                                                      \
        return reduce(#name, team, REDUCE_OP(op, TYPE), dest, source, nreduce);            \
    }                                                                                      \
    WEAK_TWIN(name);
#define SCAN(TYPE, name, inclusive)                                                        \
    int p##name(shmem_team_t team, TYPE *dest, const TYPE *source, size_t nelems)          \
    {                                                                                      \
        return scan(#name, team, REDUCE_OP(sum, TYPE), dest, source, nelems, inclusive);   \
    }                                                                                      \
    WEAK_TWIN(name);

#define BITWISE(TYPE, NAME)                     \
    REDUCE(and, TYPE, shmem_##NAME##_and_reduce) \
    REDUCE(or, TYPE, shmem_##NAME##_or_reduce)   \
    REDUCE(xor, TYPE, shmem_##NAME##_xor_reduce)
SHOAL_REDUCE_BITWISE_TYPES(BITWISE)

#define ORDER(TYPE, NAME)                        \
    REDUCE(max, TYPE, shmem_##NAME##_max_reduce) \
    REDUCE(min, TYPE, shmem_##NAME##_min_reduce)
SHOAL_REDUCE_ORDER_TYPES(ORDER)

#define ARITH(TYPE, NAME)                          \
    REDUCE(sum, TYPE, shmem_##NAME##_sum_reduce)   \
    REDUCE(prod, TYPE, shmem_##NAME##_prod_reduce) \
    SCAN(TYPE, shmem_##NAME##_sum_inscan, true)    \
    SCAN(TYPE, shmem_##NAME##_sum_exscan, false)
SHOAL_REDUCE_ARITH_TYPES(ARITH)
