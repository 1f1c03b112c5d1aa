// SPDX-License-Identifier: BSD-3-Clause
// What the parts of a nonblocking collective do. See coll_part.h.
#include "coll_part.h"

#include "coll_plan.h"
#include "copy.h"
#include "counter.h"
#include "elements.h"
#include "slice.h"

// The collective as a PE sees it that may not be a member.
struct view {
    struct pe_set set;
    int area;
    uint64_t slot, round;
    int part;
};

void coll_part_name(struct operation *op, const struct shoal_team *team, uint64_t slot,
                    uint64_t round, int member)
{
    op->value = (shoal_ct_value_t){(uint64_t)(uint32_t)team->set.start << 32 |
                                       (uint32_t)team->set.stride,
                                   (uint64_t)team->set.size};
    op->a = (uint64_t)team->area << 32 | slot;
    op->b = round;
    op->n = (uint64_t)member;
}

static struct view view_of(const struct operation *op)
{
    return (struct view){.set = {(int)(op->value.success >> 32), (int)(int32_t)op->value.success,
                                 (int)op->value.failure},
                         .area = (int)(op->a >> 32),
                         .slot = op->a & 0xffffffffu,
                         .round = op->b,
                         .part = (int)op->n};
}

static struct coll_entry *entry(const struct view *v, int member)
{
    return &slice_of(set_pe(&v->set, member))->team[v->area].coll[v->slot];
}

static const struct coll_what *what(const struct view *v, int member)
{
    return &entry(v, member)->what;
}

static bool is_free(const struct view *v)
{
    return atomic_load_explicit(&entry(v, v->part)->claimed, memory_order_relaxed) < v->round;
}

bool coll_part_is_free(const struct operation *op)
{
    struct view v = view_of(op);
    return is_free(&v);
}

// The root takes its own part when it starts.
bool coll_part_is_early(const struct operation *op)
{
    struct view v = view_of(op);
    const struct coll_what *e = what(&v, v.part);
    return e->kind == SHOAL_COLL_BROADCAST &&
           (v.part == e->root ||
            atomic_load_explicit(&entry(&v, e->root)->claimed, memory_order_acquire) == v.round);
}

static struct place src_of(const struct view *v, int member, size_t offset)
{
    return place_add(what(v, member)->src, (ptrdiff_t)offset);
}

static struct place dst_of(const struct view *v, int member, size_t offset)
{
    return place_add(what(v, member)->dst, (ptrdiff_t)offset);
}

static bool is_same(struct place a, struct place b)
{
    return a.pe == b.pe && a.space == b.space && a.offset == b.offset;
}

static void copy(struct place to, struct place from, size_t n)
{
    if (n && !is_same(to, from))
        copy_move(place_here(to), place_here(from), n);
}

enum list { COUNTS, DISPLS, RECV_COUNTS, RECV_DISPLS };

// Of member `of`: what its list says of member i; where there are none, blocks of equal size.
static size_t listed(const struct view *v, int of, enum list which, int i)
{
    const struct coll_what *e = what(v, of);
    size_t at = (size_t)which * (size_t)v->set.size + (size_t)i;
    if (!e->lists)
        return which == COUNTS || which == RECV_COUNTS ? e->count : (size_t)i * e->count;
    return ((const size_t *)ref_at(e->lists))[at];
}

static void gather_block(const struct view *v, int from, int to)
{
    size_t size = what(v, to)->size, at = listed(v, to, DISPLS, from) * size;
    size_t n = listed(v, to, COUNTS, from) * size;
    struct place src = src_of(v, from, 0);
    bool has_dst = what(v, from)->kind != SHOAL_COLL_GATHER ||
                   from == to; // to the root, which is `to`
    bool in_place = has_dst && is_same(src, dst_of(v, from, 0));
    if (in_place && from == to)
        return;
    copy(dst_of(v, to, at), in_place ? src_of(v, from, listed(v, from, DISPLS, from) * size) : src,
         n);
}

static void exchange_block(const struct view *v, int from, int to)
{
    size_t size = what(v, to)->size;
    size_t at = listed(v, to, what(v, to)->lists ? RECV_DISPLS : DISPLS, from) * size;
    copy(dst_of(v, to, at), src_of(v, from, listed(v, from, DISPLS, to) * size),
         listed(v, from, COUNTS, to) * size);
}

// ---- Reductions, block by block: acc starts as the highest member's elements, then takes in the
// others downwards, so that acc = in op acc combines them in their order.
struct slice_of_elements {
    size_t first, n; // elements
};

static struct slice_of_elements my_slice(const struct view *v)
{
    size_t count = what(v, v->part)->count, each = count / (size_t)v->set.size;
    struct slice_of_elements s = {each * (size_t)v->part, each};
    if (v->part == v->set.size - 1)
        s.n = count - s.first;
    return s;
}

static int combine(const struct view *v, unsigned char *acc, size_t at, size_t n, int last)
{
    const struct coll_what *e = what(v, v->part);
    int status = SHOAL_OK;
    copy_bytes(acc, place_here(src_of(v, last, at)), n * e->size);
    for (int i = last - 1; i >= 0 && !status; i--)
        status = element_reduce(acc, place_here(src_of(v, i, at)), n, e->op, e->type);
    return status;
}

static int reduce_block(const struct view *v, size_t at, size_t n, size_t to)
{
    LINE_ALIGNED unsigned char acc[LIMIT_COLL_BLOCK];
    const struct coll_what *e = what(v, v->part);
    int status = combine(v, acc, at, n, v->set.size - 1);
    if (status)
        return status;
    switch (e->kind) {
    case SHOAL_COLL_REDUCE: copy_bytes(place_here(dst_of(v, e->root, to)), acc, n * e->size); break;
    case SHOAL_COLL_REDUCE_SCATTER:
        copy_bytes(place_here(dst_of(v, v->part, to)), acc, n * e->size);
        break;
    default:
        for (int i = 0; i < v->set.size; i++)
            copy_bytes(place_here(dst_of(v, i, to)), acc, n * e->size);
    }
    return SHOAL_OK;
}

