// SPDX-License-Identifier: BSD-3-Clause
// Triggered puts and atomics each of which makes the next due: over a network that takes deferred
// work these chains are its own. Longer than a chain of it may be, on one counter and on many, with
// works in between that it cannot run, released by the owner and by another PE, also while the
// owner computes; and cancelled at any moment.
#include "counters.h"

#include <stddef.h>

enum { LINKS = 40, BYTES = 300, WORDS = 60, ROUNDS = 20 };

static struct box {
    unsigned char data[LINKS][BYTES];
    uint64_t word, sum, flag, words[WORDS];
    uint32_t small;
} box, zero;
static unsigned char source[LINKS][BYTES];
static uint64_t values[LINKS];
static shoal_ct_t ct[LINKS + 1], told;
static int next_pe;

static shoal_rptr_t there(const void *at)
{
    return symmetric(at, next_pe);
}

static shoal_work_t put_of(const void *to, const void *from, size_t n)
{
    return (shoal_work_t){
        .kind = SHOAL_WORK_PUT, .remote = there(to), .local = (void *)(uintptr_t)from, .n = n};
}

static shoal_work_t add_of(const void *to, shoal_type_t type, uint64_t a)
{
    return (shoal_work_t){
        .kind = SHOAL_WORK_ATOMIC, .remote = there(to), .op = SHOAL_SUM, .type = type, .a = a};
}

static shoal_trigger_t arm(const shoal_work_t *work, shoal_ct_t on, uint64_t at, shoal_ct_t done)
{
    shoal_trigger_t handle = 0;
    CHECK_EQ(shoal_trigger(work, on, at, done, &handle), SHOAL_OK);
    return handle;
}

static void begin(void)
{
    for (int i = 0; i <= LINKS; i++)
        CHECK_EQ(shoal_ct_set(me, ct[i], (shoal_ct_value_t){0, 0}), SHOAL_OK);
    CHECK_EQ(shoal_ct_set(me, told, (shoal_ct_value_t){0, 0}), SHOAL_OK);
    box = zero;
    shmem_barrier_all();
}

// By its owner, or by the PE before it.
static void release(int round)
{
    if (round % 2)
        count((me + npes - 1) % npes, ct[0], 1, 0);
    else
        count(me, ct[0], 1, 0);
}

// ---- One counter after the other; what is put is written when all is armed.
static void test_counters(int round)
{
    begin();
    for (int i = LINKS - 1; i >= 0; i--) {
        shoal_work_t put = put_of(box.data[i], source[i], BYTES);
        arm(&put, ct[i], 1, ct[i + 1]);
    }
    for (int i = 0; i < LINKS; i++)
        fill(source[i], BYTES, (unsigned)(me * 1000 + round * LINKS + i));
    shmem_barrier_all();
    release(round);
    wait_sum(ct[LINKS], 1);
    for (int i = 0; i <= LINKS; i++)
        VALUE_IS(ct[i], 1, 0);
    shmem_barrier_all();
    unsigned char want[BYTES];
    for (int i = 0; i < LINKS; i++) {
        fill(want, BYTES, (unsigned)((me + npes - 1) % npes * 1000 + round * LINKS + i));
        CHECK_MEM(box.data[i], want, BYTES, "what a link put");
    }
}

// ---- One counter, counted by its own works: to one word, so that the last value tells the order.
static void test_one_counter(int round)
{
    begin();
    for (int i = 0; i < LINKS; i++) {
        values[i] = (uint64_t)(round * LINKS + i);
        shoal_work_t put = put_of(&box.word, &values[i], sizeof values[i]);
        arm(&put, ct[0], (uint64_t)i + 1, ct[0]);
    }
    shmem_barrier_all();
    release(round);
    wait_sum(ct[0], LINKS + 1);
    VALUE_IS(ct[0], LINKS + 1, 0);
    shmem_barrier_all();
    CHECK_EQ(box.word, (uint64_t)(round * LINKS + LINKS - 1));
}

// ---- Data, an atomic beside it, and a flag: who sees the flag sees the rest.
static void test_flag(int round)
{
    begin();
    fill(source[0], BYTES, (unsigned)round);
    shoal_work_t put = put_of(box.data[0], source[0], BYTES),
                 add = add_of(&box.sum, SHOAL_UINT64, 5),
                 add_small = add_of(&box.small, SHOAL_INT32, UINT64_MAX),
                 flag = add_of(&box.flag, SHOAL_UINT64, 1);
    arm(&put, ct[0], 1, ct[1]);
    arm(&add, ct[1], 1, ct[2]);
    arm(&add_small, ct[2], 1, ct[3]);
    arm(&flag, ct[3], 1, SHOAL_CT_NONE);
    shmem_barrier_all();
    release(round);
    shmem_uint64_wait_until(&box.flag, SHMEM_CMP_EQ, 1);
    unsigned char want[BYTES];
    fill(want, BYTES, (unsigned)round);
    CHECK_MEM(box.data[0], want, BYTES, "what was put before the flag");
    CHECK_EQ(box.sum, 5);
    CHECK_EQ(box.small, UINT32_MAX);
    shmem_barrier_all();
}

