// SPDX-License-Identifier: BSD-3-Clause
// What this process counts: which way its messages went. Shown as performance variables of MPI_T,
// and printed with SHOAL_STATS=1 when its last user leaves the library.
#ifndef SHOAL_MPI_STATS_H
#define SHOAL_MPI_STATS_H

#include "shim.h"

// X(word, name, class in MPI_T, meaning)
#define STATS(X)                                                                                 \
    X(EAGER, "eager", COUNTER, "messages sent with their envelope")                              \
    X(INLINE, "inline", COUNTER, "of these, those in the envelope's own cache line")             \
    X(SYNC, "synchronous", COUNTER, "the same, answered when they are matched")                  \
    X(RENDEZVOUS, "rendezvous", COUNTER, "messages of which only an envelope was sent at first") \
    X(STAGED, "staged", COUNTER, "messages that their sender copied to shared memory")           \
    X(STREAM, "stream", COUNTER, "of the rendezvous, those sent in pieces when asked for")       \
    X(PULL, "pull", COUNTER, "messages whose data was got from the sender by the receiver")      \
    X(SPLIT, "split", COUNTER, "of these, those of which the sender may copy pieces")            \
    X(PUSHED, "pushed", COUNTER, "pieces that a sender copied")                                  \
    X(HINT, "hint", COUNTER, "receives that their source was told of")                           \
    X(HINT_FOLLOWED, "hint_followed", COUNTER, "messages that their sender copied to such ones") \
    X(HELD_BACK, "held_back", COUNTER,                                                           \
      "messages not sent with their envelope because the receiver has too many unreceived ones") \
    X(KEPT, "kept", COUNTER, "messages that waited at their sender for room in the channel")     \
    X(CREDIT, "credit", COUNTER, "notes to senders of what has been received")                   \
    X(BUFFERED, "buffered", COUNTER, "messages sent from an attached buffer")                    \
    X(PARTITIONS, "partitions", COUNTER, "partitions sent")                                      \
    X(GATHERED, "gathered", COUNTER, "operations on windows that went with others")              \
    X(ASKED, "asked", COUNTER, "operations on windows that their target did when asked")         \
    X(COLL_SHORT, "coll_short", COUNTER, "collectives that went through what members publish")   \
    X(COLL_TRIGGERED, "coll_triggered", COUNTER, "collectives that go on by themselves")         \
    X(INBOX, "channel_inbox", COUNTER, "messages sent to the inboxes that all share")            \
    X(RING, "channel_ring", COUNTER, "messages sent through the rings of pairs")                 \
    X(FAR, "channel_network", COUNTER, "messages sent to other nodes")                           \
    X(MATCHED, "matched", COUNTER, "messages that found their receive posted")                   \
    X(UNEXPECTED, "unexpected", COUNTER, "messages that came before their receive")              \
    X(UNEXPECTED_NOW, "unexpected_now", LEVEL, "messages that wait for their receive")           \
    X(UNEXPECTED_MOST, "unexpected_most", HIGHWATERMARK, "most that have waited at a time")      \
    X(SLEEPS, "sleeps", COUNTER, "times a waiting thread gave its core away")

enum stats_word {
#define X(word, name, class, meaning) STATS_##word,
    STATS(X)
#undef X
        STATS_WORDS
};

HIDDEN extern struct stats_part {
    _Alignas(64) _Atomic uint64_t word[STATS_WORDS];
} stats[SHIM_PARTS];

uint64_t stats_get(enum stats_word word);

static inline void stats_count_one(enum stats_word word)
{
    int part = shim_part();
    _Atomic uint64_t *at = &stats[part].word[word];
    if (unlikely(part == SHIM_SHARED))
        atomic_fetch_add_explicit(at, 1, memory_order_relaxed);
    else
        atomic_store_explicit(at, atomic_load_explicit(at, memory_order_relaxed) + 1,
                              memory_order_relaxed);
}
#define stats_count(word) stats_count_one(STATS_##word)

void stats_unexpected(int change); // 1, -1
void stats_keep(void);             // what the runtime counts, before it goes
void stats_print(void);            // with SHOAL_STATS=1: a line of what is not 0

#endif
