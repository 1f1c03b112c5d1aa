// SPDX-License-Identifier: BSD-3-Clause
// Messages that come: matched with a receive, or kept.
#ifndef SHOAL_MPI_ARRIVE_H
#define SHOAL_MPI_ARRIVE_H

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

// The receive that takes this message, or NULL: it is kept.
struct transfer *arrive(uint64_t address, const struct news *news);

// Takes out the message that this request of that PE sent. NULL: it is being received.
struct arrived *arrive_withdraw(uint64_t address, int pe, uint64_t sender);

// A receive that a call waits for, where nothing else is posted and nothing has come: it is not queued,
// and an eager message that fits is given to it without a look at anything else. Whatever else comes or
// is posted has it queued first (arrive_unawait). Not with threads.
struct awaited {
    struct transfer *transfer; // NULL: there is none
    uint64_t address;
    int pe; // MPI_ANY_SOURCE: any
};
extern struct awaited arrive_awaited;

bool arrive_await(struct transfer *t); // false: it has to be posted
void arrive_post_awaited(void);

static inline void arrive_unawait(void)
{
    if (unlikely(arrive_awaited.transfer))
        arrive_post_awaited();
}

// Takes the awaited receive when this message is for it; NULL: it is not.
static inline struct transfer *arrive_take_awaited(uint64_t address, int pe)
{
    struct transfer *t = arrive_awaited.transfer;
    if (!t || arrive_awaited.address != address ||
        (arrive_awaited.pe != pe && arrive_awaited.pe != MPI_ANY_SOURCE))
        return NULL;
    arrive_awaited.transfer = NULL;
    return t;
}

void arrive_down(void);

#endif
