// SPDX-License-Identifier: BSD-3-Clause
// Communication contexts. See ctx.h.
#include "ctx.h"

#include "log.h"
#include "remote.h"
#include "shmem.h"
#include "stream.h"

#include <pthread.h>
#include <stdlib.h>

struct shoal_ctx shoal_ctx_default = {.team = &shoal_team_world, .magic = CTX_MAGIC};

static pthread_mutex_t list_lock = PTHREAD_MUTEX_INITIALIZER;
static struct shoal_ctx *list;
static struct shoal_ctx *spare; // destroyed; not given back, so that their handles are told

int ctx_up(void)
{
    shoal_ctx_default.set = shoal_team_world.set;
    return 0;
}

void ctx_down(void)
{
    while (list)
        ctx_destroy(list);
    shoal_ctx_default.set.size = 0;
}

struct shoal_ctx *ctx_create(struct shoal_team *team, long options)
{
    pthread_mutex_lock(&list_lock);
    struct shoal_ctx *ctx = spare;
    if (ctx)
        spare = ctx->next;
    else
        ctx = malloc(sizeof *ctx);
    if (ctx) {
        *ctx = (struct shoal_ctx){.stream = stream_new(options),
                                  .set = team->set,
                                  .team = team,
                                  .options = options,
                                  .next = list,
                                  .magic = CTX_MAGIC};
        if (list)
            list->prev = ctx;
        list = ctx;
    }
    pthread_mutex_unlock(&list_lock);
    return ctx;
}

// Out of the list, which is locked.
static void unlink_one(struct shoal_ctx *ctx)
{
    if (ctx->next)
        ctx->next->prev = ctx->prev;
    if (ctx->prev)
        ctx->prev->next = ctx->next;
    else
        list = ctx->next;
}

// What waits for its operations may run anything: nothing is locked.
static void end(struct shoal_ctx *ctx)
{
    remote_flush_ctx(ctx); // also where it has no stream of its own
    if (ctx->stream) {
        stream_free(ctx->stream);
        ctx->stream = NULL;
    }
    pthread_mutex_lock(&list_lock);
    ctx->magic = 0;
    ctx->set.size = 0; // no PE number is right for it any more: see ctx_pe
    ctx->next = spare;
    spare = ctx;
    pthread_mutex_unlock(&list_lock);
}

void ctx_destroy(struct shoal_ctx *ctx)
{
    pthread_mutex_lock(&list_lock);
    unlink_one(ctx);
    pthread_mutex_unlock(&list_lock);
    end(ctx);
}

void ctx_destroy_of_team(struct shoal_team *team)
{
    struct shoal_ctx *ended = NULL;
    pthread_mutex_lock(&list_lock);
    for (struct shoal_ctx *ctx = list, *next; ctx; ctx = next) {
        next = ctx->next;
        if (ctx->team != team || ctx->options & SHMEM_CTX_PRIVATE)
            continue;
        unlink_one(ctx);
        ctx->next = ended;
        ended = ctx;
    }
    pthread_mutex_unlock(&list_lock);
    for (struct shoal_ctx *next; ended; ended = next) {
        next = ended->next;
        end(ended);
    }
}

void ctx_bad(const char *call, struct shoal_ctx *ctx, int pe)
{
    if (!world_is_up())
        fatal("%s: called before shmem_init or after shmem_finalize", call);
    if (!ctx)
        fatal("%s: the context is SHMEM_CTX_INVALID: create one, or use SHMEM_CTX_DEFAULT", call);
    if (ctx->magic != CTX_MAGIC)
        fatal("%s: %p is not a context, or a destroyed one", call, (void *)ctx);
    fatal("%s: argument pe is %d, the context's team has PEs 0 to %d", call, pe, ctx->set.size - 1);
}
