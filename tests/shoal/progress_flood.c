// SPDX-License-Identifier: BSD-3-Clause
// Messages whose handlers take long come without pause, and the call that waits meanwhile still runs the
// hook, which alone makes true what it waits for.
// PES: 2 4
#include "../check.h"

#include <shoal.h>
#include <time.h>

enum { SLOW = 1, SENT = 6000, LONG_NS = 100000, ROUNDS = 2 };

static uint64_t go, word; // symmetric
static uint64_t handled, handled_at_last;
static shoal_ct_t ct;
static bool is_asked;

static uint64_t now_ns(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (uint64_t)t.tv_sec * 1000000000u + (uint64_t)t.tv_nsec;
}

static void on_slow(const shoal_am_t *am)
{
    (void)am;
    for (uint64_t end = now_ns() + LONG_NS; now_ns() < end;)
        ;
    handled++;
}

static int hook(void)
{
    if (!is_asked || !handled)
        return 0;
    is_asked = false;
    CHECK_EQ(shoal_ct_inc(me, ct, (shoal_ct_value_t){.success = 1}), SHOAL_OK);
    shmem_uint64_p(&word, 1, me);
    return 1;
}

static void flooded(int round)
{
    shoal_event_t event = {.word = &word, .least = 1}, *events[1] = {&event};
    handled = 0;
    word = 0;
    is_asked = true;
    for (int pe = 1; pe < npes; pe++)
        shmem_uint64_p(&go, (uint64_t)round, pe);
    uint64_t threshold = 1;
    if (round == 1)
        CHECK_EQ(shoal_ct_wait(1, &ct, &threshold, NULL), SHOAL_OK);
    else
        CHECK_EQ(shoal_wait(1, events, 1, NULL, NULL), SHOAL_OK);
    handled_at_last = handled;
    uint64_t all = (uint64_t)(SENT / (npes - 1) * (npes - 1));
    while (handled < all)
        CHECK(shoal_progress() >= 0);
    if (handled_at_last >= all / 2)
        CHECK_EQ(handled_at_last, 0); // says how many there were before the hook ran
}

int main(void)
{
    check_start();
    CHECK_EQ(shoal_am_register(SLOW, on_slow, NULL), SHOAL_OK);
    CHECK_EQ(shoal_ct_alloc(SHMEM_TEAM_WORLD, &ct), SHOAL_OK);
    CHECK_EQ(shoal_progress_hook(hook), SHOAL_OK);
    shmem_barrier_all();
    for (int round = 1; round <= ROUNDS; round++) {
        if (me == 0)
            flooded(round);
        else
            shmem_uint64_wait_until(&go, SHMEM_CMP_GE, (uint64_t)round);
        for (int i = 0; me && i < SENT / (npes - 1); i++)
            CHECK_EQ(shoal_am_request(0, SLOW, 0, NULL, 0), SHOAL_OK);
        shmem_barrier_all();
    }
    CHECK_EQ(shoal_progress_hook(NULL), SHOAL_OK);
    CHECK_EQ(shoal_ct_free(SHMEM_TEAM_WORLD, ct), SHOAL_OK);
    return check_done();
}
