// SPDX-License-Identifier: BSD-3-Clause
// Receiving messages. See inbox.h. All of this belongs to the thread that polls.
#include "inbox.h"

#include "arena.h"
#include "copy.h"
#include "handlers.h"
#include "inbox_incoming.h"
#include "net.h"
#include "net_message.h"
#include "net_queue.h"
#include "trigger.h"
#include "wait.h"

#include <limits.h>
#include <string.h>

enum {
    PER_POLL = 64,
    LOOKS_PER_TIDY = 4096,
    NS_BETWEEN = 1000000,
    LOOKS_BEFORE_NETWORK = 2, // one at the network takes as long as a hundred at rings
    ANSWER_LINES = 8 // of a payload: those of a longer one come as fast when they are written
};

static _Atomic bool polling;
static struct incoming shared, ring[LIMIT_RINGS];
static struct envelope never; // where the next message of a ring will be that is not open yet
static _Atomic uint64_t *own_doorbell;
static int rings;
static _Atomic uint64_t untold_rings; // made, but their senders had no room for the news
static _Atomic uint64_t active_rings; // those looked at in every poll
static _Atomic uint64_t rings_after;  // those looked at first: behind the last that had something
static _Atomic uint32_t looks;        // at them, without finding anything
static bool is_cut; // this look has left something, since a handler said that it was enough

// Copies the message out, so that its slot is free while it is handled.
static inline bool take(struct incoming *in, struct message *m)
{
    if (!is_ready(in))
        return false;
    memcpy(&m->envelope, atomic_load_explicit(&in->next, memory_order_relaxed), sizeof m->envelope);
    if (m->envelope.n > INLINE_BYTES && !(m->envelope.flags & ENVELOPE_LONG))
        memcpy(m->payload, next_payload(in, m->envelope.n), m->envelope.n);
    bool gives;
    if (in->peer) {
        gives = taken_from_ring(in, &m->envelope);
        m->envelope.from = in->sender;
    } else {
        if (!(m->envelope.flags & ENVELOPE_UNNUMBERED))
            check_number(m->envelope.from, m->envelope.seq);
        gives = advance(in, shared_slot(atomic_load_explicit(&in->head, memory_order_relaxed) + 1));
    }
    if (gives)
        give_back(in);
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
    memset(c, 0, sizeof *c + RING_LINES * sizeof *c->envelope);
    ring[rings] = (struct incoming){.channel = c,
                                    .bit = UINT64_C(1) << rings,
                                    .slots = LIMIT_RING_SLOTS,
                                    .give_at = LIMIT_RING_SLOTS / 2,
                                    .peer = peer_of(pe),
                                    .sender = pe};
    atomic_store_explicit(&ring[rings].next, &never, memory_order_relaxed);
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
    case INBOX_RING_MADE: accept_ring(e->from, e->arg); break;
    case INBOX_RING_OPEN:
        begin_at(&ring[e->arg], 0, 0);
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
    struct came *held;
    int handled = 0;
    handlers_enough = false;
    for (int taken = 0; taken < PER_POLL && !handlers_enough && (held = net_message_take(&m));
         taken++) {
        handled += handlers_give(&m);
        came_free(held);
    }
    is_cut |= handlers_enough;
    return handled;
}

// Takes a ring that was not used since the last time from those looked at in every poll. Not before its
// bit has been clear since the last time, too: the kernel's fence may pass over a sender (wait.h), whose
// message, sent when it saw the bit set, is there by now.
static void retire(int r)
{
    uint64_t bit = UINT64_C(1) << r;
    if (ring[r].is_used) {
        ring[r].is_used = false;
        return;
    }
    // Pairs with ring_doorbell.
    bool was_set = atomic_fetch_and_explicit(own_doorbell, ~bit, memory_order_seq_cst) & bit;
    if (!was_set && wait_fence_everywhere() && !is_ready(&ring[r]))
        atomic_fetch_and_explicit(&active_rings, ~bit, memory_order_relaxed);
}

