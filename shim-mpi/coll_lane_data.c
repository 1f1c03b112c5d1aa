// SPDX-License-Identifier: BSD-3-Clause
// What the runtime is told of a collective that goes by a lane, and where its data is meanwhile. See
// coll_lane.h.
#include "coll_lane.h"

enum { LINE = 64 };
enum { SOON = 4096 }; // bytes up to which who only gives something need not wait for the others

static bool is_here(const struct type *type, const void *buf)
{
    shoal_rptr_t place;
    return type->is_dense && shoal_rptr_own(type_at(type, buf), &place) == SHOAL_OK;
}

static bool is_rooted(const struct coll_call *c)
{
    return c->kind == COLL_GATHER || c->kind == COLL_REDUCE;
}

static bool gives_alone(const struct coll_call *c)
{
    bool at_root = c->root == c->rank;
    return c->kind == COLL_BCAST ? at_root : is_rooted(c) && !at_root;
}

// In place, would a result overwrite what another process still reads?
static bool overwrites(const struct coll_call *c)
{
    return c->kind == COLL_ALLTOALL || c->kind == COLL_REDUCE_SCATTER_BLOCK;
}

// Nothing is sent from elsewhere than where the result comes to be.
static bool is_in_its_place(const struct coll_call *c, const struct lane_run *run)
{
    return side_in_place(&c->send) && !run->dst && !overwrites(c);
}

// The bytes of this process's that go through the lane's room, of those that it sends and receives:
// those that the others do not reach, and what is short and given alone, which then is given at once.
static void measure(const struct coll_call *c, struct lane_run *run, size_t src, size_t dst)
{
    const struct side *r = &c->recv;
    bool gets = !is_rooted(c) || c->root == c->rank, in_place = side_in_place(&c->send);
    bool soon = gives_alone(c) && run->n <= SOON;
    run->dst = gets && (run->folds || soon || !is_here(r->type, r->buf)) ? dst : 0;
    if (c->kind == COLL_BCAST || (gets && is_in_its_place(c, run)))
        return;
    const struct side *s = in_place ? r : &c->send;
    bool stays = !soon && is_here(s->type, s->buf) && !(in_place && overwrites(c));
    run->src = stays ? 0 : src;
}

bool coll_lane_gives(const struct coll_request *q)
{
    return gives_alone(&q->call) && (q->run.src || q->run.dst);
}

static int kind_of(enum coll_kind kind)
{
    switch (kind) {
    case COLL_BARRIER: return SHOAL_COLL_BARRIER;
    case COLL_BCAST: return SHOAL_COLL_BROADCAST;
    case COLL_GATHER: return SHOAL_COLL_GATHER;
    case COLL_ALLGATHER: return SHOAL_COLL_ALLGATHER;
    case COLL_ALLTOALL: return SHOAL_COLL_ALLTOALL;
    case COLL_REDUCE: return SHOAL_COLL_REDUCE;
    case COLL_ALLREDUCE: return SHOAL_COLL_ALLREDUCE;
    case COLL_REDUCE_SCATTER_BLOCK: return SHOAL_COLL_REDUCE_SCATTER;
    case COLL_SCAN: return SHOAL_COLL_SCAN;
    case COLL_EXSCAN: return SHOAL_COLL_EXSCAN;
    default: return 0;
    }
}

// The runtime combines one rank after the other. Do messages bracket them in another way, and does that matter?
static bool is_bracketed(const struct coll_call *c, shoal_type_t type)
{
    bool is_exact = type < SHOAL_FLOAT; // an integer
    bool by_pairs = coll_scans(c) || (c->kind == COLL_REDUCE && !coll_reduce_slices(c)) ||
                    (c->kind == COLL_ALLREDUCE && !coll_allreduce_slices(c));
    return c->size > 2 && !is_exact && by_pairs;
}

// Results have the same bits by lanes and by messages.
static bool choose_reduction(const struct coll_call *c, struct lane_run *run)
{
    shoal_coll_t *sc = &run->coll;
    bool is_short = (c->kind == COLL_REDUCE || c->kind == COLL_ALLREDUCE) &&
                    coll_team_folds(c, run->n);
    bool has_it = c->recv.type->is_dense && op_in_runtime(c->op, c->recv.type, &sc->op, &sc->type);
    if (!is_short && !has_it)
        return false;
    run->folds = is_short || is_bracketed(c, sc->type);
    if (run->folds) {
        sc->kind = c->kind == COLL_REDUCE ? SHOAL_COLL_GATHER : SHOAL_COLL_ALLGATHER;
        return true;
    }
    sc->count = (size_t)c->recv.count;
    sc->element_size = 0;
    return true;
}

