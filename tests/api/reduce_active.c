// SPDX-License-Identifier: BSD-3-Clause
// Reductions over active sets (deprecated since 1.5): and, or, xor, max, min, sum, prod _to_all of
// every type they know, many sets and lengths, in place too. pSync comes back as it was.
#include "../check.h"
#include "asets.h"
#include "types.h"

enum { MOST = 2000 };

static long psync[2][SHMEM_REDUCE_SYNC_SIZE];
static long barrier_sync[MAX_ASETS * SHMEM_BARRIER_SYNC_SIZE];
static void *src, *dst, *work;
static long *wait_here;

static int small(int pe, size_t i)
{
    return (int)(((size_t)pe * 5 + i) % 9) - 3;
}

static int factor(int pe, size_t i)
{
    return ((size_t)pe + i) % 7 < 2 ? -2 : 1;
}

#define SUM(T, a, b) (T)((a) + (b))
#define PROD(T, a, b) (T)((a) * (b))
#define MAX(T, a, b) ((a) > (b) ? (a) : (b))
#define MIN(T, a, b) ((a) < (b) ? (a) : (b))
#define AND(T, a, b) (T)((a) & (b))
#define OR(T, a, b) (T)((a) | (b))
#define XOR(T, a, b) (T)((a) ^ (b))

#define CHECK_TO_ALL(T, N, op, OP, V)                                                      \
    {                                                                                      \
        T *s = src, *d = n % 2 == 0 ? dst : src;                                           \
        for (size_t i = 0; i < (size_t)n; i++)                                             \
            s[i] = (T)V(me, i);                                                            \
        shmem_##N##_##op##_to_all(d, s, n, a->start, a->log, a->size, work, psync[n % 2]); \
        for (size_t i = 0; i < (size_t)n; i++) {                                           \
            T want = (T)V(a->start, i);                                                    \
            for (int k = 1; k < a->size; k++)                                              \
                want = OP(T, want, (T)V(aset_pe(a, k), i));                                \
            if (!CHECK(d[i] == want))                                                      \
                break;                                                                     \
        }                                                                                  \
        shmem_barrier(a->start, a->log, a->size, wait_here);                               \
    }

#define X(T, N)                                  \
    static T wide_##N(int pe, size_t i)          \
    {                                            \
        return VALUE(T, pe * 5 + (int)(i % 50)); \
    }                                            \
    static void real_##N(const aset *a, int n)   \
    {                                            \
        CHECK_TO_ALL(T, N, max, MAX, wide_##N)   \
        CHECK_TO_ALL(T, N, min, MIN, wide_##N)   \
        CHECK_TO_ALL(T, N, sum, SUM, small)      \
        CHECK_TO_ALL(T, N, prod, PROD, factor)   \
    }
EACH_TO_ALL_REAL(X)
#undef X
#define X(T, N)                                \
    static void bits_##N(const aset *a, int n) \
    {                                          \
        CHECK_TO_ALL(T, N, and, AND, wide_##N) \
        CHECK_TO_ALL(T, N, or, OR, wide_##N)   \
        CHECK_TO_ALL(T, N, xor, XOR, wide_##N) \
    }
EACH_TO_ALL_BITWISE(X)
#undef X

static double complex turned(int pe, size_t i)
{
    static const double complex turn[4] = {1, I, -1, -I};
    return turn[((size_t)pe + i) % 4] * factor(pe, i);
}
#define X(T, N)                                   \
    static void complex_##N(const aset *a, int n) \
    {                                             \
        CHECK_TO_ALL(T, N, sum, SUM, turned)      \
        CHECK_TO_ALL(T, N, prod, PROD, turned)    \
    }
EACH_COMPLEX(X)
#undef X

static void all_types(const aset *a, int n)
{
#define X(T, N) real_##N(a, n);
    EACH_TO_ALL_REAL(X)
#undef X
#define X(T, N) bits_##N(a, n);
    EACH_TO_ALL_BITWISE(X)
#undef X
#define X(T, N) complex_##N(a, n);
    EACH_COMPLEX(X)
#undef X
}

int main(void)
{
    check_start();
    // pWrk: half the elements and one, or the minimum, whichever is more; of the widest type.
    size_t words = MOST / 2 + 1 + SHMEM_REDUCE_MIN_WRKDATA_SIZE;
    src = must_shmalloc(MOST * 16);
    dst = must_shmalloc(MOST * 16);
    work = must_shmalloc(words * 16);
    init_sync(psync[0], SHMEM_REDUCE_SYNC_SIZE);
    init_sync(psync[1], SHMEM_REDUCE_SYNC_SIZE);
    init_sync(barrier_sync, sizeof barrier_sync / sizeof(long));
    shmem_barrier_all();
    static const int counts[] = {1, 4, 0, 33, 2, 7, 100};
    aset sets[MAX_ASETS];
    int count = list_asets(sets);
    for (int i = 0; i < count; i++) {
        wait_here = barrier_sync + i * SHMEM_BARRIER_SYNC_SIZE;
        if (aset_index(&sets[i], me) >= 0) {
            all_types(&sets[i], counts[i % 7]);
            all_types(&sets[i], counts[(i + 1) % 7]);
            if (i == 0)
                all_types(&sets[i], MOST);
        }
        shmem_barrier_all();
        CHECK_SYNC_RESTORED(psync[0], SHMEM_REDUCE_SYNC_SIZE);
        CHECK_SYNC_RESTORED(psync[1], SHMEM_REDUCE_SYNC_SIZE);
        shmem_barrier_all();
    }
    return check_done();
}
