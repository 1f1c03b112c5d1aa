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

// blocks: of so many members, from the first on, this one gets them; its own is among them, or there are none.
static void gather(struct shoal_team *team, const shoal_coll_t *c, size_t n, int blocks)
{
    char *dst = c->dst;
    const char *own = c->src ? c->src : blocks ? dst + (size_t)team->me * n : dst;
    exchange_enter(team);
    if (c->kind != SHOAL_COLL_GATHER || !blocks) // nobody reads the root's
        exchange_publish(team, own, n);
    for (int i = 0; i < blocks; i++, dst += n)
        if (i != team->me)
            copy(dst, exchange_read(team, i, n), n);
        else if (c->src)
            copy_move(dst, own, n);
    exchange_leave(team, blocks == team->set.size);
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
    int all = team->set.size;
    if (c->kind == SHOAL_COLL_BARRIER) {
        coll_sync_team(team);
        return true;
    }
    if (team->spans || c->counts || __builtin_mul_overflow(c->count, size, &n) ||
        n > LIMIT_COLL_SLOT)
        return false;
    switch (c->kind) {
    case SHOAL_COLL_BROADCAST: broadcast(team, c, n); return true;
    case SHOAL_COLL_GATHER: gather(team, c, n, team->me == c->root ? all : 0); return true;
    case SHOAL_COLL_ALLGATHER: gather(team, c, n, all); return true;
    case SHOAL_COLL_GATHER_BEFORE: gather(team, c, n, team->me + 1); return true;
    case SHOAL_COLL_ALLTOALL:
        if (n * (size_t)all > LIMIT_COLL_SLOT)
            return false;
        alltoall(team, c, n);
        return true;
    default: return false;
    }
}
