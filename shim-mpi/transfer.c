// SPDX-License-Identifier: BSD-3-Clause
// Sending and receiving. See transfer.h.
#include "transfer.h"

#include "settings.h"
#include "stats.h"

#include <pthread.h>
#include <stdlib.h>
#include <string.h>

#define TRANSFER(member, p) \
    ((struct transfer *)(void *)((char *)(p)-offsetof(struct transfer, member)))

static size_t am_max;

static void *memory(size_t n)
{
    void *p = malloc(n ? n : 1);
    if (!p)
        shim_fatal("no memory for a message of %zu bytes", n);
    return p;
}

static void tell(int pe, int id, uint64_t arg, const void *payload, size_t n)
{
    int status = shoal_am_request(pe, id, arg, payload, n);
    if (status)
        shim_fatal("a message to PE %d: %s", pe, shoal_strerror(status));
}

// ---- What a message is addressed to, in an active message's argument
static uint64_t address_of(uint32_t context, enum space space, int tag)
{
    return (uint64_t)context << 32 | (uint64_t)space << 31 | (uint32_t)tag;
}

static uint32_t context_in(uint64_t address)
{
    return (uint32_t)(address >> 32);
}

static enum space space_in(uint64_t address)
{
    return (enum space)(address >> 31 & 1);
}

static int tag_in(uint64_t address)
{
    return (int)(address & 0x7fffffff);
}

// ---- Credit: what of ours the peer has not taken, and what of its we have
struct partner {
    _Atomic uint32_t sent, taken_there; // eager bytes, overhead included
    _Atomic uint32_t taken, told;
};
enum { CHUNK = 64 };
static struct partner *_Atomic *partners; // by 64s, made when needed

static struct partner *partner_of(int pe)
{
    struct partner *_Atomic *at = &partners[pe / CHUNK];
    struct partner *chunk = atomic_load_explicit(at, memory_order_acquire);
    if (unlikely(!chunk)) {
        struct partner *fresh = calloc(CHUNK, sizeof *fresh);
        if (!fresh)
            shim_fatal("no memory for partners");
        if (atomic_compare_exchange_strong(at, &chunk, fresh))
            chunk = fresh;
        else
            free(fresh);
    }
    return &chunk[pe % CHUNK];
}

static void add(_Atomic uint32_t *word, uint32_t n)
{
    if (shim_threads)
        atomic_fetch_add_explicit(word, n, memory_order_relaxed);
    else
        atomic_store_explicit(word, atomic_load_explicit(word, memory_order_relaxed) + n,
                              memory_order_relaxed);
}

bool transfer_is_eager(int pe, MPI_Count n)
{
    if (n > (MPI_Count)shim_settings.eager)
        return false;
    struct partner *p = partner_of(pe);
    uint32_t cost = (uint32_t)n + TRANSFER_OVERHEAD;
    uint32_t out = atomic_load_explicit(&p->sent, memory_order_relaxed) -
                   atomic_load_explicit(&p->taken_there, memory_order_relaxed);
    if (unlikely(out + cost > shim_settings.window)) {
        stats_count(HELD_BACK);
        return false;
    }
    add(&p->sent, cost);
    return true;
}

static void took(int pe, MPI_Count n)
{
    struct partner *p = partner_of(pe);
    add(&p->taken, (uint32_t)n + TRANSFER_OVERHEAD);
    uint32_t taken = atomic_load_explicit(&p->taken, memory_order_relaxed);
    uint32_t told = atomic_load_explicit(&p->told, memory_order_relaxed);
    if (unlikely(taken - told > shim_settings.window / 4) &&
        atomic_compare_exchange_strong(&p->told, &told, taken)) {
        stats_count(CREDIT);
        tell(pe, AM_CREDIT, taken, NULL, 0);
    }
}

static void on_credit(const shoal_am_t *am)
{
    struct partner *p = partner_of(am->from);
    uint32_t taken = (uint32_t)am->arg;
    // Two threads may have told theirs in either order.
    if ((int32_t)(taken - atomic_load_explicit(&p->taken_there, memory_order_relaxed)) > 0)
        atomic_store_explicit(&p->taken_there, taken, memory_order_relaxed);
}

// The address of a transfer goes to the peer, whose answer brings it back, perhaps to another thread
// of this process: what was written here before is seen there. (The way through the peer orders them
// already; this says so to whoever sees one process only.)
static uint64_t address_out(struct transfer *t)
{
    atomic_store_explicit(&t->is_out, true, memory_order_release);
    return (uintptr_t)t;
}

