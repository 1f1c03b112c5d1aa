// SPDX-License-Identifier: BSD-3-Clause
// Every operator on every type it is defined for, against plain C, element by element.
#include "unit.h"

#include "compiler.h"
#include "reduce_ops.h"
#include "shoal_types.h"

#include <complex.h>
#include <limits.h>

enum { MOST = 4200, SHIFTS = 4, GUARD = 4, LARGEST = 16 };

static const size_t lengths[] = {0,  1,  2,  3,  4,  5,   7,   8,   9,   15,   16,   17,   31,
                                 32, 33, 63, 64, 65, 100, 127, 255, 257, 1000, 1023, 4096, 4099};

// Elements of one kind at a time, aligned as malloc aligns; `fresh` is what acc and in start from.
#define BYTES ((MOST + 2 * GUARD) * LARGEST)
static _Alignas(64) unsigned char fresh[2][BYTES], acc[BYTES], in[BYTES];

static uint64_t random_state = 4711;

// Any bits, and often the values at the ends of the type.
static uint64_t any_integer(void)
{
    static const uint64_t ends[] = {0,         1,          UINT64_MAX, INT64_MAX,
                                    INT64_MIN, INT32_MAX,  0x80000000, UINT32_MAX,
                                    INT16_MAX, UINT16_MAX, 0x8000,     0x80,
                                    0x7f,      0xff,       2,          UINT64_MAX - 1};
    uint64_t word = next_random(&random_state);
    return word % 4 ? next_random(&random_state) : ends[word / 4 % ARRAY_LEN(ends)];
}

// Small whole numbers: sums and products are exact, so nothing depends on how they are computed.
static double any_real(void)
{
    return (double)(next_random(&random_state) % 2001) - 1000;
}

static double complex any_complex(void)
{
    double re = any_real();
    return re + any_real() * I;
}

// expect(x, a, b): is x what a op b gives?
typedef int expect_fn(const void *x, const void *a, const void *b);

// n elements at acc[first], in[second]: right, and nothing else is touched.
static void check_run(const struct reduce_op *op, expect_fn *expect, size_t n, size_t first,
                      size_t second)
{
    size_t size = op->size, at = (GUARD + first) * size, all = (n + 2 * GUARD + SHIFTS) * size;
    unsigned char *y = in + (GUARD + second) * size;
    memcpy(acc, fresh[0], all);
    memcpy(in, fresh[1], all);
    op->fn(acc + at, y, n);
    for (size_t i = 0; i < n; i++)
        if (!expect(acc + at + i * size, fresh[0] + at + i * size, y + i * size))
            fail_msg("element %zu of %zu, size %zu, offsets %zu %zu", i, n, size, first, second);
    assert_memory_equal(acc, fresh[0], at);
    assert_memory_equal(acc + at + n * size, fresh[0] + at + n * size, all - at - n * size);
    assert_memory_equal(in, fresh[1], all);
}

// The same array twice: x op x.
static void check_alias(const struct reduce_op *op, expect_fn *expect)
{
    const unsigned char *old = fresh[0];
    memcpy(acc, old, sizeof acc);
    op->fn(acc, acc, 1000);
    for (size_t i = 0; i < 1000; i++)
        assert_true(expect(acc + i * op->size, old + i * op->size, old + i * op->size));
}

static void check_op(const struct reduce_op *op, size_t size, expect_fn *expect,
                     void (*element)(void *))
{
    assert_int_equal(op->size, size);
    for (size_t i = 0; i < BYTES / LARGEST; i++) {
        element(fresh[0] + i * size);
        element(fresh[1] + i * size);
    }
    for (size_t l = 0; l < ARRAY_LEN(lengths); l++)
        for (size_t shift = 0; shift < SHIFTS * SHIFTS; shift++)
            check_run(op, expect, lengths[l], shift % SHIFTS, shift / SHIFTS);
    check_alias(op, expect);
}

// ---- What plain C says. Sums and products of integers are those of unsigned long long, cut to the
// type: they wrap.
#define EXPECT(op, kind, type, value)                                            \
    static int expect_##op##_##kind(const void *x, const void *p, const void *q) \
    {                                                                            \
        type a, b, got, want;                                                    \
        memcpy(&a, p, sizeof a);                                                 \
        memcpy(&b, q, sizeof b);                                                 \
        memcpy(&got, x, sizeof got);                                             \
        want = (type)(value);                                                    \
        return got == want;                                                      \
    }
#define WIDE(x) ((unsigned long long)(x))
#define EXPECT_INT(kind, type)                  \
    EXPECT(sum, kind, type, WIDE(a) + WIDE(b))  \
    EXPECT(prod, kind, type, WIDE(a) * WIDE(b)) \
    EXPECT(and, kind, type, WIDE(a) & WIDE(b))  \
    EXPECT(or, kind, type, WIDE(a) | WIDE(b))   \
    EXPECT(xor, kind, type, WIDE(a) ^ WIDE(b))
#define EXPECT_ARITH(kind, type) EXPECT(sum, kind, type, a + b) EXPECT(prod, kind, type, a *b)
#define EXPECT_ORDER(kind, type) \
    EXPECT(max, kind, type, a > b ? a : b) EXPECT(min, kind, type, a < b ? a : b)
REDUCE_INTS(EXPECT_INT)
REDUCE_REALS(EXPECT_ARITH)
REDUCE_COMPLEX(EXPECT_ARITH)
REDUCE_INTS(EXPECT_ORDER)
REDUCE_REALS(EXPECT_ORDER)

