// SPDX-License-Identifier: BSD-3-Clause
// Sending messages. See inbox.h.
#include "inbox.h"

#include "call.h"
#include "copy.h"
#include "handlers.h"
#include "help.h"
#include "log.h"
#include "net_message.h"
#include "peers.h"
#include "inbox_channel.h"
#include "inbox_pages.h"
#include "settings.h"
#include "wait.h"

#include <stdlib.h>
#include <string.h>

enum { REQUESTS_PER_LOOK = 16 };

static _Atomic uint64_t sent_shared;
static uint32_t ring_after; // messages to a PE before it is asked for a ring; 0: it never is

// ---- Sending
static bool is_room(const struct channel *c, uint32_t slots, uint64_t ticket)
{
    // Pairs with the release in give_back: the slot's last message has been read.
    return ticket - atomic_load_explicit(&c->drained, memory_order_acquire) < slots;
}

static inline void take_slot(struct channel *c, size_t slot, uint64_t ticket,
                             struct inbox_room *room)
{
    room->channel = c;
    room->ticket = ticket;
    room->envelope = &c->envelope[slot];
    // Through a receiver that is another process; pairs with publish.
    KNOWN_TO_BE_AFTER(room->envelope->turn);
}

static NOINLINE bool find_claimable(struct peer *peer)
{
    if (!peer->ring)
        return false;
    // Pairs with the release in give_back, as in is_room.
    peer->claimable = atomic_load_explicit(&peer->ring->drained, memory_order_acquire) +
                      LIMIT_RING_SLOTS;
    return peer->ticket < peer->claimable;
}

// Where the message after this one will be. A slot of the ring is as free by then as if all tickets
// used them in turn; the hot ones, of which the other one may be in use, are free at once.
static inline void choose_next(struct peer *peer, struct envelope *e)
{
    uint16_t slot = peer->slot, next;
    // Pairs with the release in taken_from_ring; before that, over there, with those of count_received and
    // next_in_ring: the other PE has read all of them.
    if (atomic_load_explicit(&peer->taken, memory_order_acquire) == peer->sent) {
        next = peer->hot;
        peer->hot = next ^ 1;
        e->jump = next + 1;
    } else {
        next = peer->position;
        peer->position = (next + 1) & (LIMIT_RING_SLOTS - 1);
        e->jump = slot < RING_HOT ? 0 : next + 1;
        // More may follow: a slot to come, which the receiver has read and does not look at yet.
        prefetch_to_write(&peer->ring->envelope[(next + 7) & (LIMIT_RING_SLOTS - 1)]);
    }
    peer->slot = next;
}

// The next slot of the ring, which is free. This PE alone claims them, with the peer locked.
static inline struct envelope *next_in_ring(struct peer *peer)
{
    struct envelope *e = &peer->ring->envelope[peer->slot];
    COMPUTED(e);
    peer->ticket++;
    // Through a receiver that is another process; pairs with publish.
    KNOWN_TO_BE_AFTER(e->turn);
    choose_next(peer, e);
    peer->sent++;
    // Pairs with the release in count_received, in this PE.
    e->taken = atomic_load_explicit(&peer->received, memory_order_acquire);
    return e;
}

static inline bool is_claimable(struct peer *peer)
{
    return likely(peer->ticket < peer->claimable) || find_claimable(peer);
}

static inline size_t slot_in(const struct channel *c, const struct envelope *e)
{
    return (size_t)(e - c->envelope);
}

static bool claim(struct channel *c, struct inbox_room *room)
{
    uint64_t t = atomic_load_explicit(&c->ticket, memory_order_relaxed);
    do {
        if (!is_room(c, LIMIT_INBOX_SLOTS, t))
            return false;
    } while (!atomic_compare_exchange_weak_explicit(&c->ticket, &t, t + 1, memory_order_relaxed,
                                                    memory_order_relaxed));
    take_slot(c, t & (LIMIT_INBOX_SLOTS - 1), t, room);
    atomic_fetch_add_explicit(&sent_shared, 1, memory_order_relaxed);
    return true;
}

static inline void publish(struct envelope *e, uint64_t ticket)
{
    // Pairs with the acquire load in is_ready: the message comes before.
    atomic_store_explicit(&e->turn, ticket + 1, memory_order_release);
}

static inline void label(struct envelope *e, int id, uint64_t arg, size_t n, int flags)
{
    e->arg = arg;
    e->n = (uint32_t)n;
    e->id = (uint8_t)id;
    e->flags = (uint8_t)flags;
}

