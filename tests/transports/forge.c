// SPDX-License-Identifier: BSD-3-Clause
// EACH: tcp;ofi_rxm net;ofi_rxm sockets
// TIMEOUT: 170
// Strangers at the door of a libfabric endpoint; see forge.h.
#include "forge.h"

#include "ofi/ofi.h"

#include <netinet/in.h>

static struct stranger {
    struct fi_info *info;
    struct fid_fabric *fabric;
    struct fid_domain *domain;
    struct fid_av *av;
    struct fid_cq *cq;
    struct fid_ep *ep;
    fi_addr_t victim;
} s;

static void stranger_open(const unsigned char *address)
{
    struct ofi_blob victim;
    struct fi_info *hints = fi_allocinfo();
    struct fi_cq_attr cq = {.format = FI_CQ_FORMAT_MSG};
    struct fi_av_attr av = {.type = FI_AV_TABLE};
    memcpy(&victim, address, sizeof victim);
    hints->caps = FI_MSG | FI_RMA;
    hints->mode = FI_CONTEXT | FI_CONTEXT2;
    hints->ep_attr->type = FI_EP_RDM;
    hints->fabric_attr->prov_name = strdup(job.provider);
    hints->addr_format = victim.name_length == sizeof(struct sockaddr_in) ? FI_SOCKADDR_IN
                                                                          : FI_SOCKADDR_IN6;
    if (fi_getinfo(FI_VERSION(1, 17), NULL, NULL, 0, hints, &s.info) ||
        fi_fabric(s.info->fabric_attr, &s.fabric, NULL) ||
        fi_domain(s.fabric, s.info, &s.domain, NULL) || fi_av_open(s.domain, &av, &s.av, NULL) ||
        fi_cq_open(s.domain, &cq, &s.cq, NULL) || fi_endpoint(s.domain, s.info, &s.ep, NULL) ||
        fi_ep_bind(s.ep, &s.av->fid, 0) || fi_ep_bind(s.ep, &s.cq->fid, FI_TRANSMIT | FI_RECV) ||
        fi_enable(s.ep) || fi_av_insert(s.av, victim.name, 1, &s.victim, 0, NULL) != 1)
        CHECK(!"a stranger's endpoint");
    fi_freeinfo(hints);
}

// The one that is too long may end the stranger's connection.
static void stranger_send(const void *bytes, size_t n)
{
    bool must_arrive = n <= MESSAGE_BYTES;
    struct fi_context2 context;
    struct fi_cq_msg_entry entry;
    long r;
    do {
        r = fi_send(s.ep, bytes, n, NULL, s.victim, &context);
        if (r == -FI_EAGAIN)
            fi_cq_read(s.cq, &entry, 0);
        step();
    } while (r == -FI_EAGAIN);
    CHECK(r == 0);
    while ((r = fi_cq_read(s.cq, &entry, 1)) == -FI_EAGAIN)
        step();
    if (r == -FI_EAVAIL) {
        struct fi_cq_err_entry error = {0};
        fi_cq_readerr(s.cq, &error, 0);
    }
    CHECK(r == 1 || !must_arrive);
}

static void stranger_more(void)
{
}

static void stranger_close(void)
{
    fi_close(&s.ep->fid);
    fi_close(&s.cq->fid);
    fi_close(&s.av->fid);
    fi_close(&s.domain->fid);
    fi_close(&s.fabric->fid);
    fi_freeinfo(s.info);
}

static void victim_prepare(void)
{
}

static void send_noise(const unsigned char *address)
{
    struct ofi_blob victim;
    struct sockaddr_storage to;
    memcpy(&victim, address, sizeof victim);
    memcpy(&to, victim.name, victim.name_length);
    // The provider "sockets" believes a length it reads from anybody and sets that much memory.
    connect_and_babble((struct sockaddr *)&to, victim.name_length,
                       strcmp(job.provider, "sockets") ? 4096 : 1);
}
