// SPDX-License-Identifier: BSD-3-Clause
// "Remote Memory Access Routines": put, get, p, g and their nonblocking forms, which on a node are
// complete when they return.
#include "rma.h"

#include "ctx.h"
#include "pshmem.h"

// A contiguous transfer and its context twin. `bytes` is the size of an element.
#define TRANSFER(op, id, name, ctx_name, TYPE, bytes)                                        \
    void p##name(TYPE *dest, const TYPE *source, size_t nelems, int pe)                      \
    {                                                                                        \
        rma_##op(NULL, #name, id, dest, source, BYTES_OF(nelems, bytes), pe);                \
    }                                                                                        \
    WEAK_TWIN(name);                                                                         \
    void p##ctx_name(shmem_ctx_t ctx, TYPE *dest, const TYPE *source, size_t nelems, int pe) \
    {                                                                                        \
        rma_##op(ctx, #ctx_name, id, dest, source, BYTES_OF(nelems, bytes),                  \
                 ctx_pe(#ctx_name, ctx, pe));                                                \
    }                                                                                        \
    WEAK_TWIN(ctx_name);

#define ONE_ELEMENT(TYPE, NAME)                                                       \
    void pshmem_##NAME##_p(TYPE *dest, TYPE value, int pe)                            \
    {                                                                                 \
        rma_put(NULL, "shmem_" #NAME "_p", CALL_p, dest, &value, sizeof value, pe);   \
    }                                                                                 \
    WEAK_TWIN(shmem_##NAME##_p);                                                      \
    void pshmem_ctx_##NAME##_p(shmem_ctx_t ctx, TYPE *dest, TYPE value, int pe)       \
    {                                                                                 \
        rma_put(ctx, "shmem_ctx_" #NAME "_p", CALL_p, dest, &value, sizeof value,     \
                ctx_pe("shmem_ctx_" #NAME "_p", ctx, pe));                            \
    }                                                                                 \
    WEAK_TWIN(shmem_ctx_##NAME##_p);                                                  \
    TYPE pshmem_##NAME##_g(const TYPE *source, int pe)                                \
    {                                                                                 \
        TYPE value;                                                                   \
        rma_get(NULL, "shmem_" #NAME "_g", CALL_g, &value, source, sizeof value, pe); \
        return value;                                                                 \
    }                                                                                 \
    WEAK_TWIN(shmem_##NAME##_g);                                                      \
    TYPE pshmem_ctx_##NAME##_g(shmem_ctx_t ctx, const TYPE *source, int pe)           \
    {                                                                                 \
        TYPE value;                                                                   \
        rma_get(ctx, "shmem_ctx_" #NAME "_g", CALL_g, &value, source, sizeof value,   \
                ctx_pe("shmem_ctx_" #NAME "_g", ctx, pe));                            \
        return value;                                                                 \
    }                                                                                 \
    WEAK_TWIN(shmem_ctx_##NAME##_g);

#define TYPED(TYPE, NAME)                                                                   \
    TRANSFER(put, CALL_put, shmem_##NAME##_put, shmem_ctx_##NAME##_put, TYPE, sizeof(TYPE)) \
    TRANSFER(get, CALL_get, shmem_##NAME##_get, shmem_ctx_##NAME##_get, TYPE, sizeof(TYPE)) \
    TRANSFER(put, CALL_put_nbi, shmem_##NAME##_put_nbi, shmem_ctx_##NAME##_put_nbi, TYPE,   \
             sizeof(TYPE))                                                                  \
    TRANSFER(get, CALL_get_nbi, shmem_##NAME##_get_nbi, shmem_ctx_##NAME##_get_nbi, TYPE,   \
             sizeof(TYPE))                                                                  \
    ONE_ELEMENT(TYPE, NAME)
SHOAL_RMA_TYPES(TYPED)

#define SIZED(BITS, BYTES)                                                                     \
    TRANSFER(put, CALL_put, shmem_put##BITS, shmem_ctx_put##BITS, void, BYTES)                 \
    TRANSFER(get, CALL_get, shmem_get##BITS, shmem_ctx_get##BITS, void, BYTES)                 \
    TRANSFER(put, CALL_put_nbi, shmem_put##BITS##_nbi, shmem_ctx_put##BITS##_nbi, void, BYTES) \
    TRANSFER(get, CALL_get_nbi, shmem_get##BITS##_nbi, shmem_ctx_get##BITS##_nbi, void, BYTES)
SHOAL_SIZES(SIZED)

TRANSFER(put, CALL_put, shmem_putmem, shmem_ctx_putmem, void, 1)
TRANSFER(get, CALL_get, shmem_getmem, shmem_ctx_getmem, void, 1)
TRANSFER(put, CALL_put_nbi, shmem_putmem_nbi, shmem_ctx_putmem_nbi, void, 1)
TRANSFER(get, CALL_get_nbi, shmem_getmem_nbi, shmem_ctx_getmem_nbi, void, 1)
