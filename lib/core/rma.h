// SPDX-License-Identifier: BSD-3-Clause
// Remote memory access (OpenSHMEM 1.6, "Remote Memory Access Routines"). A peer on the node is
// reached by copying into its mapping; peer_at() checks the arguments on the way. Everything else
// goes to remote.c. Callers pass their context, NULL for
// the default one, and their name for messages.
#ifndef SHOAL_CORE_RMA_H
#define SHOAL_CORE_RMA_H

#include "call.h"
#include "copy.h"
#include "remote.h"
#include "world.h"

#include <string.h>

static inline void rma_copy(void *to, const void *from, size_t n)
{
    if (!copy_word(to, from, n))
        copy_bytes(to, from, n);
}

// Out of line, so that the rest of rma_put calls nothing and saves no registers: behind a copy of a
// page, what is popped waits for its stores (docs/bench.md, put_4096).
void rma_put_copy(void *to, const void *from, size_t n, struct bell *bell);

static inline void rma_put(struct shoal_ctx *ctx, const char *call, enum call_id id, void *dest,
                           const void *src, size_t n, int pe)
{
    void *to = peer_at(dest, n, pe);
    call_note(id, pe);
    if (unlikely(!to)) {
        remote_put(ctx, call, dest, src, n, pe, id == CALL_put_nbi);
        return;
    }
    struct bell *bell = &world_ctl(pe)->bell; // before the store: shares peer_at's multiplication
    if (n != sizeof(uint64_t) && !copy_is_instruction(n)) {
        rma_put_copy(to, src, n, bell);
        return;
    }
    if (n == sizeof(uint64_t))
        memcpy(to, src, sizeof(uint64_t));
    else
        copy_instruction(to, src, n);
    bell_check(bell);
}

static inline void rma_get(struct shoal_ctx *ctx, const char *call, enum call_id id, void *dest,
                           const void *src, size_t n, int pe)
{
    const void *from = peer_at(src, n, pe);
    call_note(id, pe);
    if (unlikely(!from)) {
        remote_get(ctx, call, dest, src, n, pe, id == CALL_get_nbi);
        return;
    }
    if (n == sizeof(uint64_t))
        memcpy(dest, from, sizeof(uint64_t));
    else
        copy_bytes(dest, from, n);
    // A blocking get is complete when it returns: what a later one finds is not older.
    atomic_thread_fence(memory_order_acquire);
}

// Blocks of `block` elements of `size` bytes, dst and sst elements apart, >= 0.
struct rma_strides {
    ptrdiff_t dst, sst;
    size_t block, count, size;
};

void rma_iput(struct shoal_ctx *ctx, const char *call, enum call_id id, void *dest, const void *src,
              const struct rma_strides *s, int pe);
void rma_iget(struct shoal_ctx *ctx, const char *call, enum call_id id, void *dest, const void *src,
              const struct rma_strides *s, int pe);

#endif
