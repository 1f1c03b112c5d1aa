// SPDX-License-Identifier: BSD-3-Clause
// Starting, helping and ending nonblocking collectives. See coll_plan.h; coll_part.c has what the
// parts do.
#include "coll_plan.h"

#include "arena.h"
#include "coll_part.h"
#include "coll_span.h"
#include "copy.h"
#include "counter.h"
#include "elements.h"
#include "inbox.h"
#include "net.h"
#include "reduce_ops.h"
#include "wait.h"

#include <pthread.h>
#include <stdlib.h>

_Static_assert((int)COLL_DEPTH == SHOAL_COLL_DEPTH, "as shoal.h promises");

static bool is_rooted(int kind)
{
    return kind == SHOAL_COLL_BROADCAST || kind == SHOAL_COLL_REDUCE || kind == SHOAL_COLL_GATHER;
}

static bool reduces(int kind)
{
    return kind == SHOAL_COLL_REDUCE || kind == SHOAL_COLL_ALLREDUCE || kind == SHOAL_COLL_SCAN ||
           kind == SHOAL_COLL_EXSCAN || kind == SHOAL_COLL_REDUCE_SCATTER;
}

// Elements from the start of a buffer to the end of its last block.
static size_t extent(const shoal_coll_t *c, const size_t *counts, const size_t *displs, size_t n)
{
    size_t end = 0, at = 0;
    if (!counts)
        return __builtin_mul_overflow(c->count, n, &end) ? SIZE_MAX : end;
    for (size_t i = 0; i < n; i++) {
        size_t first = displs ? displs[i] : at;
        if (__builtin_add_overflow(first, counts[i], &at))
            return SIZE_MAX;
        end = at > end ? at : end;
    }
    return end;
}

static size_t times(size_t n, size_t size)
{
    return __builtin_mul_overflow(n, size, &n) ? SIZE_MAX : n;
}

static void measure(struct shoal_coll_plan *p)
{
    const shoal_coll_t *c = &p->coll;
    size_t n = (size_t)p->team->set.size, src = c->count, dst = c->count;
    bool at_root = p->team->me == c->root;
    switch (c->kind) {
    case SHOAL_COLL_BARRIER: src = dst = 0; break;
    case SHOAL_COLL_BROADCAST: src = at_root ? src : 0; break;
    case SHOAL_COLL_REDUCE: dst = at_root ? dst : 0; break;
    case SHOAL_COLL_GATHER: dst = at_root ? extent(c, c->counts, c->displs, n) : 0; break;
    case SHOAL_COLL_ALLGATHER: dst = extent(c, c->counts, c->displs, n); break;
    case SHOAL_COLL_ALLTOALL:
        src = extent(c, c->counts, c->displs, n);
        dst = c->recv_counts ? extent(c, c->recv_counts, c->recv_displs, n) : c->count * n;
        break;
    case SHOAL_COLL_REDUCE_SCATTER:
        src = extent(c, c->counts, NULL, n);
        dst = c->counts ? c->counts[p->team->me] : c->count;
        break;
    default: break;
    }
    if (c->counts && (c->kind == SHOAL_COLL_GATHER || c->kind == SHOAL_COLL_ALLGATHER))
        src = c->counts[p->team->me];
    p->src_bytes = times(src, p->size);
    p->dst_bytes = times(dst, p->size);
}

static bool is_shared(const void *addr)
{
    return place_of(addr).space != SPACE_PRIVATE;
}

// In place, where one part would overwrite what another reads: the source is a copy then.
static bool wants_copy(int kind)
{
    return kind == SHOAL_COLL_ALLTOALL || kind == SHOAL_COLL_REDUCE_SCATTER;
}

static int allocate(struct shoal_coll_plan *p)
{
    const shoal_coll_t *c = &p->coll;
    bool in_place = !c->src && c->kind != SHOAL_COLL_BROADCAST;
    size_t n = (size_t)p->team->set.size;
    if (c->counts && !(p->lists = arena_alloc(LISTS * n * sizeof *p->lists)))
        return SHOAL_ENOMEM;
    if (p->dst_bytes && !is_shared(c->dst) && !(p->dst_copy = arena_alloc(p->dst_bytes)))
        return SHOAL_ENOMEM;
    bool copy = in_place ? wants_copy(c->kind) || (!p->dst_bytes && p->src_bytes)
                         : !is_shared(c->src);
    if (p->src_bytes && copy && !(p->src_copy = arena_alloc(p->src_bytes)))
        return SHOAL_ENOMEM;
    bool leads = p->team->spans && p->team->me == p->team->nodes->local[0];
    return leads && !(p->span = coll_span_new(p)) ? SHOAL_ENOMEM : SHOAL_OK;
}

static bool has_buffers(const struct shoal_coll_plan *p)
{
    return (!p->dst_bytes || p->coll.dst) && (!p->src_bytes || p->coll.src || p->coll.dst);
}

