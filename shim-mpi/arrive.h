// SPDX-License-Identifier: BSD-3-Clause
// Messages that come: matched with a receive, or kept.
#ifndef SHOAL_MPI_ARRIVE_H
#define SHOAL_MPI_ARRIVE_H

#include "hint.h"
#include "partner.h"
#include "stats.h"
#include "transfer.h"

// A message as it comes, before anybody keeps it.
struct news {
    enum arrived_kind kind;
    struct match_key key;
    MPI_Count bytes;       // of the whole message
    const void *data;      // what of it came along,
    size_t n;              // so many bytes
    const struct rts *rts; // of those that came without all their data; of a synchronous one the
                           // sender alone; NULL: eager
};

// Takes out the message that this request of that PE sent. NULL: it is being received.
struct arrived *arrive_withdraw(uint64_t address, int pe, uint64_t sender);

static inline struct matching *arrive_queues(struct comm *comm, uint64_t address)
{
    // Pairs with the release in p2p_attach.
    struct matching *m = atomic_load_explicit(&comm->matching[space_in(address)], memory_order_acquire);
    if (likely(m))
        shim_lock_take(&m->lock);
    return m;
}

// The queues that this address names, locked; NULL: the communicator is not here (yet).
struct matching *arrive_enter_other(uint64_t address, struct comm **comm);
static inline struct matching *arrive_enter(uint64_t address, struct comm **comm)
{
    if (unlikely(context_in(address) != comm_world.context))
        return arrive_enter_other(address, comm);
    *comm = &comm_world; // which stays
    return arrive_queues(&comm_world, address);
}

// A message has found its receive; is_last: no other one is posted. What else has come would be kept then:
// better that its receive is posted first.
static inline struct transfer *arrive_matched(struct transfer *t, bool is_last)
{
    stats_count(MATCHED);
    if (is_last || !t->request.is_held) // for which a call waits
        shoal_am_enough();
    if (unlikely(t->told))
        hint_withdraw(t);
    return t;
}

// Every message that comes is given to arrive_posted once: the receive that was posted for it, or NULL.
// Then arrive_unposted keeps it, and returns NULL, or the receive that another thread has posted since.
static inline struct transfer *arrive_posted(struct partner *from, uint64_t address,
                                             struct match_key key)
{
    if (!shim_threads && space_in(address) == SPACE_P2P)
        from->admitted++;
    struct comm *comm;
    struct matching *m = arrive_enter(address, &comm);
    if (unlikely(!m))
        return NULL;
    struct posted *p = match_arrived(m, key);
    bool is_last = !m->posted_now;
    shim_lock_give(&m->lock);
    return likely(p) ? arrive_matched(TRANSFER(posted, p), is_last) : NULL;
}
struct transfer *arrive_unposted(uint64_t address, const struct news *news);
void arrive_end(struct arrived *a); // of one that was kept, and is in no queue

// Both.
static inline struct transfer *arrive(uint64_t address, const struct news *news)
{
    struct transfer *t = arrive_posted(partner_of(news->key.pe), address, news->key);
    return t ? t : arrive_unposted(address, news);
}

void arrive_down(void);

#endif
