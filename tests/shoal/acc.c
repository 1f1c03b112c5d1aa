// SPDX-License-Identifier: BSD-3-Clause
// Accumulate: every operator on every type, with and without scale, strided, against a loop here;
// and sums of all PEs at once, which must be exact.
#include "../check.h"

#include <complex.h>
#include <shoal.h>

// X(name, C type, bytes that count)
#define INTEGERS(X)        \
    X(INT8, int8_t, 1)     \
    X(INT16, int16_t, 2)   \
    X(INT32, int32_t, 4)   \
    X(INT64, int64_t, 8)   \
    X(UINT8, uint8_t, 1)   \
    X(UINT16, uint16_t, 2) \
    X(UINT32, uint32_t, 4) \
    X(UINT64, uint64_t, 8)
#define REALS(X)         \
    X(FLOAT, float, 4)   \
    X(DOUBLE, double, 8) \
    X(LONG_DOUBLE, long double, 10)
#define COMPLEXES(X)                    \
    X(COMPLEX_FLOAT, shoal_complexf, 8) \
    X(COMPLEX_DOUBLE, shoal_complexd, 16)
#define ALL(X) INTEGERS(X) REALS(X) COMPLEXES(X)

enum { KINDS = 3, N = 200, WIDEST = 16, SIZE = N * WIDEST, ROUNDS = 20, BLOCK = 24 };

static struct {
    shoal_key_t key[KINDS];
} names, theirs;
static unsigned char *memory[KINDS];
static _Alignas(64) unsigned char static_memory[SIZE];
static uint64_t seed;
static const char *const op_names[] = {"SUM", "PROD", "MIN", "MAX", "AND",
                                       "OR",  "XOR",  "SET", "NOOP"};

static shoal_rptr_t place(int kind, size_t offset)
{
    shoal_rptr_t r = {0};
    CHECK_EQ(shoal_rptr(&theirs.key[kind], offset, &r), SHOAL_OK);
    return r;
}

// Integer sums and products wrap; the others stay among numbers that are exact.
#define MODEL_INTEGER(name, T, bytes)                            \
    static T random_##name(void)                                 \
    {                                                            \
        return (T)rnd(&seed);                                    \
    }                                                            \
    static T times_##name(T a, T b)                              \
    {                                                            \
        return (T)((uint64_t)a * (uint64_t)b);                   \
    }                                                            \
    static T combine_##name(int op, T old, T a)                  \
    {                                                            \
        switch (op) {                                            \
        case SHOAL_SUM: return (T)((uint64_t)old + (uint64_t)a); \
        case SHOAL_PROD: return times_##name(old, a);            \
        case SHOAL_MIN: return a < old ? a : old;                \
        case SHOAL_MAX: return a > old ? a : old;                \
        case SHOAL_AND: return (T)(old & a);                     \
        case SHOAL_OR: return (T)(old | a);                      \
        case SHOAL_XOR: return (T)(old ^ a);                     \
        default: return op == SHOAL_SET ? a : old;               \
        }                                                        \
    }
#define MODEL_REAL(name, T, bytes)                        \
    static T random_##name(void)                          \
    {                                                     \
        return (T)((int)rnd_below(&seed, 200) - 100) / 4; \
    }                                                     \
    static T times_##name(T a, T b)                       \
    {                                                     \
        return a * b;                                     \
    }                                                     \
    static T combine_##name(int op, T old, T a)           \
    {                                                     \
        switch (op) {                                     \
        case SHOAL_SUM: return old + a;                   \
        case SHOAL_PROD: return old * a;                  \
        case SHOAL_MIN: return a < old ? a : old;         \
        case SHOAL_MAX: return a > old ? a : old;         \
        default: return op == SHOAL_SET ? a : old;        \
        }                                                 \
    }
#define MODEL_COMPLEX(name, T, bytes)                          \
    static T random_##name(void)                               \
    {                                                          \
        T real = (T)((int)rnd_below(&seed, 20) - 10);          \
        return real + (T)((int)rnd_below(&seed, 20) - 10) * I; \
    }                                                          \
    static T times_##name(T a, T b)                            \
    {                                                          \
        return a * b;                                          \
    }                                                          \
    static T combine_##name(int op, T old, T a)                \
    {                                                          \
        switch (op) {                                          \
        case SHOAL_SUM: return old + a;                        \
        case SHOAL_PROD: return old * a;                       \
        default: return op == SHOAL_SET ? a : old;             \
        }                                                      \
    }
