// SPDX-License-Identifier: BSD-3-Clause
// Short blocking collectives. See coll_now.h.
#include "coll_now.h"

#include "coll.h"
#include "copy.h"
#include "exchange.h"

static void copy(void *to, const void *from, size_t n)
{
    if (likely(n <= 32))
        copy_few(to, from, n);
    else
        copy_bytes(to, from, n);
}

static void broadcast(struct shoal_team *team, const shoal_coll_t *c, size_t n)
{
    exchange_enter(team);
    if (team->me == c->root) {
        const void *from = c->src ? c->src : c->dst;
        exchange_publish(team, from, n);
        if (from != c->dst)
            copy_move(c->dst, from, n);
    } else {
        copy(c->dst, exchange_read(team, c->root, n), n);
    }
    exchange_leave(team, false);
}

// To one member, or to all.
static void gather(struct shoal_team *team, const shoal_coll_t *c, size_t n, bool here)
{
    char *dst = c->dst;
    const char *own = c->src ? c->src : here ? dst + (size_t)team->me * n : dst;
    exchange_enter(team);
    if (c->kind == SHOAL_COLL_ALLGATHER || !here) // nobody reads the root's
        exchange_publish(team, own, n);
    for (int i = 0; here && i < team->set.size; i++, dst += n)
        if (i != team->me)
            copy(dst, exchange_read(team, i, n), n);
        else if (c->src)
            copy_move(dst, own, n);
    exchange_leave(team, here);
}

static void gather_before(struct shoal_team *team, const shoal_coll_t *c, size_t n)
{
    char *dst = c->dst;
    const char *own = c->src ? c->src : dst + (size_t)team->me * n;
    exchange_enter(team);
    exchange_publish(team, own, n);
    for (int i = 0; i < team->me; i++, dst += n)
        copy(dst, exchange_read(team, i, n), n);
    if (c->src)
        copy_move(dst, own, n);
    exchange_leave(team, team->me == team->set.size - 1);
}

static void alltoall(struct shoal_team *team, const shoal_coll_t *c, size_t n)
{
    size_t all = n * (size_t)team->set.size;
    exchange_enter(team);
    exchange_publish(team, c->src ? c->src : c->dst, all);
    for (int i = 0; i < team->set.size; i++) {
        const char *from = exchange_read(team, i, all);
        copy((char *)c->dst + (size_t)i * n, from + (size_t)team->me * n, n);
    }
    exchange_leave(team, true);
}

bool coll_now(struct shoal_team *team, const shoal_coll_t *c, size_t size)
{
    size_t n;
    if (c->kind == SHOAL_COLL_BARRIER) {
        coll_sync_team(team);
        return true;
    }
    if (team->spans || c->counts || __builtin_mul_overflow(c->count, size, &n) ||
        n > LIMIT_COLL_SLOT)
        return false;
    switch (c->kind) {
    case SHOAL_COLL_BROADCAST: broadcast(team, c, n); return true;
    case SHOAL_COLL_GATHER: gather(team, c, n, team->me == c->root); return true;
    case SHOAL_COLL_ALLGATHER: gather(team, c, n, true); return true;
    case SHOAL_COLL_GATHER_BEFORE: gather_before(team, c, n); return true;
    case SHOAL_COLL_ALLTOALL:
        if (n * (size_t)team->set.size > LIMIT_COLL_SLOT)
            return false;
        alltoall(team, c, n);
        return true;
    default: return false;
    }
}
