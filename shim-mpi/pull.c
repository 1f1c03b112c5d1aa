// SPDX-License-Identifier: BSD-3-Clause
// Rendezvous: the receiver gets the data where the sender has it. See transfer.h.
#include "arrive.h"
#include "hint.h"
#include "partner.h"
#include "settings.h"
#include "stats.h"
#include "way.h"

#include <stdlib.h>

// What has gaps goes by a copy of its sender, and of a receiver who cannot take it piece by piece: in shared
// memory, as long as there is some, for there the other one reaches it by load, or the network as it is.
static void *make_copy(struct transfer *t, size_t n)
{
    t->copy = shoal_alloc(n);
    t->is_shared = t->copy;
    return t->copy ? t->copy : (t->copy = transfer_memory(n));
}

static void end_copy(struct transfer *t)
{
    if (t->copy && t->is_shared)
        shoal_free(t->copy);
    else
        free(t->copy);
    t->copy = NULL;
}

// ---- The sender
bool pull_expose(struct transfer *t, const void *data, size_t n, shoal_rptr_t *at)
{
    if (n == 0 || shoal_rptr_own(data, at) == SHOAL_OK)
        return true;
    if (partner_is_reached(t->pe))
        return shoal_rptr_private(data, at) == SHOAL_OK;
    return shoal_region_lend((void *)(uintptr_t)data, n, &t->region) == SHOAL_OK &&
           shoal_rptr_lent(t->region, 0, at) == SHOAL_OK;
}

static bool expose(struct transfer *t, shoal_rptr_t *from)
{
    const void *data = t->copy ? t->copy : type_at(t->type, t->buf);
    return (t->bytes == 0 || !shim_settings.stream) && pull_expose(t, data, (size_t)t->bytes, from);
}

static void count_out(int pe, int more)
{
    partner_add(&partner_of(pe)->out, (uint32_t)more);
    partner_add(&partners_out, (uint32_t)more);
}

// A short synchronous one that is not in shared memory: the kernel would take longer than a copy at either end, wherever
// the two cores are (of 16 KB 3.3 to 3.7 us; those copies 2.4, and 8.9 between cores that are far from each other).
static bool is_better_copied(const struct transfer *t)
{
    enum { SHORT = 8192 };
    shoal_rptr_t at;
    return t->mode == SEND_SYNCHRONOUS && t->bytes <= SHORT &&
           (size_t)t->bytes <= shim_settings.stage && partner_is_direct(t->pe) &&
           shoal_rptr_own(type_at(t->type, t->buf), &at) != SHOAL_OK;
}

void pull_send(struct transfer *t)
{
    struct rts rts = {.bytes = t->bytes};
    stats_count(RENDEZVOUS);
    t->is_counted = true;
    count_out(t->pe, 1);
    if (t->bytes && (!t->type->is_dense || is_better_copied(t)))
        type_pack(t->type, t->buf, t->count, 0, make_copy(t, (size_t)t->bytes), (size_t)t->bytes);
    uint64_t address = address_of(t->request.comm, t->space, t->tag);
    rts.how = expose(t, &rts.from) ? RTS_PLACE : RTS_NOWHERE;
    hint_defers_from = HINT_LEAST_DEFERRED;
    hint_look(t);
    rts.sender = transfer_out(t);
    transfer_tell(t->pe, AM_RTS, address, &rts, sizeof rts);
    hint_defers_from = SIZE_MAX;
    transfer_number(partner_of(t->pe), address);
    if (rts.how == RTS_PLACE && t->space == SPACE_P2P)
        hint_follow(t);
}

void transfer_end_send(struct transfer *t)
{
    if (t->region)
        shoal_region_deregister(t->region);
    t->region = NULL;
    end_copy(t);
    hint_end(t);
    if (t->is_counted) {
        count_out(t->pe, -1);
        way_ended((size_t)t->bytes);
    }
    request_complete(&t->request);
}

static void on_done(const shoal_am_t *am)
{
    transfer_end_send(transfer_back(am->arg));
}

