// SPDX-License-Identifier: BSD-3-Clause
// shoal_accv against a model: parts of all lengths, over each other too, in shared and in private memory, with
// and without the old values, ended by the call, by an event, with a completion. What all PEs do at once at
// one PE adds up. What it refuses.
// PES: 1 2 4
#include "counters.h"

enum { N = 6000, PARTS = 400, ROUNDS = 6, OPERANDS = PARTS * 40 };

static void *memory[2]; // symmetric, private
static shoal_key_t key[2], theirs[2];
static shoal_rptr_t base[2];
static shoal_part_t part[PARTS];
static shoal_ct_t count_of;
static uint64_t seed = 5;
static int right;

static void finish(int status, int how, shoal_event_t *event)
{
    shoal_event_t *all[] = {event};
    CHECK_EQ(status, SHOAL_OK);
    if (how == 1)
        CHECK_EQ(shoal_wait(1, all, 1, NULL, NULL), SHOAL_OK);
    CHECK_EQ(event->status, SHOAL_OK);
    if (how == 2)
        VALUE_IS(count_of, 1, 0);
}

// One writer for each target: the right neighbour.
#define ROUND(NAME, type, SHOAL)                                                                 \
    static void round_of_##NAME(int kind, int how, shoal_op_t op, bool fetches)                  \
    {                                                                                            \
        static type model[N], in[OPERANDS], was[OPERANDS], old[OPERANDS];                        \
        shoal_event_t event = {0};                                                               \
        shoal_comp_t comp = {.initiator_ct = count_of};                                          \
        size_t at = 0;                                                                           \
        for (size_t i = 0; i < N; i++)                                                           \
            model[i] = (type)(i % 100);                                                          \
        CHECK_EQ(shoal_put(base[kind], model, sizeof model, NULL, NULL), SHOAL_OK);              \
        CHECK_EQ(shoal_quiet(right), SHOAL_OK);                                                  \
        CHECK_EQ(shoal_ct_set(me, count_of, (shoal_ct_value_t){0, 0}), SHOAL_OK);                \
        for (size_t p = 0; p < PARTS; p++) {                                                     \
            size_t n = rnd_below(&seed, p % 50 ? 4 : 1200), start = rnd_below(&seed, N - n);     \
            if (at + n > OPERANDS)                                                               \
                n = 0;                                                                           \
            part[p] = (shoal_part_t){                                                            \
                shoal_rptr_add(base[kind], (ptrdiff_t)(start * sizeof(type))), in + at,          \
                n * sizeof(type)};                                                               \
            for (size_t i = 0; i < n; i++, at++) {                                               \
                in[at] = (type)(rnd_below(&seed, 30));                                           \
                was[at] = model[start + i];                                                      \
                model[start + i] = op == SHOAL_SUM   ? (type)(was[at] + in[at])                  \
                                   : op == SHOAL_SET ? in[at]                                    \
                                   : op == SHOAL_MIN ? (was[at] < in[at] ? was[at] : in[at])     \
                                                     : was[at];                                  \
            }                                                                                    \
        }                                                                                        \
        finish(shoal_accv(part, PARTS, fetches ? old : NULL, op, SHOAL, how == 2 ? &comp : NULL, \
                          how == 1 ? &event : NULL),                                             \
               how, &event);                                                                     \
        CHECK_EQ(shoal_quiet(right), SHOAL_OK);                                                  \
        if (fetches)                                                                             \
            CHECK_EACH(i, at, (long)old[i], (long)was[i]);                                       \
        static type now[N];                                                                      \
        CHECK_EQ(shoal_get(now, base[kind], sizeof now, NULL, NULL), SHOAL_OK);                  \
        CHECK_EACH(i, N, (long)now[i], (long)model[i]);                                          \
    }
ROUND(byte, uint8_t, SHOAL_UINT8)
ROUND(word, uint32_t, SHOAL_UINT32)
ROUND(real, double, SHOAL_DOUBLE)
ROUND(wide, long double, SHOAL_LONG_DOUBLE)

static void rounds(int kind)
{
    static const shoal_op_t ops[] = {SHOAL_SUM, SHOAL_SET, SHOAL_MIN};
    for (int i = 0; i < ROUNDS; i++) {
        shoal_op_t op = ops[i % 3];
        round_of_byte(kind, i / 3 % 3, op, i % 2);
        round_of_word(kind, i / 3 % 3, op, i % 2);
        round_of_real(kind, i / 3 % 3, op, i % 2);
        round_of_wide(kind, i / 3 % 3, SHOAL_SUM, false); // which have no order
        round_of_word(kind, i / 3 % 3, SHOAL_NOOP, true);
    }
}

