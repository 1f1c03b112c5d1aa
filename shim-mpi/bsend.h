// SPDX-License-Identifier: BSD-3-Clause
// Buffered sends (MPI 5.0, "Buffer Allocation and Usage"): the data is copied to the buffer that the
// user attached to the communicator, its session or the process, and sent from there.
#ifndef SHOAL_MPI_BSEND_H
#define SHOAL_MPI_BSEND_H

#include "p2p.h"

// Raises MPI_ERR_BUFFER when there is no room.
int bsend(const char *call, struct comm *comm, const void *buf, MPI_Count count, struct type *type,
          int dest, int tag);

// A persistent one, inactive.
struct request *bsend_init(struct comm *comm, const void *buf, MPI_Count count, struct type *type,
                           int dest, int tag);

// The owner of a buffer (a communicator, a session) ends: waits until what is in the buffer has been
// sent, and detaches it.
void bsend_end(const void *owner);
void bsend_down(void); // the same for all buffers there are

#endif
