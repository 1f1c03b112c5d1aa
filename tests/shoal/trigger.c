// SPDX-License-Identifier: BSD-3-Clause
// Triggered operations: every kind of work between every kind of memory, released by successes, by
// failures, by both, by a set, and at once; its completion; what is optional.
#include "counters.h"

#include <stddef.h>

enum { KINDS = 3, BYTES = 3000, ELEMENTS = 100, PAYLOAD = 100, THRESHOLD = 3 };
enum { WORK_AM = 7, COMP_AM, USER_OP = 5 };
enum { PUT, GET, ADD, FETCH, REDUCE, MESSAGE, INC, SET, WORKS }; // the works of a round

// What the left neighbour's works use here, and the buffers of the own.
struct box {
    unsigned char put_to[BYTES], get_from[BYTES];
    uint64_t sum, fetched;
    unsigned char put_from[BYTES], got[BYTES], payload[PAYLOAD];
    uint64_t old;
    double acc[ELEMENTS], in[ELEMENTS];
};

static shoal_key_t names[KINDS], theirs[KINDS]; // theirs: of the right neighbour
static struct box *box[KINDS];
static uint64_t signals;
static shoal_ct_t gate, done, mine, target, far, set, came;
static unsigned char payload[PAYLOAD];
static uint64_t work_arg, comp_args;
static int work_from;

static void on_work(const shoal_am_t *am)
{
    CHECK_EQ(am->n, PAYLOAD);
    memcpy(payload, am->payload, am->n < PAYLOAD ? am->n : PAYLOAD);
    work_arg = am->arg;
    work_from = am->from;
    CHECK_EQ(shoal_ct_inc(me, came, (shoal_ct_value_t){1, 0}), SHOAL_OK);
}

static void on_comp(const shoal_am_t *am)
{
    CHECK_EQ(am->n, 0);
    comp_args += am->arg;
    CHECK_EQ(shoal_ct_inc(me, came, (shoal_ct_value_t){1, 0}), SHOAL_OK);
}

static void arm(const shoal_work_t *work, uint64_t threshold)
{
    shoal_trigger_t handle = 0;
    CHECK_EQ(shoal_trigger(work, gate, threshold, done, &handle), SHOAL_OK);
    CHECK(handle != 0);
}

static shoal_rptr_t in_box(int kind, size_t offset)
{
    shoal_rptr_t r = {0};
    CHECK_EQ(shoal_rptr(&theirs[kind], offset, &r), SHOAL_OK);
    return r;
}
#define AT(kind, field) in_box(kind, offsetof(struct box, field))

static void reset_counters(void)
{
    const shoal_ct_t all[] = {gate, done, mine, target, far, set, came};
    for (size_t i = 0; i < sizeof all / sizeof all[0]; i++)
        CHECK_EQ(shoal_ct_set(me, all[i], (shoal_ct_value_t){0, 0}), SHOAL_OK);
    signals = work_arg = comp_args = 0;
    work_from = -1;
}

static void exchange(void)
{
    shmem_barrier_all();
    shmem_getmem(theirs, names, sizeof theirs, right_pe());
    shmem_barrier_all();
}

// ---- All kinds of work. What PE pe has in a round, where it is told apart by `of`.
static unsigned mark(int pe, int round, unsigned of)
{
    return (unsigned)(pe * 40 + round) * 4u + of;
}

static void prepare(int round)
{
    reset_counters();
    for (int k = 0; k < KINDS; k++) {
        memset(box[k], 0, sizeof *box[k]);
        fill(box[k]->get_from, BYTES, mark(me, round, 1));
        box[k]->sum = 10;
        box[k]->fetched = 20 + (uint64_t)me;
        for (int i = 0; i < ELEMENTS; i++)
            box[k]->acc[i] = i;
    }
}

// The buffers get their contents late: works read them when they are run.
static void provide(struct box *b, int round)
{
    fill(b->put_from, BYTES, mark(me, round, 2));
    fill(b->payload, PAYLOAD, mark(me, round, 3));
    for (int i = 0; i < ELEMENTS; i++)
        b->in[i] = 1000.0 * round + i;
}

