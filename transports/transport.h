// SPDX-License-Identifier: BSD-3-Clause
// The contract between the runtime and what moves its bytes. lib/core calls a transport through
// one table; a transport calls back only through what it was given at open. shm, libfabric and UCX
// are tables like this one.
//
// Rules for all slots
//   - Data calls never block. They return TRANSPORT_DONE (finished, source reusable, result
//     stored), TRANSPORT_PENDING (accepted; the request, when given, tells the end),
//     TRANSPORT_AGAIN (nothing happened: call progress and try again), TRANSPORT_UNSUPPORTED (the
//     caller emulates) or another negative code (an error, already logged once).
//   - The source of a put may be reused when the call returns DONE, or when its request is done;
//     without a request, after flush. The destination of a get holds the data at the same points.
//   - The end of a request says more: the operation is complete at the target. A call that returns
//     DONE leaves its request alone; with a request it is then complete at the target as well.
//   - Operations may be called by several threads at a time, on one context as well.
//   - Remote memory is named by region and offset; both were checked by the caller. me is a PE like
//     the others.
//   - Upcalls run inside progress only, with no lock of the transport held. They may make any call
//     but close, and repeat it until it is taken; a progress inside an upcall may run further
//     upcalls inside it, in order, but not deeper than some limit: an upcall that waits for another
//     one may wait for ever. At most one thread is in upcalls at a time.
#ifndef SHOAL_TRANSPORTS_TRANSPORT_H
#define SHOAL_TRANSPORTS_TRANSPORT_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

enum transport_status {
    TRANSPORT_DONE = 0,
    TRANSPORT_PENDING = 1,
    TRANSPORT_AGAIN = 2,
    TRANSPORT_UNSUPPORTED = -1,
    TRANSPORT_FAILED = -2,
};

// X(name): atomic operations. INC is ADD of one, FETCH is ADD of zero for a transport.
#define TRANSPORT_OPS(X) X(SET) X(FETCH) X(ADD) X(AND) X(OR) X(XOR) X(SWAP) X(CSWAP)
#define X(name) TRANSPORT_##name,
enum transport_op { TRANSPORT_OPS(X) TRANSPORT_OP_COUNT };
#undef X

// Width is all an atomic needs here: add wraps, and floating types only set, fetch and swap.
enum transport_width { TRANSPORT_32, TRANSPORT_64, TRANSPORT_WIDTH_COUNT };

enum transport_region { TRANSPORT_HEAP, TRANSPORT_DATA, TRANSPORT_REGIONS_FIXED };

struct transport_remote {
    int pe;
    int region;      // enum transport_region, or an index from region_import
    uint64_t offset; // from the region's start
};

// The end of an operation that returned PENDING: `left` falls to 0 (release), `status` is then 0
// or negative. The caller owns it and keeps it until then.
struct transport_request {
    _Atomic int left;
    int status;
};

// One step of a chain: a put, or an atomic whose result nobody wants, to another PE.
struct transport_step {
    struct transport_remote at;
    const void *from; // of a put: read when the step begins, kept until it is complete
    size_t n;         // 0: an atomic, of SET, ADD, AND, OR, XOR
    enum transport_op op;
    enum transport_width width;
    uint64_t operand;
};

struct transport_facts {
    const char *name;
    const char *provider;       // of a network library that has several, NULL: none
    char interface[48];         // internet address of the one in use, as text; empty: it has none
    bool rma_needs_target;      // puts and gets end only when the target calls progress
    bool amo_coherent_with_cpu; // remote and CPU atomics on one word may mix
    bool has_wait_fd;
    bool silent_progress;       // a call does a part of what came from others, and does not count it
    size_t inject_max;          // puts up to this size return DONE
    size_t put_by_message;      // up to this size the target has, and answers, a message sooner than a put
    size_t am_max;              // payload of an active message, 0: none
    size_t am_soon;             // of one that goes without asking the receiver first
    size_t chain_max;           // steps of a chain, 0: the slot is not to be called
    size_t chain_put_max;       // bytes of a put in one
    size_t address_size, key_size; // bytes exchanged at start
    bool amo[TRANSPORT_OP_COUNT][TRANSPORT_WIDTH_COUNT];
};

// What an active message carries: two pieces, one behind the other.
struct transport_payload {
    const void *head, *data;
    size_t head_n, n;
};

static inline size_t transport_payload_size(const struct transport_payload *p)
{
    return p->head_n + p->n;
}

static inline void transport_payload_copy(void *to, const struct transport_payload *p)
{
    if (p->head_n)
        memcpy(to, p->head, p->head_n);
    if (p->n)
        memcpy((char *)to + p->head_n, p->data, p->n);
}

