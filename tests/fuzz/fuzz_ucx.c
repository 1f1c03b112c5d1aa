// SPDX-License-Identifier: BSD-3-Clause
// libFuzzer: whatever may reach transports/ucx from others, with a UCX that ends and fails as the
// input says. This endpoint is PE 0 of four. An input is a row of steps:
//
//     kind, flags, length (2 bytes), bytes
//
//     m  a message came; flag 1: it is given the job's secret, flag 2: the number that is expected,
//        flag 4: it has a header of UCX's, flag 8: it is said to be long
//     d  a piece of a long put or get came; flag 1: it is given the job's secret, flag 2: a place that is
//        there, flag 4: its own length, flag 8: it is said to be long, flag 16: it can be answered
//     b  bytes of an address of PE 1 + (flags & 3) % 3; flag 4: their seal is made right
//     k  bytes of a region's key, of that PE; flag 4 as well
//     p  an operation with that PE; flag 4: on the region imported last, flag 8: with a request;
//        flags 16 and 32: put, get, atomic with or without a result, flag 64: a long put or get
//     s  the bytes are a message to that PE
//     f  a flush of that PE, flag 4: of all
//     e  UCX says that the endpoint of that PE broke
//     w  time passes: flag 1: the newest ends first, flag 2: one alone, flag 4: with an error
//     r  what UCX says to the calls that follow, a byte each
//
// UCX reads addresses and keys without being told their lengths; what it makes of damaged ones is
// its own and not tried here.
#include "fuzz_transport.h"
#include "ucx/ucx.h"

enum { KEPT = 24, ASKED = 64 };

static struct ucx_ep *ep;
static int region, region_pe;
static struct transport_request asked[ASKED]; // requests of operations
static int asked_count;
static uint64_t words[ASKED][2]; // where their results go
static unsigned char long_one[PUT_COPIED_MAX + 100];

// ---- A UCX that takes operations and ends them in a later step.
struct ucp_ep {
    ucp_err_handler_t broken;
    int pe;
    bool told;
    unsigned keys;
};

struct ucp_rkey {
    struct ucp_ep *of;
};

struct fake_request {
    ucp_send_nbx_callback_t cb;
    void *arg;
    struct ucp_ep *of;
};
static struct fake_request *posted[KEPT]; // oldest first
static int posted_count;
static struct ucp_ep *endpoints[NPES];
static struct ucp_ep asker; // by which pieces come
static const uint8_t *says, *says_end;
static ucp_am_recv_callback_t came;

// ---- There are no lanes.
int ucx_lanes_progress(struct ucx_ep *e)
{
    (void)e;
    return 0;
}

bool ucx_lanes_pend(struct ucx_ep *e)
{
    (void)e;
    return false;
}

void ucx_lanes_lose(struct ucx_ep *e, int pe, const char *why)
{
    (void)e;
    (void)pe;
    (void)why;
}

static unsigned say(void)
{
    return says < says_end ? *says++ : 0;
}

// What a call may answer: it is under way, at an end already, not now, or failed.
static ucs_status_ptr_t answer(struct ucp_ep *of, const ucp_request_param_t *param, bool may_refuse)
{
    unsigned word = say() % 8;
    require(of != NULL);
    if (word == 1)
        return NULL;
    if (word == 2)
        return UCS_STATUS_PTR(UCS_ERR_NO_MEMORY);
    if (word == 3)
        return UCS_STATUS_PTR(UCS_ERR_NOT_CONNECTED);
    if (may_refuse && (word == 4 || posted_count >= KEPT - NPES))
        return UCS_STATUS_PTR(UCS_ERR_NO_RESOURCE);
    if (posted_count == KEPT)
        return UCS_STATUS_PTR(UCS_ERR_NO_MEMORY);
    struct fake_request *request = malloc(sizeof *request);
    *request = (struct fake_request){param->cb.send, param->user_data, of};
    posted[posted_count++] = request;
    return request;
}

static void end(int i, ucs_status_t status)
{
    struct fake_request *request = posted[i];
    memmove(posted + i, posted + i + 1, (size_t)(--posted_count - i) * sizeof *posted);
    request->cb(request, status, request->arg);
}

void ucp_request_free(void *request)
{
    free(request);
}

