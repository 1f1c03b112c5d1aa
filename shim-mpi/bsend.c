// SPDX-License-Identifier: BSD-3-Clause
// Buffered sends, and the calls that attach, detach and flush buffers. See bsend.h.
//
// A buffer of the user's, with the messages in it that have not been sent yet, each behind a header;
// a new one goes to the first gap that is large enough:
//
//     | segment data | segment data |  gap  | segment data |    gap    |
//     buffer.first -> next ->               -> next -> NULL
//
// With MPI_BUFFER_AUTOMATIC the segments are allocated one by one.
#include "bsend.h"

#include "check.h"
#include "session.h"
#include "stats.h"
#include "transfer.h"

#include <limits.h>
#include <stdlib.h>

enum { ALIGNMENT = 16 };

struct segment {
    struct segment *next, **at; // in the order of their addresses
    struct buffer *buffer;
    size_t size;    // with this header
    uint64_t order; // of its message among those of the buffer
};
_Static_assert(sizeof(struct segment) + 2 * ALIGNMENT <= MPI_BSEND_OVERHEAD,
               "what a message takes beyond its data");

// MPI_Buffer_iflush and its kin: done when the messages that were there have gone.
struct flush {
    struct request request; // first
    struct flush *next;
    uint64_t before; // messages of lower order than this
    int left;
};

struct buffer {
    struct buffer *next;
    const void *owner; // a communicator, a session; NULL: the process
    void *given;
    MPI_Count size;
    char *start, *end; // what is used of it
    struct segment *first;
    uint64_t order;
    struct flush *flushes;
};

static struct buffer *buffers;
static shim_lock lock; // of all this

// ---- Segments; with the lock held
static struct buffer *find(const void *owner)
{
    struct buffer *b = buffers;
    while (b && b->owner != owner)
        b = b->next;
    return b;
}

static struct buffer *buffer_for(const struct comm *comm)
{
    if (!buffers)
        return NULL;
    struct buffer *b = find(comm);
    if (!b && comm->session)
        b = find(comm->session);
    return b ? b : find(NULL);
}

static bool is_automatic(const struct buffer *b)
{
    return b->given == MPI_BUFFER_AUTOMATIC;
}

// Room for so many bytes, header included; *at: where in the list it belongs.
static struct segment *find_gap(struct buffer *b, size_t size, struct segment ***at)
{
    char *gap = b->start;
    *at = &b->first;
    if (is_automatic(b))
        return malloc(size);
    for (struct segment *s; (s = **at) && (size_t)((char *)s - gap) < size; *at = &s->next)
        gap = (char *)s + s->size;
    return **at || (size_t)(b->end - gap) >= size ? (struct segment *)(void *)gap : NULL;
}

static struct segment *take(struct buffer *b, size_t n)
{
    struct segment **at;
    size_t size = (sizeof(struct segment) + n + ALIGNMENT - 1) & ~(size_t)(ALIGNMENT - 1);
    struct segment *s = find_gap(b, size, &at);
    if (!s)
        return NULL;
    *s = (struct segment){*at, at, b, size, b->order++};
    if (s->next)
        s->next->at = &s->next;
    *at = s;
    return s;
}

// Takes a segment out; the flushes that waited for it last.
static struct flush *give_back(struct segment *s)
{
    struct flush *done = NULL;
    *s->at = s->next;
    if (s->next)
        s->next->at = s->at;
    for (struct flush **at = &s->buffer->flushes, *f; (f = *at);) {
        if (s->order >= f->before || --f->left) {
            at = &f->next;
            continue;
        }
        *at = f->next;
        f->next = done;
        done = f;
    }
    return done;
}

// ---- Sending
static void sent(struct request *r, void *arg)
{
    struct segment *s = arg;
    (void)r;
    shim_lock_take(&lock);
    bool was_allocated = is_automatic(s->buffer);
    struct flush *done = give_back(s);
    shim_lock_give(&lock);
    if (was_allocated)
        free(s);
    for (struct flush *f; (f = done);) {
        done = f->next;
        request_complete(&f->request);
    }
}

static struct segment *segment_for(const struct comm *comm, size_t n)
{
    shim_lock_take(&lock);
    struct buffer *b = buffer_for(comm);
    struct segment *s = b ? take(b, n) : NULL;
    shim_lock_give(&lock);
    return s;
}

