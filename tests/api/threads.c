// SPDX-License-Identifier: BSD-3-Clause
// SHMEM_THREAD_MULTIPLE: several threads of each PE use the default context, private and shared
// contexts, atomics, waits, locks' neighbours, and collectives on different teams at the same time.
#include <pthread.h>
#include "../check.h"

enum { THREADS = 4, ROUNDS = 150 };

static long counter, flags[THREADS], replies[THREADS];
static long *area; // THREADS * npes * 8 elements

static void run(void *(*body)(void *))
{
    pthread_t id[THREADS];
    for (size_t t = 0; t < THREADS; t++)
        if (pthread_create(&id[t], NULL, body, (void *)t) != 0) {
            fprintf(stderr, "PE %d: no more threads\n", me);
            shmem_global_exit(1);
        }
    for (int t = 0; t < THREADS; t++)
        pthread_join(id[t], NULL);
    shmem_barrier_all();
}

static void *count(void *arg)
{
    size_t t = (size_t)arg;
    for (int i = 0; i < ROUNDS; i++) {
        if ((t + (size_t)i) % 2 == 0)
            shmem_long_atomic_inc(&counter, 0);
        else
            shmem_long_atomic_fetch_add(&counter, 1, 0);
    }
    return NULL;
}

// Each thread owns a stripe of the neighbour's area, written and read back over its context.
static void stripe(size_t t, shmem_ctx_t ctx)
{
    long *mine = area + t * 8, v[8], got[8];
    for (int i = 0; i < ROUNDS; i++) {
        for (int k = 0; k < 8; k++)
            v[k] = me * 1000000 + (long)t * 10000 + i * 8 + k;
        if (i % 2 == 0)
            shmem_ctx_long_put(ctx, mine, v, 8, right_pe());
        else
            shmem_ctx_long_put_nbi(ctx, mine, v, 8, right_pe());
        shmem_ctx_quiet(ctx);
        shmem_ctx_long_get(ctx, got, mine, 8, right_pe());
        CHECK_EACH(k, 8, got[k], v[k]);
        shmem_ctx_long_p(ctx, &mine[3], -1, right_pe());
        shmem_ctx_fence(ctx);
        CHECK_EQ(shmem_ctx_long_atomic_swap(ctx, &mine[3], i, right_pe()), -1);
    }
}

static void *default_context(void *arg)
{
    stripe((size_t)arg, SHMEM_CTX_DEFAULT);
    return NULL;
}

static void *private_context(void *arg)
{
    shmem_ctx_t ctx;
    if (CHECK_EQ(shmem_ctx_create(SHMEM_CTX_PRIVATE, &ctx), 0)) {
        stripe((size_t)arg, ctx);
        shmem_ctx_destroy(ctx);
    }
    return NULL;
}

static shmem_ctx_t shared;
static void *shared_context(void *arg)
{
    stripe((size_t)arg, shared);
    return NULL;
}

// Thread t of a PE plays with thread t of the right neighbour; a waiting thread holds up no other.
static void *ping_pong(void *arg)
{
    size_t t = (size_t)arg;
    for (long i = 1; i <= ROUNDS / 3; i++) {
        shmem_long_atomic_set(&flags[t], i, right_pe());
        shmem_long_wait_until(&flags[t], SHMEM_CMP_GE, i);
        shmem_long_atomic_inc(&replies[t], left_pe());
        shmem_long_wait_until(&replies[t], SHMEM_CMP_GE, i);
    }
    return NULL;
}

// Threads of one PE take turns: each waits for an atomic of another one on their own PE.
static long turn;
static void *within(void *arg)
{
    for (long i = (long)(size_t)arg; i < ROUNDS; i += THREADS) {
        shmem_long_wait_until(&turn, SHMEM_CMP_EQ, i);
        shmem_long_atomic_inc(&turn, me);
    }
    return NULL;
}

static shmem_team_t teams[THREADS];
static void *collectives(void *arg)
{
    size_t t = (size_t)arg;
    long *source = area + t * 8, *sum = area + (THREADS + t) * 8;
    for (int i = 0; i < ROUNDS / 3; i++) {
        source[0] = me + i;
        CHECK_EQ(shmem_long_sum_reduce(teams[t], sum, source, 1), 0);
        CHECK_EQ(sum[0], (long)npes * (npes - 1) / 2 + (long)npes * i);
        CHECK_EQ(shmem_team_sync(teams[t]), 0);
        CHECK_EQ(shmem_team_my_pe(teams[t]), me);
    }
    return NULL;
}

// Contexts and signals made and used by all threads at once.
static void *churn(void *arg)
{
    static uint64_t sig[THREADS];
    size_t t = (size_t)arg;
    for (uint64_t i = 1; i <= ROUNDS / 3; i++) {
        shmem_ctx_t ctx;
        if (!CHECK_EQ(shmem_ctx_create(i % 2 ? SHMEM_CTX_PRIVATE : 0, &ctx), 0))
            break;
        shmem_ctx_long_put_signal(ctx, &area[t * 8], &(long){(long)i}, 1, &sig[t], 1,
                                  SHMEM_SIGNAL_ADD, right_pe());
        shmem_ctx_destroy(ctx);
        shmem_signal_wait_until(&sig[t], SHMEM_CMP_GE, i);
        CHECK(shmem_long_g(&area[t * 8], me) >= (long)i);
    }
    return NULL;
}

int main(void)
{
    if (check_start_threads() < SHMEM_THREAD_MULTIPLE) {
        shmem_finalize();
        check_skip("the library does not provide SHMEM_THREAD_MULTIPLE");
    }
    area = shmem_calloc(2 * THREADS * 8, sizeof(long));
    CHECK_EQ(shmem_ctx_create(0, &shared), 0);
    run(count);
    if (me == 0)
        CHECK_EQ(counter, (long)npes * THREADS * ROUNDS);
    run(default_context);
    run(private_context);
    run(shared_context);
    run(ping_pong);
    run(within);
    CHECK_EQ(turn, ROUNDS);
    for (int t = 0; t < THREADS; t++)
        CHECK_EQ(shmem_team_split_strided(SHMEM_TEAM_WORLD, 0, 1, npes, NULL, 0, &teams[t]), 0);
    run(collectives);
    memset(area, 0, 2 * THREADS * 8 * sizeof(long));
    shmem_barrier_all();
    run(churn);
    for (int t = 0; t < THREADS; t++)
        shmem_team_destroy(teams[t]);
    shmem_ctx_destroy(shared);
    return check_done();
}
