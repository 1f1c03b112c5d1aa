// SPDX-License-Identifier: BSD-3-Clause
// NODES: 1
// PES: 3 4
// Triggered operations on private memory, which are handed to a PE that reaches it: one that the PE which
// got it cannot do either, the order of those on one threshold, and more of them than an inbox has room
// for, while their owner computes or waits for room.
#include "../check.h"

#include <shoal.h>
#include <stdlib.h>

enum { AM = 1, MANY = 5000, PAYLOAD = 40 };
enum { OWNER = 0, THIRD = 1, COUNTER = 2 };

static shoal_ct_t ct, done;
static uint64_t go, result; // symmetric
static int came, out_of_order;

static void on_message(const shoal_am_t *am)
{
    out_of_order += am->arg != (uint64_t)came;
    came++;
}

static void count_one(void)
{
    CHECK_EQ(shoal_ct_inc(OWNER, ct, (shoal_ct_value_t){1, 0}), SHOAL_OK);
}

static void arm(const shoal_work_t *w)
{
    CHECK_EQ(shoal_trigger(w, ct, 1, done, NULL), SHOAL_OK);
}

// Reduces *in into *acc.
static void arm_sum(int64_t *acc, int64_t *in)
{
    arm(&(shoal_work_t){.kind = SHOAL_WORK_REDUCE,
                        .local = acc,
                        .local2 = in,
                        .n = 1,
                        .op = SHOAL_SUM,
                        .type = SHOAL_INT64});
}

// Puts *acc into `result` of this PE.
static void arm_result(int64_t *acc)
{
    shoal_work_t tell = {.kind = SHOAL_WORK_PUT, .local = acc, .n = sizeof *acc};
    CHECK_EQ(shoal_rptr_symmetric(&result, me, &tell.remote), SHOAL_OK);
    arm(&tell);
}

static void begin(void)
{
    CHECK_EQ(shoal_ct_alloc(SHMEM_TEAM_WORLD, &ct), SHOAL_OK);
    CHECK_EQ(shoal_ct_alloc(SHMEM_TEAM_WORLD, &done), SHOAL_OK);
}

static void end(uint64_t works)
{
    shoal_ct_value_t v;
    if (me == OWNER) {
        CHECK_EQ(shoal_ct_wait(1, &done, &works, NULL), SHOAL_OK);
        CHECK_EQ(shoal_ct_get(done, &v), SHOAL_OK);
        CHECK_EQ(v.success, works);
        CHECK_EQ(v.failure, 0);
    }
    shmem_barrier_all();
    CHECK_EQ(shoal_ct_free(SHMEM_TEAM_WORLD, ct), SHOAL_OK);
    CHECK_EQ(shoal_ct_free(SHMEM_TEAM_WORLD, done), SHOAL_OK);
}

// The first goes to the third PE, and the second after it, who cannot reach an operand of that.
static void handed_twice(shoal_key_t *key, int64_t *acc)
{
    uint64_t *word = malloc(sizeof *word);
    int64_t *in = malloc(sizeof *in);
    shoal_region_t region;
    *word = 5;
    *acc = 1;
    *in = 10;
    begin();
    CHECK_EQ(shoal_region_register(word, sizeof *word, &region), SHOAL_OK);
    CHECK_EQ(shoal_region_key(region, key), SHOAL_OK);
    shmem_barrier_all();
    if (me == OWNER) {
        shoal_key_t third;
        shmem_getmem(&third, key, sizeof third, THIRD);
        shoal_work_t add = {
            .kind = SHOAL_WORK_ATOMIC, .op = SHOAL_SUM, .type = SHOAL_UINT64, .a = 1};
        CHECK_EQ(shoal_rptr(&third, 0, &add.remote), SHOAL_OK);
        arm(&add);
        arm_sum(acc, in);
        arm_result(acc);
    }
    shmem_barrier_all();
    if (me == COUNTER)
        count_one();
    end(3);
    CHECK_EQ(*word, me == THIRD ? 6 : 5);
    CHECK_EQ(*acc, me == OWNER ? 11 : 1);
    CHECK_EQ(result, me == OWNER ? 11 : 0);
    CHECK_EQ(shoal_region_deregister(region), SHOAL_OK);
    free(word);
    free(in);
}

// One is armed when what it comes after has been handed to this PE, which has not looked yet.
static void armed_later(void)
{
    int64_t *acc = malloc(sizeof *acc), *in = malloc(sizeof *in);
    *acc = 1;
    *in = 10;
    result = 0;
    begin();
    if (me == OWNER)
        arm_sum(acc, in);
    shmem_barrier_all();
    if (me == COUNTER) {
        count_one();
        shmem_uint64_p(&go, 1, OWNER);
    }
    if (me == OWNER) {
        while (!*(volatile uint64_t *)&go) // without a call
            ;
        arm_result(acc);
    }
    end(2);
    CHECK_EQ(result, me == OWNER ? 11 : 0);
    free(acc);
    free(in);
}

// More messages than there is room for, each of which waits for some. Who counts waits for nobody.
static void many(void)
{
    char payload[PAYLOAD] = {0};
    begin();
    go = 0;
    for (int i = 0; i < MANY && me == OWNER; i++)
        arm(&(shoal_work_t){.kind = SHOAL_WORK_AM,
                            .pe = THIRD,
                            .am_id = AM,
                            .a = (uint64_t)i,
                            .local = payload,
                            .n = sizeof payload});
    shmem_barrier_all();
    if (me == COUNTER) {
        count_one();
        shmem_uint64_p(&go, 1, THIRD);
        shmem_uint64_p(&go, 1, OWNER);
    }
    while ((me == OWNER || me == THIRD) &&
           !*(volatile uint64_t *)&go) // computes until all are handed over
        ;
    while (me == THIRD && came < MANY)
        CHECK(shoal_progress() >= 0);
    end(MANY);
    CHECK_EQ(came, me == THIRD ? MANY : 0);
    CHECK_EQ(out_of_order, 0);
}

int main(void)
{
    check_start();
    shoal_key_t *key = shmem_malloc(sizeof *key);
    int64_t *acc = shmem_malloc(sizeof *acc);
    CHECK_EQ(shoal_am_register(AM, on_message, NULL), SHOAL_OK);
    handed_twice(key, acc);
    armed_later();
    many();
    shmem_free(key);
    shmem_free(acc);
    return check_done();
}
