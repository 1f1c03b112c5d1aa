// SPDX-License-Identifier: BSD-3-Clause
// Receiving messages. See inbox.h. All of this belongs to the thread that polls.
#include "inbox.h"

#include "arena.h"
#include "handlers.h"
#include "inbox_channel.h"
#include "log.h"
#include "net.h"
#include "net_message.h"
#include "peers.h"
#include "trigger.h"
#include "wait.h"

#include <stdlib.h>
#include <string.h>

enum { PER_POLL = 64, LOOKS_PER_TIDY = 4096, NS_BETWEEN = 1000000 };

struct incoming {
    struct envelope *_Atomic next; // where message `head` will be; in a ring the one before says it
    _Atomic uint64_t head;         // messages taken out
    uint64_t give_at;              // as many, when slots are returned to the senders
    struct channel *channel;
    uint64_t bit; // of a ring, in the sets of them
    uint32_t slots;
    bool is_open;
    bool is_used;      // since the last tidying
    struct peer *peer; // of a ring's sender; NULL: of the shared channel
    int sender;
    // The payload after one that was a line: the next is likely to be one, too, and comes while its
    // envelope does. One of several lines would be taken away while it is written.
    const void *ahead;
};

static _Atomic bool polling;
static struct incoming shared, ring[LIMIT_RINGS];
static _Atomic uint64_t *own_doorbell;
static int rings;
static _Atomic uint64_t untold_rings; // made, but their senders had no room for the news
static _Atomic uint64_t active_rings; // those looked at in every poll
static _Atomic uint64_t rings_after;  // those looked at first: behind the last that had something
static _Atomic uint32_t looks;        // at them, without finding anything
static bool is_cut; // this look has left something, since a handler said that it was enough

static inline void begin_at(struct incoming *in, uint64_t head, size_t slot)
{
    atomic_store_explicit(&in->head, head, memory_order_relaxed);
    atomic_store_explicit(&in->next, &in->channel->envelope[slot], memory_order_relaxed);
}

static inline size_t shared_slot(uint64_t head)
{
    return head & (LIMIT_INBOX_SLOTS - 1);
}

// To a thread that does not poll, next and head may be of different messages for a moment: then it is
// not.
static inline bool is_ready(const struct incoming *in)
{
    const struct envelope *e = atomic_load_explicit(&in->next, memory_order_relaxed);
    return atomic_load_explicit(&e->turn, memory_order_acquire) ==
           atomic_load_explicit(&in->head, memory_order_relaxed) + 1;
}

// Slots are returned by halves, so that the senders' copy of the count is seldom taken away.
static NOINLINE void give_back(struct incoming *in, uint64_t head)
{
    in->give_at = head + in->slots / 2;
    // Pairs with the acquire loads in is_room and find_claimable.
    atomic_store_explicit(&in->channel->drained, head, memory_order_release);
    bell_check(&in->channel->bell);
}

// Once the message has been copied: its sender may use the slot when it hears of this.
static inline void check_number(struct peer *peer, int from, uint32_t seq)
{
    uint32_t number = number_after(atomic_load_explicit(&peer->received, memory_order_relaxed));
    // Pairs with the acquire load in claim_in_ring, which tells the sender.
    atomic_store_explicit(&peer->received, number, memory_order_release);
    if (unlikely(seq != number))
        fatal("message %u from PE %d came as number %u: the inbox is damaged", seq, from, number);
}

static inline void advance(struct incoming *in, size_t slot)
{
    uint64_t head = atomic_load_explicit(&in->head, memory_order_relaxed) + 1;
    begin_at(in, head, slot);
    if (unlikely(head == in->give_at))
        give_back(in, head);
}

static inline const unsigned char *next_payload(const struct incoming *in)
{
    const struct envelope *next = atomic_load_explicit(&in->next, memory_order_relaxed);
    uint32_t slots = in->peer ? RING_LINES : LIMIT_INBOX_SLOTS;
    return payload_of(in->channel, slots, (size_t)(next - in->channel->envelope));
}

// A branch, which the processor foresees: many messages in a row are on their way at once.
static inline size_t slot_after(const struct incoming *in, const struct envelope *e)
{
    if (unlikely(e->jump))
        return e->jump - 1U;
    const struct envelope *at = atomic_load_explicit(&in->next, memory_order_relaxed);
    return (size_t)(at + 1 - in->channel->envelope) & (LIMIT_RING_SLOTS - 1);
}

