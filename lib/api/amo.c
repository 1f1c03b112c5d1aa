// SPDX-License-Identifier: BSD-3-Clause
// "Atomic Memory Operations", blocking and not, which is the same on a node.
#include "amo.h"

#include "ctx.h"
#include "pshmem.h"

#define CORE(TYPE, NAME) AMO_SET(TYPE, NAME) AMO_FETCH(TYPE, NAME) AMO_SWAP(TYPE, NAME)
SHOAL_AMO_EXTENDED_TYPES(CORE)
#undef CORE
#define CORE(TYPE, NAME) AMO_ADD(TYPE, NAME) AMO_CSWAP(TYPE, NAME)
SHOAL_AMO_TYPES(CORE)
#undef CORE
#define CORE(TYPE, NAME) \
    AMO_BIT(and, AND, TYPE, NAME) AMO_BIT(or, OR, TYPE, NAME) AMO_BIT(xor, XOR, TYPE, NAME)
SHOAL_AMO_BITWISE_TYPES(CORE)
#undef CORE

// Takes the parentheses off a list of parameters that was passed as one macro argument.
#define ARGS(...) __VA_ARGS__

// op: core's name; name, ctx_name: the public ones; at: the symmetric address.
#define VOID_AS(op, NAME, name, ctx_name, PARAMETERS, at, operand, compare)                 \
    void p##name(ARGS PARAMETERS, int pe)                                                   \
    {                                                                                       \
        amo_##op##_##NAME(NULL, #name, at, operand, compare, pe, false);                    \
    }                                                                                       \
    WEAK_TWIN(name);                                                                        \
    void p##ctx_name(shmem_ctx_t ctx, ARGS PARAMETERS, int pe)                              \
    {                                                                                       \
        amo_##op##_##NAME(ctx, #ctx_name, at, operand, compare, ctx_pe(#ctx_name, ctx, pe), \
                          false);                                                           \
    }                                                                                       \
    WEAK_TWIN(ctx_name);