static void make_works(shoal_work_t w[WORKS], int remote, int local)
{
    struct box *b = box[local];
    const int r = right_pe();
    w[PUT] = (shoal_work_t){
        .kind = SHOAL_WORK_PUT, .remote = AT(remote, put_to), .local = b->put_from, .n = BYTES};
    w[GET] = (shoal_work_t){
        .kind = SHOAL_WORK_GET, .remote = AT(remote, get_from), .local = b->got, .n = BYTES};
    w[ADD] = (shoal_work_t){.kind = SHOAL_WORK_ATOMIC,
                            .remote = AT(remote, sum),
                            .op = SHOAL_SUM,
                            .type = SHOAL_UINT64,
                            .a = 5};
    w[FETCH] = (shoal_work_t){.kind = SHOAL_WORK_ATOMIC,
                              .remote = AT(remote, fetched),
                              .op = SHOAL_CSWAP,
                              .type = SHOAL_UINT64,
                              .a = 99,
                              .b = 20 + (uint64_t)r,
                              .local = &b->old};
    w[REDUCE] = (shoal_work_t){.kind = SHOAL_WORK_REDUCE,
                               .local = b->acc,
                               .local2 = b->in,
                               .n = ELEMENTS,
                               .op = SHOAL_SUM,
                               .type = SHOAL_DOUBLE};
    w[MESSAGE] = (shoal_work_t){.kind = SHOAL_WORK_AM,
                                .pe = r,
                                .am_id = WORK_AM,
                                .a = 500 + (uint64_t)me,
                                .local = b->payload,
                                .n = PAYLOAD};
    w[INC] = (shoal_work_t){.kind = SHOAL_WORK_CT_INC, .pe = r, .ct = far, .value = {2, 3}};
    w[SET] = (shoal_work_t){.kind = SHOAL_WORK_CT_SET, .pe = r, .ct = set, .value = {7, 9}};
}

// Everything that may follow a work; each has its own bit. The works are copied: what was given is
// spoiled afterwards.
static void arm_all(int remote, int local)
{
    shoal_work_t w[WORKS];
    make_works(w, remote, local);
    for (int i = 0; i < WORKS; i++) {
        shoal_rptr_t signal = symmetric(&signals, i == REDUCE ? me : right_pe());
        w[i].comp = (shoal_comp_t){.initiator_ct = mine,
                                   .target_ct = target,
                                   .signal = &signal,
                                   .signal_value = UINT64_C(1) << i,
                                   .signal_op = SHMEM_SIGNAL_ADD,
                                   .am_id = COMP_AM,
                                   .am_arg = UINT64_C(1) << i};
        arm(&w[i], THRESHOLD);
        memset(&signal, 0xff, sizeof signal);
        memset(&w[i], 0xff, sizeof w[i]);
    }
}

static void nothing_yet(void)
{
    shmem_barrier_all();
    shoal_progress();
    VALUE_IS(done, 0, 0);
    VALUE_IS(mine, 0, 0);
    VALUE_IS(target, 0, 0);
    VALUE_IS(far, 0, 0);
    VALUE_IS(set, 0, 0);
    VALUE_IS(came, 0, 0);
    CHECK_EQ(signals, 0);
    for (int k = 0; k < KINDS; k++) {
        CHECK_EACH(i, BYTES, box[k]->put_to[i], 0);
        CHECK_EACH(i, BYTES, box[k]->got[i], 0);
        CHECK_EACH(i, ELEMENTS, box[k]->acc[i], i);
        CHECK_EQ(box[k]->sum, 10);
        CHECK_EQ(box[k]->fetched, 20 + me);
        CHECK_EQ(box[k]->old, 0);
    }
    shmem_barrier_all();
}

