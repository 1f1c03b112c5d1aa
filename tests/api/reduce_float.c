// SPDX-License-Identifier: BSD-3-Clause
// Floating-point reductions that round: all PEs get the same bits, the same call gives the same
// bits again, and the result is within the error of any order of summation.
#include <float.h>
#include "../check.h"
#include "types.h"

enum { MOST = 4000 };

// A number of any size between 1e-5 and 1e5, either sign.
static double wild(int pe, size_t i)
{
    static const double scale[] = {1e-5, 1e-2, 1, 1e3, 1e5};
    uint64_t s = (uint64_t)pe * 1000 + i;
    double v = (double)(rnd(&s) >> 11) / (double)(UINT64_C(1) << 53) - 0.4;
    return v * scale[rnd_below(&s, 5)];
}

// The bytes of each element that carry its value: a long double has padding.
static void expect_same_bits(const void *a, const void *b, size_t n, size_t size, size_t used,
                             const char *what)
{
    for (size_t i = 0; i < n; i++)
        if (!CHECK_MEM((const char *)a + i * size, (const char *)b + i * size, used, what))
            break;
}

#define X(T, N)                                                                                   \
    static void same_##N(size_t n, size_t used)                                                   \
    {                                                                                             \
        T *src = must_shmalloc(n * sizeof(T)), *sum = must_shmalloc(n * sizeof(T));               \
        T *again = must_shmalloc(n * sizeof(T)), *theirs = must_alloc(n * sizeof(T));             \
        for (size_t i = 0; i < n; i++)                                                            \
            src[i] = (T)wild(me, i);                                                              \
        shmem_barrier_all();                                                                      \
        for (int op = 0; op < 2; op++) {                                                          \
            int (*reduce)(shmem_team_t, T *, const T *,                                           \
                          size_t) = op == 0 ? shmem_##N##_sum_reduce : shmem_##N##_prod_reduce;   \
            CHECK_EQ(reduce(SHMEM_TEAM_WORLD, sum, src, n), 0);                                   \
            CHECK_EQ(reduce(SHMEM_TEAM_WORLD, again, src, n), 0);                                 \
            expect_same_bits(sum, again, n, sizeof(T), used, "bits of the same reduction again"); \
            shmem_barrier_all();                                                                  \
            shmem_getmem(theirs, sum, n * sizeof(T), right_pe());                                 \
            expect_same_bits(theirs, sum, n, sizeof(T), used, "bits of the neighbour's result");  \
            shmem_barrier_all();                                                                  \
        }                                                                                         \
        CHECK_EQ(shmem_##N##_sum_reduce(SHMEM_TEAM_WORLD, sum, src, n), 0);                       \
        for (size_t i = 0; i < n; i++) {                                                          \
            long double exact = 0, size = 0;                                                      \
            for (int pe = 0; pe < npes; pe++) {                                                   \
                exact += wild(pe, i);                                                             \
                size += wild(pe, i) < 0 ? -wild(pe, i) : wild(pe, i);                             \
            }                                                                                     \
            long double error = (long double)creall(sum[i]) - exact;                              \
            if (!CHECK((error < 0 ? -error : error) <= size * npes * 1.2e-7L))                    \
                break;                                                                            \
        }                                                                                         \
        shmem_free(src);                                                                          \
        shmem_free(sum);                                                                          \
        shmem_free(again);                                                                        \
        free(theirs);                                                                             \
    }
EACH_AMO_FLOAT(X)
X(long double, longdouble)
EACH_COMPLEX(X)
#undef X

int main(void)
{
    check_start();
    static const size_t counts[] = {1, 2, 37, 513, MOST};
    for (int i = 0; i < 5; i++) {
        same_float(counts[i], sizeof(float));
        same_double(counts[i], sizeof(double));
        // x87 numbers use 10 of their bytes
        same_longdouble(counts[i], LDBL_MANT_DIG == 64 ? 10 : sizeof(long double));
        same_complexf(counts[i], sizeof(float complex));
        same_complexd(counts[i], sizeof(double complex));
    }
    return check_done();
}