static int poll_rings(void)
{
    int handled = 0;
    bool tidy = atomic_load_explicit(&looks, memory_order_relaxed) >= LOOKS_PER_TIDY;
    uint64_t news = atomic_load_explicit(own_doorbell, memory_order_acquire) & ~INBOX_WORKS;
    uint64_t left = atomic_load_explicit(&active_rings, memory_order_relaxed);
    if (unlikely(news & ~left))
        atomic_fetch_or_explicit(&active_rings, news, memory_order_release);
    left |= news;
    atomic_store_explicit(&looks, 0, memory_order_relaxed);
    for (; left; left &= left - 1) {
        int r = __builtin_ctzll(left);
        if (!tidy && !is_ready(&ring[r]))
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

static inline bool far_waits(void) // for its handler
{
    return unlikely(net.transport != NULL) && net_message_waiting();
}

static inline bool others_wait(void)
{
    return handlers_waiting() ||
           unlikely(atomic_load_explicit(&untold_rings, memory_order_relaxed)) || far_waits();
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
    if (!world_has_one_thread())
        return !atomic_exchange_explicit(&polling, true, memory_order_acquire);
    atomic_store_explicit(&polling, true, memory_order_relaxed);
    return true;
}

static int poll_messages(void)
{
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
    return handled;
}

static NOINLINE int poll_all(void)
{
    bool nested = busy & BUSY_POLLS;
    if (!nested && !begin_polling())
        return 0;
    busy |= BUSY_POLLS;
    int handled = trigger_run_handed(); // also where no messages are taken: others may wait for it
    if (!handlers_running() || !keeps_enough())
        handled += poll_messages();
    if (nested)
        return handled;
    busy &= ~(unsigned)BUSY_POLLS;
    bool tells = is_cut && !world_has_one_thread();
    is_cut = false;
    atomic_store_explicit(&polling, false, memory_order_release);
    if (!tells && !world_has_one_thread()) {
        // Come behind this thread's back, or left for another one? Who arms the bell fences for both.
        atomic_signal_fence(memory_order_seq_cst);
        tells = find_ready() || others_wait();
    }
    if (unlikely(tells)) // who sleeps because this thread polled
        bell_check(&slice_of(world.me)->inbox.bell);
    return handled;
}

// A message of a ring has been copied, and no locks are needed. True: slots are to be given
// back.
static inline bool take_out(struct incoming *in, const struct envelope *e, uint32_t n)
{
    bool gives = taken_from_ring(in, e);
    in->ahead = n - INLINE_BYTES - 1 < CACHE_LINE - INLINE_BYTES ? next_payload(in, n) : NULL;
    in->is_used = true;
    atomic_store_explicit(&looks, 0, memory_order_relaxed);
    return gives;
}

// Who gets a message is likely to send one as long: the lines it will be in come here while this one is
// handled. Its reader waits for the envelope and takes that back soon: it comes early for short ones only.
static INLINE void expect_answer(const struct incoming *in, const struct envelope *e)
{
    const struct peer *peer = in->peer;
    if (unlikely(!peer || !peer->ring))
        return;
    if (e->n <= CACHE_LINE)
        prefetch_to_write(&peer->ring->envelope[peer->slot]);
    if (unlikely(e->n > INLINE_BYTES) && e->n <= ANSWER_LINES * CACHE_LINE)
        prefetch_all_to_write(payload_of(peer->ring, RING_LINES, peer->slot, e->n), e->n);
}

// The usual case without what the others need: a message in a ring, where no locks are needed, whose handler
// runs at once. False: it is another case.
static INLINE bool take_usual(struct incoming *in)
{
    const struct envelope *e = atomic_load_explicit(&in->next, memory_order_relaxed);
    if (unlikely(busy || !world_has_one_thread() || (e->flags & ~ENVELOPE_REPLY)))
        return false;
    const struct handler *h = handlers_next(e->id);
    if (unlikely(!h))
        return false;
    expect_answer(in, e);
    // Its slot is free while it is handled.
    LINE_ALIGNED unsigned char payload[LIMIT_AM_PAYLOAD];
    shoal_am_t am = handlers_am(h, e, payload, e->n);
    am.from = in->sender;
    if (likely(e->n <= INLINE_BYTES))
        memcpy(payload, e->bytes, INLINE_BYTES);
    else
        memcpy(payload, next_payload(in, e->n), e->n);
    if (take_out(in, e, e->n))
        give_back(in);
    atomic_store_explicit(&polling, true, memory_order_relaxed); // a handler may start a thread
    busy = BUSY_POLLS | BUSY_HANDLES;
    handlers_enough = false;
    h->fn(&am);
    busy = 0;
    atomic_store_explicit(&polling, false, memory_order_release);
    return true;
}

// Of each sender so many, and then the next one's.
static inline void begin_behind(const struct incoming *in)
{
    atomic_store_explicit(&rings_after, -(in->bit << 1), memory_order_relaxed);
}

static NOINLINE int take_from(struct incoming *in)
{
    int taken = 0;
    for (; in && in != &shared; in = find_ready()) {
        begin_behind(in);
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
    if (unlikely(busy & BUSY_APART))
        return 0;
    struct incoming *in = find_ready();
    if (unlikely(in != NULL))
        return far_waits() ? poll_all() : take_from(in); // which looks at rings alone
    return others_wait() ? poll_all() : 0;
}

static inline bool is_wanted(const struct incoming *in, const struct envelope *e,
                             const shoal_am_wanted_t *w)
{
    return likely(e->flags == 0 && e->id == w->id) && likely((e->arg & w->mask) == w->arg) &&
           likely(e->n <= w->room) && likely(in->sender == w->from || w->from < 0);
}

static NOINLINE int take_and_give_back(struct incoming *in)
{
    give_back(in);
    return SHOAL_OK;
}

static INLINE int taken_as_wanted(struct incoming *in, const struct envelope *e,
                                  shoal_am_wanted_t *w, uint32_t n)
{
    begin_behind(in);
    w->arg = e->arg;
    w->from = in->sender;
    w->n = n;
    return take_out(in, e, n) ? take_and_give_back(in) : SHOAL_OK;
}

static NOINLINE int take_beside(struct incoming *in, const struct envelope *e, shoal_am_wanted_t *w)
{
    uint32_t n = e->n;
    memcpy(w->buf, next_payload(in, n), n);
    return taken_as_wanted(in, e, w, n);
}

// It comes from another node, or something else has come from there and is not to be put off for ever.
static NOINLINE bool network_is_first(const shoal_am_wanted_t *w)
{
    return (w->from >= 0 && !world_is_here(w->from)) || net_message_waiting();
}

// No call on the way of a line, as in inbox_line.
int inbox_take(shoal_am_wanted_t *w, unsigned more)
{
    struct incoming *in;
    if (unlikely(busy || !world_has_one_thread() ||
                 atomic_load_explicit(&handlers_news, memory_order_relaxed)))
        return SHOAL_EAGAIN;
    if (unlikely(net.transport != NULL)) {
        if (network_is_first(w))
            return SHOAL_EAGAIN;
        if (w->from >= 0)
            more = more < UINT_MAX / LOOKS_BEFORE_NETWORK ? more * LOOKS_BEFORE_NETWORK : UINT_MAX;
    }
    while (!(in = find_ready())) {
        if (unlikely(atomic_load_explicit(&untold_rings, memory_order_relaxed)) || more-- == 0)
            return SHOAL_EAGAIN;
        cpu_relax(); // its sender has the line for as long
    }
    const struct envelope *e = atomic_load_explicit(&in->next, memory_order_relaxed);
    expect_answer(in, e);
    if (unlikely(in == &shared || !is_wanted(in, e, w)))
        return SHOAL_EAGAIN;
    uint32_t n = e->n;
    if (unlikely(n > INLINE_BYTES))
        return take_beside(in, e, w);
    copy_few(w->buf, e->bytes, n);
    return taken_as_wanted(in, e, w, n);
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
    trigger_down();
    memset(ring, 0, sizeof ring);
    rings = 0;
    active_rings = untold_rings = 0;
    handlers_forget();
    peers_forget();
}
