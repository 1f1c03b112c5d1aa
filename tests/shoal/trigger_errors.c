// SPDX-License-Identifier: BSD-3-Clause
// Triggered operations that fail when they are run, with memory of every kind, and those that are
// refused at once.
#include "counters.h"

enum { KINDS = 3, SIZE = 256, COMP_AM = 8 };

static struct {
    shoal_key_t box[KINDS], stale;
} names, theirs; // theirs: of the right neighbour
static unsigned char *box[KINDS];
static uint64_t signals;
static shoal_ct_t gate, done, mine, target, far, came;

static void on_comp(const shoal_am_t *am)
{
    (void)am;
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
    CHECK_EQ(shoal_rptr(&theirs.box[kind], offset, &r), SHOAL_OK);
    return r;
}

static void reset_counters(void)
{
    const shoal_ct_t all[] = {gate, done, mine, target, far, came};
    for (size_t i = 0; i < sizeof all / sizeof all[0]; i++)
        CHECK_EQ(shoal_ct_set(me, all[i], (shoal_ct_value_t){0, 0}), SHOAL_OK);
    signals = 0;
}

static void exchange(void)
{
    shmem_barrier_all();
    shmem_getmem(&theirs, &names, sizeof theirs, right_pe());
    shmem_barrier_all();
}

// ---- Works that fail
enum { STALE = 64 };

static shoal_comp_t all_comps(const shoal_rptr_t *signal)
{
    return (shoal_comp_t){.initiator_ct = mine,
                          .target_ct = target,
                          .signal = signal,
                          .signal_value = 1,
                          .signal_op = SHMEM_SIGNAL_ADD,
                          .am_id = COMP_AM};
}

// Between arming and release the region goes, and one of the same memory comes. Nothing follows a
// work that fails but its counts, and those release others as any.
static void stale(unsigned char *memory)
{
    static unsigned char from[STALE], got[STALE];
    static uint64_t old, acc, one = 1;
    shoal_region_t region, again;
    shoal_rptr_t r = {0}, signal = symmetric(&signals, right_pe());
    reset_counters();
    fill(from, STALE, 3);
    memset(got, 0, sizeof got);
    memset(memory, 0, STALE);
    old = acc = 0;
    CHECK_EQ(shoal_region_register(memory, STALE, &region), SHOAL_OK);
    CHECK_EQ(shoal_region_key(region, &names.stale), SHOAL_OK);
    exchange();
    CHECK_EQ(shoal_rptr(&theirs.stale, 0, &r), SHOAL_OK);
    shoal_work_t w[] = {
        {.kind = SHOAL_WORK_PUT, .remote = r, .local = from, .n = STALE},
        {.kind = SHOAL_WORK_GET, .remote = r, .local = got, .n = STALE},
        {.kind = SHOAL_WORK_ATOMIC, .remote = r, .op = SHOAL_SET, .type = SHOAL_UINT64, .a = 5},
        {.kind = SHOAL_WORK_ATOMIC,
         .remote = r,
         .op = SHOAL_NOOP,
         .type = SHOAL_UINT64,
         .local = &old},
    };
    shoal_work_t next = {.kind = SHOAL_WORK_REDUCE,
                         .local = &acc,
                         .local2 = &one,
                         .n = 1,
                         .op = SHOAL_SUM,
                         .type = SHOAL_UINT64};
    CHECK_EQ(shoal_trigger(&next, done, 4, far, NULL), SHOAL_OK);
    for (int i = 0; i < 4; i++) {
        w[i].comp = all_comps(&signal);
        arm(&w[i], 1);
    }
    exchange();
    CHECK_EQ(shoal_region_deregister(region), SHOAL_OK);
    CHECK_EQ(shoal_region_register(memory, STALE, &again), SHOAL_OK);
    old = 6;
    exchange();
    CHECK_EQ(shoal_ct_inc(left_pe(), gate, (shoal_ct_value_t){1, 0}), SHOAL_OK);
    wait_sum(done, 4);
    wait_sum(far, 1);
    shmem_barrier_all();
    shoal_progress();
    VALUE_IS(done, 0, 4);
    VALUE_IS(mine, 0, 4);
    VALUE_IS(far, 1, 0);
    VALUE_IS(target, 0, 0);
    VALUE_IS(came, 0, 0);
    CHECK_EQ(signals, 0);
    CHECK_EQ(old, 6);
    CHECK_EQ(acc, 1);
    CHECK_EACH(i, STALE, memory[i], 0);
    CHECK_EACH(i, STALE, got[i], 0);
    CHECK_EQ(shoal_region_deregister(again), SHOAL_OK);
    shmem_barrier_all();
}

