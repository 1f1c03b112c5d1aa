// SPDX-License-Identifier: BSD-3-Clause
// Every collective of shoal.h, blocking and with an event, against a model: teams, sizes, roots, in
// place, counts and displacements with gaps, memory of every kind, operators that do not commute.
// Whole buffers are compared, so that what no block covers has to stay; sources are overwritten as
// soon as the collective is done.
#include "../check.h"
#include "../api/coll_rows.h"

#include <shoal.h>

enum {
    CAPACITY = (1 << 20) + 64 * 1024,
    MOST_PES = 16,
    GUARD = 64,
    MATRIX_OP = 5,
    KINDS = SHOAL_COLL_REDUCE_SCATTER + 1,
};

// How elements look and are combined: acc = in op acc.
typedef struct {
    shoal_type_t type;
    shoal_op_t op;
    size_t element_size, size;
    shoal_op_fn *fold;
} element;

typedef struct {
    const test_team *team;
    element e;
    int kind, root;
    bool in_place, vector;
    size_t count;
    unsigned salt;
} test_case;

typedef struct {
    uint32_t m[2][2];
} matrix;

static unsigned char *memory[3][2]; // symmetric, private, of this PE alone; source and destination
static unsigned char *given[MOST_PES]; // the model's copy of what each member contributes
static unsigned char *want;
static int user_argument;

// ---- Operators
static void fold_matrix(void *acc, const void *in, size_t n, void *user)
{
    matrix *a = acc;
    const matrix *b = in;
    CHECK(user == &user_argument);
    for (size_t k = 0; k < n; k++) {
        matrix r;
        for (int i = 0; i < 2; i++)
            for (int j = 0; j < 2; j++)
                r.m[i][j] = b[k].m[i][0] * a[k].m[0][j] + b[k].m[i][1] * a[k].m[1][j];
        a[k] = r;
    }
}

static void fold_sum32(void *acc, const void *in, size_t n, void *user)
{
    (void)user;
    for (size_t i = 0; i < n; i++)
        ((uint32_t *)acc)[i] += ((const uint32_t *)in)[i];
}

static void fold_max16(void *acc, const void *in, size_t n, void *user)
{
    (void)user;
    for (size_t i = 0; i < n; i++)
        if (((const int16_t *)in)[i] > ((int16_t *)acc)[i])
            ((int16_t *)acc)[i] = ((const int16_t *)in)[i];
}

static const element combined[] = {
    {SHOAL_UINT32, SHOAL_SUM, 0, 4, fold_sum32},
    {SHOAL_INT16, SHOAL_MAX, 0, 2, fold_max16},
    {SHOAL_INT8, (shoal_op_t)(SHOAL_OP_USER + MATRIX_OP), sizeof(matrix), sizeof(matrix),
     fold_matrix},
};
static const element moved[] = {
    {SHOAL_UINT8, SHOAL_SUM, 0, 1, NULL},
    {SHOAL_COMPLEX_DOUBLE, SHOAL_NOOP, 0, 16, NULL},
    {SHOAL_INT8, SHOAL_AND, 3, 3, NULL},
};

// ---- What a case is about
static bool combines(int kind)
{
    return kind == SHOAL_COLL_REDUCE || kind == SHOAL_COLL_ALLREDUCE || kind == SHOAL_COLL_SCAN ||
           kind == SHOAL_COLL_EXSCAN || kind == SHOAL_COLL_REDUCE_SCATTER;
}

static bool has_blocks(int kind)
{
    return kind == SHOAL_COLL_GATHER || kind == SHOAL_COLL_ALLGATHER ||
           kind == SHOAL_COLL_ALLTOALL || kind == SHOAL_COLL_REDUCE_SCATTER;
}

// Elements in the block that goes from member k to member j (gathers: of k; reduce_scatter: of j).
static size_t block(const test_case *c, int k, int j)
{
    if (!c->vector)
        return c->count;
    size_t which = c->kind == SHOAL_COLL_ALLTOALL         ? (size_t)(k * 3 + j * 5)
                   : c->kind == SHOAL_COLL_REDUCE_SCATTER ? (size_t)j * 2
                                                          : (size_t)k * 2;
    return (which + c->salt) % 4 * c->count / 3;
}