// Every other element of PE 0, by all at once.
static void all_to_one(void)
{
    static uint64_t *words, ones[N / 2], old[N / 2];
    static shoal_part_t to[N / 2];
    uint64_t want = (uint64_t)npes * 3;
    words = shmem_calloc(N, sizeof *words);
    shoal_rptr_t at;
    CHECK_EQ(shoal_rptr_symmetric(words, 0, &at), SHOAL_OK);
    for (int i = 0; i < N / 2; i++) {
        ones[i] = 1;
        to[i] = (shoal_part_t){shoal_rptr_add(at, i * 16), &ones[i], 8};
    }
    for (int k = 0; k < 3; k++)
        CHECK_EQ(shoal_accv(to, N / 2, k == 1 ? old : NULL, SHOAL_SUM, SHOAL_UINT64, NULL, NULL),
                 SHOAL_OK);
    CHECK_EACH(i, N / 2, old[i] < want, 1);
    shmem_barrier_all();
    if (me == 0)
        CHECK_EACH(i, N, words[i], i % 2 ? 0 : want);
    shmem_barrier_all();
    shmem_free(words);
}

static void refuse(void)
{
    uint64_t in[2] = {1, 1}, old[2];
    shoal_part_t p[2] = {{base[0], in, 8}, {shoal_rptr_add(base[0], 8), in + 1, 8}}, was = p[1];
#define REFUSED(old, op, type, status) CHECK_EQ(shoal_accv(p, 2, old, op, type, NULL, NULL), status)
    REFUSED(NULL, SHOAL_CSWAP, SHOAL_UINT64, SHOAL_EINVAL);
    REFUSED(NULL, SHOAL_AND, SHOAL_DOUBLE, SHOAL_EINVAL);
    REFUSED(old, SHOAL_SUM, SHOAL_COMPLEX_DOUBLE, SHOAL_EINVAL);
    p[1].n = 7;
    REFUSED(NULL, SHOAL_SUM, SHOAL_UINT64, SHOAL_EINVAL);
    p[1] = was;
    p[1].remote = shoal_rptr_add(base[0], 4);
    REFUSED(NULL, SHOAL_SUM, SHOAL_UINT64, SHOAL_EINVAL);
    p[1] = was;
    p[1].remote = shoal_rptr_add(base[0], N * sizeof(long double));
    REFUSED(NULL, SHOAL_SUM, SHOAL_UINT64, SHOAL_ERANGE);
    p[1] = was;
    p[1].local = NULL;
    REFUSED(NULL, SHOAL_SUM, SHOAL_UINT64, SHOAL_EINVAL);
    REFUSED(NULL, SHOAL_NOOP, SHOAL_UINT64, SHOAL_EINVAL);
    REFUSED(old, SHOAL_NOOP, SHOAL_UINT64, SHOAL_OK);
    CHECK_EQ(shoal_accv(p, 0, NULL, SHOAL_SUM, SHOAL_UINT64, NULL, NULL), SHOAL_EINVAL);
}

int main(void)
{
    shoal_region_t region[2];
    check_start();
    right = (me + 1) % npes;
    memory[0] = shmem_malloc(N * sizeof(long double));
    memory[1] = must_alloc(N * sizeof(long double));
    count_of = must_ct(SHMEM_TEAM_WORLD);
    for (int kind = 0; kind < 2; kind++) {
        CHECK_EQ(shoal_region_register(memory[kind], N * sizeof(long double), &region[kind]),
                 SHOAL_OK);
        CHECK_EQ(shoal_region_key(region[kind], &key[kind]), SHOAL_OK);
    }
    shmem_barrier_all();
    shmem_getmem(theirs, key, sizeof theirs, right);
    for (int kind = 0; kind < 2; kind++)
        CHECK_EQ(shoal_rptr(&theirs[kind], 0, &base[kind]), SHOAL_OK);
    rounds(0);
    rounds(1);
    all_to_one();
    refuse();
    shmem_barrier_all();
    for (int kind = 0; kind < 2; kind++)
        CHECK_EQ(shoal_region_deregister(region[kind]), SHOAL_OK);
    shmem_free(memory[0]);
    free(memory[1]);
    return check_done();
}
