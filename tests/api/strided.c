// SPDX-License-Identifier: BSD-3-Clause
// iput, iget (single elements), ibput, ibget (blocks) and their context forms: every type and
// size, strides from contiguous to wide, zero elements, and nothing written between the elements.
#include "../check.h"
#include "types.h"

typedef void strided_fn(shmem_ctx_t, void *, const void *, ptrdiff_t, ptrdiff_t, size_t, int);
typedef void blocks_fn(shmem_ctx_t, void *, const void *, ptrdiff_t, ptrdiff_t, size_t, size_t,
                       int);

typedef struct {
    const char *name;
    size_t size;
    strided_fn *put, *get;
    blocks_fn *bput, *bget;
} strided_row;

// A NULL context here stands for the forms without a context argument.
#define NO_CTX SHMEM_CTX_INVALID
#define WRAP(ID, PLAIN, CTX)                                                                      \
    static void ID(shmem_ctx_t c, void *d, const void *s, ptrdiff_t dst, ptrdiff_t sst, size_t n, \
                   int pe)                                                                        \
    {                                                                                             \
        if (c == NO_CTX)                                                                          \
            PLAIN(d, s, dst, sst, n, pe);                                                         \
        else                                                                                      \
            CTX(c, d, s, dst, sst, n, pe);                                                        \
    }
#define WRAP_BLOCKS(ID, PLAIN, CTX)                                                               \
    static void ID(shmem_ctx_t c, void *d, const void *s, ptrdiff_t dst, ptrdiff_t sst, size_t b, \
                   size_t n, int pe)                                                              \
    {                                                                                             \
        if (c == NO_CTX)                                                                          \
            PLAIN(d, s, dst, sst, b, n, pe);                                                      \
        else                                                                                      \
            CTX(c, d, s, dst, sst, b, n, pe);                                                     \
    }