static struct transfer *transfer_back(uint64_t address)
{
    struct transfer *t = (struct transfer *)(uintptr_t)address;
    (void)atomic_load_explicit(&t->is_out, memory_order_acquire);
    return t;
}

// ---- Receiving: the end
// Whose message it is and how much of it fits; the result says how much.
static MPI_Count describe(struct transfer *t, struct match_key key, MPI_Count bytes)
{
    struct request *r = &t->request;
    r->source = group_rank(r->comm->peers, key.pe);
    r->tag = key.tag;
    r->error = bytes > t->bytes ? MPI_ERR_TRUNCATE : MPI_SUCCESS;
    r->bytes = bytes > t->bytes ? t->bytes : bytes;
    t->pe = key.pe;
    return r->bytes;
}

static void place(struct transfer *t, MPI_Count from, const void *data, size_t n)
{
    if (likely(t->type->is_dense))
        memcpy((char *)type_at(t->type, t->buf) + from, data, n);
    else
        type_unpack(t->type, t->buf, t->count, from, data, n);
}

static void accept_eager(struct transfer *t, struct match_key key, const void *data,
                         MPI_Count bytes)
{
    MPI_Count n = describe(t, key, bytes);
    if (n)
        place(t, 0, data, (size_t)n);
    took(key.pe, bytes);
    request_complete(&t->request);
}

static void accept_sync(struct transfer *t, struct match_key key, const void *data, MPI_Count bytes,
                        uint64_t sender)
{
    tell(key.pe, AM_DONE, sender, NULL, 0);
    accept_eager(t, key, data, bytes);
}

// The data has been got.
static void pulled(struct transfer *t)
{
    if (t->event.status)
        t->request.error = error_of(t->event.status);
    if (t->copy) {
        if (!t->event.status)
            place(t, 0, t->copy, (size_t)t->request.bytes);
        free(t->copy);
        t->copy = NULL;
    }
    tell(t->pe, AM_DONE, t->other, NULL, 0);
    request_complete(&t->request);
}

static bool event_is_done(shoal_event_t *e)
{
    size_t done;
    return !e->word || (shoal_test(1, &e, &done, NULL) == SHOAL_OK && done);
}

static bool look_after_pull(struct progress_hook *hook)
{
    struct transfer *t = TRANSFER(hook, hook);
    if (!event_is_done(&t->event))
        return false;
    progress_remove(hook);
    pulled(t);
    return true;
}

static void pull(struct transfer *t, shoal_rptr_t from)
{
    size_t n = (size_t)t->request.bytes;
    t->copy = n && !t->type->is_dense ? memory(n) : NULL;
    t->event = (shoal_event_t){0};
    if (n) {
        stats_count(PULL);
        int status = shoal_get(t->copy ? t->copy : type_at(t->type, t->buf), from, n, NULL,
                               &t->event);
        if (status)
            t->event.status = status;
    }
    if (event_is_done(&t->event)) {
        pulled(t);
        return;
    }
    t->hook = (struct progress_hook){.fn = look_after_pull, .event = &t->event};
    progress_add(&t->hook);
}

struct stream_request {
    uint64_t sender, receiver;
    int64_t bytes;
};

static void ask_for_stream(struct transfer *t)
{
    t->moved = 0;
    struct stream_request ask = {t->other, address_out(t), t->request.bytes};
    tell(t->pe, AM_STREAM, 0, &ask, sizeof ask);
    if (t->request.bytes == 0)
        request_complete(&t->request);
}

// What an RTS carries.
struct rts {
    uint64_t sender;
    int64_t bytes;
    shoal_rptr_t from;
    uint64_t has_from;
};

static void accept_rendezvous(struct transfer *t, struct match_key key, const struct rts *rts)
{
    describe(t, key, rts->bytes);
    t->other = rts->sender;
    if (rts->has_from)
        pull(t, rts->from);
    else
        ask_for_stream(t);
}

void transfer_accept(struct transfer *t, struct arrived *a)
{
    switch (a->kind) {
    case ARRIVED_EAGER: accept_eager(t, a->key, a->data, a->bytes); break;
    case ARRIVED_SYNC: accept_sync(t, a->key, a->data, a->bytes, a->sender); break;
    case ARRIVED_RENDEZVOUS:
        accept_rendezvous(t, a->key, &(struct rts){a->sender, a->bytes, a->from, a->has_from});
        break;
    }
    free(a);
}

