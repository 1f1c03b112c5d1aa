// SPDX-License-Identifier: BSD-3-Clause
// "Remote Memory Access Routines": iput, iget, ibput, ibget.
#include "ctx.h"
#include "pshmem.h"
#include "rma.h"

#define STRIDED_AS(op, id, name, ctx_name, TYPE, bytes)                                            \
    void p##name(TYPE *dest, const TYPE *source, ptrdiff_t dst, ptrdiff_t sst, size_t nelems,      \
                 int pe)                                                                           \
    {                                                                                              \
        rma_##op(NULL, #name, id, dest, source, &(struct rma_strides){dst, sst, 1, nelems, bytes}, \
                 pe);                                                                              \
    }                                                                                              \
    WEAK_TWIN(name);                                                                               \
    void p##ctx_name(shmem_ctx_t ctx, TYPE *dest, const TYPE *source, ptrdiff_t dst,               \
                     ptrdiff_t sst, size_t nelems, int pe)                                         \
    {                                                                                              \
        rma_##op(ctx, #ctx_name, id, dest, source,                                                 \
                 &(struct rma_strides){dst, sst, 1, nelems, bytes}, ctx_pe(#ctx_name, ctx, pe));   \
    }                                                                                              \
    WEAK_TWIN(ctx_name);

#define BLOCKED_AS(op, id, name, ctx_name, TYPE, bytes)                                      \
    void p##name(TYPE *dest, const TYPE *source, ptrdiff_t dst, ptrdiff_t sst, size_t bsize, \
                 size_t nblocks, int pe)                                                     \
    {                                                                                        \
        rma_##op(NULL, #name, id, dest, source,                                              \
                 &(struct rma_strides){dst, sst, bsize, nblocks, bytes}, pe);                \
    }                                                                                        \
    WEAK_TWIN(name);                                                                         \
    void p##ctx_name(shmem_ctx_t ctx, TYPE *dest, const TYPE *source, ptrdiff_t dst,         \
                     ptrdiff_t sst, size_t bsize, size_t nblocks, int pe)                    \
    {                                                                                        \
        rma_##op(ctx, #ctx_name, id, dest, source,                                           \
                 &(struct rma_strides){dst, sst, bsize, nblocks, bytes},                     \
                 ctx_pe(#ctx_name, ctx, pe));                                                \
    }                                                                                        \
    WEAK_TWIN(ctx_name);

#define TYPED(TYPE, NAME)                                                                         \
    STRIDED_AS(iput, CALL_iput, shmem_##NAME##_iput, shmem_ctx_##NAME##_iput, TYPE, sizeof(TYPE)) \
    STRIDED_AS(iget, CALL_iget, shmem_##NAME##_iget, shmem_ctx_##NAME##_iget, TYPE, sizeof(TYPE)) \
    BLOCKED_AS(iput, CALL_ibput, shmem_##NAME##_ibput, shmem_ctx_##NAME##_ibput, TYPE,            \
               sizeof(TYPE))                                                                      \
    BLOCKED_AS(iget, CALL_ibget, shmem_##NAME##_ibget, shmem_ctx_##NAME##_ibget, TYPE, sizeof(TYPE))
SHOAL_RMA_TYPES(TYPED)

#define SIZED(BITS, BYTES)                                                              \
    STRIDED_AS(iput, CALL_iput, shmem_iput##BITS, shmem_ctx_iput##BITS, void, BYTES)    \
    STRIDED_AS(iget, CALL_iget, shmem_iget##BITS, shmem_ctx_iget##BITS, void, BYTES)    \
    BLOCKED_AS(iput, CALL_ibput, shmem_ibput##BITS, shmem_ctx_ibput##BITS, void, BYTES) \
    BLOCKED_AS(iget, CALL_ibget, shmem_ibget##BITS, shmem_ctx_ibget##BITS, void, BYTES)
SHOAL_SIZES(SIZED)
