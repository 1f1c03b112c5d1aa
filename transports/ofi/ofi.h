// SPDX-License-Identifier: BSD-3-Clause
// A libfabric endpoint as a transport: one reliable-datagram endpoint, one address vector, one
// completion queue.
//
//     job thread ---- put get amo am ----> ofi_op ----> provider ----> completion queue
//                                            ^                              |
//                        free list <---------+------- ofi_op_done <---------+  (progress)
//                                                                           |
//                                    on_am <---- messages.h <---- receives <+
//
// An ofi_op is everything one operation needs: libfabric's context, the request, room for a small
// payload. They come from one array that is registered once. Receives are ofi_ops too, posted from
// open to close.
//
// One mutex guards all of it, so libfabric is asked for FI_THREAD_DOMAIN only and any thread may
// call; it is never held during an upcall.
//
// A lane (ofi_lane.c) is another one of these for contexts, with a domain, a queue and a mutex of its
// own.
#ifndef SHOAL_TRANSPORTS_OFI_H
#define SHOAL_TRANSPORTS_OFI_H

#include "compiler.h"
#include "job.h"
#include "log.h"
#include "messages.h"
#include "transport.h"
#include "tunables.h"

#include <pthread.h>
#include <rdma/fabric.h>
#include <rdma/fi_atomic.h>
#include <rdma/fi_cm.h>
#include <rdma/fi_domain.h>
#include <rdma/fi_endpoint.h>
#include <rdma/fi_errno.h>
#include <rdma/fi_rma.h>

#define OFI_RXM_EAGER "66560" // bytes, at least MESSAGE_BYTES; see ofi_rxm.c
_Static_assert(MESSAGE_BYTES <= 66560, "a whole message is eager");

enum {
    OFI_RXM_SOON = 16512, // bytes of a payload that ofi_rxm sends at once by its buffers, see ofi_rxm.c
    OFI_NAME_MAX = 64,                  // bytes of an endpoint's name; the longest known is 32
    OFI_OPS = HOSTILE ? 8 : 256,        // operations under way at once
    OFI_LANES = 16,                     // endpoints of contexts, which share them in turn
    OFI_LANE_OPS = HOSTILE ? 4 : 64,    // operations under way at once on one of them
    OFI_RECEIVES = HOSTILE ? 4 : 64,    // messages that may arrive before progress
    OFI_CHUNK_MAX = HOSTILE ? 1000 : 0, // bytes of one transfer, 0: what the provider can
    OFI_CQ_BATCH = 16,
    OFI_CHAINS = HOSTILE ? 1 : 8,       // under way at once
    OFI_CHAIN_STEPS = HOSTILE ? 3 : 16,
    OFI_WATCH_MS = 250, // how often silent peers are looked at
    OFI_POLLED = 32,    // PEs of a job up to which polling all sockets is cheap
};

// What address() writes. Lengths and the seal are checked before anything is believed.
struct ofi_blob {
    uint32_t magic;
    uint32_t name_length;
    int32_t pe;
    uint32_t soon; // ofi_rxm_soon, on which both must agree
    char name[OFI_NAME_MAX];
    struct {
        uint64_t start; // what an offset is added to: an address, or 0
        uint64_t size;
        uint64_t key;
    } region[TRANSPORT_REGIONS_FIXED];
    uint64_t seal;
};

// What region_register() writes.
struct ofi_key {
    uint32_t magic;
    int32_t pe;
    uint64_t address; // where the memory is, for its owner
    uint64_t start;
    uint64_t size;
    uint64_t key;
    uint64_t seal;
};

enum ofi_kind { OFI_PUT, OFI_GET, OFI_AMO, OFI_SEND, OFI_RECEIVE };

struct ofi_amo {
    enum transport_op op;
    enum transport_width width;
    uint64_t operand, compare;
    uint64_t *result;
};

struct ofi_op {
    struct fi_context2 context; // first: libfabric hands its address back
    enum ofi_kind kind;
    bool busy;
    bool is_notice;
    struct ofi_peer *to; // of a message
    struct ofi_op *next;
    struct ofi_peer *peer; // while its end counts
    struct ofi_ctx *ctx;
    struct transport_request *request;
    // put, get: what is not complete yet; `posted` bytes of it are under way
    char *local;
    uint64_t remote, key;
    size_t left, posted;
    void *desc;
    struct fid_mr *mr; // for this operation only
    char *copy_to;     // get: where data[] goes
    size_t copy_length;
    // atomics
    struct ofi_amo amo;
    uint64_t old;
    struct message message; // receive
    _Alignas(16) unsigned char data[]; // room for a message
};

struct ofi_ctx {
    struct ofi_ep *lane; // NULL: it uses the endpoint itself
    unsigned pending;
    bool failed; // an operation without a request did
};

