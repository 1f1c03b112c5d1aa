// SPDX-License-Identifier: BSD-3-Clause
// "Signaling Operations": put with signal, signal set, add and fetch.
#include "amo.h"
#include "ctx.h"
#include "log.h"
#include "p2p.h"
#include "pshmem.h"
#include "rma.h"

AMO_SET(uint64_t, word)
AMO_ADD(uint64_t, word)

static _Noreturn COLD void bad_op(const char *call, int sig_op)
{
    fatal("%s: argument sig_op is %d, not SHMEM_SIGNAL_SET or SHMEM_SIGNAL_ADD", call, sig_op);
}

static inline void signal_at(shmem_ctx_t ctx, const char *call, uint64_t *sig_addr, uint64_t signal,
                             int sig_op, int pe)
{
    if (sig_op == SHMEM_SIGNAL_SET)
        amo_set_word(ctx, call, sig_addr, signal, 0, pe, false); // release: after the data
    else
        amo_add_word(ctx, call, sig_addr, signal, 0, pe, false);
}

// By itself: between nodes as one without data, since somebody waits for it.
static inline void signal_alone(shmem_ctx_t ctx, const char *call, uint64_t *sig_addr,
                                uint64_t signal, int sig_op, int pe)
{
    if (likely(amo_at(sig_addr, sizeof *sig_addr, pe) != NULL)) {
        signal_at(ctx, call, sig_addr, signal, sig_op, pe);
        call_note(CALL_signal, pe);
        return;
    }
    call_note(CALL_signal, pe);
    remote_put_signal(ctx, call, sig_addr, NULL, 0, sig_addr,
                      sig_op == SHMEM_SIGNAL_SET ? TRANSPORT_SET : TRANSPORT_ADD, signal, pe);
}

static inline void put_signal(shmem_ctx_t ctx, const char *call, void *dest, const void *source,
                              size_t n, uint64_t *sig_addr, uint64_t signal, int sig_op, int pe)
{
    if (unlikely(sig_op != SHMEM_SIGNAL_SET && sig_op != SHMEM_SIGNAL_ADD))
        bad_op(call, sig_op);
    call_note(CALL_put_signal, pe);
    void *to = peer_at(dest, n, pe);
    if (unlikely(!to)) {
        remote_put_signal(ctx, call, dest, source, n, sig_addr,
                          sig_op == SHMEM_SIGNAL_SET ? TRANSPORT_SET : TRANSPORT_ADD, signal, pe);
        return;
    }
    rma_copy(to, source, n); // the signal's bell suffices
    signal_at(ctx, call, sig_addr, signal, sig_op, pe);
    call_note(CALL_put_signal, pe); // which was that of an atomic operation
}

#define PUT_SIGNAL(name, ctx_name, TYPE, bytes)                                                  \
    void p##name(TYPE *dest, const TYPE *source, size_t nelems, uint64_t *sig_addr,              \
                 uint64_t signal, int sig_op, int pe)                                            \
    {                                                                                            \
        put_signal(NULL, #name, dest, source, BYTES_OF(nelems, bytes), sig_addr, signal, sig_op, \
                   pe);                                                                          \
    }                                                                                            \
    WEAK_TWIN(name);                                                                             \
    void p##ctx_name(shmem_ctx_t ctx, TYPE *dest, const TYPE *source, size_t nelems,             \
                     uint64_t *sig_addr, uint64_t signal, int sig_op, int pe)                    \
    {                                                                                            \
        put_signal(ctx, #ctx_name, dest, source, BYTES_OF(nelems, bytes), sig_addr, signal,      \
                   sig_op, ctx_pe(#ctx_name, ctx, pe));                                          \
    }                                                                                            \
    WEAK_TWIN(ctx_name);

#define TYPED(TYPE, NAME)                                                                    \
    PUT_SIGNAL(shmem_##NAME##_put_signal, shmem_ctx_##NAME##_put_signal, TYPE, sizeof(TYPE)) \
    PUT_SIGNAL(shmem_##NAME##_put_signal_nbi, shmem_ctx_##NAME##_put_signal_nbi, TYPE, sizeof(TYPE))
SHOAL_RMA_TYPES(TYPED)

#define SIZED(BITS, BYTES)                                                          \
    PUT_SIGNAL(shmem_put##BITS##_signal, shmem_ctx_put##BITS##_signal, void, BYTES) \
    PUT_SIGNAL(shmem_put##BITS##_signal_nbi, shmem_ctx_put##BITS##_signal_nbi, void, BYTES)
SHOAL_SIZES(SIZED)

PUT_SIGNAL(shmem_putmem_signal, shmem_ctx_putmem_signal, void, 1)
PUT_SIGNAL(shmem_putmem_signal_nbi, shmem_ctx_putmem_signal_nbi, void, 1)

void pshmem_signal_set(uint64_t *sig_addr, uint64_t signal, int pe)
{
    signal_alone(NULL, "shmem_signal_set", sig_addr, signal, SHMEM_SIGNAL_SET, pe);
}
WEAK_TWIN(shmem_signal_set);

void pshmem_ctx_signal_set(shmem_ctx_t ctx, uint64_t *sig_addr, uint64_t signal, int pe)
{
    signal_alone(ctx, "shmem_ctx_signal_set", sig_addr, signal, SHMEM_SIGNAL_SET,
                 ctx_pe("shmem_ctx_signal_set", ctx, pe));
}
WEAK_TWIN(shmem_ctx_signal_set);

void pshmem_signal_add(uint64_t *sig_addr, uint64_t signal, int pe)
{
    signal_alone(NULL, "shmem_signal_add", sig_addr, signal, SHMEM_SIGNAL_ADD, pe);
}
WEAK_TWIN(shmem_signal_add);

void pshmem_ctx_signal_add(shmem_ctx_t ctx, uint64_t *sig_addr, uint64_t signal, int pe)
{
    signal_alone(ctx, "shmem_ctx_signal_add", sig_addr, signal, SHMEM_SIGNAL_ADD,
                 ctx_pe("shmem_ctx_signal_add", ctx, pe));
}
WEAK_TWIN(shmem_ctx_signal_add);

uint64_t pshmem_signal_fetch(const uint64_t *sig_addr)
{
    check_up("shmem_signal_fetch");
    check_symmetric("shmem_signal_fetch", "sig_addr", sig_addr, sizeof *sig_addr);
    check_aligned("shmem_signal_fetch", "sig_addr", sig_addr, sizeof *sig_addr);
    return atomic_load_explicit((const _Atomic uint64_t *)sig_addr, memory_order_acquire);
}
WEAK_TWIN(shmem_signal_fetch);

uint64_t pshmem_signal_wait_until(uint64_t *sig_addr, int cmp, uint64_t cmp_value)
{
    const struct p2p_set set = {.call = "shmem_signal_wait_until",
                                .ivars = sig_addr,
                                .n = 1,
                                .cmp = cmp,
                                .values = &cmp_value,
                                .kind = P2P_U64,
                                .is_signal = true};
    return p2p_wait_one(&set);
}
WEAK_TWIN(shmem_signal_wait_until);
