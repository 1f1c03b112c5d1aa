// SPDX-License-Identifier: BSD-3-Clause
// Messages whose data travels with them. See transfer.h.
#include "eager.h"

#include <stdlib.h>

// ---- Room for a message that is put together: on the stack of whatever thread it is, when it is short
enum { FEW = 4096 };

static unsigned char *take_room(unsigned char few[FEW], size_t n)
{
    return n <= FEW ? few : transfer_memory(n);
}

static void give_room(const unsigned char few[FEW], unsigned char *room)
{
    if (room != few)
        free(room);
}

// ---- Sending
uint64_t eager_inline;

bool eager_tell_packed(struct partner *p, int pe, uint64_t address, const void *buf,
                       MPI_Count count, const struct type *type, enum leave leave)
{
    size_t n = (size_t)(count * type->size);
    unsigned char few[FEW], *packed = take_room(few, n);
    type_pack(type, buf, count, 0, packed, n);
    bool done = transfer_tell_next(p, pe, AM_EAGER, address, packed, n, leave);
    give_room(few, packed);
    return done;
}

static void count_held_back(const struct partner *p, MPI_Count bytes)
{
    if (bytes <= (MPI_Count)p->eager)
        stats_count(HELD_BACK);
}

bool eager_not_admitted(struct comm *comm, enum space space, const void *buf, MPI_Count count,
                        const struct type *type, int pe, int tag, enum leave leave)
{
    count_held_back(partner_of(pe), count * type->size);
    return stage_send(comm, space, buf, count, type, pe, tag, leave == LEAVE_WAITING);
}

bool p2p_send_now(struct comm *comm, enum space space, const void *buf, MPI_Count count,
                  const struct type *type, int pe, int tag, enum leave leave)
{
    return eager_send_now(comm, space, buf, count, type, pe, tag, leave);
}

bool p2p_recv_now(struct comm *comm, enum space space, void *buf, MPI_Count count,
                  const struct type *type, int source, int tag, MPI_Status *status)
{
    return eager_recv_now(comm, space, buf, count, type, source, tag, status);
}

// To a receive of this process's own that waits for it: copied there, and nothing of it is under way or
// counted, so that threads which send to themselves do not meet.
NOINLINE bool eager_send_self(struct comm *comm, enum space space, const void *buf, MPI_Count count,
                              const struct type *type, int pe, int tag)
{
    struct matching *m = comm->matching[space];
    struct match_key key = {pe, tag};
    MPI_Count bytes = count * type->size;
    if (outbox_is_used(pe) || !(type->is_dense || bytes == 0))
        return false;
    shim_lock_take(&m->lock);
    struct posted *p = match_arrived(m, key);
    shim_lock_give(&m->lock);
    if (!p)
        return false;
    struct transfer *t = arrive_matched(TRANSFER(posted, p), false);
    MPI_Count n = transfer_describe(t, key, bytes);
    if (n)
        transfer_place(t, 0, type_at(type, buf), (size_t)n);
    eager_count(bytes);
    request_complete(&t->request);
    return true;
}

static bool tell_sync(struct transfer *t)
{
    uint64_t self = (uintptr_t)t, address = address_of(t->request.comm, t->space, t->tag);
    size_t n = sizeof self + (size_t)t->bytes;
    int pe = t->pe;
    unsigned char few[FEW], *payload = take_room(few, n);
    memcpy(payload, &self, sizeof self);
    if (t->bytes)
        type_pack(t->type, t->buf, t->count, 0, payload + sizeof self, (size_t)t->bytes);
    transfer_out(t); // all has been read
    bool done = transfer_try(pe, AM_SYNC, address, payload, n);
    give_room(few, payload);
    return done;
}

