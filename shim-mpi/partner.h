// SPDX-License-Identifier: BSD-3-Clause
// What this process remembers of each other one: how much of what it sent eagerly has not been
// received yet, and the other way round.
//
// What may be eager and unreceived at one receiver is bounded per pair (SHOAL_MPI_WINDOW): beyond it
// the sender keeps its data and goes by rendezvous until the receiver has told what it took (CREDIT).
#ifndef SHOAL_MPI_PARTNER_H
#define SHOAL_MPI_PARTNER_H

#include "settings.h"
#include "shim.h"

enum { PARTNER_OVERHEAD = 256, PARTNERS_PER_CHUNK = 64, PARTNER_RECENT = 32 };

// Counts that go round begin shortly before they do, here and elsewhere: no long run is the first to see it.
#define PARTNER_START (UINT32_MAX - 100)

struct group;
struct partner {
    // Eager bytes, overhead included: sent, up to so many; and taken, of which it is told beyond so many.
    _Atomic uint32_t sent, most, taken, tell_at;
    uint32_t am_max, eager;     // bytes of an active message to it, and of an eager message
    uint32_t gathered;          // of an operation on a window of another node that goes with others
    _Atomic uint32_t out;       // messages by rendezvous that are not done with
    _Atomic uint8_t reach;      // enum partner_reach
    _Atomic bool is_waited_for; // messages to it are kept until there is room
    _Atomic int8_t ahead;       // long messages that went there beyond those that came (way.h)
    bool is_self;               // this process
    bool is_far;                // of another node
    struct outbox *outbox;      // where (outbox.c)
    // For hints (hint.c): how many envelopes of SPACE_P2P have come from there and gone there, and what
    // the last of those were addressed to.
    uint32_t admitted, gone, recent[PARTNER_RECENT];
    struct hints *hints;
    uint32_t told; // receives of which it is told now
    uint32_t unfollowed, untold; // of another node: hints in a row that were of no use, and receives since
    struct asker *_Atomic asker; // rma_ask.c
};
enum partner_reach { REACH_UNKNOWN, REACH_FAR, REACH_DIRECT, REACH_PRIVATE };

HIDDEN extern struct partner *_Atomic *partners; // by chunks, made when needed
HIDDEN extern _Atomic uint32_t partners_out;     // what is out to all of them
struct partner *partner_make(int pe);

static inline struct partner *partner_of(int pe)
{
    struct partner *chunk = atomic_load_explicit(&partners[(unsigned)pe / PARTNERS_PER_CHUNK],
                                                 memory_order_acquire);
    return likely(chunk) ? &chunk[(unsigned)pe % PARTNERS_PER_CHUNK] : partner_make(pe);
}

// To a word that was so much when this thread looked.
static inline uint32_t partner_add_to(_Atomic uint32_t *word, uint32_t was, uint32_t n)
{
    if (shim_threads)
        return atomic_fetch_add_explicit(word, n, memory_order_relaxed) + n;
    atomic_store_explicit(word, was + n, memory_order_relaxed);
    return was + n;
}

static inline uint32_t partner_add(_Atomic uint32_t *word, uint32_t n)
{
    return partner_add_to(word, atomic_load_explicit(word, memory_order_relaxed), n);
}

// May n bytes go to it eagerly? Counts them when they may.
static inline bool partner_admits(struct partner *p, MPI_Count n)
{
    if (unlikely(n > (MPI_Count)p->eager))
        return false;
    uint32_t cost = (uint32_t)n + PARTNER_OVERHEAD;
    uint32_t sent = atomic_load_explicit(&p->sent, memory_order_relaxed);
    if (unlikely((int32_t)(sent + cost - atomic_load_explicit(&p->most, memory_order_relaxed)) > 0))
        return false;
    partner_add_to(&p->sent, sent, cost);
    return true;
}

// They did not go that way after all.
static inline void partner_takes_back(struct partner *p, MPI_Count n)
{
    partner_add(&p->sent, -((uint32_t)n + PARTNER_OVERHEAD));
}

// Different for nearly all different addresses.
static inline uint32_t partner_mark(uint64_t address)
{
    return (uint32_t)(address * UINT64_C(0x9e3779b97f4a7c15) >> 32);
}

void partner_tell(int pe, struct partner *p, uint32_t taken);

// An eager message of n bytes has been received. True: its sender was told of it and others.
static inline bool partner_took(struct partner *p, int pe, MPI_Count n)
{
    uint32_t taken = partner_add(&p->taken, (uint32_t)n + PARTNER_OVERHEAD);
    uint32_t tell_at = atomic_load_explicit(&p->tell_at, memory_order_relaxed);
    if (likely((int32_t)(taken - tell_at) <= 0))
        return false;
    partner_tell(pe, p, taken);
    return true;
}

bool partner_is_direct(int pe);               // its shared memory is reached by load and store
bool partner_is_reached(int pe);              // and its private memory without its help
bool partner_are_near(struct group *g); // all of them are direct: of this node
// The greatest b that divides the group's size such that ranks 0 to b - 1, b to 2b - 1 and so on are each on one
// node: the size itself where all are on one.
int partner_block(struct group *g);

int partner_up(void); // 0 or SHOAL_E*
void partner_down(void);

#endif
