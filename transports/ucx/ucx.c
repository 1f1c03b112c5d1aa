// SPDX-License-Identifier: BSD-3-Clause
// The module's table; opening and closing. See ucx.h.
#include "ucx.h"

#include <net/if.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

static int said(const struct transport_job *job, const char *what, ucs_status_t status)
{
    if (status == UCS_OK)
        return 0;
    job_log(job, "ucx", LOG_DEBUG, "%s: %s", what, ucs_status_string(status));
    return TRANSPORT_UNSUPPORTED;
}

static bool is_before(unsigned wanted_minor)
{
    unsigned major, minor, release;
    ucp_get_version(&major, &minor, &release);
    return major == 1 && minor < wanted_minor;
}

// name: without the transport's, which UCX wants before 1.17.
static void set_tcp(const struct transport_job *job, ucp_config_t *config, const char *name,
                    const char *value)
{
    char whole[32], variable[40];
    snprintf(whole, sizeof whole, "TCP_%s", name);
    snprintf(variable, sizeof variable, "UCX_%s", whole);
    if (!getenv(variable))
        said(job, variable, ucp_config_modify(config, is_before(17) ? name : whole, value));
}

// A put of UCX's over tcp is cut into segments that are answered one by one, ours into pieces of one (ucx_bulk.c),
// and the receiver takes in so much at a time: with 512 KB it is twice as fast as with 64, and five times as
// with UCX's 8. And nobody waits in connect(), holding our lock. (TCP_SYN_CNT, for hosts that do not answer,
// cannot be set: UCX stores it over the next setting.)
static void configure_tcp(const struct transport_job *job, ucp_config_t *config)
{
    set_tcp(job, config, "TX_SEG_SIZE", "512k");
    set_tcp(job, config, "RX_SEG_SIZE", "512k");
    set_tcp(job, config, "CONN_NB", "y");
}

// Its 1.20 finds no way over loopback.
static bool is_cut_off(const struct ucx_ep *ep)
{
    return is_before(21) && !is_before(20) &&
           (strncmp(ep->address, "127.", 4) == 0 || strcmp(ep->address, "::1") == 0);
}

// What the user asked for in UCX_* stays, but for this: SHOAL_INTERFACE is obeyed, and atomics are
// done by processors, because the runtime's own are and must mix with them. Unless the user names
// transports UCX keeps to networks: within a node it has nothing to do.
static int configure(struct ucx_ep *ep, ucp_config_t *config)
{
    const struct transport_job *job = &ep->job;
    char devices[256];
    if (!ucx_choose(job, devices, sizeof devices, ep->address))
        return TRANSPORT_UNSUPPORTED;
    if (is_cut_off(ep)) {
        job_log(job, "ucx", LOG_DEBUG, "UCX %s has no tcp over loopback", ucp_get_version_string());
        return TRANSPORT_UNSUPPORTED;
    }
    if (devices[0] && said(job, devices, ucp_config_modify(config, "NET_DEVICES", devices)))
        return TRANSPORT_UNSUPPORTED;
    if (!getenv("UCX_TLS")) {
        said(job, "UCX_TLS", ucp_config_modify(config, "TLS", "^posix,sysv,cma,self"));
        ep->is_tcp = if_nametoindex(devices);
        if (ep->is_tcp)
            configure_tcp(job, config);
    }
    job_log(job, "ucx", LOG_DEBUG, "UCX %s on %s", ucp_get_version_string(),
            devices[0] ? devices : "the devices it chooses");
    return said(job, "UCX_ATOMIC_MODE", ucp_config_modify(config, "ATOMIC_MODE", "cpu"));
}

