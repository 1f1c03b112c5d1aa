// SPDX-License-Identifier: BSD-3-Clause
// Messages between processes. See p2p.h; transfer.h says how they travel.
#include "arrive.h"
#include "partitioned.h"
#include "transfer.h"

_Static_assert(sizeof(struct transfer) <= REQUEST_SHORT, "requests of messages are pooled");

static void release(struct request *r)
{
    struct transfer *t = (struct transfer *)r;
    if (t->type)
        type_drop(t->type);
}

// What completes it holds it.
static void hold(struct transfer *t)
{
    t->request.is_held = true;
    request_keep(&t->request);
}

static void hold_new(struct transfer *t) // which nobody else knows
{
    t->request.is_held = true;
    atomic_store_explicit(&t->request.head.refs, 2, memory_order_relaxed);
}

// A message as long as one that a source is told of needs nobody in the library with several threads either.
static NOINLINE void attend(struct transfer *t)
{
    if (t->request.is_held && (uint64_t)t->bytes >= shim_settings.hint)
        request_attend(&t->request);
}

// Takes the message that has come for it, or waits for it in the queues.
static INLINE void post_here(struct transfer *t)
{
    struct matching *m = atomic_load_explicit(&t->request.comm->matching[t->space],
                                              memory_order_acquire);
    t->posted.key = (struct match_key){t->pe, t->tag};
    bool is_told = hint_is_wanted(t), is_long = t->bytes >= HINT_LEAST_OFFERED;
    if (unlikely(is_long)) {
        hint_defers_from = HINT_LEAST_OFFERED;
        attend(t);
    }
    if (is_told)
        shoal_progress(); // its message may have come
    shim_lock_take(&m->lock);
    struct arrived *a = match_post(m, &t->posted);
    is_told = is_told && !a && match_is_next(m, &t->posted);
    shim_lock_give(&m->lock);
    if (a)
        transfer_accept(t, a);
    else if (is_told)
        hint_tell(t);
    if (unlikely(is_long))
        hint_defers_from = SIZE_MAX;
}

static NOINLINE void post(struct transfer *t)
{
    post_here(t);
}

static int start(struct request *r)
{
    struct transfer *t = (struct transfer *)r;
    request_restart(r);
    hold(t);
    t->pe = t->peer < 0 ? t->peer : group_pe(r->comm->peers, t->peer);
    if (t->peer == MPI_PROC_NULL) {
        r->bytes = 0;
        request_complete(r);
    } else if (r->kind == REQUEST_SEND) {
        t->bytes = t->count * t->type->size;
        transfer_send(t);
    } else {
        post(t);
    }
    return MPI_SUCCESS;
}

static void tell(const struct request *r)
{
    const struct transfer *t = (const struct transfer *)r;
    int pe = t->peer < 0 ? -1 : group_pe(r->comm->peers, t->peer);
    const char *what = t->space == SPACE_COLL    ? "MPI collective with"
                       : r->kind == REQUEST_SEND ? "MPI send to"
                       : pe < 0                  ? "MPI receive from any"
                                                 : "MPI receive from";
    shoal_waits(what, pe, t->space == SPACE_COLL || t->tag < 0 ? -1 : t->tag);
}

static const struct request_class p2p_class = {
    .start = start, .cancel = transfer_cancel, .release = release, .tell = tell};

// ---- Requests
// The rest of it, the movers fill in that use it.
static void fill(struct transfer *t, enum space space, const void *buf, MPI_Count count,
                 struct type *type, int peer, int tag)
{
    t->space = space;
    t->buf = (void *)(uintptr_t)buf;
    t->count = count;
    t->type = type;
    t->bytes = count * type->size;
    t->peer = peer;
    t->tag = tag;
    t->copy = NULL;
    t->region = NULL;
    t->told = 0;
    t->later = NULL;
}

static INLINE struct transfer *new_transfer(struct comm *comm, enum request_kind kind,
                                            enum space space, const void *buf, MPI_Count count,
                                            struct type *type, int peer, int tag)
{
    struct transfer *t = request_take(POOL_SHORT);
    request_init(&t->request, kind, comm, &p2p_class, POOL_SHORT);
    fill(t, space, buf, count, type, peer, tag);
    t->mode = SEND_STANDARD;
    t->posted.is_queued = false;
    t->split = NULL;
    type_keep(type);
    if (peer == MPI_PROC_NULL) {
        t->request.source = MPI_PROC_NULL;
        t->request.tag = MPI_ANY_TAG;
    }
    return t;
}

struct request *p2p_isend(struct comm *comm, enum space space, const void *buf, MPI_Count count,
                          struct type *type, int dest, int tag, enum send_mode mode)
{
    if (unlikely(dest == MPI_PROC_NULL))
        return request_done(true);
    bool is_plain = mode != SEND_SYNCHRONOUS;
    int pe = group_pe(comm->peers, dest);
    enum leave leave = space == SPACE_P2P ? LEAVE_GATHERED : LEAVE_NOW;
    if (likely(is_plain) && likely(!transfer_is_kept(space, partner_of(pe), count * type->size)) &&
        likely(p2p_send_now(comm, space, buf, count, type, pe, tag, leave)))
        return likely(!partner_of(pe)->is_far) ? request_done(false) : request_gathered();
    struct transfer *t = new_transfer(comm, REQUEST_SEND, space, buf, count, type, dest, tag);
    t->mode = mode;
    t->pe = pe;
    hold_new(t);
    if (is_plain)
        transfer_send_later(t);
    else
        transfer_send(t);
    return &t->request;
}