static void all_happened(int round, int remote, int local)
{
    static unsigned char want[BYTES];
    struct box *b = box[remote];
    unsigned before = check_failures;
    wait_sum(done, WORKS);
    if (!VALUE_IS(done, WORKS, 0)) { // what others wait for will not come
        fprintf(stderr, "    in round %d: remote memory %d, local %d\n", round, remote, local);
        shmem_global_exit(1);
    }
    wait_sum(came, WORKS + 1);
    shmem_barrier_all();
    VALUE_IS(mine, WORKS, 0);
    VALUE_IS(target, WORKS, 0);
    VALUE_IS(came, WORKS + 1, 0);
    VALUE_IS(far, 2, 3);
    VALUE_IS(set, 7, 9);
    CHECK_EQ(signals, (1 << WORKS) - 1);
    CHECK_EQ(comp_args, (1 << WORKS) - 1);
    fill(want, BYTES, mark(left_pe(), round, 2));
    CHECK_MEM(b->put_to, want, BYTES, "what was put");
    CHECK_EQ(b->sum, 15);
    CHECK_EQ(b->fetched, 99);
    fill(want, PAYLOAD, mark(left_pe(), round, 3));
    CHECK_MEM(payload, want, PAYLOAD, "the message");
    CHECK_EQ(work_arg, 500 + left_pe());
    CHECK_EQ(work_from, left_pe());
    b = box[local];
    fill(want, BYTES, mark(right_pe(), round, 1));
    CHECK_MEM(b->got, want, BYTES, "what was got");
    CHECK_EQ(b->old, 20 + right_pe());
    CHECK_EACH(i, ELEMENTS, b->acc[i], 1000.0 * round + 2.0 * (double)i);
    if (check_failures != before)
        fprintf(stderr, "    in round %d: remote memory %d, local %d\n", round, remote, local);
    shmem_barrier_all();
}

// The parts in which the threshold is reached. The PE that counts is another one in each round.
static const shoal_ct_value_t ways[][2] = {
    {{2, 0}, {1, 0}}, {{0, 2}, {0, 1}}, {{1, 1}, {0, 1}}, {{0, 0}, {3, 0}}, {{1, 0}, {0, 5}}};
enum { WAYS = sizeof ways / sizeof ways[0] };

static void late(int round, int remote, int local)
{
    const shoal_ct_value_t *by = ways[round % WAYS];
    const int whose = (me + round) % npes;
    prepare(round);
    shmem_barrier_all();
    arm_all(remote, local);
    count(whose, gate, by[0].success, by[0].failure);
    nothing_yet();
    provide(box[local], round);
    shmem_barrier_all();
    if (by[0].success + by[0].failure == 0)
        CHECK_EQ(shoal_ct_set(whose, gate, by[1]), SHOAL_OK);
    else
        count(whose, gate, by[1].success, by[1].failure);
    all_happened(round, remote, local);
}

// Where nobody's help is needed all has been done when the works are armed; atomics on private
// memory need its owner.
static void at_once(int round, int remote, int local)
{
    const shoal_ct_value_t *by = ways[round % WAYS];
    prepare(round);
    provide(box[local], round);
    count(me, gate, by[0].success + by[1].success, by[0].failure + by[1].failure);
    shmem_barrier_all();
    arm_all(remote, local);
    if (remote != KINDS - 1 || npes == 1)
        VALUE_IS(done, WORKS, 0);
    all_happened(round, remote, local);
}

static void all_kinds(void)
{
    int round = 1;
    for (int remote = 0; remote < KINDS; remote++)
        for (int local = 0; local < KINDS; local++) {
            for (int way = 0; way < WAYS; way++)
                late(round++, remote, local);
            at_once(round++, remote, local);
        }
}

// ---- Atomics of each size, with and without an effect: value, old value, and what lies around.
#define NUMBERS(X)      \
    X(INT8, int8_t)     \
    X(INT16, int16_t)   \
    X(INT32, int32_t)   \
    X(INT64, int64_t)   \
    X(UINT8, uint8_t)   \
    X(UINT16, uint16_t) \
    X(UINT32, uint32_t) \
    X(UINT64, uint64_t) \
    X(FLOAT, float)     \
    X(DOUBLE, double)
