// SPDX-License-Identifier: BSD-3-Clause
// libFuzzer: whatever may reach transports/ofi from others, with a libfabric that does nothing. This
// endpoint is PE 0 of four. An input is a row of steps:
//
//     kind, flags, length (2 bytes), bytes
//
//     m  a message came; flag 1: it is given the job's secret, flag 2: the number that is expected
//     b  bytes of an address of PE 1 + (flags & 3) % 3; flag 4: their seal is made right, and the version
//     k  bytes of a region's key, of that PE; flag 4 as well
//     p  an operation on the region imported last, of that PE
//     w  time passes
#include "fuzz_transport.h"
#include "ofi/ofi.h"

enum { KEPT = 16 };

static struct ofi_ep *ep;
static struct fi_info info;
static struct fi_domain_attr domain_attr;
static struct fi_fabric_attr fabric_attr = {.prov_name = (char *)"tcp;ofi_rxm"};
static struct fi_ep_attr ep_attr;
static int region;

// ---- A libfabric that takes everything, and completes it in the next step.
static struct ofi_op *posted[KEPT];

static ssize_t take(void *context)
{
    for (int i = 0; i < KEPT; i++)
        if (!posted[i]) {
            posted[i] = context;
            return 0;
        }
    return -FI_EAGAIN;
}

static ssize_t fake_recv(struct fid_ep *e, void *buf, size_t n, void *desc, fi_addr_t from,
                         void *context)
{
    (void)e, (void)buf, (void)n, (void)desc, (void)from, (void)context;
    return 0;
}

static ssize_t fake_send(struct fid_ep *e, const void *buf, size_t n, void *desc, fi_addr_t to,
                         void *context)
{
    (void)e, (void)desc;
    require(to < NPES && n <= MESSAGE_BYTES);
    seen += ((const unsigned char *)buf)[n - 1];
    return take(context);
}

static ssize_t fake_rma(struct fid_ep *e, const struct fi_msg_rma *msg, uint64_t flags)
{
    (void)e, (void)flags;
    return take(msg->context);
}

static int fake_insert(struct fid_av *av, const void *addr, size_t count, fi_addr_t *fi_addr,
                       uint64_t flags, void *context)
{
    (void)av, (void)flags, (void)context;
    const unsigned char *name = addr;
    for (size_t i = 0; i < 28; i++) // as much as a provider may read
        seen += name[i];
    *fi_addr = 1;
    return (int)count;
}

static struct fi_ops_msg msg_ops = {.recv = fake_recv, .send = fake_send};
static struct fi_ops_rma rma_ops = {.readmsg = fake_rma, .writemsg = fake_rma};
static struct fi_ops_av av_ops = {.insert = fake_insert};
static struct fid_ep fake_ep = {.msg = &msg_ops, .rma = &rma_ops};
static struct fid_av fake_av = {.ops = &av_ops};

// ---- The endpoint, made anew for each input
static void ep_new(void)
{
    ep = calloc(1, sizeof *ep);
    ep->job = fuzz_job();
    pthread_mutex_init(&ep->lock, NULL);
    info = (struct fi_info){.addr_format = FI_SOCKADDR_IN,
                            .domain_attr = &domain_attr,
                            .fabric_attr = &fabric_attr,
                            .ep_attr = &ep_attr};
    ep->info = &info;
    ep->ep = &fake_ep;
    ep->av = &fake_av;
    ep->chunk_max = 1 << 20;
    ofi_messages_open(ep);
    ep->blob = calloc(NPES, sizeof *ep->blob);
    ep->peer = calloc(NPES, sizeof *ep->peer);
    ep->am_max = MESSAGE_MAX;
    static struct ofi_op *ops; // kept: to clear so much takes longer than all the rest
    if (!ops)
        ops = calloc(OFI_OPS + OFI_RECEIVES, ofi_op_size(ep));
    ep->ops = ops;
    ep->op_count = OFI_OPS + OFI_RECEIVES;
    for (int i = 0; i < OFI_OPS + OFI_RECEIVES; i++) {
        ofi_op_at(ep, i)->busy = false;
        ofi_op_at(ep, i)->next = ep->free_ops;
        ep->free_ops = ofi_op_at(ep, i);
    }
    memset(posted, 0, sizeof posted);
    region = -1;
}

static void ep_free(void)
{
    ofi_peers_free(ep);
    ofi_imports_free(ep);
    free(ep->peer);
    free(ep->blob);
    blobs_free();
    pthread_mutex_destroy(&ep->lock);
    free(ep);
}

// ---- Steps
static void message(int flags, const uint8_t *bytes, size_t n)
{
    unsigned char data[MESSAGE_BYTES];
    n = n < sizeof data ? n : sizeof data;
    memcpy(data, bytes, n);
    make_right(data, n, flags);
    pthread_mutex_lock(&ep->lock);
    messages_arrived(&ep->messages, messages_copy(data, n));
    messages_deliver(&ep->messages);
    pthread_mutex_unlock(&ep->lock);
}

static void address(int pe, bool right, const uint8_t *bytes, size_t n)
{
    struct ofi_blob made = {.soon = 0};
    memcpy(&made, bytes, n < sizeof made ? n : sizeof made);
    made.soon = right ? (uint32_t)ofi_rxm_soon(fabric_attr.prov_name) : made.soon;
    unsigned char *blob = sealed(right, (const uint8_t *)&made, sizeof made, sizeof made);
    if (blobs[pe] || ofi_connect(ep, pe, blob)) {
        free(blob);
        return;
    }
    blobs[pe] = blob;
    uint64_t word = 1;
    struct transport_remote at = {pe, TRANSPORT_HEAP, 8};
    if (ofi_put(ep, NULL, at, &word, sizeof word, NULL) >= 0)
        ofi_alive_look(ep, ep->peer[pe]);
}

static void import(int pe, bool right, const uint8_t *bytes, size_t n)
{
    unsigned char *key = sealed(right, bytes, n, sizeof(struct ofi_key));
    if (region >= 0)
        ofi_region_release(ep, region);
    region = -1;
    if (ofi_region_import(ep, pe, key, &region) == 0)
        require(region >= TRANSPORT_REGIONS_FIXED);
    free(key);
}

static void use_region(int pe)
{
    static uint64_t words[2];
    ofi_put(ep, NULL, (struct transport_remote){pe, region, 0}, words, sizeof words, NULL);
    ofi_get(ep, NULL, words, (struct transport_remote){pe, region, 0}, sizeof words, NULL);
}

static void pass_time(void)
{
    pthread_mutex_lock(&ep->lock);
    for (int i = 0; i < KEPT; i++)
        if (posted[i]) {
            struct ofi_op *op = posted[i];
            posted[i] = NULL;
            if (op->is_notice)
                op->to->m.noticing = false;
            ofi_op_done(ep, op);
        }
    messages_deliver(&ep->messages);
    pthread_mutex_unlock(&ep->lock);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    ep_new();
    struct fuzz_step s;
    for (const uint8_t *at = data; next_step(&at, data + size, &s);) {
        switch (s.kind) {
        case 'm': message(s.flags, s.bytes, s.n); break;
        case 'b': address(s.pe, s.flags & 4, s.bytes, s.n); break;
        case 'k': import(s.pe, s.flags & 4, s.bytes, s.n); break;
        case 'p': use_region(s.pe); break;
        case 'w': pass_time(); break;
        }
    }
    pass_time();
    ep_free();
    return 0;
}