// Where the slot has room for n bytes.
static inline unsigned char *place_in(const struct inbox_room *room, size_t n)
{
    struct channel *c = room->channel;
    return c ? payload_of(c, room->ring_bit ? RING_LINES : LIMIT_INBOX_SLOTS,
                          slot_in(c, room->envelope), n)
             : room->payload;
}

static inline void fill(const struct inbox_room *room, const struct inbox_message *m)
{
    struct envelope *e = room->envelope;
    label(e, m->id, m->arg, m->n, m->flags);
    if (m->flags & ENVELOPE_LONG) {
        e->at = m->at;
        e->long_n = m->n;
    } else if (m->payload && likely(m->n <= INLINE_BYTES)) {
        copy_few(e->bytes, m->payload, m->n);
    } else if (m->payload) {
        unsigned char *there = place_in(room, m->n);
        if (room->channel && !room->ring_bit)
            pages_of_shared(room, there, m->n);
        memcpy(there, m->payload, m->n);
    }
}

void inbox_fill(const struct inbox_room *room, const struct inbox_message *m)
{
    fill(room, m);
}

static bool claim_shared(int from, struct inbox_room *room)
{
    if (!claim(shared_channel(room->pe), room))
        return false;
    room->envelope->from = from;
    return true;
}

// The last message through the shared channel opens the ring that was offered.
static bool open_ring(struct peer *peer, struct inbox_room *room)
{
    uint64_t number = peer->made % CACHE_LINE; // of the ring, whose place is that of a line
    if (!claim_shared(world.me, room))
        return false;
    inbox_fill(room, &(struct inbox_message){
                         .arg = number, .id = INBOX_RING_OPEN, .flags = ENVELOPE_SYSTEM});
    room->envelope->seq = ++peer->sent;
    publish(room->envelope, room->ticket);
    peer->ring = ref_at(peer->made - number);
    peer->position = 1;
    peer->hot = RING_HOT;
    peer->ring_bit = UINT64_C(1) << number;
    peer->made = 0;
    return true;
}

static bool claim_shared_next(struct peer *peer, struct inbox_room *room)
{
    if (!claim_shared(world.me, room))
        return false;
    room->envelope->seq = ++peer->sent;
    room->ring_bit = 0;
    room->wants_ring = ring_after && peer->sent >= ring_after && !peer->asked &&
                       room->pe != world.me;
    peer->asked |= room->wants_ring;
    return true;
}

static bool claim_next(struct peer *peer, struct inbox_room *room)
{
    if (unlikely(peer->made) && !open_ring(peer, room))
        return false;
    if (!peer->ring)
        return claim_shared_next(peer, room);
    if (!is_claimable(peer))
        return false;
    struct envelope *e = next_in_ring(peer);
    take_slot(peer->ring, slot_in(peer->ring, e), peer->ticket - 1, room);
    room->ring_bit = peer->ring_bit;
    room->wants_ring = false;
    return true;
}

// To another node, or to nobody: built in memory of our own.
static struct inbox_room reserve_own(int pe)
{
    struct envelope *e = aligned_alloc(CACHE_LINE, sizeof *e + LIMIT_AM_PAYLOAD);
    if (!e)
        fatal("no memory for an active message");
    return (struct inbox_room){.pe = pe, .envelope = e, .payload = (unsigned char *)(e + 1)};
}

static void commit_own(const struct inbox_room *room)
{
    const struct envelope *e = room->envelope;
    struct inbox_message m = {.arg = e->arg,
                              .id = e->id,
                              .flags = e->flags,
                              .payload = e->n <= INLINE_BYTES ? e->bytes : room->payload,
                              .n = e->n};
    if (!world_is_here(room->pe)) // or it has ended
        net_message_send(world.me, room->pe, &m, true);
    free(room->envelope);
}

static bool try_reserve(struct peer *peer, struct inbox_room *room)
{
    peer_lock(peer);
    bool done = claim_next(peer, room);
    peer_unlock(peer);
    return done;
}

// False: the other one has ended.
static bool wait_for_room(struct peer *peer, struct inbox_room *room)
{
    struct waiter w = {0};
    for (;;) {
        peer_lock(peer);
        bool done = claim_next(peer, room);
        struct channel *full = peer->ring ? peer->ring : shared_channel(room->pe);
        peer_unlock(peer);
        if (done)
            return true;
        if (help_is_gone(room->pe))
            return false;
        if (w.bell != &full->bell || inbox_poll())
            w = waiter_start(&full->bell);
        else
            waiter_step(&w);
    }
}