// The lists of member k. Displacements from the back, with gaps; or none.
static void make_lists(const test_case *c, int k, bool receiving, size_t *counts, size_t *displs)
{
    int n = c->team->size;
    size_t at = 0;
    for (int j = 0; j < n; j++)
        counts[j] = c->kind == SHOAL_COLL_ALLTOALL && !receiving ? block(c, k, j) : block(c, j, k);
    if (c->kind == SHOAL_COLL_REDUCE_SCATTER)
        for (int j = 0; j < n; j++)
            counts[j] = block(c, k, j);
    for (int i = 0; i < n; i++) {
        bool gaps = c->vector && c->salt % 3 && c->kind != SHOAL_COLL_REDUCE_SCATTER;
        int j = gaps ? n - 1 - i : i;
        at += gaps ? (size_t)(j + 1) % 3 : 0;
        displs[j] = at;
        at += counts[j];
    }
}

static size_t span(const size_t *counts, const size_t *displs, int n)
{
    size_t most = 0;
    for (int j = 0; j < n; j++)
        most = displs[j] + counts[j] > most ? displs[j] + counts[j] : most;
    return most;
}

// Elements that member k contributes.
static size_t source_length(const test_case *c, int k)
{
    size_t counts[MOST_PES], displs[MOST_PES];
    switch (c->kind) {
    case SHOAL_COLL_BARRIER: return 0;
    case SHOAL_COLL_BROADCAST: return k == c->root ? c->count : 0;
    case SHOAL_COLL_GATHER:
    case SHOAL_COLL_ALLGATHER: return block(c, k, k);
    case SHOAL_COLL_ALLTOALL:
    case SHOAL_COLL_REDUCE_SCATTER:
        make_lists(c, k, false, counts, displs);
        return span(counts, displs, c->team->size);
    default: return c->count;
    }
}

static void generate(unsigned char *to, const test_case *c, int k)
{
    size_t n = source_length(c, k) * c->e.size;
    uint64_t seed = (uint64_t)team_world_pe(c->team, k) << 32 | c->salt;
    for (size_t i = 0; i < n; i += 8) {
        uint64_t word = rnd(&seed);
        memcpy(to + i, &word, n - i < 8 ? n - i : 8);
    }
}

// ---- The model: what `want`, a copy of this PE's destination, becomes
static void want_fold(const test_case *c, int first, int last, size_t from, size_t n)
{
    size_t size = c->e.size;
    memcpy(want, given[last] + from * size, n * size);
    for (int k = last - 1; k >= first; k--)
        c->e.fold(want, given[k] + from * size, n, &user_argument);
}

static void want_blocks(const test_case *c)
{
    size_t counts[MOST_PES], displs[MOST_PES], theirs[MOST_PES], at[MOST_PES], size = c->e.size;
    int self = c->team->rank;
    make_lists(c, self, true, counts, displs);
    for (int k = 0; k < c->team->size; k++) {
        make_lists(c, k, false, theirs, at);
        size_t from = c->kind == SHOAL_COLL_ALLTOALL ? at[self] : 0;
        memcpy(want + displs[k] * size, given[k] + from * size, counts[k] * size);
    }
}

static void model(const test_case *c)
{
    size_t counts[MOST_PES], displs[MOST_PES];
    int self = c->team->rank, last = c->team->size - 1;
    bool here = self == c->root;
    switch (c->kind) {
    case SHOAL_COLL_BARRIER: break;
    case SHOAL_COLL_BROADCAST: memcpy(want, given[c->root], c->count * c->e.size); break;
    case SHOAL_COLL_REDUCE:
        if (here)
            want_fold(c, 0, last, 0, c->count);
        break;
    case SHOAL_COLL_ALLREDUCE: want_fold(c, 0, last, 0, c->count); break;
    case SHOAL_COLL_SCAN: want_fold(c, 0, self, 0, c->count); break;
    case SHOAL_COLL_EXSCAN:
        if (self)
            want_fold(c, 0, self - 1, 0, c->count);
        break;
    case SHOAL_COLL_GATHER:
        if (here)
            want_blocks(c);
        break;
    case SHOAL_COLL_REDUCE_SCATTER:
        make_lists(c, self, false, counts, displs);
        want_fold(c, 0, last, displs[self], counts[self]);
        break;
    default: want_blocks(c);
    }
}

