// SPDX-License-Identifier: BSD-3-Clause
// The leaders' rounds that move data. See coll_rounds.h.
#include "coll_rounds.h"

#include "coll_choose.h"

enum { WINDOW = 8 }; // partners spoken to at once

static int wrap(int node, int nodes)
{
    return node >= nodes ? node - nodes : node < 0 ? node + nodes : node;
}

static size_t least(size_t a, size_t b)
{
    return a < b ? a : b;
}

void coll_rounds_meet(struct coll_run *run)
{
    int nodes = run->nodes->count, mine = run->nodes->mine;
    for (int d = 1; d < nodes; d *= 2) {
        coll_run_send(run, wrap(mine + d, nodes), NULL, 0);
        coll_run_recv(run, wrap(mine - d, nodes), NULL, 0);
        coll_run_wait(run);
    }
}

// ---- Broadcast. In the trees node (root + v) % nodes has number v.
struct broadcast {
    struct coll_run *run;
    int root, nodes, v;
    const char *from; // where this node finds the data,
    char *to;         // and where it stores it; NULL at root
    size_t n;
};

static int node_at(const struct broadcast *b, int v)
{
    return wrap(b->root + v, b->nodes);
}

// The lowest bit of v, for the root the first power of two above all: v minus it is the parent, v plus
// lower powers are the children, and [v, v + it) the subtree.
static int reach(const struct broadcast *b)
{
    int d = 1;
    while (d < b->nodes && !(b->v & d))
        d *= 2;
    return d;
}

static void binomial(const struct broadcast *b)
{
    int d = reach(b);
    if (b->v) {
        coll_run_recv(b->run, node_at(b, b->v - d), b->to, b->n);
        coll_run_wait(b->run);
    }
    while (d /= 2)
        if (b->v + d < b->nodes)
            coll_run_send(b->run, node_at(b, b->v + d), b->from, b->n);
}

// Each segment goes on to the next node while the one behind it arrives.
static void chain(const struct broadcast *b)
{
    size_t at = 0, before = 0, had = 0;
    bool sends = b->v < b->nodes - 1;
    for (size_t part; at < b->n || had; before = at, at += part, had = part) {
        part = least(LIMIT_COLL_SEGMENT, b->n - at);
        if (b->v && part)
            coll_run_recv(b->run, node_at(b, b->v - 1), b->to + at, part);
        if (b->v && had && sends)
            coll_run_send(b->run, node_at(b, b->v + 1), b->from + before, had);
        if (!b->v && part)
            coll_run_send(b->run, node_at(b, 1), b->from + at, part);
        coll_run_wait(b->run);
    }
}

static size_t piece(const struct broadcast *b, int v)
{
    return v < b->nodes ? b->n / (size_t)b->nodes * (size_t)v : b->n;
}

// A piece to each node down the binomial tree, then the pieces round the ring, except to the root.
static void scatter(const struct broadcast *b)
{
    int d = reach(b), end = b->v + d < b->nodes ? b->v + d : b->nodes;
    if (b->v) {
        coll_run_recv(b->run, node_at(b, b->v - d), b->to + piece(b, b->v),
                      piece(b, end) - piece(b, b->v));
        coll_run_wait(b->run);
    }
    while (d /= 2) {
        int child = b->v + d, last = child + d < b->nodes ? child + d : b->nodes;
        if (child < b->nodes)
            coll_run_send(b->run, node_at(b, child), b->from + piece(b, child),
                          piece(b, last) - piece(b, child));
    }
    coll_run_wait(b->run);
    for (int k = 0; k < b->nodes - 1; k++) {
        int out = wrap(b->v - k, b->nodes), in = wrap(b->v - k - 1, b->nodes);
        if (b->v < b->nodes - 1)
            coll_run_send(b->run, node_at(b, b->v + 1), b->from + piece(b, out),
                          piece(b, out + 1) - piece(b, out));
        if (b->v)
            coll_run_recv(b->run, node_at(b, b->v - 1), b->to + piece(b, in),
                          piece(b, in + 1) - piece(b, in));
        coll_run_wait(b->run);
    }
}

void coll_rounds_broadcast(struct coll_run *run, int root, const void *from, void *to, size_t n)
{
    struct broadcast b = {.run = run, .root = root, .nodes = run->nodes->count, .to = to, .n = n};
    b.v = wrap(run->nodes->mine - root, b.nodes);
    b.from = b.v ? to : from;
    switch (coll_choose(ROUNDS_BROADCAST, n, b.nodes)) {
    case BY_CHAIN: chain(&b); break;
    case BY_SCATTER: scatter(&b); break;
    default: binomial(&b); break;
    }
}

