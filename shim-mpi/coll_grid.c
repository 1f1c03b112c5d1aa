// SPDX-License-Identifier: BSD-3-Clause
// Long collectives of a communicator over several nodes whose ranks are numbered node by node, as many on
// each: a grid of nodes and places. What another node needs goes there once, and all processes of a node take part
// in that, each in its column: the processes of one place on all nodes.
//
// Reductions: on a node each process gets its slice of what the others there give. Then the columns are chains:
// from the last node to the first each process combines what comes with its node's parts, a segment after the
// other, and the results go back meanwhile. So parts are combined in the order of the ranks and in the brackets of
// coll_add_slices, wherever the processes are.
//
//     node 0  <-  node 1  <-  node 2     combined parts
//             ->          ->             results
#include "coll.h"

#include "partner.h"

struct grid {
    int nodes, node, places, place;
};

static struct grid grid_of(const struct coll_call *c)
{
    int places = partner_block(c->comm->group);
    return (struct grid){c->size / places, c->rank / places, places, c->rank % places};
}

bool coll_is_grid(const struct coll_call *c)
{
    int places = partner_block(c->comm->group);
    return places > 1 && places < c->size;
}

static int rank_at(const struct grid *g, int node, int place)
{
    return node * g->places + place;
}

// In step k of n in a ring: to whom `me` sends, and from whom it receives.
struct pair {
    int to, from;
};
static struct pair pair_of(int me, int k, int n)
{
    return (struct pair){(me + k) % n, (me - k + n) % n};
}

// ---- The chain of a column
struct chain {
    const struct coll_call *call;
    struct grid grid;
    void **part; // what each place of the node gives to this column
    void *acc;   // those combined with what the later nodes have, in the end the result
    MPI_Count n, segment;
    int segments;
};

static struct chain chain_of(struct schedule *s, const struct coll_call *c, MPI_Count most)
{
    struct chain ch = {.call = c, .grid = grid_of(c)};
    ch.part = schedule_bytes(s, (size_t)ch.grid.places * sizeof *ch.part);
    for (int i = 0; i < ch.grid.places; i++)
        ch.part[i] = schedule_elements(s, most, c->recv.type);
    return ch;
}

static struct slice segment_at(const struct chain *ch, int k)
{
    MPI_Count at = k * ch->segment;
    return (struct slice){at, coll_part_of(ch->n, at, ch->segment)};
}

static void combine(struct schedule *s, const struct chain *ch, int k)
{
    struct type *t = ch->call->recv.type;
    struct slice part = segment_at(ch, k);
    void *acc = coll_element_at(ch->acc, part.at, t);
    int i = ch->grid.places - 1;
    if (ch->grid.node == ch->grid.nodes - 1)
        schedule_copy(s, acc, part.n, t, coll_element_at(ch->part[i--], part.at, t), part.n, t);
    for (; i >= 0; i--)
        schedule_reduce(s, coll_element_at(ch->part[i], part.at, t), acc, part.n, t);
}

typedef void message_fn(struct schedule *s, void *buf, MPI_Count n, struct type *t, int peer);

static void send_to(struct schedule *s, void *buf, MPI_Count n, struct type *t, int peer)
{
    schedule_send(s, buf, n, t, peer);
}

static void add_message(struct schedule *s, const struct chain *ch, message_fn *fn, int k, int step)
{
    struct type *t = ch->call->recv.type;
    int node = ch->grid.node + step;
    if (node < 0 || node >= ch->grid.nodes || k < 0 || k >= ch->segments)
        return;
    struct slice part = segment_at(ch, k);
    fn(s, coll_element_at(ch->acc, part.at, t), part.n, t,
       rank_at(&ch->grid, node, ch->grid.place));
}

// Two where they are not short, that results go back while parts come; many short ones take longer.
static MPI_Count segment_of(MPI_Count n, const struct type *t)
{
    enum { SHORT = 1 << 17, LONG = 1 << 19 };
    MPI_Count least = coll_elements_in(SHORT, t), most = coll_elements_in(LONG, t),
              half = (n + 1) / 2;
    return half < least ? least : half < most ? half : most;
}

