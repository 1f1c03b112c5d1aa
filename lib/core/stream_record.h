// SPDX-License-Identifier: BSD-3-Clause
// What a batch (stream.h) is made of: records, one after the other.
#ifndef SHOAL_CORE_STREAM_RECORD_H
#define SHOAL_CORE_STREAM_RECORD_H

#include "transport.h"

#include <stddef.h>
#include <stdint.h>

// In front of an operation's bytes, which are padded to whole words. An atomic's are its operand, and
// for CSWAP what it compares with.
struct record {
    uint64_t offset;
    uint32_t n; // bytes of a put
    uint8_t region;
    uint8_t op; // enum transport_op, or RECORD_PUT
    uint8_t width;
    uint8_t unused;
};
_Static_assert(sizeof(struct record) == 16, "the same everywhere");
enum { RECORD_PUT = TRANSPORT_OP_COUNT, RECORD_MOST = sizeof(struct record) + 2 * sizeof(uint64_t) };

static inline size_t record_padded(size_t n)
{
    return (n + 7) & ~(size_t)7;
}

#endif