// The work is done but its signal cannot be: that is a failure too.
static void stale_signal(void)
{
    static uint64_t word, cell;
    shoal_region_t region;
    shoal_rptr_t signal = {0};
    shoal_work_t add = {.kind = SHOAL_WORK_ATOMIC,
                        .remote = symmetric(&word, right_pe()),
                        .op = SHOAL_SUM,
                        .type = SHOAL_UINT64,
                        .a = 1};
    reset_counters();
    CHECK_EQ(shoal_region_register(&cell, sizeof cell, &region), SHOAL_OK);
    CHECK_EQ(shoal_region_key(region, &names.stale), SHOAL_OK);
    exchange();
    CHECK_EQ(shoal_rptr(&theirs.stale, 0, &signal), SHOAL_OK);
    add.comp = (shoal_comp_t){
        .initiator_ct = mine, .signal = &signal, .signal_value = 1, .signal_op = SHMEM_SIGNAL_SET};
    arm(&add, 1);
    arm(&add, 2);
    exchange();
    count(left_pe(), gate, 1, 0);
    exchange();
    CHECK_EQ(cell, 1);
    CHECK_EQ(shoal_region_deregister(region), SHOAL_OK);
    cell = 0;
    exchange();
    count(left_pe(), gate, 1, 0);
    exchange();
    VALUE_IS(done, 1, 1);
    VALUE_IS(mine, 1, 1);
    CHECK_EQ(cell, 0);
    word = 0;
}

// ---- What is refused: with the right code, without a trace
static shoal_ct_t freed;

static void refused(int line, const shoal_work_t *w, shoal_ct_t ct, shoal_ct_t done_ct, int error)
{
    shoal_trigger_t handle = 4711;
    bool ok = CHECK_EQ(shoal_trigger(w, ct, 1, done_ct, &handle), error);
    ok &= CHECK_EQ(handle, 4711);
    if (!ok)
        fprintf(stderr, "    in line %d\n", line);
}
#define REFUSED(error, ...)                       \
    do {                                          \
        shoal_work_t w = __VA_ARGS__;             \
        refused(__LINE__, &w, gate, done, error); \
    } while (0)

static void bad_counters(const shoal_work_t *good)
{
    refused(__LINE__, NULL, gate, done, SHOAL_EINVAL);
    refused(__LINE__, good, SHOAL_CT_NONE, done, SHOAL_EINVAL);
    refused(__LINE__, good, freed, done, SHOAL_EINVAL);
    refused(__LINE__, good, 1u << 30, done, SHOAL_EINVAL);
    refused(__LINE__, good, UINT32_MAX, done, SHOAL_EINVAL);
    refused(__LINE__, good, gate, freed, SHOAL_EINVAL);
    refused(__LINE__, good, gate, 1u << 30, SHOAL_EINVAL);
    for (int kind = -2; kind < 70; kind++)
        if (kind < SHOAL_WORK_PUT || kind > SHOAL_WORK_CT_SET) {
            shoal_work_t w = *good;
            w.kind = kind;
            refused(__LINE__, &w, gate, done, SHOAL_EINVAL);
        }
    for (int pe = -1; pe <= npes; pe += npes + 1) {
        REFUSED(SHOAL_EINVAL, {.kind = SHOAL_WORK_CT_INC, .pe = pe, .ct = far});
        REFUSED(SHOAL_EINVAL, {.kind = SHOAL_WORK_CT_SET, .pe = pe, .ct = far});
        REFUSED(SHOAL_EINVAL, {.kind = SHOAL_WORK_AM, .pe = pe, .am_id = 1});
    }
    REFUSED(SHOAL_EINVAL, {.kind = SHOAL_WORK_CT_INC, .pe = me, .ct = SHOAL_CT_NONE});
    REFUSED(SHOAL_EINVAL, {.kind = SHOAL_WORK_CT_SET, .pe = me, .ct = SHOAL_CT_NONE});
    REFUSED(SHOAL_EINVAL, {.kind = SHOAL_WORK_CT_INC, .pe = me, .ct = 1u << 30});
    REFUSED(SHOAL_EINVAL, {.kind = SHOAL_WORK_CT_SET, .pe = me, .ct = 1u << 30});
}

