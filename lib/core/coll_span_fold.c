// SPDX-License-Identifier: BSD-3-Clause
// Collectives over nodes that combine elements. A node's members are combined first, in their order;
// then the nodes. Where that would not be the members' order (they are not numbered node by node)
// and it matters - for scans, and operators of users, which may not commute - every member's elements
// go to the node that combines them, each node a slice. See coll_span.h.
#include "coll_rounds.h"
#include "coll_span.h"
#include "copy.h"
#include "reduce_ops.h"

#include <string.h>

static bool keeps_order(const struct coll_span *s, bool matters)
{
    return s->run.nodes->in_order || !(matters || s->run.fold.up);
}

static size_t total(const struct coll_span *s)
{
    return s->plan->coll.count * s->plan->size;
}

// Whole elements, so that `parts` of them at a time can be staged.
static size_t piece_of(const struct coll_span *s, size_t parts)
{
    size_t n = LIMIT_COLL_STAGE / parts / s->plan->size;
    return (n ? n : 1) * s->plan->size;
}

static void give(struct coll_span *s, char *to, const void *from, size_t n)
{
    if (!s->run.status && n)
        copy_bytes(to, from, n);
}

// The local members' bytes [at, at + n) into acc, in pieces that stay in the cache. Operators of
// users take the place of the higher operand: from the last member down.
static void combine_local(struct coll_span *s, char *acc, size_t at, size_t n)
{
    size_t block = LIMIT_COLL_BLOCK / s->plan->size * s->plan->size;
    int locals = s->run.nodes->locals, first = s->run.fold.up ? locals - 1 : 0;
    int step = s->run.fold.up ? -1 : 1;
    for (size_t done = 0, part; done < n; done += part) {
        part = n - done < block ? n - done : block;
        char *to = acc + done;
        copy_bytes(to, coll_span_src(s, first) + at + done, part);
        for (int l = first + step; l >= 0 && l < locals; l += step) {
            char *from = coll_span_src(s, l) + at + done; // which stays as it is
            coll_run_fold(&s->run, s->run.fold.up ? from : to, s->run.fold.up ? to : from, part);
        }
    }
}

// ---- Slices: slice k of the elements, of all members, is combined at node k.
static size_t slice(const struct coll_span *s, int k)
{
    size_t size = s->plan->size;
    return s->part / size * (size_t)k / (size_t)s->run.nodes->count * size;
}

static void lay_out_slices(struct coll_span *s)
{
    const struct coll_nodes *nodes = s->run.nodes;
    size_t mine = slice(s, nodes->mine + 1) - slice(s, nodes->mine);
    s->in[0] = 0;
    for (int k = 0; k <= nodes->count; k++) {
        s->out[k] = (size_t)nodes->locals * slice(s, k);
        if (k < nodes->count)
            s->in[k + 1] = s->in[k] + (size_t)nodes->size[k] * mine;
    }
}

static void send_slices(struct coll_span *s)
{
    const struct coll_nodes *nodes = s->run.nodes;
    lay_out_slices(s);
    char *to = s->buffer[0];
    for (int k = 0; k < nodes->count; k++)
        for (int l = 0; l < nodes->locals; l++) {
            size_t n = slice(s, k + 1) - slice(s, k);
            copy_bytes(to, coll_span_src(s, l) + s->off + slice(s, k), n);
            to += n;
        }
    coll_rounds_alltoall(&s->run, s->buffer[0], s->out, s->buffer[1], s->in);
}

// The members' bytes, n each, as they came: fn is called with them in the members' order.
static void each_member(struct coll_span *s, size_t n,
                        void (*fn)(struct coll_span *, int, char *, size_t))
{
    int nodes = s->run.nodes->count;
    memcpy(s->at, s->in, (size_t)nodes * sizeof *s->at);
    for (int i = 0; i < s->run.team->set.size; i++) {
        size_t *at = &s->at[coll_span_node(s, i)];
        fn(s, i, s->buffer[1] + *at, n);
        *at += n;
    }
}

static void add_member(struct coll_span *s, int i, char *elements, size_t n)
{
    s->result = i ? coll_run_fold(&s->run, s->result, elements, n) : elements;
}

// The slices combined, for the allgather of slices to follow.
static void reduce_slices(struct coll_run *run)
{
    struct coll_span *s = coll_span_of(run);
    size_t n = slice(s, run->nodes->mine + 1) - slice(s, run->nodes->mine);
    each_member(s, n, add_member);
    copy_bytes(s->buffer[2], s->result, n);
}

