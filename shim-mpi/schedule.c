// SPDX-License-Identifier: BSD-3-Clause
// Building and running schedules. See schedule.h.
#include "schedule.h"

#include <stdlib.h>
#include <string.h>

struct schedule_memory {
    struct schedule_memory *next;
    size_t size;
    _Alignas(max_align_t) char bytes[];
};

// ---- Long pieces are kept for the next schedules: to fill fresh pages costs more than what it is for. As
// many as were in use at once; those that have not been for longest go first.
enum { KEPT_LEAST = 64 << 10, KEPT_MOST = 32 << 20 }; // bytes of one, and of all

static struct {
    shim_lock lock;
    struct schedule_memory *first;
    size_t bytes;
    size_t used, most; // in use, and ever at once
} kept;

static struct schedule_memory *take_kept(size_t n)
{
    struct schedule_memory **at = &kept.first, *m = NULL;
    shim_lock_take(&kept.lock);
    while (*at && ((*at)->size < n || (*at)->size / 2 > n))
        at = &(*at)->next;
    if ((m = *at)) {
        *at = m->next;
        kept.bytes -= m->size;
    }
    shim_lock_give(&kept.lock);
    return m;
}

static void count_used(size_t n)
{
    shim_lock_take(&kept.lock);
    kept.used += n;
    if (kept.used > kept.most)
        kept.most = kept.used;
    shim_lock_give(&kept.lock);
}

// Beyond so many bytes, linked.
static struct schedule_memory *take_oldest(size_t most)
{
    struct schedule_memory **at = &kept.first;
    size_t bytes = 0;
    while (*at && bytes + (*at)->size <= most) {
        bytes += (*at)->size;
        at = &(*at)->next;
    }
    struct schedule_memory *rest = *at;
    *at = NULL;
    kept.bytes = bytes;
    return rest;
}

static void free_all(struct schedule_memory *m)
{
    while (m) {
        struct schedule_memory *next = m->next;
        free(m);
        m = next;
    }
}

static void keep(struct schedule_memory *m)
{
    shim_lock_take(&kept.lock);
    size_t most = kept.most < KEPT_MOST ? kept.most : KEPT_MOST;
    kept.used -= m->size;
    kept.bytes += m->size;
    m->next = kept.first;
    kept.first = m;
    m = kept.bytes > most ? take_oldest(most) : NULL;
    shim_lock_give(&kept.lock);
    free_all(m);
}

static struct schedule_memory *take_memory(size_t n)
{
    struct schedule_memory *m = n >= KEPT_LEAST ? take_kept(n) : NULL;
    if (!m && (m = malloc(sizeof *m + n)))
        m->size = n;
    if (m && n >= KEPT_LEAST)
        count_used(m->size);
    return m;
}

void schedule_down(void)
{
    free_all(kept.first);
    kept.first = NULL;
    kept.bytes = kept.most = 0;
}

void schedule_init(struct schedule *s, struct comm *comm, int tag)
{
    s->comm = comm;
    s->tag = tag;
    s->steps = s->first;
    s->room = SCHEDULE_STEPS;
    s->n = s->next = s->active_n = 0;
    s->active = s->first_active;
    s->active_room = SCHEDULE_STEPS;
    s->waits = false;
    s->memory = NULL;
    s->lacks = 0;
    s->shared = NULL;
    s->then = NULL;
    s->op = NULL;
    atomic_store_explicit(&s->pending, 0, memory_order_relaxed);
}

static void free_memory(struct schedule *s)
{
    while (s->memory) {
        struct schedule_memory *m = s->memory;
        s->memory = m->next;
        if (m->size < KEPT_LEAST)
            free(m);
        else
            keep(m);
    }
}

void schedule_free(struct schedule *s)
{
    free_memory(s);
    if (s->shared)
        shoal_free(s->shared);
    if (s->steps != s->first)
        free(s->steps);
    if (s->active != s->first_active)
        free(s->active);
}

// ---- Building
static void *grow(void *old, int used, int *room, size_t size, void *first)
{
    int more = *room * 2;
    void *p = old == first ? malloc((size_t)more * size) : realloc(old, (size_t)more * size);
    if (!p)
        shim_fatal("no memory for a collective of %d steps", more);
    if (old == first)
        memcpy(p, old, (size_t)used * size);
    *room = more;
    return p;
}

static struct step *add(struct schedule *s, enum step_kind kind)
{
    if (unlikely(s->n == s->room))
        s->steps = grow(s->steps, s->n, &s->room, sizeof *s->steps, s->first);
    struct step *step = &s->steps[s->n++];
    step->kind = kind;
    return step;
}

static void add_message(struct schedule *s, enum step_kind kind, struct comm *comm, const void *buf,
                        MPI_Count count, struct type *type, int peer)
{
    struct step *step = add(s, kind);
    step->comm = comm;
    step->from = buf;
    step->to = (void *)(uintptr_t)buf;
    step->count = count;
    step->type = type;
    step->peer = peer;
}

