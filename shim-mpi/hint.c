// SPDX-License-Identifier: BSD-3-Clause
// A receive that is posted with its source and tag is told to that source: then a rendezvous needs
// nobody but its sender, and the receiver may compute.
//
//     receiver                                   sender
//     posts, claim = offered
//     HINT {key, stamp, where} --------------->  keeps it
//                                                RTS, as always; it is the next one with that key:
//     claim = the first piece <................  takes the offer, and copies (split.c)
//     matches the RTS, as always, finds the
//     offer taken: copies as well, or has it all
//
// Messages are matched as if there were no hints. A sender may copy early only if it knows what will
// be matched. Envelopes of a pair are numbered, at both ends, in the order in which they travel. A
// receive is told of if it would take a message with its key now, for it is older than all others that
// would; stamp is the number of envelopes that had come by then. So the first one with this key and a
// number above the stamp is its message. The sender remembers what its last PARTNER_RECENT envelopes
// were addressed to; a hint with an older stamp is not followed.
//
// Between nodes the sender takes the offer by an atomic operation, and then puts all of it. That takes longer
// than a get by the receiver, so it waits a while before it follows: only one who computes does not get. A source
// of another node is told no more when it had no use of that for some time, but now and then. On a node one
// who has told its own receives to that process waits as well: most likely the two exchange data, and each
// gets what comes while it waits for the rest.
//
// A receive that is cancelled, or matched before the sender took the offer, takes it back. With
// several threads the numbers would not be in the order of travel, and there are no hints: agent.h sees to
// such receives.
//
// What a call that posts a receive or a send matches meanwhile is not copied there and then, on a node:
// the program is about to send something itself, for which others wait. For a long one the receiver makes an offer for
// just this message (OFFER), takes it back as soon as it makes progress, and copies then; a sender that
// waits longer follows it, one with several threads at once. A receiver with several threads does not
// make any: another one of them may be waiting for this message.
#include "hint.h"

#include "partner.h"
#include "settings.h"
#include "split.h"
#include "stats.h"
#include "way.h"

#include <stdlib.h>

static const double later_s = 50e-6;

struct hint {
    uint64_t address;
    struct split_copy copy; // bytes: as many as there is room for
    uint32_t stamp;
};

// Of one receiver. Those that it told and took back are found out when there is no room for others.
enum { HINTS = 16 };
struct hints {
    int n;
    struct hint hint[HINTS];
};

// Does one process copy to the other's private memory, without its help?
static bool is_followed(int pe)
{
    return partner_is_reached(pe) || !partner_is_direct(pe);
}

// ---- The receiver
enum { TOLD_IN_VAIN = 4, TOLD_AGAIN = 16 };

// Is it worth a message to that process?
static bool is_worth(struct partner *p)
{
    return !p->is_far || p->unfollowed < TOLD_IN_VAIN || ++p->untold % TOLD_AGAIN == 0;
}

bool hint_is_useful(const struct transfer *t)
{
    return shim_settings.hint && t->bytes && !shim_threads && t->request.is_held &&
           t->space == SPACE_P2P && t->type->is_dense && t->pe >= 0 && t->pe != shim_pe() &&
           t->tag >= 0 && is_followed(t->pe) && is_worth(partner_of(t->pe));
}

static bool offer(struct transfer *t, struct split_copy *copy)
{
    struct split *s = split_take_record(copy);
    if (!s || !pull_expose(t, type_at(t->type, t->buf), copy->bytes, &copy->to)) {
        if (s)
            split_give_record(s);
        return false;
    }
    t->split = s;
    t->told = copy->generation;
    partner_of(t->pe)->told++;
    if (partner_is_direct(t->pe)) // pairs with the acquire in take_offer
        atomic_store_explicit(&s->claim, t->told | SPLIT_OFFERED, memory_order_release);
    else
        split_offer_far(s, t->told);
    return true;
}

void hint_tell(struct transfer *t)
{
    struct hint h = {.address = address_of(t->request.comm, t->space, t->tag),
                     .copy.bytes = (uint64_t)t->bytes,
                     .stamp = partner_of(t->pe)->admitted};
    if (!offer(t, &h.copy))
        return;
    transfer_tell(t->pe, AM_HINT, 0, &h, sizeof h);
    stats_count(HINT);
}

static bool retract(struct transfer *t)
{
    uint64_t offer = t->told | SPLIT_OFFERED;
    if (!partner_is_direct(t->pe))
        return split_retract_far(t->split, t->told);
    return atomic_compare_exchange_strong_explicit(&t->split->claim, &offer, 0,
                                                   memory_order_acq_rel, memory_order_acquire);
}

bool hint_withdraw(struct transfer *t)
{
    if (!t->told)
        return true;
    if (!retract(t))
        return false;
    t->told = 0;
    partner_of(t->pe)->told--;
    partner_of(t->pe)->unfollowed++;
    split_give_record(t->split);
    if (t->region)
        shoal_region_deregister(t->region);
    t->region = NULL;
    return true;
}