// ---- Reduce and allreduce
static bool reduce_in(struct coll_run *run)
{
    struct coll_span *s = coll_span_of(run);
    const struct coll_nodes *nodes = run->nodes;
    if (!coll_span_next(s, total(s)))
        return false;
    if (s->raw) {
        send_slices(s);
        coll_run_call(run, reduce_slices);
        s->out[0] = 0;
        for (int j = 0, k = nodes->mine; j < nodes->count; j++, k = (k + 1) % nodes->count)
            s->out[j + 1] = s->out[j] + slice(s, k + 1) - slice(s, k);
        coll_rounds_allgather(run, s->buffer[2], s->out);
        return true;
    }
    combine_local(s, s->buffer[0], s->off, s->part);
    if (s->plan->coll.kind == SHOAL_COLL_ALLREDUCE)
        s->result = coll_rounds_allreduce(run, s->buffer[0], s->buffer[1], s->part);
    else
        s->result = coll_rounds_reduce(run, coll_span_node(s, s->plan->coll.root), s->buffer[0],
                                       s->buffer[1], s->part);
    return true;
}

static void reduce_out(struct coll_run *run)
{
    struct coll_span *s = coll_span_of(run);
    const struct coll_nodes *nodes = run->nodes;
    for (int l = 0; l < nodes->locals; l++) {
        if (s->plan->coll.kind == SHOAL_COLL_REDUCE && nodes->local[l] != s->plan->coll.root)
            continue;
        char *dst = coll_span_dst(s, l) + s->off;
        if (!s->raw)
            give(s, dst, s->result, s->part);
        for (int j = 0, k = nodes->mine; s->raw && j < nodes->count;
             j++, k = (k + 1) % nodes->count)
            give(s, dst + slice(s, k), s->buffer[2] + s->out[j], s->out[j + 1] - s->out[j]);
    }
}

// Room for the slices of each local member, of all members, and for what is made of them.
static void need_slices(struct coll_span *s, size_t size[3])
{
    const struct coll_nodes *nodes = s->run.nodes;
    size_t each = s->plan->size;
    s->piece = piece_of(s, (size_t)nodes->most);
    s->part = s->piece < total(s) ? s->piece : total(s);
    size[0] = (size_t)nodes->locals * s->part;
    size[1] = (size_t)s->run.team->set.size * (s->part / (size_t)nodes->count + each);
    size[2] = s->part + 2 * each; // or of two slices
}

static void need_parts(struct coll_span *s, bool scans, size_t size[3])
{
    s->raw = !keeps_order(s, scans);
    if (s->raw) {
        need_slices(s, size);
        return;
    }
    s->piece = piece_of(s, 1);
    size[0] = size[1] = s->piece < total(s) ? s->piece : total(s);
}

static void reduce_need(struct coll_span *s, size_t size[3])
{
    need_parts(s, false, size);
}

const struct coll_program coll_fold_reduce = {reduce_in, reduce_out, reduce_need, true};

// ---- Scans
// `sum` holds what comes before the next member, if anything does; both have room for n bytes.
struct before {
    char *sum, *spare;
    bool has_some;
};

// One more member: what it gives, and where its result goes, which may be the same place.
static void scan_one(struct coll_span *s, struct before *b, const char *from, char *to, size_t n)
{
    bool exclusive = s->plan->coll.kind == SHOAL_COLL_EXSCAN;
    char *own = b->spare, *sum = own;
    copy_bytes(own, from, n);
    if (exclusive && b->has_some)
        give(s, to, b->sum, n);
    else if (exclusive && s->run.fold.builtin) // of shmem.h, which says that it is zero
        memset(to, 0, n);
    if (b->has_some)
        sum = coll_run_fold(&s->run, b->sum, own, n);
    if (!exclusive)
        give(s, to, sum, n);
    b->spare = sum == own ? b->sum : own;
    b->sum = sum;
    b->has_some = true;
}

static void scan_member(struct coll_span *s, int i, char *elements, size_t n)
{
    (void)i;
    scan_one(s, s->result, elements, elements, n);
}

static void scan_slices(struct coll_run *run)
{
    struct coll_span *s = coll_span_of(run);
    size_t n = slice(s, run->nodes->mine + 1) - slice(s, run->nodes->mine);
    struct before b = {s->buffer[2], s->buffer[2] + n, false};
    s->result = &b;
    each_member(s, n, scan_member);
}

static bool scan_in(struct coll_run *run)
{
    struct coll_span *s = coll_span_of(run);
    if (!coll_span_next(s, total(s)))
        return false;
    if (s->raw) {
        send_slices(s);
        coll_run_call(run, scan_slices);
        coll_rounds_alltoall(run, s->buffer[1], s->in, s->buffer[0], s->out);
        return true;
    }
    combine_local(s, s->buffer[0], s->off, s->part);
    s->result = coll_rounds_exscan(run, s->buffer[0], s->buffer[1], s->part);
    return true;
}

static void scan_out_slices(struct coll_span *s)
{
    const char *from = s->buffer[0];
    for (int k = 0; k < s->run.nodes->count; k++)
        for (int l = 0; l < s->run.nodes->locals; l++) {
            size_t n = slice(s, k + 1) - slice(s, k);
            bool alone = s->plan->coll.kind == SHOAL_COLL_EXSCAN && !s->run.fold.builtin &&
                         s->run.nodes->local[l] == 0;
            if (!alone)
                give(s, coll_span_dst(s, l) + s->off + slice(s, k), from, n);
            from += n;
        }
}

