// SPDX-License-Identifier: BSD-3-Clause
// "Memory Ordering Routines". On a node stores to one peer become visible in the order they were
// made once a release fence stands between them, and an operation is complete when it returns;
// quiet is the fence that also orders later loads.
#include "call.h"
#include "ctx.h"
#include "log.h"
#include "pshmem.h"
#include "remote.h"
#include "world.h"

#include <stdatomic.h>

static inline void fence(const char *call, shmem_ctx_t ctx)
{
    call_note(CALL_fence, -1);
    if (unlikely(!world_is_direct())) {
        check_up(call);
        remote_fence(ctx);
    }
    atomic_thread_fence(memory_order_release);
}

static inline void quiet(const char *call, shmem_ctx_t ctx)
{
    call_note(CALL_quiet, -1);
    if (unlikely(!world_is_direct())) {
        check_up(call);
        if (ctx == SHMEM_CTX_DEFAULT)
            remote_flush();
        else
            remote_flush_ctx(ctx);
    }
    atomic_thread_fence(memory_order_seq_cst);
}

void pshmem_fence(void)
{
    fence("shmem_fence", SHMEM_CTX_DEFAULT);
}
WEAK_TWIN(shmem_fence);

// The chapter lets fence and quiet pass over SHMEM_CTX_INVALID; what is no context is refused.
static inline bool is_valid(const char *call, shmem_ctx_t ctx)
{
    if (unlikely(ctx && ctx->magic != CTX_MAGIC))
        ctx_bad(call, ctx, 0);
    return ctx != NULL;
}

static void check_list(const char *call, const int *target_pes, size_t npes)
{
    if (npes && !target_pes)
        fatal("%s: argument target_pes is NULL, with %zu PEs in it", call, npes);
}

void pshmem_ctx_fence(shmem_ctx_t ctx)
{
    if (is_valid("shmem_ctx_fence", ctx))
        fence("shmem_ctx_fence", ctx);
}
WEAK_TWIN(shmem_ctx_fence);

void pshmem_quiet(void)
{
    quiet("shmem_quiet", SHMEM_CTX_DEFAULT);
}
WEAK_TWIN(shmem_quiet);

void pshmem_ctx_quiet(shmem_ctx_t ctx)
{
    if (is_valid("shmem_ctx_quiet", ctx))
        quiet("shmem_ctx_quiet", ctx);
}
WEAK_TWIN(shmem_ctx_quiet);

void pshmem_ctx_pe_quiet(shmem_ctx_t ctx, const int *target_pes, size_t npes)
{
    check_list("shmem_ctx_pe_quiet", target_pes, npes);
    for (size_t i = 0; i < npes; i++)
        ctx_pe("shmem_ctx_pe_quiet", ctx, target_pes[i]);
    if (npes)
        quiet("shmem_ctx_pe_quiet", ctx);
}
WEAK_TWIN(shmem_ctx_pe_quiet);

void pshmem_pe_quiet(const int *target_pes, size_t npes)
{
    check_list("shmem_pe_quiet", target_pes, npes);
    for (size_t i = 0; i < npes; i++)
        check_pe("shmem_pe_quiet", target_pes[i]);
    if (npes)
        quiet("shmem_pe_quiet", SHMEM_CTX_DEFAULT);
}
WEAK_TWIN(shmem_pe_quiet);
