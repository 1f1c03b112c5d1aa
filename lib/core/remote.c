// SPDX-License-Identifier: BSD-3-Clause
// The slow path of the data calls: checks, then the transport. See remote.h.
#include "remote.h"

#include "log.h"
#include "tunables.h"
#include "wait.h"
#include "world.h"

#include <string.h>

static const struct transport *transport;
static struct transport_facts facts;
static void *ep;

static void progress(void)
{
    transport->progress(ep);
}

int remote_up(void)
{
    struct transport_job job = {.me = world.me, .npes = world.npes};
    job.region[TRANSPORT_HEAP].base = (void *)world.heap;
    job.region[TRANSPORT_HEAP].size = world.heap_size;
    job.region[TRANSPORT_HEAP].peers = (char *)world.heap - world.me * world.slice_size;
    job.region[TRANSPORT_HEAP].stride = world.slice_size;
    job.region[TRANSPORT_DATA].base = (void *)world.data;
    job.region[TRANSPORT_DATA].size = world.data_size;
    job.region[TRANSPORT_DATA].peers = world.data_peers;
    job.region[TRANSPORT_DATA].stride = (ptrdiff_t)world.data_size;
    transport = &transport_shm;
    if (transport->open(&job, &facts, &ep)) {
        log_line(LOG_ERROR, LOG_BOOT, "the transport of this node does not open");
        return -1;
    }
    log_line(LOG_DEBUG, LOG_BOOT, "transport %s", facts.name);
    return 0;
}

void remote_down(void)
{
    transport->close(ep);
    ep = NULL;
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

static struct transport_remote locate(const void *addr, int pe)
{
    bool heap = world_in_heap(addr, 1);
    return (struct transport_remote){.pe = pe,
                                     .region = heap ? TRANSPORT_HEAP : TRANSPORT_DATA,
                                     .offset = (uintptr_t)addr - (heap ? world.heap : world.data)};
}

// After a transport call: true when it has to be made again; waits for the end of a pending one.
static bool again(const char *call, int status, struct transport_request *request)
{
    if (status == TRANSPORT_AGAIN) {
        progress();
        return true;
    }
    struct waiter w = waiter_start(&world_ctl(world.me)->bell);
    while (status == TRANSPORT_PENDING &&
           atomic_load_explicit(&request->left, memory_order_acquire)) {
        progress();
        waiter_step(&w);
    }
    if (status < 0 || request->status < 0)
        fatal("%s: transport %s failed with %d", call, facts.name,
              status < 0 ? status : request->status);
    return false;
}

// Progress may be forced to be partial, so that a long transfer takes many calls.
static size_t chunk(size_t n)
{
    return n < LIMIT_REMOTE_CHUNK ? n : LIMIT_REMOTE_CHUNK;
}

void remote_put(const char *call, void *dest, const void *src, size_t n, int pe)
{
    check_up(call);
    check_pe(call, pe);
    check_symmetric(call, "dest", dest, n);
    struct transport_remote to = locate(dest, pe);
    for (size_t done = 0; done < n;) {
        struct transport_request request = {.left = 1};
        size_t part = chunk(n - done);
        if (again(call, transport->put(ep, NULL, to, (const char *)src + done, part, &request),
                  &request))
            continue;
        done += part;
        to.offset += part;
    }
    peer_wake(pe);
}

void remote_get(const char *call, void *dest, const void *src, size_t n, int pe)
{
    check_up(call);
    check_pe(call, pe);
    check_symmetric(call, "source", src, n);
    struct transport_remote from = locate(src, pe);
    for (size_t done = 0; done < n;) {
        struct transport_request request = {.left = 1};
        size_t part = chunk(n - done);
        if (again(call, transport->get(ep, NULL, (char *)dest + done, from, part, &request),
                  &request))
            continue;
        done += part;
        from.offset += part;
    }
}

uint64_t remote_amo(const char *call, void *dest, enum transport_op op,
                    enum transport_width width, uint64_t operand, uint64_t compare, int pe)
{
    check_up(call);
    check_pe(call, pe);
    check_symmetric(call, amo_argument(call, op), dest, width == TRANSPORT_32 ? 4 : 8);
    check_aligned(call, amo_argument(call, op), dest, width == TRANSPORT_32 ? 4 : 8);
    uint64_t old = 0;
    struct transport_request request = {.left = 1};
    while (again(call, transport->amo(ep, NULL, locate(dest, pe), op, width, operand, compare,
                                      &old, &request), &request))
        ;
    peer_wake(pe);
    return old;
}

void remote_flush(void)
{
    while (ep && transport->flush(ep, NULL, -1) == TRANSPORT_AGAIN)
        progress();
}