// Without its place in the buffer: what can leave at once is copied once, not twice.
static bool is_gone(struct comm *comm, const void *buf, MPI_Count count, struct type *type,
                    int dest, int tag)
{
    int pe = group_pe(comm->peers, dest);
    return !transfer_is_kept(SPACE_P2P, partner_of(pe), count * type->size) &&
           p2p_send_now(comm, SPACE_P2P, buf, count, type, pe, tag, LEAVE_NOW);
}

// 0, or MPI_ERR_BUFFER, not raised.
static int store(struct comm *comm, const void *buf, MPI_Count count, struct type *type, int dest,
                 int tag)
{
    size_t n = (size_t)(count * type->size);
    struct segment *s;
    if (dest == MPI_PROC_NULL)
        return MPI_SUCCESS;
    while (!(s = segment_for(comm, n)))
        if (!progress())
            return MPI_ERR_BUFFER;
    if (is_gone(comm, buf, count, type, dest, tag)) {
        sent(NULL, s);
        return MPI_SUCCESS;
    }
    if (n)
        type_pack(type, buf, count, 0, s + 1, n);
    stats_count(BUFFERED);
    struct request *r = p2p_isend(comm, SPACE_P2P, s + 1, (MPI_Count)n, type_of(MPI_BYTE), dest,
                                  tag, SEND_STANDARD);
    request_then(r, sent, s);
    if (r->class->finish) // nobody ends it otherwise
        r->class->finish(r);
    request_drop(r);
    return MPI_SUCCESS;
}

static int raise_full(const char *call, struct comm *comm, MPI_Count bytes)
{
    shim_lock_take(&lock);
    struct buffer *b = buffer_for(comm);
    long long size = b ? (long long)b->size : -1;
    shim_lock_give(&lock);
    if (size < 0)
        return raise_on(comm, MPI_ERR_BUFFER, call,
                        "no buffer is attached: call MPI_Buffer_attach first");
    return raise_on(
        comm, MPI_ERR_BUFFER, call,
        "no room for a message of %lld bytes in the attached buffer of %lld: attach one "
        "that holds the data of all messages under way and MPI_BSEND_OVERHEAD for each",
        (long long)bytes, size);
}

int bsend(const char *call, struct comm *comm, const void *buf, MPI_Count count, struct type *type,
          int dest, int tag)
{
    int error = store(comm, buf, count, type, dest, tag);
    return unlikely(error) ? raise_full(call, comm, count * type->size) : MPI_SUCCESS;
}

// ---- Persistent
struct buffered {
    struct request request; // first
    const void *buf;
    MPI_Count count;
    struct type *type;
    int dest, tag;
};

static int start(struct request *r)
{
    struct buffered *b = (struct buffered *)r;
    int error = store(r->comm, b->buf, b->count, b->type, b->dest, b->tag);
    if (error)
        return error;
    atomic_store_explicit(&r->then, NULL, memory_order_relaxed);
    r->is_active = true;
    atomic_store_explicit(&r->done, 1, memory_order_release); // as soon as it is started
    return MPI_SUCCESS;
}

static void release(struct request *r)
{
    type_drop(((struct buffered *)r)->type);
}

struct request *bsend_init(struct comm *comm, const void *buf, MPI_Count count, struct type *type,
                           int dest, int tag)
{
    static const struct request_class class = {.start = start, .release = release};
    struct buffered *b = request_new(sizeof *b, REQUEST_SEND, comm, &class);
    b->buf = buf;
    b->count = count;
    b->type = type;
    b->dest = dest;
    b->tag = tag;
    type_keep(type);
    b->request.is_persistent = true;
    b->request.is_active = false;
    return &b->request;
}

// ---- Attaching and detaching. Whose buffer a call is about, and on what its errors are raised:
struct owner {
    const void *key;
    struct comm *comm;
    struct session *session;
};

static int fail(const struct owner *o, int code, const char *call, const char *why)
{
    return o->session ? raise_on_session(o->session, code, call, "%s", why)
                      : raise_on(o->comm, code, call, "%s", why);
}

