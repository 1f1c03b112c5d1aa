// SPDX-License-Identifier: BSD-3-Clause
// What the adversary holds back, and when it lets it go. The lock is held in all of these.
//
// Operations are held in a list:
//
//     put get amo am ---> held ---> wanted ---> under way ---> ended
//                     number       due, flush,  the real      the caller's request
//                     due, key     idle         transport's
//
// Each is given a number; it is wanted once so many later ones were made as chance gave it (`due`),
// or when a flush or an operation behind a fence needs it, or when the PE idles. Of those wanted the
// one with the least key goes first, unless a fence or the order of messages stands before it.
//
// A put that may be called DONE is copied. Of one that is PENDING nothing is copied: a program that
// overwrites its source too early is found as well.
#ifndef SHOAL_TRANSPORTS_ADVERSARY_HOLD_H
#define SHOAL_TRANSPORTS_ADVERSARY_HOLD_H

#include "transport.h"
#include "tunables.h"

#include <pthread.h>

enum {
    HELD_MOST = HOSTILE ? 8 : 64,
    MESSAGES_MOST = HELD_MOST / 2, // a PE that takes no messages must not stop puts
    CLOSE_SECONDS = 5,
    OWN_TICKS = 16, // of a call of progress by the thread that made the last operation; others: 1
};

enum held_kind { HELD_PUT, HELD_GET, HELD_AMO, HELD_AM };

struct adversary_ctx {
    void *real;
    uint64_t epoch; // fences so far
    bool failed;    // an operation without a request did
};

struct held {
    struct held *next;
    enum held_kind kind;
    struct adversary_ctx *ctx;
    struct transport_remote at;
    uint64_t number, epoch;
    uint64_t refused;   // round in which the real transport said AGAIN
    uint64_t due, key;  // key orders those with the same `due`
    unsigned patience;  // ticks, see adversary_tick
    unsigned lingering; // calls of progress for which the end is not told
    bool wanted, under_way;
    const void *from;
    void *to;
    size_t n;
    void *copy;
    enum transport_op op;
    enum transport_width width;
    uint64_t operand, compare, *result;
    struct transport_request *request; // the caller's, may be NULL
    struct transport_request own;      // what the real transport has
};

struct adversary {
    const struct transport *real;
    void *ep;
    struct transport_facts facts; // those of the real one
    uint64_t seed, number, rounds;
    size_t inject_max;
    unsigned spread;             // how many operations another one may be overtaken by
    unsigned idle;               // ticks since the last operation, while nobody waits for one
    pthread_t caller;            // of the last operation
    struct transport_job job;    // the caller's
    _Atomic unsigned char *lost; // PEs
    pthread_mutex_t lock;
    struct adversary_ctx ctx; // of operations without one
    struct held slots[HELD_MOST], *free;
    struct held *first; // the newest
    int messages;       // of them
};

uint64_t adversary_mix(uint64_t x);

// A free one, for an operation that is filled in and then held; NULL: none now. hold may hand it on
// at once.
struct held *adversary_take(struct adversary *a, enum held_kind kind, struct adversary_ctx *ctx,
                            struct transport_remote at, struct transport_request *request);
void adversary_hold(struct adversary *a, struct held *h);

// Does nothing stand before it, held or under way? What does is wanted then.
bool adversary_is_free(struct adversary *a, const struct held *h);
// Hands on those wanted; tells the end of those that have ended. How many.
int adversary_release(struct adversary *a);
int adversary_collect(struct adversary *a);
// A call of progress passes.
void adversary_tick(struct adversary *a);

#endif
