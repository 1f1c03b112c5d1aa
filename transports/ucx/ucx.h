// SPDX-License-Identifier: BSD-3-Clause
// A UCX worker as a transport: one context, one worker, an endpoint for each peer that is spoken to.
//
//     job thread ---- put get amo am ----> ucx_op ----> UCX ----> ended  (progress)
//                                            ^                      |
//                                 free list  |                      v
//                                            +------ done <---- by a flush of the endpoint, where
//                                                               the end at UCX is not yet the end
//                                                               at the target: puts, atomics
//                                                               without a result
//
// The end of a put at UCX means that its source may be reused. That it is complete at the target
// only a flush tells, so a put stays on its peer's list of unflushed operations until one that
// began later is done; one flush ends many of them. Long ones over tcp are answered (ucx_bulk.c).
//
// One mutex guards all of it, so UCX is asked for UCS_THREAD_MODE_SERIALIZED only and any thread may
// call; it is never held during an upcall.
//
// A lane (ucx_lane.c) is another one of these for contexts, with a worker and a mutex of its own.
#ifndef SHOAL_TRANSPORTS_UCX_H
#define SHOAL_TRANSPORTS_UCX_H

#include "compiler.h"
#include "job.h"
#include "log.h"
#include "messages.h"
#include "transport.h"
#include "tunables.h"

#include <pthread.h>
#include <ucp/api/ucp.h>

enum {
    UCX_ADDRESS_SIZE = 1984,          // what a card has room for (lib/core/card.h)
    UCX_KEY_MAX = 256,                // bytes of a packed key of the job's memory,
    UCX_REGION_KEY_MAX = 88,          // of a region: its entry has so much room (lib/core/slice.h)
    UCX_OPS = HOSTILE ? 8 : 256,      // operations under way at once
    UCX_UNFLUSHED = HOSTILE ? 2 : 64, // of one peer, before a flush is begun unasked
    UCX_LANES = 16,                   // workers of contexts, which share them in turn
    UCX_LANE_OPS = HOSTILE ? 4 : 64,  // operations under way at once on one of them
    UCX_AM_ID = 1, // the only one: UCX 1.13 may call a handler that was never set for the one after the last
    UCX_ADDRESS_TEXT = 48,
};

// What address() writes. Lengths and the seal are checked before anything is believed.
struct ucx_blob {
    uint32_t magic;
    int32_t pe;
    uint32_t address_length;
    uint32_t key_length[TRANSPORT_REGIONS_FIXED]; // 0: no such region
    uint32_t unused;
    uint64_t start[TRANSPORT_REGIONS_FIXED];
    unsigned char bytes[UCX_ADDRESS_SIZE - 48]; // the worker's address, then the keys
    uint64_t seal;
};
_Static_assert(sizeof(struct ucx_blob) == UCX_ADDRESS_SIZE, "the same everywhere");

// What region_register() writes.
struct ucx_key {
    uint32_t magic;
    int32_t pe;
    uint64_t start; // where the memory is, for its owner and for UCX
    uint64_t size;
    uint32_t length;
    uint32_t unused;
    unsigned char bytes[UCX_REGION_KEY_MAX];
    uint64_t seal;
};
_Static_assert(sizeof(struct ucx_key) == 40 + UCX_REGION_KEY_MAX, "the same everywhere");

// What goes before the data of a piece of a long put or get, or alone; see ucx_bulk.c.
enum ucx_bulk_kind { UCX_BULK_PUT, UCX_BULK_ANSWER, UCX_BULK_GET, UCX_BULK_DATA, UCX_BULK_KINDS };
struct ucx_bulk {
    uint64_t secret;
    uint32_t from;
    uint32_t kind; // enum ucx_bulk_kind
    uint64_t op;   // which one of the asker's
    uint64_t at;   // PUT, GET: an address of the target's; DATA: how far into the data
    uint64_t n;    // bytes
};
_Static_assert(sizeof(struct ucx_bulk) == 40, "the same everywhere");

enum ucx_kind { UCX_PUT, UCX_GET, UCX_AMO, UCX_SEND };

