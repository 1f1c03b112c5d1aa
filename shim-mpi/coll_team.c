// SPDX-License-Identifier: BSD-3-Clause
// Short blocking collectives on the runtime's. A communicator whose processes are a progression of PEs
// gets a team of the runtime once it has done TEAM_AFTER collectives; then barriers, and what is so
// short that it fits what members publish, go through that team: one line there and one back in the
// place of messages, and no requests. Of broadcasts and scans only the shortest: of these a root, or a
// first rank, may be furthest ahead of the others, whom it need not wait for. Between nodes only those go
// through the team in which all wait for all: of the others messages let who is ready go on.
//
// The members agree on the team's place with the maps of what each has free. Contributions to
// reductions are gathered, and combined by everybody in the order of the messages' algorithms: the
// result has the same bits either way.
#include "coll.h"

#include "coll_lane.h"
#include "stats.h"

#include <pshmem.h>
#include <stdlib.h>
#include <string.h>

enum { TEAM_AFTER = 4, MAX_SHORT = 4096, MAX_PARTS = 65536 };
enum { PLACES_KEPT = 32 };
enum { MAX_LINE = 56 }; // fits in a line: of more, who waits for nobody is too far ahead

// ---- The team
struct coll_call coll_team_question(struct comm *comm, uint64_t *words, MPI_Count n)
{
    struct coll_call c = {.kind = COLL_ALLREDUCE, .comm = comm, .op = op_of(MPI_BAND)};
    c.send.buf = MPI_IN_PLACE;
    c.recv = (struct side){.buf = words, .count = n, .type = type_of(MPI_UINT64_T)};
    c.rank = comm->rank;
    c.size = c.peers = comm->group->size;
    return c;
}

static int ask(struct comm *comm, uint64_t *words, MPI_Count n)
{
    struct coll_call c = coll_team_question(comm, words, n);
    return coll_messages(&c);
}

// Some are left to the program's OpenSHMEM, which needs them; communicators go on by messages.
static int place_of(const uint64_t words[SHOAL_TEAM_WORDS])
{
    int places = 0;
    for (int w = 0; w < SHOAL_TEAM_WORDS; w++)
        places += __builtin_popcountll(words[w]);
    if (places <= PLACES_KEPT)
        return -1;
    for (int w = 0; w < SHOAL_TEAM_WORDS; w++)
        if (words[w])
            return 64 * w + __builtin_ctzll(words[w]);
    return -1;
}

// SHMEM_TEAM_INVALID on all members: some had no room, or another thread of one was first.
static shmem_team_t agree(struct comm *comm)
{
    struct group *g = comm->group;
    uint64_t places[SHOAL_TEAM_WORDS], made;
    shmem_team_t team = SHMEM_TEAM_INVALID;
    shoal_team_places(places);
    if (ask(comm, places, SHOAL_TEAM_WORDS) || place_of(places) < 0)
        return SHMEM_TEAM_INVALID;
    made = shoal_team_make(g->first, g->stride, g->size, place_of(places), &team) == SHOAL_OK;
    bool is_mine = made;
    if (ask(comm, &made, 1) == MPI_SUCCESS && made)
        return team;
    if (is_mine)
        shoal_team_undo(team);
    return SHMEM_TEAM_INVALID;
}

bool coll_team_may_be(const struct comm *comm)
{
    return !comm_is_inter(comm) && !comm->group->pes && comm->group->size > 1;
}

// The team of a communicator that has one by now; every member comes here for the same collectives.
static shmem_team_t team_of(struct comm *comm)
{
    if (likely(comm->team != SHMEM_TEAM_INVALID) || !coll_team_may_be(comm))
        return comm->team;
    if (++comm->colls_without_team % TEAM_AFTER == 0)
        comm->team = agree(comm);
    return comm->team;
}

// ---- Its end. MPI_Comm_free waits for nobody, so the members part by a barrier that is not waited
// for, over the communicator's messages: when it is done, they have all left the last collective, and
// none reads or writes what this one shares with the team.
static _Atomic int parting; // teams that are not given back yet

static void give_back(struct request *r, void *team)
{
    (void)r;
    shoal_team_undo(team);
    atomic_fetch_sub_explicit(&parting, 1, memory_order_relaxed);
}

struct coll_call coll_team_barrier(struct comm *comm)
{
    int size = comm->group->size;
    return (struct coll_call){
        .kind = COLL_BARRIER, .comm = comm, .rank = comm->rank, .size = size, .peers = size};
}

