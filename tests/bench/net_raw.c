// SPDX-License-Identifier: BSD-3-Clause
// PES: none
// What libfabric itself takes (net_raw.h), by the provider that Shoal takes.
#include "net_raw.h"

#include <rdma/fabric.h>
#include <rdma/fi_atomic.h>
#include <rdma/fi_cm.h>
#include <rdma/fi_domain.h>
#include <rdma/fi_endpoint.h>
#include <rdma/fi_errno.h>
#include <rdma/fi_rma.h>

enum { NAME = 64 };

struct side {
    char name[NAME];
    size_t name_length;
    uint64_t key, start;
};

static struct fi_info *info;
static struct fid_domain *domain;
static struct fid_cq *cq;
static struct fid_ep *ep;
static struct fid_mr *mr;
static struct fid_av *av;
static fi_addr_t peer;
static uint64_t peer_start, peer_key;

static void must(long r, const char *what)
{
    if (r) {
        fprintf(stderr, "net_raw: %s: %s\n", what, fi_strerror((int)-r));
        exit(1);
    }
}

// NULL: there is none, as it has said.
static struct fi_info *choose(const char *address)
{
    const char *wanted = getenv("SHOAL_OFI_PROVIDER");
    const char *provider = wanted && *wanted ? wanted : "tcp;ofi_rxm";
    struct fi_info *hints = fi_allocinfo(), *all;
    hints->caps = FI_MSG | FI_RMA | FI_ATOMIC;
    hints->mode = FI_CONTEXT | FI_CONTEXT2;
    hints->ep_attr->type = FI_EP_RDM;
    hints->domain_attr->threading = FI_THREAD_DOMAIN;
    hints->domain_attr->mr_mode = FI_MR_VIRT_ADDR | FI_MR_ALLOCATED | FI_MR_PROV_KEY |
                                  FI_MR_ENDPOINT | FI_MR_LOCAL;
    hints->fabric_attr->prov_name = strdup(provider);
    int r = fi_getinfo(FI_VERSION(1, 17), address, NULL, FI_SOURCE, hints, &all);
    if (r) {
        printf("libfabric has no %s at %s: %s\n", provider, address, fi_strerror(-r));
        return NULL;
    }
    if (strcmp(provider, "sockets") == 0) // as Shoal does
        all->domain_attr->data_progress = all->domain_attr->control_progress = FI_PROGRESS_MANUAL;
    return all;
}

static bool raw_works(const char *address)
{
    struct fi_info *found = choose(address);
    if (found)
        fi_freeinfo(found);
    return found;
}

static size_t raw_open(const char *address, void *card)
{
    info = choose(address);
    struct fid_fabric *fabric;
    struct fi_cq_attr queue = {.size = 1024, .format = FI_CQ_FORMAT_MSG, .wait_obj = FI_WAIT_NONE};
    struct fi_av_attr vector = {.type = info->domain_attr->av_type};
    int mode = info->domain_attr->mr_mode;
    must(fi_fabric(info->fabric_attr, &fabric, NULL), "fi_fabric");
    must(fi_domain(fabric, info, &domain, NULL), "fi_domain");
    must(fi_av_open(domain, &vector, &av, NULL), "fi_av_open");
    must(fi_cq_open(domain, &queue, &cq, NULL), "fi_cq_open");
    must(fi_endpoint(domain, info, &ep, NULL), "fi_endpoint");
    must(fi_ep_bind(ep, &av->fid, 0), "fi_ep_bind");
    must(fi_ep_bind(ep, &cq->fid, FI_TRANSMIT | FI_RECV), "fi_ep_bind");
    must(fi_enable(ep), "fi_enable");
    must(fi_mr_reg(domain, memory, 2 * LARGE,
                   FI_SEND | FI_RECV | FI_READ | FI_WRITE | FI_REMOTE_READ | FI_REMOTE_WRITE, 0, 1,
                   0, &mr, NULL),
         "fi_mr_reg");
    if (mode & FI_MR_ENDPOINT) {
        must(fi_mr_bind(mr, &ep->fid, 0), "fi_mr_bind");
        must(fi_mr_enable(mr), "fi_mr_enable");
    }
    struct side *own = card;
    own->name_length = NAME;
    must(fi_getname(&ep->fid, own->name, &own->name_length), "fi_getname");
    own->key = fi_mr_key(mr);
    own->start = mode & FI_MR_VIRT_ADDR ? (uintptr_t)memory : 0;
    return sizeof *own;
}

static void raw_connect(const void *card)
{
    const struct side *other = card;
    must(fi_av_insert(av, other->name, 1, &peer, 0, NULL) != 1, "fi_av_insert");
    peer_start = other->start;
    peer_key = other->key;
}

// One completion, or none yet.
static long poll_once(void)
{
    struct fi_cq_msg_entry entry[16];
    long r = fi_cq_read(cq, entry, 16);
    if (r < 0 && r != -FI_EAGAIN)
        must(r, "fi_cq_read");
    return r < 0 ? 0 : r;
}

static void complete(long n)
{
    while (n > 0)
        n -= poll_once();
}

// Makes the call until it is taken.
#define POST(call)                          \
    do {                                    \
        long r_;                            \
        while ((r_ = (call)) == -FI_EAGAIN) \
            poll_once();                    \
        must(r_, #call);                    \
    } while (0)

static struct fi_context2 context[WINDOW];

static void post_write(size_t n, int slot)
{
    void *desc = fi_mr_desc(mr);
    struct iovec local = {memory + LARGE, n};
    struct fi_rma_iov remote = {peer_start, n, peer_key};
    struct fi_msg_rma msg = {.msg_iov = &local,
                             .desc = &desc,
                             .iov_count = 1,
                             .addr = peer,
                             .rma_iov = &remote,
                             .rma_iov_count = 1,
                             .context = &context[slot]};
    POST(fi_writemsg(ep, &msg, FI_COMPLETION | FI_DELIVERY_COMPLETE));
}

static void raw_poll(void)
{
    poll_once();
}

static void raw_put(size_t n)
{
    post_write(n, 0);
    complete(1);
}

static void raw_get(void)
{
    POST(fi_read(ep, memory + LARGE, 8, fi_mr_desc(mr), peer, peer_start, peer_key, context));
    complete(1);
}

static void raw_fetch_add(void)
{
    static uint64_t one = 1;
    uint64_t *old = (uint64_t *)(memory + LARGE);
    POST(fi_fetch_atomic(ep, &one, 1, NULL, old, fi_mr_desc(mr), peer, peer_start, peer_key,
                         FI_UINT64, FI_SUM, context));
    complete(1);
}

static void raw_put_many(int count)
{
    int posted = 0, done = 0;
    while (done < count) {
        // A connection's operations end in order, so the slot is free.
        for (; posted < count && posted - done < WINDOW; posted++)
            post_write(8, posted % WINDOW);
        done += (int)poll_once();
    }
}

static double raw_one_way(int me)
{
    void *desc = fi_mr_desc(mr);
    double start = now_ns();
    for (int i = 0; i < TRIPS; i++) {
        POST(fi_recv(ep, memory, 8, desc, FI_ADDR_UNSPEC, &context[0]));
        if (me == 0)
            POST(fi_send(ep, memory + LARGE, 8, desc, peer, &context[1]));
        complete(me == 0 ? 2 : 1);
        if (me == 1) {
            POST(fi_send(ep, memory + LARGE, 8, desc, peer, &context[1]));
            complete(1);
        }
    }
    return (now_ns() - start) / TRIPS / 2;
}

int main(int argc, char **argv)
{
    return raw_main(argc, argv);
}
