// SPDX-License-Identifier: BSD-3-Clause
// PES: 1 2 4 7 16
// Data before signal, under load: a ring of producers and consumers with two buffers and credits,
// random sizes, all forms of put_signal; then many producers for one consumer.
#include "../check.h"

enum { BYTES = 100000, SLOTS = 2, ROUNDS = 4000 };

static unsigned char *ring; // SLOTS buffers
static uint64_t filled, credits;

static void send(uint64_t *seed, const unsigned char *src, int round, size_t n, shmem_ctx_t ctx)
{
    unsigned char *to = ring + (size_t)(round % SLOTS) * BYTES;
    uint64_t v = (uint64_t)round + 1;
    switch (rnd_below(seed, 4)) {
    case 0: shmem_putmem_signal(to, src, n, &filled, v, SHMEM_SIGNAL_SET, right_pe()); break;
    case 1: shmem_putmem_signal_nbi(to, src, n, &filled, v, SHMEM_SIGNAL_SET, right_pe()); break;
    case 2:
        shmem_ctx_putmem_signal(ctx, to, src, n, &filled, v, SHMEM_SIGNAL_SET, right_pe());
        break;
    default: shmem_ctx_putmem_signal_nbi(ctx, to, src, n, &filled, v, SHMEM_SIGNAL_SET, right_pe());
    }
    shmem_ctx_quiet(ctx);
    shmem_quiet(); // src is filled again in the next round
}

static void ring_of_streams(void)
{
    shmem_ctx_t ctx;
    if (!CHECK_EQ(shmem_ctx_create(0, &ctx), 0))
        return;
    unsigned char *src = must_alloc(BYTES), *want = must_alloc(BYTES);
    uint64_t mine = (uint64_t)me, theirs = (uint64_t)left_pe(), kind = mine + 7;
    for (int i = 0; i < ROUNDS; i++) {
        size_t n = rnd_below(&mine, i % 10 == 0 ? BYTES : 200);
        fill(src, n, (unsigned)(me + i));
        if (i >= SLOTS) // the buffer is free when round i - SLOTS was taken out
            shmem_signal_wait_until(&credits, SHMEM_CMP_GE, (uint64_t)(i - SLOTS + 1));
        send(&kind, src, i, n, ctx);
        shmem_signal_wait_until(&filled, SHMEM_CMP_GE, (uint64_t)i + 1);
        n = rnd_below(&theirs, i % 10 == 0 ? BYTES : 200);
        fill(want, n, (unsigned)(left_pe() + i));
        if (!CHECK_MEM(ring + (size_t)(i % SLOTS) * BYTES, want, n, "streamed data"))
            break;
        shmem_signal_add(&credits, 1, left_pe());
    }
    shmem_barrier_all();
    shmem_ctx_destroy(ctx);
    free(src);
    free(want);
}

// Each producer has a row of slots on PE 0; one counter counts what arrived from all of them.
static void many_to_one(void)
{
    enum { N = 100, LEN = 40 };
    static uint64_t arrived;
    size_t row = (size_t)N * LEN;
    unsigned char *slots = must_shmalloc(row * (size_t)npes);
    unsigned char *src = must_alloc(row), *want = must_alloc(row);
    memset(slots, 0, row * (size_t)npes);
    fill(src, row, (unsigned)me);
    shmem_barrier_all();
    for (int i = 0; i < N; i++)
        shmem_putmem_signal_nbi(slots + (size_t)me * row + (size_t)i * LEN, src + (size_t)i * LEN,
                                LEN, &arrived, 1, SHMEM_SIGNAL_ADD, 0);
    shmem_quiet();
    if (me == 0) {
        shmem_signal_wait_until(&arrived, SHMEM_CMP_EQ, (uint64_t)(N * npes));
        for (int pe = 0; pe < npes; pe++) {
            fill(want, row, (unsigned)pe);
            CHECK_MEM(slots + (size_t)pe * row, want, row, "many to one");
        }
    }
    shmem_free(slots);
    free(src);
    free(want);
}

int main(void)
{
    check_start();
    check_spread();
    ring = must_shmalloc((size_t)BYTES * SLOTS);
    ring_of_streams();
    many_to_one();
    return check_done();
}
