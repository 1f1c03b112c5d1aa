// SPDX-License-Identifier: BSD-3-Clause
// NODES: 1
// A transfer that is refused has not happened: no byte has moved, no signal, counter or message has
// come. Every kind of transfer with every kind of error, to shared and to private memory.
#include "../check.h"

#include <shoal.h>

enum { SIZE = 256, AM = 9 };

static struct {
    shoal_key_t key[2], stale;
    shoal_rptr_t word;
} names, theirs;
static uint64_t words[4]; // signals
static unsigned char *memory[2];
static _Alignas(16) unsigned char local[2 * SIZE], got[2 * SIZE];
static shoal_ct_t target_ct, own_ct, freed_ct;
static int messages;

static void handler(const shoal_am_t *am)
{
    (void)am;
    messages++;
}

// Every call; the first bytes they name are good even where the last are not.
static void each_call(shoal_rptr_t r, size_t n, const shoal_comp_t *comp, int error)
{
    const ptrdiff_t stride[] = {(ptrdiff_t)n / 2};
    const size_t halves[] = {n / 2, 2};
    shoal_event_t event = {.status = 55};
    uint64_t one = 1, old = 7;
    shoal_part_t part[] = {{r, local, 8}, {shoal_rptr_add(r, 8), local + 8, n - 8}};
    shoal_part_t into[] = {{r, got, 8}, {shoal_rptr_add(r, 8), got + 8, n - 8}};
    int status[] = {
        shoal_put(r, local, n, comp, &event),
        shoal_get(got, r, n, comp, &event),
        shoal_puts(r, stride, local, stride, halves, 1, comp, &event),
        shoal_gets(got, stride, r, stride, halves, 1, comp, &event),
        shoal_putv(part, 2, comp, &event),
        shoal_getv(into, 2, comp, &event),
        shoal_acc(r, stride, local, stride, halves, 1, SHOAL_SUM, SHOAL_INT8, NULL, comp, &event),
        n == SIZE ? shoal_atomic(r, SHOAL_SUM, SHOAL_UINT64, &one, NULL, &old, comp, &event)
                  : error,
    };
    for (size_t i = 0; i < sizeof status / sizeof status[0]; i++)
        if (!CHECK_EQ(status[i], error))
            fprintf(stderr, "    in call %zu of each_call\n", i);
    CHECK_EQ(old, 7);
}

static void nothing_happened(const char *what)
{
    shoal_ct_value_t own = {9, 9}, target = {9, 9};
    unsigned before = check_failures;
    shmem_barrier_all();
    shoal_progress();
    CHECK_EQ(shoal_ct_get(own_ct, &own), SHOAL_OK);
    CHECK_EQ(shoal_ct_get(target_ct, &target), SHOAL_OK);
    CHECK(own.success == 0 && own.failure == 0);
    CHECK(target.success == 0 && target.failure == 0);
    CHECK_EQ(messages, 0);
    CHECK_EACH(i, 4, words[i], 0);
    CHECK_EACH(i, SIZE, memory[0][i], 0);
    CHECK_EACH(i, SIZE, memory[1][i], 0);
    CHECK_EACH(i, 2 * SIZE, got[i], 0);
    if (check_failures != before)
        fprintf(stderr, "    after %s\n", what);
    shmem_barrier_all();
    memset(memory[0], 0, SIZE);
    memset(memory[1], 0, SIZE);
    memset(got, 0, sizeof got);
    memset(words, 0, sizeof words);
    messages = 0;
    shoal_ct_set(me, own_ct, (shoal_ct_value_t){0, 0});
    shoal_ct_set(me, target_ct, (shoal_ct_value_t){0, 0});
    shmem_barrier_all();
}

static shoal_comp_t all_good(void)
{
    return (shoal_comp_t){.initiator_ct = own_ct,
                          .target_ct = target_ct,
                          .signal = &theirs.word,
                          .signal_value = 3,
                          .signal_op = SHMEM_SIGNAL_ADD,
                          .am_id = AM};
}

// Wrong places, with everything else as it should be.
static void places(int kind, shoal_rptr_t stale)
{
    shoal_comp_t comp = all_good();
    shoal_rptr_t r;
    CHECK_EQ(shoal_rptr(&theirs.key[kind], 0, &r), SHOAL_OK);
    each_call(stale, SIZE, &comp, SHOAL_EKEY);
    nothing_happened("a stale remote pointer");
    each_call(r, SIZE + 8, &comp, SHOAL_ERANGE);
    nothing_happened("transfers whose end is out of range");
    each_call(shoal_rptr_add(r, -8), SIZE, &comp, SHOAL_ERANGE);
    nothing_happened("transfers whose start is out of range");
    r.pe = npes;
    each_call(r, SIZE, &comp, SHOAL_EKEY);
    nothing_happened("a PE that does not exist");
}

