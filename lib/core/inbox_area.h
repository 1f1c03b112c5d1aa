// SPDX-License-Identifier: BSD-3-Clause
// A PE's inbox as it lies in its slice. inbox.h says how it is used.
//
//     channel | ticket | drained, bell | envelope 0 .. n-1 | short payload 0 .. n-1 | payload 0 .. n-1 |
//
// A payload has room in two places, of which short ones take the first: few pages are touched by them.
//
// ticket counts the slots claimed by senders, drained those whose messages have been taken out.
// Ticket t has a slot, t % n where senders share them, which is free when t < drained + n; its envelope
// is there when its turn is t + 1. Nothing is ever cleared: turns only grow.
//
// In a ring, which has one sender, each message says where the next one will be: in the next slot,
// or, when all that were sent before it are known to have been taken out, in one of two more that
// take turns. Of two PEs that answer each other the same few lines go to and fro, and stay near.
#ifndef SHOAL_CORE_INBOX_AREA_H
#define SHOAL_CORE_INBOX_AREA_H

#include "compiler.h"
#include "place.h"
#include "tunables.h"
#include "wait.h"

#include <stdatomic.h>
#include <stdint.h>

enum { INLINE_BYTES = 32 };

struct envelope {
    LINE_ALIGNED _Atomic uint64_t turn; // last to be written
    uint64_t arg;
    union {
        int32_t from;   // PE
        uint32_t taken; // in a ring, which has one sender: the last number that it had taken out
    };
    uint32_t n; // bytes of payload: in `bytes`, in the slot's room, or at `at` when long
    uint8_t id;
    uint8_t flags; // ENVELOPE_*
    uint16_t jump; // in a ring: the next message is not in the next slot, but in slot jump - 1
    uint32_t seq;  // in a channel that is shared: number of the message between this pair of PEs
    union {
        unsigned char bytes[INLINE_BYTES];
        struct {
            struct place at;
            uint64_t long_n;
        };
    };
};
_Static_assert(sizeof(struct envelope) == CACHE_LINE, "an envelope is a line");

enum { ENVELOPE_REPLY = 1, ENVELOPE_LONG = 2, ENVELOPE_SYSTEM = 4, ENVELOPE_WANTS_RING = 8,
       ENVELOPE_UNNUMBERED = 16 };

struct channel {
    LINE_ALIGNED _Atomic uint64_t ticket;
    LINE_ALIGNED _Atomic uint64_t drained;
    struct bell bell; // rung when drained has grown
    LINE_ALIGNED struct envelope envelope[];
};

enum { RING_HOT = LIMIT_RING_SLOTS, RING_LINES = LIMIT_RING_SLOTS + 2 };

_Static_assert(RING_HOT % 2 == 0, "of the two hot slots either is the other one ^ 1");
_Static_assert(RING_LINES < UINT16_MAX, "jump says which");
_Static_assert((LIMIT_RING_SLOTS & (LIMIT_RING_SLOTS - 1)) == 0, "slots are counted by a mask");

#define CHANNEL_SIZE(slots) \
    (sizeof(struct channel) + \
     (size_t)(slots) * (sizeof(struct envelope) + LIMIT_AM_SHORT + LIMIT_AM_PAYLOAD))

#define INBOX_WORKS (UINT64_C(1) << LIMIT_RINGS) // in its doorbell: works were handed to the PE (trigger.h)
_Static_assert(LIMIT_RINGS < 64, "a bit each, and one more");

struct inbox {
    LINE_ALIGNED _Atomic uint64_t doorbell; // bit r: ring r has something new, and INBOX_WORKS
    struct bell bell;                       // rung for messages; puts ring the PE's other bell
    LINE_ALIGNED unsigned char pool[CHANNEL_SIZE(LIMIT_INBOX_SLOTS)];
};

#endif
