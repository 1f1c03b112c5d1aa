// SPDX-License-Identifier: BSD-3-Clause
// Barrier and broadcast; reductions to one by a tree. Trees are binomial. Subtrees hold neighbouring
// ranks, so that combining them keeps the order of the ranks, which operators that do not commute
// need; and every process combines the same parts in every run.
#include "coll.h"

#include "partner.h"

// Bytes up to which a broadcast to few processes is a message to each, and a blocking one is not prepared;
// from which a root lends to processes of its node what is broadcast, from which a broadcast between nodes
// is a scatter and an allgather, and a reduction goes by slices.
enum { BCAST_LENT = 1 << 17, BCAST_SCATTER = 1 << 19, REDUCE_SLICES = 1 << 19 };

void coll_barrier(struct schedule *s, const struct coll_call *c)
{
    struct type *byte = type_of(MPI_BYTE);
    for (int distance = 1; distance < c->size; distance *= 2) {
        schedule_recv(s, NULL, 0, byte, (c->rank - distance + c->size) % c->size);
        schedule_send(s, NULL, 0, byte, (c->rank + distance) % c->size);
        schedule_round(s);
    }
}

void coll_add_bcast(struct schedule *s, struct comm *comm, void *buf, MPI_Count count,
                    struct type *type, int root)
{
    int size = comm->group->size, me = (comm->rank - root + size) % size, bit = 1;
    for (; bit < size; bit *= 2)
        if (me & bit) {
            schedule_recv_on(s, comm, buf, count, type, (me - bit + root) % size);
            schedule_round(s);
            break;
        }
    for (bit /= 2; bit; bit /= 2)
        if (me + bit < size)
            schedule_send_on(s, comm, buf, count, type, (me + bit + root) % size);
    schedule_round(s);
}

// Bytes of a dense buffer in as many parts as there are processes.
static MPI_Count part_of(MPI_Count bytes, int size, int i)
{
    MPI_Count each = (bytes + size - 1) / size, from = each * i;
    return from > bytes ? bytes : from;
}

// The root sends each process its part, and the parts go round the ring.
static void bcast_ring(struct schedule *s, const struct coll_call *c, char *data, MPI_Count bytes)
{
    struct type *byte = type_of(MPI_BYTE);
    int me = (c->rank - c->root + c->size) % c->size;
    for (int i = 1; me == 0 && i < c->size; i++) {
        MPI_Count from = part_of(bytes, c->size, i);
        schedule_send(s, data + from, part_of(bytes, c->size, i + 1) - from, byte,
                      (i + c->root) % c->size);
    }
    if (me) {
        MPI_Count from = part_of(bytes, c->size, me);
        schedule_recv(s, data + from, part_of(bytes, c->size, me + 1) - from, byte, c->root);
    }
    schedule_round(s);
    for (int k = 0; k < c->size - 1; k++) {
        int out = (me - k + c->size) % c->size, in = (me - k - 1 + c->size) % c->size;
        MPI_Count out_from = part_of(bytes, c->size, out), in_from = part_of(bytes, c->size, in);
        if ((me + 1) % c->size != 0) // the root has all
            schedule_send(s, data + out_from, part_of(bytes, c->size, out + 1) - out_from, byte,
                          (c->rank + 1) % c->size);
        if (me)
            schedule_recv(s, data + in_from, part_of(bytes, c->size, in + 1) - in_from, byte,
                          (c->rank - 1 + c->size) % c->size);
        schedule_round(s);
    }
}

static void bcast_long(struct schedule *s, const struct coll_call *c)
{
    const struct side *b = &c->recv;
    struct type *byte = type_of(MPI_BYTE);
    MPI_Count bytes = b->count * b->type->size;
    bool dense = b->type->is_dense;
    char *data = dense ? type_at(b->type, b->buf) : schedule_room(s, (size_t)bytes);
    if (!dense && c->rank == c->root)
        schedule_copy(s, data, bytes, byte, b->buf, b->count, b->type);
    (coll_is_grid(c) ? coll_bcast_grid : bcast_ring)(s, c, data, bytes);
    schedule_round(s);
    if (!dense && c->rank != c->root)
        schedule_copy(s, b->buf, b->count, b->type, data, bytes, byte);
}

bool coll_bcast_is_flat(const struct coll_call *c)
{
    enum { FEW = 8, FEW_CROWDED = 16 };
    return c->size <= (request_is_crowded() ? FEW_CROWDED : FEW) &&
           c->recv.count * c->recv.type->size <= COLL_NOW && partner_are_near(c->comm->group);
}

static void bcast_flat(struct schedule *s, const struct coll_call *c)
{
    const struct side *b = &c->recv;
    if (c->rank != c->root)
        schedule_recv(s, b->buf, b->count, b->type, c->root);
    for (int k = 1; c->rank == c->root && k < c->size; k++)
        schedule_send(s, b->buf, b->count, b->type, (c->rank + k) % c->size);
}

