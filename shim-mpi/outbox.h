// SPDX-License-Identifier: BSD-3-Clause
// Messages to processes whose channels have no room. No call but a blocking send and a blocking
// receive, for its answer, waits for room, and no handler does: what cannot go is kept here, in its
// order, and goes in some later progress.
//
//     partner.is_waited_for   outbox of that process | note -> note -> note
//
// While there are notes, all later messages to that process go behind them. A note is an eager send,
// which lies in its request and keeps its data where it is, or a copy of a message of the library's
// own: the envelope of a rendezvous, an answer.
#ifndef SHOAL_MPI_OUTBOX_H
#define SHOAL_MPI_OUTBOX_H

#include "partner.h"

struct note {
    struct note *next;
    // Sends it, without waiting; false: there is no room. Once it is sent the note is its owner's: an
    // answer may have ended it already.
    bool (*go)(struct note *note, int pe);
};

void outbox_put(int pe, struct note *note);
void outbox_put_copy(int pe, int id, uint64_t arg, const void *payload, size_t n);
void outbox_wait(int pe); // until nothing is kept for it; progresses
void outbox_wait_all(void);
void outbox_down(void);

static inline bool outbox_is_used_of(const struct partner *p)
{
    // Pairs with the release in outbox.c: what was kept has gone.
    return unlikely(atomic_load_explicit(&p->is_waited_for, memory_order_acquire));
}
static inline bool outbox_is_used(int pe)
{
    return outbox_is_used_of(partner_of(pe));
}

#endif
