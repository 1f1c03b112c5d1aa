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

void arrive_down(void);

#endif