// ---- The receiver
// The data has been got.
void pull_end(struct transfer *t)
{
    if (t->region)
        shoal_region_deregister(t->region);
    t->region = NULL;
    if (t->event.status)
        t->request.error = error_of(t->event.status);
    if (t->copy && t->moved == 0 && !t->event.status)
        transfer_place(t, 0, t->copy, (size_t)t->request.bytes);
    end_copy(t);
    if (t->tells_done && t->other)
        transfer_tell(t->pe, AM_DONE, t->other, NULL, 0);
    request_complete(&t->request);
}

static bool look_after_pull(struct progress_hook *hook)
{
    struct transfer *t = TRANSFER(hook, hook);
    if (!transfer_event_is_done(&t->event))
        return false;
    progress_remove(hook);
    pull_end(t);
    return true;
}

static void *place_of(const struct transfer *t)
{
    return t->copy ? t->copy : type_at(t->type, t->buf);
}

static void get(struct transfer *t, shoal_rptr_t from)
{
    size_t n = (size_t)t->request.bytes;
    int status = n ? shoal_get(place_of(t), from, n, NULL, &t->event) : SHOAL_OK;
    if (status)
        t->event.status = status;
    if (transfer_event_is_done(&t->event)) {
        pull_end(t);
        return;
    }
    t->hook = (struct progress_hook){.fn = look_after_pull};
    progress_add(&t->hook);
}

// As much at a time as stays in the caches from being got to being placed; of what is placed from where it is,
// as no call should take too long for.
enum { GOT = 1 << 16, PLACED = 1 << 19 };

static bool place_piece(struct progress_hook *hook)
{
    struct transfer *t = TRANSFER(hook, hook);
    MPI_Count rest = t->request.bytes - t->moved, most = t->data ? PLACED : GOT;
    MPI_Count n = rest < most ? rest : most;
    const char *data = t->data ? t->data + t->moved : t->copy;
    if (!t->data)
        t->event.status = shoal_get(t->copy, shoal_rptr_add(t->from, t->moved), (size_t)n, NULL,
                                    NULL);
    if (t->event.status == SHOAL_OK)
        transfer_place(t, t->moved, data, (size_t)n);
    t->moved += n;
    if (n == rest || t->event.status != SHOAL_OK) {
        progress_remove(hook);
        pull_end(t);
    }
    return true;
}

// Without help of a process of this node. In the calls that follow: the one that matches it may be about to send
// something.
static bool place_data(struct transfer *t, shoal_rptr_t from)
{
    size_t n = (size_t)t->request.bytes;
    t->data = shoal_direct(from, n);
    t->from = from;
    if (!t->data && !partner_is_reached(t->pe))
        return false;
    t->is_shared = false;
    if (!t->data)
        t->copy = transfer_memory(n < GOT ? n : GOT);
    t->hook = (struct progress_hook){.fn = place_piece, .is_brief = true};
    progress_add(&t->hook);
    request_count_activity();
    return true;
}

void pull_begin(struct transfer *t, const struct rts *rts)
{
    size_t n = (size_t)t->request.bytes;
    t->other = rts->sender;
    t->tells_done = true;
    t->copy = NULL;
    t->moved = 0;
    t->event = (shoal_event_t){0};
    if (n)
        stats_count(PULL);
    if (n && !t->type->is_dense) {
        if (place_data(t, rts->from))
            return;
        make_copy(t, n);
    }
    if (!n || !split_accept(t, rts, place_of(t)))
        get(t, rts->from);
}

void pull_accept(struct transfer *t, const struct rts *rts)
{
    size_t n = (size_t)t->request.bytes;
    if (unlikely(t->told)) {
        hint_accept(t, rts);
        return;
    }
    way_came(t, true, !n || !shoal_direct(rts->from, n)); // not of what lies in shared memory
    if (!hint_defer(t, rts))
        pull_begin(t, rts);
}

void pull_arrived(const shoal_am_t *am)
{
    struct rts rts;
    memcpy(&rts, am->payload, sizeof rts);
    struct news news = {
        .kind = ARRIVED_RTS, .key = {am->from, tag_in(am->arg)}, .bytes = rts.bytes, .rts = &rts};
    struct transfer *t = arrive(am->arg, &news);
    if (t)
        transfer_accept_rts(t, news.key, &rts);
}

int pull_up(void)
{
    int status = shoal_am_register(AM_RTS, pull_arrived, NULL);
    return status ? status : shoal_am_register(AM_DONE, on_done, NULL);
}