// From the highest member down, so that what a lower one still has to give is not overwritten.
static int scan_block(const struct view *v, size_t at, size_t n, size_t to)
{
    LINE_ALIGNED unsigned char acc[LIMIT_COLL_BLOCK];
    const struct coll_what *e = what(v, v->part);
    bool exclusive = e->kind == SHOAL_COLL_EXSCAN;
    int status = SHOAL_OK;
    for (int i = v->set.size - 1; i >= exclusive && !status; i--) {
        status = combine(v, acc, at, n, i - exclusive);
        if (!status)
            copy_bytes(place_here(dst_of(v, i, to)), acc, n * e->size);
    }
    return status;
}

static int by_blocks(const struct view *v, struct slice_of_elements s, size_t to,
                     int (*fn)(const struct view *, size_t, size_t, size_t))
{
    size_t size = what(v, v->part)->size, block = LIMIT_COLL_BLOCK / size;
    int status = SHOAL_OK;
    for (size_t done = 0, n; done < s.n && !status; done += n) {
        n = s.n - done < block ? s.n - done : block;
        status = fn(v, (s.first + done) * size, n, (to + done) * size);
    }
    return status;
}

static int reduce_scatter(const struct view *v)
{
    size_t first = 0;
    for (int i = 0; i < v->part; i++)
        first += listed(v, v->part, COUNTS, i);
    struct slice_of_elements s = {first, listed(v, v->part, COUNTS, v->part)};
    return by_blocks(v, s, 0, reduce_block);
}

static int run_part(const struct view *v)
{
    const struct coll_what *e = what(v, v->part);
    struct slice_of_elements s = my_slice(v);
    switch (e->kind) {
    case SHOAL_COLL_BROADCAST:
        copy(dst_of(v, v->part, 0), src_of(v, e->root, 0), e->count * e->size);
        return SHOAL_OK;
    case SHOAL_COLL_REDUCE:
    case SHOAL_COLL_ALLREDUCE: return by_blocks(v, s, s.first, reduce_block);
    case SHOAL_COLL_SCAN:
    case SHOAL_COLL_EXSCAN: return by_blocks(v, s, s.first, scan_block);
    case SHOAL_COLL_GATHER: gather_block(v, v->part, e->root); return SHOAL_OK;
    case SHOAL_COLL_ALLGATHER:
        for (int i = 0; i < v->set.size; i++)
            gather_block(v, i, v->part);
        return SHOAL_OK;
    case SHOAL_COLL_ALLTOALL:
        for (int i = 0; i < v->set.size; i++)
            exchange_block(v, i, v->part);
        return SHOAL_OK;
    case SHOAL_COLL_REDUCE_SCATTER: return reduce_scatter(v);
    default: return SHOAL_OK; // a barrier is the meeting alone
    }
}

// The last part to end tells every member.
static void end_part(const struct view *v, int status)
{
    struct coll_entry *first = entry(v, 0);
    if (status)
        for (int i = 0; i < v->set.size; i++)
            atomic_store_explicit(&entry(v, i)->status, status, memory_order_relaxed);
    // acq_rel: the last one has seen what all parts wrote.
    uint64_t ended = 1 + atomic_fetch_add_explicit(&first->parts, 1, memory_order_acq_rel);
    if (ended < v->round * (uint64_t)v->set.size)
        return;
    for (int i = 0; i < v->set.size; i++)
        counter_add(&entry(v, i)->done, set_pe(&v->set, i), 1, 0);
}

static bool is_long(const struct coll_what *e)
{
    return e->count * e->size >= LIMIT_COLL_BROADCAST;
}

// A member that sleeps may take a part of what is long.
static void wake_member(const struct view *v)
{
    if (is_long(what(v, v->part)))
        bell_check(&world_ctl(set_pe(&v->set, v->part))->bell);
}

// Who comes last has something to do of its own: a long part that anybody may run is for its member,
// or for whoever waits first. Nothing is lost: as long as all compute, nobody wants the result. (Not of
// a broadcast, where who sleeps may have run its own part already and is not told of the others.)
static bool is_left(const struct operation *op, const struct coll_what *e)
{
    return op->initiator != world.me && is_long(e) && e->op < SHOAL_OP_USER &&
           e->kind != SHOAL_COLL_BROADCAST;
}

static void run_claimed(const struct view *v)
{
    wake_member(v);
    ORDERED_ELSEWHERE(); // buffers that other PEs filled for others
    int status = run_part(v);
    ORDERED_ELSEWHERE();
    end_part(v, status);
}

int coll_part_run(const struct operation *op, int *needs)
{
    struct view v = view_of(op);
    struct coll_entry *e = entry(&v, v.part);
    uint64_t before = v.round - 1;
    if (!is_free(&v)) // its member may be describing the next round
        return SHOAL_OK;
    if (e->what.op >= SHOAL_OP_USER && !element_user_size(e->what.op) &&
        op->initiator != world.me) {
        *needs = set_pe(&v.set, v.part); // who uses it has registered it
        return SHOAL_EAGAIN;
    }
    if (is_left(op, &e->what)) {
        wake_member(&v);
        return SHOAL_OK;
    }
    // release: whoever sees the root's claim of a broadcast reads its description.
    if (atomic_compare_exchange_strong_explicit(&e->claimed, &before, v.round, memory_order_acq_rel,
                                                memory_order_relaxed))
        run_claimed(&v);
    return SHOAL_OK;
}