#define X(T, N)                                                      \
    WRAP(N##_iput, shmem_##N##_iput, shmem_ctx_##N##_iput)           \
    WRAP(N##_iget, shmem_##N##_iget, shmem_ctx_##N##_iget)           \
    WRAP_BLOCKS(N##_ibput, shmem_##N##_ibput, shmem_ctx_##N##_ibput) \
    WRAP_BLOCKS(N##_ibget, shmem_##N##_ibget, shmem_ctx_##N##_ibget)
EACH_RMA(X)
#undef X

#define EACH_SIZE(X) \
    X(8)             \
    X(16)            \
    X(32)            \
    X(64)            \
    X(128)
#define X(S)                                                  \
    WRAP(iput##S, shmem_iput##S, shmem_ctx_iput##S)           \
    WRAP(iget##S, shmem_iget##S, shmem_ctx_iget##S)           \
    WRAP_BLOCKS(ibput##S, shmem_ibput##S, shmem_ctx_ibput##S) \
    WRAP_BLOCKS(ibget##S, shmem_ibget##S, shmem_ctx_ibget##S)
EACH_SIZE(X)
#undef X

static const strided_row rows[] = {
#define X(T, N) {#N, sizeof(T), N##_iput, N##_iget, N##_ibput, N##_ibget},
    EACH_RMA(X)
#undef X
#define X(S) {"size " #S, S / 8, iput##S, iget##S, ibput##S, ibget##S},
        EACH_SIZE(X)
#undef X
};
enum { ROWS = sizeof rows / sizeof rows[0] };

// One transfer: strides and block length in elements. block 0 means the forms without blocks.
typedef struct {
    int dst, sst, block, n;
} shape;
static const shape shapes[] = {
    {1, 1, 0, 10}, {2, 1, 0, 9}, {1, 3, 0, 9},  {3, 2, 0, 7},   {7, 5, 0, 11},
    {4, 4, 0, 0},  {5, 9, 0, 1}, {1, 1, 1, 10}, {3, 3, 3, 5},   {4, 5, 3, 6},
    {8, 2, 2, 4},  {2, 9, 1, 7}, {4, 4, 4, 0},  {10, 16, 7, 5}, {16, 16, 16, 1},
};
enum { SHAPES = sizeof shapes / sizeof shapes[0], ELEMS = 128, SPACE = ELEMS * 16 };

static unsigned char *src, *dst;

static void expect(const strided_row *r, const shape *s, int writer, const char *what)
{
    static unsigned char model[SPACE], from[SPACE];
    size_t block = s->block > 0 ? (size_t)s->block : 1;
    memset(model, 0xEE, sizeof model);
    fill(from, SPACE, (unsigned)writer);
    for (int i = 0; i < s->n; i++)
        memcpy(model + (size_t)(i * s->dst) * r->size, from + (size_t)(i * s->sst) * r->size,
               block * r->size);
    char text[96];
    snprintf(text, sizeof text, "%s, %s, dst %d sst %d block %d n %d", what, r->name, s->dst,
             s->sst, s->block, s->n);
    CHECK_MEM(dst, model, SPACE, text);
}

static void put_shape(const strided_row *r, const shape *s, shmem_ctx_t ctx)
{
    memset(dst, 0xEE, SPACE);
    shmem_barrier_all();
    if (s->block > 0)
        r->bput(ctx, dst, src, s->dst, s->sst, (size_t)s->block, (size_t)s->n, right_pe());
    else
        r->put(ctx, dst, src, s->dst, s->sst, (size_t)s->n, right_pe());
    if (ctx != NO_CTX)
        shmem_ctx_quiet(ctx);
    shmem_barrier_all();
    expect(r, s, left_pe(), s->block > 0 ? "ibput" : "iput");
    shmem_sync_all();
}

static void get_shape(const strided_row *r, const shape *s, shmem_ctx_t ctx)
{
    memset(dst, 0xEE, SPACE);
    if (s->block > 0)
        r->bget(ctx, dst, src, s->dst, s->sst, (size_t)s->block, (size_t)s->n, right_pe());
    else
        r->get(ctx, dst, src, s->dst, s->sst, (size_t)s->n, right_pe());
    expect(r, s, right_pe(), s->block > 0 ? "ibget" : "iget");
}

// So many that they take messages of their own: behind what was put before a fence, and all there after a quiet.
static void many(shmem_ctx_t ctx)
{
    enum { N = 5000, WIDE = 3 * N };
    long *from = must_shmalloc(WIDE * sizeof *from), *to = must_shmalloc(WIDE * sizeof *to);
    for (int i = 0; i < WIDE; i++) {
        from[i] = 1000000L * me + i;
        to[i] = -1;
    }
    shmem_barrier_all();
    shmem_ctx_long_put(ctx, to, from, 8, right_pe());
    shmem_ctx_long_p(ctx, &to[6], -7, right_pe());
    shmem_ctx_fence(ctx);
    shmem_ctx_long_iput(ctx, to, from, 3, 2, N, right_pe());
    shmem_ctx_long_ibput(ctx, to + 1, from + 1, 600, 300, 1, 20, right_pe());
    shmem_ctx_quiet(ctx);
    shmem_barrier_all();
    for (int i = 0; i < N; i++)
        CHECK_EQ(to[3 * i], 1000000L * left_pe() + 2 * i);
    CHECK_EQ(to[5], 1000000L * left_pe() + 5); // between the elements
    CHECK_EQ(to[8], -1);
    CHECK_EQ(to[601], 1000000L * left_pe() + 301);
    shmem_barrier_all();
    shmem_ctx_long_iget(ctx, to, from, 1, 3, N, right_pe());
    for (int i = 0; i < N; i++)
        CHECK_EQ(to[i], 1000000L * right_pe() + 3 * i);
    shmem_ctx_long_iget(ctx, to, from, 2, 3, N, right_pe());
    for (int i = 0; i < N; i++)
        CHECK_EQ(to[2 * i], 1000000L * right_pe() + 3 * i);
    shmem_barrier_all();
    shmem_free(to);
    shmem_free(from);
}

int main(void)
{
    shmem_ctx_t ctx;
    check_start();
    src = must_shmalloc(SPACE);
    dst = must_shmalloc(SPACE);
    if (!CHECK_EQ(shmem_ctx_create(SHMEM_CTX_SERIALIZED, &ctx), 0))
        shmem_global_exit(1);
    fill(src, SPACE, (unsigned)me);
    shmem_barrier_all();
    for (int i = 0; i < ROWS; i++) {
        for (int k = 0; k < SHAPES; k++)
            get_shape(&rows[i], &shapes[k], (i + k) % 2 == 0 ? ctx : NO_CTX);
        for (int k = 0; k < SHAPES; k++)
            get_shape(&rows[i], &shapes[k], (i + k) % 2 == 0 ? NO_CTX : ctx);
    }
    shmem_barrier_all();
    for (int i = 0; i < ROWS; i++) {
        for (int k = 0; k < SHAPES; k++)
            put_shape(&rows[i], &shapes[k], (i + k) % 2 == 0 ? ctx : NO_CTX);
        for (int k = 6; k < 10; k++) // both kinds, once more, with the other form
            put_shape(&rows[i], &shapes[k], (i + k) % 2 == 0 ? NO_CTX : ctx);
    }
    many(ctx);
    many(SHMEM_CTX_DEFAULT);
    shmem_ctx_destroy(ctx);
    return check_done();
}
