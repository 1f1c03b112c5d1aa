// SPDX-License-Identifier: BSD-3-Clause
// Shared memory as a transport: every slot answers at once. The runtime normally loads and stores by itself;
// with SHOAL_DIRECT=0 the data calls carry everything, which tests the way a network takes.
// HOSTILE builds refuse now and then (AGAIN), as networks do.
#include "copy.h"
#include "cpu_amo.h"
#include "tunables.h"
#include "transport.h"

#include <stdlib.h>
#include <string.h>

struct shm_ep {
    struct transport_job job;
    _Atomic unsigned calls;
};

static const struct transport_facts shm_facts = {
    .name = "shm",
    .amo_coherent_with_cpu = true,
    .inject_max = SIZE_MAX,
    .amo = {[TRANSPORT_SET... TRANSPORT_CSWAP] = {true, true}},
};

static int shm_open_ep(const struct transport_job *job, struct transport_facts *facts, void **ep)
{
    struct shm_ep *shm = calloc(1, sizeof *shm);
    if (!shm)
        return TRANSPORT_FAILED;
    shm->job = *job;
    *facts = shm_facts;
    *ep = shm;
    return 0;
}

static void shm_close(void *ep)
{
    free(ep);
}

static int shm_address(void *ep, void *bytes)
{
    (void)ep, (void)bytes;
    return 0;
}

static int shm_connect(void *ep, int pe, const void *bytes)
{
    (void)ep, (void)pe, (void)bytes;
    return 0;
}

static void *shm_ptr(void *ep, struct transport_remote at)
{
    struct shm_ep *shm = ep;
    return (char *)shm->job.region[at.region].peers + at.pe * shm->job.region[at.region].stride +
           at.offset;
}

static bool refuse(struct shm_ep *shm)
{
    return HOSTILE && ++shm->calls % 3 == 0;
}

static int shm_put(void *ep, void *ctx, struct transport_remote to, const void *from, size_t n,
                   struct transport_request *request)
{
    (void)ctx, (void)request;
    if (refuse(ep))
        return TRANSPORT_AGAIN;
    void *there = shm_ptr(ep, to);
    if (!copy_word(there, from, n))
        memmove(there, from, n);
    return TRANSPORT_DONE;
}

static int shm_get(void *ep, void *ctx, void *to, struct transport_remote from, size_t n,
                   struct transport_request *request)
{
    (void)ctx, (void)request;
    if (refuse(ep))
        return TRANSPORT_AGAIN;
    memmove(to, shm_ptr(ep, from), n);
    return TRANSPORT_DONE;
}

static int shm_amo(void *ep, void *ctx, struct transport_remote at, enum transport_op op,
                   enum transport_width width, uint64_t operand, uint64_t compare, uint64_t *result,
                   struct transport_request *request)
{
    (void)ctx, (void)request;
    if (refuse(ep))
        return TRANSPORT_AGAIN;
    uint64_t old = cpu_amo(shm_ptr(ep, at), op, width, operand, compare);
    if (result)
        *result = old;
    return TRANSPORT_DONE;
}

// Stores of one PE become visible in order once a release fence stands between them; nothing is
// ever under way.
static int shm_fence(void *ep, void *ctx, int pe)
{
    (void)ctx, (void)pe;
    if (refuse(ep))
        return TRANSPORT_AGAIN;
    atomic_thread_fence(memory_order_seq_cst);
    return TRANSPORT_DONE;
}

static int shm_progress(void *ep)
{
    (void)ep;
    return 0;
}

const struct transport transport_shm = {
    .open = shm_open_ep,
    .close = shm_close,
    .address = shm_address,
    .connect = shm_connect,
    .put = shm_put,
    .get = shm_get,
    .amo = shm_amo,
    .fence = shm_fence,
    .flush = shm_fence,
    .progress = shm_progress,
};
