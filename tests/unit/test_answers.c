// SPDX-License-Identifier: BSD-3-Clause
// Waiting for the answers to what was sent before, while more is sent and answered.
#include "unit.h"

#include "answers.h"
#include "slice.h"

static struct answers answers;
static unsigned phase[2];
static int steps;

// An older message is answered after a newer one.
static int answer_newer_first(void)
{
    switch (steps++) {
    case 0: phase[1] = answers_expect(&answers); break;
    case 1: answers_came(&answers, phase[1], 1); break;
    case 2: answers_came(&answers, phase[0], 1); break;
    default: return 0;
    }
    return 1;
}

// One message is always under way; each is answered when the next has left.
static int go_on_sending(void)
{
    unsigned next = answers_expect(&answers);
    answers_came(&answers, phase[0], 1);
    phase[0] = next;
    return ++steps < 1000;
}

static void wait_while(int (*others)(void))
{
    answers = (struct answers){0};
    steps = 0;
    wait_hooks.progress = others;
    wait_spins = 0;
    phase[0] = answers_expect(&answers);
    answers_wait(&answers);
    wait_hooks.progress = NULL;
}

static void test_as_many_are_not_enough(void **state)
{
    (void)state;
    wait_while(answer_newer_first);
    assert_int_equal(steps, 3);
    assert_true(answers_all(&answers));
}

static void test_others_keep_nobody_waiting(void **state)
{
    (void)state;
    wait_while(go_on_sending);
    assert_in_range(steps, 1, 10);
    assert_false(answers_all(&answers));
}

static void test_nothing_to_wait_for(void **state)
{
    (void)state;
    answers = (struct answers){0};
    answers_forget(&answers, answers_expect(&answers));
    answers_wait(&answers);
    assert_true(answers_all(&answers));
}

static int have_world(void **state)
{
    (void)state;
    world.slices = calloc(1, sizeof(struct slice)); // where this PE's bell is
    return world.slices ? 0 : -1;
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_as_many_are_not_enough),
        cmocka_unit_test(test_others_keep_nobody_waiting),
        cmocka_unit_test(test_nothing_to_wait_for),
    };
    int failed = cmocka_run_group_tests(tests, have_world, NULL);
    free(world.slices);
    return failed;
}
