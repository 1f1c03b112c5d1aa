// SPDX-License-Identifier: BSD-3-Clause
// Operators on elements of a type known at run time: which there are, what they give, and that the
// atomic ones are.
#include "unit.h"

#include "compiler.h"
#include "elements.h"
#include "slice.h"

#include <complex.h>
#include <pthread.h>
#include <sched.h>
#include <stdatomic.h>
#include <sys/mman.h>

// Operators by their number, on unsigned values: sums and products wrap.
static uint64_t apply(int op, uint64_t old, uint64_t a)
{
    switch (op) {
    case SHOAL_SUM: return old + a;
    case SHOAL_PROD: return old * a;
    case SHOAL_AND: return old & a;
    case SHOAL_OR: return old | a;
    case SHOAL_XOR: return old ^ a;
    case SHOAL_SET: return a;
    default: return old;
    }
}

static bool is_order(int op)
{
    return op == SHOAL_MIN || op == SHOAL_MAX;
}

static bool is_bitwise(int op)
{
    return op == SHOAL_AND || op == SHOAL_OR || op == SHOAL_XOR;
}

static uint64_t random_state = 99;

// ---- One slice of memory that nobody touches, for the lock of wide elements.
static int make_world(void **state)
{
    (void)state;
    world.slices = mmap(NULL, sizeof(struct slice), PROT_READ | PROT_WRITE,
                        MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    world.ctl = world.slices;
    world.npes = 1;
    world.slice_size = sizeof(struct slice);
    wait_configure(2, 1, -1);
    return world.slices == MAP_FAILED ? -1 : 0;
}

static int forget_world(void **state)
{
    (void)state;
    munmap(world.slices, sizeof(struct slice));
    memset(&world, 0, sizeof world);
    return 0;
}

// ---- Tables
static void test_sizes(void **state)
{
    (void)state;
#define X(name, type) assert_int_equal(element_size(SHOAL_##name), sizeof(type));
    SHOAL_TYPES(X)
#undef X
    assert_int_equal(element_size(SHOAL_TYPE_COUNT), 0);
    assert_int_equal(element_size((shoal_type_t)-1), 0);
}

static void test_which(void **state)
{
    (void)state;
    for (int type = -1; type <= SHOAL_TYPE_COUNT; type++)
        for (int op = -1; op <= SHOAL_OP_COUNT; op++) {
            bool exists = type >= 0 && type < SHOAL_TYPE_COUNT && op >= 0 && op < SHOAL_OP_COUNT;
            bool is_complex = type == SHOAL_COMPLEX_FLOAT || type == SHOAL_COMPLEX_DOUBLE;
            bool defined = exists && !(is_order(op) && is_complex) &&
                           !(is_bitwise(op) && type > SHOAL_UINT64);
            assert_int_equal(element_can((shoal_op_t)op, (shoal_type_t)type), defined);
            assert_int_equal(element_can_reduce(op, type), defined && op <= SHOAL_XOR);
        }
    assert_true(element_can_reduce(SHOAL_OP_USER, 0)); // may become known
    assert_true(element_can_reduce(SHOAL_OP_USER + 63, 0));
    assert_false(element_can_reduce(SHOAL_OP_USER + 64, 0));
    assert_false(element_can_reduce(SHOAL_OP_COUNT + 1, 0));
}

// ---- Integers: atomic, accumulate and reduce give the same. A neighbour on each side stays.
#define INTEGER_TYPES(X) \
    X(INT8, int8_t)      \
    X(INT16, int16_t)    \
    X(INT32, int32_t)    \
    X(INT64, int64_t)    \
    X(UINT8, uint8_t)    \
    X(UINT16, uint16_t)  \
    X(UINT32, uint32_t)  \
    X(UINT64, uint64_t)
#define CHECK_INTEGER(name, type)                                                \
    static void check_##name(int op, type old, type a)                           \
    {                                                                            \
        _Alignas(8) type x[3] = {11, old, 22}, y[3] = {11, old, 22};             \
        type was = 33, want = (type)apply(op, (uint64_t)old, (uint64_t)a);       \
        if (is_order(op))                                                        \
            want = (op == SHOAL_MIN) == (a < old) ? a : old;                     \
        element_atomic(&x[1], (shoal_op_t)op, SHOAL_##name, &a, NULL, &was);     \
        assert_true(was == old && x[0] == 11 && x[1] == want && x[2] == 22);     \
        element_accumulate(&y[1], &a, 1, (shoal_op_t)op, SHOAL_##name, NULL, 0); \
        assert_true(y[0] == 11 && y[1] == want && y[2] == 22);                   \
        if (op > SHOAL_XOR)                                                      \
            return;                                                              \
        y[1] = old;                                                              \
        assert_int_equal(element_reduce(&y[1], &a, 1, op, SHOAL_##name), 0);     \
        assert_true(y[0] == 11 && y[1] == want && y[2] == 22);                   \
    }
INTEGER_TYPES(CHECK_INTEGER)

static uint64_t any_integer(void)
{
    static const uint64_t ends[] = {0,         1,          UINT64_MAX, INT64_MAX,  INT64_MIN,
                                    INT32_MAX, 0x80000000, INT16_MAX,  0x8000,     UINT16_MAX,
                                    0x7f,      0x80,       0xff,       UINT32_MAX, 2};
    uint64_t word = next_random(&random_state);
    return word % 4 ? next_random(&random_state) : ends[word / 4 % ARRAY_LEN(ends)];
}

static void test_integers(void **state)
{
    (void)state;
    for (int op = SHOAL_SUM; op <= SHOAL_NOOP; op++)
        for (int i = 0; i < 500; i++) {
            uint64_t a = any_integer(), b = any_integer();
#define X(name, type) check_##name(op, (type)a, (type)b);
            INTEGER_TYPES(X)
#undef X
        }
}

#define REAL_TYPES(X) \
    X(FLOAT, float)   \
    X(DOUBLE, double) \
    X(LONG_DOUBLE, long double)
#define CHECK_REAL(name, type)                                                \
    static void check_##name(int op, type old, type a)                        \
    {                                                                         \
        type x = old, want = op == SHOAL_SUM    ? old + a                     \
                             : op == SHOAL_PROD ? old * a                     \
                             : op == SHOAL_MIN  ? (a < old ? a : old)         \
                             : op == SHOAL_MAX  ? (a > old ? a : old)         \
                             : op == SHOAL_SET  ? a                           \
                                                : old;                         \
        element_accumulate(&x, &a, 1, (shoal_op_t)op, SHOAL_##name, NULL, 0); \
        assert_true(x == want);                                               \
        if (sizeof x <= 8) {                                                  \
            type was;                                                         \
            x = old;                                                          \
            element_atomic(&x, (shoal_op_t)op, SHOAL_##name, &a, NULL, &was); \
            assert_true(x == want && was == old);                             \
        }                                                                     \
        x = old;                                                              \
        if (element_can_reduce(op, SHOAL_##name)) {                           \
            assert_int_equal(element_reduce(&x, &a, 1, op, SHOAL_##name), 0); \
            assert_true(x == want);                                           \
        }                                                                     \
    }
REAL_TYPES(CHECK_REAL)

#define CHECK_COMPLEX(name, type)                                                           \
    static void check_##name(type old, type a)                                              \
    {                                                                                       \
        type x = old;                                                                       \
        element_accumulate(&x, &a, 1, SHOAL_SUM, SHOAL_##name, NULL, 0);                    \
        assert_true(x == old + a);                                                          \
        x = old;                                                                            \
        element_accumulate(&x, &a, 1, SHOAL_PROD, SHOAL_##name, NULL, 0);                   \
        assert_true(x == old * a);                                                          \
        assert_int_equal(element_reduce(&x, &a, 1, SHOAL_SUM, SHOAL_##name), 0);            \
        assert_true(x == old * a + a);                                                      \
        element_accumulate(&x, &a, 1, SHOAL_SET, SHOAL_##name, NULL, 0);                    \
        assert_true(x == a);                                                                \
        assert_int_equal(element_reduce(&x, &a, 1, SHOAL_MAX, SHOAL_##name), SHOAL_EINVAL); \
        assert_true(x == a);                                                                \
    }
CHECK_COMPLEX(COMPLEX_FLOAT, shoal_complexf)
CHECK_COMPLEX(COMPLEX_DOUBLE, shoal_complexd)

// Small whole numbers, whose sums and products are exact.
static void test_reals(void **state)
{
    (void)state;
    for (int i = 0; i < 200; i++) {
        double a = (double)(next_random(&random_state) % 201) - 100;
        double b = (double)(next_random(&random_state) % 201) - 100;
        for (int op = SHOAL_SUM; op <= SHOAL_NOOP; op++) {
            if (is_bitwise(op))
                continue;
            check_FLOAT(op, (float)a, (float)b);
            check_DOUBLE(op, a, b);
            check_LONG_DOUBLE(op, a, b);
        }
        check_COMPLEX_FLOAT((float)a + (float)b * I, (float)b - 3 * I);
        check_COMPLEX_DOUBLE(a + b * I, b - 3 * I);
    }
}

// Many elements, a scale, and what lies around.
#define CHECK_SCALE(name, type)                                               \
    {                                                                         \
        type x[12], y[10], scale = 3;                                         \
        for (int i = 0; i < 12; i++)                                          \
            x[i] = (type)i;                                                   \
        for (int i = 0; i < 10; i++)                                          \
            y[i] = (type)(2 * i);                                             \
        element_accumulate(x + 1, y, 10, SHOAL_SUM, SHOAL_##name, &scale, 0); \
        assert_true(x[0] == (type)0 && x[11] == (type)11);                    \
        for (int i = 0; i < 10; i++)                                          \
            assert_true(x[1 + i] == (type)(i + 1 + 6 * i));                   \
        element_accumulate(x, y, 0, SHOAL_SET, SHOAL_##name, NULL, 0);        \
        assert_true(x[0] == (type)0);                                         \
    }

static void test_scale(void **state)
{
    (void)state;
    SHOAL_TYPES(CHECK_SCALE)
    assert_int_equal(slice_of(0)->accumulate_lock, 0);
}

// Compares bits: -0.0 is not 0.0, and a NaN is itself.
static void test_compare_swap(void **state)
{
    double x = -0.0, zero = 0, minus_zero = -0.0, nan = strtod("nan", NULL), one = 1, was;
    int32_t n = 5, five = 5, six = 6, seven = 7, old;
    (void)state;
    element_atomic(&n, SHOAL_CSWAP, SHOAL_INT32, &six, &five, &old);
    assert_true(n == 6 && old == 5);
    element_atomic(&n, SHOAL_CSWAP, SHOAL_INT32, &seven, &five, &old);
    assert_true(n == 6 && old == 6);
    element_atomic(&n, SHOAL_CSWAP, SHOAL_INT32, &seven, &six, NULL);
    assert_true(n == 7);
    element_atomic(&n, SHOAL_NOOP, SHOAL_INT32, NULL, NULL, &old);
    assert_true(n == 7 && old == 7);
    element_atomic(&x, SHOAL_CSWAP, SHOAL_DOUBLE, &one, &zero, &was);
    assert_memory_equal(&x, &minus_zero, sizeof x);
    element_atomic(&x, SHOAL_CSWAP, SHOAL_DOUBLE, &nan, &minus_zero, &was);
    assert_memory_equal(&x, &nan, sizeof x);
    element_atomic(&x, SHOAL_SUM, SHOAL_DOUBLE, &one, NULL, &was); // ends, though x != x
    element_atomic(&x, SHOAL_SET, SHOAL_DOUBLE, &nan, NULL, NULL);
    element_atomic(&x, SHOAL_CSWAP, SHOAL_DOUBLE, &one, &nan, &was);
    assert_true(x == 1);
}

// ---- Threads: no update is lost, of words or of wide elements.
enum { THREADS = 4, TIMES = 1000000 };
static atomic_int ready; // threads: they start together
static int32_t sum32;
static uint64_t sum64;
static double sum_double;
static uint16_t halves[2]; // of one word
static long double sum_wide;

static void *add(void *arg)
{
    int32_t one32 = 1;
    uint64_t one64 = 1;
    double one = 1;
    uint16_t half[2] = {1, 2};
    long double wide = 1;
    atomic_fetch_add(&ready, 1);
    while (atomic_load(&ready) < THREADS)
        sched_yield();
    for (int i = 0; i < TIMES; i++) {
        element_atomic(&sum32, SHOAL_SUM, SHOAL_INT32, &one32, NULL, NULL);
        element_atomic(&sum64, SHOAL_SUM, SHOAL_UINT64, &one64, NULL, NULL);
        element_atomic(&sum_double, SHOAL_SUM, SHOAL_DOUBLE, &one, NULL, NULL);
        element_accumulate(halves, half, 2, SHOAL_SUM, SHOAL_UINT16, NULL, 0);
        element_accumulate(&sum_wide, &wide, 1, SHOAL_SUM, SHOAL_LONG_DOUBLE, NULL, 0);
    }
    return arg;
}

static void test_threads(void **state)
{
    pthread_t thread[THREADS];
    (void)state;
    for (int i = 0; i < THREADS; i++)
        assert_int_equal(pthread_create(&thread[i], NULL, add, NULL), 0);
    for (int i = 0; i < THREADS; i++)
        pthread_join(thread[i], NULL);
    assert_int_equal(sum32, THREADS * TIMES);
    assert_int_equal(sum64, THREADS * TIMES);
    assert_true(sum_double == THREADS * TIMES);
    assert_int_equal(halves[0], (uint16_t)(THREADS * TIMES));
    assert_int_equal(halves[1], (uint16_t)(2 * THREADS * TIMES));
    assert_true(sum_wide == THREADS * TIMES);
    assert_int_equal(slice_of(0)->accumulate_lock, 0);
}

// ---- Operators of the user
static void twice_plus(void *acc, const void *in, size_t n, void *user)
{
    for (size_t i = 0; i < n; i++)
        ((int *)acc)[i] = 2 * ((const int *)in)[i] + ((int *)acc)[i] + *(int *)user;
}

static void test_user(void **state)
{
    int acc[] = {1, 2}, in[] = {10, 20}, plus = 100;
    (void)state;
    assert_int_equal(element_register(-1, twice_plus, NULL, 4), SHOAL_EINVAL);
    assert_int_equal(element_register(64, twice_plus, NULL, 4), SHOAL_EINVAL);
    assert_int_equal(element_register(5, NULL, NULL, 4), SHOAL_EINVAL);
    assert_int_equal(element_register(5, twice_plus, NULL, 0), SHOAL_EINVAL);
    assert_int_equal(element_user_size(SHOAL_OP_USER + 5), 0);
    assert_int_equal(element_reduce(acc, in, 2, SHOAL_OP_USER + 5, 0), SHOAL_EINVAL);
    assert_int_equal(element_register(5, twice_plus, &plus, 4), SHOAL_OK);
    assert_int_equal(element_user_size(SHOAL_OP_USER + 5), 4);
    assert_int_equal(element_user_size(SHOAL_OP_USER + 6), 0);
    assert_int_equal(element_user_size(SHOAL_SUM), 0);
    assert_int_equal(element_reduce(acc, in, 2, SHOAL_OP_USER + 5, 0), SHOAL_OK);
    assert_true(acc[0] == 121 && acc[1] == 142);
    assert_int_equal(element_reduce(acc, in, 2, SHOAL_OP_USER + 64, 0), SHOAL_EINVAL);
    assert_int_equal(element_reduce(acc, in, 2, SHOAL_SET, SHOAL_INT32), SHOAL_EINVAL);
    assert_true(acc[0] == 121 && acc[1] == 142);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_sizes),    cmocka_unit_test(test_which),
        cmocka_unit_test(test_integers), cmocka_unit_test(test_reals),
        cmocka_unit_test(test_scale),    cmocka_unit_test(test_compare_swap),
        cmocka_unit_test(test_threads),  cmocka_unit_test(test_user),
    };
    return cmocka_run_group_tests(tests, make_world, forget_world);
}
