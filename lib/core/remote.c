// SPDX-License-Identifier: BSD-3-Clause
// The slow path of the data calls: checks, then the transport. See remote.h.
#include "remote.h"

#include "log.h"
#include "net.h"
#include "net_message.h"
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
    fatal("%s: argument %s (%p) is not symmetric: use memory from shmem_malloc, or a global or "
          "static variable of the program", call, argument, addr);
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
    return (struct transport_remote){
        .pe = pe,
        .region = in_data ? TRANSPORT_DATA : TRANSPORT_HEAP,
        .offset = (uintptr_t)addr - (in_data ? world.data : (uintptr_t)world.ctl)};
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

// After a transport call: true when it has to be made again; waits for the end of a pending one
// that has a request.
static bool again(const char *call, const struct port *port, int pe, int status,
                  struct transport_request *request)
{
    if (status == TRANSPORT_AGAIN) {
        progress(port);
        return true;
    }
    if (status == TRANSPORT_PENDING && request) {
        struct waiter w = waiter_start(&world_ctl(world.me)->bell);
        while (atomic_load_explicit(&request->left, memory_order_acquire)) {
            progress(port);
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

static void put(const char *call, struct transport_remote to, const void *src, size_t n, bool nbi)
{
    const struct port *port = port_to(to.pe);
    for (size_t done = 0; done < n;) {
        struct transport_request request = {.left = 1};
        struct transport_request *wait = nbi ? NULL : &request;
        size_t part = chunk(n - done);
        if (again(call, port, to.pe,
                  port->transport->put(port->ep, NULL, to, (const char *)src + done, part, wait),
                  wait))
            continue;
        done += part;
        to.offset += part;
    }
    if (port == &node)
        peer_wake(to.pe);
}

static void get(const char *call, void *dest, struct transport_remote from, size_t n, bool nbi)
{
    const struct port *port = port_to(from.pe);
    for (size_t done = 0; done < n;) {
        struct transport_request request = {.left = 1};
        struct transport_request *wait = nbi ? NULL : &request;
        size_t part = chunk(n - done);
        if (again(call, port, from.pe,
                  port->transport->get(port->ep, NULL, (char *)dest + done, from, part, wait),
                  wait))
            continue;
        done += part;
        from.offset += part;
    }
}

void remote_put(const char *call, void *dest, const void *src, size_t n, int pe, bool nbi)
{
    check_up(call);
    check_pe(call, pe);
    check_symmetric(call, "dest", dest, n);
    put(call, locate(dest, pe), src, n, nbi);
}

void remote_get(const char *call, void *dest, const void *src, size_t n, int pe, bool nbi)
{
    check_up(call);
    check_pe(call, pe);
    check_symmetric(call, "source", src, n);
    get(call, dest, locate(src, pe), n, nbi);
}

// old NULL: it is complete after remote_flush only.
static void amo(const char *call, struct transport_remote at, enum transport_op op,
                enum transport_width width, uint64_t operand, uint64_t compare, uint64_t *old)
{
    const struct port *port = port_to(at.pe);
    struct transport_request request = {.left = 1};
    struct transport_request *wait = old ? &request : NULL;
    while (again(call, port, at.pe,
                 port->transport->amo(port->ep, NULL, at, op, width, operand, compare, old, wait),
                 wait))
        ;
    if (port == &node)
        peer_wake(at.pe);
}

uint64_t remote_amo(const char *call, void *dest, enum transport_op op,
                    enum transport_width width, uint64_t operand, uint64_t compare, int pe)
{
    check_up(call);
    check_pe(call, pe);
    check_symmetric(call, amo_argument(call, op), dest, width == TRANSPORT_32 ? 4 : 8);
    check_aligned(call, amo_argument(call, op), dest, width == TRANSPORT_32 ? 4 : 8);
    uint64_t old = 0;
    amo(call, locate(dest, pe), op, width, operand, compare, op != TRANSPORT_SET ? &old : NULL);
    return old;
}

void remote_store(int pe, void *own, const void *from, size_t n)
{
    put("a collective call", locate(own, pe), from, n, false);
}

void remote_load(int pe, const void *own, void *to, size_t n, bool nbi)
{
    get("a collective call", to, locate(own, pe), n, nbi);
}

void remote_add(int pe, void *own, uint64_t value)
{
    amo("a collective call", locate(own, pe), TRANSPORT_ADD, TRANSPORT_64, value, 0, NULL);
}

size_t remote_start_get(struct place from, void *to, size_t n, struct transport_request *request)
{
    struct transport_remote at = {
        from.pe, from.space == SPACE_DATA ? TRANSPORT_DATA : TRANSPORT_HEAP, from.offset};
    size_t part = chunk(n);
    net_connect(from.pe);
    atomic_fetch_add_explicit(&request->left, 1, memory_order_relaxed);
    int status = net.transport->get(net.ep, NULL, to, at, part, request);
    if (status != TRANSPORT_PENDING)
        atomic_fetch_sub_explicit(&request->left, 1, memory_order_relaxed);
    if (status < 0)
        failed("a collective call", &net, from.pe, status);
    return status == TRANSPORT_AGAIN ? 0 : part;
}

static void until_done(const struct port *port, int (*call)(void *ep, void *ctx, int pe))
{
    int status;
    struct waiter w = waiter_start(&world_ctl(world.me)->bell);
    while ((status = call(port->ep, NULL, -1)) == TRANSPORT_AGAIN) {
        progress(port);
        waiter_step(&w);
    }
    if (status < 0)
        net_failed("completion of earlier calls", -1, status);
}

void remote_flush(void)
{
    if (node.ep)
        until_done(&node, node.transport->flush);
    if (unlikely(net.ep != NULL)) {
        until_done(&net, net.transport->flush);
        net_message_flush();
    }
}

void remote_fence(void)
{
    until_done(&node, node.transport->fence);
    if (unlikely(net.ep != NULL))
        until_done(&net, net.transport->fence);
}
