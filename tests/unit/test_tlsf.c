// SPDX-License-Identifier: BSD-3-Clause
// The allocator of the symmetric heap against a model: an array that says of each grain whose it
// is.
#include "unit.h"

#include "tlsf.h"

enum { GRAINS = 4096, MOST_BLOCKS = 700, STEPS = 6000, CHECK_EVERY = 16 };
#define BYTES ((size_t)GRAINS * TLSF_GRAIN)

struct model {
    struct tlsf *t;
    uint64_t random;
    int count;
    size_t offset[MOST_BLOCKS], grains[MOST_BLOCKS];
    unsigned char used[GRAINS];
};

static size_t grains_of(size_t bytes)
{
    return (bytes + TLSF_GRAIN - 1) / TLSF_GRAIN;
}

// Free grains; the longest run of them in *longest.
static size_t model_free(const struct model *m, size_t *longest)
{
    size_t all = 0, run = 0;
    *longest = 0;
    for (size_t i = 0; i < GRAINS; i++) {
        run = m->used[i] ? 0 : run + 1;
        all += !m->used[i];
        if (run > *longest)
            *longest = run;
    }
    return all;
}

// Free grains from `at` on.
static size_t model_run(const struct model *m, size_t at)
{
    size_t run = 0;
    while (at + run < GRAINS && !m->used[at + run])
        run++;
    return run;
}

static void model_check(const struct model *m)
{
    size_t longest, all = model_free(m, &longest);
    assert_int_equal(tlsf_verify(m->t), 0);
    assert_int_equal(tlsf_available(m->t), all * TLSF_GRAIN);
    assert_int_equal(tlsf_largest(m->t), longest * TLSF_GRAIN);
}

static void model_take(struct model *m, size_t offset, size_t size)
{
    size_t first = offset / TLSF_GRAIN, n = grains_of(size);
    assert_int_equal(offset % TLSF_GRAIN, 0);
    assert_true(first + n <= GRAINS);
    for (size_t i = 0; i < n; i++) {
        assert_int_equal(m->used[first + i], 0); // nobody else's
        m->used[first + i] = 1;
    }
    assert_int_equal(tlsf_size(m->t, offset), n * TLSF_GRAIN);
    m->offset[m->count] = offset;
    m->grains[m->count++] = n;
}

// Sizes of all magnitudes, most of them small; every fourth block is aligned to up to 64 grains.
static void model_alloc(struct model *m)
{
    if (m->count == MOST_BLOCKS)
        return;
    size_t size = 1 + next_random(&m->random) % ((size_t)1 << (1 + next_random(&m->random) % 17));
    size_t align = (size_t)1 << (next_random(&m->random) % 4 ? 3 : next_random(&m->random) % 13);
    size_t offset = tlsf_alloc(m->t, size, align);
    if (offset != TLSF_NONE) {
        assert_int_equal(offset % align, 0);
        model_take(m, offset, size);
        return;
    }
    // Refused: no run of the next class could hold it (a class spans a sixteenth of its size).
    size_t longest, need = grains_of(size) + (align > TLSF_GRAIN ? align / TLSF_GRAIN - 1 : 0);
    model_free(m, &longest);
    assert_true(longest <= need + need / 16);
}

static void model_release(struct model *m, int i)
{
    tlsf_free(m->t, m->offset[i]);
    memset(m->used + m->offset[i] / TLSF_GRAIN, 0, m->grains[i]);
    assert_int_equal(tlsf_size(m->t, m->offset[i]), 0);
    m->count--;
    m->offset[i] = m->offset[m->count];
    m->grains[i] = m->grains[m->count];
}

// In place: works exactly when what follows is free.
static void model_resize(struct model *m, int i)
{
    size_t start = m->offset[i] / TLSF_GRAIN, old = m->grains[i];
    size_t size = 1 + next_random(&m->random) % (2 * old * TLSF_GRAIN);
    size_t want = grains_of(size), room = old + model_run(m, start + old);
    int status = tlsf_resize(m->t, m->offset[i], size);
    assert_int_equal(status, want <= room ? 0 : -1);
    if (status == 0) {
        memset(m->used + start, 0, old);
        memset(m->used + start, 1, want);
        m->grains[i] = want;
    }
    assert_int_equal(tlsf_size(m->t, m->offset[i]), m->grains[i] * TLSF_GRAIN);
}

static void model_step(struct model *m)
{
    unsigned what = (unsigned)(next_random(&m->random) % 8);
    int i = m->count ? (int)(next_random(&m->random) % (uint64_t)m->count) : -1;
    if (i < 0 || what < 4)
        model_alloc(m);
    else if (what < 7)
        model_release(m, i);
    else
        model_resize(m, i);
}