struct ofi_peer {
    struct messages_peer m; // first: see ofi_peer_of
    fi_addr_t addr;
    struct ofi_blob blob; // valid once addr is
    unsigned pending;     // operations under way
    unsigned done, seen;  // completions, and how many there were when it was looked at last
    unsigned silent;      // times it was found without any since
    int alive_fd;         // a connection attempt that shows whether it lives, -1: none
    uint64_t alive_ms;    // since when such attempts have had no answer, 0: they had
    unsigned lanes_done;  // the same of the lanes' operations,
    bool lanes_wait;      // and are some under way, or wanted?
    bool is_wanted;       // since it was looked at last, something could not even be posted
    char why_text[128];
};

static inline struct ofi_peer *ofi_peer_of(struct messages_peer *m)
{
    return (struct ofi_peer *)m;
}

struct ofi_ep {
    struct transport_job job;
    struct ofi_ep *parent;                   // of a lane
    struct ofi_ep *_Atomic lane[OFI_LANES];  // made when a context first wants it
    unsigned ctxs;                           // that wanted one, so far
    pthread_mutex_t lock;
    struct fi_info *info;
    struct fid_fabric *fabric;
    struct fid_domain *domain;
    struct fid_av *av;
    struct fid_cq *cq;
    struct fid_ep *ep;
    struct fid_mr *region_mr[TRANSPORT_REGIONS_FIXED];
    struct fid_mr *ops_mr;
    size_t chunk_max, am_max;
    bool local_registration, address_is_virtual, coherent;
    int wait_fd;         // -1: none
    bool owns_fds;       // wait_fd is our own set of the provider's sockets; see ofi_wait.c
    int unread_fd;       // and this another one
    uint64_t unread;     // bytes that were there at the last look,
    unsigned looks;      // and how often it was the same number
    bool has_fds;        // some were found
    _Atomic unsigned peer_count; // changes when a peer or its address becomes known
    unsigned searched_peers, search_every;
    uint64_t search_ms;
    char name[OFI_NAME_MAX];                                  // of the endpoint
    bool amo[TRANSPORT_OP_COUNT][TRANSPORT_WIDTH_COUNT];      // as in facts
    bool amo_base[TRANSPORT_OP_COUNT][TRANSPORT_WIDTH_COUNT]; // the form without a result exists

    const void **blob;          // of each PE, as given to connect
    struct ofi_peer **peer;     // of each PE, NULL before its first use
    struct job_imports imports; // struct ofi_key
    struct messages messages;

    struct ofi_chain *chains; // OFI_CHAINS, NULL before the first
    unsigned chains_running;

    int op_count;
    struct ofi_op *ops, *free_ops;
    struct ofi_op *retry; // to be posted once the provider has room
    unsigned hostile_calls;
    struct ofi_ctx ctx; // of operations without one
    unsigned pending;   // puts, gets and atomics under way
    unsigned sends;     // messages under way
    unsigned polls;
    uint64_t watched_ms;
};

// HOSTILE builds: no room, now and then.
static inline bool ofi_refuse(struct ofi_ep *ep)
{
    return HOSTILE && ++ep->hostile_calls % 5 == 0;
}

// Where a context's operations go.
static inline struct ofi_ep *ofi_of(void *ep, const void *ctx)
{
    struct ofi_ep *lane = ctx ? ((const struct ofi_ctx *)ctx)->lane : NULL;
    return unlikely(lane) ? lane : ep;
}

// ofi.c
int ofi_objects_open(struct ofi_ep *ep); // the info is there; DONE or UNSUPPORTED
int ofi_ops_open(struct ofi_ep *ep);
int ofi_regions_open(struct ofi_ep *ep, uint64_t access);
void ofi_free(struct ofi_ep *ep);

// ofi_lane.c
int ofi_ctx_create(void *ep, bool apart, void **ctx);
void ofi_ctx_destroy(void *ep, void *ctx);
int ofi_progress_ctx(void *ep, void *ctx);
struct ofi_ep *ofi_lane_at(struct ofi_ep *parent, int i); // NULL: not there
int ofi_lanes_progress(struct ofi_ep *parent);
void ofi_lanes_close(struct ofi_ep *parent);
// With the parent's lock held: the peer is lost to them, too; what peers owe them, before these are
// looked at.
void ofi_lanes_lose(struct ofi_ep *parent, int pe, const char *why);
void ofi_lanes_ask(struct ofi_ep *parent);

static inline size_t ofi_data_size(const struct ofi_ep *ep)
{
    return sizeof(struct message_header) + ep->am_max;
}

static inline size_t ofi_op_size(const struct ofi_ep *ep)
{
    return (sizeof(struct ofi_op) + ofi_data_size(ep) + 63) / 64 * 64;
}

static inline struct ofi_op *ofi_op_at(const struct ofi_ep *ep, int i)
{
    return (struct ofi_op *)((char *)ep->ops + (size_t)i * ofi_op_size(ep));
}

// ofi_choose.c: the provider and the interface. NULL when there is none that serves.
struct ofi_profile {
    const char *provider;
    bool rma_needs_target, coherent;
};
struct fi_info *ofi_choose(const struct transport_job *job);
const struct ofi_profile *ofi_profile(const char *provider); // never NULL
// The address of an entry as bytes, most significant first; NULL when it is no internet address.
const uint8_t *ofi_ip(const struct fi_info *info, int *family);

