// SPDX-License-Identifier: BSD-3-Clause
// Messages that come. See arrive.h. Those whose communicator this process has not made yet wait as
// orphans, in the order of their arrival; of those whose communicator it has freed the ones stay that may
// still be cancelled.
#include "arrive.h"

#include <pthread.h>
#include <stdlib.h>

static struct arrived *orphans, **last_orphan = &orphans;
static struct arrived *left; // of freed communicators, and nobody's
static pthread_mutex_t orphan_lock = PTHREAD_MUTEX_INITIALIZER;

// ---- Memory of messages. What was received is kept for those to come: the C library would give it back to
// the system, whose pages cost more than the messages in them. Lists of one length each; those of
// SHIM_SHARED are always empty.
enum { ROOM_STEP = 256, ROOMS = 10, ROOMS_KEPT = 4 << 20 }; // bytes; of a part at most
static struct rooms {
    _Alignas(64) struct arrived *first[ROOMS];
    size_t bytes;
} rooms[SHIM_PARTS];

static struct arrived *take_room(size_t size)
{
    struct rooms *r = &rooms[shim_part()];
    size_t length = (size - 1) / ROOM_STEP;
    struct arrived *a = length < ROOMS ? r->first[length] : NULL;
    if (a) {
        r->first[length] = a->next_orphan;
        r->bytes -= (length + 1) * ROOM_STEP;
    } else {
        a = transfer_memory((length + 1) * ROOM_STEP);
    }
    memset(a, 0, sizeof *a);
    a->length = (uint32_t)length;
    return a;
}

void arrive_end(struct arrived *a)
{
    int part = shim_part();
    struct rooms *r = &rooms[part];
    size_t bytes = (a->length + 1) * (size_t)ROOM_STEP;
    object_forget(a);
    if (part == SHIM_SHARED || a->length >= ROOMS || r->bytes + bytes > ROOMS_KEPT) {
        free(a);
        return;
    }
    a->next_orphan = r->first[a->length];
    r->first[a->length] = a;
    r->bytes += bytes;
}

static void free_rooms(struct rooms *r)
{
    for (int i = 0; i < ROOMS; i++)
        for (struct arrived *a; (a = r->first[i]); free(a))
            r->first[i] = a->next_orphan;
    r->bytes = 0;
}

static struct arrived *keep(struct comm *comm, uint64_t address, const struct news *news)
{
    struct arrived *a = take_room(sizeof *a + news->n);
    a->head.magic = OBJECT_MESSAGE;
    a->head.refs = 1;
    a->key = news->key;
    a->kind = news->kind;
    a->bytes = news->bytes;
    if (news->rts)
        a->rts = *news->rts;
    a->comm = comm;
    a->space = space_in(address);
    a->context = context_in(address);
    if (news->n)
        shim_copy(a->data, news->data, news->n);
    return a;
}

// The communicator stays until its queues are locked, and these then until they are not: who frees it takes
// both locks, one after the other (p2p_detach).
struct matching *arrive_enter_other(uint64_t address, struct comm **comm)
{
    uint32_t context = context_in(address);
    *comm = comm_find(context);
    struct matching *m = *comm ? arrive_queues(*comm, address) : NULL;
    comm_found(context);
    return m;
}

// Kept until its communicator is made here. False: it has been made meanwhile.
static bool orphan(uint64_t address, const struct news *news)
{
    struct comm *comm;
    pthread_mutex_lock(&orphan_lock);
    struct matching *m = arrive_enter(address, &comm);
    if (!m) {
        *last_orphan = keep(NULL, address, news);
        last_orphan = &(*last_orphan)->next_orphan;
    } else {
        shim_lock_give(&m->lock);
    }
    pthread_mutex_unlock(&orphan_lock);
    return !m;
}

struct transfer *arrive_unposted(uint64_t address, const struct news *news)
{
    struct comm *comm;
    struct matching *m;
    while (unlikely(!(m = arrive_enter(address, &comm))))
        if (orphan(address, news))
            return NULL;
    struct posted *p = match_arrived(m, news->key);
    if (!p)
        match_queue(m, keep(comm, address, news));
    shim_lock_give(&m->lock);
    if (p)
        return arrive_matched(TRANSFER(posted, p), false);
    stats_count(UNEXPECTED);
    request_count_activity(); // who probes looks again
    return NULL;
}

// With the lock of orphans held.
static struct arrived *take_from(struct arrived **list, int pe, uint64_t sender)
{
    for (struct arrived **at = list, *a; (a = *at); at = &a->next_orphan) {
        if (!match_is_sent_by(a, pe, sender))
            continue;
        *at = a->next_orphan;
        if (last_orphan == &a->next_orphan)
            last_orphan = at;
        return a;
    }
    return NULL;
}

