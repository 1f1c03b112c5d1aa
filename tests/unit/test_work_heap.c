// SPDX-License-Identifier: BSD-3-Clause
// The pairing heap of armed works against a plain list: least threshold first, and first come first
// among equals.
#include "unit.h"

#include "slice.h"
#include "work_heap.h"

#include <stdbool.h>

enum { WORKS = 600, STEPS = 20000, MANY = 50000 };

// The memory that references count from: one counter, and works behind it. Offset 0 is no
// reference, so nothing lies there.
static struct {
    char nothing[CACHE_LINE];
    struct counter counter;
    struct work work[MANY];
} shared;

static struct work *in_heap[WORKS]; // in the order of arrival
static int count;

static int make_world(void **state)
{
    (void)state;
    memset(&shared, 0, sizeof shared);
    world.slices = (char *)&shared;
    count = 0;
    return 0;
}

static struct work *model_least(void)
{
    struct work *least = NULL;
    for (int i = 0; i < count; i++)
        if (!least || in_heap[i]->threshold < least->threshold)
            least = in_heap[i];
    return least;
}

static void insert(struct work *w, uint64_t threshold)
{
    // What a work keeps from its last use must not matter.
    w->child = w->sibling = w->prev = w->order = 12345;
    w->threshold = threshold;
    work_heap_insert(&shared.counter, w);
    in_heap[count++] = w;
}

static void take(int i)
{
    work_heap_remove(&shared.counter, in_heap[i]);
    count--;
    memmove(in_heap + i, in_heap + i + 1, (size_t)(count - i) * sizeof in_heap[0]);
}

static int index_of(const struct work *w)
{
    for (int i = 0; i < count; i++)
        if (in_heap[i] == w)
            return i;
    return -1;
}

static void check_least(void)
{
    assert_ptr_equal(work_heap_least(&shared.counter), model_least());
}

static struct work *unused(void)
{
    for (int i = 0; i < WORKS; i++)
        if (index_of(&shared.work[i]) < 0)
            return &shared.work[i];
    return NULL;
}

// Inserts, takes the least, and takes any (a work that is cancelled).
static void run(uint64_t seed, uint64_t thresholds)
{
    uint64_t random = seed;
    for (int step = 0; step < STEPS; step++) {
        uint64_t what = next_random(&random) % 8;
        if (count == 0 || (what < 4 && count < 60))
            insert(unused(), next_random(&random) % thresholds);
        else if (what < 6)
            take(index_of(work_heap_least(&shared.counter)));
        else
            take((int)(next_random(&random) % (uint64_t)count));
        check_least();
    }
    while (count) {
        take((int)(next_random(&random) % (uint64_t)count));
        check_least();
    }
}

static void test_random(void **state)
{
    (void)state;
    run(1, 5); // many equal ones
    run(2, 1000);
    run(3, UINT64_MAX);
}

static void test_order(void **state)
{
    (void)state;
    assert_null(work_heap_least(&shared.counter));
    for (int i = 0; i < WORKS; i++)
        insert(&shared.work[i], (uint64_t)(i % 7));
    uint64_t last = 0;
    int last_index = -1;
    for (int i = 0; i < WORKS; i++) {
        struct work *w = work_heap_least(&shared.counter);
        int index = (int)(w - shared.work);
        assert_true(w->threshold > last || (w->threshold == last && index > last_index));
        last = w->threshold;
        last_index = index;
        work_heap_remove(&shared.counter, w);
    }
    assert_null(work_heap_least(&shared.counter));
}

// In rising and in falling order: the two extreme shapes.
static void test_shapes(void **state)
{
    (void)state;
    for (int falling = 0; falling < 2; falling++) {
        for (int i = 0; i < WORKS; i++)
            insert(&shared.work[i], (uint64_t)(falling ? WORKS - i : i));
        while (count) {
            check_least();
            take(count / 2);
        }
        assert_null(work_heap_least(&shared.counter));
    }
}

// What a removal does is a step for each work directly below the one that goes.
static uint64_t steps_of(const struct work *w)
{
    uint64_t steps = 1;
    for (uint64_t child = w->child; child; child = ((struct work *)ref_at(child))->sibling)
        steps++;
    return steps;
}

static uint64_t threshold_of(int shape, uint64_t i, uint64_t *random)
{
    switch (shape) {
    case 0: return i;
    case 1: return MANY - i;
    case 2: return i % 3;
    case 3: return i % 2 ? i : MANY - i;
    default: return next_random(random);
    }
}

// Thousands armed at once: O(log n) each. The bound of the pairing heap's authors is 2 log2(n) for
// insertions and removals together; a list would take n / 2.
static void test_cost(void **state)
{
    const uint64_t most = (uint64_t)MANY * 2 * 16; // 2^16 > MANY
    uint64_t random = 7;
    (void)state;
    for (int shape = 0; shape < 5; shape++)
        for (int cancels = 0; cancels < 2; cancels++) {
            uint64_t steps = 0, removed = 0;
            for (uint64_t i = 0; i < MANY; i++) {
                shared.work[i].threshold = threshold_of(shape, i, &random);
                work_heap_insert(&shared.counter, &shared.work[i]);
            }
            for (uint64_t i = 0; cancels && i < MANY; i += 2, removed++) {
                steps += steps_of(&shared.work[i]);
                work_heap_remove(&shared.counter, &shared.work[i]);
            }
            for (struct work *w; (w = work_heap_least(&shared.counter)); removed++) {
                steps += steps_of(w);
                work_heap_remove(&shared.counter, w);
            }
            assert_int_equal(removed, MANY);
            assert_in_range(steps, MANY, most);
        }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup(test_random, make_world),
        cmocka_unit_test_setup(test_order, make_world),
        cmocka_unit_test_setup(test_shapes, make_world),
        cmocka_unit_test_setup(test_cost, make_world),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
