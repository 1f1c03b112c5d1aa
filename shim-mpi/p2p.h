// SPDX-License-Identifier: BSD-3-Clause
// Messages between processes, as the rest of the shim uses them. Arguments have been checked.
#ifndef SHOAL_MPI_P2P_H
#define SHOAL_MPI_P2P_H

#include "request.h"

enum send_mode { SEND_STANDARD, SEND_SYNCHRONOUS, SEND_READY, SEND_BUFFERED };

// dest and source are ranks in comm->peers, and may be MPI_PROC_NULL; source MPI_ANY_SOURCE, tag
// MPI_ANY_TAG. The request (never NULL: lack of memory ends the job) has one reference, the caller's.
struct request *p2p_isend(struct comm *comm, enum space space, const void *buf, MPI_Count count,
                          struct type *type, int dest, int tag, enum send_mode mode);
struct request *p2p_irecv(struct comm *comm, enum space space, void *buf, MPI_Count count,
                          struct type *type, int source, int tag);

// When an envelope leaves: now or not, now and if need be waiting for room, or now or with others to the
// same process of another node (shoal_am_gather).
enum leave { LEAVE_NOW, LEAVE_WAITING, LEAVE_GATHERED };

// Sends it if that needs no request: eagerly, or from a stage. False: it needs one. To a PE.
bool p2p_send_now(struct comm *comm, enum space space, const void *buf, MPI_Count count,
                  const struct type *type, int pe, int tag, enum leave leave);

void p2p_wait(struct request *r); // request_wait, of any kind of request

// Blocking; an error code, which has not been raised. p2p_send_later: what p2p_send_now did not take,
// or what is synchronous.
int p2p_send_later(struct comm *comm, enum space space, const void *buf, MPI_Count count,
                   struct type *type, int dest, int tag, enum send_mode mode);

static inline int p2p_send(struct comm *comm, enum space space, const void *buf, MPI_Count count,
                           struct type *type, int dest, int tag, enum send_mode mode)
{
    if (unlikely(dest == MPI_PROC_NULL))
        return MPI_SUCCESS;
    if (mode != SEND_SYNCHRONOUS &&
        likely(p2p_send_now(comm, space, buf, count, type, group_pe(comm->peers, dest), tag,
                            LEAVE_WAITING)))
        return MPI_SUCCESS;
    return p2p_send_later(comm, space, buf, count, type, dest, tag, mode);
}

// The same of a receive: takes the next message if it is the one, and a short one that goes right there.
bool p2p_recv_now(struct comm *comm, enum space space, void *buf, MPI_Count count,
                  const struct type *type, int source, int tag, MPI_Status *status);
int p2p_recv_later(struct comm *comm, enum space space, void *buf, MPI_Count count,
                   struct type *type, int source, int tag, MPI_Status *status);

static inline int p2p_recv(struct comm *comm, enum space space, void *buf, MPI_Count count,
                           struct type *type, int source, int tag, MPI_Status *status)
{
    return likely(source != MPI_PROC_NULL) &&
                   likely(p2p_recv_now(comm, space, buf, count, type, source, tag, status))
               ? MPI_SUCCESS
               : p2p_recv_later(comm, space, buf, count, type, source, tag, status);
}

// Persistent: inactive until their class's start.
struct request *p2p_send_init(struct comm *comm, enum space space, const void *buf, MPI_Count count,
                              struct type *type, int dest, int tag, enum send_mode mode);
struct request *p2p_recv_init(struct comm *comm, enum space space, void *buf, MPI_Count count,
                              struct type *type, int source, int tag);

// Is there a message that such a receive would take? With message not NULL it is taken out of the
// queues, for p2p_imrecv. Does not make progress.
struct arrived;
bool p2p_probe(struct comm *comm, int source, int tag, MPI_Status *status,
               struct arrived **message);
struct request *p2p_imrecv(void *buf, MPI_Count count, struct type *type, struct arrived *message);

int p2p_up(void); // 0 or SHOAL_E*
void p2p_down(void);
// A communicator's queues.
int p2p_attach(struct comm *comm); // 0, or MPI_ERR_NO_MEM
void p2p_detach(struct comm *comm, void (*conceal)(struct comm *comm)); // so that nobody finds it

#endif
