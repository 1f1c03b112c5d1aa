// SPDX-License-Identifier: BSD-3-Clause
// Gather, scatter, allgather, alltoall, with counts and with types of each block.
#include "coll.h"

#include "partner.h"

enum { LONG = 1 << 19 };

static void copy_block(struct schedule *s, struct block to, struct block from)
{
    schedule_copy(s, to.buf, to.count, to.type, from.buf, from.count, from.type);
}

static void copy_own(struct schedule *s, struct block to, struct block from)
{
    schedule_copy_beside(s, to.buf, to.count, to.type, from.buf, from.count, from.type);
}

void coll_gather(struct schedule *s, const struct coll_call *c)
{
    if (c->rank != c->root) {
        schedule_send(s, c->send.buf, c->send.count, c->send.type, c->root);
        return;
    }
    for (int i = 0; i < c->size; i++) {
        struct block b = coll_block(&c->recv, i);
        if (i != c->rank)
            schedule_recv(s, b.buf, b.count, b.type, i);
        else if (!side_in_place(&c->send))
            copy_own(s, b, coll_whole(&c->send));
    }
}

// Where processes share cores the root leaves long blocks where they are: to copy them takes longer than
// until the others come and get them.
static bool is_better_lent(const struct coll_call *c)
{
    enum { OF_ALL = 1 << 19 };
    return c->kind == COLL_SCATTER && request_is_crowded() && coll_may_lend(c) &&
           c->send.count * c->send.type->size >= OF_ALL / c->size;
}

void coll_scatter(struct schedule *s, const struct coll_call *c)
{
    if (c->rank != c->root) {
        schedule_recv(s, c->recv.buf, c->recv.count, c->recv.type, c->root);
        return;
    }
    bool lends = is_better_lent(c);
    for (int i = 0; i < c->size; i++) {
        struct block b = coll_block(&c->send, i);
        if (i != c->rank)
            (lends ? schedule_lend : schedule_send)(s, b.buf, b.count, b.type, i);
        else if (!side_in_place(&c->recv))
            copy_own(s, coll_whole(&c->recv), b);
    }
}

// ---- Blocking and short: the same without a schedule
static bool is_short(struct block b)
{
    MPI_Count n;
    return !__builtin_mul_overflow(b.count, b.type->size, &n) && n <= COLL_NOW;
}

static bool are_short(const struct side *s, int size)
{
    int different = s->form == SIDE_EACH ? 1 : size;
    for (int i = 0; i < different; i++)
        if (!is_short(coll_block(s, i)))
            return false;
    return true;
}

static int pass(const struct coll_call *c, struct block b, int peer, bool sends, int tag)
{
    return sends ? p2p_send(c->comm, SPACE_COLL, b.buf, b.count, b.type, peer, tag, SEND_STANDARD)
                 : p2p_recv(c->comm, SPACE_COLL, b.buf, b.count, b.type, peer, tag,
                            MPI_STATUS_IGNORE);
}

static int pass_all(const struct coll_call *c, bool scatters, int tag)
{
    const struct side *all = scatters ? &c->send : &c->recv, *one = scatters ? &c->recv : &c->send;
    int error = MPI_SUCCESS;
    for (int i = 0; i < c->size; i++) {
        struct block b = coll_block(all, i);
        int passed = MPI_SUCCESS;
        if (i != c->rank)
            passed = pass(c, b, i, scatters, tag);
        else if (!side_in_place(one) && scatters)
            type_copy(one->type, one->buf, one->count, b.type, b.buf, b.count);
        else if (!side_in_place(one))
            type_copy(b.type, b.buf, b.count, one->type, one->buf, one->count);
        error = error ? error : passed;
    }
    return error;
}

bool coll_rooted_now(const struct coll_call *c, int *error)
{
    bool at_root = c->rank == c->root;
    bool scatters = c->kind == COLL_SCATTER || c->kind == COLL_SCATTERV;
    const struct side *all = scatters ? &c->send : &c->recv, *one = scatters ? &c->recv : &c->send;
    if (!(at_root ? are_short(all, c->size) : is_short(coll_whole(one))))
        return false;
    int tag = coll_tag(c);
    *error = at_root ? pass_all(c, scatters, tag)
                     : pass(c, coll_whole(one), c->root, !scatters, tag);
    return true;
}

// ---- All to all
// In place: every block that is sent is packed first, as what comes overwrites it. Its span in memory may be
// more than there is.
static struct block outgoing(struct schedule *s, const struct coll_call *c, int i)
{
    if (!side_in_place(&c->send))
        return coll_block(&c->send, i);
    struct block b = coll_block(&c->recv, i);
    MPI_Count bytes = b.count * b.type->size;
    struct block packed = {schedule_room(s, (size_t)bytes), bytes, type_of(MPI_BYTE)};
    copy_block(s, packed, b);
    return packed;
}

