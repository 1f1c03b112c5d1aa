// SPDX-License-Identifier: BSD-3-Clause
// Collectives over nodes that move data: what a leader takes from the members of its node, what the
// leaders exchange, and what they give to the members. See coll_span.h.
#include "coll_choose.h"
#include "coll_rounds.h"
#include "coll_span.h"
#include "copy.h"

#include <string.h>

static size_t least(size_t a, size_t b)
{
    return a < b ? a : b;
}

static void give(struct coll_span *s, char *to, const char *from, size_t n)
{
    if (n && to != from && !s->run.status)
        copy_move(to, from, n);
}

// How many of `total` blocks' bytes are staged at once.
static size_t piece_of(size_t blocks)
{
    size_t piece = LIMIT_COLL_STAGE / (blocks ? blocks : 1);
    return piece ? piece : 1;
}

// ---- Broadcast: the leaders receive into their own destination.
static int root_node(const struct coll_span *s)
{
    return coll_span_node(s, s->plan->coll.root);
}

static char *broadcast_here(struct coll_span *s)
{
    const struct coll_nodes *nodes = s->run.nodes;
    int root = 0;
    if (root_node(s) != nodes->mine)
        return coll_span_dst(s, 0);
    while (nodes->local[root] != s->plan->coll.root)
        root++;
    return coll_span_src(s, root);
}

static bool broadcast_in(struct coll_run *run)
{
    struct coll_span *s = coll_span_of(run);
    if (!coll_span_next(s, s->plan->coll.count * s->plan->size))
        return false;
    char *data = broadcast_here(s);
    coll_rounds_broadcast(run, root_node(s), data, data, s->part);
    return true;
}

static void broadcast_out(struct coll_run *run)
{
    struct coll_span *s = coll_span_of(run);
    const char *data = broadcast_here(s);
    for (int l = 0; l < run->nodes->locals; l++)
        give(s, coll_span_dst(s, l), data, s->part);
}

static void broadcast_need(struct coll_span *s, size_t size[3])
{
    (void)size;
    s->piece = SIZE_MAX;
}

const struct coll_program coll_move_broadcast = {broadcast_in, broadcast_out, broadcast_need,
                                                 false};

// ---- Gathers: the members' blocks node by node, this node's first.
static bool is_gather(const struct coll_span *s)
{
    return s->plan->coll.kind == SHOAL_COLL_GATHER;
}

// Where the blocks of the nodes begin: s->at by the distance from this node.
static void lay_out(struct coll_span *s)
{
    int nodes = s->run.nodes->count, mine = s->run.nodes->mine;
    memset(s->at, 0, ((size_t)nodes + 1) * sizeof *s->at);
    for (int i = 0; i < s->run.team->set.size; i++) {
        int distance = coll_span_node(s, i) - mine;
        s->at[(distance < 0 ? distance + nodes : distance) + 1] += coll_span_cut(
            s, coll_span_length(s, i));
    }
    for (int k = 0; k < nodes; k++)
        s->at[k + 1] += s->at[k];
}

static bool is_in_place(const struct coll_what *w)
{
    return w->src.pe == w->dst.pe && w->src.space == w->dst.space && w->src.offset == w->dst.offset;
}

// Where local member l has its own block.
static const char *own_block(const struct coll_span *s, int l)
{
    const struct coll_what *w = coll_span_what(s, l);
    size_t displ = coll_span_listed(s, l, DISPLS, s->run.nodes->local[l]) * w->size;
    bool has_dst = !is_gather(s) || s->run.nodes->local[l] == w->root;
    return coll_span_src(s, l) + (has_dst && is_in_place(w) ? displ : 0);
}

static bool gather_in(struct coll_run *run)
{
    struct coll_span *s = coll_span_of(run);
    if (!coll_span_next(s, coll_span_longest(s)))
        return false;
    lay_out(s);
    char *to = s->buffer[0];
    for (int l = 0; l < run->nodes->locals; l++) {
        size_t n = coll_span_cut(s, coll_span_length(s, run->nodes->local[l]));
        if (n)
            copy_bytes(to, own_block(s, l) + s->off, n);
        to += n;
    }
    if (is_gather(s))
        coll_rounds_gather(run, root_node(s), s->buffer[0], s->at);
    else
        coll_rounds_allgather(run, s->buffer[0], s->at);
    return true;
}

static void gather_out(struct coll_run *run)
{
    struct coll_span *s = coll_span_of(run);
    int nodes = run->nodes->count, mine = run->nodes->mine;
    size_t size = s->plan->size;
    for (int i = 0; i < run->team->set.size; i++) {
        int distance = coll_span_node(s, i) - mine;
        size_t *at = &s->at[distance < 0 ? distance + nodes : distance],
               n = coll_span_cut(s, coll_span_length(s, i));
        for (int l = 0; l < run->nodes->locals; l++)
            if (!is_gather(s) || run->nodes->local[l] == s->plan->coll.root)
                give(s, coll_span_dst(s, l) + coll_span_listed(s, l, DISPLS, i) * size + s->off,
                     s->buffer[0] + *at, n);
        *at += n;
    }
}

