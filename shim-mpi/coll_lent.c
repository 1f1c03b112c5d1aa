// SPDX-License-Identifier: BSD-3-Clause
// Collectives on a node, through memory that all its processes reach: what one process gives is copied
// there once, unless it is there, and each of the others takes from it what it needs.
#include "coll.h"

#include "partner.h"

bool coll_may_lend(const struct coll_call *c)
{
    return c->size > 2 && partner_are_near(c->comm->group);
}

// Do the others reach it as it is?
static bool is_there(const void *buf, const struct type *type, shoal_rptr_t *at)
{
    return type->is_dense && !shoal_rptr_own(type_at(type, buf), at);
}

static void lend_to_all(struct schedule *s, const struct coll_call *c, const void *buf,
                        MPI_Count count, struct type *type)
{
    for (int k = 1; k < c->size; k++)
        schedule_lend(s, buf, count, type, (c->rank + k) % c->size);
}

void coll_add_lent(struct schedule *s, const struct coll_call *c, const void *buf, MPI_Count count,
                   struct type *type)
{
    struct type *byte = type_of(MPI_BYTE);
    MPI_Count bytes = count * type->size;
    shoal_rptr_t at;
    void *room = is_there(buf, type, &at) ? NULL : schedule_shared(s, (size_t)bytes);
    if (room) {
        schedule_copy(s, room, bytes, byte, buf, count, type);
        buf = room;
        count = bytes;
        type = byte;
    }
    lend_to_all(s, c, buf, count, type);
}

// Bytes that the caches would not hold, all of them, until they are used.
static bool is_long(MPI_Count bytes)
{
    enum { LONG = 4 << 20 };
    return bytes >= LONG;
}

// ---- A broadcast that is waited for. The root offers a place where the others take it from; a long one goes a
// segment after the other, through two places that stay in the caches.
enum { SEGMENT = 1 << 19 }; // bytes

struct offer {
    shoal_rptr_t at;
    MPI_Count bytes;
    MPI_Count
        places; // 2: of a segment each; 1: all of it is there; 0: there was no room, it comes as a message
};

struct lent_bcast {
    const struct coll_call *call;
    struct offer offer;
    char *place; // where the root puts it; NULL: it is there, or there was no room
    MPI_Count at;
};

static MPI_Count segment_at(const struct lent_bcast *l)
{
    MPI_Count rest = l->offer.bytes - l->at;
    return l->offer.places == 1 || rest < SEGMENT ? rest : SEGMENT;
}

static MPI_Count place_at(const struct lent_bcast *l)
{
    return l->offer.places == 1 ? 0 : l->at % (2 * SEGMENT);
}

static void send_to_all(struct schedule *s, const struct coll_call *c, const void *buf, MPI_Count n)
{
    for (int k = 1; k < c->size; k++)
        schedule_send(s, buf, n, type_of(MPI_BYTE), (c->rank + k) % c->size);
}

static void receive_from_all(struct schedule *s, const struct coll_call *c)
{
    for (int k = 1; k < c->size; k++)
        schedule_recv(s, NULL, 0, type_of(MPI_BYTE), (c->rank + k) % c->size);
}

// The segment before has been taken by all when this round ends, and its place is free.
static void give_segment(struct schedule *s, void *arg)
{
    struct lent_bcast *l = arg;
    const struct coll_call *c = l->call;
    const struct side *b = &c->recv;
    MPI_Count n = segment_at(l), told = l->at ? 0 : sizeof l->offer;
    if (l->place)
        schedule_pack(s, l->place + place_at(l), b->buf, b->count, b->type, l->at, n);
    send_to_all(s, c, &l->offer, told);
    if (l->at)
        receive_from_all(s, c);
    schedule_round(s);
    l->at += n;
    if (l->at < l->offer.bytes)
        schedule_then(s, give_segment, l);
    else
        receive_from_all(s, c);
}

// As many segments as the root has; what is more than there is room for is not taken.
static void take_segment(struct schedule *s, void *arg)
{
    struct lent_bcast *l = arg;
    const struct coll_call *c = l->call;
    const struct side *b = &c->recv;
    if (!l->offer.places) {
        schedule_recv(s, b->buf, b->count, b->type, c->root);
        return;
    }
    MPI_Count n = segment_at(l), room = b->count * b->type->size - l->at;
    if (room < n)
        s->request.error = MPI_ERR_TRUNCATE;
    const char *from = shoal_direct(shoal_rptr_add(l->offer.at, place_at(l)), (size_t)n);
    if (room > 0)
        schedule_unpack(s, b->buf, b->count, b->type, l->at, from, n < room ? n : room,
                        is_long(l->offer.bytes));
    schedule_send(s, NULL, 0, type_of(MPI_BYTE), c->root);
    l->at += n;
    if (l->at == l->offer.bytes)
        return;
    schedule_recv(s, NULL, 0, type_of(MPI_BYTE), c->root);
    schedule_then(s, take_segment, l);
}