ucs_status_t ucp_ep_create(ucp_worker_h worker, const ucp_ep_params_t *params, ucp_ep_h *result)
{
    (void)worker;
    const struct ucx_blob *blob = (const void *)((const char *)params->address -
                                                 offsetof(struct ucx_blob, bytes));
    seen += blob->bytes[0];
    require(blob->pe > 0 && blob->pe < NPES && !endpoints[blob->pe]);
    if (say() % 8 == 2)
        return UCS_ERR_INVALID_ADDR;
    *result = calloc(1, sizeof **result);
    **result = (struct ucp_ep){.broken = params->err_handler, .pe = blob->pe};
    endpoints[blob->pe] = *result;
    return UCS_OK;
}

// Its operations end at once or later.
ucs_status_ptr_t ucp_ep_close_nbx(ucp_ep_h of, const ucp_request_param_t *param)
{
    require(of->keys == 0 && endpoints[of->pe] == of);
    bool at_once = say() % 2;
    endpoints[of->pe] = NULL;
    for (int i = 0; at_once && i < posted_count;)
        if (posted[i]->of == of) {
            end(i, UCS_ERR_CANCELED);
            i = 0;
        } else {
            i++;
        }
    for (int i = 0; i < posted_count; i++)
        if (posted[i]->of == of)
            posted[i]->of = NULL;
    free(of);
    static struct ucp_ep closed;
    return answer(&closed, param, false);
}

ucs_status_t ucp_ep_rkey_unpack(ucp_ep_h of, const void *bytes, ucp_rkey_h *key)
{
    seen += *(const unsigned char *)bytes;
    *key = (ucp_rkey_h)8;
    if (say() % 8 == 2)
        return UCS_ERR_UNREACHABLE;
    *key = malloc(sizeof **key);
    (*key)->of = of;
    of->keys++;
    return UCS_OK;
}

void ucp_rkey_destroy(ucp_rkey_h key)
{
    key->of->keys--;
    free(key);
}

ucs_status_ptr_t ucp_put_nbx(ucp_ep_h of, const void *from, size_t n, uint64_t to, ucp_rkey_h key,
                             const ucp_request_param_t *param)
{
    (void)to;
    require(key->of == of);
    seen += ((const unsigned char *)from)[n - 1];
    return answer(of, param, true);
}

ucs_status_ptr_t ucp_get_nbx(ucp_ep_h of, void *to, size_t n, uint64_t from, ucp_rkey_h key,
                             const ucp_request_param_t *param)
{
    (void)from;
    require(key->of == of);
    memset(to, 1, n);
    return answer(of, param, true);
}

ucs_status_ptr_t ucp_atomic_op_nbx(ucp_ep_h of, ucp_atomic_op_t op, const void *from, size_t count,
                                   uint64_t to, ucp_rkey_h key, const ucp_request_param_t *param)
{
    (void)op, (void)from, (void)count, (void)to;
    require(key->of == of);
    return answer(of, param, true);
}

ucs_status_ptr_t ucp_am_send_nbx(ucp_ep_h of, unsigned id, const void *header, size_t header_length,
                                 const void *from, size_t n, const ucp_request_param_t *param)
{
    require(id == UCX_AM_ID);
    if (header_length)
        require(header_length == sizeof(struct ucx_bulk) &&
                ((const struct ucx_bulk *)header)->secret == SECRET);
    else
        require(n <= MESSAGE_BYTES);
    seen += n ? ((const unsigned char *)from)[n - 1] : 0;
    return answer(of, param, true);
}

ucs_status_ptr_t ucp_ep_flush_nbx(ucp_ep_h of, const ucp_request_param_t *param)
{
    return answer(of, param, false);
}

ucs_status_t ucp_worker_set_am_recv_handler(ucp_worker_h worker,
                                            const ucp_am_handler_param_t *param)
{
    (void)worker;
    came = param->cb;
    return UCS_OK;
}

unsigned ucp_worker_progress(ucp_worker_h worker)
{
    (void)worker;
    return 0;
}

const char *ucs_status_string(ucs_status_t status)
{
    return status ? "an error" : "none";
}

// The endpoint's own memory and address, which come from nobody, are not tried.
ucs_status_t ucp_worker_arm(ucp_worker_h worker)
{
    (void)worker;
    abort();
}

ucs_status_t ucp_mem_map(ucp_context_h context, const ucp_mem_map_params_t *params,
                         ucp_mem_h *memory)
{
    (void)context, (void)params, (void)memory;
    abort();
}

ucs_status_t ucp_mem_unmap(ucp_context_h context, ucp_mem_h memory)
{
    (void)context, (void)memory;
    abort();
}