void coll_bcast(struct schedule *s, const struct coll_call *c)
{
    const struct side *b = &c->recv;
    // All decide alike: layouts may differ between processes, the number of bytes does not.
    MPI_Count bytes = b->count * b->type->size;
    bool lends = bytes >= BCAST_LENT && coll_may_lend(c);
    if (lends && s->waits)
        coll_bcast_lent(s, c);
    else if (lends && c->rank == c->root)
        coll_add_lent(s, c, b->buf, b->count, b->type);
    else if (lends)
        schedule_recv(s, b->buf, b->count, b->type, c->root);
    else if (c->size > 2 && bytes >= BCAST_SCATTER)
        bcast_long(s, c);
    else if (coll_bcast_is_flat(c))
        bcast_flat(s, c);
    else
        coll_add_bcast(s, c->comm, b->buf, b->count, b->type, c->root);
}

// The ranks below `limit` of each multiple of it combine what they have, the lowest of them in the end.
static const void *add_subtrees(struct schedule *s, struct comm *comm, const void *own,
                                MPI_Count count, struct type *type, int limit)
{
    int size = comm->group->size, me = comm->rank;
    const void *acc = own;
    for (int bit = 1; bit < limit; bit *= 2) {
        if (me & bit) {
            schedule_send_on(s, comm, acc, count, type, me - bit);
            break;
        }
        if (me + bit >= size)
            continue;
        void *in = schedule_elements(s, count, type);
        schedule_recv_on(s, comm, in, count, type, me + bit);
        schedule_round(s);
        // in is of higher ranks: in = acc op in, and that becomes acc.
        schedule_reduce(s, acc, in, count, type);
        acc = in;
    }
    schedule_round(s);
    return acc;
}

const void *coll_add_reduce(struct schedule *s, struct comm *comm, const void *own, MPI_Count count,
                            struct type *type)
{
    return add_subtrees(s, comm, own, count, type, comm->group->size);
}

const void *coll_own(const struct coll_call *c)
{
    return side_in_place(&c->send) ? c->recv.buf : c->send.buf;
}

void coll_add_own(struct schedule *s, const struct coll_call *c, void *acc)
{
    schedule_copy(s, acc, c->recv.count, c->recv.type, coll_own(c), c->recv.count, c->recv.type);
}

// Between two of a node piece by piece: what has come is still near when it is combined.
static MPI_Count piece_of(const struct coll_call *c)
{
    enum { PIECE = 1 << 16 };
    if (c->size > 2 || !c->recv.type->size || !partner_are_near(c->comm->group))
        return c->recv.count;
    return coll_elements_in(PIECE, c->recv.type);
}

// The root combines what rank 0 has of the lower ranks and `top` of the others: elements `at` to at + n. It
// has room for as many where it needs it.
static void add_root(struct schedule *s, const struct coll_call *c, int top, const char *acc,
                     char *room, MPI_Count at, MPI_Count n)
{
    struct type *t = c->recv.type;
    acc += at * t->extent;
    if (c->rank != c->root) {
        if (c->rank == 0 || c->rank == top)
            schedule_send(s, acc, n, t, c->root);
        return;
    }
    char *to = (char *)c->recv.buf + at * t->extent;
    const char *lower = c->root ? room : acc;
    char *upper = !c->root && acc == to ? room : to;
    if (c->root)
        schedule_recv(s, room, n, t, 0);
    if (c->root != top)
        schedule_recv(s, upper, n, t, top);
    else
        schedule_copy_beside(s, to, n, t, acc, n, t);
    schedule_round(s);
    schedule_reduce(s, lower, upper, n, t);
    schedule_copy(s, to, n, t, upper, n, t);
}

static void reduce_short(struct schedule *s, const struct coll_call *c)
{
    struct type *t = c->recv.type;
    MPI_Count all = c->recv.count, piece = piece_of(c);
    int top = coll_power_of_two(c->size - 1);
    const char *acc = add_subtrees(s, c->comm, coll_own(c), all, t, top);
    char *room = NULL;
    if (c->rank == c->root && (c->root || acc == c->recv.buf))
        room = schedule_elements(s, all < piece ? all : piece, t);
    for (MPI_Count at = 0; at < all; at += piece)
        add_root(s, c, top, acc, room, at, all - at < piece ? all - at : piece);
}

// The root gets everybody's slice.
void coll_add_reduce_slices(struct schedule *s, const struct coll_call *c)
{
    struct type *t = c->recv.type;
    const char *slice = coll_add_slices(s, c, coll_own(c), NULL);
    if (c->rank != c->root) {
        schedule_send(s, slice, coll_slice(c->recv.count, c->size, c->rank).n, t, c->root);
        return;
    }
    char *to = c->recv.buf;
    for (int i = 0; i < c->size; i++) {
        struct slice part = coll_slice(c->recv.count, c->size, i);
        if (i == c->rank)
            schedule_copy_beside(s, to + part.at * t->extent, part.n, t, slice, part.n, t);
        else
            schedule_recv(s, to + part.at * t->extent, part.n, t, i);
    }
}