static int owner_process(const char *call, struct owner *o)
{
    *o = (struct owner){0};
    return shim_is_up() ? MPI_SUCCESS : raise_not_up(call);
}

static int owner_comm(const char *call, MPI_Comm handle, struct owner *o)
{
    struct comm *comm;
    int error = check_comm(call, handle, &comm);
    if (!error)
        *o = (struct owner){comm, comm, NULL};
    return error;
}

static int owner_session(const char *call, MPI_Session handle, struct owner *o)
{
    struct session *session = session_of(handle);
    if (!session)
        return raise_on(NULL, MPI_ERR_SESSION, call, "there is no such session");
    *o = (struct owner){session, NULL, session};
    return MPI_SUCCESS;
}

static struct buffer *buffer_new(const struct owner *o, void *memory, MPI_Count size)
{
    struct buffer *b = calloc(1, sizeof *b);
    if (!b)
        return NULL;
    b->owner = o->key;
    b->given = memory;
    b->size = size;
    if (is_automatic(b))
        return b;
    size_t skip = -(uintptr_t)memory % ALIGNMENT;
    b->end = (char *)memory + size;
    b->start = (MPI_Count)skip < size ? (char *)memory + skip : b->end;
    return b;
}

static int attach(const char *call, const struct owner *o, void *memory, MPI_Count size)
{
    if (memory != MPI_BUFFER_AUTOMATIC && size < 0)
        return fail(o, MPI_ERR_BUFFER, call, "the size is negative");
    if (!memory && size)
        return fail(o, MPI_ERR_BUFFER, call, "the buffer is NULL");
    struct buffer *b = buffer_new(o, memory, size);
    if (!b)
        return fail(o, MPI_ERR_NO_MEM, call, "no memory");
    shim_lock_take(&lock);
    bool is_first = !find(o->key);
    if (is_first) {
        b->next = buffers;
        buffers = b;
    }
    shim_lock_give(&lock);
    if (is_first)
        return MPI_SUCCESS;
    free(b);
    return fail(o, MPI_ERR_BUFFER, call, "there is a buffer already: detach it first");
}

// Takes the buffer out of the list once it is empty; NULL: there was none.
static struct buffer *drain(const void *owner)
{
    struct idle idle = idle_start("MPI_Buffer_detach");
    for (;;) {
        shim_lock_take(&lock);
        struct buffer **at = &buffers, *b;
        while ((b = *at) && b->owner != owner)
            at = &b->next;
        bool is_empty = !b || !b->first;
        if (b && is_empty)
            *at = b->next;
        shim_lock_give(&lock);
        if (is_empty)
            return b;
        idle_step(&idle);
    }
}

void bsend_end(const void *owner)
{
    free(drain(owner));
}

void bsend_down(void)
{
    while (buffers)
        free(drain(buffers->owner));
}

static int detach(const char *call, const struct owner *o, void *memory, MPI_Count *size)
{
    if (!memory || !size)
        return fail(o, MPI_ERR_ARG, call, "buffer_addr or size is NULL");
    struct buffer *b = drain(o->key);
    if (!b)
        return fail(o, MPI_ERR_BUFFER, call, "no buffer is attached");
    *(void **)memory = b->given;
    *size = is_automatic(b) ? 0 : b->size;
    free(b);
    return MPI_SUCCESS;
}

static int detach_int(const char *call, const struct owner *o, void *memory, int *size)
{
    MPI_Count bytes = 0;
    int error = detach(call, o, memory, size ? &bytes : NULL);
    if (!error)
        *size = bytes > INT_MAX ? MPI_UNDEFINED : (int)bytes;
    return error;
}

static struct request *flush_request(const struct owner *o)
{
    struct flush *f = request_new(sizeof *f, REQUEST_PLAIN, o->comm, &request_plain);
    f->request.is_held = true;
    request_keep(&f->request);
    shim_lock_take(&lock);
    struct buffer *b = find(o->key);
    for (struct segment *s = b ? b->first : NULL; s; s = s->next)
        f->left++;
    int left = f->left;
    if (left) {
        f->before = b->order;
        f->next = b->flushes;
        b->flushes = f;
    }
    shim_lock_give(&lock);
    if (!left)
        request_complete(&f->request);
    return &f->request;
}

