// SPDX-License-Identifier: BSD-3-Clause
// PES: none
// What UCX itself takes (net_raw.h), set up as Shoal sets it up: no shared memory between the two,
// long segments over tcp, and atomics by processors.
#include "net_raw.h"

#include <ucp/api/ucp.h>

struct side {
    size_t name_length, key_length;
    uint64_t start;
    unsigned char bytes[]; // the worker's address, then the key of its memory
};

static ucp_context_h context;
static ucp_worker_h worker;
static ucp_ep_h ep;
static ucp_mem_h mr;
static ucp_rkey_h key;
static uint64_t peer_start;

static void must(ucs_status_t status, const char *what)
{
    if (status != UCS_OK) {
        fprintf(stderr, "net_raw_ucx: %s: %s\n", what, ucs_status_string(status));
        exit(1);
    }
}

static ucs_status_t open_context(const char *address)
{
    if (strncmp(address, "127.", 4) == 0)
        setenv("UCX_NET_DEVICES", "lo", 0);
    setenv("UCX_TLS", "^posix,sysv,cma,self", 0);
    setenv("UCX_TCP_TX_SEG_SIZE", "64k", 0);
    setenv("UCX_ATOMIC_MODE", "cpu", 0);
    ucp_params_t params = {.field_mask = UCP_PARAM_FIELD_FEATURES,
                           .features = UCP_FEATURE_RMA | UCP_FEATURE_AMO64 | UCP_FEATURE_TAG};
    return ucp_init(&params, NULL, &context);
}

static bool raw_works(const char *address)
{
    ucs_status_t status = open_context(address);
    if (status != UCS_OK) {
        printf("UCX cannot start at %s: %s\n", address, ucs_status_string(status));
        return false;
    }
    ucp_cleanup(context); // the two sides open their own
    return true;
}

static size_t raw_open(const char *address, void *card)
{
    struct side *own = card;
    ucp_worker_params_t params = {.field_mask = UCP_WORKER_PARAM_FIELD_THREAD_MODE,
                                  .thread_mode = UCS_THREAD_MODE_SINGLE};
    ucp_mem_map_params_t region = {.field_mask = UCP_MEM_MAP_PARAM_FIELD_ADDRESS |
                                                 UCP_MEM_MAP_PARAM_FIELD_LENGTH,
                                   .address = memory,
                                   .length = 2 * LARGE};
    ucp_address_t *name;
    void *packed;
    must(open_context(address), "ucp_init");
    must(ucp_worker_create(context, &params, &worker), "ucp_worker_create");
    must(ucp_worker_get_address(worker, &name, &own->name_length), "ucp_worker_get_address");
    must(ucp_mem_map(context, &region, &mr), "ucp_mem_map");
    must(ucp_rkey_pack(context, mr, &packed, &own->key_length), "ucp_rkey_pack");
    size_t length = sizeof *own + own->name_length + own->key_length;
    if (length <= CARD) {
        own->start = (uintptr_t)memory;
        memcpy(own->bytes, name, own->name_length);
        memcpy(own->bytes + own->name_length, packed, own->key_length);
    }
    ucp_worker_release_address(worker, name);
    ucp_rkey_buffer_release(packed);
    return length;
}

static void raw_connect(const void *card)
{
    const struct side *other = card;
    ucp_ep_params_t params = {.field_mask = UCP_EP_PARAM_FIELD_REMOTE_ADDRESS,
                              .address = (const ucp_address_t *)other->bytes};
    must(ucp_ep_create(worker, &params, &ep), "ucp_ep_create");
    must(ucp_ep_rkey_unpack(ep, other->bytes + other->name_length, &key), "ucp_ep_rkey_unpack");
    peer_start = other->start;
}

static void raw_poll(void)
{
    ucp_worker_progress(worker);
}

// Ends the operation that a call has started, or ended at once.
static void complete(ucs_status_ptr_t request, const char *what)
{
    if (!UCS_PTR_IS_PTR(request)) {
        must(UCS_PTR_STATUS(request), what);
        return;
    }
    ucs_status_t status;
    while ((status = ucp_request_check_status(request)) == UCS_INPROGRESS)
        raw_poll();
    ucp_request_free(request);
    must(status, what);
}

static const ucp_request_param_t plain;

static void flush(void)
{
    complete(ucp_ep_flush_nbx(ep, &plain), "ucp_ep_flush_nbx");
}

static void raw_put(size_t n)
{
    complete(ucp_put_nbx(ep, memory + LARGE, n, peer_start, key, &plain), "ucp_put_nbx");
    flush();
}

static void raw_get(void)
{
    complete(ucp_get_nbx(ep, memory + LARGE, 8, peer_start, key, &plain), "ucp_get_nbx");
}

static void raw_fetch_add(void)
{
    static uint64_t one = 1;
    ucp_request_param_t param = {.op_attr_mask = UCP_OP_ATTR_FIELD_REPLY_BUFFER |
                                                 UCP_OP_ATTR_FIELD_DATATYPE,
                                 .reply_buffer = memory + LARGE,
                                 .datatype = ucp_dt_make_contig(sizeof one)};
    complete(ucp_atomic_op_nbx(ep, UCP_ATOMIC_OP_ADD, &one, 1, peer_start, key, &param),
             "ucp_atomic_op_nbx");
}

static void raw_put_many(int count)
{
    ucs_status_ptr_t request[WINDOW] = {0};
    for (int i = 0; i < count; i++) {
        complete(request[i % WINDOW], "ucp_put_nbx");
        request[i % WINDOW] = ucp_put_nbx(ep, memory + LARGE, 8, peer_start, key, &plain);
    }
    for (int i = 0; i < WINDOW; i++)
        complete(request[i], "ucp_put_nbx");
    flush();
}

static double raw_one_way(int me)
{
    double start = now_ns();
    for (int i = 0; i < TRIPS; i++) {
        ucs_status_ptr_t request = ucp_tag_recv_nbx(worker, memory, 8, 1, UINT64_MAX, &plain);
        if (me == 0)
            complete(ucp_tag_send_nbx(ep, memory + LARGE, 8, 1, &plain), "ucp_tag_send_nbx");
        complete(request, "ucp_tag_recv_nbx");
        if (me == 1)
            complete(ucp_tag_send_nbx(ep, memory + LARGE, 8, 1, &plain), "ucp_tag_send_nbx");
    }
    return (now_ns() - start) / TRIPS / 2;
}

int main(int argc, char **argv)
{
    return raw_main(argc, argv);
}