// What only the owner of a region knows is found out when a work is run, where it is on another node.
static bool knows_regions(void)
{
    return shmem_ptr(&signals, right_pe()) != NULL;
}

static void bad_places(shoal_rptr_t stale)
{
    static uint64_t word;
    bool knows = knows_regions();
    shoal_rptr_t good = in_box(0, 0), far_away = good, other = good, forged = in_box(KINDS - 1, 0);
    far_away.offset = UINT64_MAX - 7;
    forged.stamp += 2;
    for (int kind = SHOAL_WORK_PUT; kind <= SHOAL_WORK_ATOMIC; kind++) {
        shoal_work_t w = {.kind = kind,
                          .remote = good,
                          .local = &word,
                          .n = 8,
                          .op = SHOAL_SUM,
                          .type = SHOAL_UINT64};
#define WITH_REMOTE(place, error)                 \
    do {                                          \
        w.remote = place;                         \
        refused(__LINE__, &w, gate, done, error); \
    } while (0)
#define WITH_REGION(place, error)      \
    do {                               \
        if (knows)                     \
            WITH_REMOTE(place, error); \
    } while (0)
        WITH_REGION(stale, SHOAL_EKEY);
        WITH_REGION(forged, SHOAL_EKEY);
        WITH_REGION(far_away, SHOAL_ERANGE);
        other.pe = npes;
        WITH_REMOTE(other, SHOAL_EKEY);
        other.pe = -1;
        WITH_REMOTE(other, SHOAL_EKEY);
        WITH_REGION(in_box(KINDS - 1, SIZE - 4), SHOAL_ERANGE);
        if (kind == SHOAL_WORK_ATOMIC)
            continue;
        w.n = 0;
        WITH_REGION(stale, SHOAL_EKEY);
        w.n = SIZE_MAX;
        WITH_REGION(good, SHOAL_ERANGE);
        w.n = 8;
        w.local = NULL;
        WITH_REMOTE(good, SHOAL_EINVAL);
    }
}

static void bad_operators(void)
{
    static uint64_t word;
    shoal_rptr_t r = in_box(0, 0);
    const shoal_op_t user = (shoal_op_t)SHOAL_OP_USER;
#define NO_ATOMIC(o, t) \
    REFUSED(SHOAL_EINVAL, {.kind = SHOAL_WORK_ATOMIC, .remote = r, .op = o, .type = t})
    NO_ATOMIC(SHOAL_OP_COUNT, SHOAL_UINT64);
    NO_ATOMIC(user, SHOAL_UINT64);
    NO_ATOMIC((shoal_op_t)-1, SHOAL_UINT64);
    NO_ATOMIC(SHOAL_SUM, SHOAL_TYPE_COUNT);
    NO_ATOMIC(SHOAL_SUM, (shoal_type_t)-1);
    NO_ATOMIC(SHOAL_SUM, SHOAL_LONG_DOUBLE);
    NO_ATOMIC(SHOAL_SUM, SHOAL_COMPLEX_DOUBLE);
    NO_ATOMIC(SHOAL_MIN, SHOAL_COMPLEX_FLOAT);
    NO_ATOMIC(SHOAL_AND, SHOAL_DOUBLE);
#define NO_REDUCE(o, t, a, b) \
    REFUSED(SHOAL_EINVAL,     \
            {.kind = SHOAL_WORK_REDUCE, .local = a, .local2 = b, .n = 1, .op = o, .type = t})
    NO_REDUCE(SHOAL_SUM, SHOAL_UINT64, NULL, &word);
    NO_REDUCE(SHOAL_SUM, SHOAL_UINT64, &word, NULL);
    NO_REDUCE(SHOAL_SET, SHOAL_UINT64, &word, &word);
    NO_REDUCE(SHOAL_NOOP, SHOAL_UINT64, &word, &word);
    NO_REDUCE(SHOAL_CSWAP, SHOAL_UINT64, &word, &word);
    NO_REDUCE(SHOAL_OP_COUNT, SHOAL_UINT64, &word, &word);
    NO_REDUCE((shoal_op_t)(SHOAL_OP_USER + 64), SHOAL_UINT64, &word, &word);
    NO_REDUCE((shoal_op_t)-1, SHOAL_UINT64, &word, &word);
    NO_REDUCE(SHOAL_SUM, SHOAL_TYPE_COUNT, &word, &word);
    NO_REDUCE(SHOAL_XOR, SHOAL_FLOAT, &word, &word);
    NO_REDUCE(SHOAL_MAX, SHOAL_COMPLEX_DOUBLE, &word, &word);
}