int coll_plan_check(struct shoal_team *team, const shoal_coll_t *c, size_t *size)
{
    bool is_user = c->op >= SHOAL_OP_USER;
    if (c->kind < SHOAL_COLL_BARRIER || c->kind > SHOAL_COLL_GATHER_BEFORE)
        return SHOAL_EINVAL;
    *size = c->element_size ? c->element_size : element_size(c->type);
    if (c->kind == SHOAL_COLL_BARRIER)
        return SHOAL_OK;
    if (!*size || (is_rooted(c->kind) && (c->root < 0 || c->root >= team->set.size)))
        return SHOAL_EINVAL;
    if (reduces(c->kind) && (!element_can_reduce((int)c->op, (int)c->type) ||
                             (c->element_size && !is_user) || *size > LIMIT_COLL_BLOCK))
        return SHOAL_EINVAL;
    size_t user_size = reduces(c->kind) ? element_user_size((int)c->op) : 0;
    if (user_size && user_size != *size)
        return SHOAL_EINVAL;
    return c->kind == SHOAL_COLL_ALLTOALL && !c->counts != !c->recv_counts ? SHOAL_EINVAL
                                                                           : SHOAL_OK;
}

int coll_plan_new(struct shoal_team *team, const shoal_coll_t *coll, const struct reduce_op *fold,
                  struct shoal_coll_plan **plan)
{
    size_t size = fold ? fold->size : 0;
    int status = fold ? SHOAL_OK : coll_plan_check(team, coll, &size);
    if (status || coll->kind == SHOAL_COLL_GATHER_BEFORE)
        return status ? status : SHOAL_EINVAL;
    struct shoal_coll_plan *p = calloc(1, sizeof *p);
    if (!p)
        return SHOAL_ENOMEM;
    p->team = team;
    p->coll = *coll;
    p->size = size;
    p->fold = fold;
    measure(p);
    bool fits = p->src_bytes <= PTRDIFF_MAX && p->dst_bytes <= PTRDIFF_MAX;
    status = fits && has_buffers(p) ? allocate(p) : SHOAL_EINVAL;
    if (status) {
        coll_plan_free(p);
        return status;
    }
    *plan = p;
    return SHOAL_OK;
}

void coll_plan_free(struct shoal_coll_plan *p)
{
    arena_free(p->src_copy);
    arena_free(p->dst_copy);
    arena_free(p->lists);
    coll_span_free(p->span);
    free(p);
}

static void put_list(size_t *to, const size_t *from, const size_t *counts, size_t n)
{
    size_t at = 0;
    for (size_t i = 0; i < n; at += counts[i], i++)
        to[i] = from ? from[i] : at;
}

// May bytes of dst stay as they are?
static bool leaves_gaps(const shoal_coll_t *c)
{
    return c->kind == SHOAL_COLL_EXSCAN || c->counts;
}

// What the parts read of this member.
static void describe(struct shoal_coll_plan *p)
{
    const shoal_coll_t *c = &p->coll;
    struct coll_what *e = &p->entry->what;
    size_t n = (size_t)p->team->set.size;
    void *dst = p->dst_copy ? p->dst_copy : c->dst;
    const void *given = c->src ? c->src : c->dst;
    if (p->src_copy)
        copy_bytes(p->src_copy, given, p->src_bytes);
    if (p->dst_copy && (!c->src || leaves_gaps(c)))
        copy_bytes(p->dst_copy, c->dst, p->dst_bytes);
    const void *src = p->src_copy ? p->src_copy : c->src ? c->src : dst;
    if (p->lists) {
        put_list(p->lists, c->counts, c->counts, n);
        put_list(p->lists + n, c->displs, c->counts, n);
        const size_t *recv = c->recv_counts ? c->recv_counts : c->counts;
        put_list(p->lists + 2 * n, recv, recv, n);
        put_list(p->lists + 3 * n, c->recv_displs, recv, n);
    }
    atomic_store_explicit(&p->entry->status, SHOAL_OK, memory_order_relaxed);
    e->kind = c->kind;
    e->root = c->root;
    e->op = (int32_t)c->op;
    e->type = (int32_t)c->type;
    e->count = c->count;
    e->size = p->size;
    e->src = place_of(src);
    e->dst = place_of(dst);
    e->lists = p->lists ? ref_of(p->lists) : 0;
}

static void fill_part(const struct shoal_coll_plan *p, uint64_t slot, struct operation *op)
{
    *op = (struct operation){.kind = OPERATION_COLL, .initiator = world.me, .pe = world.me};
    coll_part_name(op, p->team, slot, p->round, p->team->me);
}

static uint64_t slot_of(const struct shoal_coll_plan *p)
{
    return p->seq % COLL_DEPTH;
}

// Guards plans' entries and the teams' running[]: who waits for an event may be another thread than
// the one that starts the collective which needs the entry next.
static pthread_mutex_t entry_lock = PTHREAD_MUTEX_INITIALIZER;

static void settle(struct shoal_coll_plan *p) // with the lock
{
    p->status = atomic_load_explicit(&p->entry->status, memory_order_relaxed);
    p->team->running[p->entry - team_area_at(p->team, p->team->me)->coll] = NULL;
    p->entry = NULL;
}