void schedule_send_on(struct schedule *s, struct comm *comm, const void *buf, MPI_Count count,
                      struct type *type, int peer)
{
    add_message(s, STEP_SEND, comm, buf, count, type, peer);
}

void schedule_recv_on(struct schedule *s, struct comm *comm, void *buf, MPI_Count count,
                      struct type *type, int peer)
{
    add_message(s, STEP_RECV, comm, buf, count, type, peer);
}

void schedule_send(struct schedule *s, const void *buf, MPI_Count count, struct type *type,
                   int peer)
{
    add_message(s, STEP_SEND, s->comm, buf, count, type, peer);
}

void schedule_lend(struct schedule *s, const void *buf, MPI_Count count, struct type *type,
                   int peer)
{
    add_message(s, STEP_LEND, s->comm, buf, count, type, peer);
}

void schedule_recv(struct schedule *s, void *buf, MPI_Count count, struct type *type, int peer)
{
    add_message(s, STEP_RECV, s->comm, buf, count, type, peer);
}

static struct step *add_local(struct schedule *s, enum step_kind kind, void *to, const void *from,
                              MPI_Count count, struct type *type)
{
    struct step *step = add(s, kind);
    step->from = from;
    step->to = to;
    step->count = count;
    step->type = type;
    return step;
}

static void add_copy(struct schedule *s, enum step_kind kind, void *to, MPI_Count to_count,
                     struct type *to_type, const void *from, MPI_Count from_count,
                     struct type *from_type)
{
    if (to == from && to_type == from_type)
        return;
    struct step *step = add_local(s, kind, to, from, from_count, from_type);
    step->to_count = to_count;
    step->to_type = to_type;
}

void schedule_copy(struct schedule *s, void *to, MPI_Count to_count, struct type *to_type,
                   const void *from, MPI_Count from_count, struct type *from_type)
{
    add_copy(s, STEP_COPY, to, to_count, to_type, from, from_count, from_type);
}

void schedule_copy_beside(struct schedule *s, void *to, MPI_Count to_count, struct type *to_type,
                          const void *from, MPI_Count from_count, struct type *from_type)
{
    add_copy(s, STEP_BESIDE, to, to_count, to_type, from, from_count, from_type);
}

static void add_part(struct schedule *s, enum step_kind kind, void *to, const void *from,
                     MPI_Count count, struct type *type, MPI_Count at, MPI_Count n)
{
    struct step *step = add_local(s, kind, to, from, count, type);
    step->at = at;
    step->to_count = n;
}

void schedule_pack(struct schedule *s, void *to, const void *buf, MPI_Count count,
                   struct type *type, MPI_Count at, MPI_Count n)
{
    add_part(s, STEP_PACK, to, buf, count, type, at, n);
}

void schedule_unpack(struct schedule *s, void *buf, MPI_Count count, struct type *type,
                     MPI_Count at, const void *from, MPI_Count n, bool is_long)
{
    add_part(s, is_long && type->is_dense ? STEP_UNPACK_PAST : STEP_UNPACK, buf, from, count, type,
             at, n);
}

void schedule_reduce(struct schedule *s, const void *from, void *to, MPI_Count count,
                     struct type *type)
{
    add_local(s, STEP_REDUCE, to, from, count, type);
}

void schedule_round(struct schedule *s)
{
    if (s->n && s->steps[s->n - 1].kind != STEP_ROUND)
        add(s, STEP_ROUND);
}

void schedule_then(struct schedule *s, schedule_fn *fn, void *arg)
{
    s->then = fn;
    s->then_arg = arg;
}

static void *add_memory(struct schedule *s, size_t n)
{
    struct schedule_memory *m = take_memory(n);
    if (!m)
        return NULL;
    m->next = s->memory;
    s->memory = m;
    return m->bytes;
}

void *schedule_bytes(struct schedule *s, size_t n)
{
    void *bytes = add_memory(s, n);
    if (!bytes)
        shim_fatal("no memory for a collective: %zu bytes", n);
    return bytes;
}

void *schedule_room(struct schedule *s, size_t n)
{
    static _Alignas(max_align_t) char nowhere[16]; // an address for steps that will not be done
    void *room = add_memory(s, n);
    if (room)
        return room;
    s->lacks = s->lacks > n ? s->lacks : n;
    return nowhere;
}

void *schedule_shared(struct schedule *s, size_t n)
{
    return s->shared = shoal_alloc(n);
}

void *schedule_elements(struct schedule *s, MPI_Count count, const struct type *type)
{
    MPI_Count lb, length;
    type_span(type, count, &lb, &length);
    size_t before = (size_t)lb % 16; // the address is aligned, as that of an array of the program's
    return type_base((char *)schedule_room(s, (size_t)length + before) + before, lb);
}