ucs_status_t ucp_rkey_pack(ucp_context_h context, ucp_mem_h memory, void **bytes, size_t *n)
{
    (void)context, (void)memory, (void)bytes, (void)n;
    abort();
}

void ucp_rkey_buffer_release(void *bytes)
{
    (void)bytes;
    abort();
}

ucs_status_t ucp_worker_query(ucp_worker_h worker, ucp_worker_attr_t *attr)
{
    (void)worker, (void)attr;
    abort();
}

void ucp_worker_release_address(ucp_worker_h worker, ucp_address_t *address)
{
    (void)worker, (void)address;
    abort();
}

// ---- The endpoint, made anew for each input
static void ep_new(void)
{
    static struct ucx_op *ops; // kept: to clear so much takes longer than all the rest
    if (!ops)
        ops = calloc(UCX_OPS, sizeof *ops);
    ep = calloc(1, sizeof *ep);
    ep->job = fuzz_job();
    pthread_mutex_init(&ep->lock, NULL);
    ucx_messages_open(ep);
    ucx_messages_listen(ep);
    ep->is_tcp = true;
    ep->blob = calloc(NPES, sizeof *ep->blob);
    ep->peer = calloc(NPES, sizeof *ep->peer);
    ep->ops = ops;
    ep->op_count = UCX_OPS;
    for (int i = 0; i < UCX_OPS; i++) {
        ops[i].ep = ep;
        ucx_op_give(ep, &ops[i]);
    }
    asked_count = 0;
    region = -1;
}

// Everything has ended once, and nothing is kept.
static void check_ended(void)
{
    require(ep->pending == 0 && ep->sends == 0 && ep->closings == 0 && ep->unflushed == 0 &&
            ep->ctx.pending == 0);
    for (int i = 0; i < UCX_OPS; i++)
        require(!ep->ops[i].busy);
    for (int i = 0; i < asked_count; i++)
        require(atomic_load(&asked[i].left) == 0);
}

static void ep_free(void)
{
    for (int pe = 0; pe < NPES; pe++)
        if (ep->peer[pe])
            ucx_peer_close(ep, ep->peer[pe]);
    while (posted_count)
        end(0, UCS_ERR_CANCELED);
    check_ended();
    ucx_peers_free(ep);
    ucx_imports_free(ep);
    free(ep->peer);
    free(ep->blob);
    blobs_free();
    pthread_mutex_destroy(&ep->lock);
    free(ep);
}

// ---- Steps
static void message(int flags, const uint8_t *bytes, size_t n)
{
    ucp_am_recv_param_t param = {.recv_attr = flags & 8 ? UCP_AM_RECV_ATTR_FLAG_RNDV : 0};
    unsigned char *data = malloc(n + 1); // as long as it is
    memcpy(data, bytes, n);
    make_right(data, n, flags);
    pthread_mutex_lock(&ep->lock);
    unsigned before = ep->messages.came;
    came(ep, data, flags & 4 ? 1 : 0, data, n, &param);
    require(!(flags & 12) || ep->messages.came == before);
    pthread_mutex_unlock(&ep->lock);
    free(data);
    ucx_progress(ep);
}

static void piece(int flags, const uint8_t *bytes, size_t n)
{
    ucp_am_recv_param_t param = {.recv_attr = flags & 8 ? UCP_AM_RECV_ATTR_FLAG_RNDV : 0};
    if (flags & 16)
        param = (ucp_am_recv_param_t){UCP_AM_RECV_ATTR_FIELD_REPLY_EP, &asker};
    struct ucx_bulk bulk;
    size_t length = n < sizeof bulk ? n : sizeof bulk, rest = n - length;
    unsigned char *data = malloc(rest + 1), *header = malloc(length + 1);
    memset(&bulk, 0, sizeof bulk);
    memcpy(&bulk, bytes, length);
    memcpy(data, bytes + length, rest);
    if (flags & 1)
        bulk.secret = SECRET;
    if (flags & 4)
        bulk.n = rest;
    bool is_at_place = bulk.kind == UCX_BULK_PUT || bulk.kind == UCX_BULK_GET;
    if (is_at_place &&
        (flags & 2 || bulk.secret == SECRET)) // who has the secret names what is there
        bulk.at = (uintptr_t)long_one;
    if (is_at_place && bulk.n > sizeof long_one)
        bulk.n %= sizeof long_one;
    memcpy(header, &bulk, length);
    pthread_mutex_lock(&ep->lock);
    came(ep, header, length, data, rest, &param);
    pthread_mutex_unlock(&ep->lock);
    free(data);
    free(header);
    ucx_progress(ep);
}