static void make_offer(struct schedule *s, struct lent_bcast *l)
{
    const struct side *b = &l->call->recv;
    MPI_Count bytes = b->count * b->type->size;
    bool as_it_is = is_there(b->buf, b->type, &l->offer.at);
    l->offer.bytes = bytes;
    l->offer.places = as_it_is || !is_long(bytes) ? 1 : 2;
    if (as_it_is)
        return;
    l->place = schedule_shared(s, (size_t)(is_long(bytes) ? 2 * SEGMENT : bytes));
    if (!l->place || shoal_rptr_own(l->place, &l->offer.at))
        l->offer.places = 0;
}

void coll_bcast_lent(struct schedule *s, const struct coll_call *c)
{
    struct lent_bcast *l = schedule_bytes(s, sizeof *l);
    *l = (struct lent_bcast){.call = c};
    if (c->rank != c->root) {
        schedule_recv(s, &l->offer, sizeof l->offer, type_of(MPI_BYTE), c->root);
        schedule_then(s, take_segment, l);
        return;
    }
    make_offer(s, l);
    if (l->offer.places) {
        give_segment(s, l);
        return;
    }
    send_to_all(s, c, &l->offer, sizeof l->offer);
    lend_to_all(s, c, c->recv.buf, c->recv.count, c->recv.type);
}

// ---- Reductions. A segment after the other: each process has what it gives where all reach it, combines its
// slice of the segment from there, and puts it where it belongs, or where the others take it from. Parts are
// combined in the order of the ranks, and in the brackets of coll_add_slices.
struct lent {
    shoal_rptr_t given;  // elements: of all, or of the segment
    shoal_rptr_t result; // this process's slice of the segment, for the others
    bool is_all;         // given
    bool is_there;       // else there was no room
};

struct lending {
    const struct coll_call *call;
    char *given; // where this process's are in the room, as an address to use with the type
    MPI_Count at, n, end; // the segment, in elements; where all get a block, in those of each
    struct lent lent[];   // of each process
};

static bool scatters(const struct coll_call *c)
{
    return c->kind == COLL_REDUCE_SCATTER || c->kind == COLL_REDUCE_SCATTER_BLOCK;
}

static bool takes(const struct coll_call *c)
{
    return c->kind == COLL_ALLREDUCE || (c->kind == COLL_REDUCE && c->rank == c->root);
}

// A rank's slice of the segment: among all elements, and in the room of one that gives the segment.
struct part {
    MPI_Count in_all, in_room, n;
};

static struct part part_of(const struct lending *l, int rank)
{
    const struct coll_call *c = l->call;
    if (!scatters(c)) {
        struct slice slice = coll_slice(l->n, c->size, rank);
        return (struct part){l->at + slice.at, slice.at, slice.n};
    }
    struct slice block = coll_block_of(c, rank);
    MPI_Count left = block.n - l->at, n = left < 0 ? 0 : left < l->n ? left : l->n;
    return (struct part){block.at + l->at, rank * l->n, n};
}

// What this process has to all others; or that it has come as far.
static void tell_all(struct schedule *s, const struct coll_call *c, struct lent *lent)
{
    struct type *byte = type_of(MPI_BYTE);
    MPI_Count n = lent ? sizeof *lent : 0;
    for (int k = 1; k < c->size; k++) {
        int out = (c->rank + k) % c->size, src = (c->rank - k + c->size) % c->size;
        schedule_recv(s, lent ? &lent[src] : NULL, n, byte, src);
        schedule_send(s, lent ? &lent[c->rank] : NULL, n, byte, out);
    }
    schedule_round(s);
}

static bool all_are_there(const struct lending *l)
{
    for (int i = 0; i < l->call->size; i++)
        if (!l->lent[i].is_there)
            return false;
    return true;
}

// Elements `at` to at + n of those at a place, as an address to use with the type.
static char *elements_at(const struct lending *l, shoal_rptr_t place, MPI_Count at, MPI_Count n)
{
    const struct type *t = l->call->recv.type;
    place = shoal_rptr_add(place, at * t->size);
    return type_base(shoal_direct(place, (size_t)(n * t->size)), t->true_lb);
}

static void add_given(struct schedule *s, const struct lending *l)
{
    const struct coll_call *c = l->call;
    struct type *t = c->recv.type;
    const char *own = coll_own(c);
    for (int i = 0; l->given && i < c->size; i++) {
        struct part p = part_of(l, i);
        schedule_copy(s, l->given + p.in_room * t->extent, p.n, t, own + p.in_all * t->extent, p.n,
                      t);
    }
}

