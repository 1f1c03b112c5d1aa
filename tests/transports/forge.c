// SPDX-License-Identifier: BSD-3-Clause
// EACH: tcp;ofi_rxm net;ofi_rxm sockets
// TIMEOUT: 170
// Strangers at the door of a libfabric endpoint: PE 2 sends PE 0 messages that are wrong in one
// thing each, from an endpoint of its own, and bytes that are no libfabric at all. PE 0 drops them,
// says so once, and goes on to work with the others.
#include "rig.h"

#include "ofi/ofi.h"

#include <netinet/in.h>
#include <sys/socket.h>

struct stranger {
    struct fi_info *info;
    struct fid_fabric *fabric;
    struct fid_domain *domain;
    struct fid_av *av;
    struct fid_cq *cq;
    struct fid_ep *ep;
    fi_addr_t victim;
};

static void stranger_open(struct stranger *s, const struct ofi_blob *victim)
{
    struct fi_info *hints = fi_allocinfo();
    struct fi_cq_attr cq = {.format = FI_CQ_FORMAT_MSG};
    struct fi_av_attr av = {.type = FI_AV_TABLE};
    hints->caps = FI_MSG | FI_RMA;
    hints->mode = FI_CONTEXT | FI_CONTEXT2;
    hints->ep_attr->type = FI_EP_RDM;
    hints->fabric_attr->prov_name = strdup(job.provider);
    hints->addr_format = victim->name_length == sizeof(struct sockaddr_in) ? FI_SOCKADDR_IN
                                                                           : FI_SOCKADDR_IN6;
    if (fi_getinfo(FI_VERSION(1, 17), NULL, NULL, 0, hints, &s->info) ||
        fi_fabric(s->info->fabric_attr, &s->fabric, NULL) ||
        fi_domain(s->fabric, s->info, &s->domain, NULL) ||
        fi_av_open(s->domain, &av, &s->av, NULL) || fi_cq_open(s->domain, &cq, &s->cq, NULL) ||
        fi_endpoint(s->domain, s->info, &s->ep, NULL) || fi_ep_bind(s->ep, &s->av->fid, 0) ||
        fi_ep_bind(s->ep, &s->cq->fid, FI_TRANSMIT | FI_RECV) || fi_enable(s->ep) ||
        fi_av_insert(s->av, victim->name, 1, &s->victim, 0, NULL) != 1)
        CHECK(!"a stranger's endpoint");
    fi_freeinfo(hints);
}

// The one that is too long may end the stranger's connection.
static void stranger_send(struct stranger *s, const void *bytes, size_t n)
{
    bool must_arrive = n <= MESSAGE_BYTES;
    struct fi_context2 context;
    struct fi_cq_msg_entry entry;
    long r;
    do {
        r = fi_send(s->ep, bytes, n, NULL, s->victim, &context);
        if (r == -FI_EAGAIN)
            fi_cq_read(s->cq, &entry, 0);
        step();
    } while (r == -FI_EAGAIN);
    CHECK(r == 0);
    while ((r = fi_cq_read(s->cq, &entry, 1)) == -FI_EAGAIN)
        step();
    if (r == -FI_EAVAIL) {
        struct fi_cq_err_entry error = {0};
        fi_cq_readerr(s->cq, &error, 0);
    }
    CHECK(r == 1 || !must_arrive);
}

static void stranger_close(struct stranger *s)
{
    fi_close(&s->ep->fid);
    fi_close(&s->cq->fid);
    fi_close(&s->av->fid);
    fi_close(&s->domain->fid);
    fi_close(&s->fabric->fid);
    fi_freeinfo(s->info);
}

// Each differs in one field from a message that would be believed.
static void send_forged(struct stranger *s)
{
    struct {
        struct message_header header;
        unsigned char rest[8192];
    } m = {{.secret = SECRET, .from = 1, .seq = 0, .length = 8, .kind = MESSAGE_USER}, {0}};
    const struct message_header good = m.header;
    size_t whole = sizeof m.header + 8;
    stranger_send(s, &m, 3);
    stranger_send(s, &m, sizeof m.header - 1);
    stranger_send(s, &m, whole - 1);
    stranger_send(s, &m, whole + 1);
    m.header.length = 8000;
    stranger_send(s, &m, whole);
    m.header = good;
    m.header.secret ^= UINT64_C(1) << 63;
    stranger_send(s, &m, whole);
    m.header = good;
    m.header.from = NPES;
    stranger_send(s, &m, whole);
    m.header.from = UINT32_MAX;
    stranger_send(s, &m, whole);
    m.header = good;
    m.header.kind = MESSAGE_KINDS;
    stranger_send(s, &m, whole);
    m.header = good;
    m.header.seq = UINT32_MAX; // one that came before the first: taken long ago
    stranger_send(s, &m, whole);
    m.header = good;
    m.header.length = 8000;
    stranger_send(s, &m, sizeof m.header + 8000);
}

static void send_noise(const struct ofi_blob *victim)
{
    struct sockaddr_storage to;
    memcpy(&to, victim->name, victim->name_length);
    // The provider "sockets" believes a length it reads from anybody and sets that much memory.
    size_t most = strcmp(job.provider, "sockets") ? 4096 : 1;
    unsigned char junk[4096];
    for (size_t i = 0; i < sizeof junk; i++)
        junk[i] = (unsigned char)(i * 37 + i / 256);
    for (int i = 0; i < 8; i++) {
        int fd = socket(to.ss_family, SOCK_STREAM, 0);
        CHECK(connect(fd, (struct sockaddr *)&to, victim->name_length) == 0);
        if (i % 4)
            CHECK(send(fd, junk, i % 4 == 1 ? 1 : most, MSG_NOSIGNAL) > 0);
        step();
        close(fd);
    }
}

static int good_calls;

static void take_good(int from, const void *payload, size_t n)
{
    CHECK(from > 0 && n == 8 && memcmp(payload, "12345678", 8) == 0);
    good_calls++;
}

static void test_forged(void)
{
    struct ofi_blob victim;
    memcpy(&victim, shared->address[0], sizeof victim);
    uint64_t value = 0;
    handler = take_good;
    barrier();
    if (me == 2) {
        struct stranger s = {0};
        stranger_open(&s, &victim);
        send_forged(&s);
        stranger_close(&s);
        send_noise(&victim);
        atomic_store(&shared->flag[0], 1);
    }
    wait_flag(0, 1);
    if (me == 0)
        memcpy(heap_of(0), "abcdefgh", 8);
    else
        CHECK(am_wait(0, "12345678", 8) == 0);
    barrier();
    while (me == 0 && good_calls < 2)
        step();
    CHECK(get_wait(&value, at_heap(0, 0), 8) == 0 && memcmp(&value, "abcdefgh", 8) == 0);
    barrier();
    CHECK(good_calls == (me == 0 ? 2 : 0));
    CHECK(log_lines == (me == 0 ? 1 : 0));
}

int main(int argc, char **argv)
{
    static const struct test tests[] = {{"forged", test_forged}};
    return rig_run(argc, argv, tests, ARRAY(tests));
}