static bool reserve_here(struct inbox_room *room, int pe)
{
    struct peer *peer = peer_of(pe);
    room->pe = pe;
    if (likely(try_reserve(peer, room)))
        return true;
    bool is_first = call_enter_first(CALL_send, pe);
    bool is_there = wait_for_room(peer, room);
    if (is_first)
        call_leave();
    return is_there;
}

struct inbox_room inbox_reserve(int pe, size_t n)
{
    struct inbox_room room;
    if (unlikely(!world_is_here(pe)) || unlikely(!reserve_here(&room, pe)))
        return reserve_own(pe);
    room.payload = place_in(&room, n);
    return room;
}

void inbox_shorten(const struct inbox_room *room, size_t n)
{
    unsigned char *there = n <= INLINE_BYTES ? room->envelope->bytes : place_in(room, n);
    if (there != room->payload)
        memcpy(there, room->payload, n);
}

static inline void ring_doorbell(_Atomic uint64_t *doorbell, uint64_t bit)
{
    // Either the receiver, which clears the bit, has everybody fenced and then looks at the ring,
    // sees the message, or this sees the bit cleared.
    atomic_signal_fence(memory_order_seq_cst);
    if (unlikely(!(atomic_load_explicit(doorbell, memory_order_relaxed) & bit)))
        atomic_fetch_or_explicit(doorbell, bit, memory_order_release);
}

// ring_bit 0: through the shared channel. Then the bell is to be looked at.
static inline struct bell *hand_over(int pe, struct envelope *e, uint64_t ticket, uint64_t ring_bit)
{
    struct inbox *to = &slice_of(pe)->inbox;
    publish(e, ticket);
    if (ring_bit)
        ring_doorbell(&to->doorbell, ring_bit);
    return &to->bell;
}

static inline void deliver(int pe, struct envelope *e, uint64_t ticket, uint64_t ring_bit)
{
    bell_check(hand_over(pe, e, ticket, ring_bit));
}

static void commit_here(const struct inbox_room *room)
{
    if (unlikely(room->wants_ring))
        room->envelope->flags |= ENVELOPE_WANTS_RING;
    deliver(room->pe, room->envelope, room->ticket, room->ring_bit);
}

void inbox_commit(const struct inbox_room *room)
{
    if (likely(room->channel != NULL))
        commit_here(room);
    else
        commit_own(room);
}

void inbox_send(int pe, const struct inbox_message *m)
{
    if (unlikely(!world_is_here(pe))) {
        net_message_send(world.me, pe, m, true);
        return;
    }
    struct inbox_room room;
    if (unlikely(!reserve_here(&room, pe)))
        return;
    fill(&room, m);
    commit_here(&room);
}

static bool try_send(int pe, const struct inbox_message *m) // false: there is no room now
{
    if (unlikely(!world_is_here(pe)))
        return net_message_send(world.me, pe, m, false);
    struct inbox_room room;
    room.pe = pe;
    if (!try_reserve(peer_of(pe), &room))
        return false;
    fill(&room, m);
    commit_here(&room);
    return true;
}

static NOINLINE int send_otherwise(int pe, int id, uint64_t arg, const void *payload, size_t n,
                                   int flags)
{
    struct inbox_message m = {
        .arg = arg, .payload = payload, .n = n, .id = (uint8_t)id, .flags = (uint8_t)flags};
    if (flags & INBOX_GATHER && !world_is_here(pe))
        return net_message_gather(pe, &m) ? SHOAL_OK : SHOAL_EAGAIN;
    if (flags & INBOX_TRY)
        return try_send(pe, &m) ? SHOAL_OK : SHOAL_EAGAIN;
    inbox_send(pe, &m);
    return SHOAL_OK;
}

// Where the payload of the next message will be, if it is as long, if that slot is known to be free: NULL otherwise.
static inline const unsigned char *next_place(const struct peer *peer, size_t n)
{
    return peer->ticket < peer->claimable ? payload_of(peer->ring, RING_LINES, peer->slot, n)
                                          : NULL;
}