static void scan_out(struct coll_run *run)
{
    struct coll_span *s = coll_span_of(run);
    LINE_ALIGNED char block[2][LIMIT_COLL_BLOCK];
    size_t size = LIMIT_COLL_BLOCK / s->plan->size * s->plan->size;
    if (s->raw) {
        scan_out_slices(s);
        return;
    }
    for (size_t at = 0, n; at < s->part; at += n) {
        n = s->part - at < size ? s->part - at : size;
        struct before b = {block[0], block[1], s->result != NULL};
        if (s->result)
            copy_bytes(b.sum, (char *)s->result + at, n);
        for (int l = 0; l < run->nodes->locals; l++)
            scan_one(s, &b, coll_span_src(s, l) + s->off + at, coll_span_dst(s, l) + s->off + at,
                     n);
    }
}

static void scan_need(struct coll_span *s, size_t size[3])
{
    need_parts(s, true, size);
}

const struct coll_program coll_fold_scan = {scan_in, scan_out, scan_need, true};

// ---- Reduce-scatter: what belongs to the members of node k is combined there.
// Bytes of a node's members in this part; node -1: of all.
static size_t node_length(const struct coll_span *s, int node)
{
    size_t n = 0;
    for (int i = 0; i < s->run.team->set.size; i++)
        if (node < 0 || coll_span_node(s, i) == node)
            n += coll_span_cut(s, coll_span_length(s, i));
    return n;
}

static void lay_out_scatter(struct coll_span *s)
{
    const struct coll_nodes *nodes = s->run.nodes;
    size_t mine = node_length(s, nodes->mine), copies = s->raw ? (size_t)nodes->locals : 1;
    memset(s->out, 0, ((size_t)nodes->count + 1) * sizeof *s->out);
    for (int i = 0; i < s->run.team->set.size; i++)
        s->out[coll_span_node(s, i) + 1] += copies * coll_span_cut(s, coll_span_length(s, i));
    s->in[0] = 0;
    for (int k = 0; k < nodes->count; k++) {
        s->out[k + 1] += s->out[k];
        s->in[k + 1] = s->in[k] + (s->raw ? (size_t)nodes->size[k] : 1) * mine;
    }
}

// For each node what its members get, of local member l or, not raw, of all of them.
static void pack(struct coll_span *s, int l)
{
    const struct coll_nodes *nodes = s->run.nodes;
    size_t copies = s->raw ? (size_t)nodes->locals : 1, start = s->off;
    for (int k = 0; k < nodes->count; k++)
        s->at[k] = s->out[k] + (s->out[k + 1] - s->out[k]) / copies * (size_t)l;
    for (int i = 0; i < s->run.team->set.size; start += coll_span_length(s, i), i++) {
        size_t *at = &s->at[coll_span_node(s, i)], n = coll_span_cut(s, coll_span_length(s, i));
        if (s->raw && n)
            copy_bytes(s->buffer[0] + *at, coll_span_src(s, l) + start, n);
        else
            combine_local(s, s->buffer[0] + *at, start, n);
        *at += n;
    }
}

static void combine_nodes(struct coll_run *run)
{
    struct coll_span *s = coll_span_of(run);
    size_t n = node_length(s, run->nodes->mine);
    if (s->raw)
        each_member(s, n, add_member);
    for (int k = 0; k < run->nodes->count && !s->raw; k++)
        add_member(s, k, s->buffer[1] + s->in[k], n);
}

static bool scatter_in(struct coll_run *run)
{
    struct coll_span *s = coll_span_of(run);
    if (!coll_span_next(s, coll_span_longest(s)))
        return false;
    lay_out_scatter(s);
    for (int l = 0; l < (s->raw ? run->nodes->locals : 1); l++)
        pack(s, l);
    coll_rounds_alltoall(run, s->buffer[0], s->out, s->buffer[1], s->in);
    coll_run_call(run, combine_nodes);
    return true;
}

static void scatter_out(struct coll_run *run)
{
    struct coll_span *s = coll_span_of(run);
    const char *from = s->result;
    for (int l = 0; l < run->nodes->locals; l++) {
        size_t n = coll_span_cut(s, coll_span_length(s, run->nodes->local[l]));
        give(s, coll_span_dst(s, l) + s->off, from, n);
        from += n;
    }
}

static void scatter_need(struct coll_span *s, size_t size[3])
{
    const struct coll_nodes *nodes = s->run.nodes;
    size_t members = (size_t)s->run.team->set.size;
    s->raw = !keeps_order(s, false);
    s->piece = piece_of(s, members * (s->raw ? (size_t)nodes->most : 1));
    s->part = s->piece;
    size[0] = node_length(s, -1) * (s->raw ? (size_t)nodes->locals : 1);
    size[1] = node_length(s, nodes->mine) * (s->raw ? members : (size_t)nodes->count);
}

const struct coll_program coll_fold_scatter = {scatter_in, scatter_out, scatter_need, true};