// ---- One case
static size_t own_place(const test_case *c, const size_t *displs)
{
    bool at_block = c->kind == SHOAL_COLL_ALLGATHER ||
                    (c->kind == SHOAL_COLL_GATHER && c->team->rank == c->root);
    return at_block ? displs[c->team->rank] * c->e.size : 0;
}

static void run(const shoal_coll_t *coll, const test_case *c)
{
    shoal_event_t event = {0}, *events[] = {NULL, &event};
    size_t done = 0;
    if (c->salt % 3 == 0) {
        CHECK_EQ(shoal_coll(c->team->team, coll, NULL), SHOAL_OK);
        return;
    }
    shoal_coll_t copy = *coll;
    CHECK_EQ(shoal_coll(c->team->team, &copy, &event), SHOAL_OK);
    memset(&copy, 0x5a, sizeof copy);
    if (c->salt % 3 == 1)
        CHECK_EQ(shoal_wait(2, events, 2, &done, NULL), SHOAL_OK);
    else
        while (CHECK_EQ(shoal_test(2, events, &done, NULL), SHOAL_OK) && done < 2)
            sched_yield();
    CHECK_EQ(done, 2);
    CHECK_EQ(event.status, SHOAL_OK);
}

static void check_case(const test_case *c)
{
    int self = c->team->rank;
    size_t counts[MOST_PES], displs[MOST_PES], recv_counts[MOST_PES], recv_displs[MOST_PES];
    // Buffers of other kinds on each PE, and at other distances from a line.
    size_t shift = GUARD + ((c->salt + (unsigned)me) % 4) * 16 + (c->e.fold ? 0 : c->salt % 2);
    unsigned char *src = memory[(c->salt + (unsigned)me) % 3][0] + shift;
    unsigned char *dst = memory[(c->salt / 3 + (unsigned)me * 2) % 3][1] + shift;
    bool receives = c->kind != SHOAL_COLL_ALLTOALL;
    make_lists(c, self, receives, counts, displs);
    make_lists(c, self, true, recv_counts, recv_displs);
    size_t bytes = source_length(c, self) * c->e.size;
    size_t covered = has_blocks(c->kind) ? span(recv_counts, recv_displs, c->team->size) : c->count;
    size_t room = 2 * GUARD + (covered * c->e.size > bytes ? covered * c->e.size : bytes);
    for (int k = 0; k < c->team->size; k++)
        generate(given[k], c, k);
    memset(dst - GUARD, 0xC5, room);
    unsigned char *contribution = c->in_place ? dst + own_place(c, recv_displs) : src;
    memcpy(contribution, given[self], bytes);
    memcpy(want - GUARD, dst - GUARD, room);
    model(c);

    shoal_coll_t coll = {.kind = c->kind,
                         .root = c->root,
                         .dst = dst,
                         .count = c->count,
                         .src = c->in_place ? NULL : src,
                         .type = c->e.type,
                         .op = c->e.op,
                         .element_size = c->e.element_size};
    bool lists = c->vector && has_blocks(c->kind), places = lists && c->salt % 3;
    coll.counts = lists ? counts : NULL;
    coll.displs = places ? displs : NULL;
    coll.recv_counts = lists && !receives ? recv_counts : NULL;
    coll.recv_displs = places && !receives ? recv_displs : NULL;
    if (lists)
        coll.count = 12345; // not used
    run(&coll, c);
    if (!c->in_place) { // nobody reads it any more
        CHECK_MEM(src, given[self], bytes, "the source");
        memset(src, 0xEE, bytes);
    }
    CHECK_MEM(dst - GUARD, want - GUARD, room, "the destination");
}

static void describe(const test_case *c)
{
    fprintf(stderr,
            "PE %d: kind %d, %zu elements of %zu bytes, root %d, member %d of %d%s%s, salt %u\n",
            me, c->kind, c->count, c->e.size, c->root, c->team->rank, c->team->size,
            c->in_place ? ", in place" : "", c->vector ? ", with counts" : "", c->salt);
}

