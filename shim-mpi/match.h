// SPDX-License-Identifier: BSD-3-Clause
// Matching: the receives that were posted and the messages that came unexpected, of one space of a
// communicator. Both are hashed by source and tag:
//
//     posted       list[h(pe, tag)] -> exact receives, oldest first      wild -> those with a
//                                                                        wildcard, oldest first
//     unexpected   list[h(pe, tag)] -> messages, oldest first            all  -> the same, in the
//                                                                        order of their arrival
//
// A message takes the older of the first exact and the first wild receive that fit, by their order
// numbers; a receive with a wildcard goes through `all`. MPI's order per source is the order in
// which messages are given to match_arrived, which the runtime's channels keep.
#ifndef SHOAL_MPI_MATCH_H
#define SHOAL_MPI_MATCH_H

#include "request.h"

enum { MATCH_BUCKETS = 32 }; // at first

// Two ways to be in a list: for the bucket, and for the whole.
struct match_link {
    struct match_link *next, **at;
};
struct match_list {
    struct match_link *first, **last;
};

// What has no wildcard, by source and tag: more lists where there is more, so that each stays short.
struct match_table {
    struct match_list *list;
    int shift; // 1 << (32 - shift) lists
    uint32_t entries;
    struct match_list few[MATCH_BUCKETS];
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
#define ARRIVED_TOLD (-1) // in the place of its bytes: its sender knows that they were taken

// What an RTS (transfer.h) carries.
struct rts {
    union {
        uint64_t sender; // its transfer; 0: it wants no answer
        uint64_t filled; // of RTS_STAGE, bytes that were there when it went
    };
    int64_t bytes;
    shoal_rptr_t from;
    enum rts_how { RTS_NOWHERE, RTS_PLACE, RTS_STAGE } how;
};

// A message that nobody has received yet; also what an MPI_Message is.
struct arrived {
    struct object head;
    struct match_link link;
    struct match_key key;
    struct match_link in_all;
    enum arrived_kind kind;
    MPI_Count bytes; // of the whole message
    struct rts rts;  // ARRIVED_RTS; of ARRIVED_SYNC its sender alone
    struct comm *comm;
    enum space space;
    uint32_t context; // of one whose communicator is not here yet,
    uint32_t length;  // of its memory (arrive.c)
    struct arrived *next_orphan;
    unsigned char data[]; // eager: the payload
};

// What is in a table has its key behind its link.
_Static_assert(offsetof(struct posted, key) - offsetof(struct posted, link) ==
                   sizeof(struct match_link),
               "match_grow reads it there");
_Static_assert(offsetof(struct arrived, key) - offsetof(struct arrived, link) ==
                   sizeof(struct match_link),
               "match_grow reads it there");

struct matching {
    shim_lock lock;
    uint64_t order;
    uint32_t posted_now; // receives in the queues
    struct match_table posted;
    struct match_list wild;
    struct match_table unexpected; // those in `all`
    struct match_list all;
};

void match_init(struct matching *m);
void match_end(struct matching *m); // empty queues

// All with m->lock held.
void match_queue(struct matching *m, struct arrived *a);
struct arrived *match_find(struct matching *m, struct match_key key); // stays in the queue
void match_remove(struct matching *m, struct arrived *a);
// The older of `exact` and the first with a wildcard that takes a message with this key.
struct posted *match_older(const struct matching *m, struct posted *exact, struct match_key key);

#define MATCH_ENTRY(type, link_, member) ((type *)(void *)((char *)(link_)-offsetof(type, member)))

static inline bool match_is_sent_by(const struct arrived *a, int pe, uint64_t sender)
{
    return a->key.pe == pe && a->kind != ARRIVED_EAGER && a->rts.sender == sender;
}
// The unexpected message with this key that this request of its PE sent, or NULL.
struct arrived *match_sent_by(struct matching *m, struct match_key key, uint64_t sender);

// Every unexpected message, for MPI_Finalize and MPI_Comm_free: the next one, NULL: none.
static inline struct arrived *match_any(const struct matching *m)
{
    return m->all.first ? MATCH_ENTRY(struct arrived, m->all.first, in_all) : NULL;
}

// ---- Posting and matching: every message does
static inline void match_list_add(struct match_list *l, struct match_link *k)
{
    k->next = NULL;
    k->at = l->last;
    *l->last = k;
    l->last = &k->next;
}

static inline void match_list_remove(struct match_list *l, struct match_link *k)
{
    *k->at = k->next;
    if (k->next)
        k->next->at = k->at;
    else
        l->last = k->at;
}

static inline struct match_list *match_bucket(const struct match_table *t, struct match_key key)
{
    uint32_t hash = (uint32_t)key.pe * 0x9e3779b1u + (uint32_t)key.tag * 0x85ebca6bu;
    return &t->list[hash >> t->shift];
}

void match_grow(struct match_table *t);

static inline void match_table_add(struct match_table *t, struct match_key key,
                                   struct match_link *k)
{
    if (unlikely(t->entries++ >> (32 - t->shift) > 1))
        match_grow(t);
    match_list_add(match_bucket(t, key), k);
}

static inline void match_table_remove(struct match_table *t, struct match_key key,
                                      struct match_link *k)
{
    t->entries--;
    match_list_remove(match_bucket(t, key), k);
}

static inline bool match_is_wild(struct match_key key)
{
    return key.pe == MPI_ANY_SOURCE || key.tag == MPI_ANY_TAG;
}

static inline struct posted *match_exact(const struct matching *m, struct match_key key)
{
    for (struct match_link *k = match_bucket(&m->posted, key)->first; k; k = k->next) {
        struct posted *p = MATCH_ENTRY(struct posted, k, link);
        if (likely(p->key.pe == key.pe && p->key.tag == key.tag))
            return p;
    }
    return NULL;
}

// The first receive for a message with this key; it stays in the queue.
static inline struct posted *match_first(const struct matching *m, struct match_key key)
{
    struct posted *exact = match_exact(m, key);
    return unlikely(m->wild.first) ? match_older(m, exact, key) : exact;
}

// Of one that is queued.
static inline void match_withdraw(struct matching *m, struct posted *p)
{
    if (unlikely(match_is_wild(p->key)))
        match_list_remove(&m->wild, &p->link);
    else
        match_table_remove(&m->posted, p->key, &p->link);
    p->is_queued = false;
    m->posted_now--;
}

// Queues the receive unless a message waits for it, which is taken out of the queues and returned.
static inline struct arrived *match_post(struct matching *m, struct posted *p)
{
    struct arrived *a = unlikely(m->all.first) ? match_find(m, p->key) : NULL;
    if (a) {
        match_remove(m, a);
        return a;
    }
    p->order = m->order++;
    p->is_queued = true;
    m->posted_now++;
    if (unlikely(match_is_wild(p->key)))
        match_list_add(&m->wild, &p->link);
    else
        match_table_add(&m->posted, p->key, &p->link);
    return NULL;
}

// The receive that takes a message with this key, out of the queue; NULL: then the caller makes an
// `arrived` and queues it.
static inline struct posted *match_arrived(struct matching *m, struct match_key key)
{
    struct posted *p = match_first(m, key);
    if (likely(p))
        match_withdraw(m, p);
    return p;
}

// p is what takes the next message with its key.
static inline bool match_is_next(const struct matching *m, const struct posted *p)
{
    return match_first(m, p->key) == p;
}

#endif
