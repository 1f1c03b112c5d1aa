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
    union {
        uint64_t offset;
        uint64_t arg; // a message's
    };
    uint32_t n; // bytes of a put or a message
    union {
        uint8_t region;
        uint8_t id; // a message's
    };
    uint8_t op; // enum transport_op, RECORD_PUT or RECORD_MESSAGE
    uint8_t width;
    uint8_t flags; // a message's; of others 1: messages sent later come after it
};
_Static_assert(sizeof(struct record) == 16, "the same everywhere");
enum { RECORD_PUT = TRANSPORT_OP_COUNT, RECORD_MESSAGE };
enum { RECORD_MOST = sizeof(struct record) + 2 * sizeof(uint64_t) }; // of an atomic

static inline size_t record_padded(size_t n)
{
    return (n + 7) & ~(size_t)7;
}

#endif
