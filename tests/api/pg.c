// SPDX-License-Identifier: BSD-3-Clause
// p and g and their context forms: every type, to and from heap and static variables.
#include "../check.h"
#include "types.h"

static shmem_ctx_t ctx;

// Three elements, so that a store that is too wide is seen on either side.
#define PG(T, N, F, CTX)                                                         \
    {                                                                            \
        static T var[3];                                                         \
        T *heap = shmem_calloc(3, sizeof(T));                                    \
        T keep = VALUE(T, 77);                                                   \
        var[0] = var[2] = keep;                                                  \
        shmem_barrier_all();                                                     \
        F##_p(CTX &var[1], VALUE(T, me), right_pe());                            \
        F##_p(CTX &heap[1], VALUE(T, me + 100), right_pe());                     \
        shmem_ctx_quiet(ctx);                                                    \
        shmem_barrier_all();                                                     \
        CHECK_EQ(var[1], VALUE(T, left_pe()));                                   \
        CHECK_EQ(heap[1], VALUE(T, left_pe() + 100));                            \
        CHECK(var[0] == keep && var[2] == keep && heap[0] == 0 && heap[2] == 0); \
        for (int pe = 0; pe < npes; pe++) {                                      \
            int writer = (pe + npes - 1) % npes;                                 \
            CHECK_EQ(F##_g(CTX &var[1], pe), VALUE(T, writer));                  \
            CHECK_EQ(F##_g(CTX &heap[1], pe), VALUE(T, writer + 100));           \
        }                                                                        \
        shmem_free(heap);                                                        \
    }

#define WITH_CTX ctx,
#define X(T, N)                           \
    static void pg_##N(void)              \
    {                                     \
        PG(T, N, shmem_##N, )             \
        PG(T, N, shmem_ctx_##N, WITH_CTX) \
    }
EACH_RMA(X)
#undef X

// Many single elements in a row arrive all, whatever their order.
static void scatter(void)
{
    enum { N = 2000 };
    int *a = must_shmalloc(sizeof(int) * N);
    memset(a, 0xFF, sizeof(int) * N);
    shmem_barrier_all();
    for (int i = me; i < N; i += npes)
        for (int pe = 0; pe < npes; pe++)
            shmem_int_p(&a[i], i * 3, pe);
    shmem_barrier_all();
    CHECK_EACH(i, N, a[i], (int)i * 3);
    shmem_free(a);
}

int main(void)
{
    check_start();
    if (!CHECK_EQ(shmem_ctx_create(0, &ctx), 0))
        shmem_global_exit(1);
#define X(T, N) pg_##N();
    EACH_RMA(X)
#undef X
    scatter();
    shmem_ctx_destroy(ctx);
    return check_done();
}
