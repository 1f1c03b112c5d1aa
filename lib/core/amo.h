// SPDX-License-Identifier: BSD-3-Clause
// Atomic memory operations (OpenSHMEM 1.6, "Atomic Memory Operations"). On the node they are CPU
// atomics on the peer's mapping. All but sets, which release, are acq_rel: programs build locks and flags
// from them.
// AMO_<OP> makes, for one C type, amo_<op>_<name>(ctx, call, dest, operand, compare, pe, wanted): ctx
// NULL is the default one; the result counts only when it is wanted.
#ifndef SHOAL_CORE_AMO_H
#define SHOAL_CORE_AMO_H

#include "call.h"
#include "remote.h"
#include "world.h"

#include <stdatomic.h>
#include <string.h>

#define AMO_WIDTH(TYPE) (sizeof(TYPE) == 4 ? TRANSPORT_32 : TRANSPORT_64)

static inline uint64_t amo_to_bits(const void *value, size_t n)
{
    uint64_t bits = 0;
    memcpy(&bits, value, n); // little-endian, as are x86-64 and aarch64
    return bits;
}

// As peer_at; what is not aligned takes the slow path too, which says so.
static inline void *amo_at(const void *dest, size_t n, int pe)
{
    return likely(((uintptr_t)dest & (n - 1)) == 0) ? peer_at(dest, n, pe) : NULL;
}

// shmem_fence orders a fetch behind earlier stores (table "Memory Ordering Routines"). The release fence there
// does that on aarch64; on x86-64 it is no instruction, and the other atomics that return a value are full
// barriers, which a fetch alone is not.
static inline void amo_fetch_fence(void)
{
    atomic_thread_fence(memory_order_seq_cst);
}

// One operation: `expression` computes it on `at`, the _Atomic word at the peer; OP is what a
// transport is asked for.
#define AMO_FUNCTION(op, OP, TYPE, NAME, expression)                                          \
    static inline TYPE amo_##op##_##NAME(struct shoal_ctx *ctx, const char *call, TYPE *dest, \
                                         TYPE operand, TYPE compare, int pe, bool wanted)     \
    {                                                                                         \
        call_note(CALL_atomic, pe);                                                           \
        _Atomic TYPE *at = amo_at(dest, sizeof *dest, pe);                                    \
        TYPE old = compare;                                                                   \
        if (likely(at != NULL)) {                                                             \
            struct bell *bell = &world_ctl(pe)->bell;                                         \
            old = expression;                                                                 \
            if (TRANSPORT_##OP != TRANSPORT_FETCH)                                            \
                bell_check(bell);                                                             \
        } else {                                                                              \
            uint64_t bits = remote_amo(ctx, call, dest, TRANSPORT_##OP, AMO_WIDTH(TYPE),      \
                                       amo_to_bits(&operand, sizeof operand),                 \
                                       amo_to_bits(&compare, sizeof compare), pe, wanted);    \
            memcpy(&old, &bits, sizeof old);                                                  \
        }                                                                                     \
        (void)operand;                                                                        \
        return old;                                                                           \
    }

#define AMO_SET(TYPE, NAME)            \
    AMO_FUNCTION(set, SET, TYPE, NAME, \
                 (atomic_store_explicit(at, operand, memory_order_release), operand))
#define AMO_FETCH(TYPE, NAME)              \
    AMO_FUNCTION(fetch, FETCH, TYPE, NAME, \
                 (amo_fetch_fence(), atomic_load_explicit(at, memory_order_acquire)))
#define AMO_SWAP(TYPE, NAME)             \
    AMO_FUNCTION(swap, SWAP, TYPE, NAME, \
                 atomic_exchange_explicit(at, operand, memory_order_acq_rel))
#define AMO_ADD(TYPE, NAME) \
    AMO_FUNCTION(add, ADD, TYPE, NAME, atomic_fetch_add_explicit(at, operand, memory_order_acq_rel))
#define AMO_CSWAP(TYPE, NAME)                                                             \
    AMO_FUNCTION(cswap, CSWAP, TYPE, NAME,                                                \
                 (atomic_compare_exchange_strong_explicit(                                \
                      at, &compare, operand, memory_order_acq_rel, memory_order_acquire), \
                  compare))
#define AMO_BIT(op, OP, TYPE, NAME)  \
    AMO_FUNCTION(op, OP, TYPE, NAME, \
                 atomic_fetch_##op##_explicit(at, operand, memory_order_acq_rel))

#endif