// `bytes` at the PE that has most of them.
static void all_cases(const test_team *t, size_t bytes, int variants)
{
    static unsigned salt;
    uint64_t seed = bytes + (unsigned)t->start;
    for (int kind = SHOAL_COLL_BARRIER; kind < KINDS; kind++)
        for (int v = 0; v < variants; v++) {
            size_t draw = rnd_below(&seed, 12), which = draw % 3;
            test_case c = {.team = t, .kind = kind, .in_place = draw / 3 % 2, .salt = ++salt};
            c.e = combines(kind) ? combined[which] : moved[which];
            c.root = (int)rnd_below(&seed, (size_t)t->size);
            c.vector = draw >= 6 && has_blocks(kind);
            c.count = bytes / c.e.size / (has_blocks(kind) && bytes > 64 ? (size_t)t->size : 1);
            if (bytes < 64)
                c.count = bytes;
            if (t->rank < 0)
                continue;
            unsigned before = check_failures;
            check_case(&c);
            if (check_failures != before)
                describe(&c);
        }
}

// ---- Floating point: the same bits whenever, however and from whatever memory
static void repeatable(int kind)
{
    enum { N = 3001, RUNS = 6 };
    static double src[N], first[N];
    double *dst = must_alloc(N * sizeof *dst);
    uint64_t seed = (uint64_t)me + 77, pause = seed;
    for (int i = 0; i < N; i++)
        src[i] = (double)(int64_t)rnd(&seed) / (double)((rnd(&seed) >> rnd_below(&seed, 60)) + 1);
    for (int turn = 0; turn < RUNS; turn++) {
        shoal_event_t event = {0}, *events[] = {&event};
        shoal_coll_t coll = {.kind = kind,
                             .dst = turn ? dst : first,
                             .src = src,
                             .count = N,
                             .type = SHOAL_DOUBLE,
                             .op = SHOAL_SUM};
        for (size_t i = rnd_below(&pause, 8); i > 0; i--)
            sched_yield();
        if (turn == 3) { // in place
            memcpy(dst, src, sizeof src);
            coll.src = NULL;
        }
        CHECK_EQ(shoal_coll(SHMEM_TEAM_WORLD, &coll, turn % 2 ? &event : NULL), SHOAL_OK);
        CHECK_EQ(shoal_wait(1, events, 1, NULL, NULL), SHOAL_OK);
        if (turn && (kind != SHOAL_COLL_EXSCAN || me))
            CHECK_MEM(dst, first, sizeof first, "a floating-point result");
    }
    shmem_barrier_all();
    if (kind == SHOAL_COLL_ALLREDUCE) { // and everywhere
        shmem_getmem(dst, first, sizeof first, right_pe());
        CHECK_MEM(dst, first, sizeof first, "the neighbour's result");
    }
    shmem_barrier_all();
    free(dst);
}

static void make_memory(void)
{
    for (int i = 0; i < 2; i++) {
        memory[0][i] = must_shmalloc(CAPACITY);
        memory[1][i] = must_alloc(CAPACITY);
        memory[2][i] = shoal_alloc(CAPACITY);
        CHECK(memory[2][i] != NULL);
    }
    for (int k = 0; k < npes; k++)
        given[k] = must_alloc(CAPACITY);
    want = (unsigned char *)must_alloc(CAPACITY) + GUARD;
}

int main(void)
{
    static const size_t small[] = {0, 1, 7, 4095, 4096, 4097, 8208};
    test_team teams[MAX_TEAMS];
    check_start();
    if (npes > MOST_PES)
        check_skip("more than 16 PEs");
    make_memory();
    CHECK_EQ(shoal_op_register(MATRIX_OP, fold_matrix, &user_argument, sizeof(matrix)), SHOAL_OK);
    shmem_barrier_all();
    int count = make_teams(teams);
    for (int t = 0; t < count; t++)
        for (size_t s = 0; s < sizeof small / sizeof small[0]; s++)
            all_cases(&teams[t], small[s], 8);
    for (int t = 0; t < count; t++)
        all_cases(&teams[t], 65536, 3);
    all_cases(&teams[0], 1 << 20, 1);
    all_cases(&teams[2], 1 << 20, 2);
    repeatable(SHOAL_COLL_ALLREDUCE);
    repeatable(SHOAL_COLL_SCAN);
    repeatable(SHOAL_COLL_EXSCAN);
    shmem_barrier_all();
    destroy_teams(teams, count);
    return check_done();
}