// What a transport is told at open, and may call.
struct transport_job {
    int me, npes;
    uint64_t secret;               // proves membership of the job
    const char *provider;          // of a network library, NULL: the transport chooses
    unsigned ctx_endpoints;        // at most for all contexts that are to be apart
    bool wants_chains;             // if a provider that was named has them
    const char *interface;         // name of one, an address or a subnet (192.0.2.0/24); NULL: choose
    unsigned patience_ms;          // a peer that never answered for so long is lost; 0: wait for ever
    struct {                       // own memory, the whole slice and static data; the peers' where mapped
        void *base;
        size_t size;
        void *peers;               // PE 0's, NULL when not mapped
        ptrdiff_t stride;          // from one PE to the next
    } region[TRANSPORT_REGIONS_FIXED];
    void *upcall_arg;
    // memory: the block of malloc's that the payload is in, aligned for any type; NULL: it is the transport's
    // own. True: the upcall has kept the block, and frees it.
    bool (*on_am)(void *arg, int from, const void *payload, size_t n, void *memory);
    void (*on_peer_lost)(void *arg, int pe, const char *why); // once for a PE
    // One line, level as in lib/base/log.h; may be NULL. A module has no other way to the log.
    void (*log)(int level, const char *line);
};

struct transport {
    // Fills *facts. 0, or TRANSPORT_UNSUPPORTED when it cannot work here (the reason is logged at
    // debug level). May block. close undoes it, after a flush.
    int (*open)(const struct transport_job *job, struct transport_facts *facts, void **ep);
    void (*close)(void *ep);

    // Connection. address writes facts.address_size bytes that let others reach this endpoint;
    // connect takes them. Lazy inside: connect must be cheap and must not wait for the peer.
    // The bytes stay where they are, unchanged, until close: a transport reads them when it needs
    // them, so that a job of many PEs keeps one table a node.
    int (*address)(void *ep, void *bytes);
    int (*connect)(void *ep, int pe, const void *bytes);

    // Any memory made reachable; the key travels as facts.key_size bytes. import checks the key;
    // release gives the index back when no operation uses it any more.
    int (*region_register)(void *ep, void *base, size_t size, void *key, void **handle);
    int (*region_deregister)(void *ep, void *handle);
    int (*region_import)(void *ep, int pe, const void *key, int *region);
    void (*region_release)(void *ep, int region);

    // An independent stream of operations (shmem_ctx_t). NULL ctx is the endpoint's own. Destroy it
    // after a flush. `apart`: threads use it beside others, so it gets a connection to the network of
    // its own, or shares one with few others, if the transport has such; its puts, gets and atomics
    // then reach the fixed regions alone.
    int (*ctx_create)(void *ep, bool apart, void **ctx);
    void (*ctx_destroy)(void *ep, void *ctx);

    // Data. `request` may be NULL: then flush completes the operation.
    int (*put)(void *ep, void *ctx, struct transport_remote to, const void *from, size_t n,
               struct transport_request *request);
    int (*get)(void *ep, void *ctx, void *to, struct transport_remote from, size_t n,
               struct transport_request *request);
    // *result (may be NULL) receives the old value, zero-extended to 64 bits.
    int (*amo)(void *ep, void *ctx, struct transport_remote at, enum transport_op op,
               enum transport_width width, uint64_t operand, uint64_t compare, uint64_t *result,
               struct transport_request *request);
    // The payload, at most facts.am_max bytes, is copied before the call returns. Messages of one PE
    // to another arrive in order, whatever the context, and once. flush says nothing about them: who
    // must know that one was handled asks for an answer.
    int (*am)(void *ep, void *ctx, int pe, const struct transport_payload *payload);

    // fence: later operations to pe (-1: each PE) take effect after earlier ones, messages excepted.
    // May return AGAIN.
    // flush: every earlier operation to pe (-1: all) is complete AT THE TARGET, injected ones
    // included; AGAIN until then; FAILED, once, when one that had no request failed.
    int (*fence)(void *ep, void *ctx, int pe);
    int (*flush)(void *ep, void *ctx, int pe);

    // Moves what can be moved, without blocking; runs upcalls. Returns how much it did.
    int (*progress)(void *ep);
    // The same for what was begun in one context, where it has something of its own (else nothing
    // moves). May be NULL.
    int (*progress_ctx)(void *ep, void *ctx);
    // A descriptor that becomes readable when progress would do something; arm first: it returns
    // AGAIN when there is work already. With silent_progress it may miss something: one who sleeps
    // looks in time.
    int (*wait_fd)(void *ep);
    int (*arm)(void *ep);

    // Deferred work: the first step begins now, every other one when the step before it is complete
    // at its target, without the caller. request->left, n at first, falls by one with each of them,
    // in their order; once its status is negative no further one begins. PENDING, AGAIN or FAILED.
    int (*chain)(void *ep, const struct transport_step *step, size_t n,
                 struct transport_request *request);
};

extern const struct transport transport_shm;

#endif