// A message of a ring has been copied.
static inline void taken_from_ring(struct incoming *in, const struct envelope *e)
{
    // Pairs with the acquire load in choose_next.
    atomic_store_explicit(&in->peer->taken, e->taken, memory_order_release);
    size_t slot = slot_after(in, e);
    check_number(in->peer, in->sender, e->seq);
    advance(in, slot);
}

// Copies the message out, so that its slot is free while it is handled.
static inline bool take(struct incoming *in, struct message *m)
{
    if (!is_ready(in))
        return false;
    memcpy(&m->envelope, atomic_load_explicit(&in->next, memory_order_relaxed), sizeof m->envelope);
    if (m->envelope.n > INLINE_BYTES && !(m->envelope.flags & ENVELOPE_LONG))
        memcpy(m->payload, next_payload(in), m->envelope.n);
    if (in->peer) {
        taken_from_ring(in, &m->envelope);
        m->envelope.from = in->sender;
        return true;
    }
    if (m->envelope.seq)
        check_number(peer_of(m->envelope.from), m->envelope.from, m->envelope.seq);
    advance(in, shared_slot(atomic_load_explicit(&in->head, memory_order_relaxed) + 1));
    return true;
}

// Polling waits for nobody: what cannot be told now is told in a later poll. A ring is told of once:
// to ask may wait for the sender's record, and a poll inside that finds the bit cleared.
static void tell_of_rings(void)
{
    if (handlers_are_quiet()) // and says nothing
        return;
    uint64_t left = atomic_load_explicit(&untold_rings, memory_order_relaxed);
    for (; left; left &= left - 1) {
        int r = __builtin_ctzll(left);
        uint64_t bit = UINT64_C(1) << r;
        if (!(atomic_fetch_and_explicit(&untold_rings, ~bit, memory_order_relaxed) & bit))
            continue;
        if (!inbox_try_ask(ring[r].sender, INBOX_RING_MADE, ref_of(ring[r].channel) + (uint64_t)r))
            atomic_fetch_or_explicit(&untold_rings, bit, memory_order_relaxed);
    }
}

// Its sender is told at the end of this poll: nobody waits here, with a message in hand that others
// must not overtake.
static void make_ring(int pe)
{
    struct channel *c = rings < LIMIT_RINGS ? arena_alloc(CHANNEL_SIZE(RING_LINES)) : NULL;
    if (!c)
        return; // the shared channel will do
    memset(c, 0, CHANNEL_SIZE(RING_LINES));
    ring[rings] = (struct incoming){.channel = c,
                                    .bit = UINT64_C(1) << rings,
                                    .slots = LIMIT_RING_SLOTS,
                                    .give_at = LIMIT_RING_SLOTS / 2,
                                    .peer = peer_of(pe),
                                    .sender = pe};
    begin_at(&ring[rings], 0, 0);
    atomic_fetch_or_explicit(&untold_rings, ring[rings].bit, memory_order_relaxed);
    rings++;
}

static void accept_ring(int pe, uint64_t made)
{
    struct peer *peer = peer_of(pe);
    peer_lock(peer);
    peer->made = made;
    peer_unlock(peer);
}

static void handle_own(const struct envelope *e)
{
    switch ((enum inbox_what)e->id) {
    case INBOX_RUN_WORK: (handlers_are_quiet() ? trigger_refuse : trigger_run_for)(e->arg); break;
    case INBOX_RING_MADE: accept_ring(e->from, e->arg); break;
    case INBOX_RING_OPEN:
        ring[e->arg].is_open = true;
        atomic_fetch_or_explicit(&active_rings, UINT64_C(1) << e->arg, memory_order_release);
        break;
    }
}

// The senders are ahead: lines to come are on their way while this one is handled.
static inline void prefetch_next(const struct incoming *in)
{
    __builtin_prefetch(atomic_load_explicit(&in->next, memory_order_relaxed) + 2);
}

static int poll_channel(struct incoming *in)
{
    struct message m;
    int handled = 0;
    m.far = NULL;
    handlers_enough = false;
    for (int taken = 0; taken < PER_POLL && !handlers_enough && take(in, &m); taken++) {
        if (taken > 0)
            prefetch_next(in);
        if (unlikely(m.envelope.flags & ENVELOPE_WANTS_RING))
            make_ring(m.envelope.from);
        if (m.envelope.flags & ENVELOPE_SYSTEM) {
            handle_own(&m.envelope);
            handled++;
        } else {
            handled += handlers_give(&m);
        }
    }
    is_cut |= handlers_enough;
    return handled;
}

