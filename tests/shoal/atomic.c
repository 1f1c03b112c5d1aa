// SPDX-License-Identifier: BSD-3-Clause
// Atomics of shoal.h: what each operator does to each type, to memory that is shared and private,
// and that nothing is lost when all PEs work on one word, through shmem.h as well. Over a network each
// call takes long, and there are fewer of them.
#include "../check.h"

#include <complex.h>
#include <math.h>
#include <shoal.h>

// X(name, C type)
#define INTEGERS(X)     \
    X(INT8, int8_t)     \
    X(INT16, int16_t)   \
    X(INT32, int32_t)   \
    X(INT64, int64_t)   \
    X(UINT8, uint8_t)   \
    X(UINT16, uint16_t) \
    X(UINT32, uint32_t) \
    X(UINT64, uint64_t)
#define REALS(X)    \
    X(FLOAT, float) \
    X(DOUBLE, double)
#define COMPLEXES(X) X(COMPLEX_FLOAT, shoal_complexf)
#define ALL(X) INTEGERS(X) REALS(X) COMPLEXES(X)

enum { KINDS = 3, SIZE = 256 };
static int step = 1, race = 300, race_private = 40;

static struct {
    shoal_key_t key[KINDS];
} names, theirs;
static unsigned char *memory[KINDS];
static _Alignas(64) unsigned char static_memory[SIZE];
static shoal_comp_t no_comp;
static shoal_event_t event;

static shoal_rptr_t place(int kind, size_t offset)
{
    shoal_rptr_t r = {0};
    CHECK_EQ(shoal_rptr(&theirs.key[kind], offset, &r), SHOAL_OK);
    return r;
}

static const char *const op_names[] = {"SUM", "PROD", "MIN", "MAX",  "AND",
                                       "OR",  "XOR",  "SET", "NOOP", "CSWAP"};

// One atomic on the word at offset 64, with guards on both sides. want is its new value.
static void one(int kind, shoal_op_t op, shoal_type_t type, size_t size, const void *old,
                const void *a, const void *b, const void *want, bool by_bits)
{
    unsigned char fetched[16], after[24], guard[8];
    shoal_rptr_t r = place(kind, 64);
    bool fetches = op % 2 || op == SHOAL_CSWAP;
    memset(fetched, 0x5a, sizeof fetched);
    memset(guard, 0xa5, sizeof guard);
    CHECK_EQ(shoal_put(shoal_rptr_add(r, -8), guard, 8, NULL, NULL), SHOAL_OK);
    CHECK_EQ(shoal_put(r, old, size, NULL, NULL), SHOAL_OK);
    CHECK_EQ(shoal_put(shoal_rptr_add(r, (ptrdiff_t)size), guard, 8, NULL, NULL), SHOAL_OK);
    CHECK_EQ(shoal_atomic(r, op, type, a, b, fetches ? fetched : NULL,
                          op == SHOAL_MAX ? &no_comp : NULL, op == SHOAL_SET ? &event : NULL),
             SHOAL_OK);
    if (op == SHOAL_SET)
        CHECK_EQ(shoal_wait(1, (shoal_event_t *[]){&event}, 1, NULL, NULL), SHOAL_OK);
    CHECK_EQ(shoal_quiet(-1), SHOAL_OK);
    CHECK_EQ(shoal_get(after, shoal_rptr_add(r, -8), size + 16, NULL, NULL), SHOAL_OK);
    bool good = CHECK_MEM(after, guard, 8, "before the word");
    good &= CHECK_MEM(after + 8 + size, guard, 8, "behind the word");
    if (by_bits)
        good &= CHECK_MEM(after + 8, want, size, "the new value");
    if (fetches)
        good &= CHECK_MEM(fetched, old, size, "the old value");
    CHECK_EACH(i, 16 - size, fetched[size + i], 0x5a);
    if (!good)
        fprintf(stderr, "    in %s on type %d of kind %d\n", op_names[op], (int)type, kind);
}