INTEGERS(MODEL_INTEGER)
REALS(MODEL_REAL)
COMPLEXES(MODEL_COMPLEX)

static bool has_op(int op, int type)
{
    if (op == SHOAL_AND || op == SHOAL_OR || op == SHOAL_XOR)
        return type <= SHOAL_UINT64;
    return type < SHOAL_COMPLEX_FLOAT || (op != SHOAL_MIN && op != SHOAL_MAX);
}

// Blocks of elements, up to two levels of them, with strides of either sign. What is written does
// not overlap; in elements.
struct shape {
    int levels;
    size_t count[3];
    ptrdiff_t to[2], from[2];
    size_t to_start, from_start;
};

static void direction(ptrdiff_t *stride, size_t *start, size_t n)
{
    if (rnd_below(&seed, 2) == 0 || n == 0)
        return;
    *start += (size_t)*stride * (n - 1);
    *stride = -*stride;
}

static struct shape random_shape(void)
{
    struct shape s = {.levels = (int)rnd_below(&seed, 3)};
    s.count[0] = s.levels ? rnd_below(&seed, 8) : rnd_below(&seed, N + 1);
    s.count[1] = rnd_below(&seed, 5);
    s.count[2] = rnd_below(&seed, 5);
    ptrdiff_t inner = (ptrdiff_t)(s.count[0] + rnd_below(&seed, 2));
    s.to[0] = inner;
    s.to[1] = inner * 4 + (ptrdiff_t)rnd_below(&seed, 3);
    s.from[0] = (ptrdiff_t)rnd_below(&seed, 9); // may overlap
    s.from[1] = (ptrdiff_t)rnd_below(&seed, 40);
    for (int i = 0; i < s.levels; i++) {
        direction(&s.to[i], &s.to_start, s.count[i + 1]);
        direction(&s.from[i], &s.from_start, s.count[i + 1]);
    }
    return s;
}

#define MODEL_BLOCK(name, T, bytes)                                                               \
    static void model_##name(const struct shape *s, int op, T *to, const T *from, const T *scale) \
    {                                                                                             \
        size_t rows = s->levels > 0 ? s->count[1] : 1, planes = s->levels > 1 ? s->count[2] : 1;  \
        for (size_t p = 0; p < planes; p++)                                                       \
            for (size_t r = 0; r < rows; r++) {                                                   \
                T *out = to + (ptrdiff_t)p * s->to[1] + (ptrdiff_t)r * s->to[0];                  \
                const T *in = from + (ptrdiff_t)p * s->from[1] + (ptrdiff_t)r * s->from[0];       \
                for (size_t i = 0; i < s->count[0]; i++)                                          \
                    out[i] = combine_##name(op, out[i],                                           \
                                            scale ? times_##name(*scale, in[i]) : in[i]);         \
            }                                                                                     \
    }
ALL(MODEL_BLOCK)

static int call(const struct shape *s, int kind, int op, int type, size_t size, const void *from,
                const void *scale, shoal_event_t *event)
{
    const size_t count[] = {s->count[0] * size, s->count[1], s->count[2]};
    ptrdiff_t to_stride[2], from_stride[2];
    for (int i = 0; i < 2; i++) {
        to_stride[i] = s->to[i] * (ptrdiff_t)size;
        from_stride[i] = s->from[i] * (ptrdiff_t)size;
    }
    return shoal_acc(place(kind, s->to_start * size), to_stride,
                     (const char *)from + s->from_start * size, from_stride, count, s->levels,
                     (shoal_op_t)op, (shoal_type_t)type, scale, NULL, event);
}