// ---- Gathers
static void send_blocks(struct coll_run *run, int node, const char *blocks, const size_t *at,
                        int first, int end)
{
    if (at[end] > at[first])
        coll_run_send(run, node, blocks + at[first], at[end] - at[first]);
}

static void recv_blocks(struct coll_run *run, int node, char *blocks, const size_t *at, int first,
                        int end)
{
    if (at[end] > at[first])
        coll_run_recv(run, node, blocks + at[first], at[end] - at[first]);
}

// After the round of distance d this node has the blocks of the 2d nodes from itself on.
static void bruck(struct coll_run *run, char *blocks, const size_t *at)
{
    int nodes = run->nodes->count, mine = run->nodes->mine;
    for (int d = 1; d < nodes; d *= 2) {
        int some = d < nodes - d ? d : nodes - d;
        // What the two of them call theirs are the same blocks: sizes are known to all.
        send_blocks(run, wrap(mine - d, nodes), blocks, at, 0, some);
        recv_blocks(run, wrap(mine + d, nodes), blocks, at, d, d + some);
        coll_run_wait(run);
    }
}

static void ring(struct coll_run *run, char *blocks, const size_t *at)
{
    int nodes = run->nodes->count, mine = run->nodes->mine;
    for (int k = 0; k < nodes - 1; k++) {
        int out = wrap(-k, nodes), in = nodes - k - 1;
        send_blocks(run, wrap(mine + 1, nodes), blocks, at, out, out + 1);
        recv_blocks(run, wrap(mine - 1, nodes), blocks, at, in, in + 1);
        coll_run_wait(run);
    }
}

void coll_rounds_allgather(struct coll_run *run, char *blocks, const size_t *at)
{
    int nodes = run->nodes->count;
    if (coll_choose(ROUNDS_ALLGATHER, at[nodes], nodes) == BY_RING)
        ring(run, blocks, at);
    else
        bruck(run, blocks, at);
}

// Up a binomial tree, each with what its subtree has, which are the blocks that follow its own.
void coll_rounds_gather(struct coll_run *run, int root, char *blocks, const size_t *at)
{
    int nodes = run->nodes->count, v = wrap(run->nodes->mine - root, nodes);
    for (int d = 1; d < nodes; d *= 2) {
        int left = nodes - v;
        if (v & d) {
            send_blocks(run, wrap(root + v - d, nodes), blocks, at, 0, d < left ? d : left);
            return;
        }
        if (v + d < nodes) {
            recv_blocks(run, wrap(root + v + d, nodes), blocks, at, d, 2 * d < left ? 2 * d : left);
            coll_run_wait(run);
        }
    }
}

// ---- Alltoall
void coll_rounds_alltoall(struct coll_run *run, const char *from, const size_t *out, char *to,
                          const size_t *in)
{
    int nodes = run->nodes->count, mine = run->nodes->mine;
    coll_run_copy(run, to + in[mine], from + out[mine], out[mine + 1] - out[mine]);
    for (int k = 1; k < nodes; k++) {
        int dest = wrap(mine + k, nodes), source = wrap(mine - k, nodes);
        send_blocks(run, dest, from, out, dest, dest + 1);
        recv_blocks(run, source, to, in, source, source + 1);
        if (k % WINDOW == 0)
            coll_run_wait(run);
    }
    coll_run_wait(run);
}

// Blocks by their distance: a block for the node `j` further on travels the bits of j.
void coll_rounds_bruck(struct coll_run *run, const char *from, char *to, char *tmp, size_t n)
{
    int nodes = run->nodes->count, mine = run->nodes->mine;
    size_t half = (size_t)(nodes / 2) * n;
    char *by_distance = tmp, *out = tmp + (size_t)nodes * n, *in = out + half;
    for (int j = 0; j < nodes; j++)
        coll_run_copy(run, by_distance + (size_t)j * n, from + (size_t)wrap(mine + j, nodes) * n,
                      n);
    for (int d = 1; d < nodes; d *= 2) {
        size_t some = 0;
        for (int j = 0; j < nodes; j++)
            if (j & d)
                coll_run_copy(run, out + n * some++, by_distance + (size_t)j * n, n);
        coll_run_send(run, wrap(mine + d, nodes), out, some * n);
        coll_run_recv(run, wrap(mine - d, nodes), in, some * n);
        coll_run_wait(run);
        some = 0;
        for (int j = 0; j < nodes; j++)
            if (j & d)
                coll_run_copy(run, by_distance + (size_t)j * n, in + n * some++, n);
    }
    for (int j = 0; j < nodes; j++)
        coll_run_copy(run, to + (size_t)wrap(mine - j, nodes) * n, by_distance + (size_t)j * n, n);
}