static void gather_need(struct coll_span *s, size_t size[3])
{
    s->piece = piece_of((size_t)s->run.team->set.size);
    s->part = s->piece; // of the first part, which is the largest
    for (int i = 0; i < s->run.team->set.size; i++)
        size[0] += coll_span_cut(s, coll_span_length(s, i));
}

const struct coll_program coll_move_gather = {gather_in, gather_out, gather_need, false};

// ---- Alltoall: for each other node the blocks of each local member to each member there.
static size_t block_out(const struct coll_span *s, int l, int to)
{
    return coll_span_cut(s, coll_span_listed(s, l, COUNTS, to) * s->plan->size);
}

static enum coll_list receiving(const struct coll_span *s, enum coll_list of_equal)
{
    return !s->plan->coll.counts ? of_equal : of_equal == COUNTS ? RECV_COUNTS : RECV_DISPLS;
}

static size_t block_in(const struct coll_span *s, int l, int from)
{
    return coll_span_cut(s, coll_span_listed(s, l, receiving(s, COUNTS), from) * s->plan->size);
}

// Of all blocks of this node, which decides when it is done: with others it exchanges nothing then.
static size_t longest_pair(const struct coll_span *s)
{
    size_t most = 0;
    if (!s->plan->coll.counts)
        return s->plan->coll.count * s->plan->size;
    for (int l = 0; l < s->run.nodes->locals; l++)
        for (int i = 0; i < s->run.team->set.size; i++) {
            size_t out = coll_span_listed(s, l, COUNTS, i),
                   in = coll_span_listed(s, l, RECV_COUNTS, i);
            most = out > most ? out : most;
            most = in > most ? in : most;
        }
    return most * s->plan->size;
}

static size_t equal_block(const struct coll_span *s)
{
    return (size_t)s->run.nodes->most * (size_t)s->run.nodes->most * s->part;
}

// Into s->out and s->in, where the nodes' blocks begin.
static void lay_out_pairs(struct coll_span *s)
{
    int nodes = s->run.nodes->count;
    memset(s->out, 0, ((size_t)nodes + 1) * sizeof *s->out);
    memset(s->in, 0, ((size_t)nodes + 1) * sizeof *s->in);
    for (int i = 0; i < s->run.team->set.size && !s->equal; i++)
        for (int l = 0, node = coll_span_node(s, i); l < s->run.nodes->locals; l++) {
            s->out[node + 1] += block_out(s, l, i);
            s->in[node + 1] += block_in(s, l, i);
        }
    for (int k = 0; k < nodes; k++) {
        s->out[k + 1] += s->equal ? s->out[k] + equal_block(s) : s->out[k];
        s->in[k + 1] += s->equal ? s->in[k] + equal_block(s) : s->in[k];
    }
}

static bool alltoall_in(struct coll_run *run)
{
    struct coll_span *s = coll_span_of(run);
    size_t size = s->plan->size;
    if (!coll_span_next(s, longest_pair(s)))
        return false;
    lay_out_pairs(s);
    memcpy(s->at, s->out, (size_t)run->nodes->count * sizeof *s->at);
    for (int l = 0; l < run->nodes->locals; l++)
        for (int i = 0; i < run->team->set.size; i++) {
            size_t *at = &s->at[coll_span_node(s, i)], n = block_out(s, l, i);
            if (n)
                copy_bytes(s->buffer[0] + *at,
                           coll_span_src(s, l) + coll_span_listed(s, l, DISPLS, i) * size + s->off,
                           n);
            *at += n;
        }
    if (s->equal)
        coll_rounds_bruck(run, s->buffer[0], s->buffer[1], s->buffer[2], equal_block(s));
    else
        coll_rounds_alltoall(run, s->buffer[0], s->out, s->buffer[1], s->in);
    return true;
}

static void alltoall_out(struct coll_run *run)
{
    struct coll_span *s = coll_span_of(run);
    size_t size = s->plan->size;
    for (int i = 0; i < run->team->set.size; i++)
        for (int l = 0; l < run->nodes->locals; l++) {
            size_t *at = &s->in[coll_span_node(s, i)], n = block_in(s, l, i);
            size_t displ = coll_span_listed(s, l, receiving(s, DISPLS), i) * size;
            give(s, coll_span_dst(s, l) + displ + s->off, s->buffer[1] + *at, n);
            *at += n;
        }
}

static void alltoall_need(struct coll_span *s, size_t size[3])
{
    const struct coll_nodes *nodes = s->run.nodes;
    const shoal_coll_t *c = &s->plan->coll;
    size_t most = (size_t)nodes->most,
           pairs = (size_t)nodes->locals * (size_t)s->run.team->set.size;
    s->piece = piece_of(most * most * (size_t)nodes->count);
    s->part = c->counts ? s->piece : least(s->piece, c->count * s->plan->size);
    s->equal = !c->counts && coll_choose(ROUNDS_ALLTOALL, equal_block(s), nodes->count) == BY_BRUCK;
    size[0] = size[1] = s->equal ? (size_t)nodes->count * equal_block(s) : pairs * s->part;
    size[2] = s->equal ? 2 * size[0] : 0;
}

const struct coll_program coll_move_alltoall = {alltoall_in, alltoall_out, alltoall_need, false};