static void bad_messages(void)
{
    uint64_t most = 0;
    CHECK_EQ(shoal_query(SHOAL_Q_AM_MAX, me, &most), SHOAL_OK);
    const int ids[] = {0, -1, 256, INT32_MAX};
    for (size_t i = 0; i < sizeof ids / sizeof ids[0]; i++)
        REFUSED(SHOAL_EINVAL, {.kind = SHOAL_WORK_AM, .pe = me, .am_id = ids[i]});
    REFUSED(SHOAL_EINVAL,
            {.kind = SHOAL_WORK_AM, .pe = me, .am_id = 1, .local = box[0], .n = most + 1});
    REFUSED(SHOAL_EINVAL, {.kind = SHOAL_WORK_AM, .pe = me, .am_id = 1, .n = 1});
}

static void bad_completions(const shoal_work_t *good, shoal_rptr_t stale)
{
    shoal_rptr_t signal = symmetric(&signals, good->pe), odd = shoal_rptr_add(signal, 4);
    shoal_rptr_t away = signal, elsewhere = symmetric(&signals, (good->pe + 1) % npes);
    away.offset = UINT64_MAX - 7;
#define NO_COMP(field, value, error)              \
    do {                                          \
        shoal_work_t w = *good;                   \
        w.comp = all_comps(&signal);              \
        w.comp.field = value;                     \
        refused(__LINE__, &w, gate, done, error); \
    } while (0)
    NO_COMP(initiator_ct, freed, SHOAL_EINVAL);
    NO_COMP(initiator_ct, 1u << 30, SHOAL_EINVAL);
    NO_COMP(target_ct, 1u << 30, SHOAL_EINVAL);
    NO_COMP(am_id, -1, SHOAL_EINVAL);
    NO_COMP(am_id, 256, SHOAL_EINVAL);
    NO_COMP(signal_op, 77, SHOAL_EINVAL);
    NO_COMP(signal, &odd, SHOAL_EINVAL);
    if (knows_regions())
        NO_COMP(signal, &stale, SHOAL_EKEY);
    NO_COMP(signal, &away, SHOAL_ERANGE);
    if (npes > 1) // it has to be at the target
        NO_COMP(signal, &elsewhere, SHOAL_EINVAL);
}

