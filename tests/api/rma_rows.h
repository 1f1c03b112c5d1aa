// SPDX-License-Identifier: BSD-3-Clause
// Every put and get that moves n elements, one row a type or size, behind void pointers:
//
//     const rma_row *r = &rma_rows[i];     "int64", "put128", "putmem", ...
//     r->put(dest, source, n, pe);         n elements of r->size bytes
//
// The same checks then run over all of them.
#ifndef TESTS_API_RMA_ROWS_H
#define TESTS_API_RMA_ROWS_H

#include "types.h"

typedef void xfer_fn(void *, const void *, size_t, int);
typedef void ctx_xfer_fn(shmem_ctx_t, void *, const void *, size_t, int);

typedef struct {
    const char *name;
    size_t size;
    xfer_fn *put, *get, *put_nbi, *get_nbi;
    ctx_xfer_fn *ctx_put, *ctx_get, *ctx_put_nbi, *ctx_get_nbi;
} rma_row;

#define XFER(T, F)                                                                      \
    static void xfer_##F(void *d, const void *s, size_t n, int pe)                      \
    {                                                                                   \
        shmem_##F(d, s, n, pe);                                                         \
    }                                                                                   \
    static void ctx_xfer_##F(shmem_ctx_t ctx, void *d, const void *s, size_t n, int pe) \
    {                                                                                   \
        shmem_ctx_##F(ctx, d, s, n, pe);                                                \
    }
#define X(T, N) XFER(T, N##_put) XFER(T, N##_get) XFER(T, N##_put_nbi) XFER(T, N##_get_nbi)
EACH_RMA(X)
#undef X
#undef XFER

#define SIZED_ROW(S, BYTES)                      \
    {"put/get" #S,           BYTES,              \
     shmem_put##S,           shmem_get##S,       \
     shmem_put##S##_nbi,     shmem_get##S##_nbi, \
     shmem_ctx_put##S,       shmem_ctx_get##S,   \
     shmem_ctx_put##S##_nbi, shmem_ctx_get##S##_nbi},

static const rma_row rma_rows[] = {
#define X(T, N)              \
    {#N,                     \
     sizeof(T),              \
     xfer_##N##_put,         \
     xfer_##N##_get,         \
     xfer_##N##_put_nbi,     \
     xfer_##N##_get_nbi,     \
     ctx_xfer_##N##_put,     \
     ctx_xfer_##N##_get,     \
     ctx_xfer_##N##_put_nbi, \
     ctx_xfer_##N##_get_nbi},
    EACH_RMA(X)
#undef X
        SIZED_ROW(8, 1) SIZED_ROW(16, 2) SIZED_ROW(32, 4) SIZED_ROW(64, 8) SIZED_ROW(128, 16)
            SIZED_ROW(mem, 1)};
enum { RMA_ROWS = sizeof rma_rows / sizeof rma_rows[0] };

#endif