void hint_accept(struct transfer *t, const struct rts *rts)
{
    struct split_copy copy = {.bytes = (uint64_t)t->request.bytes, .generation = t->told};
    t->told = 0;
    partner_of(t->pe)->told--;
    partner_of(t->pe)->unfollowed = 0;
    t->tells_done = false; // the sender knows when it is done
    t->copy = NULL;
    t->event = (shoal_event_t){0};
    split_pull(t, &copy, type_at(t->type, t->buf), rts->from);
}

// ---- The receiver, of a message that is matched while something is posted
SHIM_OWN size_t hint_defers_from = SIZE_MAX;

struct offer {
    uint64_t sender;
    struct split_copy copy;
};

static struct deferred {
    struct deferred *next;
    struct transfer *transfer;
    struct rts rts;
} * deferred, **deferred_end = &deferred; // the oldest first

// Some short ones at once, or a long one.
static bool accept_next(struct progress_hook *hook)
{
    MPI_Count bytes = 0;
    for (struct deferred *d; (d = deferred) && bytes < HINT_LEAST_OFFERED; free(d)) {
        deferred = d->next;
        if (!deferred) {
            deferred_end = &deferred;
            progress_remove(hook);
        }
        bytes += d->transfer->request.bytes;
        (hint_withdraw(d->transfer) ? pull_begin : hint_accept)(d->transfer, &d->rts);
    }
    return true;
}

static struct progress_hook deferred_hook = {.fn = accept_next, .is_brief = true};

void hint_catch_up(void)
{
    while (deferred) {
        struct request *r = &deferred->transfer->request;
        request_keep(r);
        request_wait(r);
        request_drop(r);
    }
}

static bool may_defer(const struct transfer *t)
{
    return (uint64_t)t->request.bytes >= hint_defers_from && !shim_threads && shim_settings.hint &&
           t->request.is_held && t->type->is_dense && t->pe != shim_pe() &&
           partner_is_reached(t->pe);
}

bool hint_defer(struct transfer *t, const struct rts *rts)
{
    struct offer o = {.sender = rts->sender, .copy.bytes = (uint64_t)t->request.bytes};
    bool is_offered = o.copy.bytes >= HINT_LEAST_OFFERED;
    if (!may_defer(t) || (is_offered && !offer(t, &o.copy)))
        return false;
    struct deferred *d = transfer_memory(sizeof *d);
    *d = (struct deferred){.transfer = t, .rts = *rts};
    if (!deferred)
        progress_add(&deferred_hook);
    *deferred_end = d;
    deferred_end = &d->next;
    if (is_offered)
        transfer_tell(t->pe, AM_OFFER, 0, &o, sizeof o);
    return true;
}

// ---- The sender
static struct split *record_of(const struct split_copy *copy)
{
    return shoal_direct(copy->record, sizeof(struct split));
}

static void forget(struct hints *all, int i)
{
    all->n--;
    memmove(&all->hint[i], &all->hint[i + 1], (size_t)(all->n - i) * sizeof all->hint[i]);
}

// As far as is known here.
static bool is_withdrawn(const struct hint *h)
{
    const struct split *s = record_of(&h->copy);
    return s && atomic_load_explicit(&s->claim, memory_order_relaxed) !=
                    (h->copy.generation | SPLIT_OFFERED);
}

static void forget_withdrawn(struct hints *all)
{
    for (int i = all->n - 1; i >= 0; i--)
        if (is_withdrawn(&all->hint[i]))
            forget(all, i);
    if (all->n == HINTS && !record_of(&all->hint[0].copy)) // of another node: the oldest
        forget(all, 0);
}

static void on_hint(const shoal_am_t *am)
{
    struct partner *p = partner_of(am->from);
    if (shim_threads || !is_followed(am->from))
        return;
    if (!p->hints && !(p->hints = calloc(1, sizeof *p->hints)))
        return;
    if (p->hints->n == HINTS)
        forget_withdrawn(p->hints);
    if (p->hints->n < HINTS)
        memcpy(&p->hints->hint[p->hints->n++], am->payload, sizeof(struct hint));
}

// Two processes of a node that exchange long messages have told each other of their receives. Then each
// gets what comes, unless it computes: neither copies for the other before later_s have gone, nor gets
// the other's before its own is on its way. One of another node always gets, unless it computes.
static bool is_late(int pe, const struct partner *p)
{
    return p->told || !partner_is_direct(pe);
}

bool hint_is_there(int pe, uint64_t address)
{
    if (shim_threads || space_in(address) != SPACE_P2P || is_late(pe, partner_of(pe)))
        return false;
    shoal_progress(); // it may have come
    const struct hints *all = partner_of(pe)->hints;
    for (int i = 0; all && i < all->n; i++)
        if (all->hint[i].address == address && !is_withdrawn(&all->hint[i]))
            return true;
    return false;
}