static void combine(struct schedule *s, const struct lending *l)
{
    enum { PIECE = 16384 }; // bytes of the result that stay near while all parts are added
    const struct coll_call *c = l->call;
    struct type *t = c->recv.type;
    struct part mine = part_of(l, c->rank);
    MPI_Count most = PIECE / t->size + 1;
    for (MPI_Count at = 0, n; at < mine.n; at += n) {
        n = mine.n - at < most ? mine.n - at : most;
        char *to = scatters(c) ? (char *)c->recv.buf + (l->at + at) * t->extent
                               : elements_at(l, l->lent[c->rank].result, at, n);
        for (int i = c->size - 1; i >= 0; i--) {
            MPI_Count first = l->lent[i].is_all ? mine.in_all : mine.in_room;
            const char *given = elements_at(l, l->lent[i].given, first + at, n);
            if (i == c->size - 1)
                schedule_copy(s, to, n, t, given, n, t);
            else
                schedule_reduce(s, given, to, n, t);
        }
    }
}

static void take_results(struct schedule *s, const struct lending *l)
{
    const struct coll_call *c = l->call;
    struct type *t = c->recv.type;
    for (int k = 0; k < c->size; k++) {
        int i = (c->rank + k) % c->size;
        struct part p = part_of(l, i);
        char *to = (char *)c->recv.buf + p.in_all * t->extent;
        const char *from = elements_at(l, l->lent[i].result, 0, p.n);
        if (p.n && is_long(l->end * t->size))
            schedule_unpack(s, to, p.n, t, 0, type_at(t, from), p.n * t->size, true);
        else if (p.n)
            schedule_copy(s, to, p.n, t, from, p.n, t);
    }
}

static void go_by_messages(struct schedule *s, const struct coll_call *c)
{
    if (c->kind == COLL_ALLREDUCE)
        coll_add_allreduce_slices(s, c);
    else if (c->kind == COLL_REDUCE)
        coll_add_reduce_slices(s, c);
    else
        coll_add_blocks(s, c);
}

// The segment is there. What all say at its end says as well that the next one is.
static void go_on(struct schedule *s, void *arg)
{
    struct lending *l = arg;
    const struct coll_call *c = l->call;
    if (l->at == 0 && !all_are_there(l)) {
        go_by_messages(s, c);
        return;
    }
    combine(s, l);
    tell_all(s, c, NULL);
    if (takes(c))
        take_results(s, l);
    l->at += l->n;
    if (l->n > l->end - l->at)
        l->n = l->end - l->at;
    if (l->n) {
        add_given(s, l);
        schedule_then(s, go_on, l);
    }
    if (l->n || !scatters(c))
        tell_all(s, c, NULL);
}

// False: this process has no room.
static bool lend(struct schedule *s, struct lending *l, struct lent *own)
{
    const struct coll_call *c = l->call;
    const struct type *t = c->recv.type;
    size_t result = scatters(c) ? 0 : (size_t)(part_of(l, c->rank).n * t->size);
    size_t given = (size_t)(l->n * t->size) * (size_t)(scatters(c) ? c->size : 1);
    // In place, the blocks that come would overwrite what others still read.
    own->is_all = !(scatters(c) && side_in_place(&c->send)) &&
                  !shoal_rptr_own(type_at(t, coll_own(c)), &own->given);
    if (own->is_all && !result)
        return true;
    char *room = schedule_shared(s, result + (own->is_all ? 0 : given));
    if (!room || shoal_rptr_own(room, &own->result))
        return false;
    if (!own->is_all) {
        own->given = shoal_rptr_add(own->result, (ptrdiff_t)result);
        l->given = type_base(room + result, t->true_lb);
    }
    return true;
}

// Elements that each process gives in all, and the most that one gets as its own.
static MPI_Count given_by_each(const struct coll_call *c, MPI_Count *end)
{
    MPI_Count all = 0;
    *end = c->recv.count;
    if (!scatters(c))
        return *end;
    for (int i = 0; i < c->size; i++) {
        MPI_Count n = coll_block_of(c, i).n;
        *end = i && *end > n ? *end : n;
        all += n;
    }
    return all;
}

// Blocks, which nobody takes afterwards, gain less.
static bool is_sooner(const struct coll_call *c, MPI_Count bytes)
{
    enum { LENT = 1 << 16, OF_ALL = 1 << 21 };
    return scatters(c) ? bytes >= OF_ALL / c->size : bytes >= LENT;
}

static MPI_Count segment_of(const struct coll_call *c)
{
    MPI_Count n = SEGMENT / c->recv.type->size;
    if (!scatters(c))
        return n < c->size ? c->size : n;
    return n < c->size ? 1 : n / c->size;
}

bool coll_reduce_lent(struct schedule *s, const struct coll_call *c)
{
    const struct type *t = c->recv.type;
    MPI_Count end, all = given_by_each(c, &end);
    if (!is_sooner(c, all * t->size) || !coll_may_lend(c))
        return false;
    struct lending *l = schedule_bytes(s, sizeof *l + (size_t)c->size * sizeof l->lent[0]);
    *l = (struct lending){.call = c, .n = segment_of(c), .end = end};
    l->n = l->n < end ? l->n : end;
    struct lent *own = &l->lent[c->rank];
    own->is_there = t->is_dense && lend(s, l, own); // not all may have the same gaps
    add_given(s, l);
    tell_all(s, c, l->lent);
    schedule_then(s, go_on, l);
    return true;
}
