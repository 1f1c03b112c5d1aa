// SPDX-License-Identifier: BSD-3-Clause
// Starting and ending collectives over nodes. See coll_span.h.
#include "coll_span.h"

#include "arena.h"
#include "coll_rounds.h"
#include "counter.h"
#include "elements.h"
#include "log.h"
#include "reduce_ops.h"

#include <stdlib.h>

static bool meet_once(struct coll_run *run)
{
    if (!coll_span_next(coll_span_of(run), 1))
        return false;
    coll_rounds_meet(run);
    return true;
}

static void give_nothing(struct coll_run *run)
{
    (void)run;
}

static void need_nothing(struct coll_span *s, size_t size[3])
{
    (void)size;
    s->piece = 1;
}

static const struct coll_program meet = {meet_once, give_nothing, need_nothing, false};

static const struct coll_program *const programs[] = {
    [SHOAL_COLL_BARRIER] = &meet,
    [SHOAL_COLL_BROADCAST] = &coll_move_broadcast,
    [SHOAL_COLL_REDUCE] = &coll_fold_reduce,
    [SHOAL_COLL_ALLREDUCE] = &coll_fold_reduce,
    [SHOAL_COLL_SCAN] = &coll_fold_scan,
    [SHOAL_COLL_EXSCAN] = &coll_fold_scan,
    [SHOAL_COLL_GATHER] = &coll_move_gather,
    [SHOAL_COLL_ALLGATHER] = &coll_move_gather,
    [SHOAL_COLL_ALLTOALL] = &coll_move_alltoall,
    [SHOAL_COLL_REDUCE_SCATTER] = &coll_fold_scatter,
};

// ---- What members say
static struct coll_entry *entry_of(const struct coll_span *s, int member)
{
    const struct shoal_coll_plan *p = s->plan;
    struct shoal_team *team = p->team;
    return &team_area_at(team, member)->coll[p->entry - team_area_at(team, team->me)->coll];
}

const struct coll_what *coll_span_what(const struct coll_span *s, int l)
{
    return &entry_of(s, s->run.nodes->local[l])->what;
}

size_t coll_span_listed(const struct coll_span *s, int l, enum coll_list which, int i)
{
    const struct coll_what *w = coll_span_what(s, l);
    if (!w->lists)
        return which == COUNTS || which == RECV_COUNTS ? w->count : (size_t)i * w->count;
    const size_t *lists = ref_at(w->lists);
    return lists[(size_t)which * (size_t)s->run.team->set.size + (size_t)i];
}

size_t coll_span_length(const struct coll_span *s, int member)
{
    const shoal_coll_t *c = &s->plan->coll;
    return (c->counts ? c->counts[member] : c->count) * s->plan->size;
}

size_t coll_span_longest(const struct coll_span *s)
{
    size_t most = 0;
    for (int i = 0; i < s->run.team->set.size; i++)
        most = coll_span_length(s, i) > most ? coll_span_length(s, i) : most;
    return most;
}

// ---- Life
struct coll_span *coll_span_new(struct shoal_coll_plan *p)
{
    const struct coll_nodes *nodes = p->team->nodes;
    size_t size[3] = {0}, offsets = (size_t)nodes->count + 1;
    struct coll_span *s = calloc(1, sizeof *s + 3 * offsets * sizeof *s->at);
    if (!s)
        return NULL;
    bool is_user = programs[p->coll.kind]->folds && p->coll.op >= SHOAL_OP_USER && !p->fold;
    s->plan = p;
    s->at = (size_t *)(s + 1);
    s->out = s->at + offsets;
    s->in = s->out + offsets;
    s->run = (struct coll_run){
        .team = p->team,
        .nodes = nodes,
        .fold = {p->fold, (int)p->coll.op, (int)p->coll.type, p->size, is_user}};
    programs[p->coll.kind]->need(s, size);
    for (int i = 0; i < 3; i++)
        if (size[i] && !(s->buffer[i] = arena_alloc(size[i]))) {
            coll_span_free(s);
            return NULL;
        }
    return s;
}

void coll_span_free(struct coll_span *s)
{
    for (int i = 0; s && i < 3; i++)
        arena_free(s->buffer[i]);
    if (s)
        coll_run_free(&s->run);
    free(s);
}

static bool is_due(struct coll_run *run)
{
    struct coll_span *s = coll_span_of(run);
    uint64_t all = s->plan->round * (uint64_t)run->nodes->locals;
    bool due = counter_sum(&entry_of(s, run->nodes->local[0])->ready) >= all;
    if (due)
        ORDERED_ELSEWHERE(); // buffers that the members filled
    return due;
}

// The own entry last: then the plan may be gone.
static void end(struct coll_run *run)
{
    struct coll_span *s = coll_span_of(run);
    const struct coll_nodes *nodes = run->nodes;
    struct shoal_team *team = run->team;
    ORDERED_ELSEWHERE();
    for (int l = nodes->locals - 1, status = run->status; l >= 0; l--) {
        struct coll_entry *e = entry_of(s, nodes->local[l]);
        atomic_store_explicit(&e->status, status, memory_order_relaxed);
        counter_add(&e->done, set_pe(&team->set, nodes->local[l]), 1, 0);
    }
}

void coll_span_start(struct shoal_coll_plan *p)
{
    struct shoal_team *team = p->team;
    struct coll_span *s = p->span;
    int leader = team->nodes->local[0];
    struct coll_entry *first =
        &team_area_at(team, leader)->coll[p->entry - team_area_at(team, team->me)->coll];
    if (s) {
        const struct coll_program *program = programs[p->coll.kind];
        const struct coll_fold *f = &s->run.fold;
        s->off = s->part = 0;
        s->run.seq = p->seq;
        s->run.status = f->up && !element_user_size(f->op) ? SHOAL_EINVAL : SHOAL_OK;
        s->run.due = is_due;
        s->run.in = program->in;
        s->run.out = program->out;
        s->run.end = end;
    }
    counter_add(&first->ready, set_pe(&team->set, leader), 1, 0);
    if (s) {
        coll_run_start(&s->run);
        coll_run_move();
    }
}

void coll_span_call(const struct group *g, const shoal_coll_t *coll, const struct reduce_op *op)
{
    struct shoal_coll_plan *p;
    int status = coll_plan_new(g->team, coll, op, &p);
    if (status)
        fatal("a collective over nodes: %s (the arena has %lu bytes; they grow with "
              "SHMEM_SYMMETRIC_SIZE)",
              shoal_strerror(status), (unsigned long)world.job->arena_size);
    coll_plan_call(p);
    coll_plan_free(p);
}
