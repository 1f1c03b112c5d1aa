// SPDX-License-Identifier: BSD-3-Clause
// Team reductions: and, or, xor, max, min, sum, prod of every type they know, out of place and in
// place, several teams and lengths. The values are such that every order gives the same result.
#include "../check.h"
#include "coll_rows.h"

enum { MOST = 3000 };

static void *src, *dst; // MOST elements of the widest type

// Small values of any type: sums of up to 60 of them fit in 8 bits, products of 16 too.
static int small(int pe, size_t i)
{
    return (int)(((size_t)pe * 3 + i) % 3);
}

static int factor(int pe, size_t i)
{
    return ((size_t)pe + i) % 7 < 2 ? 2 : 1;
}

#define SUM(T, a, b) (T)((a) + (b))
#define PROD(T, a, b) (T)((a) * (b))
#define MAX(T, a, b) ((a) > (b) ? (a) : (b))
#define MIN(T, a, b) ((a) < (b) ? (a) : (b))
#define AND(T, a, b) (T)((a) & (b))
#define OR(T, a, b) (T)((a) | (b))
#define XOR(T, a, b) (T)((a) ^ (b))

// Fills the source, reduces, compares each element with the fold over the members. In place the
// source is the destination too; otherwise it must stay as it was.
#define CHECK_REDUCE(T, N, op, OP, V, EQ)                                   \
    {                                                                       \
        T *s = src, *d = in_place ? src : dst;                              \
        for (size_t i = 0; i < n; i++)                                      \
            s[i] = (T)V(me, i);                                             \
        CHECK_EQ(shmem_##N##_##op##_reduce(t->team, d, s, n), 0);           \
        for (size_t i = 0; i < n; i++) {                                    \
            T want = (T)V(t->start, i);                                     \
            for (int k = 1; k < t->size; k++)                               \
                want = OP(T, want, (T)V(team_world_pe(t, k), i));           \
            if (!EQ(d[i], want) || !CHECK(in_place || s[i] == (T)V(me, i))) \
                break;                                                      \
        }                                                                   \
        shmem_team_sync(t->team);                                           \
    }
#define COMPLEX_EQ(got, want) \
    (CHECK_EQ(creal(got), creal(want)) && CHECK_EQ(cimag(got), cimag(want)))

#define X(T, N)                                                       \
    static T wide_##N(int pe, size_t i)                               \
    {                                                                 \
        return VALUE(T, pe * 5 + (int)(i % 50));                      \
    }                                                                 \
    static void real_##N(const test_team *t, size_t n, bool in_place) \
    {                                                                 \
        CHECK_REDUCE(T, N, sum, SUM, small, CHECK_EQ)                 \
        CHECK_REDUCE(T, N, prod, PROD, factor, CHECK_EQ)              \
        CHECK_REDUCE(T, N, max, MAX, wide_##N, CHECK_EQ)              \
        CHECK_REDUCE(T, N, min, MIN, wide_##N, CHECK_EQ)              \
    }
EACH_RMA(X)
#undef X

#define X(T, N)                                                       \
    static void bits_##N(const test_team *t, size_t n, bool in_place) \
    {                                                                 \
        CHECK_REDUCE(T, N, and, AND, wide_##N, CHECK_EQ)              \
        CHECK_REDUCE(T, N, or, OR, wide_##N, CHECK_EQ)                \
        CHECK_REDUCE(T, N, xor, XOR, wide_##N, CHECK_EQ)              \
    }
EACH_REDUCE_BITWISE(X)
#undef X

// Complex: powers of i times a factor, so that the parts mix.
static double complex turned(int pe, size_t i)
{
    static const double complex turn[4] = {1, I, -1, -I};
    return turn[((size_t)pe + i) % 4] * factor(pe, i);
}

#define X(T, N)                                                          \
    static void complex_##N(const test_team *t, size_t n, bool in_place) \
    {                                                                    \
        CHECK_REDUCE(T, N, sum, SUM, turned, COMPLEX_EQ)                 \
        CHECK_REDUCE(T, N, prod, PROD, turned, COMPLEX_EQ)               \
    }
EACH_COMPLEX(X)
#undef X

// Unsigned sums and products wrap around.
static void wrap_around(const test_team *t)
{
    const size_t n = 50;
    const bool in_place = false;
    CHECK_REDUCE(uint64_t, uint64, sum, SUM, wide_uint64, CHECK_EQ)
    CHECK_REDUCE(uint64_t, uint64, prod, PROD, wide_uint64, CHECK_EQ)
    CHECK_REDUCE(uint32_t, uint32, sum, SUM, wide_uint32, CHECK_EQ)
    CHECK_REDUCE(size_t, size, prod, PROD, wide_size, CHECK_EQ)
}

static void all_types(const test_team *t, size_t n, bool in_place)
{
#define X(T, N) real_##N(t, n, in_place);
    EACH_RMA(X)
#undef X
#define X(T, N) complex_##N(t, n, in_place);
    EACH_COMPLEX(X)
#undef X
#define X(T, N) bits_##N(t, n, in_place);
    EACH_REDUCE_BITWISE(X)
#undef X
}

// Up to 1 MB, at sizes around the thresholds an implementation may have.
static void long_vectors(void)
{
    static const size_t counts[] = {511, 512, 513, 1024, 1025, 4097, 20000, 131072};
    size_t most = 131072;
    int64_t *s = must_shmalloc(most * sizeof *s), *d = must_shmalloc((most + 1) * sizeof *d);
    for (size_t k = 0; k < sizeof counts / sizeof counts[0]; k++) {
        size_t n = counts[k];
        for (size_t i = 0; i < n; i++)
            s[i] = (int64_t)i * (me + 1) - 1000000;
        d[n] = -7;
        shmem_sync_all();
        CHECK_EQ(shmem_int64_sum_reduce(SHMEM_TEAM_WORLD, d, s, n), 0);
        int64_t pes = (int64_t)npes * (npes + 1) / 2;
        CHECK_EACH(i, n, d[i], (int64_t)i * pes - INT64_C(1000000) * npes);
        CHECK_EQ(d[n], -7);
        CHECK_EQ(shmem_int64_min_reduce(SHMEM_TEAM_WORLD, s, s, n), 0);
        CHECK_EACH(i, n, s[i], (int64_t)i - 1000000);
        shmem_sync_all();
    }
    shmem_free(s);
    shmem_free(d);
}

int main(void)
{
    check_start();
    src = must_shmalloc(MOST * 16);
    dst = must_shmalloc(MOST * 16);
    test_team teams[MAX_TEAMS];
    int count = make_teams(teams);
    static const size_t counts[] = {3, 1, 70, 0, 9, 5};
    for (int i = 0; i < count; i++) {
        shmem_barrier_all();
        if (teams[i].rank < 0)
            continue;
        all_types(&teams[i], counts[i], false);
        all_types(&teams[i], counts[i] + 2, true);
        wrap_around(&teams[i]);
    }
    shmem_barrier_all();
    all_types(&teams[0], MOST, false);
    shmem_barrier_all();
    long_vectors();
    destroy_teams(teams, count);
    return check_done();
}
