// SPDX-License-Identifier: BSD-3-Clause
// Atomic operations by this processor, for transports that reach the word by load and store.
#ifndef SHOAL_TRANSPORTS_CPU_AMO_H
#define SHOAL_TRANSPORTS_CPU_AMO_H

#include "transport.h"

// acq_rel throughout, as in the runtime's own atomics.
#define CPU_AMO(TYPE)                                                                           \
    static inline TYPE cpu_amo_##TYPE(_Atomic TYPE *p, enum transport_op op, TYPE operand,      \
                                      TYPE compare)                                             \
    {                                                                                           \
        switch (op) {                                                                           \
        case TRANSPORT_SET:                                                                     \
        case TRANSPORT_SWAP: return atomic_exchange_explicit(p, operand, memory_order_acq_rel); \
        case TRANSPORT_ADD: return atomic_fetch_add_explicit(p, operand, memory_order_acq_rel); \
        case TRANSPORT_AND: return atomic_fetch_and_explicit(p, operand, memory_order_acq_rel); \
        case TRANSPORT_OR: return atomic_fetch_or_explicit(p, operand, memory_order_acq_rel);   \
        case TRANSPORT_XOR: return atomic_fetch_xor_explicit(p, operand, memory_order_acq_rel); \
        case TRANSPORT_CSWAP:                                                                   \
            atomic_compare_exchange_strong_explicit(p, &compare, operand, memory_order_acq_rel, \
                                                    memory_order_acquire);                      \
            return compare;                                                                     \
        default: return atomic_load_explicit(p, memory_order_acquire);                          \
        }                                                                                       \
    }
CPU_AMO(uint32_t)
CPU_AMO(uint64_t)

// The old value, zero-extended.
static inline uint64_t cpu_amo(void *p, enum transport_op op, enum transport_width width,
                               uint64_t operand, uint64_t compare)
{
    if (width == TRANSPORT_32)
        return cpu_amo_uint32_t(p, op, (uint32_t)operand, (uint32_t)compare);
    return cpu_amo_uint64_t(p, op, operand, compare);
}

#endif
