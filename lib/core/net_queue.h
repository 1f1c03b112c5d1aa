// SPDX-License-Identifier: BSD-3-Clause
// What messages between nodes begin with, and those that came and wait until somebody has time for them.
#ifndef SHOAL_CORE_NET_QUEUE_H
#define SHOAL_CORE_NET_QUEUE_H

#include "operation.h"

#include <pthread.h>
#include <stdatomic.h>
#include <stddef.h>

enum net_kind { NET_MESSAGE = 1, NET_RUN, NET_DONE, NET_COLL, NET_BATCH, NET_TAKEN, NET_PART };

struct net_head {
    uint8_t kind, id, flags, unused;
    int32_t from;   // of a message: the PE it is from, which may be another of the sender's node
    uint32_t n;     // bytes of data behind
    int32_t status; // NET_DONE
    // Of NET_RUN and NET_BATCH, given back by NET_DONE. Of a message that comes in parts, the same in
    // all of them (net_part.h); 0: it is whole.
    uint64_t token;
    // The same: which of the flight's answers. NET_DONE of batches: how many. NET_TAKEN: net_credit.h.
    uint64_t arg;
    shoal_rptr_t to;     // a long message's payload
    uint64_t long_n;     // its length, or that of all parts
    struct operation op; // NET_RUN alone, and what aligns the data behind it
    uint64_t unused_end;
};
_Static_assert(sizeof(struct net_head) % _Alignof(max_align_t) == 0 &&
                   offsetof(struct net_head, op) % _Alignof(max_align_t) == 0,
               "data may stay behind a head where it came");

// In the token of a batch that is answered, with the stream's mark; 0: it is not answered.
#define NET_OF_STREAM (UINT64_C(1) << 63)

void net_answer(int pe, const struct net_head *head, const void *data); // waits for room, and runs nothing meanwhile

struct came {
    struct came *next;
    int from;
    struct net_head head;
    unsigned char *data; // head.n bytes, in `room` or in memory
    void *memory;        // a block of the transport's (transport.h), or NULL
    _Alignas(max_align_t) unsigned char room[];
};

// With room for n bytes; ends the process where there is no memory.
struct came *came_new(int from, const struct net_head *head, size_t n);
void came_free(struct came *c);

struct queue {
    pthread_mutex_t lock;
    struct came *first, **last;
    _Atomic bool has_some;
};

void queue_put(struct queue *q, struct came *c);
struct came *queue_take(struct queue *q); // NULL: it is empty
void queue_drop(struct queue *q);

#endif