#define FETCH_AS(op, NAME, TYPE, name, ctx_name, PARAMETERS, at, operand, compare)                 \
    TYPE p##name(ARGS PARAMETERS, int pe)                                                          \
    {                                                                                              \
        return amo_##op##_##NAME(NULL, #name, at, operand, compare, pe, true);                     \
    }                                                                                              \
    WEAK_TWIN(name);                                                                               \
    TYPE p##ctx_name(shmem_ctx_t ctx, ARGS PARAMETERS, int pe)                                     \
    {                                                                                              \
        return amo_##op##_##NAME(ctx, #ctx_name, at, operand, compare, ctx_pe(#ctx_name, ctx, pe), \
                                 true);                                                            \
    }                                                                                              \
    WEAK_TWIN(ctx_name);                                                                           \
    void p##name##_nbi(TYPE *fetch, ARGS PARAMETERS, int pe)                                       \
    {                                                                                              \
        *fetch = amo_##op##_##NAME(NULL, #name "_nbi", at, operand, compare, pe, true);            \
    }                                                                                              \
    WEAK_TWIN(name##_nbi);                                                                         \
    void p##ctx_name##_nbi(shmem_ctx_t ctx, TYPE *fetch, ARGS PARAMETERS, int pe)                  \
    {                                                                                              \
        *fetch = amo_##op##_##NAME(ctx, #ctx_name "_nbi", at, operand, compare,                    \
                                   ctx_pe(#ctx_name "_nbi", ctx, pe), true);                       \
    }                                                                                              \
    WEAK_TWIN(ctx_name##_nbi);

#define VOID(op, public_op, NAME, ...)                                                          \
    VOID_AS(op, NAME, shmem_##NAME##_atomic_##public_op, shmem_ctx_##NAME##_atomic_##public_op, \
            __VA_ARGS__)
#define FETCH(op, public_op, TYPE, NAME, ...)                   \
    FETCH_AS(op, NAME, TYPE, shmem_##NAME##_atomic_##public_op, \
             shmem_ctx_##NAME##_atomic_##public_op, __VA_ARGS__)

#define EXTENDED(TYPE, NAME)                                                    \
    VOID(set, set, NAME, (TYPE * dest, TYPE value), dest, value, 0)             \
    FETCH(fetch, fetch, TYPE, NAME, (const TYPE *source), (TYPE *)source, 0, 0) \
    FETCH(swap, swap, TYPE, NAME, (TYPE * dest, TYPE value), dest, value, 0)
SHOAL_AMO_EXTENDED_TYPES(EXTENDED)

#define STANDARD(TYPE, NAME)                                                     \
    VOID(add, add, NAME, (TYPE * dest, TYPE value), dest, value, 0)              \
    VOID(add, inc, NAME, (TYPE * dest), dest, 1, 0)                              \
    FETCH(add, fetch_add, TYPE, NAME, (TYPE * dest, TYPE value), dest, value, 0) \
    FETCH(add, fetch_inc, TYPE, NAME, (TYPE * dest), dest, 1, 0)                 \
    FETCH(cswap, compare_swap, TYPE, NAME, (TYPE * dest, TYPE cond, TYPE value), dest, value, cond)
SHOAL_AMO_TYPES(STANDARD)

#define BITWISE(TYPE, NAME)                                                      \
    VOID(and, and, NAME, (TYPE * dest, TYPE value), dest, value, 0)              \
    VOID(or, or, NAME, (TYPE * dest, TYPE value), dest, value, 0)                \
    VOID(xor, xor, NAME, (TYPE * dest, TYPE value), dest, value, 0)              \
    FETCH(and, fetch_and, TYPE, NAME, (TYPE * dest, TYPE value), dest, value, 0) \
    FETCH(or, fetch_or, TYPE, NAME, (TYPE * dest, TYPE value), dest, value, 0)   \
    FETCH(xor, fetch_xor, TYPE, NAME, (TYPE * dest, TYPE value), dest, value, 0)
SHOAL_AMO_BITWISE_TYPES(BITWISE)

// ---- Deprecated names
#define OLD_VOID(op, NAME, name, PARAMETERS, operand)                \
    void p##name(ARGS PARAMETERS, int pe)                            \
    {                                                                \
        amo_##op##_##NAME(NULL, #name, dest, operand, 0, pe, false); \
    }                                                                \
    WEAK_TWIN(name);
#define OLD_FETCH(op, TYPE, NAME, name, PARAMETERS, at, operand, compare)      \
    TYPE p##name(ARGS PARAMETERS, int pe)                                      \
    {                                                                          \
        return amo_##op##_##NAME(NULL, #name, at, operand, compare, pe, true); \
    }                                                                          \
    WEAK_TWIN(name);

#define OLD(TYPE, NAME)                                                                            \
    OLD_VOID(add, NAME, shmem_##NAME##_add, (TYPE * dest, TYPE value), value)                      \
    OLD_VOID(add, NAME, shmem_##NAME##_inc, (TYPE * dest), 1)                                      \
    OLD_FETCH(add, TYPE, NAME, shmem_##NAME##_fadd, (TYPE * dest, TYPE value), dest, value, 0)     \
    OLD_FETCH(add, TYPE, NAME, shmem_##NAME##_finc, (TYPE * dest), dest, 1, 0)                     \
    OLD_FETCH(cswap, TYPE, NAME, shmem_##NAME##_cswap, (TYPE * dest, TYPE cond, TYPE value), dest, \
              value, cond)
SHOAL_AMO_OLD_TYPES(OLD)

#define OLD_EXTENDED(TYPE, NAME)                                                                   \
    OLD_VOID(set, NAME, shmem_##NAME##_set, (TYPE * dest, TYPE value), value)                      \
    OLD_FETCH(fetch, TYPE, NAME, shmem_##NAME##_fetch, (const TYPE *source), (TYPE *)source, 0, 0) \
    OLD_FETCH(swap, TYPE, NAME, shmem_##NAME##_swap, (TYPE * dest, TYPE value), dest, value, 0)
SHOAL_AMO_OLD_EXTENDED_TYPES(OLD_EXTENDED)
