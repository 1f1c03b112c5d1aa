// SPDX-License-Identifier: BSD-3-Clause
// Matching: the receives that were posted and the messages that came unexpected, of one space of a
// communicator. Both are hashed by source and tag:
//
//     posted       bucket[h(pe, tag)] -> exact receives, oldest first      wild -> those with a
//                                                                          wildcard, oldest first
//     unexpected   bucket[h(pe, tag)] -> messages, oldest first            all  -> the same, in the
//                                                                          order of their arrival
//
// A message takes the older of the first exact and the first wild receive that fit, by their order
// numbers; a receive with a wildcard goes through `all`. MPI's order per source is the order in
// which messages are given to match_arrived, which the runtime's channels keep.
#ifndef SHOAL_MPI_MATCH_H
#define SHOAL_MPI_MATCH_H

#include "request.h"

enum { MATCH_BUCKETS = 32 };

// Two ways to be in a list: for the bucket, and for the whole.
struct match_link {
    struct match_link *next, **at;
};
struct match_list {
    struct match_link *first, **last;
};

struct match_key {
    int pe, tag; // of a receive: MPI_ANY_SOURCE, MPI_ANY_TAG
};

// A receive, within its request.
struct posted {
    struct match_link link;
    struct match_key key;
    uint64_t order;
    bool is_queued;
};

enum arrived_kind { ARRIVED_EAGER, ARRIVED_SYNC, ARRIVED_RTS };

// What an RTS (transfer.h) carries.
struct rts {
    uint64_t sender; // its transfer; 0: it wants no answer
    int64_t bytes;
    shoal_rptr_t from;
    enum rts_how { RTS_NOWHERE, RTS_PLACE, RTS_STAGE } how;
};

// A message that nobody has received yet; also what an MPI_Message is.
struct arrived {
    struct object head;
    struct match_link link, in_all;
    struct match_key key;
    enum arrived_kind kind;
    MPI_Count bytes; // of the whole message
    struct rts rts;  // ARRIVED_RTS; of ARRIVED_SYNC its sender alone
    struct comm *comm;
    enum space space;
    uint32_t context; // of one whose communicator is not here yet,
    struct arrived *next_orphan;
    unsigned char data[]; // eager: the payload
};

struct matching {
    shim_lock lock;
    uint64_t order;
    uint32_t posted_now; // receives in the queues
    struct match_list posted[MATCH_BUCKETS], wild;
    struct match_list unexpected[MATCH_BUCKETS], all;
};

void match_init(struct matching *m);

// All with m->lock held. match_post queues the receive unless a message waits for it, which it takes
// out of the queues and returns. match_arrived likewise returns the receive that takes a message
// with this key, or NULL: then the caller makes an `arrived` and queues it.
struct arrived *match_post(struct matching *m, struct posted *p);
struct posted *match_arrived(struct matching *m, struct match_key key);
void match_queue(struct matching *m, struct arrived *a);
struct arrived *match_find(struct matching *m, struct match_key key); // stays in the queue
void match_remove(struct matching *m, struct arrived *a);
bool match_is_next(const struct matching *m, const struct posted *p); // for a message with its key
void match_withdraw(struct matching *m, struct posted *p);            // one that is queued

static inline bool match_is_sent_by(const struct arrived *a, int pe, uint64_t sender)
{
    return a->key.pe == pe && a->kind != ARRIVED_EAGER && a->rts.sender == sender;
}
// The unexpected message that this request of that PE sent, or NULL.
struct arrived *match_sent_by(struct matching *m, int pe, uint64_t sender);

// Every unexpected message, for MPI_Finalize and MPI_Comm_free: the next one, NULL: none.
static inline struct arrived *match_any(const struct matching *m)
{
    struct match_link *first = m->all.first;
    return first ? (struct arrived *)(void *)((char *)first - offsetof(struct arrived, in_all))
                 : NULL;
}

#endif