static int poll_network(void)
{
    struct message m;
    void *held;
    int handled = 0;
    handlers_enough = false;
    for (int taken = 0; taken < PER_POLL && !handlers_enough && (held = net_message_take(&m));
         taken++) {
        handled += handlers_give(&m);
        free(held);
    }
    is_cut |= handlers_enough;
    return handled;
}

// Takes a ring that was not used since the last time from those looked at in every poll.
static void retire(int r)
{
    uint64_t bit = UINT64_C(1) << r;
    if (ring[r].is_used) {
        ring[r].is_used = false;
        return;
    }
    // Pairs with ring_doorbell.
    atomic_fetch_and_explicit(own_doorbell, ~bit, memory_order_seq_cst);
    if (wait_fence_everywhere() && !is_ready(&ring[r]))
        atomic_fetch_and_explicit(&active_rings, ~bit, memory_order_relaxed);
}

static int poll_rings(void)
{
    int handled = 0;
    bool tidy = atomic_load_explicit(&looks, memory_order_relaxed) >= LOOKS_PER_TIDY;
    uint64_t news = atomic_load_explicit(own_doorbell, memory_order_acquire);
    uint64_t left = atomic_load_explicit(&active_rings, memory_order_relaxed);
    if (unlikely(news & ~left))
        atomic_fetch_or_explicit(&active_rings, news, memory_order_release);
    left |= news;
    atomic_store_explicit(&looks, 0, memory_order_relaxed);
    for (; left; left &= left - 1) {
        int r = __builtin_ctzll(left);
        if (!ring[r].is_open || (!tidy && !is_ready(&ring[r])))
            continue;
        int got = poll_channel(&ring[r]);
        ring[r].is_used |= got > 0;
        handled += got;
        if (tidy)
            retire(r);
    }
    return handled;
}

static inline struct incoming *first_ready(uint64_t left)
{
    for (; left; left &= left - 1) {
        struct incoming *in = &ring[__builtin_ctzll(left)];
        __builtin_prefetch(in->ahead);
        if (is_ready(in))
            return in;
    }
    return NULL;
}

// A channel with a message; the shared one also where all rings have to be looked at.
static inline struct incoming *find_ready(void)
{
    if (is_ready(&shared))
        return &shared;
    // acquire: whoever set the bit had made the ring.
    uint64_t active = atomic_load_explicit(&active_rings, memory_order_acquire);
    if (atomic_load_explicit(own_doorbell, memory_order_relaxed) & ~active)
        return &shared;
    if (!active)
        return NULL;
    uint64_t after = atomic_load_explicit(&rings_after, memory_order_relaxed);
    struct incoming *in = first_ready(active & after);
    if (!in)
        in = first_ready(active & ~after);
    if (in)
        return in;
    uint32_t n = atomic_load_explicit(&looks, memory_order_relaxed) + 1;
    atomic_store_explicit(&looks, n, memory_order_relaxed);
    return n >= LOOKS_PER_TIDY ? &shared : NULL;
}

static inline bool others_wait(void)
{
    return handlers_waiting() ||
           unlikely(atomic_load_explicit(&untold_rings, memory_order_relaxed)) ||
           (unlikely(net.transport != NULL) && net_message_waiting());
}

// A handler that waits for room keeps what arrives meanwhile, as does a thread that runs none. With
// much kept already it takes more only now and then: senders are stopped by a full inbox then, and
// make room as they wait. Where they wait in handlers themselves, all go on by these few.
static bool keeps_enough(void)
{
    static uint64_t next_ns;
    if (handlers_kept() < LIMIT_KEPT)
        return false;
    uint64_t now = wait_now_ns();
    if (now < next_ns)
        return true;
    next_ns = now + NS_BETWEEN;
    return false;
}

// False: another thread polls.
static inline bool begin_polling(void)
{
    if (!is_single_threaded())
        return !atomic_exchange_explicit(&polling, true, memory_order_acquire);
    atomic_store_explicit(&polling, true, memory_order_relaxed);
    return true;
}

static NOINLINE int poll_all(void)
{
    bool nested = busy & BUSY_POLLS;
    if (!nested && !begin_polling())
        return 0;
    if (handlers_running() && keeps_enough()) {
        if (!nested)
            atomic_store_explicit(&polling, false, memory_order_release);
        return 0;
    }
    busy |= BUSY_POLLS;
    int handled = handlers_waiting() ? handlers_run() : 0;
    if (is_ready(&shared))
        handled += poll_channel(&shared);
    if (rings)
        handled += poll_rings();
    tell_of_rings();
    if (net.transport)
        handled += poll_network();
    if (handlers_waiting())
        handled += handlers_run();
    if (nested)
        return handled;
    busy &= ~(unsigned)BUSY_POLLS;
    bool tells = is_cut && !is_single_threaded();
    is_cut = false;
    atomic_store_explicit(&polling, false, memory_order_release);
    if (unlikely(tells)) // who sleeps because this thread polled
        bell_check(&slice_of(world.me)->inbox.bell);
    return handled;
}