void coll_team_end(struct comm *comm)
{
    shmem_team_t team = comm->team;
    coll_lane_end(comm->lane);
    comm->lane = NULL;
    if (team == SHMEM_TEAM_INVALID)
        return;
    comm->team = SHMEM_TEAM_INVALID;
    pshmem_quiet(); // the team's puts do not come later than the barrier
    struct coll_call c = coll_team_barrier(comm);
    struct request *barrier = coll_begin(&c, coll_tag(&c));
    atomic_fetch_add_explicit(&parting, 1, memory_order_relaxed);
    request_then(barrier, give_back, team);
    request_drop(barrier);
}

void coll_team_down(void)
{
    struct idle idle = idle_start("MPI_Finalize");
    while (atomic_load_explicit(&parting, memory_order_relaxed))
        idle_step(&idle);
}

// ---- One collective
static MPI_Count limit(void)
{
    static _Atomic uint64_t known;
    uint64_t n = atomic_load_explicit(&known, memory_order_relaxed);
    if (unlikely(n == 0)) {
        shoal_query(SHOAL_Q_COLL_SHORT, 0, &n);
        n = n < MAX_SHORT ? n : MAX_SHORT;
        atomic_store_explicit(&known, n, memory_order_relaxed);
    }
    return (MPI_Count)n;
}

MPI_Count coll_team_bytes(const struct coll_call *c)
{
    bool at_root = c->root == c->rank;
    const struct side *s = c->kind == COLL_GATHER && !at_root ? &c->send : &c->recv;
    MPI_Count n;
    if (c->kind == COLL_BARRIER)
        return 0;
    return __builtin_mul_overflow(s->count, s->type->size, &n) ? -1 : n;
}

bool coll_team_folds(const struct coll_call *c, MPI_Count n)
{
    return n <= MAX_SHORT && n * c->size <= MAX_PARTS;
}

// An allgather whose blocks have counts of their own, which all members know, goes as if all were as long
// as the longest.
static MPI_Count bytes_of_block(const struct coll_call *c, int i)
{
    MPI_Count n;
    return __builtin_mul_overflow(number_at(c->recv.counts, i), c->recv.type->size, &n)
               ? MAX_SHORT + 1
               : n;
}

static MPI_Count longest_block(const struct coll_call *c)
{
    MPI_Count most = 0;
    for (int i = 0; i < c->size && most <= MAX_SHORT; i++) {
        MPI_Count n = bytes_of_block(c, i);
        most = n > most ? n : most;
    }
    return most;
}

// Of a short one, else -1.
static MPI_Count bytes_of(const struct coll_call *c)
{
    MPI_Count n = c->kind == COLL_ALLGATHERV ? longest_block(c) : coll_team_bytes(c);
    MPI_Count blocks = c->kind == COLL_ALLTOALL ? c->size : 1;
    bool is_short = n >= 0 && coll_team_folds(c, n) &&
                    n * blocks <= (coll_scans(c) ? MAX_LINE : limit());
    return is_short ? n : -1;
}

// Between two it is one message, and who gives need not look how far the other is.
static bool is_one_message(const struct coll_call *c)
{
    return c->size == 2 && (c->kind == COLL_GATHER || c->kind == COLL_REDUCE || coll_scans(c));
}

static int kind_of(enum coll_kind kind)
{
    switch (kind) {
    case COLL_BARRIER: return SHOAL_COLL_BARRIER;
    case COLL_GATHER:
    case COLL_REDUCE: return SHOAL_COLL_GATHER;
    case COLL_ALLGATHER:
    case COLL_ALLGATHERV:
    case COLL_ALLREDUCE: return SHOAL_COLL_ALLGATHER;
    case COLL_ALLTOALL: return SHOAL_COLL_ALLTOALL;
    case COLL_SCAN:
    case COLL_EXSCAN: return SHOAL_COLL_GATHER_BEFORE;
    default: return 0;
    }
}

const void *coll_team_given(const struct coll_call *c, MPI_Count n, void *packed)
{
    const struct side *s = &c->send;
    MPI_Count blocks = c->kind == COLL_ALLTOALL ? c->size : 1;
    const void *buf = s->buf;
    if (side_in_place(s)) {
        s = &c->recv;
        bool own_block = c->kind == COLL_GATHER || c->kind == COLL_ALLGATHER;
        buf = own_block ? coll_at(s, c->rank) : s->buf;
    }
    if (n == 0 || s->type->is_dense)
        return n ? type_at(s->type, buf) : NULL;
    type_pack(s->type, buf, s->count * blocks, 0, packed, (size_t)(n * blocks));
    return packed;
}

