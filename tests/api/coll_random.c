// SPDX-License-Identifier: BSD-3-Clause
// PES: 1 2 4 7 16
// A long random sequence of different collectives on different teams that overlap, the same on all
// PEs, each result compared with a model. No barrier but one each time the destinations run out.
#include "../check.h"
#include "coll_rows.h"

enum { STEPS = 1200, POOL = 24 };
enum { SYNC, BROADCAST, COLLECT, FCOLLECT, ALLTOALL, SUM, MAX, XOR, INSCAN, EXSCAN, BARRIER, OPS };

static uint64_t *src, *pool;
static size_t slot; // elements of one destination

typedef struct {
    int op, root, round;
    size_t n;
} step;

static uint64_t value(int pe, int round, size_t i)
{
    uint64_t s = (uint64_t)pe * 7919 + (uint64_t)round * 104729 + i;
    return rnd(&s);
}

// Element i of what member `rank` gets in a reduction or a scan.
static uint64_t folded(const test_team *t, const step *s, size_t i)
{
    uint64_t acc = 0;
    int last = s->op == INSCAN ? t->rank + 1 : s->op == EXSCAN ? t->rank : t->size;
    for (int k = 0; k < last; k++) {
        uint64_t v = value(team_world_pe(t, k), s->round, i);
        acc = s->op == MAX ? (v > acc ? v : acc) : s->op == XOR ? acc ^ v : acc + v;
    }
    return acc;
}

static size_t share_of(const step *s, int rank)
{
    return (s->n + (size_t)rank * 3) % (s->n + 2);
}

static int run(const test_team *t, const step *s, uint64_t *dst)
{
    switch (s->op) {
    case SYNC: return shmem_team_sync(t->team);
    case BROADCAST: return shmem_uint64_broadcast(t->team, dst, src, s->n, s->root);
    case COLLECT: return shmem_uint64_collect(t->team, dst, src, share_of(s, t->rank));
    case FCOLLECT: return shmem_uint64_fcollect(t->team, dst, src, s->n);
    case ALLTOALL: return shmem_uint64_alltoall(t->team, dst, src, s->n);
    case SUM: return shmem_uint64_sum_reduce(t->team, dst, src, s->n);
    case MAX: return shmem_uint64_max_reduce(t->team, dst, src, s->n);
    case XOR: return shmem_uint64_xor_reduce(t->team, dst, src, s->n);
    case INSCAN: return shmem_uint64_sum_inscan(t->team, dst, src, s->n);
    default: return shmem_uint64_sum_exscan(t->team, dst, src, s->n);
    }
}

static void expect(const test_team *t, const step *s, const uint64_t *dst)
{
    size_t n = s->n, at = 0;
    switch (s->op) {
    case SYNC: break;
    case BROADCAST: CHECK_EACH(i, n, dst[i], value(team_world_pe(t, s->root), s->round, i)); break;
    case COLLECT:
        for (int k = 0; k < t->size; k++) {
            CHECK_EACH(i, share_of(s, k), dst[at + i], value(team_world_pe(t, k), s->round, i));
            at += share_of(s, k);
        }
        break;
    case FCOLLECT:
        CHECK_EACH(i, n * (size_t)t->size, dst[i],
                   value(team_world_pe(t, (int)(i / n)), s->round, i % n));
        break;
    case ALLTOALL:
        CHECK_EACH(i, n * (size_t)t->size, dst[i],
                   value(team_world_pe(t, (int)(i / n)), s->round, (size_t)t->rank * n + i % n));
        break;
    default: CHECK_EACH(i, n, dst[i], folded(t, s, i));
    }
}

int main(void)
{
    check_start();
    check_spread();
    enum { MOST = 600 };
    slot = (size_t)(MOST + 2) * (size_t)npes;
    src = must_shmalloc(slot * sizeof(uint64_t));
    pool = must_shmalloc(slot * POOL * sizeof(uint64_t));
    test_team teams[MAX_TEAMS];
    int count = make_teams(teams);
    uint64_t seed = 2026;
    for (int round = 0; round < STEPS; round++) {
        const test_team *t = &teams[rnd_below(&seed, (size_t)count)];
        step s = {.op = (int)rnd_below(&seed, OPS), .round = round};
        s.root = (int)rnd_below(&seed, (size_t)t->size);
        s.n = rnd_below(&seed, rnd_below(&seed, 15) == 0 ? MOST : 20);
        if (round % POOL == 0 || s.op == BARRIER)
            shmem_barrier_all();
        if (t->rank < 0 || s.op == BARRIER)
            continue;
        for (size_t i = 0; i < s.n * (size_t)t->size + 2; i++)
            src[i] = value(me, round, i);
        uint64_t *dst = pool + (size_t)(round % POOL) * slot;
        unsigned before = check_failures;
        CHECK_EQ(run(t, &s, dst), 0);
        memset(src, 0xFF, (s.n * (size_t)t->size + 2) * sizeof *src);
        expect(t, &s, dst);
        if (check_failures != before)
            fprintf(stderr, "PE %d: in step %d: operation %d on %zu elements, team %d of %d\n", me,
                    round, s.op, s.n, (int)(t - teams), t->size);
    }
    shmem_barrier_all();
    destroy_teams(teams, count);
    return check_done();
}
