// SPDX-License-Identifier: BSD-3-Clause
// The module's table; opening and closing. See ofi.h.
#include "ofi.h"

#include <arpa/inet.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#define TRY(call)                                                           \
    do {                                                                    \
        long r_ = (call);                                                   \
        if (r_) {                                                           \
            ofi_log(ep, LOG_DEBUG, "%s: %s", #call, fi_strerror((int)-r_)); \
            return TRANSPORT_UNSUPPORTED;                                   \
        }                                                                   \
    } while (0)

static int open_endpoint(struct ofi_ep *ep)
{
    ofi_rxm_begin(&ep->job);
    int r = fi_endpoint(ep->domain, ep->info, &ep->ep, NULL);
    ofi_rxm_end();
    return r;
}

int ofi_objects_open(struct ofi_ep *ep)
{
    struct fi_av_attr av = {.type = ep->info->domain_attr->av_type};
    if (av.type == FI_AV_UNSPEC)
        av.type = FI_AV_TABLE;
    if (!ep->fabric)
        TRY(fi_fabric(ep->info->fabric_attr, &ep->fabric, NULL));
    TRY(fi_domain(ep->fabric, ep->info, &ep->domain, NULL));
    TRY(fi_av_open(ep->domain, &av, &ep->av, NULL));
    if (ofi_queue_open(ep))
        return TRANSPORT_UNSUPPORTED;
    TRY(open_endpoint(ep));
    TRY(fi_ep_bind(ep->ep, &ep->av->fid, 0));
    TRY(fi_ep_bind(ep->ep, &ep->cq->fid, FI_TRANSMIT | FI_RECV));
    TRY(fi_enable(ep->ep));
    return 0;
}

int ofi_ops_open(struct ofi_ep *ep)
{
    ep->op_count = ep->parent ? OFI_LANE_OPS : OFI_OPS + OFI_RECEIVES;
    ep->ops = calloc((size_t)ep->op_count, ofi_op_size(ep));
    if (!ep->ops)
        return TRANSPORT_FAILED;
    for (int i = ep->op_count - 1; i >= 0; i--) {
        ofi_op_at(ep, i)->next = ep->free_ops;
        ep->free_ops = ofi_op_at(ep, i);
    }
    size_t size = (size_t)ep->op_count * ofi_op_size(ep);
    if (ep->local_registration &&
        ofi_mr_open(ep, ep->ops, size, FI_SEND | FI_RECV | FI_READ | FI_WRITE, &ep->ops_mr))
        return TRANSPORT_FAILED;
    return ep->parent ? 0 : ofi_receives_post(ep);
}

int ofi_regions_open(struct ofi_ep *ep, uint64_t access)
{
    for (int i = 0; i < TRANSPORT_REGIONS_FIXED; i++)
        if (ep->job.region[i].size &&
            ofi_mr_open(ep, ep->job.region[i].base, ep->job.region[i].size, access,
                        &ep->region_mr[i]))
            return TRANSPORT_FAILED;
    return 0;
}

static void state_facts(struct ofi_ep *ep, struct transport_facts *facts)
{
    const struct ofi_profile *profile = ofi_profile(ep->info->fabric_attr->prov_name);
    *facts = (struct transport_facts){
        .name = "ofi",
        .provider = ep->info->fabric_attr->prov_name,
        .rma_needs_target = profile->rma_needs_target,
        .amo_coherent_with_cpu = profile->coherent,
        .has_wait_fd = ep->wait_fd >= 0,
        .silent_progress = strcmp(ep->info->fabric_attr->prov_name, "sockets") == 0,
        .inject_max = PUT_COPIED_MAX,
        .am_max = ep->am_max,
        .am_soon = ofi_rxm_soon(ep->info->fabric_attr->prov_name),
        .address_size = sizeof(struct ofi_blob),
        .key_size = sizeof(struct ofi_key),
        .chain_put_max = ep->chunk_max,
    };
    int family = 0;
    const uint8_t *ip = ofi_ip(ep->info, &family);
    if (!ip || !inet_ntop(family, ip, facts->interface, sizeof facts->interface))
        facts->interface[0] = '\0';
    ofi_amo_query(ep, facts);
    facts->chain_max = ofi_chain_max(ep);
}

// Closes what is there, in the reverse order of ofi_objects_open. A lane has its parent's fabric and
// table of addresses.
void ofi_free(struct ofi_ep *ep)
{
    ofi_chains_close(ep);
    struct fid *fids[] = {
        ep->ep ? &ep->ep->fid : NULL,
        ep->ops_mr ? &ep->ops_mr->fid : NULL,
        ep->region_mr[TRANSPORT_DATA] ? &ep->region_mr[TRANSPORT_DATA]->fid : NULL,
        ep->region_mr[TRANSPORT_HEAP] ? &ep->region_mr[TRANSPORT_HEAP]->fid : NULL,
        ep->cq ? &ep->cq->fid : NULL,
        ep->av ? &ep->av->fid : NULL,
        ep->domain ? &ep->domain->fid : NULL,
        ep->fabric && !ep->parent ? &ep->fabric->fid : NULL,
    };
    for (size_t i = 0; i < ARRAY_LEN(fids); i++)
        if (fids[i] && fi_close(fids[i]))
            ofi_log(ep, LOG_DEBUG, "closing object %zu failed", i);
    if (ep->info)
        fi_freeinfo(ep->info);
    if (ep->owns_fds) {
        close(ep->wait_fd);
        close(ep->unread_fd);
    }
    ofi_peers_free(ep);
    free(ep->ops);
    ofi_imports_free(ep);
    free(ep->peer);
    if (!ep->parent)
        free(ep->blob);
    pthread_mutex_destroy(&ep->lock);
    free(ep);
}

static struct ofi_ep *new_ep(const struct transport_job *job)
{
    struct ofi_ep *ep = calloc(1, sizeof *ep);
    if (!ep)
        return NULL;
    ep->job = *job;
    ep->wait_fd = -1;
    ofi_messages_open(ep);
    pthread_mutex_init(&ep->lock, NULL);
    ep->blob = calloc((size_t)job->npes, sizeof *ep->blob);
    ep->peer = calloc((size_t)job->npes, sizeof *ep->peer);
    if (ep->blob && ep->peer)
        return ep;
    ofi_free(ep);
    return NULL;
}

static int ofi_open(const struct transport_job *job, struct transport_facts *facts, void **result)
{
    struct ofi_ep *ep = new_ep(job);
    if (!ep)
        return TRANSPORT_FAILED;
    int status = TRANSPORT_UNSUPPORTED;
    ep->info = ofi_choose(job);
    if (!ep->info)
        goto err_free;
    uint64_t mode = (uint64_t)ep->info->domain_attr->mr_mode;
    ep->address_is_virtual = mode & FI_MR_VIRT_ADDR;
    ep->local_registration = HOSTILE || mode & FI_MR_LOCAL;
    ep->coherent = ofi_profile(ep->info->fabric_attr->prov_name)->coherent;
    ep->am_max = ofi_rxm_most(ep->info->fabric_attr->prov_name);
    ep->chunk_max = ep->info->ep_attr->max_msg_size;
    if (OFI_CHUNK_MAX && ep->chunk_max > OFI_CHUNK_MAX)
        ep->chunk_max = OFI_CHUNK_MAX;
    if (ep->info->ep_attr->max_msg_size < ofi_data_size(ep))
        goto err_free;
    if ((status = ofi_objects_open(ep)) || (status = ofi_ops_open(ep)) ||
        (status = ofi_regions_open(ep, FI_READ | FI_WRITE | FI_REMOTE_READ | FI_REMOTE_WRITE)))
        goto err_free;
    state_facts(ep, facts);
    *result = ep;
    return 0;

err_free:
    ofi_free(ep);
    return status;
}

// What is under way gets a last chance; a peer that is gone must not keep us.
static void ofi_close(void *ep_)
{
    struct ofi_ep *ep = ep_;
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    time_t until = t.tv_sec + 5;
    while ((ep->pending || ep->sends) && t.tv_sec < until) {
        ofi_progress(ep);
        clock_gettime(CLOCK_MONOTONIC, &t);
    }
    ofi_lanes_close(ep);
    ofi_free(ep);
}

const struct transport transport_ofi = {
    .open = ofi_open,
    .close = ofi_close,
    .address = ofi_address,
    .connect = ofi_connect,
    .region_register = ofi_region_register,
    .region_deregister = ofi_region_deregister,
    .region_import = ofi_region_import,
    .region_release = ofi_region_release,
    .ctx_create = ofi_ctx_create,
    .ctx_destroy = ofi_ctx_destroy,
    .put = ofi_put,
    .get = ofi_get,
    .amo = ofi_amo,
    .am = ofi_am,
    .fence = ofi_flush,
    .flush = ofi_flush,
    .progress = ofi_progress,
    .progress_ctx = ofi_progress_ctx,
    .wait_fd = ofi_wait_fd,
    .arm = ofi_arm,
    .chain = ofi_chain,
};

// What the runtime looks up in the module.
extern const struct transport shoal_transport_ofi PUBLIC __attribute__((alias("transport_ofi")));
