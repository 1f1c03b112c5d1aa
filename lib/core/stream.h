// SPDX-License-Identifier: BSD-3-Clause
// A stream of operations to PEs of other nodes: what a context is between nodes. It has its own
// context of the transport, so that quiet waits for its own operations alone, and it gathers small
// puts, atomics without a result and, where their sender says so, messages into batches:
//
//     put 8 B --\                          transport            PE 3
//     inc -------+-> batch for PE 3 -> one active message -> applied in order, answered once
//     p --------/
//
// A batch leaves when it is full, when anything of this PE waits, tests, fences what cannot follow in
// the same batch, or sends a message at once, and by the heartbeat when the PE computes. A put or atomic
// that has been gathered alone leaves as what it is. A batch of messages alone is not answered.
//
// A fence costs nothing between operations that are gathered: messages of a pair keep their order.
// What goes by itself after it waits until the batches are answered.
#ifndef SHOAL_CORE_STREAM_H
#define SHOAL_CORE_STREAM_H

#include "answers.h"
#include "compiler.h"
#include "transport.h"

#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct batch;
enum { STREAM_BATCHES = 64 }; // PEs with an open batch at once, by the low bits of their number

struct stream {
    void *ctx; // of the transport; NULL: the endpoint's own
    uint32_t index;
    _Atomic uint64_t fences;  // that had batches before them which were not answered
    _Atomic uint64_t passed;  // of those; the batches of the rest come before what is sent now
    _Atomic bool in_session;  // shmem_ctx_session_start(SHMEM_CTX_SESSION_BATCH)
    struct answers batches;   // sent, and answered
    _Atomic(struct batch *) batch[STREAM_BATCHES];
};
extern struct stream stream_default;

void stream_down(void);

// NULL: there is no network, or no room for one more; the default stream serves then.
struct stream *stream_new(long options);
void stream_free(struct stream *s); // after stream_flush

// An atomic in a batch.
struct stream_amo {
    enum transport_op op;
    enum transport_width width;
    uint64_t operand, compare;
};

// True: gathered, the source may be reused. False: nothing has happened, it has to go by itself. in_order: messages
// that are sent later come after it, as after all that is in a batch with something else.
bool stream_put(struct stream *s, struct transport_remote to, const void *from, size_t n,
                bool in_order);
bool stream_amo(struct stream *s, struct transport_remote at, const struct stream_amo *amo);
// Data and signal, in this order whatever leaves between.
bool stream_put_signal(struct stream *s, struct transport_remote to, const void *from, size_t n,
                       struct transport_remote at, const struct stream_amo *signal, bool in_order);

// A message, to follow those gathered before it. False: it has to go at once, as the first for some time,
// too long, or because there is no room; stream_message_left when it has.
struct inbox_message;
bool stream_message(int pe, const struct inbox_message *m);
void stream_message_left(int pe);

// May anything that was gathered for pe, or left in a batch, not be done yet?
bool stream_is_behind(struct stream *s, int pe);

// The atomic done by the target's processor, after all that was gathered for it; the old value.
uint64_t stream_amo_there(struct stream *s, struct transport_remote at,
                          const struct stream_amo *amo);

// What was gathered for pe (-1: all PEs) leaves; in order with messages sent later. False, without
// STREAM_WAITS: something is left, for which there is no room now.
enum { STREAM_IN_ORDER = 1, STREAM_WAITS = 2 };
bool stream_push(struct stream *s, int pe, unsigned how);
void stream_flush(struct stream *s);                // and answered
void stream_fence(struct stream *s);                // then a flush of what went by itself

// Is there a fence with batches before it that are not answered?
static inline bool stream_is_fenced(struct stream *s)
{
    return atomic_load_explicit(&s->fences, memory_order_relaxed) !=
           atomic_load_explicit(&s->passed, memory_order_relaxed);
}

// Before a put or an atomic that goes by itself.
static inline void stream_alone(struct stream *s)
{
    if (unlikely(stream_is_fenced(s)))
        stream_flush(s);
}

// Batches that are not empty, of all streams; whoever waits pushes them.
extern _Atomic int stream_open;
void stream_push_all(void);
void stream_for_all(
    void (*fn)(struct stream *s)); // but the default one; none is made or freed meanwhile

// A session is a hint: larger puts are gathered too, and signals wait like the rest.
void stream_session(struct stream *s, bool starts);

// What came from PE `from`: the records of a batch; false when they are malformed. *old: of the last
// atomic.
bool stream_apply(int from, const void *records, size_t n, uint64_t *old);
void stream_answered(uint64_t mark, uint64_t count); // the mark that net_batch_send was given

#endif