// One accumulate on the target's N elements; their value is then compared, all of them.
#define ONE(name, T, bytes)                                                                      \
    static void one_##name(int kind, int op, bool scaled)                                        \
    {                                                                                            \
        T from[2 * N], want[N], got[N], scale = random_##name();                                 \
        struct shape s = random_shape();                                                         \
        shoal_event_t event = {0}, *list[] = {&event};                                           \
        for (int i = 0; i < 2 * N; i++)                                                          \
            from[i] = random_##name();                                                           \
        for (int i = 0; i < N; i++)                                                              \
            want[i] = random_##name();                                                           \
        CHECK_EQ(shoal_put(place(kind, 0), want, sizeof want, NULL, NULL), SHOAL_OK);            \
        model_##name(&s, op, want + s.to_start, from + s.from_start, scaled ? &scale : NULL);    \
        CHECK_EQ(                                                                                \
            call(&s, kind, op, SHOAL_##name, sizeof(T), from, scaled ? &scale : NULL, &event),   \
            SHOAL_OK);                                                                           \
        CHECK_EQ(shoal_wait(1, list, 1, NULL, NULL), SHOAL_OK);                                  \
        CHECK_EQ(shoal_get(got, place(kind, 0), sizeof got, NULL, NULL), SHOAL_OK);              \
        for (int i = 0; i < N; i++)                                                              \
            if (!CHECK_MEM(&got[i], &want[i], bytes, "an element")) {                            \
                fprintf(stderr, "    element %d after %s of %s to kind %d%s\n", i, op_names[op], \
                        #name, kind, scaled ? ", scaled" : "");                                  \
                break;                                                                           \
            }                                                                                    \
    }
ALL(ONE)

static void semantics(int kind)
{
    for (int shift = 0; shift < npes && shift < 3; shift++) {
        shmem_getmem(&theirs, &names, sizeof theirs, (me + shift) % npes);
        for (int op = SHOAL_SUM; op <= SHOAL_NOOP; op++) {
#define X(name, T, bytes)                                   \
    for (int i = 0; i < 2 && has_op(op, SHOAL_##name); i++) \
        one_##name(kind, op, i % 2 && op == SHOAL_SUM);
            ALL(X)
#undef X
        }
        shmem_barrier_all();
    }
}

// All PEs add to the same elements of the last PE, in pieces, scaled by two.
#define RACE(name, T, bytes)                                                                      \
    static void race_##name(int kind)                                                             \
    {                                                                                             \
        T *words = (T *)(void *)memory[kind], ones[BLOCK];                                        \
        const T two = 2;                                                                          \
        const size_t count[] = {sizeof(T) * BLOCK / 3, 3};                                        \
        const ptrdiff_t up[] = {sizeof(T) * BLOCK / 3}, down[] = {-up[0]};                        \
        memset(words, 0, SIZE);                                                                   \
        for (int i = 0; i < BLOCK; i++)                                                           \
            ones[i] = 1;                                                                          \
        shmem_barrier_all();                                                                      \
        for (int i = 0; i < ROUNDS; i++) {                                                        \
            CHECK_EQ(shoal_acc(place(kind, WIDEST), up, ones, up, count, 1, SHOAL_SUM,            \
                               SHOAL_##name, NULL, NULL, NULL),                                   \
                     SHOAL_OK);                                                                   \
            CHECK_EQ(shoal_acc(place(kind, WIDEST + (size_t)up[0] * 2), down, ones, up, count, 1, \
                               SHOAL_SUM, SHOAL_##name, &two, NULL, NULL),                        \
                     SHOAL_OK);                                                                   \
            if (sizeof(T) <= 8) /* accumulates and atomics exclude each other */                  \
                CHECK_EQ(shoal_atomic(place(kind, WIDEST), SHOAL_SUM, SHOAL_##name, &two, NULL,   \
                                      NULL, NULL, NULL),                                          \
                         SHOAL_OK);                                                               \
        }                                                                                         \
        CHECK_EQ(shoal_quiet(-1), SHOAL_OK);                                                      \
        shmem_barrier_all();                                                                      \
        T *first = (T *)(void *)(memory[kind] + WIDEST);                                          \
        for (int i = 0; i < BLOCK && me == npes - 1; i++)                                         \
            CHECK(first[i] == (T)((i || sizeof(T) > 8 ? 3 : 5) * ROUNDS * npes));                 \
        if (me == npes - 1)                                                                       \
            CHECK(first[BLOCK] == 0);                                                             \
        shmem_barrier_all();                                                                      \
    }
ALL(RACE)

int main(void)
{
    shoal_region_t region;
    check_start();
    seed = (uint64_t)me;
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
    shmem_getmem(&theirs, &names, sizeof theirs, npes - 1);
    for (int k = 0; k < KINDS; k++) {
#define X(name, T, bytes) race_##name(k);
        ALL(X)
#undef X
    }
    free(memory[2]);
    return check_done();
}