static int iflush(const char *call, const struct owner *o, MPI_Request *request)
{
    if (!request)
        return fail(o, MPI_ERR_ARG, call, "argument request is NULL");
    *request = object_handle(flush_request(o));
    return MPI_SUCCESS;
}

static int flush(const struct owner *o)
{
    struct request *r = flush_request(o);
    request_wait(r);
    request_drop(r);
    return MPI_SUCCESS;
}

MPI_DEFINE(int, Buffer_attach_c, void *buffer, MPI_Count size)
{
    struct owner o;
    int error = owner_process("MPI_Buffer_attach", &o);
    return error ? error : attach("MPI_Buffer_attach", &o, buffer, size);
}

MPI_DEFINE(int, Buffer_attach, void *buffer, int size)
{
    return PMPI_Buffer_attach_c(buffer, size);
}

MPI_DEFINE(int, Buffer_detach, void *buffer_addr, int *size)
{
    struct owner o;
    int error = owner_process("MPI_Buffer_detach", &o);
    return error ? error : detach_int("MPI_Buffer_detach", &o, buffer_addr, size);
}

MPI_DEFINE(int, Buffer_detach_c, void *buffer_addr, MPI_Count *size)
{
    struct owner o;
    int error = owner_process("MPI_Buffer_detach_c", &o);
    return error ? error : detach("MPI_Buffer_detach_c", &o, buffer_addr, size);
}

MPI_DEFINE(int, Buffer_flush, void)
{
    struct owner o;
    int error = owner_process("MPI_Buffer_flush", &o);
    return error ? error : flush(&o);
}

MPI_DEFINE(int, Buffer_iflush, MPI_Request *request)
{
    struct owner o;
    int error = owner_process("MPI_Buffer_iflush", &o);
    return error ? error : iflush("MPI_Buffer_iflush", &o, request);
}

// The same for what has a handle.
#define OWNED(X, HANDLE, find_owner)                                                          \
    MPI_DEFINE(int, X##_attach_buffer_c, HANDLE handle, void *buffer, MPI_Count size)         \
    {                                                                                         \
        struct owner o;                                                                       \
        int error = find_owner("MPI_" #X "_attach_buffer", handle, &o);                       \
        return error ? error : attach("MPI_" #X "_attach_buffer", &o, buffer, size);          \
    }                                                                                         \
    MPI_DEFINE(int, X##_attach_buffer, HANDLE handle, void *buffer, int size)                 \
    {                                                                                         \
        return PMPI_##X                                                                       \
        ##_attach_buffer_c(handle, buffer, size);                                             \
    }                                                                                         \
    MPI_DEFINE(int, X##_detach_buffer, HANDLE handle, void *buffer_addr, int *size)           \
    {                                                                                         \
        struct owner o;                                                                       \
        int error = find_owner("MPI_" #X "_detach_buffer", handle, &o);                       \
        return error ? error : detach_int("MPI_" #X "_detach_buffer", &o, buffer_addr, size); \
    }                                                                                         \
    MPI_DEFINE(int, X##_detach_buffer_c, HANDLE handle, void *buffer_addr, MPI_Count *size)   \
    {                                                                                         \
        struct owner o;                                                                       \
        int error = find_owner("MPI_" #X "_detach_buffer_c", handle, &o);                     \
        return error ? error : detach("MPI_" #X "_detach_buffer_c", &o, buffer_addr, size);   \
    }                                                                                         \
    MPI_DEFINE(int, X##_flush_buffer, HANDLE handle)                                          \
    {                                                                                         \
        struct owner o;                                                                       \
        int error = find_owner("MPI_" #X "_flush_buffer", handle, &o);                        \
        return error ? error : flush(&o);                                                     \
    }                                                                                         \
    MPI_DEFINE(int, X##_iflush_buffer, HANDLE handle, MPI_Request *request)                   \
    {                                                                                         \
        struct owner o;                                                                       \
        int error = find_owner("MPI_" #X "_iflush_buffer", handle, &o);                       \
        return error ? error : iflush("MPI_" #X "_iflush_buffer", &o, request);               \
    }

OWNED(Comm, MPI_Comm, owner_comm)
OWNED(Session, MPI_Session, owner_session)
