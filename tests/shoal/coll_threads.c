// SPDX-License-Identifier: BSD-3-Clause
// Several threads of each PE, each with a team of its own and collectives under way on it, at the
// same time.
#include "../check.h"

#include <pthread.h>
#include <shoal.h>

enum { THREADS = 4, USER_OP = 9, N = 300, AT_ONCE = 3, ROUNDS = 60 };

typedef struct {
    shmem_team_t team;
    int members, self;
    uint64_t seed;                         // the same on all members
    uint64_t *src[AT_ONCE], *dst[AT_ONCE]; // half of them symmetric
} worker;

// Maps x -> a x + b, as a and b in one word, one after the other: associative, and the order is seen.
static uint64_t composed(uint64_t left, uint64_t right)
{
    uint32_t a = (uint32_t)(left >> 32), b = (uint32_t)left;
    return (uint64_t)(uint32_t)(a * (uint32_t)(right >> 32)) << 32 | (uint32_t)(a * (uint32_t)right + b);
}

static void fold_maps(void *acc, const void *in, size_t n, void *user)
{
    (void)user;
    for (size_t i = 0; i < n; i++)
        ((uint64_t *)acc)[i] = composed(((const uint64_t *)in)[i], ((uint64_t *)acc)[i]);
}

static uint64_t value(int k, uint64_t round, size_t i)
{
    return ((uint64_t)(k + 1) * 1000003 + round * 7919 + i) * 0x9E3779B97F4A7C15u;
}

static uint64_t folded(int last, uint64_t round, size_t i, bool user)
{
    uint64_t acc = value(last, round, i);
    for (int k = last - 1; k >= 0; k--)
        acc = user ? composed(value(k, round, i), acc) : value(k, round, i) + acc;
    return acc;
}

// One of several kinds, by the number.
static void start(const worker *w, size_t which, uint64_t round, shoal_event_t *event)
{
    static const int kinds[] = {SHOAL_COLL_ALLREDUCE, SHOAL_COLL_SCAN, SHOAL_COLL_ALLGATHER,
                                SHOAL_COLL_BROADCAST};
    shoal_coll_t c = {.kind = kinds[round % 4],
                      .dst = w->dst[which],
                      .src = w->src[which],
                      .root = (int)(round % (unsigned)w->members),
                      .type = SHOAL_UINT64,
                      .op = round % 3 ? SHOAL_SUM : (shoal_op_t)(SHOAL_OP_USER + USER_OP)};
    c.count = c.kind == SHOAL_COLL_ALLGATHER ? N / (size_t)w->members : N;
    for (size_t i = 0; i < N; i++)
        w->src[which][i] = value(w->self, round, i);
    CHECK_EQ(shoal_coll(w->team, &c, event), SHOAL_OK);
}

static void check_result(const worker *w, size_t which, uint64_t round)
{
    const uint64_t *dst = w->dst[which];
    size_t each = N / (size_t)w->members;
    bool user = round % 3 == 0;
    switch (round % 4) {
    case 0: CHECK_EACH(i, N, dst[i], folded(w->members - 1, round, i, user)); break;
    case 1: CHECK_EACH(i, N, dst[i], folded(w->self, round, i, user)); break;
    case 2:
        CHECK_EACH(i, each * (size_t)w->members, dst[i], value((int)(i / each), round, i % each));
        break;
    default: CHECK_EACH(i, N, dst[i], value((int)(round % (unsigned)w->members), round, i));
    }
}

static void *work(void *arg)
{
    worker *w = arg;
    for (uint64_t round = 0; round < ROUNDS; round++) {
        shoal_event_t event[AT_ONCE], *set[AT_ONCE];
        memset(event, 0, sizeof event);
        size_t n = rnd_below(&w->seed, AT_ONCE) + 1, done = 0;
        for (size_t k = 0; k < n; k++) {
            set[k] = &event[k];
            start(w, k, round + k, round % 5 ? &event[k] : NULL);
        }
        while (round % 2 && done < n) {
            CHECK_EQ(shoal_test(n, set, &done, NULL), SHOAL_OK);
            sched_yield();
        }
        CHECK_EQ(shoal_wait(n, set, n, NULL, NULL), SHOAL_OK);
        for (size_t k = 0; k < n; k++) {
            CHECK_EQ(event[k].status, SHOAL_OK);
            check_result(w, k, round + k);
        }
    }
    return NULL;
}

static void make_buffers(worker *w)
{
    for (size_t k = 0; k < AT_ONCE; k++) {
        bool private = k == 1;
        w->src[k] = private ? must_alloc(N * sizeof(uint64_t))
                            : must_shmalloc(N * sizeof(uint64_t));
        w->dst[k] = private ? must_alloc(N * sizeof(uint64_t))
                            : must_shmalloc(N * sizeof(uint64_t));
    }
}

static void teams_at_once(void)
{
    pthread_t thread[THREADS];
    static worker workers[THREADS];
    for (int t = 0; t < THREADS; t++) {
        worker *w = &workers[t];
        // Two whole worlds, one of them backwards, and the halves twice.
        shmem_team_t half[2] = {SHMEM_TEAM_INVALID, SHMEM_TEAM_INVALID};
        for (int k = 0; t >= 2 && k < 2 && k < npes; k++)
            CHECK_EQ(shmem_team_split_strided(SHMEM_TEAM_WORLD, k, 2, (npes + 1 - k) / 2, NULL, 0,
                                              &half[k]),
                     0);
        w->team = half[me % 2];
        if (t < 2)
            CHECK_EQ(shmem_team_split_strided(SHMEM_TEAM_WORLD, t ? npes - 1 : 0, t ? -1 : 1, npes,
                                              NULL, 0, &w->team),
                     0);
        w->members = shmem_team_n_pes(w->team);
        w->self = shmem_team_my_pe(w->team);
        w->seed = (uint64_t)t;
        make_buffers(w);
    }
    shmem_barrier_all();
    for (int t = 0; t < THREADS; t++)
        CHECK_EQ(pthread_create(&thread[t], NULL, work, &workers[t]), 0);
    for (int t = 0; t < THREADS; t++)
        CHECK_EQ(pthread_join(thread[t], NULL), 0);
    shmem_barrier_all();
    for (int t = 0; t < THREADS; t++)
        shmem_team_destroy(workers[t].team);
}

int main(void)
{
    check_start_threads();
    CHECK_EQ(shoal_op_register(USER_OP, fold_maps, NULL, sizeof(uint64_t)), SHOAL_OK);
    shmem_barrier_all();
    teams_at_once();
    return check_done();
}
