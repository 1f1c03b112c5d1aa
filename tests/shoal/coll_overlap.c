// SPDX-License-Identifier: BSD-3-Clause
// NODES: 1
// PES: 2 4 7
// TIMEOUT: 60
// Nobody is needed but the last to start: the other PEs start a collective and then compute,
// without any call, or are stopped by a signal, until the last one has seen the result in
// everybody's destination. Were one of them needed, this would hang.
#include "../check.h"

#include <shoal.h>
#include <signal.h>
#include <unistd.h>

enum { USER_OP = 63, SMALL = 5, LARGE = 20000, KINDS = SHOAL_COLL_REDUCE_SCATTER + 1 };

static uint64_t started, go, pid; // symmetric
static uint64_t *src, *dst;       // symmetric, LARGE elements for each PE
static uint64_t *theirs;

static void fold_sum(void *acc, const void *in, size_t n, void *user)
{
    (void)user;
    for (size_t i = 0; i < n; i++)
        ((uint64_t *)acc)[i] += ((const uint64_t *)in)[i];
}

static uint64_t value(int kind, int pe, size_t i)
{
    return (uint64_t)kind * 1000003 + (uint64_t)(pe + 1) * 7919 + i;
}

static bool has_blocks(int kind)
{
    return kind == SHOAL_COLL_GATHER || kind == SHOAL_COLL_ALLGATHER || kind == SHOAL_COLL_ALLTOALL;
}

// Elements that a PE gets.
static size_t result_length(const shoal_coll_t *c, int pe)
{
    bool rooted = c->kind == SHOAL_COLL_REDUCE || c->kind == SHOAL_COLL_GATHER;
    if (c->kind == SHOAL_COLL_BARRIER || (rooted && pe != c->root) ||
        (c->kind == SHOAL_COLL_EXSCAN && pe == 0))
        return 0;
    return has_blocks(c->kind) ? c->count * (size_t)npes : c->count;
}

static uint64_t expected(const shoal_coll_t *c, int pe, size_t i)
{
    int last = npes - 1, block = (int)(i / c->count);
    switch (c->kind) {
    case SHOAL_COLL_BROADCAST: return value(c->kind, c->root, i);
    case SHOAL_COLL_GATHER:
    case SHOAL_COLL_ALLGATHER: return value(c->kind, block, i % c->count);
    case SHOAL_COLL_ALLTOALL: return value(c->kind, block, (size_t)pe * c->count + i % c->count);
    case SHOAL_COLL_SCAN: last = pe; break;
    case SHOAL_COLL_EXSCAN: last = pe - 1; break;
    case SHOAL_COLL_REDUCE_SCATTER: i += (size_t)pe * c->count; break;
    }
    uint64_t sum = 0;
    for (int k = 0; k <= last; k++)
        sum += value(c->kind, k, i);
    return sum;
}

// Only what the own process has, until the last PE says so.
static void compute(void)
{
    volatile double x = 1;
    while (!__atomic_load_n(&go, __ATOMIC_ACQUIRE))
        for (int i = 0; i < 1000; i++)
            x = x * 0.999 + 1;
}

static bool is_stopped(uint64_t process)
{
    char state = check_process_state(process);
    return state == 'T' || state == '?';
}

static void begin(void)
{
    memset(dst, 0xC5, LARGE * (size_t)npes * sizeof *dst);
    go = started = 0;
    shmem_barrier_all();
}

static void first_ones(const shoal_coll_t *c, bool stopped)
{
    shoal_event_t event = {0}, *events[] = {&event};
    size_t done = 0;
    CHECK_EQ(shoal_coll(SHMEM_TEAM_WORLD, c, &event), SHOAL_OK);
    shmem_uint64_atomic_inc(&started, npes - 1);
    if (stopped)
        raise(SIGSTOP);
    compute();
    CHECK_EQ(shoal_test(1, events, &done, NULL), SHOAL_OK);
    CHECK_EQ(done, 1);
    CHECK_EQ(event.status, SHOAL_OK);
}