void transfer_recv(struct transfer *t)
{
    struct matching *m = atomic_load_explicit(&t->request.comm->matching[t->space],
                                              memory_order_acquire);
    t->posted.key = (struct match_key){t->pe, t->tag};
    shim_lock_take(&m->lock);
    struct arrived *a = match_post(m, &t->posted);
    shim_lock_give(&m->lock);
    if (a)
        transfer_accept(t, a);
}

// ---- Messages that come
static struct arrived *orphans, **last_orphan = &orphans; // their communicator is not here yet
static pthread_mutex_t orphan_lock = PTHREAD_MUTEX_INITIALIZER;

static struct matching *matching_of(uint32_t context, enum space space, struct comm **comm)
{
    *comm = comm_find(context);
    return *comm ? atomic_load_explicit(&(*comm)->matching[space], memory_order_acquire) : NULL;
}

static struct arrived *keep(const struct arrived *what, const void *data, size_t n)
{
    struct arrived *a = memory(sizeof *a + n);
    *a = *what;
    a->head.magic = OBJECT_MESSAGE;
    a->head.refs = 1;
    if (n)
        memcpy(a->data, data, n);
    return a;
}

// Kept until its communicator is made here. False: it has been made meanwhile.
static bool orphan(const struct arrived *what, const void *data, size_t n)
{
    struct comm *comm;
    pthread_mutex_lock(&orphan_lock);
    bool is_one = !matching_of(what->context, what->space, &comm);
    if (is_one) {
        *last_orphan = keep(what, data, n);
        last_orphan = &(*last_orphan)->next_orphan;
    }
    pthread_mutex_unlock(&orphan_lock);
    return is_one;
}

// The receive that takes this message, or NULL: it is kept.
static struct transfer *match(struct arrived *what, const void *data, size_t n)
{
    struct matching *m = matching_of(what->context, what->space, &what->comm);
    while (unlikely(!m)) {
        if (orphan(what, data, n))
            return NULL;
        m = matching_of(what->context, what->space, &what->comm);
    }
    shim_lock_take(&m->lock);
    struct posted *p = match_arrived(m, what->key);
    if (!p)
        match_queue(m, keep(what, data, n));
    shim_lock_give(&m->lock);
    if (p) {
        stats_count(MATCHED);
        return TRANSFER(posted, p);
    }
    stats_count(UNEXPECTED);
    request_count_activity(); // who probes looks again
    return NULL;
}

static struct arrived arrived_of(const shoal_am_t *am, enum arrived_kind kind)
{
    return (struct arrived){.key = {am->from, tag_in(am->arg)},
                            .kind = kind,
                            .context = context_in(am->arg),
                            .space = space_in(am->arg)};
}

static void on_eager(const shoal_am_t *am)
{
    struct arrived a = arrived_of(am, ARRIVED_EAGER);
    a.bytes = (MPI_Count)am->n;
    struct transfer *t = match(&a, am->payload, am->n);
    if (t)
        accept_eager(t, a.key, am->payload, a.bytes);
}

static void on_sync(const shoal_am_t *am)
{
    struct arrived a = arrived_of(am, ARRIVED_SYNC);
    const char *data = (const char *)am->payload + sizeof a.sender;
    memcpy(&a.sender, am->payload, sizeof a.sender);
    a.bytes = (MPI_Count)(am->n - sizeof a.sender);
    struct transfer *t = match(&a, data, (size_t)a.bytes);
    if (t)
        accept_sync(t, a.key, data, a.bytes, a.sender);
}

static void on_rts(const shoal_am_t *am)
{
    struct arrived a = arrived_of(am, ARRIVED_RENDEZVOUS);
    struct rts rts;
    memcpy(&rts, am->payload, sizeof rts);
    a.sender = rts.sender;
    a.bytes = rts.bytes;
    a.from = rts.from;
    a.has_from = rts.has_from;
    struct transfer *t = match(&a, NULL, 0);
    if (t)
        accept_rendezvous(t, a.key, &rts);
}

// ---- Sending
static void *room_for(int pe, size_t n, shoal_am_room_t *room)
{
    int status = shoal_am_reserve(pe, n, room);
    if (status)
        shim_fatal("a message to PE %d: %s", pe, shoal_strerror(status));
    return room->payload;
}

int transfer_send_eager(struct comm *comm, enum space space, const void *buf, MPI_Count count,
                        const struct type *type, int pe, int tag)
{
    size_t n = (size_t)(count * type->size);
    stats_count(EAGER);
    uint64_t address = address_of(comm->context, space, tag);
    if (likely(type->is_dense || n == 0)) {
        tell(pe, AM_EAGER, address, n ? type_at(type, buf) : NULL, n);
        return MPI_SUCCESS;
    }
    shoal_am_room_t room;
    type_pack(type, buf, count, 0, room_for(pe, n, &room), n);
    shoal_am_commit(&room, AM_EAGER, address, n);
    return MPI_SUCCESS;
}