// Integer sums and products wrap.
#define COMBINE_ANY        \
    if (op == SHOAL_SET)   \
        return a;          \
    if (op == SHOAL_CSWAP) \
        return memcmp(&old, &b, sizeof old) ? old : a;
#define COMBINE_ORDERED           \
    if (op == SHOAL_MIN)          \
        return a < old ? a : old; \
    if (op == SHOAL_MAX)          \
        return a > old ? a : old;
#define COMBINE_FIELD     \
    if (op == SHOAL_SUM)  \
        return old + a;   \
    if (op == SHOAL_PROD) \
        return old * a;
#define COMBINE_INTEGER(name, T)                                                                  \
    static T combine_##name(shoal_op_t op, T old, T a, T b)                                       \
    {                                                                                             \
        COMBINE_ANY COMBINE_ORDERED if (op == SHOAL_SUM) return (T)((uint64_t)old + (uint64_t)a); \
        if (op == SHOAL_PROD)                                                                     \
            return (T)((uint64_t)old * (uint64_t)a);                                              \
        if (op == SHOAL_AND)                                                                      \
            return (T)(old & a);                                                                  \
        if (op == SHOAL_OR)                                                                       \
            return (T)(old | a);                                                                  \
        return op == SHOAL_XOR ? (T)(old ^ a) : old;                                              \
    }
#define COMBINE_REAL(name, T)                                 \
    static T combine_##name(shoal_op_t op, T old, T a, T b)   \
    {                                                         \
        COMBINE_ANY COMBINE_ORDERED COMBINE_FIELD return old; \
    }
#define COMBINE_COMPLEX(name, T)                            \
    static T combine_##name(shoal_op_t op, T old, T a, T b) \
    {                                                       \
        COMBINE_ANY COMBINE_FIELD return old;               \
    }
INTEGERS(COMBINE_INTEGER)
REALS(COMBINE_REAL)
COMPLEXES(COMBINE_COMPLEX)

// The edges of an integer type, and values that are exact in the others.
#define EDGES_INTEGER(name, T)                                                       \
    static const T values_##name[] = {0,                                             \
                                      1,                                             \
                                      2,                                             \
                                      7,                                             \
                                      (T)-1,                                         \
                                      (T)-77,                                        \
                                      (T)100,                                        \
                                      (T)((uint64_t)1 << (8 * sizeof(T) - 1)),       \
                                      (T)(((uint64_t)1 << (8 * sizeof(T) - 1)) - 1), \
                                      (T)UINT64_C(0x123456789abcdef1)};
#define EDGES_REAL(name, T) \
    static const T values_##name[] = {0, 1, -1, 0.5, -2.25, 1024, -77, 3e30f, INFINITY};
#define EDGES_COMPLEX(name, T) static const T values_##name[] = {0, 1, -1, 2 + 3 * I, -5 * I, 0.5};
INTEGERS(EDGES_INTEGER)
REALS(EDGES_REAL)
COMPLEXES(EDGES_COMPLEX)

static bool has_op(shoal_op_t op, shoal_type_t type)
{
    if (op == SHOAL_AND || op == SHOAL_OR || op == SHOAL_XOR)
        return type <= SHOAL_UINT64;
    return type < SHOAL_COMPLEX_FLOAT || (op != SHOAL_MIN && op != SHOAL_MAX);
}