// False: nobody may, or somebody has run all of them.
static bool run_some_part(struct shoal_team *team, uint64_t slot, uint64_t round)
{
    const struct coll_entry *first = &team_area_at(team, 0)->coll[slot];
    if (counter_sum(&first->ready) < round * (uint64_t)team->set.size)
        return false;
    for (int k = 0; k < team->set.size; k++) { // the own one first
        int i = (team->me + k) % team->set.size, needs;
        struct operation op = {.kind = OPERATION_COLL, .initiator = world.me};
        coll_part_name(&op, team, slot, round, i);
        if (coll_part_is_free(&op) && coll_part_run(&op, &needs) == SHOAL_OK)
            return true;
    }
    return false;
}

// Runs a part that nobody has taken yet, if all have come. False: there was nothing to do.
static bool event_help(struct ending *ending)
{
    struct shoal_coll_plan *p = (struct shoal_coll_plan *)ending;
    struct shoal_team *team = p->team;
    if (unlikely(team->spans))
        return p->span && net_progress() > 0;
    pthread_mutex_lock(&entry_lock);
    const struct coll_entry *e = p->entry;
    pthread_mutex_unlock(&entry_lock);
    return e && run_some_part(team, (uint64_t)(e - team_area_at(team, team->me)->coll), p->round);
}

static void results(const struct shoal_coll_plan *p, int status)
{
    if (p->dst_copy && !status)
        copy_bytes(p->coll.dst, p->dst_copy, p->dst_bytes);
}

// Results into private buffers. The collective's status.
static int event_end(struct ending *ending)
{
    struct shoal_coll_plan *p = (struct shoal_coll_plan *)ending;
    ORDERED_ELSEWHERE(); // another PE may have counted what another thread of this one ran
    pthread_mutex_lock(&entry_lock);
    if (p->entry)
        settle(p);
    pthread_mutex_unlock(&entry_lock);
    int status = p->status;
    p->is_running = false;
    results(p, status);
    if (p->once)
        coll_plan_free(p);
    return status;
}

// The collective that has it may be one whose parts nobody has run yet.
static void wait_for_entry(struct shoal_team *team, uint64_t slot, uint64_t rounds)
{
    const struct coll_entry *e = &team_area_at(team, team->me)->coll[slot];
    struct waiter w = waiter_start(&world_ctl(world.me)->bell);
    while (counter_sum(&e->done) < rounds)
        waiter_turn(&w, (!team->spans && run_some_part(team, slot, rounds)) || inbox_poll());
}

// The entry of this start, when the collective that had it has ended.
static void take_entry(struct shoal_coll_plan *p, shoal_event_t *event)
{
    struct shoal_team *team = p->team;
    p->seq = team->plans++;
    p->round = p->seq / COLL_DEPTH + 1;
    p->is_running = true;
    p->entry = &team_area_at(team, team->me)->coll[slot_of(p)];
    wait_for_entry(team, slot_of(p), p->round - 1);
    pthread_mutex_lock(&entry_lock);
    if (team->running[slot_of(p)]) // its event is looked at later, and the entry is used again now
        settle(team->running[slot_of(p)]);
    team->running[slot_of(p)] = p;
    pthread_mutex_unlock(&entry_lock);
    describe(p);
    p->ending = (struct ending){.help = event_help, .end = event_end};
    *event = (shoal_event_t){
        .word = (uint64_t *)&p->entry->done.success, .least = p->round, .more = &p->ending};
}

int coll_plan_start(struct shoal_coll_plan *p, shoal_event_t *event)
{
    struct shoal_team *team = p->team;
    if (team->spans) {
        take_entry(p, event);
        coll_span_start(p);
        return SHOAL_OK;
    }
    struct work *w = trigger_new();
    int needs;
    if (!w)
        return SHOAL_ENOMEM;
    take_entry(p, event);
    w->done = 0;
    fill_part(p, slot_of(p), &w->op);
    if (coll_part_is_early(&w->op))
        coll_part_run(&w->op, &needs);
    struct coll_entry *first = &team_area_at(team, 0)->coll[slot_of(p)];
    trigger_arm(w, &first->ready, p->round * (uint64_t)team->set.size);
    counter_add(&first->ready, set_pe(&team->set, 0), 1, 0);
    return SHOAL_OK;
}

int coll_plan_call(struct shoal_coll_plan *p)
{
    struct shoal_team *team = p->team;
    p->seq = team->calls++;
    p->round = p->seq + 1;
    p->seq |= COLL_SEQ_CALL;
    p->entry = &team_area_at(team, team->me)->coll[COLL_CALL];
    describe(p);
    coll_span_start(p);
    struct waiter w = waiter_start(&world_ctl(world.me)->bell);
    while (counter_sum(&p->entry->done) < p->round)
        if (!p->span || !net_progress())
            waiter_step(&w);
    int status = atomic_load_explicit(&p->entry->status, memory_order_relaxed);
    results(p, status);
    return status;
}
