// SPDX-License-Identifier: BSD-3-Clause
// Communication contexts (OpenSHMEM 1.6, "Communication Management Routines"). On a node an
// operation is complete when it returns, so a context is its team and its options; between nodes it
// is also a stream (stream.h).
#ifndef SHOAL_CORE_CTX_H
#define SHOAL_CORE_CTX_H

#include "compiler.h"
#include "team.h"

// Of a fixed size, as struct shoal_team and for the same reason.
struct shoal_ctx {
    union {
        struct {
            struct pe_set set; // PE numbers are relative to it
            struct shoal_team *team;
            long options;
            struct stream *stream;         // NULL: the default one
            struct shoal_ctx *next, *prev; // all contexts made by this PE
            unsigned magic;
        };
        unsigned char fixed_size[256];
    };
};
_Static_assert(sizeof(struct shoal_ctx) == 256, "part of the binary interface");

#define CTX_MAGIC 0xc0437e87u

extern PUBLIC struct shoal_ctx shoal_ctx_default; // its address is SHMEM_CTX_DEFAULT

int ctx_up(void);
void ctx_down(void);

struct shoal_ctx *ctx_create(struct shoal_team *team, long options); // NULL: no memory
void ctx_destroy(struct shoal_ctx *ctx);
void ctx_destroy_of_team(struct shoal_team *team); // the shareable ones

// Ends the program: ctx is not a context, or has no such PE.
_Noreturn void ctx_bad(const char *call, struct shoal_ctx *ctx, int pe);

// The world PE of PE pe of the context.
static inline int ctx_pe(const char *call, struct shoal_ctx *ctx, int pe)
{
    if (unlikely(!ctx || (unsigned)pe >= (unsigned)ctx->set.size))
        ctx_bad(call, ctx, pe);
    return set_pe(&ctx->set, pe);
}

#endif