// Each segment is at the next node one round later. `returns`: results go back to all nodes.
static void add_chain(struct schedule *s, struct chain *ch, MPI_Count n, bool returns)
{
    int last = ch->grid.nodes - 1, me = ch->grid.node;
    ch->n = n;
    ch->segment = segment_of(n, ch->call->recv.type);
    ch->segments = (int)((n + ch->segment - 1) / ch->segment);
    for (int tick = 0; tick < ch->segments + (returns ? 2 * last - 1 : last); tick++) {
        int mine = tick - (last - me);
        if (me == last && mine < ch->segments)
            combine(s, ch, mine);
        add_message(s, ch, schedule_recv, mine + 1, 1);
        add_message(s, ch, send_to, mine, -1);
        if (returns) {
            add_message(s, ch, schedule_recv, tick - (last - 1 + me), -1);
            add_message(s, ch, send_to, tick - (last + me), 1);
        }
        schedule_round(s);
        if (me < last && mine + 1 >= 0 && mine + 1 < ch->segments)
            combine(s, ch, mine + 1);
    }
}

// ---- Allreduce, reduce: the slices are those of the places of a node.
static struct slice slice_of(const struct chain *ch, int place)
{
    return coll_slice(ch->call->recv.count, ch->grid.places, place);
}

static void exchange_slices(struct schedule *s, const struct chain *ch)
{
    const struct coll_call *c = ch->call;
    const struct grid *g = &ch->grid;
    struct type *t = c->recv.type;
    struct slice mine = slice_of(ch, g->place);
    schedule_copy_beside(s, ch->part[g->place], mine.n, t, coll_element_at(coll_own(c), mine.at, t),
                         mine.n, t);
    for (int k = 1; k < g->places; k++) {
        struct pair peer = pair_of(g->place, k, g->places);
        struct slice theirs = slice_of(ch, peer.to);
        schedule_recv(s, ch->part[peer.from], mine.n, t, rank_at(g, g->node, peer.from));
        schedule_send(s, coll_element_at(coll_own(c), theirs.at, t), theirs.n, t,
                      rank_at(g, g->node, peer.to));
    }
    schedule_round(s);
}

void coll_allreduce_grid(struct schedule *s, const struct coll_call *c)
{
    struct grid g = grid_of(c);
    struct type *t = c->recv.type;
    struct slice mine = coll_slice(c->recv.count, g.places, g.place);
    struct chain ch = chain_of(s, c, mine.n);
    exchange_slices(s, &ch);
    ch.acc = coll_element_at(c->recv.buf, mine.at, t);
    add_chain(s, &ch, mine.n, true);
    for (int k = 1; k < g.places; k++) {
        struct pair peer = pair_of(g.place, k, g.places);
        struct slice theirs = slice_of(&ch, peer.from);
        schedule_recv(s, coll_element_at(c->recv.buf, theirs.at, t), theirs.n, t,
                      rank_at(&g, g.node, peer.from));
        schedule_send(s, ch.acc, mine.n, t, rank_at(&g, g.node, peer.to));
    }
}

void coll_reduce_grid(struct schedule *s, const struct coll_call *c)
{
    struct grid g = grid_of(c);
    struct type *t = c->recv.type;
    struct slice mine = coll_slice(c->recv.count, g.places, g.place);
    struct chain ch = chain_of(s, c, mine.n);
    exchange_slices(s, &ch);
    ch.acc = schedule_elements(s, mine.n, t);
    add_chain(s, &ch, mine.n, false);
    if (g.node == 0 && c->rank != c->root)
        schedule_send(s, ch.acc, mine.n, t, c->root);
    for (int i = 0; c->rank == c->root && i < g.places; i++) {
        struct slice part = slice_of(&ch, i);
        void *to = coll_element_at(c->recv.buf, part.at, t);
        if (i == c->rank)
            schedule_copy_beside(s, to, part.n, t, ch.acc, part.n, t);
        else
            schedule_recv(s, to, part.n, t, i);
    }
}