static void send_sync(struct transfer *t)
{
    shoal_am_room_t room;
    uint64_t self = address_out(t);
    size_t n = sizeof self + (size_t)t->bytes;
    stats_count(SYNC);
    char *payload = room_for(t->pe, n, &room);
    memcpy(payload, &self, sizeof self);
    if (t->bytes)
        type_pack(t->type, t->buf, t->count, 0, payload + sizeof self, (size_t)t->bytes);
    shoal_am_commit(&room, AM_SYNC, address_of(t->request.comm->context, t->space, t->tag), n);
}

// Where the receiver finds the data: false when this process cannot say.
static bool expose(struct transfer *t, shoal_rptr_t *from)
{
    const void *data = t->copy ? t->copy : type_at(t->type, t->buf);
    shoal_key_t key;
    if (shim_settings.stream && t->bytes)
        return false;
    if (t->bytes == 0 || shoal_rptr_own(data, from) == SHOAL_OK)
        return true;
    if (shoal_region_register((void *)(uintptr_t)data, (size_t)t->bytes, &t->region))
        return false;
    shoal_region_key(t->region, &key);
    return shoal_rptr(&key, 0, from) == SHOAL_OK;
}

static void send_rts(struct transfer *t)
{
    struct rts rts = {.bytes = t->bytes};
    stats_count(RENDEZVOUS);
    if (t->bytes && !t->type->is_dense) {
        t->copy = memory((size_t)t->bytes);
        type_pack(t->type, t->buf, t->count, 0, t->copy, (size_t)t->bytes);
    }
    rts.has_from = expose(t, &rts.from);
    rts.sender = address_out(t);
    tell(t->pe, AM_RTS, address_of(t->request.comm->context, t->space, t->tag), &rts, sizeof rts);
}

static void end_send(struct transfer *t)
{
    if (t->region)
        shoal_region_deregister(t->region);
    free(t->copy);
    t->region = NULL;
    t->copy = NULL;
    request_complete(&t->request);
}

void transfer_send(struct transfer *t)
{
    bool fits = t->bytes + (MPI_Count)sizeof(uint64_t) <= (MPI_Count)am_max;
    if (t->mode != SEND_SYNCHRONOUS && transfer_is_eager(t->pe, t->bytes)) {
        transfer_send_eager(t->request.comm, t->space, t->buf, t->count, t->type, t->pe, t->tag);
        request_complete(&t->request);
    } else if (t->mode == SEND_SYNCHRONOUS && fits && transfer_is_eager(t->pe, t->bytes)) {
        send_sync(t);
    } else {
        send_rts(t);
    }
}

static void on_done(const shoal_am_t *am)
{
    end_send(transfer_back(am->arg));
}

// ---- Streams: pieces are sent as the process makes progress
struct piece {
    uint64_t receiver;
    int64_t from;
};

static bool send_pieces(struct progress_hook *hook)
{
    struct transfer *t = TRANSFER(hook, hook);
    for (int i = 0; i < 8 && t->moved < t->bytes; i++) {
        struct piece piece = {t->other, t->moved};
        size_t n = am_max - sizeof piece;
        n = (MPI_Count)n < t->bytes - t->moved ? n : (size_t)(t->bytes - t->moved);
        shoal_am_room_t room;
        char *payload = room_for(t->pe, sizeof piece + n, &room);
        memcpy(payload, &piece, sizeof piece);
        if (t->copy)
            memcpy(payload + sizeof piece, (char *)t->copy + t->moved, n);
        else
            type_pack(t->type, t->buf, t->count, t->moved, payload + sizeof piece, n);
        shoal_am_commit(&room, AM_DATA, 0, sizeof piece + n);
        t->moved += (MPI_Count)n;
    }
    if (t->moved == t->bytes) {
        progress_remove(hook);
        end_send(t);
    }
    return true;
}

static void on_stream(const shoal_am_t *am)
{
    struct stream_request ask;
    memcpy(&ask, am->payload, sizeof ask);
    struct transfer *t = transfer_back(ask.sender);
    stats_count(STREAM);
    t->other = ask.receiver;
    t->bytes = ask.bytes; // all that there is room for
    t->moved = 0;
    t->hook = (struct progress_hook){.fn = send_pieces};
    progress_add(&t->hook);
    request_count_activity();
}