#define VALUES(name, T)                                                                           \
    static void values_of_##name(int kind)                                                        \
    {                                                                                             \
        enum { N = sizeof values_##name / sizeof values_##name[0] };                              \
        for (int op = 0; op < SHOAL_OP_COUNT; op++)                                               \
            for (int i = 0; i < N * N && has_op((shoal_op_t)op, SHOAL_##name); i += step) {       \
                T old = values_##name[i / N], a = values_##name[i % N];                           \
                T b = i % 3 ? old : values_##name[(i + 1) % N];                                   \
                T want = combine_##name((shoal_op_t)op, old, a, b);                               \
                bool is_nan = want != want;                                                       \
                one(kind, (shoal_op_t)op, SHOAL_##name, sizeof old, &old,                         \
                    op == SHOAL_NOOP ? NULL : &a, op == SHOAL_CSWAP ? &b : NULL, &want, !is_nan); \
            }                                                                                     \
    }
ALL(VALUES)

// Compare-and-swap and set look at bits: a NaN is equal to itself, and -0.0 is not 0.0.
static void float_bits(int kind)
{
    const uint32_t f[] = {0, 0x80000000u, 0x7fc00001u, 0xffc12345u, 0x7f800000u, 1};
    const uint64_t d[] = {0,
                          UINT64_C(1) << 63,
                          UINT64_C(0x7ff8000000000001),
                          UINT64_C(0xfff8123456789abc),
                          UINT64_C(0x7ff0000000000000),
                          1};
    for (int i = 0; i < 36; i += step) {
        const uint32_t f_other = f[i % 6], *f_want = i / 6 == i % 6 ? &f[5] : &f[i / 6];
        const uint64_t d_other = d[i % 6], *d_want = i / 6 == i % 6 ? &d[5] : &d[i / 6];
        one(kind, SHOAL_CSWAP, SHOAL_FLOAT, 4, &f[i / 6], &f[5], &f_other, f_want, true);
        one(kind, SHOAL_CSWAP, SHOAL_DOUBLE, 8, &d[i / 6], &d[5], &d_other, d_want, true);
        one(kind, SHOAL_CSWAP, SHOAL_COMPLEX_FLOAT, 8, &d[i / 6], &d[5], &d_other, d_want, true);
        one(kind, SHOAL_SET, SHOAL_FLOAT, 4, &f[i / 6], &f_other, NULL, &f_other, true);
        one(kind, SHOAL_SET, SHOAL_DOUBLE, 8, &d[i / 6], &d_other, NULL, &d_other, true);
        one(kind, SHOAL_NOOP, SHOAL_DOUBLE, 8, &d[i / 6], NULL, NULL, &d[i / 6], true);
        one(kind, SHOAL_NOOP, SHOAL_FLOAT, 4, &f[i / 6], NULL, NULL, &f[i / 6], true);
    }
}

// A word that does not lie on a multiple of its size is refused and stays as it is.
static void misaligned(int kind)
{
    unsigned char before[32], after[32];
    uint64_t a[2] = {0}, b[2] = {1}, old = 99;
    fill(before, 32, 5);
    CHECK_EQ(shoal_put(place(kind, 64), before, 32, NULL, NULL), SHOAL_OK);
#define X(name, T)                                                                             \
    for (size_t shift = 1; shift < sizeof(T) && SHOAL_##name != SHOAL_COMPLEX_FLOAT; shift++)  \
        for (int op = 0; op < SHOAL_OP_COUNT; op++)                                            \
            CHECK_EQ(shoal_atomic(place(kind, 64 + shift), (shoal_op_t)op, SHOAL_##name, a, b, \
                                  &old, NULL, NULL),                                           \
                     SHOAL_EINVAL);
    ALL(X)
#undef X
    CHECK_EQ(old, 99);
    CHECK_EQ(shoal_get(after, place(kind, 64), 32, NULL, NULL), SHOAL_OK);
    CHECK_MEM(after, before, 32, "after misaligned atomics");
}

// Each PE alone with one after the other.
static void semantics(int kind)
{
    for (int shift = 0; shift < (step > 1 && npes > 2 ? 2 : npes); shift++) {
        shmem_getmem(&theirs, &names, sizeof theirs, (me + shift) % npes);
#define X(name, T) \
    if (shift < 2) \
        values_of_##name(kind);
        ALL(X)
#undef X
        float_bits(kind);
        misaligned(kind);
        shmem_barrier_all();
    }
}

// All PEs at once on PE 0's words: sums, compare-and-swap loops, bits, extremes.
#define RACE_INTEGER(name, T)                                                                    \
    static void race_bits_##name(int kind)                                                       \
    {                                                                                            \
        const T bit = (T)((T)1 << me % (int)(8 * sizeof(T) - 1)), others = (T)~bit;              \
        T old = 0;                                                                               \
        shoal_rptr_t r = place(kind, 64);                                                        \
        for (int i = 0; i < race_private; i++) {                                                 \
            CHECK_EQ(shoal_atomic(r, SHOAL_OR, SHOAL_##name, &bit, NULL, &old, NULL, NULL), 0);  \
            CHECK_EQ(old &bit, 0);                                                               \
            CHECK_EQ(shoal_atomic(r, SHOAL_XOR, SHOAL_##name, &bit, NULL, &old, NULL, NULL), 0); \
            CHECK_EQ(old &bit, bit);                                                             \
            CHECK_EQ(shoal_atomic(r, SHOAL_XOR, SHOAL_##name, &bit, NULL, &old, NULL, NULL), 0); \
            CHECK_EQ(shoal_atomic(r, SHOAL_AND, SHOAL_##name, &others, NULL, &old, NULL, NULL),  \
                     0);                                                                         \
            CHECK_EQ(old &bit, bit);                                                             \
        }                                                                                        \
    }
INTEGERS(RACE_INTEGER)
#define NO_BITS(name, T)                   \
    static void race_bits_##name(int kind) \
    {                                      \
        (void)kind;                        \
    }
REALS(NO_BITS)
COMPLEXES(NO_BITS)

#define RACE_SUM(name, T)                                                                          \
    static void race_##name(int kind, int rounds)                                                  \
    {                                                                                              \
        const T one = 1, two = 2, zero = 0;                                                        \
        T *words = (T *)(void *)memory[kind], old, next;                                           \
        memset(words, 0, SIZE);                                                                    \
        shmem_barrier_all();                                                                       \
        shoal_rptr_t r = place(kind, sizeof(T));                                                   \
        for (int i = 0; i < rounds; i++) {                                                         \
            shoal_event_t *list[] = {&event};                                                      \
            CHECK_EQ(shoal_atomic(r, SHOAL_SUM, SHOAL_##name, &one, NULL, NULL, NULL, NULL), 0);   \
            CHECK_EQ(shoal_atomic(r, SHOAL_SUM, SHOAL_##name, &two, NULL, &old, NULL, &event), 0); \
            CHECK_EQ(shoal_wait(1, list, 1, NULL, NULL), 0);                                       \
            CHECK_EQ(shoal_atomic(r, SHOAL_NOOP, SHOAL_##name, NULL, NULL, &old, NULL, NULL), 0);  \
            for (T seen = zero;; seen = old) {                                                     \
                next = (T)(seen + two);                                                            \
                CHECK_EQ(                                                                          \
                    shoal_atomic(r, SHOAL_CSWAP, SHOAL_##name, &next, &seen, &old, NULL, NULL),    \
                    0);                                                                            \
                if (memcmp(&old, &seen, sizeof old) == 0)                                          \
                    break;                                                                         \
            }                                                                                      \
        }                                                                                          \
        race_bits_##name(kind);                                                                    \
        shmem_barrier_all();                                                                       \
        if (me == 0) {                                                                             \
            CHECK(words[1] == (T)(5 * rounds * npes));                                             \
            CHECK(words[0] == zero && words[8] == zero);                                           \
        }                                                                                          \
        shmem_barrier_all();                                                                       \
    }
ALL(RACE_SUM)

// Everybody's largest and smallest; the product of everybody's -1.
static void race_extremes(int kind)
{
    int64_t *words = (int64_t *)(void *)memory[kind];
    memset(words, 0, SIZE);
    words[2] = 1;
    shmem_barrier_all();
    for (int64_t i = 0; i < race_private; i++) {
        int64_t high = i * npes + me, low = -high, minus = -1;
        CHECK_EQ(shoal_atomic(place(kind, 0), SHOAL_MAX, SHOAL_INT64, &high, 0, 0, 0, 0), 0);
        CHECK_EQ(shoal_atomic(place(kind, 8), SHOAL_MIN, SHOAL_INT64, &low, 0, 0, 0, 0), 0);
        CHECK_EQ(shoal_atomic(place(kind, 16), SHOAL_PROD, SHOAL_INT64, &minus, 0, 0, 0, 0), 0);
    }
    shmem_barrier_all();
    if (me == 0) {
        CHECK_EQ(words[0], race_private * npes - 1);
        CHECK_EQ(words[1], -(race_private * npes - 1));
        CHECK_EQ(words[2], race_private * npes % 2 ? -1 : 1);
    }
    shmem_barrier_all();
}

// Both interfaces on the same words.
static void mixed(void)
{
    static int32_t i32;
    static uint64_t u64;
    static double d;
    shoal_rptr_t r32, r64, rd;
    const int32_t three = 3;
    const uint64_t five = 5, mine = UINT64_C(1) << (40 + me);
    CHECK_EQ(shoal_rptr_symmetric(&i32, 0, &r32), SHOAL_OK);
    CHECK_EQ(shoal_rptr_symmetric(&u64, 0, &r64), SHOAL_OK);
    CHECK_EQ(shoal_rptr_symmetric(&d, 0, &rd), SHOAL_OK);
    for (int i = 0; i < race; i++) {
        double add = 1, was;
        uint64_t old;
        shmem_int32_atomic_inc(&i32, 0);
        CHECK_EQ(shoal_atomic(r32, SHOAL_SUM, SHOAL_INT32, &three, NULL, NULL, NULL, NULL), 0);
        shmem_uint64_atomic_add(&u64, 2, 0);
        CHECK_EQ(shoal_atomic(r64, SHOAL_SUM, SHOAL_UINT64, &five, NULL, &old, NULL, NULL), 0);
        if (npes <= 20) {
            CHECK_EQ(shoal_atomic(r64, SHOAL_OR, SHOAL_UINT64, &mine, NULL, &old, NULL, NULL), 0);
            CHECK_EQ(old & mine, 0);
            CHECK_EQ(shmem_uint64_atomic_fetch_xor(&u64, mine, 0) & mine, mine);
        }
        // What is taken out is put back: nothing of the sum is lost.
        was = shmem_double_atomic_swap(&d, 0.0, 0);
        was += 1;
        CHECK_EQ(shoal_atomic(rd, SHOAL_SUM, SHOAL_DOUBLE, &was, NULL, &add, NULL, NULL), 0);
    }
    shmem_barrier_all();
    if (me == 0) {
        CHECK_EQ(i32, 4 * race * npes);
        CHECK_EQ(u64, 7 * (uint64_t)(race * npes));
        CHECK_EQ(d, race * npes);
    }
}

int main(void)
{
    shoal_region_t region;
    check_start();
    if (shmem_team_n_pes(SHMEM_TEAM_SHARED) < npes) {
        step = 29; // a prime: not always the same values
        race = race_private = 3;
    }
    memory[0] = must_shmalloc(SIZE);
    memory[1] = static_memory;
    memory[2] = aligned_alloc(64, SIZE);
    for (int k = 0; k < KINDS; k++) {
        memset(memory[k], 0, SIZE);
        CHECK_EQ(shoal_region_register(memory[k], SIZE, &region), SHOAL_OK);
        CHECK_EQ(shoal_region_key(region, &names.key[k]), SHOAL_OK);
    }
    shmem_barrier_all();
    for (int k = 0; k < KINDS; k++)
        semantics(k);
    shmem_getmem(&theirs, &names, sizeof theirs, 0);
    for (int k = 0; k < KINDS; k++) {
        int rounds = k == KINDS - 1 ? race_private : race;
#define X(name, T) race_##name(k, rounds);
        ALL(X)
#undef X
        race_extremes(k);
    }
    mixed();
    free(memory[2]);
    return check_done();
}
