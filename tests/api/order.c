// SPDX-License-Identifier: BSD-3-Clause
// Ordering: after "A; fence; B" to one PE nobody there sees B without A; after a quiet (or pe_quiet)
// a third PE that is told so finds everything delivered. All ways to write A, all forms of fence.
#include "../check.h"

enum { LEN = 24, FENCES = 10000, QUIETS = 2000, WAYS = 7 };

static long data[LEN], scratch[LEN];
static long flag;
static shmem_ctx_t ctx;

// Makes all of data on pe equal to v, which was v - 1.
static void write_data(int way, long v, int pe)
{
    static long source[WAYS][LEN];
    long *s = source[way];
    for (int i = 0; i < LEN; i++)
        s[i] = v;
    switch (way) {
    case 0: shmem_long_put(data, s, LEN, pe); break;
    case 1: shmem_putmem_nbi(data, s, sizeof data, pe); break;
    case 2: shmem_long_iput(data, s, 1, 1, LEN, pe); break;
    case 3:
        for (int i = 0; i < LEN; i++)
            shmem_long_p(&data[i], v, pe);
        break;
    case 4:
        for (int i = 0; i < LEN; i++)
            shmem_long_atomic_inc(&data[i], pe);
        break;
    case 5:
        for (int i = 0; i < LEN; i++)
            shmem_long_atomic_fetch_add_nbi(&scratch[i], &data[i], 1, pe);
        break;
    default: shmem_put64(data, s, LEN, pe);
    }
}

static void expect_at_least(long v, int pe, const char *when)
{
    long got[LEN];
    shmem_long_get(got, data, LEN, pe);
    for (int i = 0; i < LEN; i++)
        if (got[i] < v && check_count())
            fprintf(stderr, "%s:%d: PE %d: %s: data[%d] is %ld, expected at least %ld\n", __FILE__,
                    __LINE__, me, when, i, got[i], v);
}

// PE 2k writes, PE 2k + 1 watches. The watcher does not hold the writer up.
static void fences(void)
{
    if (me % 2 == 0 && me + 1 < npes) {
        for (long v = 1; v <= FENCES; v++) {
            write_data((int)(v % WAYS), v, me + 1);
            if (v % WAYS == 1 || v % WAYS == 5)
                shmem_quiet(); // the next round uses the same buffers
            else
                shmem_fence();
            if (v % 2 == 0)
                shmem_long_p(&flag, v, me + 1);
            else
                shmem_long_atomic_set(&flag, v, me + 1);
        }
    } else if (me % 2 == 1) {
        long seen = 0;
        while (seen < FENCES) {
            shmem_long_wait_until(&flag, SHMEM_CMP_GT, seen);
            seen = shmem_long_atomic_fetch(&flag, me);
            expect_at_least(seen, me, "flag before data, fence");
        }
    }
    shmem_barrier_all();
}

// Fresh buffers each round, so a nonblocking put is followed by a fence and no quiet.
static void fence_nbi(shmem_ctx_t c)
{
    enum { ROUNDS = 400, BYTES = 2000 };
    unsigned char *target = must_shmalloc(ROUNDS * BYTES), *source = must_alloc(ROUNDS * BYTES);
    unsigned char *want = must_alloc(ROUNDS * BYTES);
    static long round;
    round = -1;
    fill(source, ROUNDS * BYTES, (unsigned)me);
    fill(want, ROUNDS * BYTES, (unsigned)left_pe());
    memset(target, 0xEE, ROUNDS * BYTES);
    shmem_barrier_all();
    for (long i = 0; i < ROUNDS; i++) {
        shmem_ctx_putmem_nbi(c, target + i * BYTES, source + i * BYTES, BYTES, right_pe());
        shmem_ctx_fence(c);
        shmem_ctx_long_p(c, &round, i, right_pe());
    }
    for (long next = 0; next < ROUNDS;) {
        shmem_long_wait_until(&round, SHMEM_CMP_GE, next);
        long until = shmem_long_atomic_fetch(&round, me);
        CHECK_MEM(target + next * BYTES, want + next * BYTES, (size_t)(until - next + 1) * BYTES,
                  "data before flag, nonblocking put and fence");
        next = until + 1;
    }
    shmem_ctx_quiet(c);
    shmem_free(target);
    free(source);
    free(want);
}

// Writer me, target me + 1, reader me + 2: the reader looks after it was told.
static void quiets(int form)
{
    static long told;
    int target = right_pe(), reader = (me + 2) % npes, list[2] = {target, target};
    memset(data, 0, sizeof data);
    told = 0;
    shmem_barrier_all();
    for (long v = 1; v <= QUIETS; v++) {
        if (form == 3) {
            long s[LEN];
            for (int i = 0; i < LEN; i++)
                s[i] = v;
            shmem_ctx_long_put_nbi(ctx, data, s, LEN, target);
            if (v % 2 == 0)
                shmem_ctx_quiet(ctx);
            else
                shmem_ctx_pe_quiet(ctx, list, 1);
        } else {
            write_data((int)(v % WAYS), v, target);
            if (form == 0)
                shmem_quiet();
            else
                shmem_pe_quiet(list, (size_t)form);
        }
        shmem_long_atomic_swap(&told, v, reader); // unlike a set, it is there when it returns
        if (v % 3 != 0)
            continue;
        shmem_long_wait_until(&told, SHMEM_CMP_GE, v);
        expect_at_least(shmem_long_atomic_fetch(&told, me), left_pe(),
                        "told before quiet was done");
    }
    shmem_barrier_all();
}

static void no_operation(void)
{
    shmem_pe_quiet(NULL, 0);
    shmem_ctx_pe_quiet(ctx, NULL, 0);
    shmem_ctx_quiet(SHMEM_CTX_INVALID);
    shmem_ctx_fence(SHMEM_CTX_INVALID);
    shmem_ctx_fence(SHMEM_CTX_DEFAULT);
    shmem_ctx_quiet(SHMEM_CTX_DEFAULT);
}

int main(void)
{
    check_start();
    check_spread();
    if (!CHECK_EQ(shmem_ctx_create(0, &ctx), 0))
        shmem_global_exit(1);
    no_operation();
    fences();
    fence_nbi(ctx);
    fence_nbi(SHMEM_CTX_DEFAULT);
    for (int form = 0; form < 4; form++)
        quiets(form);
    shmem_ctx_destroy(ctx);
    return check_done();
}
