// SPDX-License-Identifier: BSD-3-Clause
// libFuzzer: whatever may reach transports/ofi from others, with a libfabric that does nothing. This
// endpoint is PE 0 of four. An input is a row of steps:
//
//     kind, flags, length (2 bytes), bytes
//
//     m  a message came; flag 1: it is given the job's secret, flag 2: the number that is expected
//     b  bytes of an address of PE 1 + (flags & 3) % 3; flag 4: their seal is made right
//     k  bytes of a region's key, of that PE; flag 4 as well
//     p  an operation on the region imported last, of that PE
//     w  time passes
#include "ofi/ofi.h"

#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

enum { NPES = 4, HEAP = 4096, KEPT = 16 };
#define SECRET UINT64_C(0x5365637265744b65)

static struct ofi_ep *ep;
static struct fi_info info;
static struct fi_domain_attr domain_attr;
static struct fi_fabric_attr fabric_attr = {.prov_name = (char *)"tcp;ofi_rxm"};
static struct fi_ep_attr ep_attr;
static unsigned char heap[HEAP];
static unsigned char *blobs[NPES];
static uint32_t expected[NPES]; // number of its next message
static int region;
static unsigned seen;

// Libraries that libfabric loads handle signals in their own way.
static void require(bool holds)
{
    if (!holds)
        __builtin_trap();
}

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
static void on_am(void *arg, int from, const void *payload, size_t n)
{
    (void)arg;
    require(from > 0 && from < NPES && n <= MESSAGE_MAX);
    for (size_t i = 0; i < n; i++)
        seen += ((const unsigned char *)payload)[i];
}

static void ep_new(void)
{
    ep = calloc(1, sizeof *ep);
    ep->job = (struct transport_job){.npes = NPES, .secret = SECRET, .on_am = on_am};
    ep->job.region[TRANSPORT_HEAP].base = heap;
    ep->job.region[TRANSPORT_HEAP].size = HEAP;
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
    static struct ofi_op *ops; // kept: to clear so much takes longer than all the rest
    if (!ops)
        ops = calloc(OFI_OPS + OFI_RECEIVES, sizeof *ops);
    ep->ops = ops;
    for (int i = 0; i < OFI_OPS + OFI_RECEIVES; i++) {
        ep->ops[i].busy = false;
        ep->ops[i].next = ep->free_ops;
        ep->free_ops = &ep->ops[i];
    }
    memset(posted, 0, sizeof posted);
    memset(expected, 0, sizeof expected);
    region = -1;
}

static void ep_free(void)
{
    ofi_peers_free(ep);
    ofi_imports_free(ep);
    free(ep->peer);
    free(ep->blob);
    for (int pe = 0; pe < NPES; pe++) {
        free(blobs[pe]);
        blobs[pe] = NULL;
    }
    pthread_mutex_destroy(&ep->lock);
    free(ep);
}

// ---- Steps
static void message(int flags, const uint8_t *bytes, size_t n)
{
    struct message_header header;
    unsigned char data[MESSAGE_BYTES];
    n = n < sizeof data ? n : sizeof data;
    memcpy(data, bytes, n);
    if (n >= sizeof header) {
        memcpy(&header, data, sizeof header);
        if (flags & 1)
            header.secret = SECRET;
        if (flags & 2 && header.from < NPES)
            header.seq = expected[header.from]++;
        memcpy(data, &header, sizeof header);
    }
    pthread_mutex_lock(&ep->lock);
    messages_arrived(&ep->messages, messages_copy(data, n));
    messages_deliver(&ep->messages);
    pthread_mutex_unlock(&ep->lock);
}

// The bytes in memory of their own size, sealed when that is asked for.
static unsigned char *sealed(bool right, const uint8_t *bytes, size_t n, size_t size)
{
    unsigned char *copy = calloc(1, size);
    memcpy(copy, bytes, n < size ? n : size);
    uint64_t seal = job_seal(copy, size);
    if (right)
        memcpy(copy + size - sizeof seal, &seal, sizeof seal);
    return copy;
}

static void address(int pe, bool right, const uint8_t *bytes, size_t n)
{
    unsigned char *blob = sealed(right, bytes, n, sizeof(struct ofi_blob));
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
    for (size_t at = 0, n; at + 4 <= size; at += 4 + n) {
        int flags = data[at + 1], pe = 1 + (flags & 3) % 3;
        const uint8_t *bytes = data + at + 4;
        n = data[at + 2] | (size_t)(data[at + 3] & 31) << 8;
        if (n > size - at - 4)
            n = size - at - 4;
        switch (data[at]) {
        case 'm': message(flags, bytes, n); break;
        case 'b': address(pe, flags & 4, bytes, n); break;
        case 'k': import(pe, flags & 4, bytes, n); break;
        case 'p': use_region(pe); break;
        case 'w': pass_time(); break;
        }
    }
    pass_time();
    ep_free();
    return 0;
}