// Its own block, and room behind it, of n bytes.
static const void *give_block(const struct coll_call *c, MPI_Count n, char *packed)
{
    struct block own = side_in_place(&c->send) ? coll_block(&c->recv, c->rank)
                                               : coll_whole(&c->send);
    MPI_Count given = own.count * own.type->size, wanted = bytes_of_block(c, c->rank);
    size_t bytes = (size_t)(given < wanted ? given : wanted); // the same, of a right program
    type_pack(own.type, own.buf, own.count, 0, packed, bytes);
    memset(packed + bytes, 0, (size_t)n - bytes);
    return packed;
}

static void unpack_blocks(const struct coll_call *c, MPI_Count n, const char *room)
{
    for (int i = 0; i < c->size; i++) {
        struct block b = coll_block(&c->recv, i);
        type_unpack(b.type, b.buf, b.count, 0, room + i * n, (size_t)bytes_of_block(c, i));
    }
}

// Does it: what is received goes straight to its place, or to `room` first.
static int run(const struct coll_call *c, shmem_team_t team, MPI_Count n, char *room)
{
    char packed[MAX_SHORT];
    const struct side *r = &c->recv;
    bool reduces = c->op != NULL, is_counted = c->kind == COLL_ALLGATHERV;
    bool rooted = c->kind == COLL_GATHER || c->kind == COLL_REDUCE;
    bool gets = n && (!rooted || c->root == c->rank) && (c->kind != COLL_EXSCAN || c->rank != 0);
    bool is_direct = gets && !reduces && !is_counted && r->type->is_dense;
    shoal_coll_t sc = {
        .kind = kind_of(c->kind), .root = c->root, .count = (size_t)n, .element_size = 1};
    if (n && !(is_direct && side_in_place(&c->send)))
        sc.src = is_counted ? give_block(c, n, packed) : coll_team_given(c, n, packed);
    sc.dst = is_direct ? type_at(r->type, r->buf) : gets || coll_scans(c) ? room : NULL;
    bool all_wait = !rooted && !coll_scans(c);
    int status = shoal_coll_short(team, &sc);
    if (status == SHOAL_EAGAIN && all_wait)
        status = shoal_coll(team, &sc, NULL);
    if (status || !gets || is_direct)
        return status;
    if (reduces)
        status = coll_fold(c, room, n);
    else if (is_counted)
        unpack_blocks(c, n, room);
    else
        type_unpack(r->type, r->buf, r->count * c->size, 0, room, (size_t)(n * c->size));
    return status;
}

static bool run_bcast(const struct coll_call *c, shmem_team_t team, MPI_Count n, int *error)
{
    char packed[MAX_LINE];
    const struct side *b = &c->recv;
    bool is_direct = b->type->is_dense, at_root = c->root == c->rank;
    if (n && !is_direct && at_root)
        type_pack(b->type, b->buf, b->count, 0, packed, (size_t)n);
    shoal_coll_t sc = {.kind = SHOAL_COLL_BROADCAST,
                       .root = c->root,
                       .dst = n && is_direct ? type_at(b->type, b->buf) : packed,
                       .count = (size_t)n,
                       .element_size = 1};
    int status = shoal_coll_short(team, &sc);
    if (status == SHOAL_EAGAIN)
        return false; // between nodes messages do it
    if (n && !is_direct && !at_root)
        type_unpack(b->type, b->buf, b->count, 0, packed, (size_t)n);
    stats_count(COLL_SHORT);
    *error = error_of(status);
    return true;
}

bool coll_team_bcast(const struct coll_call *c, MPI_Count n, int *error)
{
    shmem_team_t team = n > MAX_LINE ? SHMEM_TEAM_INVALID : team_of(c->comm);
    return team != SHMEM_TEAM_INVALID && run_bcast(c, team, n, error);
}

bool coll_team_run(const struct coll_call *c, int *error)
{
    _Alignas(max_align_t) char small[MAX_SHORT];
    shmem_team_t team = team_of(c->comm);
    if (team == SHMEM_TEAM_INVALID || kind_of(c->kind) == 0 || is_one_message(c))
        return false;
    MPI_Count n = bytes_of(c);
    if (n < 0)
        return false;
    char *room = n * c->size <= MAX_SHORT ? small : malloc((size_t)(n * c->size));
    if (!room) {
        *error = MPI_ERR_NO_MEM;
        return true;
    }
    int status = run(c, team, n, room);
    if (room != small)
        free(room);
    if (status == SHOAL_EAGAIN) // between nodes messages do it
        return false;
    stats_count(COLL_SHORT);
    *error = error_of(status);
    return true;
}
