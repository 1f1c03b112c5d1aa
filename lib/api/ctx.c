// SPDX-License-Identifier: BSD-3-Clause
// "Communication Management Routines": contexts and sessions.
#include "ctx.h"

#include "log.h"
#include "pshmem.h"
#include "remote.h"

#define ALL_OPTIONS (SHMEM_CTX_SERIALIZED | SHMEM_CTX_PRIVATE | SHMEM_CTX_NOSTORE)

static int create(const char *call, shmem_team_t team, long options, shmem_ctx_t *ctx)
{
    check_up(call);
    if (!ctx)
        fatal("%s: argument ctx is NULL: the new context's handle goes there", call);
    *ctx = SHMEM_CTX_INVALID;
    if (team == SHMEM_TEAM_INVALID)
        return -1;
    if (team->magic != TEAM_MAGIC)
        fatal("%s: %p is not a team, or a destroyed one", call, (void *)team);
    if (options & ~ALL_OPTIONS) {
        log_line(LOG_WARN, LOG_TEAM, "%s: argument options is %#lx, not made of SHMEM_CTX_*", call,
                 (unsigned long)options);
        return -1;
    }
    *ctx = ctx_create(team, options);
    return *ctx == SHMEM_CTX_INVALID ? -1 : 0;
}

int pshmem_ctx_create(long options, shmem_ctx_t *ctx)
{
    return create("shmem_ctx_create", &shoal_team_world, options, ctx);
}
WEAK_TWIN(shmem_ctx_create);

int pshmem_team_create_ctx(shmem_team_t team, long options, shmem_ctx_t *ctx)
{
    return create("shmem_team_create_ctx", team, options, ctx);
}
WEAK_TWIN(shmem_team_create_ctx);

// False for SHMEM_CTX_INVALID; what is no context ends the program.
static bool is_valid(const char *call, shmem_ctx_t ctx)
{
    check_up(call);
    if (ctx != SHMEM_CTX_INVALID && ctx->magic != CTX_MAGIC)
        ctx_bad(call, ctx, 0);
    return ctx != SHMEM_CTX_INVALID;
}

void pshmem_ctx_destroy(shmem_ctx_t ctx)
{
    if (!is_valid("shmem_ctx_destroy", ctx))
        return;
    if (ctx == &shoal_ctx_default)
        fatal("shmem_ctx_destroy: SHMEM_CTX_DEFAULT cannot be destroyed");
    ctx_destroy(ctx);
}
WEAK_TWIN(shmem_ctx_destroy);

int pshmem_ctx_get_team(shmem_ctx_t ctx, shmem_team_t *team)
{
    if (!team)
        fatal("shmem_ctx_get_team: argument team is NULL");
    bool valid = is_valid("shmem_ctx_get_team", ctx);
    *team = valid ? ctx->team : SHMEM_TEAM_INVALID;
    return valid ? 0 : -1;
}
WEAK_TWIN(shmem_ctx_get_team);

// A hint without use on a node: every operation is complete when it returns.
void pshmem_ctx_session_start(shmem_ctx_t ctx, long options,
                              const shmem_ctx_session_config_t *config, long config_mask)
{
    (void)config, (void)config_mask;
    if (is_valid("shmem_ctx_session_start", ctx) && options & SHMEM_CTX_SESSION_BATCH)
        remote_session(ctx, true);
}
WEAK_TWIN(shmem_ctx_session_start);

void pshmem_ctx_session_stop(shmem_ctx_t ctx)
{
    if (is_valid("shmem_ctx_session_stop", ctx))
        remote_session(ctx, false);
}
WEAK_TWIN(shmem_ctx_session_stop);