bool coll_reduce_slices(const struct coll_call *c)
{
    return c->size > 2 && c->recv.count * c->recv.type->size >= REDUCE_SLICES &&
           c->recv.count >= c->size;
}

void coll_reduce(struct schedule *s, const struct coll_call *c)
{
    if (c->size == 1)
        coll_add_own(s, c, c->recv.buf);
    else if (!coll_reduce_slices(c))
        reduce_short(s, c);
    else if (coll_is_grid(c))
        coll_reduce_grid(s, c);
    else if (!coll_reduce_lent(s, c))
        coll_add_reduce_slices(s, c);
}

// ---- Blocking and short: the same without a schedule
static int bcast_flat_now(const struct coll_call *c, int tag)
{
    const struct side *b = &c->recv;
    int error = MPI_SUCCESS;
    if (c->rank != c->root)
        return p2p_recv(c->comm, SPACE_COLL, b->buf, b->count, b->type, c->root, tag,
                        MPI_STATUS_IGNORE);
    for (int k = 1; k < c->size; k++) {
        int sent = p2p_send(c->comm, SPACE_COLL, b->buf, b->count, b->type, (c->rank + k) % c->size,
                            tag, SEND_STANDARD);
        error = error ? error : sent;
    }
    return error;
}

// Ranks count from the root; each hears from the one without its lowest bit.
static int bcast_down(const struct coll_call *c, int tag)
{
    const struct side *b = &c->recv;
    int size = c->size, from_root = (c->rank - c->root + size) % size, bit = 1, error = MPI_SUCCESS;
    while (bit < size && !(from_root & bit))
        bit *= 2;
    if (from_root)
        error = p2p_recv(c->comm, SPACE_COLL, b->buf, b->count, b->type,
                         (from_root - bit + c->root) % size, tag, MPI_STATUS_IGNORE);
    for (bit /= 2; bit; bit /= 2) {
        int to = from_root + bit;
        int sent = to >= size ? MPI_SUCCESS
                              : p2p_send(c->comm, SPACE_COLL, b->buf, b->count, b->type,
                                         (to + c->root) % size, tag, SEND_STANDARD);
        error = error ? error : sent;
    }
    return error;
}

// To the other side's rank 0, and from there to all of it.
static int bcast_across(const struct coll_call *c, int tag)
{
    const struct side *b = &c->recv;
    if (c->root == MPI_ROOT)
        return p2p_send(c->comm, SPACE_COLL, b->buf, b->count, b->type, 0, tag, SEND_STANDARD);
    struct coll_call side = *c;
    side.comm = c->comm->local;
    side.root = 0;
    int come = c->rank ? MPI_SUCCESS
                       : p2p_recv(c->comm, SPACE_COLL, b->buf, b->count, b->type, c->root, tag,
                                  MPI_STATUS_IGNORE);
    int gone = bcast_down(&side, tag);
    return come ? come : gone;
}

bool coll_bcast_now(const struct coll_call *c, int *error)
{
    MPI_Count n;
    if (c->kind != COLL_BCAST || c->root == MPI_PROC_NULL ||
        __builtin_mul_overflow(c->recv.count, c->recv.type->size, &n) || n > COLL_NOW)
        return false;
    if (comm_is_inter(c->comm))
        *error = bcast_across(c, coll_tag(c));
    else if (!coll_team_bcast(c, n, error))
        *error = (coll_bcast_is_flat(c) ? bcast_flat_now : bcast_down)(c, coll_tag(c));
    return true;
}

// Of two: what rank 0 has is combined with what rank 1 has, in the place of that.
static int reduce_two(const struct coll_call *c, int tag)
{
    _Alignas(max_align_t) char few[COLL_NOW];
    const struct side *r = &c->recv;
    const void *own = coll_own(c), *lower = own;
    if (c->rank != c->root)
        return p2p_send(c->comm, SPACE_COLL, own, r->count, r->type, c->root, tag, SEND_STANDARD);
    void *room = type_base(few, r->type->true_lb), *upper = r->buf, *in = upper;
    if (c->root)
        lower = in = room;
    else if (own == upper)
        upper = in = room;
    int error = p2p_recv(c->comm, SPACE_COLL, in, r->count, r->type, !c->root, tag,
                         MPI_STATUS_IGNORE);
    if (c->root && own != upper)
        type_copy(r->type, upper, r->count, r->type, own, r->count);
    op_apply(c->op, lower, upper, r->count, r->type);
    if (upper != r->buf)
        type_copy(r->type, r->buf, r->count, r->type, upper, r->count);
    return error;
}

bool coll_reduce_now(const struct coll_call *c, int *error)
{
    if (c->size != 2 || !coll_folds_now(c))
        return false;
    *error = reduce_two(c, coll_tag(c));
    return true;
}