static void on_data(const shoal_am_t *am)
{
    struct piece piece;
    memcpy(&piece, am->payload, sizeof piece);
    struct transfer *t = transfer_back(piece.receiver);
    size_t n = am->n - sizeof piece;
    place(t, piece.from, (const char *)am->payload + sizeof piece, n);
    t->moved += (MPI_Count)n;
    if (t->moved == t->request.bytes)
        request_complete(&t->request);
}

// ---- Cancel. A receive that is still queued; a send that is still unexpected at its receiver.
struct cancel {
    uint64_t sender;
};

static void cancel_recv(struct transfer *t)
{
    struct matching *m = t->request.comm->matching[t->space];
    shim_lock_take(&m->lock);
    bool is_queued = t->posted.is_queued;
    if (is_queued)
        match_withdraw(m, &t->posted);
    shim_lock_give(&m->lock);
    if (!is_queued)
        return;
    t->request.is_cancelled = true;
    request_complete(&t->request);
}

int transfer_cancel(struct request *r)
{
    struct transfer *t = (struct transfer *)r;
    if (request_is_done(r))
        return MPI_SUCCESS;
    if (r->kind == REQUEST_RECV)
        cancel_recv(t);
    else
        tell(t->pe, AM_CANCEL, address_of(r->comm->context, t->space, t->tag),
             &(struct cancel){(uintptr_t)t}, sizeof(struct cancel));
    return MPI_SUCCESS;
}

static void on_cancel(const shoal_am_t *am)
{
    struct comm *comm;
    struct cancel what;
    memcpy(&what, am->payload, sizeof what);
    struct matching *m = matching_of(context_in(am->arg), space_in(am->arg), &comm);
    if (!m)
        return;
    shim_lock_take(&m->lock);
    struct arrived *a = match_sent_by(m, am->from, what.sender);
    if (a)
        match_remove(m, a);
    shim_lock_give(&m->lock);
    if (!a)
        return; // it is being received
    if (a->kind == ARRIVED_SYNC)
        took(am->from, a->bytes);
    free(a);
    tell(am->from, AM_CANCELLED, what.sender, NULL, 0);
}

static void on_cancelled(const shoal_am_t *am)
{
    struct transfer *t = transfer_back(am->arg);
    t->request.is_cancelled = true;
    end_send(t);
}

// ---- Life
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
    // Pairs with the acquire load in matching_of: those that came early are in the queue.
    for (int s = 0; s < SPACES; s++)
        atomic_store_explicit(&comm->matching[s], &m[s], memory_order_release);
    pthread_mutex_unlock(&orphan_lock);
    return MPI_SUCCESS;
}

void transfer_drop_all(struct matching *m)
{
    for (struct arrived *a; (a = match_any(m));) {
        match_remove(m, a);
        free(a);
    }
}

void p2p_detach(struct comm *comm)
{
    struct matching *m = comm->matching[0];
    if (!m)
        return;
    for (int s = 0; s < SPACES; s++)
        transfer_drop_all(&m[s]);
    free(m);
}

int transfer_up(void)
{
    static const struct {
        int id;
        shoal_am_fn *fn;
    } handlers[] = {{AM_EAGER, on_eager},   {AM_SYNC, on_sync},     {AM_RTS, on_rts},
                    {AM_DONE, on_done},     {AM_STREAM, on_stream}, {AM_DATA, on_data},
                    {AM_CREDIT, on_credit}, {AM_CANCEL, on_cancel}, {AM_CANCELLED, on_cancelled}};
    uint64_t max;
    int status = shoal_query(SHOAL_Q_AM_MAX, shim_pe(), &max);
    am_max = (size_t)max;
    shim_settings_read();
    if (shim_settings.eager > max)
        shim_settings.eager = max;
    partners = calloc(((size_t)shim_npes() + CHUNK - 1) / CHUNK, sizeof *partners);
    if (!partners)
        return SHOAL_ENOMEM;
    for (size_t i = 0; i < ARRAY_LEN(handlers) && !status; i++)
        status = shoal_am_register(handlers[i].id, handlers[i].fn, NULL);
    return status;
}

void transfer_down(void)
{
    for (size_t i = 0; i < ((size_t)shim_npes() + CHUNK - 1) / CHUNK; i++)
        free(partners[i]);
    free((void *)partners);
    while (orphans) {
        struct arrived *a = orphans;
        orphans = a->next_orphan;
        free(a);
    }
    last_orphan = &orphans;
}