// Done sooner by messages: where each sends to the others at once, they copy less often and nobody waits
// for one that computes; so between two that send each other something short, and what is short and goes to
// a root, for who gives it goes on. Else a lane changes hands less often where processes share cores. (What
// shares a node agrees on whether it shares cores; what does not has no lane.)
static bool is_sooner_sent(const struct coll_call *c, MPI_Count n)
{
    enum { FROM = 512, SHORT = 4096 };
    if (c->kind == COLL_BCAST)
        return n && coll_bcast_is_flat(c);
    if (n < SHORT && c->kind == COLL_GATHER)
        return true;
    bool is_one_round = c->kind == COLL_ALLTOALL || c->kind == COLL_GATHER ||
                        (c->kind == COLL_ALLGATHER && c->size == 2);
    return !request_is_crowded() && ((is_one_round && n >= FROM) || (c->size == 2 && n < SHORT));
}

bool coll_lane_choose(const struct coll_call *c, struct lane_run *run, size_t *room)
{
    if (!coll_team_may_be(c->comm) || !kind_of(c->kind))
        return false;
    MPI_Count n = coll_team_bytes(c);
    if (n < 0 || n > COLL_LANE_ROOM || is_sooner_sent(c, n))
        return false;
    *run = (struct lane_run){.n = n,
                             .coll = {.kind = n ? kind_of(c->kind) : SHOAL_COLL_BARRIER,
                                      .root = c->root,
                                      .count = (size_t)n,
                                      .element_size = 1}};
    *room = 0;
    if (n == 0)
        return true;
    if (c->op && !choose_reduction(c, run))
        return false;
    bool gathers = run->folds || c->kind == COLL_GATHER || c->kind == COLL_ALLGATHER;
    size_t all = (size_t)(n * c->size), src = overwrites(c) ? all : (size_t)n;
    size_t dst = gathers || c->kind == COLL_ALLTOALL ? all : (size_t)n;
    *room = (c->kind == COLL_BCAST ? 0 : src) + dst + 2 * LINE;
    if (*room <= COLL_LANE_ROOM)
        measure(c, run, src, dst);
    return *room <= COLL_LANE_ROOM;
}

bool coll_lane_is_sooner(const struct coll_call *c)
{
    enum { FROM = 16384, TO = 65536 };
    if (c->kind != COLL_ALLREDUCE || comm_is_inter(c->comm))
        return false;
    MPI_Count n = coll_team_bytes(c);
    return n >= FROM && n <= TO && c->recv.count >= c->size;
}

static size_t lines(size_t n)
{
    return (n + LINE - 1) / LINE * LINE;
}

size_t coll_lane_bytes(const struct coll_request *q)
{
    return lines(q->run.dst) + lines(q->run.src);
}

shoal_coll_t coll_lane_describe(struct coll_request *q)
{
    const struct coll_call *c = &q->call;
    struct lane_run *run = &q->run;
    shoal_coll_t sc = run->coll;
    char *copy = run->room + lines(run->dst);
    bool gets = !is_rooted(c) || c->root == c->rank;
    if (sc.kind == SHOAL_COLL_BARRIER)
        return sc;
    if (gets)
        sc.dst = run->dst ? run->room : type_at(c->recv.type, c->recv.buf);
    if (c->kind == COLL_BCAST && run->dst && c->root == c->rank)
        type_pack(c->recv.type, c->recv.buf, c->recv.count, 0, run->room, run->dst);
    if (c->kind == COLL_BCAST || (gets && is_in_its_place(c, run)))
        return sc;
    sc.src = coll_team_given(c, run->n, copy);
    if (run->src && sc.src != copy)
        shim_copy(copy, sc.src, run->src);
    if (run->src)
        sc.src = copy;
    return sc;
}

void coll_lane_results(struct coll_request *q, int status)
{
    const struct coll_call *c = &q->call;
    const struct lane_run *run = &q->run;
    const struct side *r = &c->recv;
    if (status) {
        q->schedule.request.error = error_of(status);
        return;
    }
    bool gets = c->kind == COLL_BCAST ? c->root != c->rank : c->kind != COLL_EXSCAN || c->rank != 0;
    if (!run->dst || !gets)
        return;
    if (run->folds)
        q->schedule.request.error = error_of(coll_fold(c, run->room, run->n));
    else
        type_unpack(r->type, r->buf, r->count * ((MPI_Count)run->dst / run->n), 0, run->room,
                    run->dst);
}
