// SPDX-License-Identifier: BSD-3-Clause
// The slow path of the data calls: checks, then the transport. See remote.h.
#include "remote.h"

#include "ctx.h"
#include "deferred.h"
#include "log.h"
#include "net.h"
#include "net_message.h"
#include "settings.h"
#include "stream.h"
#include "tunables.h"
#include "wait.h"
#include "world.h"

#include <string.h>

static struct port node; // this node's: shared memory

int remote_up(void)
{
    struct transport_job job = {0};
    net_describe(&job);
    node.transport = &transport_shm;
    if (node.transport->open(&job, &node.facts, &node.ep)) {
        log_line(LOG_ERROR, LOG_BOOT, "the transport of this node does not open");
        return -1;
    }
    log_line(LOG_DEBUG, LOG_BOOT, "transport %s", node.facts.name);
    return 0;
}

void remote_down(void)
{
    node.transport->close(node.ep);
    node = (struct port){0};
}

static const struct port *port_to(int pe)
{
    if (world_is_here(pe))
        return &node;
    net_connect(pe);
    return &net;
}

void check_up(const char *call)
{
    if (world.forked)
        fatal("%s: called in a child of a PE; only the PE itself may", call);
    if (!world_is_up())
        fatal("%s: called before shmem_init or after shmem_finalize", call);
}

void check_pe(const char *call, int pe)
{
    if (pe < 0 || pe >= world.npes)
        fatal("%s: argument pe is %d, there are PEs 0 to %d", call, pe, world.npes - 1);
}

void check_symmetric(const char *call, const char *argument, const void *addr, size_t n)
{
    if (n == 0 || world_in_heap(addr, n) || world_in_data(addr, n))
        return;
    if (!addr)
        fatal("%s: argument %s is NULL", call, argument);
    if (world_in_heap(addr, 1) || world_in_data(addr, 1))
        fatal("%s: argument %s: the %zu bytes from %p reach beyond symmetric memory", call,
              argument, n, addr);
    fatal("%s: argument %s (%p) is not symmetric: use memory from shmem_malloc%s", call, argument,
          addr,
          world.data_size
              ? ", or a global or static variable of the program that is not const"
              : "; variables are not symmetric here, of several programs or with SHOAL_STATIC=0");
}

void check_aligned(const char *call, const char *argument, const void *addr, size_t size)
{
    if ((uintptr_t)addr % size)
        fatal("%s: argument %s (%p) is not aligned: it must be a multiple of %zu", call, argument,
              addr, size);
}

// What the manual calls the object of an atomic operation or a signal.
static const char *amo_argument(const char *call, enum transport_op op)
{
    if (strstr(call, "signal"))
        return "sig_addr";
    return op == TRANSPORT_FETCH ? "source" : "dest";
}

// Offsets in the own slice and those of the others are the same; so are those of static data.
static struct transport_remote locate(const void *addr, int pe)
{
    bool in_data = world_in_data(addr, 1);
    return (struct transport_remote){.pe = pe,
                                     .region = in_data ? TRANSPORT_DATA : TRANSPORT_HEAP,
                                     .offset = (uintptr_t)addr -
                                               (in_data ? world.data : (uintptr_t)world.ctl)};
}

_Noreturn static void failed(const char *call, const struct port *port, int pe, int status)
{
    if (port == &net)
        net_failed(call, pe, status);
    fatal("%s: transport %s failed with %d towards PE %d", call, port->facts.name, status, pe);
}

static void progress(const struct port *port)
{
    if (port == &net)
        net_progress();
    else
        port->transport->progress(port->ep);
}

static struct stream *stream_of(struct shoal_ctx *ctx)
{
    return ctx && ctx->stream ? ctx->stream : &stream_default;
}

static void *ctx_of(const struct port *port, struct stream *s)
{
    return port == &net ? s->ctx : NULL;
}