static void test_random(void **state)
{
    static struct model m;
    (void)state;
    for (uint64_t seed = 1; seed <= 4; seed++) {
        m = (struct model){.t = tlsf_create(BYTES), .random = seed};
        assert_non_null(m.t);
        for (int step = 0; step < STEPS; step++) {
            model_step(&m);
            if (step % CHECK_EVERY == 0)
                model_check(&m);
        }
        while (m.count) {
            model_release(&m, (int)(next_random(&m.random) % (uint64_t)m.count));
            model_check(&m);
        }
        assert_int_equal(tlsf_largest(m.t), BYTES); // one block again
        assert_int_equal(tlsf_alloc(m.t, BYTES, 1), 0);
        tlsf_destroy(m.t);
    }
}

// Two instances that are given the same calls, in turns, give the same offsets.
static void test_same_offsets(void **state)
{
    static struct model m[2];
    (void)state;
    for (int i = 0; i < 2; i++)
        m[i] = (struct model){.t = tlsf_create(BYTES), .random = 99};
    for (int step = 0; step < STEPS; step++) {
        model_step(&m[0]);
        model_step(&m[1]);
        assert_int_equal(m[0].count, m[1].count);
        assert_memory_equal(m[0].offset, m[1].offset, (size_t)m[0].count * sizeof(size_t));
    }
    assert_memory_equal(m[0].used, m[1].used, sizeof m[0].used);
    tlsf_destroy(m[0].t);
    tlsf_destroy(m[1].t);
}

static void test_exhaustion(void **state)
{
    struct tlsf *t = tlsf_create(BYTES);
    (void)state;
    for (int round = 0; round < 2; round++) {
        for (size_t i = 0; i < GRAINS; i++) // many records, a hash table that grows
            assert_int_not_equal(tlsf_alloc(t, TLSF_GRAIN, 1), TLSF_NONE);
        assert_int_equal(tlsf_available(t), 0);
        assert_int_equal(tlsf_largest(t), 0);
        assert_int_equal(tlsf_alloc(t, 1, 1), TLSF_NONE);
        assert_int_equal(tlsf_verify(t), 0);
        for (size_t i = 0; i < GRAINS; i += 2) // every other one: holes of one grain
            tlsf_free(t, i * TLSF_GRAIN);
        assert_int_equal(tlsf_largest(t), TLSF_GRAIN);
        assert_int_equal(tlsf_available(t), BYTES / 2);
        assert_int_equal(tlsf_alloc(t, TLSF_GRAIN + 1, 1), TLSF_NONE);
        for (size_t i = 1; i < GRAINS; i += 2)
            tlsf_free(t, i * TLSF_GRAIN);
        assert_int_equal(tlsf_verify(t), 0);
        assert_int_equal(tlsf_largest(t), BYTES);
    }
    tlsf_destroy(t);
}

// Every size fits into a range of just that size, whatever its class.
static void test_exact_fit(void **state)
{
    (void)state;
    for (size_t grains = 1; grains < 3000; grains++) {
        struct tlsf *t = tlsf_create(grains * TLSF_GRAIN);
        assert_int_equal(tlsf_alloc(t, grains * TLSF_GRAIN + 1, 1), TLSF_NONE);
        assert_int_equal(tlsf_alloc(t, grains * TLSF_GRAIN, 1), 0);
        assert_int_equal(tlsf_available(t), 0);
        tlsf_destroy(t);
    }
}

static void test_align(void **state)
{
    struct tlsf *t = tlsf_create((size_t)1 << 32);
    (void)state;
    assert_int_equal(tlsf_alloc(t, 1, 1), 0);
    size_t last = 0, used = TLSF_GRAIN;
    for (size_t align = 1; align <= (size_t)1 << 30; align *= 2) {
        size_t offset = tlsf_alloc(t, 100, align);
        assert_int_not_equal(offset, TLSF_NONE);
        assert_int_equal(offset % align, 0);
        assert_int_not_equal(offset, last);
        last = offset;
        used += 2 * TLSF_GRAIN;
        assert_int_equal(tlsf_size(t, offset), 2 * TLSF_GRAIN);
    }
    // What was skipped for the alignment is not lost.
    assert_int_equal(tlsf_available(t), ((size_t)1 << 32) - used);
    assert_int_equal(tlsf_verify(t), 0);
    assert_int_equal(tlsf_alloc(t, 100, (size_t)1 << 33), TLSF_NONE);
    tlsf_destroy(t);
}