static int open_context(struct ucx_ep *ep)
{
    ucp_params_t params = {.field_mask = UCP_PARAM_FIELD_FEATURES |
                                         UCP_PARAM_FIELD_ESTIMATED_NUM_EPS |
                                         UCP_PARAM_FIELD_MT_WORKERS_SHARED,
                           .features = UCP_FEATURE_RMA | UCP_FEATURE_AMO32 | UCP_FEATURE_AMO64 |
                                       UCP_FEATURE_AM | UCP_FEATURE_WAKEUP,
                           .estimated_num_eps = (size_t)ep->job.npes,
                           .mt_workers_shared = ep->job.ctx_endpoints > 0};
    ucp_config_t *config;
    if (said(&ep->job, "reading UCX_*", ucp_config_read(NULL, NULL, &config)))
        return TRANSPORT_UNSUPPORTED;
    int status = configure(ep, config);
    if (status == 0)
        status = said(&ep->job, "ucp_init", ucp_init(&params, config, &ep->context));
    ucp_config_release(config);
    return status;
}

int ucx_worker_open(struct ucx_ep *ep)
{
    ucp_worker_params_t params = {.field_mask = UCP_WORKER_PARAM_FIELD_THREAD_MODE,
                                  .thread_mode = UCS_THREAD_MODE_SERIALIZED};
    if (said(&ep->job, "ucp_worker_create", ucp_worker_create(ep->context, &params, &ep->worker)) ||
        said(&ep->job, "ucp_worker_get_efd", ucp_worker_get_efd(ep->worker, &ep->fd)) ||
        said(&ep->job, "active messages", ucx_messages_listen(ep)))
        return TRANSPORT_UNSUPPORTED;
    return 0;
}

static int open_regions(struct ucx_ep *ep)
{
    for (int i = 0; i < TRANSPORT_REGIONS_FIXED; i++)
        if (ep->job.region[i].size &&
            ucx_map(ep, ep->job.region[i].base, ep->job.region[i].size, &ep->memory[i]))
            return TRANSPORT_FAILED;
    return 0;
}

// UCX 1.16 chooses its protocols by another mechanism, which was there for those who asked for it before. It has
// none for atomics where connections tell of lost peers, as ours do; the runtime makes them of messages.
static bool has_atomics(void)
{
    return is_before(16) && !getenv("UCX_PROTO_ENABLE");
}

static void state_facts(const struct ucx_ep *ep, struct transport_facts *facts)
{
    *facts = (struct transport_facts){
        .name = "ucx",
        .rma_needs_target = ep->is_tcp,
        .amo_coherent_with_cpu = true,
        .has_wait_fd = true,
        .inject_max = PUT_COPIED_MAX,
        .put_by_message = ep->is_tcp ? PUT_COPIED_MAX : 0, // a flush there has a message of its own
        .am_max = MESSAGE_SOON,
        .am_soon = MESSAGE_SOON,
        .address_size = sizeof(struct ucx_blob),
        .key_size = sizeof(struct ucx_key),
    };
    _Static_assert(sizeof facts->interface == sizeof ep->address, "an address fits");
    memcpy(facts->interface, ep->address, sizeof ep->address);
    for (int op = 0; op < TRANSPORT_OP_COUNT && has_atomics(); op++)
        for (int width = 0; width < TRANSPORT_WIDTH_COUNT; width++)
            facts->amo[op][width] = true;
}

// In the reverse order of opening. A lane has its parent's context and table of addresses.
static void free_ep(struct ucx_ep *ep)
{
    for (int i = 0; i < TRANSPORT_REGIONS_FIXED; i++)
        if (ep->memory[i])
            ucp_mem_unmap(ep->context, ep->memory[i]);
    if (ep->worker)
        ucp_worker_destroy(ep->worker);
    if (ep->context && !ep->parent)
        ucp_cleanup(ep->context);
    ucx_peers_free(ep);
    ucx_imports_free(ep);
    free(ep->ops);
    free(ep->peer);
    if (!ep->parent)
        free(ep->blob);
    pthread_mutex_destroy(&ep->lock);
    free(ep);
}