void hint_look(const struct transfer *t)
{
    if (t->space == SPACE_P2P && way_is_long((size_t)t->bytes) && !shim_threads &&
        !is_late(t->pe, partner_of(t->pe)))
        shoal_progress();
}

static bool take_offer(const struct split_copy *copy)
{
    uint64_t offer = copy->generation | SPLIT_OFFERED;
    return atomic_compare_exchange_strong_explicit(&record_of(copy)->claim, &offer,
                                                   copy->generation, memory_order_acq_rel,
                                                   memory_order_acquire);
}

static const void *data_of(const struct transfer *t)
{
    return t->copy ? t->copy : type_at(t->type, t->buf);
}

// Is this envelope the first to this address after so many?
static bool is_first_since(const struct partner *p, uint64_t address, uint32_t stamp,
                           uint32_t number)
{
    if (p->gone - stamp > PARTNER_RECENT)
        return false;
    for (uint32_t i = stamp; i != number; i++)
        if (p->recent[i % PARTNER_RECENT] == partner_mark(address))
            return false;
    return true;
}

static void follow(struct transfer *t, uint32_t number)
{
    const struct partner *p = partner_of(t->pe);
    struct hints *all = p->hints;
    uint64_t address = address_of(t->request.comm, t->space, t->tag);
    for (int i = 0; all && i < all->n;) {
        struct hint h = all->hint[i];
        if (h.address != address || (int32_t)(number - h.stamp) < 0) { // of a later one
            i++;
            continue;
        }
        forget(all, i);
        if (!is_first_since(p, address, h.stamp, number))
            continue;
        uint64_t n = h.copy.bytes < (uint64_t)t->bytes ? h.copy.bytes : (uint64_t)t->bytes;
        bool is_near = record_of(&h.copy) != NULL;
        if (is_near && !take_offer(&h.copy))
            continue;
        stats_count(HINT_FOLLOWED);
        h.copy.bytes = n;
        (is_near ? split_push : split_push_far)(&h.copy, data_of(t), t);
        return;
    }
}

struct later {
    struct progress_hook hook;
    struct transfer *transfer;
    uint32_t number;
    struct split_copy offer; // for just this message; of no bytes: none has come
    double since;
};

void hint_end(struct transfer *t)
{
    if (likely(!t->later))
        return;
    progress_remove(&t->later->hook);
    free(t->later);
    t->later = NULL;
}

static void follow_offer(struct transfer *t, const struct split_copy *copy)
{
    if (!take_offer(copy))
        return;
    stats_count(HINT_FOLLOWED);
    split_push(copy, data_of(t), t);
}

static bool follow_later(struct progress_hook *hook)
{
    const struct later *l = (struct later *)(void *)hook;
    struct transfer *t = l->transfer;
    uint32_t number = l->number;
    struct split_copy copy = l->offer;
    if (PMPI_Wtime() - l->since < later_s)
        return false;
    hint_end(t);
    if (copy.bytes)
        follow_offer(t, &copy);
    else
        follow(t, number);
    return true;
}

static void keep_for_later(struct transfer *t, uint32_t number)
{
    t->later = transfer_memory(sizeof *t->later);
    *t->later = (struct later){.hook = {.fn = follow_later, .is_brief = true},
                               .transfer = t,
                               .number = number,
                               .since = PMPI_Wtime()};
    progress_add(&t->later->hook);
}

// With several threads t may end in another one when this handler has returned, but not before: the
// receiver's answer comes behind the offer, and does not come at all once the offer is taken.
static void on_offer(const shoal_am_t *am)
{
    struct offer o;
    memcpy(&o, am->payload, sizeof o);
    struct transfer *t = transfer_back(o.sender);
    if (!partner_is_reached(t->pe))
        return;
    if (shim_threads) {
        follow_offer(t, &o.copy);
        request_count_activity(); // what ends it is a hook, which nobody may be awake to run
        return;
    }
    if (!t->later)
        keep_for_later(t, 0);
    t->later->offer = o.copy;
    request_count_activity(); // who is about to sleep looks after it
}

void hint_follow(struct transfer *t)
{
    const struct partner *p = partner_of(t->pe);
    // An envelope that waits for room would leave the receiver without the message.
    if (shim_threads || !shim_settings.hint || !t->bytes || outbox_is_used(t->pe))
        return;
    if (is_late(t->pe, p))
        keep_for_later(t, p->gone - 1);
    else
        follow(t, p->gone - 1);
}

int hint_up(void)
{
    int status = shoal_am_register(AM_HINT, on_hint, NULL);
    return status ? status : shoal_am_register(AM_OFFER, on_offer, NULL);
}