// What a thread waits for in a context that has something of its own at the transport it moves itself,
// and looks after the rest now and then. `left` NULL: it waits for room.
static void progress_own(const struct port *port, void *ctx, _Atomic int *left)
{
    if (unlikely(ctx != NULL) && net.transport->progress_ctx) {
        int moved = net.transport->progress_ctx(net.ep, ctx);
        if (left ? !atomic_load_explicit(left, memory_order_acquire) : moved > 0)
            return;
    }
    progress(port);
}

// After a transport call: true when it has to be made again; waits for the end of a pending one
// that has a request.
static bool again(const char *call, const struct port *port, struct stream *s, int pe, int status,
                  struct transport_request *request)
{
    if (status == TRANSPORT_AGAIN) {
        progress_own(port, ctx_of(port, s), NULL);
        return true;
    }
    if (status == TRANSPORT_PENDING && request) {
        struct waiter w = waiter_start(&world_ctl(world.me)->bell);
        while (atomic_load_explicit(&request->left, memory_order_acquire)) {
            progress_own(port, ctx_of(port, s), &request->left);
            waiter_step(&w);
        }
    }
    if (status < 0 || (request && request->status < 0))
        failed(call, port, pe, status < 0 ? status : request->status);
    return false;
}

// Progress may be forced to be partial, so that a long transfer takes many calls.
static size_t chunk(size_t n)
{
    return n < LIMIT_REMOTE_CHUNK ? n : LIMIT_REMOTE_CHUNK;
}

// What a put has to wait for before it returns.
enum put_end { PUT_TAKEN, PUT_REUSABLE, PUT_COMPLETE }; // nothing, its source, the target

static void put(const char *call, struct stream *s, struct transport_remote to, const void *src,
                size_t n, enum put_end end)
{
    const struct port *port = port_to(to.pe);
    for (size_t done = 0; done < n;) {
        struct transport_request request = {.left = 1};
        size_t part = chunk(n - done);
        bool is_copied = part <= port->facts.inject_max; // then the source is free at once
        bool waits = end == PUT_COMPLETE || (end == PUT_REUSABLE && !is_copied);
        struct transport_request *wait = waits ? &request : NULL;
        int status = port->transport->put(port->ep, ctx_of(port, s), to, (const char *)src + done,
                                          part, wait);
        if (again(call, port, s, to.pe, status, wait))
            continue;
        done += part;
        to.offset += part;
    }
    if (port == &node)
        peer_wake(to.pe);
}

static void get(const char *call, struct stream *s, void *dest, struct transport_remote from,
                size_t n, bool nbi)
{
    const struct port *port = port_to(from.pe);
    for (size_t done = 0; done < n;) {
        struct transport_request request = {.left = 1};
        struct transport_request *wait = nbi ? NULL : &request;
        size_t part = chunk(n - done);
        int status = port->transport->get(port->ep, ctx_of(port, s), (char *)dest + done, from,
                                          part, wait);
        if (again(call, port, s, from.pe, status, wait))
            continue;
        done += part;
        from.offset += part;
    }
}

void remote_put(struct shoal_ctx *ctx, const char *call, void *dest, const void *src, size_t n,
                int pe, bool nbi)
{
    check_up(call);
    check_pe(call, pe);
    check_symmetric(call, "dest", dest, n);
    struct stream *s = stream_of(ctx);
    struct transport_remote to = locate(dest, pe);
    if (!world_is_here(pe)) {
        if (!n || stream_put(s, to, src, n, false))
            return;
        stream_alone(s);
    }
    put(call, s, to, src, n, nbi ? PUT_TAKEN : PUT_REUSABLE);
}

void remote_get(struct shoal_ctx *ctx, const char *call, void *dest, const void *src, size_t n,
                int pe, bool nbi)
{
    check_up(call);
    check_pe(call, pe);
    check_symmetric(call, "source", src, n);
    get(call, stream_of(ctx), dest, locate(src, pe), n, nbi);
}