// ---- Words that are gathered, a fence, and a flag by a chain: who sees the flag sees the words.
static void test_fence(int round)
{
    begin();
    values[0] = (uint64_t)round + 1;
    shoal_work_t flag = put_of(&box.flag, &values[0], sizeof values[0]),
                 put = put_of(&box.sum, &values[0], sizeof values[0]);
    arm(&flag, ct[0], 1, ct[1]);
    arm(&put, ct[1], 1, ct[2]);
    shmem_barrier_all();
    for (int i = 0; i < WORDS; i++)
        shmem_uint64_p(&box.words[i], values[0], next_pe);
    shmem_fence();
    count(me, ct[0], 1, 0);
    while (!shmem_uint64_test(&box.flag, SHMEM_CMP_EQ, (uint64_t)round + 1))
        ;
    CHECK_EACH(i, WORDS, box.words[i], (uint64_t)round + 1);
    wait_sum(ct[2], 1);
    shmem_barrier_all();
}

// ---- On one threshold a put, and a count at the target: who sees the count sees the put.
static void test_mixed(int round)
{
    begin();
    fill(source[1], BYTES, (unsigned)round + 7);
    shoal_work_t first = put_of(&box.word, &values[0], sizeof values[0]),
                 put = put_of(box.data[1], source[1], BYTES),
                 tell = {.kind = SHOAL_WORK_CT_INC, .pe = next_pe, .ct = told, .value = {1, 0}};
    arm(&first, ct[0], 1, ct[1]);
    arm(&put, ct[1], 1, ct[2]);
    arm(&tell, ct[1], 1, ct[2]);
    shmem_barrier_all();
    release(round);
    wait_sum(told, 1);
    unsigned char want[BYTES];
    fill(want, BYTES, (unsigned)round + 7);
    CHECK_MEM(box.data[1], want, BYTES, "what was put before the count");
    wait_sum(ct[2], 2);
    shmem_barrier_all();
}

// ---- A link cancelled: never run when that says OK, and released before when it says it was late.
static void test_cancel(int round)
{
    shoal_trigger_t handle[4];
    begin();
    for (int i = 0; i < 4; i++) {
        values[i] = 1;
        shoal_work_t put = put_of(box.data[i], &values[i], sizeof values[i]);
        handle[i] = arm(&put, ct[i], 1, ct[i + 1]);
    }
    shmem_barrier_all();
    if (round % 3)
        release(round);
    int status = shoal_trigger_cancel(handle[2]);
    CHECK(status == SHOAL_OK || (round % 3 && status == SHOAL_ELATE));
    if (status == SHOAL_ELATE)
        CHECK_EQ(value_of(ct[2]).success, 1);
    if (round % 3 == 0) {
        shmem_barrier_all();
        release(round);
    }
    wait_sum(ct[status ? 4 : 2], 1);
    size_t rest = 9;
    CHECK_EQ(shoal_ct_cancel(ct[3], &rest), SHOAL_OK);
    CHECK_EQ(rest, status ? 0 : 1);
    shmem_barrier_all();
    uint64_t got[4];
    for (int i = 0; i < 4; i++)
        shmem_getmem(&got[i], box.data[i], sizeof got[i], next_pe);
    CHECK_EQ(got[0] + got[1], 2);
    CHECK_EQ(got[2] + got[3], status ? 2 : 0);
    VALUE_IS(ct[4], status ? 1 : 0, 0);
    shmem_barrier_all();
}

// ---- The owner computes, without a call, until its target has seen the last link; that has
// released the first.
static uint64_t let_go;

static void test_away(int owner)
{
    begin();
    if (me == owner) {
        for (int i = 0; i < LINKS - 1; i++) {
            shoal_work_t put = put_of(box.data[i], source[i], BYTES);
            arm(&put, ct[i], 1, ct[i + 1]);
        }
        shoal_work_t flag = add_of(&box.flag, SHOAL_UINT64, 1);
        arm(&flag, ct[LINKS - 1], 1, ct[LINKS]);
    }
    shmem_barrier_all();
    if (me == owner) {
        while (!__atomic_load_n(&let_go, __ATOMIC_ACQUIRE))
            ;
        wait_sum(ct[LINKS], 1);
        let_go = 0;
    } else if (me == (owner + 1) % npes) {
        count(owner, ct[0], 1, 0);
        shmem_uint64_wait_until(&box.flag, SHMEM_CMP_EQ, 1);
        shmem_uint64_atomic_set(&let_go, 1, owner);
    }
    shmem_barrier_all();
}

int main(void)
{
    check_start();
    next_pe = (me + 1) % npes;
    for (int i = 0; i <= LINKS; i++)
        ct[i] = must_ct(SHMEM_TEAM_WORLD);
    told = must_ct(SHMEM_TEAM_WORLD);
    for (int round = 0; round < ROUNDS; round++) {
        test_counters(round);
        test_one_counter(round);
        test_flag(round);
        test_fence(round);
        test_mixed(round);
        test_cancel(round);
    }
    for (int owner = 0; owner < npes && npes > 1; owner++)
        test_away(owner);
    return check_done();
}