static MPI_Count mean_block(const struct coll_call *c)
{
    MPI_Count all = 0;
    for (int i = 0; i < c->size; i++) {
        struct block b = coll_block(&c->recv, i);
        all += b.count * b.type->size;
    }
    return all / c->size;
}

// Where processes share cores few are under way, unless they are as short as to travel with their envelopes:
// what one has copied is still near when the other comes to get it.
static int blocks_at_once(const struct coll_call *c)
{
    enum { FEW = 4 };
    MPI_Count mean = mean_block(c);
    return request_is_crowded() && mean > COLL_NOW && mean < LONG ? FEW : c->size;
}

struct block coll_given(const struct coll_call *c)
{
    return side_in_place(&c->send) ? coll_block(&c->recv, c->rank) : coll_whole(&c->send);
}

// Each sends every other one its block for it, or to all the same.
static void exchange(struct schedule *s, const struct coll_call *c, bool is_same, int at_once)
{
    for (int k = 1; k < c->size; k++) {
        int to = (c->rank + k) % c->size, from = (c->rank - k + c->size) % c->size;
        struct block in = coll_block(&c->recv, from);
        struct block out = is_same ? coll_given(c) : outgoing(s, c, to);
        schedule_recv(s, in.buf, in.count, in.type, from);
        schedule_send(s, out.buf, out.count, out.type, to);
        if (k % at_once == 0)
            schedule_round(s);
    }
}

// Short blocks go to another node together.
static bool is_better_by_columns(const struct coll_call *c)
{
    enum { MOST = 1 << 14 };
    return c->kind == COLL_ALLTOALL && c->recv.count * c->recv.type->size <= MOST &&
           coll_is_grid(c);
}

void coll_alltoall(struct schedule *s, const struct coll_call *c)
{
    bool in_place = side_in_place(&c->send); // all are copied before one comes
    if (!in_place && is_better_by_columns(c)) {
        coll_alltoall_grid(s, c);
        return;
    }
    if (!in_place)
        copy_own(s, coll_block(&c->recv, c->rank), coll_block(&c->send, c->rank));
    exchange(s, c, false, in_place ? c->size : blocks_at_once(c));
}

// Where the number of processes is a power of two, blocks of one length double in every round; others go
// to all on a node, and round the ring between nodes.
static void allgather_doubling(struct schedule *s, const struct coll_call *c)
{
    for (int bit = 1; bit < c->size; bit *= 2) {
        int peer = c->rank ^ bit, mine = c->rank & ~(bit - 1), theirs = peer & ~(bit - 1);
        struct block out = {coll_at(&c->recv, mine), c->recv.count * bit, c->recv.type};
        if (bit == 1)
            out = coll_given(c);
        schedule_recv(s, coll_at(&c->recv, theirs), c->recv.count * bit, c->recv.type, peer);
        schedule_send(s, out.buf, out.count, out.type, peer);
        schedule_round(s);
    }
}

static void allgather_ring(struct schedule *s, const struct coll_call *c)
{
    for (int k = 0; k < c->size - 1; k++) {
        struct block out = k ? coll_block(&c->recv, (c->rank - k + c->size) % c->size)
                             : coll_given(c);
        struct block in = coll_block(&c->recv, (c->rank - k - 1 + c->size) % c->size);
        schedule_recv(s, in.buf, in.count, in.type, (c->rank - 1 + c->size) % c->size);
        schedule_send(s, out.buf, out.count, out.type, (c->rank + 1) % c->size);
        schedule_round(s);
    }
}

static void allgather_lent(struct schedule *s, const struct coll_call *c)
{
    for (int k = 1; k < c->size; k++) {
        int from = (c->rank - k + c->size) % c->size;
        struct block b = coll_block(&c->recv, from);
        schedule_recv(s, b.buf, b.count, b.type, from);
    }
    struct block own = coll_given(c);
    coll_add_lent(s, c, own.buf, own.count, own.type);
}

// Each may lend what it gives whatever the others do; of blocks of one length all lend theirs, or none does.
static bool lends(const struct coll_call *c)
{
    enum { LENT = 1 << 16 };
    struct block own = coll_block(&c->recv, c->rank);
    return own.count * own.type->size >= LENT && coll_may_lend(c);
}

void coll_allgather(struct schedule *s, const struct coll_call *c)
{
    if (!side_in_place(&c->send))
        copy_own(s, coll_block(&c->recv, c->rank), coll_whole(&c->send));
    if (lends(c))
        allgather_lent(s, c);
    else if (coll_is_grid(c) && mean_block(c) > COLL_NOW)
        coll_allgather_grid(s, c);
    else if (c->kind == COLL_ALLGATHER && (c->size & (c->size - 1)) == 0)
        allgather_doubling(s, c);
    else if (partner_are_near(c->comm->group))
        exchange(s, c, true, blocks_at_once(c));
    else
        allgather_ring(s, c);
}
