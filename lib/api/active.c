// SPDX-License-Identifier: BSD-3-Clause
// Deprecated collectives over active sets ("Deprecated API").
#include "call.h"
#include "check_coll.h"
#include "coll.h"
#include "log.h"
#include "pshmem.h"
#include "remote.h"

#define ACTIVE int PE_start, int logPE_stride, int PE_size, long *pSync

void pshmem_barrier(ACTIVE)
{
    struct group g = check_active_set("shmem_barrier", PE_start, logPE_stride, PE_size, pSync);
    call_enter(CALL_barrier);
    remote_flush();
    coll_sync(&g);
    call_leave();
}
WEAK_TWIN(shmem_barrier);

void pshmem_sync(ACTIVE)
{
    struct group g = check_active_set("shmem_sync", PE_start, logPE_stride, PE_size, pSync);
    call_enter(CALL_sync);
    coll_sync(&g);
    call_leave();
}
WEAK_TWIN(shmem_sync);

#define BODY(name, id, dest_bytes, source_bytes, what)                                         \
    struct group g = check_active_set(name, PE_start, logPE_stride, PE_size, pSync);           \
    check_buffers(name, dest, dest_bytes, source, source_bytes);                               \
    call_enter(id);                                                                            \
    what;                                                                                      \
    call_leave();

#define SIZED(BITS, BYTES)                                                                     \
    void pshmem_broadcast##BITS(void *dest, const void *source, size_t nelems, int PE_root,    \
                                ACTIVE)                                                        \
    {                                                                                          \
        BODY("shmem_broadcast" #BITS, CALL_broadcast, BYTES_OF(nelems, BYTES), BYTES_OF(nelems, BYTES),          \
             (check_root("shmem_broadcast" #BITS, PE_root, PE_size),                           \
              coll_broadcast(&g, dest, source, BYTES_OF(nelems, BYTES), PE_root, false)))               \
    }                                                                                          \
    WEAK_TWIN(shmem_broadcast##BITS);                                                          \
    void pshmem_collect##BITS(void *dest, const void *source, size_t nelems, ACTIVE)           \
    {                                                                                          \
        BODY("shmem_collect" #BITS, CALL_collect, BYTES_OF(nelems, BYTES), BYTES_OF(nelems, BYTES),              \
             coll_collect(&g, dest, source, BYTES_OF(nelems, BYTES)))                                   \
    }                                                                                          \
    WEAK_TWIN(shmem_collect##BITS);                                                            \
    void pshmem_fcollect##BITS(void *dest, const void *source, size_t nelems, ACTIVE)          \
    {                                                                                          \
        BODY("shmem_fcollect" #BITS, CALL_fcollect, BYTES_OF(BYTES_OF(nelems, BYTES), PE_size),          \
             BYTES_OF(nelems, BYTES), coll_fcollect(&g, dest, source, BYTES_OF(nelems, BYTES)))                  \
    }                                                                                          \
    WEAK_TWIN(shmem_fcollect##BITS);                                                           \
    void pshmem_alltoall##BITS(void *dest, const void *source, size_t nelems, ACTIVE)          \
    {                                                                                          \
        check_alltoall("shmem_alltoall" #BITS, dest, source, 1, 1, nelems, BYTES, PE_size);    \
        BODY("shmem_alltoall" #BITS, CALL_alltoall, 0, 0,                                      \
             coll_alltoall(&g, dest, source, 1, 1, nelems, BYTES))                             \
    }                                                                                          \
    WEAK_TWIN(shmem_alltoall##BITS);                                                           \
    void pshmem_alltoalls##BITS(void *dest, const void *source, ptrdiff_t dst, ptrdiff_t sst,  \
                                size_t nelems, ACTIVE)                                         \
    {                                                                                          \
        check_alltoall("shmem_alltoalls" #BITS, dest, source, dst, sst, nelems, BYTES,         \
                       PE_size);                                                               \
        BODY("shmem_alltoalls" #BITS, CALL_alltoalls, 0, 0,                                    \
             coll_alltoall(&g, dest, source, dst, sst, nelems, BYTES))                         \
    }                                                                                          \
    WEAK_TWIN(shmem_alltoalls##BITS);
SIZED(32, 4)
SIZED(64, 8)

static void to_all(const char *call, const struct reduce_op *op, void *dest, const void *source,
                   int nreduce, ACTIVE)
{
    if (nreduce < 0)
        fatal("%s: argument nreduce is %d", call, nreduce);
    size_t n = (size_t)nreduce;
    BODY(call, CALL_reduce, BYTES_OF(n, op->size), BYTES_OF(n, op->size), coll_reduce(&g, op, dest, source, n))
}

#define TO_ALL(op, TYPE, name)                                                                 \
    void p##name(TYPE *dest, const TYPE *source, int nreduce, int PE_start, int logPE_stride,  \
                 int PE_size, TYPE *pWrk, long *pSync)                                         \
    {                                                                                          \
        (void)pWrk;                                                                            \
        to_all(#name, REDUCE_OP(op, TYPE), dest, source, nreduce, PE_start, logPE_stride,      \
               PE_size, pSync);                                                                \
    }                                                                                          \
    WEAK_TWIN(name);

#define BITWISE(TYPE, NAME)                      \
    TO_ALL(and, TYPE, shmem_##NAME##_and_to_all) \
    TO_ALL(or, TYPE, shmem_##NAME##_or_to_all)   \
    TO_ALL(xor, TYPE, shmem_##NAME##_xor_to_all)
SHOAL_TO_ALL_BITWISE_TYPES(BITWISE)

#define ORDER(TYPE, NAME)                        \
    TO_ALL(max, TYPE, shmem_##NAME##_max_to_all) \
    TO_ALL(min, TYPE, shmem_##NAME##_min_to_all)
SHOAL_TO_ALL_ORDER_TYPES(ORDER)

#define ARITH(TYPE, NAME)                        \
    TO_ALL(sum, TYPE, shmem_##NAME##_sum_to_all) \
    TO_ALL(prod, TYPE, shmem_##NAME##_prod_to_all)
SHOAL_TO_ALL_ARITH_TYPES(ARITH)
