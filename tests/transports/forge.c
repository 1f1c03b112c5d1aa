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
static struct ofi_blob victim; // its address

// One whose libfabric would refuse ours, and be asked for ever.
static void meet_other_version(void)
{
    struct ofi_blob other = victim;
    int lines = log_lines;
    other.soon++;
    other.seal = job_seal(&other, sizeof other);
    CHECK(t->connect(ep, 0, &other) < 0);
    CHECK(log_lines == lines + 1);
    log_lines = lines;
}

static void stranger_open(const unsigned char *address)
{
    struct fi_info *hints = fi_allocinfo();
    struct fi_cq_attr cq = {.format = FI_CQ_FORMAT_MSG};
    struct fi_av_attr av = {.type = FI_AV_TABLE};
    memmove(&victim, address, sizeof victim);
    setenv("FI_OFI_RXM_EAGER_LIMIT", OFI_RXM_EAGER, 1); // as the others have it
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

static void stranger_close(void)
{
    fi_close(&s.ep->fid);
    fi_close(&s.cq->fid);
    fi_close(&s.av->fid);
    fi_close(&s.domain->fid);
    fi_close(&s.fabric->fid);
    fi_freeinfo(s.info);
}

// A put and a get with a key that differs from the right one in a bit: nothing is written, nothing is
// told.
static void use_wrong_key(void)
{
    static uint64_t words[2] = {UINT64_C(0x4242424242424242), 7};
    struct fi_context2 context[2];
    struct fi_cq_msg_entry entry;
    struct fi_cq_err_entry error = {0};
    uint64_t key = victim.region[TRANSPORT_HEAP].key ^ 4, at = victim.region[TRANSPORT_HEAP].start;
    int ended = 0;
    for (int i = 0; i < 2; i++) {
        long r;
        do {
            r = i ? fi_read(s.ep, &words[1], 8, NULL, s.victim, at, key, &context[i])
                  : fi_write(s.ep, &words[0], 8, NULL, s.victim, at, key, &context[i]);
            if (r == -FI_EAGAIN)
                fi_cq_read(s.cq, &entry, 0);
            step();
        } while (r == -FI_EAGAIN);
        ended += r != 0;
    }
    for (double end = now() + 5; ended < 2 && now() < end; step()) { // or never: that is well too
        long r = fi_cq_read(s.cq, &entry, 1);
        if (r == -FI_EAVAIL)
            fi_cq_readerr(s.cq, &error, 0);
        ended += r == 1 || r == -FI_EAVAIL;
    }
    CHECK(words[1] == 7);
}

// From an endpoint of its own: the other one's connection may have ended with its last message.
static void stranger_more(void)
{
    meet_other_version();
    stranger_close();
    stranger_open((const unsigned char *)&victim);
    use_wrong_key();
}

static void victim_prepare(void)
{
}

static void send_noise(const unsigned char *address)
{
    struct sockaddr_storage to;
    (void)address;
    memcpy(&to, victim.name, victim.name_length);
    // The provider "sockets" believes a length it reads from anybody and sets that much memory.
    connect_and_babble((struct sockaddr *)&to, victim.name_length,
                       strcmp(job.provider, "sockets") ? 4096 : 1);
}