// With good works among them, to see that refusals leave nothing behind.
static void bad_arguments(void)
{
    shoal_region_t region;
    shoal_rptr_t gone = {0};
    shoal_work_t good = {.kind = SHOAL_WORK_CT_INC, .pe = right_pe(), .ct = far, .value = {1, 0}};
    size_t cancelled = 99;
    reset_counters();
    freed = must_ct(SHMEM_TEAM_INVALID);
    CHECK_EQ(shoal_ct_free(SHMEM_TEAM_INVALID, freed), SHOAL_OK);
    CHECK_EQ(shoal_region_register(box[1], SIZE, &region), SHOAL_OK);
    CHECK_EQ(shoal_region_key(region, &names.stale), SHOAL_OK);
    exchange();
    CHECK_EQ(shoal_rptr(&theirs.stale, 0, &gone), SHOAL_OK);
    exchange();
    CHECK_EQ(shoal_region_deregister(region), SHOAL_OK);
    exchange();
    bad_counters(&good);
    bad_places(gone);
    bad_operators();
    bad_messages();
    bad_completions(&good, gone);
    CHECK_EQ(shoal_trigger_cancel(0), SHOAL_EINVAL);
    CHECK_EQ(shoal_trigger_cancel(UINT64_MAX), SHOAL_EINVAL);
    CHECK_EQ(shoal_trigger_cancel(4711), SHOAL_EINVAL);
    CHECK_EQ(shoal_ct_cancel(SHOAL_CT_NONE, &cancelled), SHOAL_EINVAL);
    CHECK_EQ(shoal_ct_cancel(freed, &cancelled), SHOAL_EINVAL);
    CHECK_EQ(shoal_ct_cancel(1u << 30, &cancelled), SHOAL_EINVAL);
    CHECK_EQ(cancelled, 99);
    CHECK_EQ(shoal_ct_cancel(gate, &cancelled), SHOAL_OK);
    CHECK_EQ(cancelled, 0); // nothing had been armed
    count(me, gate, 1, 0);
    shmem_barrier_all();
    VALUE_IS(far, 0, 0);
    VALUE_IS(done, 0, 0);
    shmem_barrier_all();
}

// Found out at the latest when it is run, wherever the word is.
static void misaligned(void)
{
    for (int kind = 0; kind < KINDS; kind++) {
        shoal_work_t w = {.kind = SHOAL_WORK_ATOMIC,
                          .remote = in_box(kind, 4),
                          .op = SHOAL_SUM,
                          .type = SHOAL_UINT64,
                          .a = 1};
        reset_counters();
        memset(box[kind], 0, 16);
        shmem_barrier_all();
        int status = shoal_trigger(&w, gate, 1, done, NULL);
        CHECK(status == SHOAL_OK || status == SHOAL_EINVAL);
        shmem_barrier_all();
        count(left_pe(), gate, 1, 0);
        if (status == SHOAL_OK)
            wait_sum(done, 1);
        shmem_barrier_all();
        VALUE_IS(done, 0, status == SHOAL_OK);
        CHECK_EACH(i, 16, box[kind][i], 0);
        shmem_barrier_all();
    }
}

int main(void)
{
    shoal_work_t inc = {.kind = SHOAL_WORK_CT_INC, .ct = 1};
    shoal_region_t region[KINDS];
    CHECK_EQ(shoal_trigger(&inc, 1, 1, SHOAL_CT_NONE, NULL), SHOAL_EINIT);
    CHECK_EQ(shoal_trigger_cancel(1), SHOAL_EINIT);
    CHECK_EQ(shoal_ct_cancel(1, NULL), SHOAL_EINIT);
    check_start();
    box[0] = must_shmalloc(SIZE);
    box[1] = shoal_alloc(SIZE);
    box[2] = must_alloc(SIZE);
    for (int k = 0; k < KINDS; k++) {
        CHECK_EQ(shoal_region_register(box[k], SIZE, &region[k]), SHOAL_OK);
        CHECK_EQ(shoal_region_key(region[k], &names.box[k]), SHOAL_OK);
    }
    shoal_ct_t *const all[] = {&gate, &done, &mine, &target, &far, &came};
    for (size_t i = 0; i < sizeof all / sizeof all[0]; i++)
        *all[i] = must_ct(SHMEM_TEAM_WORLD);
    CHECK_EQ(shoal_am_register(COMP_AM, on_comp, NULL), SHOAL_OK);
    exchange();
    for (int k = 0; k < KINDS; k++)
        stale(box[k]);
    stale_signal();
    bad_arguments();
    misaligned();
    shmem_barrier_all();
    for (int k = 0; k < KINDS; k++)
        CHECK_EQ(shoal_region_deregister(region[k]), SHOAL_OK);
    free(box[2]);
    return check_done();
}
