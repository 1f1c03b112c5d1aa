// SPDX-License-Identifier: BSD-3-Clause
// Wrong arguments of the collectives: the code that is documented, outputs and buffers as they
// were, and nobody has started, so that the next collective of all works. Errors that come at the
// end of a collective.
#include "../check.h"

#include <shoal.h>

enum { N = 16, NOBODYS_OP = 17, FORTY_OP = 18, WORKS = 65536 };

static int64_t src[N], dst[N]; // symmetric
static shmem_team_t gone;
static size_t counts[64], displs[64];

static shoal_coll_t good(void)
{
    return (shoal_coll_t){.kind = SHOAL_COLL_ALLREDUCE,
                          .dst = dst,
                          .src = src,
                          .count = N,
                          .type = SHOAL_INT64,
                          .op = SHOAL_SUM};
}

static void no_operator(void *acc, const void *in, size_t n, void *user)
{
    (void)acc, (void)in, (void)n, (void)user;
    CHECK(!"called");
}

// All three calls refuse it, and touch nothing.
static void refused(shmem_team_t team, const shoal_coll_t *coll, int status, const char *what)
{
    unsigned before = check_failures;
    shoal_event_t event = {.least = 12, .status = 4711};
    shoal_coll_plan_t plan = (shoal_coll_plan_t)&event;
    memset(dst, 0x5c, sizeof dst);
    CHECK_EQ(shoal_coll(team, coll, NULL), status);
    CHECK_EQ(shoal_coll(team, coll, &event), status);
    CHECK_EQ(shoal_coll_init(team, coll, &plan), status);
    CHECK(plan == (shoal_coll_plan_t)&event);
    CHECK(!event.word && !event.more && event.least == 12 && event.status == 4711);
    CHECK_EACH(i, N, dst[i], INT64_C(0x5c5c5c5c5c5c5c5c));
    if (check_failures != before)
        fprintf(stderr, "PE %d: %s\n", me, what);
}

static void with(const char *what, void (*change)(shoal_coll_t *c))
{
    shoal_coll_t c = good();
    change(&c);
    refused(SHMEM_TEAM_WORLD, &c, SHOAL_EINVAL, what);
}

// X(what is wrong, the change that makes it so)
#define BAD_CASES(X)                                                                           \
    X(kind_0, c->kind = 0)                                                                     \
    X(kind_negative, c->kind = -1)                                                             \
    X(kind_beyond, c->kind = SHOAL_COLL_REDUCE_SCATTER + 1)                                    \
    X(type_beyond, c->type = SHOAL_TYPE_COUNT)                                                 \
    X(type_negative, c->type = (shoal_type_t)-1)                                               \
    X(type_of_a_move, c->kind = SHOAL_COLL_ALLGATHER; c->type = (shoal_type_t)99)              \
    X(op_set, c->op = SHOAL_SET)                                                               \
    X(op_noop, c->op = SHOAL_NOOP)                                                             \
    X(op_cswap, c->op = SHOAL_CSWAP)                                                           \
    X(op_count, c->op = SHOAL_OP_COUNT)                                                        \
    X(op_negative, c->op = (shoal_op_t)-1)                                                     \
    X(op_below_user, c->op = (shoal_op_t)(SHOAL_OP_USER - 1))                                  \
    X(op_above_user, c->op = (shoal_op_t)(SHOAL_OP_USER + 64))                                 \
    X(and_of_double, c->op = SHOAL_AND; c->type = SHOAL_DOUBLE)                                \
    X(xor_of_complex, c->op = SHOAL_XOR; c->type = SHOAL_COMPLEX_FLOAT)                        \
    X(max_of_complex, c->op = SHOAL_MAX; c->type = SHOAL_COMPLEX_DOUBLE)                       \
    X(scan_op, c->kind = SHOAL_COLL_SCAN; c->op = SHOAL_SET)                                   \
    X(exscan_op, c->kind = SHOAL_COLL_EXSCAN; c->op = SHOAL_SET)                               \
    X(reduce_op, c->kind = SHOAL_COLL_REDUCE; c->op = SHOAL_SET)                               \
    X(reduce_scatter_op, c->kind = SHOAL_COLL_REDUCE_SCATTER; c->count = 1; c->op = SHOAL_SET) \
    X(size_without_user, c->element_size = 8)                                                  \
    X(size_too_wide, c->element_size = 8193; c->op = (shoal_op_t)(SHOAL_OP_USER + NOBODYS_OP)) \
    X(size_of_another, c->op = (shoal_op_t)(SHOAL_OP_USER + FORTY_OP); c->count = 1)           \
    X(size_of_others, c->op = (shoal_op_t)(SHOAL_OP_USER + FORTY_OP); c->element_size = 8)     \
    X(root_negative, c->kind = SHOAL_COLL_BROADCAST; c->root = -1)                             \
    X(root_beyond, c->kind = SHOAL_COLL_REDUCE; c->root = npes)                                \
    X(root_of_gather, c->kind = SHOAL_COLL_GATHER; c->root = npes; c->count = 1)               \
    X(no_buffers, c->src = NULL; c->dst = NULL)                                                \
    X(no_destination, c->dst = NULL)                                                           \
    X(no_gathered, c->kind = SHOAL_COLL_ALLGATHER; c->dst = NULL; c->count = 1)                \
    X(no_exchanged, c->kind = SHOAL_COLL_ALLTOALL; c->dst = NULL; c->count = 1)                \
    X(no_recv_counts, c->kind = SHOAL_COLL_ALLTOALL; c->counts = counts)                       \
    X(no_counts, c->kind = SHOAL_COLL_ALLTOALL; c->recv_counts = counts)