// ofi_rxm.c: around calls in which ofi_rxm reads its settings, and what comes of them.
void ofi_rxm_begin(const struct transport_job *job);
void ofi_rxm_end(void);
size_t ofi_rxm_most(const char *provider); // bytes of a payload
size_t ofi_rxm_soon(const char *provider); // of one that goes without a question
uint64_t ofi_rxm_caps(void);               // to be asked for besides

// ofi_memory.c
int ofi_mr_open(struct ofi_ep *ep, void *base, size_t size, uint64_t access, struct fid_mr **mr);
uint64_t ofi_start(struct ofi_ep *ep, void *base);
void *ofi_desc(struct ofi_ep *ep, const void *local, size_t n);
bool ofi_locate(struct ofi_ep *ep, struct ofi_peer *peer, struct transport_remote at,
                uint64_t *address, uint64_t *key);
void *ofi_own(struct ofi_ep *ep, struct transport_remote at); // address of memory of this PE
int ofi_region_register(void *ep, void *base, size_t size, void *key, void **handle);
int ofi_region_deregister(void *ep, void *handle);
int ofi_region_import(void *ep, int pe, const void *key, int *region);
void ofi_region_release(void *ep, int region);
void ofi_imports_free(struct ofi_ep *ep);

// ofi_peer.c. The lock is held but in the first two.
int ofi_address(void *ep, void *bytes);
int ofi_connect(void *ep, int pe, const void *bytes);
struct ofi_peer *ofi_peer_known(struct ofi_ep *ep, int pe);            // NULL: no memory
int ofi_peer_reach(struct ofi_ep *ep, int pe, struct ofi_peer **peer); // inserts its address
bool ofi_means_lost(int error);                                        // of libfabric, positive
void ofi_watch(struct ofi_ep *ep);
void ofi_peers_free(struct ofi_ep *ep);

// ofi_alive.c
void ofi_alive_look(struct ofi_ep *ep, struct ofi_peer *peer);   // starts an attempt
bool ofi_alive_denied(struct ofi_ep *ep, struct ofi_peer *peer); // and lost for it
void ofi_alive_end(struct ofi_ep *ep, struct ofi_peer *peer);    // if there is one that has ended

// ofi_data.c
struct ofi_op *ofi_op_take(struct ofi_ep *ep, enum ofi_kind kind);
void ofi_op_give(struct ofi_ep *ep, struct ofi_op *op);
void ofi_op_count(struct ofi_ep *ep, struct ofi_op *op, struct ofi_peer *peer, struct ofi_ctx *ctx,
                  struct transport_request *request);
void ofi_op_done(struct ofi_ep *ep, struct ofi_op *op);
void ofi_op_end(struct ofi_ep *ep, struct ofi_op *op, int status);
void ofi_abandon(void *ep, struct messages_peer *peer);
void ofi_retry(struct ofi_ep *ep);
void ofi_retry_later(struct ofi_ep *ep, struct ofi_op *op);
int ofi_status(struct ofi_ep *ep, struct ofi_peer *peer, long result, const char *what);
int ofi_put(void *ep, void *ctx, struct transport_remote to, const void *from, size_t n,
            struct transport_request *request);
int ofi_get(void *ep, void *ctx, void *to, struct transport_remote from, size_t n,
            struct transport_request *request);

// ofi_amo.c
void ofi_amo_query(struct ofi_ep *ep, struct transport_facts *facts);
int ofi_amo(void *ep, void *ctx, struct transport_remote at, enum transport_op op,
            enum transport_width width, uint64_t operand, uint64_t compare, uint64_t *result,
            struct transport_request *request);

enum fi_op ofi_amo_op(enum transport_op op); // of the form without a result
enum fi_datatype ofi_amo_type(enum transport_width width);

// ofi_chain.c
size_t ofi_chain_max(const struct ofi_ep *ep);
int ofi_chain(void *ep, const struct transport_step *step, size_t n,
              struct transport_request *request);
void ofi_chains_move(struct ofi_ep *ep);
// Is it an error of a step? Then its chain has failed.
bool ofi_chain_failed(struct ofi_ep *ep, const struct fi_cq_err_entry *error);
void ofi_chains_abandon(struct ofi_ep *ep, const struct ofi_peer *peer);
void ofi_chains_close(struct ofi_ep *ep);

// ofi_message.c
int ofi_receives_post(struct ofi_ep *ep);
int ofi_receive_post(struct ofi_ep *ep, struct ofi_op *op);
int ofi_am(void *ep, void *ctx, int pe, const struct transport_payload *payload);
void ofi_messages_open(struct ofi_ep *ep);

// ofi_wait.c
int ofi_queue_open(struct ofi_ep *ep);
int ofi_wait_fd(void *ep);
int ofi_arm(void *ep);

// ofi_progress.c
int ofi_drain(struct ofi_ep *ep); // the queue; the lock is held
int ofi_progress(void *ep);
int ofi_flush(void *ep, void *ctx, int pe);

#define ofi_log(ep, level, ...) job_log(&(ep)->job, "ofi", level, __VA_ARGS__)

extern const struct transport transport_ofi;

#endif