// The usual case without what the others need: a message in a ring, in a program with one thread, whose
// handler runs at once. False: it is another case.
static INLINE bool take_usual(struct incoming *in)
{
    const struct envelope *e = atomic_load_explicit(&in->next, memory_order_relaxed);
    if (unlikely(busy || !is_single_threaded() || !in->is_open || (e->flags & ~ENVELOPE_REPLY)))
        return false;
    const struct handler *h = handlers_next(e->id);
    if (unlikely(!h))
        return false;
    // Its slot is free while it is handled.
    LINE_ALIGNED unsigned char payload[LIMIT_AM_PAYLOAD];
    shoal_am_t am = handlers_am(h, e, payload, e->n);
    am.from = in->sender;
    if (likely(e->n <= INLINE_BYTES))
        memcpy(payload, e->bytes, INLINE_BYTES);
    else
        memcpy(payload, next_payload(in), e->n);
    bool was_line = e->n - INLINE_BYTES - 1 < CACHE_LINE - INLINE_BYTES;
    taken_from_ring(in, e);
    in->ahead = was_line ? next_payload(in) : NULL;
    in->is_used = true;
    atomic_store_explicit(&looks, 0, memory_order_relaxed);
    atomic_store_explicit(&polling, true, memory_order_relaxed); // a handler may start a thread
    busy = BUSY_POLLS | BUSY_HANDLES;
    handlers_enough = false;
    h->fn(&am);
    busy = 0;
    atomic_store_explicit(&polling, false, memory_order_release);
    return true;
}

static NOINLINE int take_from(struct incoming *in)
{
    int taken = 0;
    for (; in && in != &shared; in = find_ready()) {
        // Of each sender so many, and then the next one's.
        atomic_store_explicit(&rings_after, -(in->bit << 1), memory_order_relaxed);
        for (; taken < PER_POLL && is_ready(in); taken++, prefetch_next(in)) {
            if (unlikely(!take_usual(in)))
                return taken + poll_all();
            if (handlers_enough)
                return taken + 1;
        }
        if (taken == PER_POLL ||
            atomic_load_explicit(&active_rings, memory_order_relaxed) == in->bit)
            return taken;
    }
    return in ? taken + poll_all() : taken;
}

int inbox_poll(void)
{
    struct incoming *in = find_ready();
    if (unlikely(in != NULL))
        return take_from(in);
    return others_wait() ? poll_all() : 0;
}

uint64_t inbox_waiting(void)
{
    if (!find_ready())
        return 0;
    uint64_t taken = atomic_load_explicit(&shared.head, memory_order_relaxed);
    uint64_t left = atomic_load_explicit(&active_rings, memory_order_acquire);
    for (; left; left &= left - 1)
        taken += atomic_load_explicit(&ring[__builtin_ctzll(left)].head, memory_order_relaxed);
    return taken + 1;
}

int inbox_up(void)
{
    own_doorbell = &slice_of(world.me)->inbox.doorbell;
    inbox_sending_up();
    shared.channel = shared_channel(world.me);
    shared.slots = LIMIT_INBOX_SLOTS;
    begin_at(&shared, shared.channel->drained, shared_slot(shared.channel->drained));
    shared.give_at = shared.head + LIMIT_INBOX_SLOTS / 2;
    wait_hooks.progress = inbox_poll;
    wait_hooks.bell = &slice_of(world.me)->inbox.bell;
    return 0;
}

// All PEs are past their last call: what has not been handled never will be.
void inbox_down(void)
{
    wait_hooks.progress = NULL;
    wait_hooks.bell = NULL;
    wait_hooks.user = NULL;
    struct channel *c = shared.channel;
    begin_at(&shared, c->ticket, shared_slot(c->ticket));
    atomic_store_explicit(&c->drained, shared.head, memory_order_release);
    atomic_store_explicit(own_doorbell, 0, memory_order_relaxed);
    memset(ring, 0, sizeof ring);
    rings = 0;
    active_rings = untold_rings = 0;
    handlers_forget();
    peers_forget();
}