// Ranges far larger than the memory there is: the records lie elsewhere, nothing touches the range.
static void test_outside(void **state)
{
    size_t bytes = (size_t)1 << 46;
    struct tlsf *t = tlsf_create(bytes);
    (void)state;
    assert_int_equal(tlsf_alloc(t, SIZE_MAX, 1), TLSF_NONE);
    assert_int_equal(tlsf_alloc(t, bytes + 1, 1), TLSF_NONE);
    assert_int_equal(tlsf_alloc(t, 1, (size_t)1 << 62), TLSF_NONE);
    assert_int_equal(tlsf_alloc(t, bytes, 1), 0);
    assert_int_equal(tlsf_resize(t, 0, SIZE_MAX), -1);
    assert_int_equal(tlsf_resize(t, 0, bytes / 2), 0);
    assert_int_equal(tlsf_alloc(t, bytes / 2, 1), bytes / 2);
    assert_int_equal(tlsf_available(t), 0);
    tlsf_free(t, 0);
    tlsf_free(t, bytes / 2);
    assert_int_equal(tlsf_largest(t), bytes);
    tlsf_destroy(t);
}

// Only the first byte of a block in use names it.
static void test_size(void **state)
{
    struct tlsf *t = tlsf_create(BYTES);
    (void)state;
    size_t a = tlsf_alloc(t, 1000, 1), b = tlsf_alloc(t, 1, 1);
    assert_int_equal(tlsf_size(t, a), 1024);
    assert_int_equal(tlsf_size(t, b), TLSF_GRAIN);
    assert_int_equal(tlsf_size(t, a + TLSF_GRAIN), 0);
    assert_int_equal(tlsf_size(t, a + 1), 0);
    assert_int_equal(tlsf_size(t, b + TLSF_GRAIN), 0);
    assert_int_equal(tlsf_size(t, BYTES), 0);
    assert_int_equal(tlsf_size(t, SIZE_MAX & ~(size_t)(TLSF_GRAIN - 1)), 0);
    tlsf_free(t, a);
    assert_int_equal(tlsf_size(t, a), 0);
    assert_int_equal(tlsf_size(t, b), TLSF_GRAIN);
    tlsf_destroy(t);
    tlsf_destroy(NULL);
}

// Two blocks of one class, and nothing larger: the first that is looked at is too small.
static void test_near_fit(void **state)
{
    enum { SMALLER = 65, WANTED = 66, LARGER = 67 };
    struct tlsf *t = tlsf_create((LARGER + 1 + SMALLER + 1) * TLSF_GRAIN);
    (void)state;
    size_t larger = tlsf_alloc(t, LARGER * TLSF_GRAIN, 1);
    tlsf_alloc(t, TLSF_GRAIN, 1);
    size_t smaller = tlsf_alloc(t, SMALLER * TLSF_GRAIN, 1);
    tlsf_alloc(t, TLSF_GRAIN, 1);
    assert_int_equal(tlsf_available(t), 0);
    tlsf_free(t, larger);
    tlsf_free(t, smaller);
    assert_int_equal(tlsf_alloc(t, WANTED * TLSF_GRAIN, 1), larger);
    assert_int_equal(tlsf_alloc(t, WANTED * TLSF_GRAIN, 1), TLSF_NONE);
    tlsf_destroy(t);
}

static void test_resize(void **state)
{
    struct tlsf *t = tlsf_create(10 * TLSF_GRAIN);
    (void)state;
    size_t a = tlsf_alloc(t, 2 * TLSF_GRAIN, 1), b = tlsf_alloc(t, 2 * TLSF_GRAIN, 1);
    assert_int_equal(tlsf_resize(t, a, 3 * TLSF_GRAIN), -1); // b is in the way
    assert_int_equal(tlsf_size(t, a), 2 * TLSF_GRAIN);
    assert_int_equal(tlsf_resize(t, b, 9 * TLSF_GRAIN), -1);
    assert_int_equal(tlsf_resize(t, b, 8 * TLSF_GRAIN), 0);
    assert_int_equal(tlsf_available(t), 0);
    assert_int_equal(tlsf_resize(t, b, 1), 0);
    assert_int_equal(tlsf_available(t), 7 * TLSF_GRAIN);
    tlsf_free(t, a);
    assert_int_equal(tlsf_resize(t, b, TLSF_GRAIN), 0); // as it is
    assert_int_equal(tlsf_verify(t), 0);
    tlsf_free(t, b);
    assert_int_equal(tlsf_largest(t), 10 * TLSF_GRAIN);
    tlsf_destroy(t);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_random),     cmocka_unit_test(test_same_offsets),
        cmocka_unit_test(test_exhaustion), cmocka_unit_test(test_exact_fit),
        cmocka_unit_test(test_align),      cmocka_unit_test(test_outside),
        cmocka_unit_test(test_size),       cmocka_unit_test(test_near_fit),
        cmocka_unit_test(test_resize),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