// Good places, with one part of the completion wrong.
static void completions(int kind, shoal_rptr_t stale)
{
    shoal_rptr_t r, odd = shoal_rptr_add(theirs.word, 4), far = theirs.word, elsewhere;
    shoal_comp_t comp;
    CHECK_EQ(shoal_rptr(&theirs.key[kind], 0, &r), SHOAL_OK);
    far.offset = UINT64_MAX - 7;
#define WITH(field, value, error)     \
    comp = all_good();                \
    comp.field = value;               \
    each_call(r, SIZE, &comp, error); \
    nothing_happened("completion's " #field " = " #value)
    WITH(am_id, 256, SHOAL_EINVAL);
    WITH(am_id, -1, SHOAL_EINVAL);
    WITH(signal_op, 77, SHOAL_EINVAL);
    WITH(target_ct, 1u << 30, SHOAL_EINVAL);
    WITH(initiator_ct, 1u << 30, SHOAL_EINVAL);
    WITH(initiator_ct, freed_ct, SHOAL_EINVAL);
    WITH(signal, &odd, SHOAL_EINVAL);
    WITH(signal, &stale, SHOAL_EKEY);
    WITH(signal, &far, SHOAL_ERANGE);
    if (npes > 1) { // the signal is at the target
        CHECK_EQ(shoal_rptr_symmetric(words, (right_pe() + 1) % npes, &elsewhere), SHOAL_OK);
        WITH(signal, &elsewhere, SHOAL_EINVAL);
    }
}

static void arguments(int kind)
{
    shoal_rptr_t r;
    const ptrdiff_t s[SHOAL_MAX_LEVELS + 1] = {16, 16};
    const size_t c[SHOAL_MAX_LEVELS + 2] = {8, 1, 1, 1, 1, 1, 1, 1, 1, 1}, seven[] = {7};
    uint64_t v = 1;
    CHECK_EQ(shoal_rptr(&theirs.key[kind], 0, &r), SHOAL_OK);
#define EINVAL_IS(call) CHECK_EQ(call, SHOAL_EINVAL)
    EINVAL_IS(shoal_puts(r, s, local, s, c, -1, NULL, NULL));
    EINVAL_IS(shoal_puts(r, s, local, s, c, SHOAL_MAX_LEVELS + 1, NULL, NULL));
    EINVAL_IS(shoal_puts(r, s, local, s, NULL, 1, NULL, NULL));
    EINVAL_IS(shoal_puts(r, NULL, local, s, c, 1, NULL, NULL));
    EINVAL_IS(shoal_puts(r, s, local, NULL, c, 1, NULL, NULL));
    EINVAL_IS(shoal_gets(got, s, r, s, c, SHOAL_MAX_LEVELS + 1, NULL, NULL));
    EINVAL_IS(shoal_gets(got, NULL, r, s, c, 1, NULL, NULL));
    EINVAL_IS(shoal_gets(got, s, r, s, NULL, 0, NULL, NULL));
    EINVAL_IS(shoal_putv(NULL, 1, NULL, NULL));
    EINVAL_IS(shoal_getv(NULL, 1, NULL, NULL));
#define ATOMIC(op, type, a, b) EINVAL_IS(shoal_atomic(r, op, type, a, b, NULL, NULL, NULL))
    ATOMIC(SHOAL_SUM, SHOAL_UINT64, NULL, NULL);
    ATOMIC(SHOAL_CSWAP, SHOAL_UINT64, &v, NULL);
    ATOMIC(SHOAL_SUM, SHOAL_LONG_DOUBLE, local, NULL);
    ATOMIC(SHOAL_SET, SHOAL_COMPLEX_DOUBLE, local, NULL);
    ATOMIC(SHOAL_AND, SHOAL_DOUBLE, &v, NULL);
    ATOMIC(SHOAL_MAX, SHOAL_COMPLEX_FLOAT, &v, NULL);
    ATOMIC((shoal_op_t)-1, SHOAL_UINT64, &v, &v);
    ATOMIC(SHOAL_OP_COUNT, SHOAL_UINT64, &v, &v);
    ATOMIC(SHOAL_OP_USER, SHOAL_UINT64, &v, &v);
    ATOMIC(SHOAL_SUM, SHOAL_TYPE_COUNT, &v, &v);
    ATOMIC(SHOAL_SUM, (shoal_type_t)-1, &v, &v);
#define ACC(count, levels, op, type, scale) \
    EINVAL_IS(shoal_acc(r, s, local, s, count, levels, op, type, scale, NULL, NULL))
    ACC(seven, 0, SHOAL_SUM, SHOAL_UINT64, NULL);
    ACC(c, 0, SHOAL_CSWAP, SHOAL_UINT64, NULL);
    ACC(c, 0, SHOAL_XOR, SHOAL_FLOAT, NULL);
    ACC(c, 0, SHOAL_MIN, SHOAL_COMPLEX_FLOAT, NULL);
    ACC(c, 0, SHOAL_PROD, SHOAL_UINT64, &v);
    ACC(c, 0, SHOAL_OP_USER, SHOAL_UINT64, NULL);
    ACC(c, 0, SHOAL_SUM, SHOAL_TYPE_COUNT, NULL);
    ACC(c, SHOAL_MAX_LEVELS + 1, SHOAL_SUM, SHOAL_UINT64, NULL);
    ACC(NULL, 0, SHOAL_SUM, SHOAL_UINT64, NULL);
    nothing_happened("wrong arguments");
}

// Parts at two PEs, and strides so wide that their sum is none.
static void wide(int kind)
{
    shoal_rptr_t r;
    const ptrdiff_t huge[] = {PTRDIFF_MAX / 2, PTRDIFF_MAX}, low[] = {PTRDIFF_MIN, PTRDIFF_MIN};
    const ptrdiff_t none[] = {0, 0}, down[] = {-8};
    const size_t count[] = {8, 5, 5}, many[] = {8, SIZE_MAX, SIZE_MAX};
    CHECK_EQ(shoal_rptr(&theirs.key[kind], 0, &r), SHOAL_OK);
    CHECK_EQ(shoal_puts(r, down, local, none, count, 1, NULL, NULL), SHOAL_ERANGE);
    CHECK_EQ(shoal_puts(r, huge, local, none, count, 2, NULL, NULL), SHOAL_ERANGE);
    CHECK_EQ(shoal_puts(r, low, local, none, count, 2, NULL, NULL), SHOAL_ERANGE);
    CHECK_EQ(shoal_gets(got, none, r, huge, many, 2, NULL, NULL), SHOAL_ERANGE);
    if (npes > 1) {
        shoal_part_t part[] = {{r, local, 8}, {r, local, 8}};
        CHECK_EQ(shoal_rptr_symmetric(memory[0], me, &part[1].remote), SHOAL_OK);
        CHECK_EQ(shoal_putv(part, 2, NULL, NULL), SHOAL_EINVAL);
    }
    nothing_happened("strides beyond all memory");
}

// Nothing to move to a PE that is none: an error, or nothing at all.
static void no_blocks(void)
{
    const ptrdiff_t stride[] = {8};
    const size_t count[] = {8, 0};
    const shoal_comp_t comp = {.target_ct = target_ct, .am_id = AM};
    shoal_rptr_t nowhere = theirs.word;
    nowhere.pe = 1 << 28;
    CHECK(shoal_puts(nowhere, stride, local, stride, count, 1, &comp, NULL) < 0);
    CHECK(shoal_gets(got, stride, nowhere, stride, count, 1, &comp, NULL) < 0);
    CHECK(shoal_acc(nowhere, stride, local, stride, count, 1, SHOAL_SUM, SHOAL_INT8, NULL, &comp,
                    NULL) < 0);
    nothing_happened("no blocks for a PE that does not exist");
}

int main(void)
{
    shoal_region_t region;
    shoal_rptr_t stale;
    check_start();
    memory[0] = must_shmalloc(SIZE);
    memory[1] = must_alloc(SIZE);
    memset(local, 1, sizeof local);
    CHECK_EQ(shoal_region_register(memory[0], SIZE, &region), SHOAL_OK);
    CHECK_EQ(shoal_region_key(region, &names.stale), SHOAL_OK);
    shmem_barrier_all();
    shmem_getmem(&theirs, &names, sizeof names, right_pe());
    CHECK_EQ(shoal_rptr(&theirs.stale, 0, &stale), SHOAL_OK);
    shmem_barrier_all();
    CHECK_EQ(shoal_region_deregister(region), SHOAL_OK);
    for (int k = 0; k < 2; k++) {
        memset(memory[k], 0, SIZE);
        CHECK_EQ(shoal_region_register(memory[k], SIZE, &region), SHOAL_OK);
        CHECK_EQ(shoal_region_key(region, &names.key[k]), SHOAL_OK);
    }
    CHECK_EQ(shoal_rptr_own(words, &names.word), SHOAL_OK);
    CHECK_EQ(shoal_ct_alloc(SHMEM_TEAM_WORLD, &target_ct), SHOAL_OK);
    CHECK_EQ(shoal_ct_alloc(SHMEM_TEAM_INVALID, &own_ct), SHOAL_OK);
    CHECK_EQ(shoal_ct_alloc(SHMEM_TEAM_INVALID, &freed_ct), SHOAL_OK);
    CHECK_EQ(shoal_ct_free(SHMEM_TEAM_INVALID, freed_ct), SHOAL_OK);
    CHECK_EQ(shoal_am_register(AM, handler, NULL), SHOAL_OK);
    shmem_barrier_all();
    shmem_getmem(&theirs, &names, sizeof names, right_pe());
    for (int k = 0; k < 2; k++) {
        places(k, stale);
        completions(k, stale);
        arguments(k);
        wide(k);
    }
    no_blocks();
    return check_done();
}