#define ELEMENT(kind, type, value)       \
    static void element_##kind(void *at) \
    {                                    \
        type x = (type)(value);          \
        memset(at, 0, sizeof x);         \
        memcpy(at, &x, sizeof x);        \
    }
#define ELEMENT_INT(kind, type) ELEMENT(kind, type, any_integer())
#define ELEMENT_REAL(kind, type) ELEMENT(kind, type, any_real())
#define ELEMENT_COMPLEX(kind, type) ELEMENT(kind, type, any_complex())
REDUCE_INTS(ELEMENT_INT)
REDUCE_REALS(ELEMENT_REAL)
REDUCE_COMPLEX(ELEMENT_COMPLEX)

#define CHECK(op, kind, type) \
    check_op(&reduce_##op##_##kind, sizeof(type), expect_##op##_##kind, element_##kind);
#define CHECK_ARITH(kind, type) CHECK(sum, kind, type) CHECK(prod, kind, type)
#define CHECK_ORDER(kind, type) CHECK(max, kind, type) CHECK(min, kind, type)
#define CHECK_BITS(kind, type) CHECK(and, kind, type) CHECK(or, kind, type) CHECK(xor, kind, type)

    static void test_arithmetic(void **state)
{
    (void)state;
    REDUCE_INTS(CHECK_ARITH) REDUCE_REALS(CHECK_ARITH) REDUCE_COMPLEX(CHECK_ARITH)
}

static void test_order(void **state)
{
    (void)state;
    REDUCE_INTS(CHECK_ORDER) REDUCE_REALS(CHECK_ORDER)
}

static void test_bits(void **state)
{
    (void)state;
    REDUCE_INTS(CHECK_BITS)
}

static void test_wrap(void **state)
{
    int x[] = {INT_MAX, INT_MIN, INT_MAX, 46341}, one[] = {1, -1, INT_MAX, 46341};
    long long w[] = {LLONG_MAX, LLONG_MIN}, lone[] = {1, -1};
    signed char c[] = {127, -128}, cone[] = {1, -1};
    unsigned short h[] = {65535}, hone[] = {65535};
    (void)state;
    reduce_sum_int.fn(x, one, 3);
    assert_int_equal(x[0], INT_MIN);
    assert_int_equal(x[1], INT_MAX);
    assert_int_equal(x[2], -2);
    reduce_prod_int.fn(x + 3, one + 3, 1);
    assert_int_equal(x[3], -2147479015);
    reduce_sum_longlong.fn(w, lone, 2);
    assert_true(w[0] == LLONG_MIN && w[1] == LLONG_MAX);
    reduce_sum_schar.fn(c, cone, 2);
    assert_true(c[0] == -128 && c[1] == 127);
    reduce_prod_ushort.fn(h, hone, 1); // in int it would be undefined
    assert_int_equal(h[0], 1);
}

// REDUCE_OP finds an operator by any name of a type: it has the type's size and sign.
#define FIND_SUM(TYPE, NAME)                                        \
    {                                                               \
        TYPE a = 40, b = 2;                                         \
        assert_int_equal(REDUCE_OP(sum, TYPE)->size, sizeof(TYPE)); \
        REDUCE_OP(sum, TYPE)->fn(&a, &b, 1);                        \
        assert_true(a == 42);                                       \
        REDUCE_OP(prod, TYPE)->fn(&a, &b, 1);                       \
        assert_true(a == 84);                                       \
    }
#define FIND_ORDER(TYPE, NAME)                                       \
    {                                                                \
        TYPE a = (TYPE)-1, b = (TYPE)1, c = a;                       \
        REDUCE_OP(max, TYPE)->fn(&a, &b, 1);                         \
        assert_true(a == ((TYPE)-1 < (TYPE)1 ? (TYPE)1 : (TYPE)-1)); \
        REDUCE_OP(min, TYPE)->fn(&c, &b, 1);                         \
        assert_true(c == ((TYPE)-1 < (TYPE)1 ? (TYPE)-1 : (TYPE)1)); \
    }
#define FIND_BITS(TYPE, NAME)                              \
    {                                                      \
        TYPE a[] = {12, 12, 12}, b = 10;                   \
        REDUCE_OP(and, TYPE)->fn(&a[0], &b, 1);            \
        REDUCE_OP(or, TYPE)->fn(&a[1], &b, 1);             \
        REDUCE_OP(xor, TYPE)->fn(&a[2], &b, 1);            \
        assert_true(a[0] == 8 && a[1] == 14 && a[2] == 6); \
    }
typedef double complex shoal_complexd;
typedef float complex shoal_complexf;

static void test_names(void **state)
{
    (void)state;
    SHOAL_REDUCE_ARITH_TYPES(FIND_SUM)
    SHOAL_REDUCE_ORDER_TYPES(FIND_ORDER)
    SHOAL_REDUCE_BITWISE_TYPES(FIND_BITS)
    SHOAL_TO_ALL_ARITH_TYPES(FIND_SUM)
    SHOAL_TO_ALL_ORDER_TYPES(FIND_ORDER)
    SHOAL_TO_ALL_BITWISE_TYPES(FIND_BITS)
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_arithmetic), cmocka_unit_test(test_order),
        cmocka_unit_test(test_bits),       cmocka_unit_test(test_wrap),
        cmocka_unit_test(test_names),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