// ---- Running
static void message_done(struct request *r, void *arg)
{
    (void)r;
    struct schedule *s = arg;
    object_count(&s->pending, -1);
}

static void note(struct schedule *s, struct request *r)
{
    if (r->error && !s->request.error)
        s->request.error = r->error;
    request_drop(r);
}

static void start_message(struct schedule *s, const struct step *step)
{
    enum send_mode mode = step->kind == STEP_LEND ? SEND_SYNCHRONOUS : SEND_STANDARD;
    struct request *r = step->kind == STEP_RECV
                            ? p2p_irecv(step->comm, SPACE_COLL, step->to, step->count, step->type,
                                        step->peer, s->tag)
                            : p2p_isend(step->comm, SPACE_COLL, step->from, step->count, step->type,
                                        step->peer, s->tag, mode);
    if (request_is_done(r)) {
        note(s, r);
        return;
    }
    if (s->active_n == s->active_room)
        s->active = grow(s->active, s->active_n, &s->active_room, sizeof *s->active,
                         s->first_active);
    s->active[s->active_n++] = r;
    object_count(&s->pending, 1);
    request_then(r, message_done, s);
}

static void copy(const struct step *step)
{
    type_copy(step->to_type, step->to, step->to_count, step->type, step->from, step->count);
}

static void do_local(struct schedule *s, const struct step *step)
{
    size_t n = (size_t)step->to_count;
    switch (step->kind) {
    case STEP_COPY: copy(step); break;
    case STEP_PACK: type_pack(step->type, step->from, step->count, step->at, step->to, n); break;
    case STEP_UNPACK:
        type_unpack(step->type, step->to, step->count, step->at, step->from, n);
        break;
    case STEP_UNPACK_PAST:
        shoal_copy_streaming((char *)type_at(step->type, step->to) + step->at, step->from, n);
        break;
    case STEP_REDUCE: op_apply(s->op, step->from, step->to, step->count, step->type); break;
    default: break;
    }
}

static void receive(struct schedule *s, const struct step *step)
{
    int error = p2p_recv(step->comm, SPACE_COLL, step->to, step->count, step->type, step->peer,
                         s->tag, MPI_STATUS_IGNORE);
    if (error && !s->request.error)
        s->request.error = error;
}

// One round: its local steps, then its messages, then what goes beside them. Who waits receives the last one without a request.
static void start_round(struct schedule *s)
{
    int end = s->next, received = -1;
    for (; end < s->n && s->steps[end].kind != STEP_ROUND; end++)
        if (s->waits && s->steps[end].kind == STEP_RECV)
            received = end;
    for (int i = s->next; i < end; i++)
        do_local(s, &s->steps[i]);
    for (int i = s->next; i < end; i++)
        if (s->steps[i].kind <= STEP_RECV && i != received)
            start_message(s, &s->steps[i]);
    for (int i = s->next; i < end; i++)
        if (s->steps[i].kind == STEP_BESIDE)
            copy(&s->steps[i]);
    s->next = end + 1;
    if (received >= 0)
        receive(s, &s->steps[received]);
}

// False: nothing comes after the steps there are.
static bool go_on(struct schedule *s)
{
    schedule_fn *then = s->then;
    if (!then)
        return false;
    s->then = NULL;
    s->n = s->next = 0;
    then(s, s->then_arg);
    return true;
}

// True when it is done.
static bool advance(struct schedule *s)
{
    for (;;) {
        // Pairs with the release in message_done: what came is there.
        if (atomic_load_explicit(&s->pending, memory_order_acquire))
            return false;
        for (int i = 0; i < s->active_n; i++)
            note(s, s->active[i]);
        s->active_n = 0;
        if (unlikely(s->lacks)) {
            s->request.error = MPI_ERR_NO_MEM;
            return true;
        }
        if (s->next < s->n)
            start_round(s);
        else if (!go_on(s))
            return true;
    }
}

int schedule_run(struct schedule *s)
{
    struct idle idle = idle_start("MPI collective");
    while (!advance(s))
        idle_step(&idle);
    return s->request.error;
}

static bool step_on(struct progress_hook *hook)
{
    struct schedule *s = (struct schedule *)(void *)((char *)hook -
                                                     offsetof(struct schedule, hook));
    int before = s->next;
    if (!advance(s))
        return s->next != before;
    progress_remove(hook);
    request_complete(&s->request);
    return true;
}

void schedule_start(struct schedule *s)
{
    s->request.is_held = true;
    request_keep(&s->request);
    if (advance(s)) {
        request_complete(&s->request);
        return;
    }
    s->hook = (struct progress_hook){.fn = step_on};
    request_attend(&s->request);
    progress_add(&s->hook);
}