struct arrived *arrive_withdraw(uint64_t address, int pe, uint64_t sender)
{
    struct comm *comm;
    pthread_mutex_lock(&orphan_lock);
    struct arrived *a = take_from(&orphans, pe, sender);
    if (!a)
        a = take_from(&left, pe, sender);
    struct matching *m = a ? NULL : arrive_enter(address, &comm);
    if (m) {
        a = match_sent_by(m, (struct match_key){pe, tag_in(address)}, sender);
        if (a)
            match_remove(m, a);
        shim_lock_give(&m->lock);
    }
    pthread_mutex_unlock(&orphan_lock);
    return a;
}

// ---- A communicator's queues
int p2p_attach(struct comm *comm)
{
    struct matching *m = calloc(SPACES, sizeof *m);
    if (!m)
        return MPI_ERR_NO_MEM;
    for (int s = 0; s < SPACES; s++)
        match_init(&m[s]);
    pthread_mutex_lock(&orphan_lock);
    struct arrived **at = &orphans;
    for (struct arrived *a; (a = *at);) {
        if (a->context != comm->context) {
            at = &a->next_orphan;
            continue;
        }
        *at = a->next_orphan;
        a->comm = comm;
        match_queue(&m[a->space], a);
    }
    last_orphan = at;
    // Pairs with the acquire load in arrive_queues: those that came early are in the queue.
    for (int s = 0; s < SPACES; s++)
        atomic_store_explicit(&comm->matching[s], &m[s], memory_order_release);
    pthread_mutex_unlock(&orphan_lock);
    return MPI_SUCCESS;
}

// Messages that nobody will receive. Those that have a sender may still be cancelled by it, which hears of
// that then: they stay.
static void drop_all(struct matching *m, struct arrived **gone)
{
    for (struct arrived *a; (a = match_any(m));) {
        bool is_staged = a->kind == ARRIVED_RTS && a->rts.how == RTS_STAGE;
        match_remove(m, a);
        if (is_staged)
            stage_drop(&a->rts);
        struct arrived **list = is_staged || a->kind == ARRIVED_EAGER ? gone : &left;
        a->comm = NULL;
        a->next_orphan = *list;
        *list = a;
    }
}

// The senders may send as much again. Those that are left know by the size that they were told of.
static void took(int pe, MPI_Count bytes)
{
    partner_took(partner_of(pe), pe, bytes);
}

static bool take_left(int *pe, MPI_Count *bytes)
{
    pthread_mutex_lock(&orphan_lock);
    struct arrived *a = left;
    while (a && (a->kind != ARRIVED_SYNC || a->bytes == ARRIVED_TOLD))
        a = a->next_orphan;
    if (a) {
        *pe = a->key.pe;
        *bytes = a->bytes;
        a->bytes = ARRIVED_TOLD;
    }
    pthread_mutex_unlock(&orphan_lock);
    return a != NULL;
}

static void tell_all(struct arrived *gone)
{
    int pe;
    MPI_Count bytes;
    for (struct arrived *a; (a = gone);) {
        gone = a->next_orphan;
        if (a->kind == ARRIVED_EAGER)
            took(a->key.pe, a->bytes);
        arrive_end(a);
    }
    while (take_left(&pe, &bytes))
        took(pe, bytes);
}

void p2p_detach(struct comm *comm, void (*conceal)(struct comm *comm))
{
    struct matching *m = comm->matching[0];
    struct arrived *gone = NULL;
    pthread_mutex_lock(&orphan_lock); // who withdraws a message has it
    conceal(comm);
    for (int s = 0; m && s < SPACES; s++) {
        shim_lock_take(&m[s].lock); // and who queues one has queued it
        drop_all(&m[s], &gone);
        shim_lock_give(&m[s].lock);
    }
    for (int s = 0; m && s < SPACES; s++)
        match_end(&m[s]);
    free(m);
    bool none = !gone && !left;
    pthread_mutex_unlock(&orphan_lock);
    if (unlikely(!none))
        tell_all(gone);
}

static void end_list(struct arrived **list)
{
    for (struct arrived *a; (a = *list);) {
        *list = a->next_orphan;
        arrive_end(a);
    }
}

void arrive_down(void)
{
    end_list(&orphans);
    last_orphan = &orphans;
    end_list(&left);
    for (int part = 0; part < SHIM_PARTS; part++)
        free_rooms(&rooms[part]);
}