enum { GUARD = 8, CELLS = 64 };
static struct cell {
    unsigned char memory[3 * GUARD], old[2 * GUARD];
    unsigned char want[GUARD], want_old[GUARD];
    size_t size;
} cells[CELLS];
static int used;

static void cell(shoal_op_t op, shoal_type_t type, size_t size, const void *before, const void *a,
                 const void *b, const void *want)
{
    struct cell *c = &cells[used++]; // the same on every PE
    shoal_work_t w = {.kind = SHOAL_WORK_ATOMIC,
                      .op = op,
                      .type = type,
                      .local = c->old,
                      .remote = symmetric(c->memory + GUARD, right_pe()),
                      .a = ~UINT64_C(0),
                      .b = ~UINT64_C(0)};
    memset(c->memory, 0xa5, sizeof c->memory);
    memset(c->old, 0x5a, sizeof c->old);
    memcpy(c->memory + GUARD, before, size);
    memcpy(c->want, want, size);
    memcpy(c->want_old, before, size);
    memcpy(&w.a, a, size); // the low bytes
    memcpy(&w.b, b, size);
    c->size = size;
    arm(&w, THRESHOLD);
}

#define CELLS_OF(name, type)                                                  \
    static void cells_of_##name(void)                                         \
    {                                                                         \
        const type three = 3, five = 5, eight = 8;                            \
        const size_t size = sizeof(type);                                     \
        cell(SHOAL_SUM, SHOAL_##name, size, &three, &five, &three, &eight);   \
        cell(SHOAL_MIN, SHOAL_##name, size, &three, &five, &five, &three);    \
        cell(SHOAL_SET, SHOAL_##name, size, &three, &five, &eight, &five);    \
        cell(SHOAL_NOOP, SHOAL_##name, size, &three, &five, &eight, &three);  \
        cell(SHOAL_CSWAP, SHOAL_##name, size, &three, &five, &three, &five);  \
        cell(SHOAL_CSWAP, SHOAL_##name, size, &three, &five, &eight, &three); \
    }
NUMBERS(CELLS_OF)

static void atomics(void)
{
    unsigned char guard[3 * GUARD];
    memset(guard, 0xa5, sizeof guard);
    reset_counters();
#define X(name, type) cells_of_##name();
    NUMBERS(X)
#undef X
    CHECK(used <= CELLS);
    shmem_barrier_all();
    count(left_pe(), gate, THRESHOLD, 0);
    wait_sum(done, (uint64_t)used);
    VALUE_IS(done, (uint64_t)used, 0);
    shmem_barrier_all();
    for (int i = 0; i < used; i++) {
        const struct cell *c = &cells[i];
        CHECK_MEM(c->memory, guard, GUARD, "before the word");
        bool ok = CHECK_MEM(c->memory + GUARD, c->want, c->size, "the word");
        CHECK_MEM(c->memory + GUARD + c->size, guard, 2 * GUARD - c->size, "behind the word");
        ok &= CHECK_MEM(c->old, c->want_old, c->size, "the old value");
        CHECK_EACH(k, 2 * GUARD - c->size, c->old[c->size + k], 0x5a);
        if (!ok)
            fprintf(stderr, "    in cell %d\n", i);
    }
    shmem_barrier_all();
}

// ---- Reductions: the other operand comes first.
static void in_then_acc(void *acc, const void *in, size_t n, void *user)
{
    uint64_t *a = acc;
    const uint64_t *b = in;
    CHECK(user == &used);
    for (size_t i = 0; i < n; i++)
        a[i] = b[i] * 10 + a[i];
}

static void reductions(void)
{
    enum { N = 50 };
    static uint64_t acc[N], in[N];
    static int32_t least[N], other[N];
    shoal_work_t user = {.kind = SHOAL_WORK_REDUCE,
                         .local = acc,
                         .local2 = in,
                         .n = N - 1,
                         .op = (shoal_op_t)(SHOAL_OP_USER + USER_OP)};
    shoal_work_t min = {.kind = SHOAL_WORK_REDUCE,
                        .local = least,
                        .local2 = other,
                        .n = N - 1,
                        .op = SHOAL_MIN,
                        .type = SHOAL_INT32};
    reset_counters();
    CHECK_EQ(shoal_op_register(USER_OP, in_then_acc, &used, sizeof(uint64_t)), SHOAL_OK);
    for (int i = 0; i < N; i++) {
        acc[i] = 7;
        in[i] = (uint64_t)i;
        least[i] = 10;
        other[i] = i - 25;
    }
    arm(&user, 1);
    arm(&user, 1);
    arm(&min, 1);
    shmem_barrier_all();
    count(left_pe(), gate, 1, 0);
    wait_sum(done, 3);
    VALUE_IS(done, 3, 0);
    CHECK_EACH(i, N - 1, acc[i], 20 * i + 7);
    CHECK_EACH(i, N - 1, least[i], i < 35 ? (int)i - 25 : 10);
    CHECK_EQ(acc[N - 1], 7); // n elements and no more
    CHECK_EQ(least[N - 1], 10);
    shmem_barrier_all();
}

// ---- What is optional, and what is empty
static void nothing_wanted(void)
{
    static uint64_t word;
    shoal_work_t add = {.kind = SHOAL_WORK_ATOMIC,
                        .remote = symmetric(&word, me),
                        .op = SHOAL_SUM,
                        .type = SHOAL_UINT64,
                        .a = 1};
    shoal_work_t put = {.kind = SHOAL_WORK_PUT, .remote = symmetric(&word, me)};
    shoal_work_t get = {.kind = SHOAL_WORK_GET, .remote = symmetric(&word, me)};
    shoal_work_t zero = {.kind = SHOAL_WORK_CT_INC, .pe = right_pe(), .ct = far};
    shoal_work_t sum = {.kind = SHOAL_WORK_REDUCE, .op = SHOAL_SUM, .type = SHOAL_INT64};
    reset_counters();
    shmem_barrier_all();
    CHECK_EQ(shoal_trigger(&add, gate, 0, SHOAL_CT_NONE, NULL), SHOAL_OK); // reached already
    CHECK_EQ(word, 1);
    CHECK_EQ(shoal_trigger(&add, gate, 1, SHOAL_CT_NONE, NULL), SHOAL_OK);
    arm(&put, 1);
    arm(&get, 1);
    arm(&zero, 1);
    arm(&sum, 1);
    CHECK_EQ(word, 1);
    VALUE_IS(done, 0, 0);
    count(me, gate, 0, 1);
    CHECK_EQ(word, 2);
    VALUE_IS(done, 4, 0);
    VALUE_IS(mine, 0, 0);
    VALUE_IS(target, 0, 0);
    shmem_barrier_all();
    VALUE_IS(far, 0, 0);
    VALUE_IS(came, 0, 0);
    word = 0;
}

int main(void)
{
    shoal_region_t region[KINDS];
    check_start();
    box[0] = must_shmalloc(sizeof *box[0]);
    box[1] = shoal_alloc(sizeof *box[1]);
    box[2] = must_alloc(sizeof *box[2]);
    for (int k = 0; k < KINDS; k++) {
        CHECK_EQ(shoal_region_register(box[k], sizeof *box[k], &region[k]), SHOAL_OK);
        CHECK_EQ(shoal_region_key(region[k], &names[k]), SHOAL_OK);
    }
    shoal_ct_t *const all[] = {&gate, &done, &mine, &target, &far, &set, &came};
    for (size_t i = 0; i < sizeof all / sizeof all[0]; i++)
        *all[i] = must_ct(SHMEM_TEAM_WORLD);
    CHECK_EQ(shoal_am_register(WORK_AM, on_work, NULL), SHOAL_OK);
    CHECK_EQ(shoal_am_register(COMP_AM, on_comp, NULL), SHOAL_OK);
    exchange();
    all_kinds();
    atomics();
    reductions();
    nothing_wanted();
    shmem_barrier_all();
    for (int k = 0; k < KINDS; k++)
        CHECK_EQ(shoal_region_deregister(region[k]), SHOAL_OK);
    free(box[2]);
    return check_done();
}
