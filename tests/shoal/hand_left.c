// SPDX-License-Identifier: BSD-3-Clause
// Works that were handed to a PE which has not looked: a counter that is freed meanwhile is not given out again
// before they end, another one waits for none of them; and when the PE leaves they end as failures.
// PES: 2
// NODES: 1
// TIMEOUT: 30
#include "counters.h"

static shoal_key_t key; // of PE 1's private word
static long let_go, is_out;

static shoal_work_t add_one(void)
{
    shoal_key_t theirs;
    shoal_work_t w = {.kind = SHOAL_WORK_ATOMIC, .op = SHOAL_SUM, .type = SHOAL_UINT64, .a = 1};
    shmem_getmem(&theirs, &key, sizeof theirs, 1);
    CHECK_EQ(shoal_rptr(&theirs, 0, &w.remote), SHOAL_OK);
    return w;
}

static void arm_and_count(const shoal_work_t *w, shoal_ct_t ct, shoal_ct_t done)
{
    CHECK_EQ(shoal_trigger(w, ct, 1, done, NULL), SHOAL_OK);
    CHECK_EQ(shoal_ct_inc(me, ct, (shoal_ct_value_t){1, 0}), SHOAL_OK);
}

static void owner(void)
{
    shoal_work_t theirs = add_one();
    shoal_ct_t ct = must_ct(SHMEM_TEAM_INVALID), failed = must_ct(SHMEM_TEAM_INVALID),
               counted = must_ct(SHMEM_TEAM_INVALID);
    shoal_ct_value_t v;
    uint64_t one = 1;
    while (!*(volatile long *)&is_out) // PE 1 would do in the barrier what is handed to it
        ;
    arm_and_count(&theirs, ct, failed);
    CHECK_EQ(shoal_ct_free(SHMEM_TEAM_INVALID, ct), SHOAL_OK);
    shoal_ct_t next = must_ct(SHMEM_TEAM_INVALID);
    CHECK(next != ct);
    shoal_work_t own = {.kind = SHOAL_WORK_CT_INC, .pe = me, .ct = counted, .value = {1, 0}};
    arm_and_count(&own, next, SHOAL_CT_NONE);
    CHECK_EQ(shoal_ct_wait(1, &counted, &one, NULL), SHOAL_OK); // while PE 1 looks at nothing
    shmem_long_p(&let_go, 1, 1);
    CHECK_EQ(shoal_ct_wait(1, &failed, &one, NULL), SHOAL_OK);
    CHECK_EQ(shoal_ct_get(failed, &v), SHOAL_OK);
    CHECK_EQ(v.failure, 1);
    CHECK_EQ(must_ct(SHMEM_TEAM_INVALID), ct);
    exit(check_failures > 0);
}

static void leaver(void)
{
    *(volatile long *)shmem_ptr(&is_out, 0) = 1;
    while (!*(volatile long *)&let_go) // without a call
        ;
    exit(check_failures > 0);
}

int main(void)
{
    check_start();
    uint64_t *word = must_alloc(sizeof *word);
    shoal_region_t region;
    *word = 5;
    CHECK_EQ(shoal_region_register(word, sizeof *word, &region), SHOAL_OK);
    CHECK_EQ(shoal_region_key(region, &key), SHOAL_OK);
    shmem_barrier_all();
    if (me == 1)
        leaver();
    owner();
}