int ucx_ops_open(struct ucx_ep *ep)
{
    ep->op_count = ep->parent ? UCX_LANE_OPS : UCX_OPS;
    ep->peer = calloc((size_t)ep->job.npes, sizeof *ep->peer);
    ep->ops = calloc((size_t)ep->op_count, sizeof *ep->ops);
    for (int i = ep->op_count - 1; ep->ops && i >= 0; i--) {
        ep->ops[i].ep = ep;
        ucx_op_give(ep, &ep->ops[i]);
    }
    return ep->peer && ep->ops ? 0 : TRANSPORT_FAILED;
}

static struct ucx_ep *new_ep(const struct transport_job *job)
{
    struct ucx_ep *ep = calloc(1, sizeof *ep);
    if (!ep)
        return NULL;
    ep->job = *job;
    ucx_messages_open(ep);
    pthread_mutex_init(&ep->lock, NULL);
    ep->blob = calloc((size_t)job->npes, sizeof *ep->blob);
    if (ep->blob && !ucx_ops_open(ep))
        return ep;
    free_ep(ep);
    return NULL;
}

static int ucx_open(const struct transport_job *job, struct transport_facts *facts, void **result)
{
    struct ucx_ep *ep = new_ep(job);
    if (!ep)
        return TRANSPORT_FAILED;
    int status = open_context(ep);
    if (status == 0)
        status = ucx_worker_open(ep);
    if (status == 0)
        status = open_regions(ep);
    if (status) {
        free_ep(ep);
        return status;
    }
    state_facts(ep, facts);
    *result = ep;
    return 0;
}

static void flushed(void *request, ucs_status_t status, void *ep)
{
    (void)status;
    ((struct ucx_ep *)ep)->closings--;
    ucp_request_free(request);
}

// What left UCX's calls is on the wire.
static void flush_worker(struct ucx_ep *ep)
{
    ucp_request_param_t param = {.op_attr_mask = UCP_OP_ATTR_FIELD_CALLBACK |
                                                 UCP_OP_ATTR_FIELD_USER_DATA,
                                 .cb.send = flushed,
                                 .user_data = ep};
    if (UCS_PTR_IS_PTR(ucp_worker_flush_nbx(ep->worker, &param)))
        ep->closings++;
}

static time_t seconds(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return t.tv_sec;
}

// A peer that is gone must not keep us.
void ucx_end(struct ucx_ep *ep)
{
    time_t until = seconds() + 5;
    if (ep->worker)
        flush_worker(ep);
    while ((ep->pending || ep->sends || ep->closings) && seconds() < until)
        ucx_progress(ep);
    for (int pe = 0; ep->peer && pe < ep->job.npes; pe++)
        if (ep->peer[pe])
            ucx_peer_close(ep, ep->peer[pe]);
    while (ep->closings && seconds() < until)
        ucp_worker_progress(ep->worker);
    free_ep(ep);
}

static void ucx_close(void *ep)
{
    ucx_lanes_close(ep);
    ucx_end(ep);
}

const struct transport transport_ucx = {
    .open = ucx_open,
    .close = ucx_close,
    .address = ucx_address,
    .connect = ucx_connect,
    .region_register = ucx_region_register,
    .region_deregister = ucx_region_deregister,
    .region_import = ucx_region_import,
    .region_release = ucx_region_release,
    .ctx_create = ucx_ctx_create,
    .ctx_destroy = ucx_ctx_destroy,
    .put = ucx_put,
    .get = ucx_get,
    .amo = ucx_amo,
    .am = ucx_am,
    .fence = ucx_flush,
    .flush = ucx_flush,
    .progress = ucx_progress,
    .progress_ctx = ucx_progress_ctx,
    .wait_fd = ucx_wait_fd,
    .arm = ucx_arm,
};

// What the runtime looks up in the module.
extern const struct transport shoal_transport_ucx PUBLIC __attribute__((alias("transport_ucx")));