// ---- Sending what found no room
static bool go(struct note *note, int pe)
{
    struct transfer *t = TRANSFER(note, note);
    uint64_t address = address_of(t->request.comm, t->space, t->tag);
    size_t n = (size_t)t->bytes;
    if (t->mode == SEND_SYNCHRONOUS)
        return tell_sync(t);
    unsigned char few[FEW], *packed = few;
    const void *data = packed;
    if (n && t->type->is_dense) {
        data = type_at(t->type, t->buf);
    } else if (n) {
        data = packed = take_room(few, n);
        type_pack(t->type, t->buf, t->count, 0, packed, n);
    }
    bool done = transfer_try(pe, AM_EAGER, address, data, n);
    give_room(few, packed);
    if (done)
        request_complete(&t->request);
    return done;
}

static void keep(struct transfer *t)
{
    t->note = (struct note){.go = go};
    outbox_put(t->pe, &t->note);
    transfer_number(partner_of(t->pe), address_of(t->request.comm, t->space, t->tag));
}

bool eager_send_later(struct transfer *t)
{
    if (!partner_admits(partner_of(t->pe), t->bytes))
        return false;
    eager_count(t->bytes);
    keep(t);
    return true;
}

bool eager_send_sync(struct transfer *t)
{
    if (sizeof(uint64_t) + (size_t)t->bytes > partner_of(t->pe)->am_max)
        return false;
    if (!partner_admits(partner_of(t->pe), t->bytes)) {
        count_held_back(partner_of(t->pe), t->bytes);
        return false;
    }
    stats_count(SYNC);
    t->is_counted = false;
    if (outbox_is_used(t->pe) || !tell_sync(t))
        keep(t);
    else
        transfer_number(partner_of(t->pe), address_of(t->request.comm, t->space, t->tag));
    return true;
}

// ---- Receiving
static inline void accept_from(struct partner *p, struct transfer *t, struct match_key key,
                               const void *data, MPI_Count bytes)
{
    MPI_Count n = transfer_describe(t, key, bytes);
    if (n)
        transfer_place(t, 0, data, (size_t)n);
    partner_took(p, key.pe, bytes);
    request_complete(&t->request);
}

void eager_accept(struct transfer *t, struct match_key key, const void *data, MPI_Count bytes)
{
    accept_from(partner_of(key.pe), t, key, data, bytes);
}

void eager_accept_sync(struct transfer *t, struct match_key key, const void *data, MPI_Count bytes,
                       uint64_t sender)
{
    transfer_tell(key.pe, AM_DONE, sender, NULL, 0);
    eager_accept(t, key, data, bytes);
}

static NOINLINE struct transfer *unposted(const shoal_am_t *am, struct match_key key)
{
    struct news news = {.kind = ARRIVED_EAGER,
                        .key = key,
                        .bytes = (MPI_Count)am->n,
                        .data = am->payload,
                        .n = am->n};
    return arrive_unposted(am->arg, &news);
}

void eager_arrived(const shoal_am_t *am)
{
    struct partner *from = partner_of(am->from);
    struct match_key key = {am->from, tag_in(am->arg)};
    struct transfer *t = arrive_posted(from, am->arg, key);
    if (unlikely(!t) && !(t = unposted(am, key)))
        return;
    accept_from(from, t, key, am->payload, (MPI_Count)am->n);
}

void eager_arrived_sync(const shoal_am_t *am)
{
    struct rts rts = {0};
    memcpy(&rts.sender, am->payload, sizeof rts.sender);
    size_t n = am->n - sizeof rts.sender;
    struct news news = {.kind = ARRIVED_SYNC,
                        .key = {am->from, tag_in(am->arg)},
                        .bytes = (MPI_Count)n,
                        .data = (const char *)am->payload + sizeof rts.sender,
                        .n = n,
                        .rts = &rts};
    struct transfer *t = arrive(am->arg, &news);
    if (t)
        eager_accept_sync(t, news.key, news.data, news.bytes, rts.sender);
}

int eager_up(void)
{
    int status = shoal_query(SHOAL_Q_AM_INLINE, 0, &eager_inline);
    if (!status)
        status = shoal_am_register(AM_EAGER, eager_arrived, NULL);
    return status ? status : shoal_am_register(AM_SYNC, eager_arrived_sync, NULL);
}