struct ucx_op {
    struct ucx_ep *ep;
    enum ucx_kind kind;
    bool busy;
    bool at_ucx;    // UCX will call `ended`
    bool unflushed; // its end at the target is not known yet
    bool failed;
    struct ucx_op *next;   // free, or unflushed
    struct ucx_peer *peer; // while its end counts
    struct ucx_peer *to;   // of a message
    bool is_notice;
    struct ucx_ctx *ctx;
    struct transport_request *request;
    void *local; // of a long one (ucx_bulk.c)
    size_t length, unanswered;
    enum transport_width width; // atomics, from here on
    uint64_t operand, old;
    uint64_t *result;
    _Alignas(16) unsigned char data[MESSAGE_BYTES_SOON];
};

struct ucx_ctx {
    struct ucx_ep *lane; // NULL: it uses the endpoint itself
    unsigned pending;
    bool failed; // an operation without a request did
};

struct ucx_remote {
    uint64_t start;
    ucp_rkey_h key;
};

struct ucx_peer {
    struct messages_peer m; // first: see ucx_peer_of
    struct ucx_ep *owner;
    ucp_ep_h ep;
    struct ucx_remote region[TRANSPORT_REGIONS_FIXED];
    unsigned pending;         // operations under way
    struct ucx_op *unflushed; // of them, newest first: those the next flush covers
    unsigned unflushed_count;
    struct ucx_op *flushing; // those that the flush under way covers
    bool flush_runs, flush_wanted;
    bool broken; // its endpoint is no more: not yet a loss while nothing is expected from it
    const char *why;
};

static inline struct ucx_peer *ucx_peer_of(struct messages_peer *m)
{
    return (struct ucx_peer *)m;
}

struct ucx_import {
    struct ucx_key key;
    ucp_rkey_h rkey; // NULL before its first use
};

struct ucx_ep {
    struct transport_job job;
    struct ucx_ep *parent;                  // of a lane
    struct ucx_ep *_Atomic lane[UCX_LANES]; // made when a context first wants it
    unsigned ctxs;                          // that wanted one, so far
    char address[UCX_ADDRESS_TEXT];         // as facts.interface
    pthread_mutex_t lock;
    ucp_context_h context;
    ucp_worker_h worker;
    int fd; // to wait on
    ucp_mem_h memory[TRANSPORT_REGIONS_FIXED];

    const void **blob;          // of each PE, as given to connect
    struct ucx_peer **peer;     // of each PE, NULL before its first use
    struct job_imports imports; // struct ucx_import
    struct messages messages;

    int op_count;
    struct ucx_op *ops, *free_ops;
    struct ucx_ctx ctx; // of operations without one
    unsigned pending;   // puts, gets and atomics under way
    unsigned sends;     // messages and what ucx_bulk.c sends, under way
    unsigned closings;  // endpoints that UCX is closing, flushes of the worker
    unsigned unflushed; // operations of all peers that the next flush would cover
    unsigned hostile_calls;
    bool has_broken;
    bool is_tcp; // and nothing else
};

#define ucx_log(ep, level, ...) job_log(&(ep)->job, "ucx", level, __VA_ARGS__)

// HOSTILE builds: no room, now and then.
static inline bool ucx_refuse(struct ucx_ep *ep)
{
    return HOSTILE && ++ep->hostile_calls % 5 == 0;
}

// Where a context's operations go.
static inline struct ucx_ep *ucx_of(void *ep, const void *ctx)
{
    struct ucx_ep *lane = ctx ? ((const struct ucx_ctx *)ctx)->lane : NULL;
    return unlikely(lane) ? lane : ep;
}

// ucx.c
int ucx_worker_open(struct ucx_ep *ep);
int ucx_ops_open(struct ucx_ep *ep); // and the table of peers
void ucx_end(struct ucx_ep *ep);     // what is under way gets a last chance, then frees

// ucx_lane.c
int ucx_ctx_create(void *ep, bool apart, void **ctx);
void ucx_ctx_destroy(void *ep, void *ctx);
int ucx_progress_ctx(void *ep, void *ctx);
int ucx_lanes_progress(struct ucx_ep *parent);
bool ucx_lanes_pend(struct ucx_ep *parent); // is anything under way there?
void ucx_lanes_close(struct ucx_ep *parent);
void ucx_lanes_lose(struct ucx_ep *parent, int pe, const char *why); // the parent is locked

