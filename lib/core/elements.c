// SPDX-License-Identifier: BSD-3-Clause
// Operators on elements. One function a type, made from the table of types. See elements.h.
#include "elements.h"

#include "reduce_ops.h"
#include "slice.h"
#include "wait.h"

#include <stdatomic.h>
#include <string.h>

enum { USER_OPS = 64 };

// X(name, type) by what may be done with them.
#define INTEGERS(X)                                                                        \
    X(INT8, int8_t) X(INT16, int16_t) X(INT32, int32_t) X(INT64, int64_t) X(UINT8, uint8_t) \
    X(UINT16, uint16_t) X(UINT32, uint32_t) X(UINT64, uint64_t)
#define REALS(X) X(FLOAT, float) X(DOUBLE, double) X(LONG_DOUBLE, long double)
#define COMPLEXES(X) X(COMPLEX_FLOAT, shoal_complexf) X(COMPLEX_DOUBLE, shoal_complexd)

static const size_t sizes[] = {
#define X(name, type) [SHOAL_##name] = sizeof(type),
    SHOAL_TYPES(X)
#undef X
};
_Static_assert(ARRAY_LEN(sizes) == SHOAL_TYPE_COUNT, "a size for every type");

size_t element_size(shoal_type_t type)
{
    return (unsigned)type < SHOAL_TYPE_COUNT ? sizes[type] : 0;
}

static bool is_integer(shoal_type_t type)
{
    return type <= SHOAL_UINT64;
}

static bool is_complex(shoal_type_t type)
{
    return type >= SHOAL_COMPLEX_FLOAT;
}

bool element_can(shoal_op_t op, shoal_type_t type)
{
    if ((unsigned)type >= SHOAL_TYPE_COUNT || (unsigned)op >= SHOAL_OP_COUNT)
        return false;
    if (op == SHOAL_AND || op == SHOAL_OR || op == SHOAL_XOR)
        return is_integer(type);
    return (op != SHOAL_MIN && op != SHOAL_MAX) || !is_complex(type);
}

// ---- One element: new value from old and operand.
#define COMBINE_START(name, type)                                          \
    static inline type combine_##name(shoal_op_t op, type old, type a)     \
    {                                                                      \
        switch ((int)op) {                                                 \
        case SHOAL_SUM: return (type)(old + a);                            \
        case SHOAL_PROD: return (type)(old * a);                           \
        case SHOAL_SET: return a;
#define COMBINE_ORDER                                                      \
        case SHOAL_MIN: return a < old ? a : old;                          \
        case SHOAL_MAX: return a > old ? a : old;
#define COMBINE_BITS(type)                                                 \
        case SHOAL_AND: return (type)(old & a);                            \
        case SHOAL_OR: return (type)(old | a);                             \
        case SHOAL_XOR: return (type)(old ^ a);
#define COMBINE_END                                                        \
        default: return old;                                               \
        }                                                                  \
    }
#define COMBINE_INTEGER(name, type) \
    COMBINE_START(name, type) COMBINE_ORDER COMBINE_BITS(type) COMBINE_END
#define COMBINE_REAL(name, type) COMBINE_START(name, type) COMBINE_ORDER COMBINE_END
#define COMBINE_COMPLEX(name, type) COMBINE_START(name, type) COMBINE_END
INTEGERS(COMBINE_INTEGER) REALS(COMBINE_REAL) COMPLEXES(COMBINE_COMPLEX)

