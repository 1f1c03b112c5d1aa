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

// The queues that this address names, NULL: the communicator is not here (yet).
struct matching *arrive_queues(uint64_t address, struct comm **comm);

void arrive_down(void);

#endif