static void until_done(const struct port *port, void *ctx, int (*call)(void *ep, void *ctx, int pe))
{
    int status;
    struct waiter w = waiter_start(&world_ctl(world.me)->bell);
    while ((status = call(port->ep, ctx, -1)) == TRANSPORT_AGAIN) {
        progress_own(port, ctx, NULL);
        waiter_step(&w);
    }
    if (status < 0)
        net_failed("completion of earlier calls", -1, status);
}

// Before a message of ours: a fence has but ordered what went before (remote_fence), and messages pass it by.
static void keep_fence(const struct port *port, struct stream *s)
{
    if (!settings.coalesce)
        until_done(port, ctx_of(port, s), port->transport->flush);
}

// By the transport, or where it has no such atomic by the target's processor. old NULL: it may be
// complete after remote_flush only.
static void amo(const char *call, struct stream *s, struct transport_remote at,
                const struct stream_amo *want, uint64_t *old)
{
    const struct port *port = port_to(at.pe);
    struct transport_request request = {.left = 1};
    struct transport_request *wait = old ? &request : NULL;
    int status = TRANSPORT_UNSUPPORTED;
    if (port == &node || net_does_amo(want->op, want->width))
        do
            status = port->transport->amo(port->ep, ctx_of(port, s), at, want->op, want->width,
                                          want->operand, want->compare, old, wait);
        while (status != TRANSPORT_UNSUPPORTED && again(call, port, s, at.pe, status, wait));
    if (status == TRANSPORT_UNSUPPORTED) {
        keep_fence(port, s);
        uint64_t was = stream_amo_there(s, at, want);
        if (old)
            *old = was;
    }
    if (port == &node)
        peer_wake(at.pe);
}

uint64_t remote_amo(struct shoal_ctx *ctx, const char *call, void *dest, enum transport_op op,
                    enum transport_width width, uint64_t operand, uint64_t compare, int pe,
                    bool wanted)
{
    uint64_t old = 0;
    struct stream *s = stream_of(ctx);
    const struct stream_amo want = {op, width, operand, compare};
    check_up(call);
    check_pe(call, pe);
    check_symmetric(call, amo_argument(call, op), dest, width == TRANSPORT_32 ? 4 : 8);
    check_aligned(call, amo_argument(call, op), dest, width == TRANSPORT_32 ? 4 : 8);
    struct transport_remote at = locate(dest, pe);
    if (!world_is_here(pe)) {
        if (!wanted && stream_amo(s, at, &want))
            return 0;
        if (wanted && stream_is_behind(s, pe)) // atomics on a word keep the order of the program
            return stream_amo_there(s, at, &want);
        stream_alone(s);
    }
    amo(call, s, at, &want, wanted ? &old : NULL);
    return old;
}

void remote_put_signal(struct shoal_ctx *ctx, const char *call, void *dest, const void *src,
                       size_t n, uint64_t *sig_addr, enum transport_op op, uint64_t value, int pe)
{
    check_up(call);
    check_pe(call, pe);
    check_symmetric(call, "dest", dest, n);
    check_symmetric(call, "sig_addr", sig_addr, sizeof *sig_addr);
    check_aligned(call, "sig_addr", sig_addr, sizeof *sig_addr);
    struct stream *s = stream_of(ctx);
    struct transport_remote to = locate(dest, pe), at = locate(sig_addr, pe);
    const struct stream_amo signal = {op, TRANSPORT_64, value, 0};
    if (!world_is_here(pe)) {
        if (stream_put_signal(s, to, src, n, at, &signal, false))
            return;
        stream_alone(s);
    }
    put(call, s, to, src, n, PUT_COMPLETE);
    if (world_is_here(pe) || !stream_put_signal(s, to, NULL, 0, at, &signal, false))
        amo(call, s, at, &signal, NULL);
}

bool remote_gather(struct place to, const void *from, size_t n, const struct place *at,
                   int signal_op, uint64_t value)
{
    if (!at)
        return stream_put(&stream_default, remote_at(to), from, n, true);
    const struct stream_amo signal = {signal_op == SHMEM_SIGNAL_SET ? TRANSPORT_SET : TRANSPORT_ADD,
                                      TRANSPORT_64, value, 0};
    return stream_put_signal(&stream_default, remote_at(to), from, n, remote_at(*at), &signal,
                             true);
}

