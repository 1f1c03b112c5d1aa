// SPDX-License-Identifier: BSD-3-Clause
// Sessions are hints: whatever is said in them, results, ordering and completion stay the same.
#include "../check.h"

enum { TABLE = 256, UPDATES = 500 };

static uint64_t table[TABLE];
static long slots[64];

// Random exclusive-ors, done twice, leave the table as it was.
static void updates(shmem_ctx_t ctx, long options, shmem_ctx_session_config_t *config, long mask)
{
    for (int i = 0; i < TABLE; i++)
        table[i] = (uint64_t)i;
    shmem_barrier_all();
    for (int round = 0; round < 2; round++) {
        uint64_t seed = (uint64_t)me;
        shmem_ctx_session_start(ctx, options, config, mask);
        for (int i = 0; i < UPDATES; i++) {
            uint64_t v = rnd(&seed);
            shmem_ctx_uint64_atomic_xor(ctx, &table[v % TABLE], v,
                                        (int)((v >> 20) % (uint64_t)npes));
        }
        shmem_ctx_session_stop(ctx);
    }
    shmem_ctx_quiet(ctx);
    shmem_barrier_all();
    CHECK_EACH(i, TABLE, table[i], i);
    shmem_barrier_all();
}

// Within a session a quiet completes, a fence orders, a blocking get returns the data.
static void semantics(shmem_ctx_t ctx)
{
    static long flag, source[8];
    flag = 0;
    shmem_barrier_all();
    shmem_ctx_session_start(ctx, SHMEM_CTX_SESSION_BATCH, NULL, 0);
    for (int i = 0; i < 8; i++) {
        source[i] = me * 8 + i;
        shmem_ctx_long_put_nbi(ctx, &slots[i], &source[i], 1, right_pe());
        shmem_ctx_long_p(ctx, &slots[8 + i], me, right_pe());
    }
    shmem_ctx_fence(ctx);
    shmem_ctx_long_atomic_set(ctx, &flag, 1, right_pe());
    shmem_ctx_quiet(ctx);
    shmem_long_wait_until(&flag, SHMEM_CMP_EQ, 1);
    CHECK_EACH(i, 8, slots[i], left_pe() * 8 + (long)i);
    CHECK_EACH(i, 8, slots[8 + i], left_pe());
    CHECK_EQ(shmem_ctx_long_g(ctx, &slots[3], right_pe()), me * 8 + 3);
    shmem_ctx_session_stop(ctx);
    shmem_barrier_all();
}

int main(void)
{
    check_start();
    shmem_ctx_t ctx;
    shmem_ctx_session_config_t config = {.total_ops = UPDATES};
    if (!CHECK_EQ(shmem_ctx_create(0, &ctx), 0))
        shmem_global_exit(1);
    shmem_ctx_session_start(SHMEM_CTX_INVALID, SHMEM_CTX_SESSION_BATCH, NULL, 0);
    shmem_ctx_session_stop(ctx); // never started: no effect
    updates(ctx, 0, NULL, 0);
    updates(ctx, SHMEM_CTX_SESSION_BATCH, NULL, 0);
    updates(ctx, SHMEM_CTX_SESSION_BATCH, &config, SHMEM_CTX_SESSION_TOTAL_OPS);
    updates(SHMEM_CTX_DEFAULT, SHMEM_CTX_SESSION_BATCH, &config, SHMEM_CTX_SESSION_TOTAL_OPS);
    config.total_ops = 1; // too few: only slower
    updates(ctx, 0, &config, SHMEM_CTX_SESSION_TOTAL_OPS);
    semantics(ctx);
    // Starting twice combines, stopping twice does nothing.
    shmem_ctx_session_start(ctx, 0, NULL, 0);
    updates(ctx, SHMEM_CTX_SESSION_BATCH, NULL, 0);
    shmem_ctx_session_stop(ctx);
    shmem_ctx_session_stop(ctx);
    shmem_ctx_session_start(ctx, SHMEM_CTX_SESSION_BATCH, &config, SHMEM_CTX_SESSION_TOTAL_OPS);
    shmem_ctx_destroy(ctx); // while in a session
    semantics(SHMEM_CTX_DEFAULT);
    return check_done();
}
