// SPDX-License-Identifier: BSD-3-Clause
// Messages whose data travels with them. See transfer.h.
#include "arrive.h"
#include "partner.h"
#include "stats.h"
#include "transfer.h"

// ---- Sending
bool transfer_send_now(struct comm *comm, enum space space, const void *buf, MPI_Count count,
                       const struct type *type, int pe, int tag)
{
    MPI_Count bytes = count * type->size;
    if (unlikely(!partner_admits(partner_of(pe), bytes)))
        return stage_send(comm, space, buf, count, type, pe, tag);
    size_t n = (size_t)bytes;
    uint64_t address = address_of(comm, space, tag);
    stats_count(EAGER);
    if (likely(type->is_dense || n == 0)) {
        transfer_tell(pe, AM_EAGER, address, n ? type_at(type, buf) : NULL, n);
        return true;
    }
    shoal_am_room_t room;
    type_pack(type, buf, count, 0, transfer_room(pe, n, &room), n);
    shoal_am_commit(&room, AM_EAGER, address, n);
    return true;
}

bool eager_send_sync(struct transfer *t)
{
    shoal_am_room_t room;
    uint64_t self = transfer_out(t);
    size_t n = sizeof self + (size_t)t->bytes;
    if (n > transfer_am_max || !partner_admits(partner_of(t->pe), t->bytes))
        return false;
    stats_count(SYNC);
    char *payload = transfer_room(t->pe, n, &room);
    memcpy(payload, &self, sizeof self);
    if (t->bytes)
        type_pack(t->type, t->buf, t->count, 0, payload + sizeof self, (size_t)t->bytes);
    shoal_am_commit(&room, AM_SYNC, address_of(t->request.comm, t->space, t->tag), n);
    return true;
}

// ---- Receiving
void eager_accept(struct transfer *t, struct match_key key, const void *data, MPI_Count bytes)
{
    MPI_Count n = transfer_describe(t, key, bytes);
    if (n)
        transfer_place(t, 0, data, (size_t)n);
    partner_took(key.pe, bytes);
    request_complete(&t->request);
}

void eager_accept_sync(struct transfer *t, struct match_key key, const void *data, MPI_Count bytes,
                       uint64_t sender)
{
    transfer_tell(key.pe, AM_DONE, sender, NULL, 0);
    eager_accept(t, key, data, bytes);
}

static void on_eager(const shoal_am_t *am)
{
    struct news news = {.kind = ARRIVED_EAGER,
                        .key = {am->from, tag_in(am->arg)},
                        .bytes = (MPI_Count)am->n,
                        .data = am->payload,
                        .n = am->n};
    struct transfer *t = arrive(am->arg, &news);
    if (t)
        eager_accept(t, news.key, am->payload, news.bytes);
}

static void on_sync(const shoal_am_t *am)
{
    struct news news = {.kind = ARRIVED_SYNC,
                        .key = {am->from, tag_in(am->arg)},
                        .data = (const char *)am->payload + sizeof news.rts.sender,
                        .n = am->n - sizeof news.rts.sender};
    memcpy(&news.rts.sender, am->payload, sizeof news.rts.sender);
    news.bytes = (MPI_Count)news.n;
    struct transfer *t = arrive(am->arg, &news);
    if (t)
        eager_accept_sync(t, news.key, news.data, news.bytes, news.rts.sender);
}

int eager_up(void)
{
    int status = shoal_am_register(AM_EAGER, on_eager, NULL);
    return status ? status : shoal_am_register(AM_SYNC, on_sync, NULL);
}