// ---- Reduce-scatter: the chain of a column is of its processes' blocks, and what the first node gets of each
// goes to that. So many elements of each block at a time.
struct window {
    const struct slice *block; // of each rank
    MPI_Count at, most;
};

static MPI_Count in_window(const struct window *w, int rank)
{
    return coll_part_of(w->block[rank].n, w->at, w->most);
}

// How many elements the column's blocks have in this window: they lie one behind the other.
static MPI_Count exchange_blocks(struct schedule *s, const struct chain *ch, const struct window *w)
{
    const struct coll_call *c = ch->call;
    const struct grid *g = &ch->grid;
    struct type *t = c->recv.type;
    MPI_Count all = 0;
    for (int i = 0; i < g->nodes; i++) {
        MPI_Count mine = in_window(w, rank_at(g, i, g->place));
        for (int k = 0; k < g->places; k++) {
            struct pair peer = pair_of(g->place, k, g->places);
            int of = rank_at(g, i, peer.to);
            MPI_Count theirs = in_window(w, of);
            void *in = coll_element_at(ch->part[peer.from], all, t);
            const void *out = coll_element_at(coll_own(c), w->block[of].at + w->at, t);
            if (k == 0 && mine)
                schedule_copy(s, in, mine, t, out, mine, t);
            if (k && mine)
                schedule_recv(s, in, mine, t, rank_at(g, g->node, peer.from));
            if (k && theirs)
                schedule_send(s, out, theirs, t, rank_at(g, g->node, peer.to));
        }
        all += mine;
    }
    schedule_round(s);
    return all;
}

static void give_blocks(struct schedule *s, const struct chain *ch, const struct window *w,
                        void *to)
{
    struct type *t = ch->call->recv.type;
    int me = ch->call->rank;
    MPI_Count mine = in_window(w, me), at = 0;
    for (int i = 0; ch->grid.node == 0 && i < ch->grid.nodes; i++) {
        int rank = rank_at(&ch->grid, i, ch->grid.place);
        MPI_Count n = in_window(w, rank);
        void *from = coll_element_at(ch->acc, at, t);
        if (n && rank == me)
            schedule_copy(s, to, n, t, from, n, t);
        else if (n)
            schedule_send(s, from, n, t, rank);
        at += n;
    }
    if (ch->grid.node && mine)
        schedule_recv(s, to, mine, t, ch->grid.place);
    schedule_round(s);
}

void coll_reduce_scatter_grid(struct schedule *s, const struct coll_call *c,
                              const struct slice *block, MPI_Count longest, MPI_Count most)
{
    struct grid g = grid_of(c);
    struct type *t = c->recv.type;
    struct chain ch = chain_of(s, c, most * g.nodes);
    struct window w = {block, 0, most};
    ch.acc = schedule_elements(s, most * g.nodes, t);
    for (; w.at < longest; w.at += most) {
        add_chain(s, &ch, exchange_blocks(s, &ch, &w), false);
        give_blocks(s, &ch, &w, coll_element_at(c->recv.buf, w.at, t));
    }
}

// ---- Broadcast: the root gives each process of its node a slice, which goes down that one's column, and on each
// node they give each other theirs.
static void pass_down(struct schedule *s, const struct grid *g, int root, char *data,
                      struct slice mine)
{
    struct type *byte = type_of(MPI_BYTE);
    int from_root = (g->node - root + g->nodes) % g->nodes, bit = 1;
    while (bit < g->nodes && !(from_root & bit))
        bit *= 2;
    if (from_root) {
        int above = (from_root - bit + root) % g->nodes;
        schedule_recv(s, data + mine.at, mine.n, byte, rank_at(g, above, g->place));
        schedule_round(s);
    }
    for (bit /= 2; bit; bit /= 2)
        if (from_root + bit < g->nodes)
            schedule_send(s, data + mine.at, mine.n, byte,
                          rank_at(g, (from_root + bit + root) % g->nodes, g->place));
}