// For the runtime's own: nothing is gathered, since it waits for the effect.
void remote_store(int pe, void *own, const void *from, size_t n)
{
    if (!world_is_here(pe))
        stream_alone(&stream_default);
    put("a collective call", &stream_default, locate(own, pe), from, n, PUT_COMPLETE);
}

void remote_load(int pe, const void *own, void *to, size_t n, bool nbi)
{
    get("a collective call", &stream_default, to, locate(own, pe), n, nbi);
}

void remote_add(int pe, void *own, uint64_t value)
{
    const struct stream_amo add = {TRANSPORT_ADD, TRANSPORT_64, value, 0};
    amo("a collective call", &stream_default, locate(own, pe), &add, NULL);
}

// How many of n bytes, 0: no room now.
static size_t start_some(const char *call, bool put, struct transport_remote at, void *local,
                         size_t n, struct transport_request *request)
{
    size_t some = chunk(n);
    net_connect(at.pe);
    atomic_fetch_add_explicit(&request->left, 1, memory_order_relaxed);
    int status = put ? net.transport->put(net.ep, NULL, at, local, some, request)
                     : net.transport->get(net.ep, NULL, local, at, some, request);
    if (status != TRANSPORT_PENDING)
        atomic_fetch_sub_explicit(&request->left, 1, memory_order_relaxed);
    if (status < 0)
        failed(call, &net, at.pe, status);
    return status == TRANSPORT_AGAIN ? 0 : some;
}

size_t remote_start_get(struct place from, void *to, size_t n, struct transport_request *request)
{
    return start_some("a collective call", false, remote_at(from), to, n, request);
}

void remote_start(bool put, struct transport_remote at, void *local, size_t n,
                  struct transport_request *request)
{
    if (put)
        stream_alone(&stream_default);
    for (size_t done = 0; done < n;) {
        size_t some = start_some(put ? "shoal_put" : "shoal_get", put, at, (char *)local + done,
                                 n - done, request);
        if (!some)
            net_progress();
        done += some;
        at.offset += some;
    }
}

void remote_order_message(int pe)
{
    // First, or the heartbeat sends it by itself.
    stream_push(&stream_default, pe, STREAM_IN_ORDER | STREAM_WAITS);
    until_done(&net, stream_default.ctx, net.transport->flush);
}

// Batches leave first, and are answered while the rest completes.
static void flush_stream(struct stream *s)
{
    stream_push(s, -1, STREAM_WAITS);
    until_done(&net, s->ctx, net.transport->flush);
    stream_flush(s);
}

void remote_alone(struct shoal_ctx *ctx)
{
    struct stream *s = stream_of(ctx);
    stream_alone(s);
    keep_fence(&net, s);
}

void remote_flush_ctx(struct shoal_ctx *ctx)
{
    if (node.ep)
        until_done(&node, NULL, node.transport->flush);
    if (unlikely(net.ep != NULL))
        flush_stream(stream_of(ctx));
}

void remote_flush(void)
{
    remote_flush_ctx(NULL);
    if (unlikely(net.ep != NULL)) {
        deferred_wait();
        net_message_flush();
    }
}

void remote_flush_all(void)
{
    remote_flush();
    stream_for_all(flush_stream);
}

void remote_fence(struct shoal_ctx *ctx)
{
    struct stream *s = stream_of(ctx);
    until_done(&node, NULL, node.transport->fence);
    if (likely(net.ep == NULL))
        return;
    stream_fence(s);
    // A batch may overtake what a transport's fence only orders.
    until_done(&net, s->ctx, settings.coalesce ? net.transport->flush : net.transport->fence);
}

void remote_session(struct shoal_ctx *ctx, bool starts)
{
    if (net.ep)
        stream_session(stream_of(ctx), starts);
}

void remote_push(void)
{
    if (unlikely(atomic_load_explicit(&stream_open, memory_order_relaxed)))
        stream_push_all();
}