// ucx_choose.c: the network devices as UCX_NET_DEVICES names them. An empty name leaves them to
// UCX; false: there is none. address: UCX_ADDRESS_TEXT bytes for the internet address of what it will
// use, or where that has none for one that other hosts are reached by; empty: none either.
bool ucx_choose(const struct transport_job *job, char *devices, size_t size, char *address);

// ucx_memory.c
int ucx_map(struct ucx_ep *ep, void *base, size_t size, ucp_mem_h *memory);
// The packed key of memory, at most `room` bytes; 0: failed, logged.
size_t ucx_pack(struct ucx_ep *ep, ucp_mem_h memory, void *bytes, size_t room);
bool ucx_locate(struct ucx_ep *ep, struct ucx_peer *peer, struct transport_remote at,
                struct ucx_remote *remote);
void *ucx_own(struct ucx_ep *ep, struct transport_remote at); // address of memory of this PE
int ucx_region_register(void *ep, void *base, size_t size, void *key, void **handle);
int ucx_region_deregister(void *ep, void *handle);
int ucx_region_import(void *ep, int pe, const void *key, int *region);
void ucx_region_release(void *ep, int region);
void ucx_imports_forget(struct ucx_ep *ep, int pe); // the keys of a PE
void ucx_imports_free(struct ucx_ep *ep);

// ucx_peer.c. The lock is held but in the first two.
int ucx_address(void *ep, void *bytes);
int ucx_connect(void *ep, int pe, const void *bytes);
struct ucx_peer *ucx_peer_known(struct ucx_ep *ep, int pe);            // NULL: no memory
const char *ucx_why(ucs_status_t status); // a peer is lost
int ucx_peer_reach(struct ucx_ep *ep, int pe, struct ucx_peer **peer); // makes its endpoint
void ucx_peer_close(struct ucx_ep *ep, struct ucx_peer *peer);
void ucx_mend(struct ucx_ep *ep); // looks at endpoints that broke
void ucx_peers_free(struct ucx_ep *ep);

// ucx_data.c
struct ucx_op *ucx_op_take(struct ucx_ep *ep, enum ucx_kind kind);
void ucx_op_give(struct ucx_ep *ep, struct ucx_op *op);
// What UCX is told of op; its end comes to this file.
ucp_request_param_t ucx_param(struct ucx_op *op);
// UCX returned `pointer` for op: what the caller is told.
int ucx_op_begun(struct ucx_ep *ep, struct ucx_op *op, struct ucx_peer *peer, struct ucx_ctx *ctx,
                 struct transport_request *request, void *pointer);
void ucx_flush_begin(struct ucx_ep *ep, struct ucx_peer *peer);
void ucx_flush_all(struct ucx_ep *ep);
void ucx_abandon(void *ep, struct messages_peer *peer);
int ucx_put(void *ep, void *ctx, struct transport_remote to, const void *from, size_t n,
            struct transport_request *request);
int ucx_get(void *ep, void *ctx, void *to, struct transport_remote from, size_t n,
            struct transport_request *request);

void ucx_op_answered(struct ucx_op *op, size_t n); // n bytes more have been

// ucx_bulk.c
// An active message came that has a header of UCX's: those of long puts and gets have.
ucs_status_t ucx_bulk_came(struct ucx_ep *ep, const void *header, size_t header_length, const void *data,
                           size_t length, const ucp_am_recv_param_t *param);
// Begins op, a put or get of n bytes: as the slots.
int ucx_bulk_begin(struct ucx_ep *ep, struct ucx_ctx *ctx, struct ucx_peer *peer, struct ucx_op *op,
                   uint64_t at, void *local, size_t n, struct transport_request *request);

// ucx_amo.c
int ucx_amo(void *ep, void *ctx, struct transport_remote at, enum transport_op op,
            enum transport_width width, uint64_t operand, uint64_t compare, uint64_t *result,
            struct transport_request *request);

// ucx_message.c
void ucx_messages_open(struct ucx_ep *ep);
ucs_status_t ucx_messages_listen(struct ucx_ep *ep); // the worker is there
int ucx_am(void *ep, void *ctx, int pe, const struct transport_payload *payload);

// ucx_progress.c
int ucx_move(struct ucx_ep *ep); // the lock is held, upcalls excepted
int ucx_progress(void *ep);
int ucx_wait_fd(void *ep);
int ucx_arm(void *ep);
int ucx_flush(void *ep, void *ctx, int pe);

extern const struct transport transport_ucx;

#endif
