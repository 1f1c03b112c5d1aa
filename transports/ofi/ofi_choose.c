// SPDX-License-Identifier: BSD-3-Clause
// Which provider and which interface: fi_getinfo lists one entry for each pair, in no useful order.
#include "ofi.h"
#include "subnet.h"

#include <netinet/in.h>
#include <string.h>

// In order of preference. What a provider is not asked about is known only from its documentation.
static const struct ofi_profile profiles[] = {
    {"cxi", false, false},
    {"verbs;ofi_rxm", false, true},
    {"efa", true, false},
    {"opx", true, false},
    {"psm3", true, false},
    {"tcp;ofi_rxm", true, true},
    {"net;ofi_rxm", true, true},
    {"sockets", true, true},
};
static const struct ofi_profile unknown = {"", true, false};

const struct ofi_profile *ofi_profile(const char *provider)
{
    for (size_t i = 0; i < ARRAY_LEN(profiles); i++)
        if (strcmp(provider, profiles[i].provider) == 0)
            return &profiles[i];
    return &unknown;
}

// The place in the table; -1: a provider nobody vouches for, taken only when it is named.
static int preference(const char *provider)
{
    const struct ofi_profile *p = ofi_profile(provider);
    return p == &unknown ? -1 : (int)(p - profiles);
}

const uint8_t *ofi_ip(const struct fi_info *info, int *family)
{
    if (!info->src_addr)
        return NULL;
    const struct sockaddr *sa = info->src_addr;
    *family = sa->sa_family;
    if (info->addr_format == FI_SOCKADDR_IN ||
        (info->addr_format == FI_SOCKADDR && sa->sa_family == AF_INET))
        return (const uint8_t *)&((const struct sockaddr_in *)info->src_addr)->sin_addr;
    if (info->addr_format == FI_SOCKADDR_IN6 ||
        (info->addr_format == FI_SOCKADDR && sa->sa_family == AF_INET6))
        return (const uint8_t *)&((const struct sockaddr_in6 *)info->src_addr)->sin6_addr;
    return NULL;
}

// 0 best: IPv4, IPv6, no internet address at all, loopback, link-local.
static int address_rank(const struct fi_info *info)
{
    int family = 0;
    const uint8_t *ip = ofi_ip(info, &family);
    static const uint8_t loopback6[16] = {[15] = 1};
    if (!ip)
        return 2;
    if (family == AF_INET)
        return ip[0] == 127 ? 3 : ip[0] == 169 && ip[1] == 254 ? 4 : 0;
    if (memcmp(ip, loopback6, 16) == 0)
        return 3;
    return ip[0] == 0xfe && (ip[1] & 0xc0) == 0x80 ? 4 : 1;
}

static bool in_subnet(const struct fi_info *info, const char *text)
{
    int family = 0;
    const uint8_t *ip = ofi_ip(info, &family);
    return ip && subnet_holds(text, family, ip);
}

static bool on_interface(const struct fi_info *info, const char *name)
{
    return !name || strcmp(info->domain_attr->name, name) == 0 ||
           strcmp(info->fabric_attr->name, name) == 0 || in_subnet(info, name);
}

static struct fi_info *hints_new(const char *provider, uint64_t more)
{
    struct fi_info *hints = fi_allocinfo();
    if (!hints)
        return NULL;
    hints->caps = FI_MSG | FI_RMA | ofi_rxm_caps() | more;
    hints->mode = FI_CONTEXT | FI_CONTEXT2;
    hints->ep_attr->type = FI_EP_RDM;
    hints->tx_attr->op_flags = FI_DELIVERY_COMPLETE;
    hints->domain_attr->threading = FI_THREAD_DOMAIN;
    hints->domain_attr->resource_mgmt = FI_RM_ENABLED;
    hints->domain_attr->mr_mode = FI_MR_VIRT_ADDR | FI_MR_ALLOCATED | FI_MR_PROV_KEY |
                                  FI_MR_ENDPOINT | FI_MR_LOCAL | FI_MR_RMA_EVENT;
    if (provider)
        hints->fabric_attr->prov_name = strdup(provider);
    return hints;
}

static struct fi_info *list(const struct transport_job *job, uint64_t more)
{
    struct fi_info *hints = hints_new(job->provider, more), *all = NULL;
    if (!hints)
        return NULL;
    ofi_rxm_begin(job);
    int r = fi_getinfo(FI_VERSION(1, 17), NULL, NULL, 0, hints, &all);
    ofi_rxm_end();
    fi_freeinfo(hints);
    if (r)
        job_log(job, "ofi", LOG_DEBUG, "libfabric has no %s%s: %s",
                job->provider ? job->provider : "provider that serves",
                more & FI_TRIGGER ? " with deferred work"
                : more            ? " with atomics"
                                  : "",
                fi_strerror(-r));
    return r ? NULL : all;
}

static struct fi_info *best(const struct transport_job *job, struct fi_info *all)
{
    struct fi_info *chosen = NULL;
    int chosen_rank = 0;
    for (struct fi_info *info = all; info; info = info->next) {
        int rank = preference(info->fabric_attr->prov_name);
        if (rank < 0 && !job->provider)
            continue;
        rank = rank * 8 + address_rank(info);
        if (on_interface(info, job->interface) && (!chosen || rank < chosen_rank)) {
            chosen = info;
            chosen_rank = rank;
        }
    }
    return chosen;
}

struct fi_info *ofi_choose(const struct transport_job *job)
{
    // Not unless it was named: what takes deferred work need not be the best in the rest.
    bool asks_more = job->provider && job->wants_chains;
    struct fi_info *all = asks_more ? list(job, FI_ATOMIC | FI_TRIGGER) : NULL;
    if (!all)
        all = list(job, FI_ATOMIC);
    if (!all)
        all = list(job, 0); // atomics are emulated then
    if (!all)
        return NULL;
    struct fi_info *info = best(job, all);
    if (info)
        info = fi_dupinfo(info);
    else
        job_log(job, "ofi", LOG_DEBUG, "libfabric has nothing on %s",
                job->interface ? job->interface : "any interface");
    fi_freeinfo(all);
    if (!info)
        return NULL;
    // Its progress thread wakes on every byte and takes the processor from the program.
    if (strcmp(info->fabric_attr->prov_name, "sockets") == 0)
        info->domain_attr->data_progress = info->domain_attr->control_progress = FI_PROGRESS_MANUAL;
    job_log(job, "ofi", LOG_DEBUG, "provider %s on %s (%s)", info->fabric_attr->prov_name,
            info->domain_attr->name, info->fabric_attr->name);
    return info;
}
