// SPDX-License-Identifier: BSD-3-Clause
// Short messages, at both ends. See transfer.h. What MPI_Send and MPI_Recv do nearly always is in line
// there: a tenth of their time would be to hand eight arguments on.
#ifndef SHOAL_MPI_EAGER_H
#define SHOAL_MPI_EAGER_H

#include "arrive.h"

HIDDEN extern uint64_t eager_inline; // bytes that travel in the envelope's own line

static inline void eager_count(MPI_Count bytes)
{
    stats_count_one((uint64_t)bytes <= eager_inline ? STATS_INLINE : STATS_EAGER);
}

bool eager_tell_packed(struct partner *p, int pe, uint64_t address, const void *buf,
                       MPI_Count count, const struct type *type, enum leave leave);
bool eager_not_admitted(struct comm *comm, enum space space, const void *buf, MPI_Count count,
                        const struct type *type, int pe, int tag, enum leave leave);

bool eager_send_self(struct comm *comm, enum space space, const void *buf, MPI_Count count,
                     const struct type *type, int pe, int tag);

// p2p_send_now
static INLINE bool eager_send_now(struct comm *comm, enum space space, const void *buf,
                                  MPI_Count count, const struct type *type, int pe, int tag,
                                  enum leave leave)
{
    MPI_Count bytes = count * type->size;
    struct partner *partner = partner_of(pe);
    if (unlikely(partner->is_self) && eager_send_self(comm, space, buf, count, type, pe, tag))
        return true;
    if (unlikely(!partner_admits(partner, bytes)))
        return eager_not_admitted(comm, space, buf, count, type, pe, tag, leave);
    size_t n = (size_t)bytes;
    uint64_t address = address_of(comm, space, tag);
    bool done = likely(type->is_dense || n == 0)
                    ? transfer_tell_next(partner, pe, AM_EAGER, address, type_at(type, buf), n,
                                         leave)
                    : eager_tell_packed(partner, pe, address, buf, count, type, leave);
    if (unlikely(!done)) {
        partner_takes_back(partner, bytes);
        return false;
    }
    transfer_number(partner, address);
    eager_count(bytes);
    return true;
}

// Nothing but this receive is under way on the communicator, nor has anything come for it.
static inline bool eager_is_alone(const struct comm *comm, enum space space)
{
    const struct matching *m = atomic_load_explicit(&comm->matching[space], memory_order_acquire);
    return likely(!shim_threads && !m->posted_now && !match_any(m)) &&
           likely(!atomic_load_explicit(&progress_hooks, memory_order_relaxed));
}

// p2p_recv_now
static INLINE bool eager_recv_now(struct comm *comm, enum space space, void *buf, MPI_Count count,
                                  const struct type *type, int source, int tag, MPI_Status *status)
{
    if (unlikely(!type->is_dense || !eager_is_alone(comm, space)))
        return false;
    shoal_am_wanted_t w = {.from = -1,
                           .id = AM_EAGER,
                           .arg = address_of(comm, space, tag),
                           .mask = UINT64_MAX,
                           .buf = type_at(type, buf),
                           .room = (size_t)(count * type->size)};
    struct partner *from = NULL;
    if (likely(source >= 0)) {
        w.from = group_pe(comm->peers, source);
        from = partner_of(w.from);
    }
    if (unlikely(tag == MPI_ANY_TAG)) {
        w.mask = ~TAG_MASK;
        w.arg = address_of(comm, space, 0);
    }
    if (unlikely(shoal_am_take(&w, request_looks)))
        return false;
    if (unlikely(!from)) {
        from = partner_of(w.from);
        source = group_rank(comm->peers, w.from);
    }
    stats_count(MATCHED);
    if (space == SPACE_P2P)
        from->admitted++;
    if (unlikely(partner_took(from, w.from, (MPI_Count)w.n)))
        outbox_wait(w.from); // for which it may wait
    status_set(status, source, tag_in(w.arg), (MPI_Count)w.n, false);
    return true;
}

#endif