#define X(name, change)                     \
    static void bad_##name(shoal_coll_t *c) \
    {                                       \
        change;                             \
    }
BAD_CASES(X)
#undef X

static void teams_and_pointers(void)
{
    shoal_coll_t c = good();
    refused(SHMEM_TEAM_INVALID, &c, SHOAL_EINVAL, "no team");
    refused(gone, &c, SHOAL_EINVAL, "a destroyed team");
    refused(SHMEM_TEAM_WORLD, NULL, SHOAL_EINVAL, "no description");
    CHECK_EQ(shoal_coll_init(SHMEM_TEAM_WORLD, &c, NULL), SHOAL_EINVAL);
    CHECK_EQ(shoal_coll_start(NULL, NULL), SHOAL_EINVAL);
    CHECK_EQ(shoal_coll_free(NULL), SHOAL_EINVAL);
}

// More bytes than any memory has are refused, and not wrapped round to a few.
static void refuse_size(const shoal_coll_t *c, const char *what)
{
    shoal_coll_plan_t plan;
    int status = shoal_coll_init(SHMEM_TEAM_WORLD, c, &plan);
    if (!CHECK(status == SHOAL_EINVAL || status == SHOAL_ENOMEM)) {
        fprintf(stderr, "PE %d: kind %d: %s\n", me, c->kind, what);
        shoal_coll_free(plan);
    }
}

static void too_many(void)
{
    static const size_t many[] = {SIZE_MAX, SIZE_MAX / 8 + 1, SIZE_MAX / 8 + 2, SIZE_MAX / 2};
    int64_t private[2] = {0, 0};
    for (int kind = SHOAL_COLL_BROADCAST; kind <= SHOAL_COLL_REDUCE_SCATTER; kind++) {
        shoal_coll_t c = good();
        c.kind = kind;
        c.root = me;
        c.src = c.dst = private;
        for (size_t i = 0; i < sizeof many / sizeof many[0]; i++) {
            c.count = many[i];
            refuse_size(&c, "count");
        }
        if (kind < SHOAL_COLL_GATHER)
            continue;
        c.counts = c.recv_counts = counts;
        for (int k = 0; k < npes; k++)
            counts[k] = SIZE_MAX / 8 + 2;
        refuse_size(&c, "counts");
        for (int k = 0; k < npes; k++)
            counts[k] = displs[k] = 1;
        displs[0] = SIZE_MAX;
        c.displs = c.recv_displs = displs;
        if (kind != SHOAL_COLL_REDUCE_SCATTER)
            refuse_size(&c, "displacements");
    }
}

// Nobody has started: this is everybody's first.
static void works(void)
{
    shoal_coll_t c = good();
    shoal_event_t event = {0}, *events[] = {&event};
    for (int i = 0; i < N; i++)
        src[i] = me + i;
    CHECK_EQ(shoal_coll(SHMEM_TEAM_WORLD, &c, &event), SHOAL_OK);
    CHECK_EQ(shoal_wait(1, events, 1, NULL, NULL), SHOAL_OK);
    CHECK_EACH(i, N, dst[i], npes * (npes - 1) / 2 + npes * (int)i);
}

// An operator with a number that could be, but that nobody has registered.
static void not_registered(void)
{
    int64_t private[N];
    for (int turn = 0; turn < 4; turn++) {
        shoal_coll_t c = good();
        shoal_event_t event = {0}, *events[] = {&event};
        int64_t *out = turn % 2 ? private : dst;
        c.op = (shoal_op_t)(SHOAL_OP_USER + NOBODYS_OP);
        c.kind = turn < 2 ? SHOAL_COLL_ALLREDUCE : SHOAL_COLL_SCAN;
        c.dst = out;
        memset(out, 0x5c, sizeof private);
        shmem_barrier_all();
        int status = shoal_coll(SHMEM_TEAM_WORLD, &c, &event);
        if (!status) {
            CHECK_EQ(shoal_wait(1, events, 1, NULL, NULL), SHOAL_OK);
            status = event.status;
        }
        if (npes > 1 && turn < 2) // else there may have been nothing to combine
            CHECK_EQ(status, SHOAL_EINVAL);
        if (status)
            CHECK_EACH(i, N, out[i], INT64_C(0x5c5c5c5c5c5c5c5c));
        shmem_barrier_all();
    }
}

