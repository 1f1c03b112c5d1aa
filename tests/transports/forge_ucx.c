// SPDX-License-Identifier: BSD-3-Clause
// EACH: ucx
// TIMEOUT: 170
// ENV: UCX_MEM_EVENTS=n UCX_HANDLE_ERRORS=none UCX_LOG_FILE=stderr
// Strangers at the door of a UCX worker; see forge.h. What UCX itself believes of anybody - over tcp
// a put to any address - is not looked at here: it has nothing against it.
#include "forge.h"

#include "ucx/ucx.h"

#include <netinet/in.h>

static ucp_context_h context;
static ucp_worker_h worker;
static ucp_ep_h door;
static uint64_t victim_heap; // where it is

static void stranger_open(const unsigned char *address)
{
    static struct ucx_blob victim;
    ucp_config_t *config;
    ucp_params_t params = {.field_mask = UCP_PARAM_FIELD_FEATURES,
                           .features = UCP_FEATURE_AM | UCP_FEATURE_RMA | UCP_FEATURE_AMO64};
    ucp_worker_params_t worker_params = {0};
    memcpy(&victim, address, sizeof victim);
    victim_heap = victim.start[TRANSPORT_HEAP];
    ucp_ep_params_t ep_params = {.field_mask = UCP_EP_PARAM_FIELD_REMOTE_ADDRESS |
                                               UCP_EP_PARAM_FIELD_ERR_HANDLING_MODE,
                                 .address = (const ucp_address_t *)victim.bytes,
                                 .err_mode = UCP_ERR_HANDLING_MODE_PEER};
    CHECK(ucp_config_read(NULL, NULL, &config) == UCS_OK);
    CHECK(ucp_config_modify(config, "NET_DEVICES", "lo") == UCS_OK);
    CHECK(ucp_config_modify(config, "TLS", "tcp") == UCS_OK);
    CHECK(ucp_init(&params, config, &context) == UCS_OK);
    ucp_config_release(config);
    CHECK(ucp_worker_create(context, &worker_params, &worker) == UCS_OK);
    CHECK(ucp_ep_create(worker, &ep_params, &door) == UCS_OK);
}

static void wait_for(void *request)
{
    CHECK(!UCS_PTR_IS_ERR(request));
    while (UCS_PTR_IS_PTR(request) && ucp_request_check_status(request) == UCS_INPROGRESS) {
        ucp_worker_progress(worker);
        step();
    }
    if (UCS_PTR_IS_PTR(request))
        ucp_request_free(request);
}

static void send_as(unsigned id, const void *header, size_t header_length, const void *bytes,
                    size_t n, unsigned flags)
{
    ucp_request_param_t param = {.op_attr_mask = UCP_OP_ATTR_FIELD_FLAGS, .flags = flags};
    wait_for(ucp_am_send_nbx(door, id, header, header_length, bytes, n, &param));
    wait_for(ucp_ep_flush_nbx(door, &(ucp_request_param_t){0}));
}

static void stranger_send(const void *bytes, size_t n)
{
    send_as(UCX_AM_ID, NULL, 0, bytes, n, UCP_AM_SEND_FLAG_EAGER);
}

// Pieces of long puts and gets: without the secret, of nobody, of no kind, of another length than they
// say, offered, without all of what goes before them, without a way back; and answers to what was never
// asked.
static void stranger_pieces(void)
{
    static const unsigned char bytes[64] = {1, 2, 3};
    const struct ucx_bulk good = {
        .secret = SECRET, .from = 1, .kind = UCX_BULK_PUT, .at = victim_heap, .n = sizeof bytes};
    struct ucx_bulk b[6] = {good, good, good, good, good, good};
    b[0].secret++;
    b[1].from = 1 << 30;
    b[2].kind = UCX_BULK_KINDS;
    b[3].n = sizeof bytes + 1;
    b[4].kind = UCX_BULK_GET; // has no data
    b[5].kind = UCX_BULK_DATA;
    for (int i = 0; i < 6; i++)
        send_as(UCX_AM_ID, &b[i], sizeof b[i], bytes, sizeof bytes,
                UCP_AM_SEND_FLAG_EAGER | (i < 5 ? UCP_AM_SEND_FLAG_REPLY : 0));
    send_as(UCX_AM_ID, &good, sizeof good, bytes, sizeof bytes,
            UCP_AM_SEND_FLAG_RNDV | UCP_AM_SEND_FLAG_REPLY);
    send_as(UCX_AM_ID, &good, sizeof good - 8, bytes, sizeof bytes,
            UCP_AM_SEND_FLAG_EAGER | UCP_AM_SEND_FLAG_REPLY);
    send_as(UCX_AM_ID, &good, sizeof good, NULL, 0,
            UCP_AM_SEND_FLAG_EAGER | UCP_AM_SEND_FLAG_REPLY);
    send_as(UCX_AM_ID, &good, sizeof good, bytes, sizeof bytes, UCP_AM_SEND_FLAG_EAGER);
    b[5].kind = UCX_BULK_ANSWER;
    for (b[5].op = 0; b[5].op < 512; b[5].op += 73)
        send_as(UCX_AM_ID, &b[5], sizeof b[5], NULL, 0, UCP_AM_SEND_FLAG_EAGER);
}

// Good messages by ways that ours do not take: with a header of UCX's, offered instead of sent, in
// many parts, under another number.
static void stranger_more(void)
{
    static struct {
        struct message_header header;
        unsigned char rest[1 << 20];
    } m = {{.secret = SECRET, .from = 1, .seq = 0, .length = 8, .kind = MESSAGE_USER}, {0}};
    size_t whole = sizeof m.header + 8;
    send_as(UCX_AM_ID, &m, whole, NULL, 0, UCP_AM_SEND_FLAG_EAGER);
    send_as(UCX_AM_ID, &m, 8, &m, whole, UCP_AM_SEND_FLAG_EAGER);
    send_as(UCX_AM_ID, NULL, 0, &m, whole, UCP_AM_SEND_FLAG_RNDV);
    send_as(UCX_AM_ID, NULL, 0, &m, sizeof m, UCP_AM_SEND_FLAG_RNDV);
    send_as(UCX_AM_ID, NULL, 0, &m, sizeof m, UCP_AM_SEND_FLAG_EAGER);
    send_as(UCX_AM_ID + 1, NULL, 0, &m, whole, UCP_AM_SEND_FLAG_EAGER);
    stranger_pieces();
}

static void stranger_close(void)
{
    ucp_request_param_t param = {.op_attr_mask = UCP_OP_ATTR_FIELD_FLAGS,
                                 .flags = UCP_EP_CLOSE_FLAG_FORCE};
    wait_for(ucp_ep_close_nbx(door, &param));
    ucp_worker_destroy(worker);
    ucp_cleanup(context);
}

// The address of UCX's listening socket is inside its worker's address; the owner can just look.
static void victim_prepare(void)
{
    for (int fd = 3; fd < 1024; fd++) {
        int listens = 0;
        socklen_t n = sizeof listens, length = sizeof(struct sockaddr_in);
        if (getsockopt(fd, SOL_SOCKET, SO_ACCEPTCONN, &listens, &n) == 0 && listens)
            CHECK(getsockname(fd, (struct sockaddr *)shared->key[0], &length) == 0);
    }
}

static void send_noise(const unsigned char *victim)
{
    (void)victim;
    connect_and_babble((struct sockaddr *)shared->key[0], sizeof(struct sockaddr_in), 4096);
}