// A ring with a free slot, without what the others need.
static int send_in_ring(int pe, int id, uint64_t arg, const void *payload, size_t n, int flags)
{
    struct peer *peer = peer_of(pe);
    peer_lock(peer);
    if (unlikely(!is_claimable(peer))) {
        peer_unlock(peer);
        return send_otherwise(pe, id, arg, payload, n, flags);
    }
    // Before anything in the envelope: that line comes once then, though its reader looks for it.
    if (n > INLINE_BYTES) {
        pages_of_ring(peer, n);
        KNOWN_TO_BE_AFTER(peer->ring->envelope[peer->slot].turn); // as in next_in_ring
        memcpy(payload_of(peer->ring, RING_LINES, peer->slot, n), payload, n);
    }
    struct envelope *e = next_in_ring(peer);
    uint64_t ticket = peer->ticket - 1, bit = peer->ring_bit;
    const unsigned char *next = n > INLINE_BYTES ? next_place(peer, n) : NULL;
    peer_unlock(peer);
    label(e, id, arg, n, flags);
    if (n <= INLINE_BYTES)
        copy_few(e->bytes, payload, n);
    deliver(pe, e, ticket, bit);
    if (next) // it is likely to be as long: its lines come here while this one is on its way
        prefetch_all_to_write(next, n);
    return SHOAL_OK;
}

static NOINLINE int wake(struct bell *bell)
{
    bell_ring(bell);
    return SHOAL_OK;
}

static void look(void)
{
    if (!handlers_running())
        inbox_poll();
}

void inbox_look_sometimes(void)
{
    static TLS_FAST unsigned requests;
    if (requests++ % REQUESTS_PER_LOOK == 0)
        look();
}

int inbox_am(int pe, int id, uint64_t arg, const void *payload, size_t n, int flags)
{
    if (!(flags & ENVELOPE_REPLY))
        inbox_look_sometimes();
    return likely(world_is_here(pe)) ? send_in_ring(pe, id, arg, payload, n, flags)
                                     : send_otherwise(pe, id, arg, payload, n, flags);
}

static NOINLINE int look_and_send(int pe, int id, uint64_t arg, const void *payload, size_t n,
                                  int flags)
{
    if (!(flags & ENVELOPE_REPLY))
        look();
    return send_in_ring(pe, id, arg, payload, n, flags);
}

// A free slot of a ring, where no locks are needed: no call, and so nothing to be saved from one.
int inbox_line(int pe, int id, uint64_t arg, const void *payload, size_t n, int flags)
{
    struct peer *peer = peer_known(pe);
    if (unlikely(!peer) || unlikely(!world_has_one_thread()))
        return inbox_am(pe, id, arg, payload, n, flags);
    COMPUTED(peer);
    uint64_t t = peer->ticket;
    if (unlikely(t >= peer->claimable))
        return inbox_am(pe, id, arg, payload, n, flags);
    if (unlikely(t % REQUESTS_PER_LOOK == 0))
        return look_and_send(pe, id, arg, payload, n, flags);
    struct envelope *e = next_in_ring(peer);
    label(e, id, arg, n, flags);
    copy_few(e->bytes, payload, n);
    struct bell *bell = hand_over(pe, e, t, peer->ring_bit);
    return bell_is_armed(bell) ? wake(bell) : SHOAL_OK;
}

void inbox_send_for(int from, int pe, const struct inbox_message *m)
{
    if (unlikely(!world_is_here(pe))) {
        net_message_send(from, pe, m, true);
        return;
    }
    if (unlikely(busy & BUSY_APART) && pe == world.me) {
        net_message_keep(from, m); // the inbox may be full, and is emptied by others
        bell_check(&slice_of(pe)->inbox.bell);
        return;
    }
    struct inbox_room room = {.pe = pe};
    struct channel *c = shared_channel(pe);
    struct waiter w = waiter_start(&c->bell);
    while (!claim_shared(from, &room)) {
        if (help_is_gone(pe))
            return;
        waiter_turn(&w, inbox_poll());
    }
    inbox_fill(&room, m);
    room.envelope->flags |= ENVELOPE_UNNUMBERED;
    deliver(pe, room.envelope, room.ticket, 0);
}

bool inbox_try_ask(int pe, enum inbox_what what, uint64_t arg)
{
    return try_send(
        pe, &(struct inbox_message){.arg = arg, .id = (uint8_t)what, .flags = ENVELOPE_SYSTEM});
}

void inbox_leave_alone(void)
{
    handlers_never();
    busy |= BUSY_APART;
}

void inbox_sending_up(void)
{
    long after = settings.ring_after;
    ring_after = after < 0 ? LIMIT_RING_AFTER : after > UINT32_MAX ? UINT32_MAX : (uint32_t)after;
}

uint64_t inbox_sent_shared(void)
{
    return atomic_load_explicit(&sent_shared, memory_order_relaxed);
}
