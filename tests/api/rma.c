// SPDX-License-Identifier: BSD-3-Clause
// put, get, put_nbi, get_nbi and their context forms: every type and size, element counts from 0
// to 1 MB, every alignment, to the neighbour, to itself and to everybody.
#include "../check.h"
#include "rma_rows.h"

enum { BIG = 1 << 20, GAP = 32, SPACE = BIG + 256 };

static const size_t counts[] = {0, 1, 2, 3, 5, 8, 17, 64, 255, 1000};
enum { COUNTS = sizeof counts / sizeof counts[0], ROW_SPACE = 1 << 15 };

static unsigned char *src, *dst;
static shmem_ctx_t ctx;

// The place of the k-th transfer of a row; the blocks lie one after another with gaps between.
static size_t place(const rma_row *r, int k)
{
    size_t at = GAP;
    for (int i = 0; i < k; i++)
        at += counts[i] * r->size + GAP;
    return at;
}

static void expect_blocks(const rma_row *r, int writer, const char *what)
{
    static unsigned char model[ROW_SPACE], written[ROW_SPACE];
    fill(written, ROW_SPACE, (unsigned)writer);
    memset(model, 0xEE, sizeof model);
    for (int k = 0; k < COUNTS; k++)
        memcpy(model + place(r, k), written + place(r, k), counts[k] * r->size);
    char text[64];
    snprintf(text, sizeof text, "%s of %s", what, r->name);
    CHECK_MEM(dst, model, ROW_SPACE, text);
}

static void put_row(const rma_row *r, xfer_fn *put, ctx_xfer_fn *ctx_put, const char *what)
{
    memset(dst, 0xEE, ROW_SPACE);
    shmem_barrier_all();
    for (int k = 0; k < COUNTS; k++) {
        size_t at = place(r, k);
        if (ctx_put != NULL)
            ctx_put(ctx, dst + at, src + at, counts[k], right_pe());
        else
            put(dst + at, src + at, counts[k], right_pe());
    }
    if (ctx_put != NULL)
        shmem_ctx_quiet(ctx);
    shmem_barrier_all();
    expect_blocks(r, left_pe(), what);
    shmem_barrier_all();
}

static void get_row(const rma_row *r, xfer_fn *get, ctx_xfer_fn *ctx_get, const char *what)
{
    memset(dst, 0xEE, ROW_SPACE);
    for (int k = 0; k < COUNTS; k++) {
        size_t at = place(r, k);
        if (ctx_get != NULL)
            ctx_get(ctx, dst + at, src + at, counts[k], right_pe());
        else
            get(dst + at, src + at, counts[k], right_pe());
    }
    shmem_quiet();
    shmem_ctx_quiet(ctx);
    expect_blocks(r, right_pe(), what);
}

static void rows(void)
{
    for (int i = 0; i < RMA_ROWS; i++) {
        const rma_row *r = &rma_rows[i];
        put_row(r, r->put, NULL, "put");
        put_row(r, r->put_nbi, NULL, "put_nbi");
        put_row(r, NULL, r->ctx_put, "ctx_put");
        put_row(r, NULL, r->ctx_put_nbi, "ctx_put_nbi");
        get_row(r, r->get, NULL, "get");
        get_row(r, r->get_nbi, NULL, "get_nbi");
        get_row(r, NULL, r->ctx_get, "ctx_get");
        get_row(r, NULL, r->ctx_get_nbi, "ctx_get_nbi");
    }
    shmem_barrier_all();
}

// Any address and any length, on both sides.
static void unaligned(void)
{
    static unsigned char model[256];
    for (size_t n = 0; n < 70; n = n < 34 ? n + 1 : n + 13) {
        for (size_t shift = 0; shift < 9; shift++) {
            size_t from = (shift * 5 + n) % 9;
            memset(dst, 0xEE, sizeof model);
            memset(model, 0xEE, sizeof model);
            shmem_getmem(dst + shift, src + from, n, right_pe());
            for (size_t i = 0; i < n; i++)
                model[shift + i] = fill_byte((unsigned)right_pe(), from + i);
            if (!CHECK_MEM(dst, model, sizeof model, "getmem"))
                return;
            memset(dst, 0xEE, sizeof model);
            shmem_putmem(dst + shift, src + from, n, me); // a PE may put to itself
            for (size_t i = 0; i < n; i++)
                model[shift + i] = fill_byte((unsigned)me, from + i);
            if (!CHECK_MEM(dst, model, sizeof model, "putmem to itself"))
                return;
        }
    }
    shmem_barrier_all();
}

// One megabyte, each way, blocking and not, from symmetric and from private memory.
static void big(void)
{
    unsigned char *private = must_alloc(SPACE), *model = must_alloc(SPACE);
    static const size_t sizes[] = {4096, 65536, 262143, BIG};
    for (int k = 0; k < 4; k++) {
        size_t n = sizes[k];
        memset(dst, 0, SPACE);
        fill(private, n, (unsigned)(me + 40));
        fill(model, n, (unsigned)(left_pe() + 40));
        shmem_barrier_all();
        if (k % 2 == 0)
            shmem_putmem(dst + 3, private, n, right_pe());
        else
            shmem_putmem_nbi(dst + 3, private, n, right_pe());
        shmem_barrier_all();
        CHECK_MEM(dst + 3, model, n, "large put from private memory");
        CHECK(dst[2] == 0 && dst[3 + n] == 0);
        memset(private, 0, n);
        fill(model, n, (unsigned)right_pe());
        if (k % 2 == 0) {
            shmem_getmem(private, src, n, right_pe());
        } else {
            shmem_getmem_nbi(private, src, n, right_pe());
            shmem_quiet();
        }
        CHECK_MEM(private, model, n, "large get to private memory");
        shmem_barrier_all();
    }
    free(private);
    free(model);
}

// Everybody writes its part of everybody's array, then everybody reads everything back.
static void everybody(void)
{
    enum { N = 500 };
    unsigned char *got = must_alloc(N), *want = must_alloc(N);
    memset(dst, 0, (size_t)npes * N);
    shmem_barrier_all();
    for (int k = 0; k < npes; k++) {
        int pe = (me + k) % npes;
        fill(got, N, (unsigned)(me * npes + pe));
        shmem_putmem(dst + (size_t)me * N, got, N, pe); // got is free when the put returns
        memset(got, 0, N);
    }
    shmem_barrier_all();
    for (int pe = 0; pe < npes; pe++) {
        for (int writer = 0; writer < npes; writer++) {
            fill(want, N, (unsigned)(writer * npes + pe));
            shmem_getmem(got, dst + (size_t)writer * N, N, pe);
            CHECK_MEM(got, want, N, "all to all");
        }
    }
    shmem_barrier_all();
    free(got);
    free(want);
}

int main(void)
{
    check_start();
    check_spread();
    src = must_shmalloc(SPACE);
    dst = must_shmalloc(SPACE);
    if (!CHECK_EQ(shmem_ctx_create(0, &ctx), 0))
        shmem_global_exit(1);
    fill(src, SPACE, (unsigned)me);
    shmem_barrier_all();
    rows();
    unaligned();
    big();
    everybody();
    shmem_ctx_destroy(ctx);
    shmem_free(src);
    shmem_free(dst);
    return check_done();
}