void coll_bcast_grid(struct schedule *s, const struct coll_call *c, char *data, MPI_Count n)
{
    struct type *byte = type_of(MPI_BYTE);
    struct grid g = grid_of(c);
    struct slice mine = coll_slice(n, g.places, g.place);
    int root = c->root / g.places;
    bool is_root = c->rank == c->root;
    if (g.node == root && !is_root) {
        schedule_recv(s, data + mine.at, mine.n, byte, c->root);
        schedule_round(s);
    }
    for (int k = 1; is_root && k < g.places; k++) {
        struct pair peer = pair_of(g.place, k, g.places);
        struct slice theirs = coll_slice(n, g.places, peer.to);
        schedule_send(s, data + theirs.at, theirs.n, byte, rank_at(&g, g.node, peer.to));
    }
    pass_down(s, &g, root, data, mine);
    for (int k = 1; k < g.places; k++) {
        struct pair peer = pair_of(g.place, k, g.places);
        struct slice theirs = coll_slice(n, g.places, peer.from);
        if (!is_root)
            schedule_recv(s, data + theirs.at, theirs.n, byte, rank_at(&g, g.node, peer.from));
        if (rank_at(&g, g.node, peer.to) != c->root)
            schedule_send(s, data + mine.at, mine.n, byte, rank_at(&g, g.node, peer.to));
    }
}

// ---- Gathers: what comes from the same place of another node goes on to this node, while the next one comes.
void coll_allgather_grid(struct schedule *s, const struct coll_call *c)
{
    struct grid g = grid_of(c);
    struct block own = coll_given(c);
    for (int i = 0; i < g.nodes; i++) {
        int node = pair_of(g.node, i, g.nodes).from, next = i + 1;
        struct block out = i ? coll_block(&c->recv, rank_at(&g, node, g.place)) : own;
        if (next < g.nodes) {
            struct pair peer = pair_of(g.node, next, g.nodes);
            struct block in = coll_block(&c->recv, rank_at(&g, peer.from, g.place));
            schedule_recv(s, in.buf, in.count, in.type, rank_at(&g, peer.from, g.place));
            schedule_send(s, own.buf, own.count, own.type, rank_at(&g, peer.to, g.place));
        }
        for (int k = 1; k < g.places; k++) {
            struct pair peer = pair_of(g.place, k, g.places);
            struct block in = coll_block(&c->recv, rank_at(&g, node, peer.from));
            schedule_recv(s, in.buf, in.count, in.type, rank_at(&g, g.node, peer.from));
            schedule_send(s, out.buf, out.count, out.type, rank_at(&g, g.node, peer.to));
        }
        schedule_round(s);
    }
}

// ---- All to all: what goes from this node to a process of another one goes by the column of that.
void coll_alltoall_grid(struct schedule *s, const struct coll_call *c)
{
    struct grid g = grid_of(c);
    struct type *byte = type_of(MPI_BYTE);
    MPI_Count n = c->recv.count * c->recv.type->size;
    char *room = schedule_room(s, (size_t)(n * c->size)); // by nodes, and there by the places here
    for (int i = 0; i < g.nodes; i++)
        for (int k = 0; k < g.places; k++) {
            struct pair peer = pair_of(g.place, k, g.places);
            struct block out = coll_block(&c->send, rank_at(&g, i, peer.to));
            struct block in = {room + rank_at(&g, i, peer.from) * n, n, byte};
            if (i == g.node)
                in = coll_block(&c->recv, rank_at(&g, i, peer.from));
            if (k == 0) {
                schedule_copy_beside(s, in.buf, in.count, in.type, out.buf, out.count, out.type);
                continue;
            }
            schedule_recv(s, in.buf, in.count, in.type, rank_at(&g, g.node, peer.from));
            schedule_send(s, out.buf, out.count, out.type, rank_at(&g, g.node, peer.to));
        }
    schedule_round(s);
    for (int k = 1; k < g.nodes; k++) {
        struct pair peer = pair_of(g.node, k, g.nodes);
        schedule_recv(s, coll_at(&c->recv, rank_at(&g, peer.from, 0)), c->recv.count * g.places,
                      c->recv.type, rank_at(&g, peer.from, g.place));
        schedule_send(s, room + rank_at(&g, peer.to, 0) * n, n * g.places, byte,
                      rank_at(&g, peer.to, g.place));
    }
}
