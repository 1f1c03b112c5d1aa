// SPDX-License-Identifier: BSD-3-Clause
// wait_until and test on arrays: all, any and some, with one value and with a vector of values,
// every type and comparison, with and without status arrays, empty sets; first with values that
// stay, compared with a model, then with values that other PEs deliver.
#include "../check.h"
#include "types.h"

enum { N = 40 };
enum { WAIT_ALL, WAIT_ANY, WAIT_SOME, TEST_ALL, TEST_ANY, TEST_SOME, KINDS };
static const char *const kind_names[] = {"wait_until_all", "wait_until_any", "wait_until_some",
                                         "test_all",       "test_any",       "test_some"};

// One signature for all: values has n elements, of which the forms without a vector use the first.
typedef size_t many_fn(void *ivars, size_t n, size_t *indices, const int *status, int cmp,
                       const void *values);
typedef struct {
    const char *name;
    size_t size;
    bool is_signed;
    void (*store)(void *, size_t, int64_t);
    void (*send)(void *, size_t, int64_t, int);
    many_fn *call[KINDS][2];
} many_row;

#define WRAP(N, ID, CALL)                                                                  \
    static size_t ID##_##N(void *a, size_t n, size_t *indices, const int *status, int cmp, \
                           const void *values)                                             \
    {                                                                                      \
        (void)indices;                                                                     \
        CALL;                                                                              \
    }