// Only then is a collective a work.
static bool on_one_node(void)
{
    uint64_t direct = 1;
    for (int pe = 0; pe < npes && direct; pe++)
        CHECK_EQ(shoal_query(SHOAL_Q_DIRECT, pe, &direct), SHOAL_OK);
    return direct;
}

// Works of collectives that have ended may still be on their way to who frees them: one whose part
// has been run otherwise is in somebody's inbox until that PE looks there.
static void all_works_free(void)
{
    shmem_barrier_all(); // they are in the inboxes
    while (shoal_progress() > 0)
        ;
    shmem_barrier_all();
}

// No room for a work: the plan is as if it had not been started.
static void no_work_left(void)
{
    static shoal_trigger_t handle[WORKS];
    shoal_work_t work = {.kind = SHOAL_WORK_CT_INC, .pe = me};
    shoal_coll_t c = good();
    shoal_coll_plan_t plan = NULL;
    shoal_event_t event = {0};
    shoal_ct_t ct;
    size_t cancelled = 0, n = 0;
    CHECK_EQ(shoal_coll_init(SHMEM_TEAM_WORLD, &c, &plan), SHOAL_OK);
    CHECK_EQ(shoal_ct_alloc(SHMEM_TEAM_INVALID, &ct), SHOAL_OK);
    work.ct = ct;
    all_works_free();
    while (n < WORKS && shoal_trigger(&work, ct, 1, SHOAL_CT_NONE, &handle[n]) == SHOAL_OK)
        n++;
    CHECK(n > WORKS / 2);
    if (on_one_node() &&
        (n < WORKS || shoal_trigger(&work, ct, 1, SHOAL_CT_NONE, NULL) == SHOAL_ENOMEM)) {
        CHECK_EQ(shoal_coll_start(plan, NULL), SHOAL_ENOMEM);
        CHECK_EQ(shoal_coll_start(plan, &event), SHOAL_ENOMEM);
        CHECK_EQ(shoal_coll(SHMEM_TEAM_WORLD, &c, &event), SHOAL_ENOMEM);
        CHECK(!event.word && !event.more);
    }
    CHECK_EQ(shoal_ct_cancel(ct, &cancelled), SHOAL_OK);
    CHECK_EQ(cancelled, n);
    CHECK_EQ(shoal_ct_free(SHMEM_TEAM_INVALID, ct), SHOAL_OK);
    for (int i = 0; i < N; i++)
        src[i] = me - i;
    CHECK_EQ(shoal_coll_start(plan, NULL), SHOAL_OK);
    CHECK_EACH(i, N, dst[i], npes * (npes - 1) / 2 - npes * (int)i);
    CHECK_EQ(shoal_coll_free(plan), SHOAL_OK);
}

static void operators(void)
{
    CHECK_EQ(shoal_op_register(-1, no_operator, NULL, 8), SHOAL_EINVAL);
    CHECK_EQ(shoal_op_register(64, no_operator, NULL, 8), SHOAL_EINVAL);
    CHECK_EQ(shoal_op_register(3, NULL, NULL, 8), SHOAL_EINVAL);
    CHECK_EQ(shoal_op_register(3, no_operator, NULL, 0), SHOAL_EINVAL);
    CHECK_EQ(shoal_op_register(FORTY_OP, no_operator, NULL, 40), SHOAL_OK);
}

// What a kind has no use for is not looked at.
static void unused_fields(void)
{
    shoal_coll_t c = {
        .kind = SHOAL_COLL_BARRIER, .root = -5, .type = (shoal_type_t)77, .op = (shoal_op_t)88};
    CHECK_EQ(shoal_coll(SHMEM_TEAM_WORLD, &c, NULL), SHOAL_OK);
    c = good();
    c.root = npes + 3;
    for (int i = 0; i < N; i++)
        src[i] = 1;
    CHECK_EQ(shoal_coll(SHMEM_TEAM_WORLD, &c, NULL), SHOAL_OK);
    CHECK_EACH(i, N, dst[i], npes);
    c.kind = SHOAL_COLL_ALLTOALL;
    c.count = 0;
    c.op = (shoal_op_t)88;
    c.src = c.dst = NULL;
    CHECK_EQ(shoal_coll(SHMEM_TEAM_WORLD, &c, NULL), SHOAL_OK);
}

int main(void)
{
    shoal_coll_t c = good();
    CHECK_EQ(shoal_coll(SHMEM_TEAM_WORLD, &c, NULL), SHOAL_EINIT);
    check_start();
    CHECK_EQ(shmem_team_split_strided(SHMEM_TEAM_WORLD, 0, 1, npes, NULL, 0, &gone), 0);
    shmem_team_destroy(gone);
    operators();
#define X(name, change) with(#name, bad_##name);
    BAD_CASES(X)
#undef X
    teams_and_pointers();
    works();
    unused_fields();
    not_registered();
    works();
    no_work_left();
    works();
    too_many();
    works();
    return check_done();
}
