// SPDX-License-Identifier: BSD-3-Clause
// sum_inscan and sum_exscan: every type, teams of all kinds, zero to many elements, in place.
#include "../check.h"
#include "coll_rows.h"

enum { MOST = 20000 };

static void *src, *dst;

static int small(int pe, size_t i)
{
    return (int)(((size_t)pe * 3 + i) % 4);
}

#define CHECK_SCAN(T, N, kind, members, V, EQ)                              \
    {                                                                       \
        T *s = src, *d = in_place ? src : dst;                              \
        for (size_t i = 0; i < n; i++)                                      \
            s[i] = (T)V(me, i);                                             \
        shmem_team_sync(t->team);                                           \
        CHECK_EQ(shmem_##N##_sum_##kind(t->team, d, s, n), 0);              \
        for (size_t i = 0; i < n; i++) {                                    \
            T want = 0;                                                     \
            for (int k = 0; k < (members); k++)                             \
                want = (T)(want + (T)V(team_world_pe(t, k), i));            \
            if (!EQ(d[i], want) || !CHECK(in_place || s[i] == (T)V(me, i))) \
                break;                                                      \
        }                                                                   \
        shmem_team_sync(t->team);                                           \
    }
#define COMPLEX_EQ(got, want) \
    (CHECK_EQ(creal(got), creal(want)) && CHECK_EQ(cimag(got), cimag(want)))

#define X(T, N)                                                       \
    static void scan_##N(const test_team *t, size_t n, bool in_place) \
    {                                                                 \
        CHECK_SCAN(T, N, inscan, t->rank + 1, small, CHECK_EQ)        \
        CHECK_SCAN(T, N, exscan, t->rank, small, CHECK_EQ)            \
    }
EACH_RMA(X)
#undef X

static double complex mixed(int pe, size_t i)
{
    return small(pe, i) - 2 * small(pe, i + 1) * I;
}
#define X(T, N)                                                       \
    static void scan_##N(const test_team *t, size_t n, bool in_place) \
    {                                                                 \
        CHECK_SCAN(T, N, inscan, t->rank + 1, mixed, COMPLEX_EQ)      \
        CHECK_SCAN(T, N, exscan, t->rank, mixed, COMPLEX_EQ)          \
    }
EACH_COMPLEX(X)
#undef X

static void all_types(const test_team *t, size_t n, bool in_place)
{
#define X(T, N) scan_##N(t, n, in_place);
    EACH_RMA(X)
    EACH_COMPLEX(X)
#undef X
}

int main(void)
{
    check_start();
    src = must_shmalloc(MOST * 16);
    dst = must_shmalloc(MOST * 16);
    test_team teams[MAX_TEAMS];
    int count = make_teams(teams);
    static const size_t counts[] = {1, 4, 0, 19, 300, 2};
    for (int i = 0; i < count; i++) {
        shmem_barrier_all();
        if (teams[i].rank < 0)
            continue;
        all_types(&teams[i], counts[i], false);
        all_types(&teams[i], counts[i] + 1, true);
        scan_int64(&teams[i], MOST, i % 2 == 0);
        scan_float(&teams[i], MOST, i % 2 == 1);
        scan_uint8(&teams[i], MOST, true);
    }
    shmem_barrier_all();
    destroy_teams(teams, count);
    return check_done();
}