static void check_all(const shoal_coll_t *c, int turn)
{
    for (int pe = 0; pe < npes; pe++) {
        size_t n = result_length(c, pe);
        bool has_rest = n < LARGE * (size_t)npes;
        const uint64_t *result = shmem_ptr(dst, pe);
        if (!result || turn % 2) {
            shmem_getmem(theirs, dst, (n + has_rest) * sizeof *dst, pe);
            result = theirs;
        }
        unsigned before = check_failures;
        CHECK_EACH(i, n, result[i], expected(c, pe, i));
        if (has_rest)
            CHECK_EQ(result[n], UINT64_C(0xC5C5C5C5C5C5C5C5));
        if (check_failures != before)
            fprintf(stderr, "PE %d's result of kind %d, %zu elements\n", pe, c->kind, c->count);
    }
}

static void last_one(const shoal_coll_t *c, bool stopped, int turn)
{
    shoal_event_t event = {0}, *events[] = {&event};
    uint64_t process[64];
    shmem_uint64_wait_until(&started, SHMEM_CMP_EQ, (uint64_t)npes - 1);
    for (int pe = 0; pe < npes - 1 && stopped; pe++) {
        process[pe] = shmem_uint64_g(&pid, pe);
        while (!is_stopped(process[pe]))
            sched_yield();
    }
    CHECK_EQ(shoal_coll(SHMEM_TEAM_WORLD, c, turn % 2 ? &event : NULL), SHOAL_OK);
    CHECK_EQ(shoal_wait(1, events, 1, NULL, NULL), SHOAL_OK);
    check_all(c, turn);
    for (int pe = 0; pe < npes - 1; pe++)
        shmem_uint64_p(&go, 1, pe);
    shmem_quiet();
    for (int pe = 0; pe < npes - 1 && stopped; pe++)
        kill((pid_t)process[pe], SIGCONT);
}

static void one(int kind, size_t count, bool stopped, int turn)
{
    uint64_t *private = NULL;
    shoal_coll_t c = {.kind = kind,
                      .root = turn % 3 ? 0 : npes - 1,
                      .dst = dst,
                      .src = src,
                      .count = count,
                      .type = SHOAL_UINT64,
                      .op = turn % 2 ? SHOAL_SUM : (shoal_op_t)(SHOAL_OP_USER + USER_OP)};
    size_t room = LARGE * (size_t)npes;
    if (turn % 2) // a copy is what the others read then
        c.src = private = must_alloc(room * sizeof *src);
    for (size_t i = 0; i < (count < LARGE ? count * (size_t)npes : room); i++)
        (private ? private : src)[i] = value(kind, me, i);
    begin();
    if (me == npes - 1)
        last_one(&c, stopped, turn);
    else
        first_ones(&c, stopped);
    shmem_barrier_all();
    free(private);
}

int main(void)
{
    check_start();
    if (npes > 64)
        check_skip("more than 64 PEs");
    size_t room = LARGE * (size_t)npes;
    src = must_shmalloc(room * sizeof *src);
    dst = must_shmalloc(room * sizeof *dst);
    theirs = must_alloc(room * sizeof *theirs);
    pid = (uint64_t)getpid();
    CHECK_EQ(shoal_op_register(USER_OP, fold_sum, NULL, sizeof(uint64_t)), SHOAL_OK);
    shmem_barrier_all();
    int turn = 0;
    for (int kind = SHOAL_COLL_BARRIER; kind < KINDS; kind++, turn++) {
        one(kind, SMALL, false, turn);
        one(kind, LARGE, false, turn + 1);
    }
    for (int kind = SHOAL_COLL_BROADCAST; kind < KINDS; kind++, turn++)
        one(kind, SMALL, true, turn);
    return check_done();
}
