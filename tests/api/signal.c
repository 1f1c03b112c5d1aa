// SPDX-License-Identifier: BSD-3-Clause
// Signals: set, add, fetch, wait; put_signal and put_signal_nbi of every type and size with their
// context forms. The data must be there when the signal is.
#include "../check.h"
#include "types.h"

typedef void put_signal_fn(shmem_ctx_t, void *, const void *, size_t, uint64_t *, uint64_t, int,
                           int);
typedef struct {
    const char *name;
    size_t size;
    put_signal_fn *put, *put_nbi;
} signal_row;

// SHMEM_CTX_INVALID here stands for the form without a context argument.
#define WRAP(ID, PLAIN, CTX)                                                                   \
    static void ID(shmem_ctx_t c, void *d, const void *s, size_t n, uint64_t *sig, uint64_t v, \
                   int op, int pe)                                                             \
    {                                                                                          \
        if (c == SHMEM_CTX_INVALID)                                                            \
            PLAIN(d, s, n, sig, v, op, pe);                                                    \
        else                                                                                   \
            CTX(c, d, s, n, sig, v, op, pe);                                                   \
    }
#define X(T, N)                                                       \
    WRAP(N##_put, shmem_##N##_put_signal, shmem_ctx_##N##_put_signal) \
    WRAP(N##_nbi, shmem_##N##_put_signal_nbi, shmem_ctx_##N##_put_signal_nbi)
EACH_RMA(X)
#undef X
#define EACH_SIZE(X) \
    X(8, 1)          \
    X(16, 2)         \
    X(32, 4)         \
    X(64, 8)         \
    X(128, 16)       \
    X(mem, 1)
#define X(S, BYTES)                                                \
    WRAP(put##S, shmem_put##S##_signal, shmem_ctx_put##S##_signal) \
    WRAP(nbi##S, shmem_put##S##_signal_nbi, shmem_ctx_put##S##_signal_nbi)
EACH_SIZE(X)
#undef X

static const signal_row rows[] = {
#define X(T, N) {#N, sizeof(T), N##_put, N##_nbi},
    EACH_RMA(X)
#undef X
#define X(S, BYTES) {"size " #S, BYTES, put##S, nbi##S},
        EACH_SIZE(X)
#undef X
};
enum { ROWS = sizeof rows / sizeof rows[0], SPACE = 16 * 256 };

static unsigned char *src, *dst;
static uint64_t *heap_signal, static_signal[3] = {11, 0, 33};
static shmem_ctx_t ctx;

// One transfer to the right; the left neighbour's arrives here. No barrier between the signal and
// the look at the data.
static void transfer(const signal_row *r, put_signal_fn *put, shmem_ctx_t c, uint64_t *sig,
                     size_t n, int op)
{
    static unsigned char model[SPACE], from[SPACE];
    uint64_t before = shmem_signal_fetch(sig);
    uint64_t v = (UINT64_C(1) << 40) + 17;
    uint64_t want = op == SHMEM_SIGNAL_ADD ? before + v : v;
    memset(dst, 0xEE, SPACE);
    shmem_barrier_all();
    put(c, dst + 16, src + 16, n, sig, v, op, right_pe());
    CHECK_EQ(shmem_signal_wait_until(sig, SHMEM_CMP_EQ, want), want);
    fill(from, SPACE, (unsigned)left_pe());
    memset(model, 0xEE, SPACE);
    memcpy(model + 16, from + 16, n * r->size);
    char text[64];
    snprintf(text, sizeof text, "put_signal of %s, %zu elements", r->name, n);
    CHECK_MEM(dst, model, SPACE, text);
    shmem_ctx_quiet(ctx);
    shmem_barrier_all();
    CHECK_EQ(shmem_signal_fetch(sig), want);
}

static void all_rows(void)
{
    static const size_t counts[] = {1, 0, 7, 200};
    for (int i = 0; i < ROWS; i++) {
        for (int k = 0; k < 4; k++) {
            put_signal_fn *put = k % 2 == 0 ? rows[i].put : rows[i].put_nbi;
            shmem_ctx_t c = k < 2 ? SHMEM_CTX_INVALID : ctx;
            uint64_t *sig = (i + k) % 3 == 0 ? &static_signal[1] : heap_signal;
            transfer(&rows[i], put, c, sig, counts[(i + k) % 4], SHMEM_SIGNAL_SET);
            transfer(&rows[i], put, c, sig, counts[(i + k + 1) % 4], SHMEM_SIGNAL_ADD);
        }
    }
    CHECK(static_signal[0] == 11 && static_signal[2] == 33);
}

static void bare_signals(void)
{
    uint64_t *s = heap_signal;
    *s = 0;
    shmem_barrier_all();
    shmem_signal_set(s, UINT64_MAX - 4, right_pe());
    CHECK_EQ(shmem_signal_wait_until(s, SHMEM_CMP_NE, 0), UINT64_MAX - 4);
    shmem_barrier_all();
    shmem_signal_add(s, 10, right_pe()); // wraps around
    CHECK_EQ(shmem_signal_wait_until(s, SHMEM_CMP_LT, 100), 5);
    shmem_barrier_all();
    shmem_ctx_signal_set(ctx, s, 50, right_pe());
    CHECK_EQ(shmem_signal_wait_until(s, SHMEM_CMP_GE, 50), 50);
    shmem_barrier_all();
    shmem_ctx_signal_add(ctx, s, 1, right_pe());
    CHECK_EQ(shmem_signal_wait_until(s, SHMEM_CMP_GT, 50), 51);
    CHECK_EQ(shmem_signal_wait_until(s, SHMEM_CMP_LE, 51), 51);
    CHECK_EQ(shmem_signal_wait_until(s, SHMEM_CMP_EQ, 51), 51);
    CHECK_EQ(shmem_signal_fetch(s), 51);
    shmem_signal_set(s, 3, me); // to itself
    CHECK_EQ(shmem_signal_fetch(s), 3);
    shmem_barrier_all();
}

// Everybody adds to everybody's signal; nobody's addition is lost.
static void many_adders(void)
{
    enum { N = 200 };
    *heap_signal = 0;
    shmem_barrier_all();
    for (int i = 0; i < N; i++) {
        shmem_signal_add(heap_signal, 1, i % npes);
        shmem_putmem_signal(dst + me, src, 1, heap_signal, 1000000, SHMEM_SIGNAL_ADD, i % npes);
    }
    uint64_t times = 0;
    for (int i = 0; i < N; i++)
        times += i % npes == me;
    uint64_t want = times * (uint64_t)npes * 1000001;
    CHECK_EQ(shmem_signal_wait_until(heap_signal, SHMEM_CMP_GE, want), want);
    shmem_barrier_all();
}

int main(void)
{
    check_start();
    src = must_shmalloc(SPACE);
    dst = must_shmalloc(SPACE);
    heap_signal = shmem_calloc(1, sizeof(uint64_t));
    if (heap_signal == NULL || !CHECK_EQ(shmem_ctx_create(0, &ctx), 0))
        shmem_global_exit(1);
    fill(src, SPACE, (unsigned)me);
    shmem_barrier_all();
    all_rows();
    bare_signals();
    many_adders();
    shmem_ctx_destroy(ctx);
    return check_done();
}