static void address(int pe, bool right, const uint8_t *bytes, size_t n)
{
    unsigned char *blob = sealed(right, bytes, n, sizeof(struct ucx_blob));
    if (blobs[pe] || ucx_connect(ep, pe, blob))
        free(blob);
    else
        blobs[pe] = blob;
}

static void import(int pe, bool right, const uint8_t *bytes, size_t n)
{
    unsigned char *key = sealed(right, bytes, n, sizeof(struct ucx_key));
    if (region >= 0)
        ucx_region_release(ep, region);
    region = -1;
    region_pe = pe;
    if (ucx_region_import(ep, pe, key, &region) == 0)
        require(region >= TRANSPORT_REGIONS_FIXED);
    free(key);
}

static void operate(int pe, int flags)
{
    struct transport_request *request = NULL;
    uint64_t *word = words[0];
    struct transport_remote at = {pe, flags & 4 ? region : TRANSPORT_HEAP, 8};
    int status = TRANSPORT_FAILED;
    size_t n = flags & 64 ? sizeof long_one : sizeof *words;
    if (flags & 8 && asked_count < ASKED) {
        word = words[asked_count];
        request = &asked[asked_count++];
        *request = (struct transport_request){.left = 1};
    }
    switch (flags >> 4 & 3) {
    case 0: status = ucx_put(ep, NULL, at, flags & 64 ? (void *)long_one : word, n, request); break;
    case 1: status = ucx_get(ep, NULL, flags & 64 ? (void *)long_one : word, at, n, request); break;
    case 2:
        status = ucx_amo(ep, NULL, at, TRANSPORT_CSWAP, TRANSPORT_64, 1, 2, word, request);
        break;
    case 3: status = ucx_amo(ep, NULL, at, TRANSPORT_ADD, TRANSPORT_32, 1, 0, NULL, request); break;
    }
    if (request && status != TRANSPORT_PENDING) {
        require(atomic_load(&request->left) == 1);
        asked_count--;
    }
}

static void pass_time(int flags)
{
    pthread_mutex_lock(&ep->lock);
    for (int n = flags & 2 ? 1 : posted_count; n > 0 && posted_count; n--)
        end(flags & 1 ? posted_count - 1 : 0, flags & 4 ? UCS_ERR_ENDPOINT_TIMEOUT : UCS_OK);
    pthread_mutex_unlock(&ep->lock);
    ucx_progress(ep);
}

// UCX says so once.
static void broke(int pe)
{
    struct ucp_ep *of = endpoints[pe];
    if (!of || of->told)
        return;
    of->told = true;
    pthread_mutex_lock(&ep->lock);
    of->broken.cb(of->broken.arg, of, UCS_ERR_CONNECTION_RESET);
    pthread_mutex_unlock(&ep->lock);
}

static void leave_unanswered(void)
{
    pthread_mutex_lock(&ep->lock);
    for (int pe = 0; pe < NPES; pe++)
        if (ep->peer[pe] && ep->peer[pe]->pending)
            messages_peer_lose(&ep->messages, &ep->peer[pe]->m, "it left");
    pthread_mutex_unlock(&ep->lock);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    ep_new();
    struct fuzz_step s;
    for (const uint8_t *at = data; next_step(&at, data + size, &s);) {
        switch (s.kind) {
        case 'm': message(s.flags, s.bytes, s.n); break;
        case 'd': piece(s.flags, s.bytes, s.n); break;
        case 'b': address(s.pe, s.flags & 4, s.bytes, s.n); break;
        case 'k': import(s.pe, s.flags & 4, s.bytes, s.n); break;
        case 'p': operate(s.pe, s.flags); break;
        case 's': ucx_am(ep, NULL, s.pe, &(struct transport_payload){.data = s.bytes, .n = s.n}); break;
        case 'f': ucx_flush(ep, NULL, s.flags & 4 ? -1 : s.pe); break;
        case 'e': broke(s.pe); break;
        case 'w': pass_time(s.flags); break;
        case 'r':
            says = s.bytes;
            says_end = s.bytes + s.n;
            break;
        }
    }
    says = says_end = NULL;
    while (ucx_flush(ep, NULL, -1) == TRANSPORT_AGAIN) { // each round ends what UCX has
        pass_time(0);
        if (posted_count == 0)
            leave_unanswered();
    }
    pass_time(0);
    ep_free();
    return 0;
}
