// SPDX-License-Identifier: BSD-3-Clause
// Batches and the table of streams, for stream.c and stream_life.c.
#ifndef SHOAL_CORE_STREAM_BATCH_H
#define SHOAL_CORE_STREAM_BATCH_H

#include "stream.h"
#include "tunables.h"

#include <pthread.h>

struct batch {
    pthread_mutex_t lock; // held while it is sent: what comes next must not overtake it
    int pe;
    _Atomic uint32_t n;       // bytes of records
    uint32_t count, messages; // records, and those that need no answer
    uint64_t left_ns;         // when something left here last (stream_message)
    _Alignas(8) unsigned char bytes[LIMIT_BATCH];
};

enum { STREAMS = 256 };
extern struct stream *_Atomic stream_table[STREAMS];
extern pthread_mutex_t stream_table_lock;

static inline struct batch *batch_at(struct stream *s, int i) // NULL: there is none yet
{
    return atomic_load_explicit(&s->batch[i], memory_order_acquire);
}

#endif