struct request *p2p_irecv(struct comm *comm, enum space space, void *buf, MPI_Count count,
                          struct type *type, int source, int tag)
{
    if (unlikely(source == MPI_PROC_NULL))
        return request_done(true);
    struct transfer *t = new_transfer(comm, REQUEST_RECV, space, buf, count, type, source, tag);
    t->pe = source < 0 ? source : group_pe(comm->peers, source);
    hold_new(t);
    post_here(t);
    return &t->request;
}

struct request *p2p_send_init(struct comm *comm, enum space space, const void *buf, MPI_Count count,
                              struct type *type, int dest, int tag, enum send_mode mode)
{
    struct transfer *t = new_transfer(comm, REQUEST_SEND, space, buf, count, type, dest, tag);
    t->mode = mode;
    t->request.is_persistent = true;
    t->request.is_active = false;
    return &t->request;
}

struct request *p2p_recv_init(struct comm *comm, enum space space, void *buf, MPI_Count count,
                              struct type *type, int source, int tag)
{
    struct transfer *t = new_transfer(comm, REQUEST_RECV, space, buf, count, type, source, tag);
    t->request.is_persistent = true;
    t->request.is_active = false;
    return &t->request;
}

// ---- Blocking: the request is on the stack
static void init_local(struct transfer *t, enum request_kind kind, struct comm *comm)
{
    struct request *r = &t->request;
    atomic_store_explicit(&r->done, 0, memory_order_relaxed);
    r->kind = (uint8_t)kind;
    r->class = &p2p_class;
    r->is_held = r->is_cancelled = false;
    r->error = MPI_SUCCESS;
    r->bytes = 0;
    r->comm = comm;
}

// Another thread may free them meanwhile.
static void keep_objects(struct transfer *t)
{
    if (unlikely(shim_threads)) {
        object_keep(t->request.comm);
        type_keep(t->type);
    }
}

static void drop_objects(struct transfer *t)
{
    if (unlikely(shim_threads)) {
        type_drop(t->type);
        comm_free(t->request.comm);
    }
}

// t->pe may be changing: a message has come for it in another thread.
static void wait_for(struct transfer *t)
{
    struct request *r = &t->request;
    if (!request_is_done(r))
        request_wait_for(r, t->peer >= 0 && partner_is_direct(group_pe(r->comm->peers, t->peer)));
}

void p2p_wait(struct request *r)
{
    if (r->class == &p2p_class)
        wait_for((struct transfer *)r);
    else
        request_wait(r);
}

int p2p_send_later(struct comm *comm, enum space space, const void *buf, MPI_Count count,
                   struct type *type, int dest, int tag, enum send_mode mode)
{
    struct transfer t;
    init_local(&t, REQUEST_SEND, comm);
    fill(&t, space, buf, count, type, dest, tag);
    keep_objects(&t);
    t.mode = mode;
    t.pe = group_pe(comm->peers, dest);
    if (mode != SEND_SYNCHRONOUS)
        transfer_send_later(&t);
    else
        transfer_send(&t);
    wait_for(&t);
    drop_objects(&t);
    return t.request.error;
}

int p2p_recv_later(struct comm *comm, enum space space, void *buf, MPI_Count count,
                   struct type *type, int source, int tag, MPI_Status *status)
{
    if (unlikely(source == MPI_PROC_NULL)) {
        status_set(status, MPI_PROC_NULL, MPI_ANY_TAG, 0, false);
        return MPI_SUCCESS;
    }
    struct transfer t;
    init_local(&t, REQUEST_RECV, comm);
    fill(&t, space, buf, count, type, source, tag);
    keep_objects(&t);
    t.pe = source < 0 ? source : group_pe(comm->peers, source);
    post(&t);
    wait_for(&t);
    if (outbox_is_used(t.pe)) // its answer, for which the sender waits
        outbox_wait(t.pe);
    status_set(status, t.request.source, t.request.tag, t.request.bytes, false);
    drop_objects(&t);
    return t.request.error;
}

// ---- Probing
static struct match_key key_of(struct comm *comm, int source, int tag)
{
    return (struct match_key){source < 0 ? source : group_pe(comm->peers, source), tag};
}

static void describe(const struct arrived *a, MPI_Status *status)
{
    status_set(status, group_rank(a->comm->peers, a->key.pe), a->key.tag, a->bytes, false);
}

bool p2p_probe(struct comm *comm, int source, int tag, MPI_Status *status, struct arrived **message)
{
    struct matching *m = comm->matching[SPACE_P2P];
    shim_lock_take(&m->lock);
    struct arrived *a = match_find(m, key_of(comm, source, tag));
    if (a)
        describe(a, status);
    if (a && message) {
        match_remove(m, a);
        object_keep(comm); // until it is received
        *message = a;
    }
    shim_lock_give(&m->lock);
    return a;
}

struct request *p2p_imrecv(void *buf, MPI_Count count, struct type *type, struct arrived *message)
{
    struct comm *comm = message->comm;
    struct transfer *t = new_transfer(comm, REQUEST_RECV, message->space, buf, count, type,
                                      MPI_ANY_SOURCE, MPI_ANY_TAG);
    hold_new(t);
    attend(t);
    transfer_accept(t, message);
    comm_free(comm);
    return &t->request;
}

int p2p_up(void)
{
    int status = request_up();
    if (!status)
        status = transfer_up();
    return status ? status : partitioned_up();
}

void p2p_down(void)
{
    transfer_down();
    request_down();
}