// ---- Atomic words of a size: the loop looks at bits, so that NaN and -0.0 compare as they should.
#define WORD_FUNCTIONS(bits)                                                                    \
    static uint##bits##_t word_load_##bits(void *at)                                            \
    {                                                                                           \
        return atomic_load_explicit((_Atomic uint##bits##_t *)at, memory_order_acquire);        \
    }                                                                                           \
    static bool word_change_##bits(void *at, uint##bits##_t *old, uint##bits##_t to)            \
    {                                                                                           \
        return atomic_compare_exchange_weak_explicit((_Atomic uint##bits##_t *)at, old, to,     \
                                                     memory_order_acq_rel,                      \
                                                     memory_order_acquire);                     \
    }
WORD_FUNCTIONS(8) WORD_FUNCTIONS(16) WORD_FUNCTIONS(32) WORD_FUNCTIONS(64)

#define ATOMIC_FUNCTION(name, type, bits)                                                       \
    static type atomic_##name(void *at, shoal_op_t op, type a, type b)                          \
    {                                                                                           \
        uint##bits##_t word = word_load_##bits(at), want;                                       \
        type old;                                                                               \
        do {                                                                                    \
            memcpy(&old, &word, sizeof old);                                                    \
            if (op == SHOAL_NOOP || (op == SHOAL_CSWAP && memcmp(&old, &b, sizeof old) != 0))   \
                break;                                                                          \
            type new_value = op == SHOAL_CSWAP ? a : combine_##name(op, old, a);                \
            memcpy(&want, &new_value, sizeof want);                                             \
        } while (!word_change_##bits(at, &word, want));                                         \
        return old;                                                                             \
    }
#define ATOMIC_TYPES(X)                                                                         \
    X(INT8, int8_t, 8) X(INT16, int16_t, 16) X(INT32, int32_t, 32) X(INT64, int64_t, 64)        \
    X(UINT8, uint8_t, 8) X(UINT16, uint16_t, 16) X(UINT32, uint32_t, 32) X(UINT64, uint64_t, 64) \
    X(FLOAT, float, 32) X(DOUBLE, double, 64) X(COMPLEX_FLOAT, shoal_complexf, 64)
ATOMIC_TYPES(ATOMIC_FUNCTION)

void element_atomic(void *at, shoal_op_t op, shoal_type_t type, const void *a, const void *b,
                    void *old)
{
    if (op == SHOAL_SUM && (type == SHOAL_INT64 || type == SHOAL_UINT64)) {
        uint64_t was = atomic_fetch_add_explicit((_Atomic uint64_t *)at, *(const uint64_t *)a,
                                                 memory_order_acq_rel);
        if (old)
            memcpy(old, &was, sizeof was);
        return;
    }
    switch ((int)type) {
#define CASE(name, c_type, bits)                                                                \
    case SHOAL_##name: {                                                                        \
        c_type x = 0, y = 0, was;                                                               \
        if (a)                                                                                  \
            memcpy(&x, a, sizeof x);                                                            \
        if (b)                                                                                  \
            memcpy(&y, b, sizeof y);                                                            \
        was = atomic_##name(at, op, x, y);                                                      \
        if (old)                                                                                \
            memcpy(old, &was, sizeof was);                                                      \
        break;                                                                                  \
    }
        ATOMIC_TYPES(CASE)
#undef CASE
    }
}

// ---- Accumulate, one after the other
static void lock_wide(int pe)
{
    _Atomic uint32_t *lock = &slice_of(pe)->accumulate_lock;
    struct waiter w = waiter_start(&world_ctl(pe)->bell);
    uint32_t is_free = 0;
    while (!atomic_compare_exchange_weak_explicit(lock, &is_free, 1, memory_order_acquire,
                                                  memory_order_relaxed)) {
        is_free = 0;
        waiter_step(&w);
    }
}

static void unlock_wide(int pe)
{
    atomic_store_explicit(&slice_of(pe)->accumulate_lock, 0, memory_order_release);
    peer_wake(pe);
}

// Arrays are aligned to 8 bytes at most, whatever their type.
#define ACCUMULATE(name, type, apply)                                                           \
    static void accumulate_##name(void *to, const void *from, size_t n, shoal_op_t op,          \
                                  const void *scale)                                            \
    {                                                                                           \
        char *out = to;                                                                         \
        const char *in = from;                                                                  \
        type factor = 1, a, was;                                                                \
        if (scale)                                                                              \
            memcpy(&factor, scale, sizeof factor);                                              \
        for (size_t i = 0; i < n; i++, in += sizeof a, out += sizeof a) {                       \
            memcpy(&a, in, sizeof a);                                                           \
            if (scale)                                                                          \
                a = (type)(factor * a);                                                         \
            apply(name);                                                                        \
        }                                                                                       \
    }
#define BY_WORD(name) ((void)was, atomic_##name(out, op, a, a))
#define BY_LOCK(name)                                                                           \
    memcpy(&was, out, sizeof was);                                                              \
    was = combine_##name(op, was, a);                                                           \
    memcpy(out, &was, sizeof was)
#define ACCUMULATE_WORD(name, type, bits) ACCUMULATE(name, type, BY_WORD)
ATOMIC_TYPES(ACCUMULATE_WORD)
ACCUMULATE(LONG_DOUBLE, long double, BY_LOCK)
ACCUMULATE(COMPLEX_DOUBLE, shoal_complexd, BY_LOCK)

// ---- Reduction
#define NAMED(op, name, type) [SHOAL_##name] = REDUCE_OP(op, type),
#define SUM(name, type) NAMED(sum, name, type)
#define PROD(name, type) NAMED(prod, name, type)
#define MIN(name, type) NAMED(min, name, type)
#define MAX(name, type) NAMED(max, name, type)
#define AND(name, type) NAMED(and, name, type)
#define OR(name, type) NAMED(or, name, type)
#define XOR(name, type) NAMED(xor, name, type)
static const struct reduce_op *const reductions[SHOAL_OP_COUNT][SHOAL_TYPE_COUNT] = {
    [SHOAL_SUM] = {INTEGERS(SUM) REALS(SUM) COMPLEXES(SUM)},
    [SHOAL_PROD] = {INTEGERS(PROD) REALS(PROD) COMPLEXES(PROD)},
    [SHOAL_MIN] = {INTEGERS(MIN) REALS(MIN)},
    [SHOAL_MAX] = {INTEGERS(MAX) REALS(MAX)},
    [SHOAL_AND] = {INTEGERS(AND)},
    [SHOAL_OR] = {INTEGERS(OR)},
    [SHOAL_XOR] = {INTEGERS(XOR)},
};

static struct user_op {
    shoal_op_fn *_Atomic fn;
    void *user;
    size_t size;
} user_ops[USER_OPS];

int element_register(int number, shoal_op_fn *fn, void *user, size_t size)
{
    if (number < 0 || number >= USER_OPS || !fn || !size)
        return SHOAL_EINVAL;
    user_ops[number].user = user;
    user_ops[number].size = size;
    atomic_store_explicit(&user_ops[number].fn, fn, memory_order_release);
    return SHOAL_OK;
}

static struct user_op *user_op(int op)
{
    int number = op - SHOAL_OP_USER;
    bool known = number >= 0 && number < USER_OPS &&
                 atomic_load_explicit(&user_ops[number].fn, memory_order_acquire);
    return known ? &user_ops[number] : NULL;
}

size_t element_user_size(int op)
{
    const struct user_op *u = user_op(op);
    return u ? u->size : 0;
}

bool element_can_reduce(int op, int type)
{
    if (op >= SHOAL_OP_USER)
        return op - SHOAL_OP_USER < USER_OPS;
    return op >= 0 && op < SHOAL_OP_COUNT && type >= 0 && type < SHOAL_TYPE_COUNT &&
           reductions[op][type];
}

int element_reduce(void *acc, const void *in, size_t n, int op, int type)
{
    const struct user_op *u = user_op(op);
    if (u) {
        u->fn(acc, in, n, u->user);
        return SHOAL_OK;
    }
    if (op >= SHOAL_OP_USER || !element_can_reduce(op, type))
        return SHOAL_EINVAL;
    reductions[op][type]->fn(acc, in, n);
    return SHOAL_OK;
}

// ---- Accumulate, many
static void accumulate_each(void *to, const void *from, size_t n, shoal_op_t op, shoal_type_t type,
                            const void *scale)
{
    switch ((int)type) {
#define X(name, c_type) \
    case SHOAL_##name: accumulate_##name(to, from, n, op, scale); break;
        SHOAL_TYPES(X)
#undef X
    }
}

// Many elements of up to 8 bytes: combined by the loop of reductions, some words at a time, and each word stored if
// it is what it was. What is atomic for a word is so for each of its elements, also against atomics on these: the
// processor owns the whole line.
static void accumulate_words(char *to, const char *from, size_t words, size_t size,
                             const struct reduce_op *op)
{
    enum { AT_ONCE = 32, WORD = sizeof(uint64_t) };
    uint64_t in[AT_ONCE], old[AT_ONCE], new[AT_ONCE];
    for (size_t n; words; words -= n, to += n * WORD, from += n * WORD) {
        n = words < AT_ONCE ? words : AT_ONCE;
        memcpy(in, from, n * WORD); // it may lie anyhow
        for (size_t i = 0; i < n; i++)
            new[i] = old[i] = word_load_64(to + i * WORD);
        op->fn(new, in, n * WORD / size);
        for (size_t i = 0; i < n; i++)
            while (!word_change_64(to + i * WORD, &old[i], new[i])) {
                new[i] = old[i];
                op->fn(&new[i], &in[i], WORD / size);
            }
    }
}

void element_accumulate(void *to_, const void *from_, size_t n, shoal_op_t op, shoal_type_t type,
                        const void *scale, int pe)
{
    enum { MANY = 16, WORD = sizeof(uint64_t) };
    char *to = to_;
    const char *from = from_;
    size_t size = sizes[type];
    bool is_wide = size > WORD;
    if (is_wide)
        lock_wide(pe);
    if (n >= MANY && !is_wide && !scale && element_can_reduce(op, type)) {
        size_t head = -(uintptr_t)to % WORD / size, words = (n - head) * size / WORD;
        accumulate_each(to, from, head, op, type, NULL);
        to += head * size;
        from += head * size;
        accumulate_words(to, from, words, size, reductions[op][type]);
        to += words * WORD;
        from += words * WORD;
        n -= head + words * WORD / size;
    }
    accumulate_each(to, from, n, op, type, scale);
    if (is_wide)
        unlock_wide(pe);
}