#define X(T, N)                                                                                    \
    static void store_##N(void *a, size_t i, int64_t v)                                            \
    {                                                                                              \
        ((T *)a)[i] = (T)v;                                                                        \
    }                                                                                              \
    static void send_##N(void *a, size_t i, int64_t v, int pe)                                     \
    {                                                                                              \
        shmem_##N##_atomic_set((T *)a + i, (T)v, pe);                                              \
    }                                                                                              \
    WRAP(N, wall, shmem_##N##_wait_until_all(a, n, status, cmp, *(const T *)values); return 1)     \
    WRAP(N, wallv, shmem_##N##_wait_until_all_vector(a, n, status, cmp, values); return 1)         \
    WRAP(N, wany, return shmem_##N##_wait_until_any(a, n, status, cmp, *(const T *)values))        \
    WRAP(N, wanyv, return shmem_##N##_wait_until_any_vector(a, n, status, cmp, values))            \
    WRAP(N, wsome,                                                                                 \
         return shmem_##N##_wait_until_some(a, n, indices, status, cmp, *(const T *)values))       \
    WRAP(N, wsomev, return shmem_##N##_wait_until_some_vector(a, n, indices, status, cmp, values)) \
    WRAP(N, tall, return (size_t)shmem_##N##_test_all(a, n, status, cmp, *(const T *)values))      \
    WRAP(N, tallv, return (size_t)shmem_##N##_test_all_vector(a, n, status, cmp, values))          \
    WRAP(N, tany, return shmem_##N##_test_any(a, n, status, cmp, *(const T *)values))              \
    WRAP(N, tanyv, return shmem_##N##_test_any_vector(a, n, status, cmp, values))                  \
    WRAP(N, tsome, return shmem_##N##_test_some(a, n, indices, status, cmp, *(const T *)values))   \
    WRAP(N, tsomev, return shmem_##N##_test_some_vector(a, n, indices, status, cmp, values))
EACH_AMO(X)
#undef X

static const many_row rows[] = {
#define X(T, N)                \
    {#N,                       \
     sizeof(T),                \
     (T)-1 < 1,                \
     store_##N,                \
     send_##N,                 \
     {{wall_##N, wallv_##N},   \
      {wany_##N, wanyv_##N},   \
      {wsome_##N, wsomev_##N}, \
      {tall_##N, tallv_##N},   \
      {tany_##N, tanyv_##N},   \
      {tsome_##N, tsomev_##N}}},
    EACH_AMO(X)
#undef X
};
enum { ROWS = sizeof rows / sizeof rows[0] };

static void *ivars;                // symmetric, room for N + npes elements of 8 bytes
static const many_row *row;        // what is tested now
static const char *kind_name = ""; // for messages
static int vector;

#define EXPECT(condition)                                                                         \
    do {                                                                                          \
        if (!(condition) && check_count())                                                        \
            fprintf(stderr, "%s:%d: PE %d: shmem_%s_%s%s: expected %s\n", __FILE__, __LINE__, me, \
                    row->name, kind_name, vector ? "_vector" : "", #condition);                   \
    } while (0)

static bool compare(int64_t a, int cmp, int64_t b)
{
    if (!row->is_signed) { // there -1 is the largest value
        a = a < 0 ? INT64_MAX : a;
        b = b < 0 ? INT64_MAX : b;
    }
    return cmp == SHMEM_CMP_EQ   ? a == b
           : cmp == SHMEM_CMP_NE ? a != b
           : cmp == SHMEM_CMP_GT ? a > b
           : cmp == SHMEM_CMP_GE ? a >= b
           : cmp == SHMEM_CMP_LT ? a < b
                                 : a <= b;
}

// What a case looks like: which elements hold, which are looked at.
typedef struct {
    size_t n, looked_at, count;
    bool holds[N];
    const int *status;
    int cmp;
    uint64_t values[N]; // n elements of the row's type
} many_case;

static void make_case(many_case *c, uint64_t *seed, int status_kind)
{
    static const int cmps[] = {SHMEM_CMP_EQ, SHMEM_CMP_NE, SHMEM_CMP_GT,
                               SHMEM_CMP_GE, SHMEM_CMP_LT, SHMEM_CMP_LE};
    static const size_t sizes[] = {0, 1, 2, 7, N};
    static int status[N];
    int64_t first = 0;
    c->n = sizes[rnd_below(seed, 5)];
    c->cmp = cmps[rnd_below(seed, 6)];
    c->status = status_kind == 0 ? NULL : status;
    c->looked_at = c->count = 0;
    for (size_t i = 0; i < c->n; i++) {
        int64_t have = (int64_t)rnd_below(seed, 5) - 1, value = (int64_t)rnd_below(seed, 5) - 1;
        first = i == 0 ? value : first;
        status[i] = status_kind == 1 ? (int)rnd_below(seed, 2) * -5 : 1;
        row->store(ivars, i, have);
        row->store(c->values, i, value);
        bool looked = c->status == NULL || status[i] == 0;
        c->holds[i] = looked && compare(have, c->cmp, vector ? value : first);
        c->looked_at += looked;
        c->count += c->holds[i];
    }
}

static size_t call(int kind, const many_case *c, size_t *indices)
{
    kind_name = kind_names[kind];
    return row->call[kind][vector](ivars, c->n, indices, c->status, c->cmp, c->values);
}

static void expect_some(const many_case *c, int kind)
{
    size_t indices[N + 1];
    bool seen[N] = {false};
    for (size_t i = 0; i <= N; i++)
        indices[i] = 777;
    size_t got = call(kind, c, indices);
    EXPECT(got == c->count);
    for (size_t i = 0; i < got && got <= c->n; i++) {
        EXPECT(indices[i] < c->n && c->holds[indices[i]] && !seen[indices[i]]);
        if (indices[i] < c->n)
            seen[indices[i]] = true;
    }
    EXPECT(indices[c->n] == 777);
}

// Every element that holds comes up sooner or later.
static void expect_any(const many_case *c, int kind)
{
    bool seen[N] = {false};
    size_t missing = c->count;
    for (int i = 0; i < 5000 && missing > 0; i++) {
        size_t got = call(kind, c, NULL);
        EXPECT(got < c->n && c->holds[got]);
        if (got >= c->n)
            return;
        missing -= !seen[got];
        seen[got] = true;
    }
    EXPECT(missing == 0);
}

static void check_case(const many_case *c)
{
    bool all = c->count == c->looked_at;
    EXPECT(call(TEST_ALL, c, NULL) == all);
    if (all)
        call(WAIT_ALL, c, NULL);
    if (c->count == 0)
        EXPECT(call(TEST_ANY, c, NULL) == SIZE_MAX);
    else
        expect_any(c, TEST_ANY);
    expect_some(c, TEST_SOME);
    if (c->count > 0)
        expect_any(c, WAIT_ANY);
    else if (c->looked_at == 0)
        EXPECT(call(WAIT_ANY, c, NULL) == SIZE_MAX);
    if (c->count > 0 || c->looked_at == 0)
        expect_some(c, WAIT_SOME);
}

// Element pe of everybody's array is delivered by PE pe; the waits collect them.
static void delivered(int kind)
{
    size_t n = (size_t)npes, left = n, *indices = must_alloc(n * sizeof(size_t));
    int *status = must_alloc(n * sizeof(int));
    uint64_t *values = must_alloc(n * sizeof(uint64_t));
    kind_name = kind_names[kind];
    memset(ivars, 0, n * row->size);
    memset(status, 0, n * sizeof(int));
    for (size_t i = 0; i < n; i++)
        row->store(values, i, vector ? (int64_t)i + 1 : 1);
    shmem_barrier_all();
    for (int k = 0; k < npes; k++)
        row->send(ivars, (size_t)me, me + 1, (me + k) % npes);
    int cmp = vector ? SHMEM_CMP_EQ : SHMEM_CMP_GE;
    many_fn *wait = row->call[kind][vector];
    if (kind == WAIT_ALL) {
        wait(ivars, n, NULL, NULL, cmp, values);
        left = 0;
    }
    while (left > 0) {
        size_t got = wait(ivars, n, indices, status, cmp, values);
        if (kind == WAIT_ANY) {
            indices[0] = got;
            got = 1;
        }
        EXPECT(got >= 1 && got <= left && indices[0] < n && !status[indices[0]]);
        if (got < 1 || got > left)
            break;
        for (size_t i = 0; i < got; i++)
            status[indices[i]] = 1;
        left -= got;
    }
    for (size_t i = 0; i < n; i++) {
        row->store(values, i, (int64_t)i + 1);
        EXPECT(memcmp((char *)ivars + i * row->size, (char *)values + i * row->size, row->size) ==
               0);
    }
    shmem_barrier_all();
    free(indices);
    free(status);
    free(values);
}

int main(void)
{
    check_start();
    ivars = must_shmalloc(sizeof(uint64_t) * (size_t)(N + npes));
    uint64_t seed = 1;
    for (int i = 0; i < ROWS; i++) {
        row = &rows[i];
        for (vector = 0; vector < 2; vector++) {
            for (int k = 0; k < 60; k++) {
                many_case c;
                make_case(&c, &seed, k % 3);
                check_case(&c);
            }
            delivered(WAIT_ALL);
            delivered(WAIT_ANY);
            delivered(WAIT_SOME);
        }
    }
    shmem_free(ivars);
    return check_done();
}
