// SPDX-License-Identifier: BSD-3-Clause
// A thread registers the handlers of messages of which some have come, wait for it, and go on coming:
// each PE's messages with a number are handled in their order, and every one of them.
// PES: 1 2
#include "../check.h"

#include <pthread.h>
#include <shoal.h>
#include <string.h>

enum { TURNS = 5, IDS = 200, EACH = 60 };

static uint64_t next[IDS + 1], handled;
static _Atomic int current;

static void on_message(const shoal_am_t *am)
{
    CHECK_EQ(am->arg, next[am->id]++);
    handled++;
}

static void *registrar(void *arg)
{
    uint64_t seed = (uint64_t)me + 1;
    for (int id = 1; id <= IDS; id++) {
        while (current < id)
            sched_yield();
        for (uint64_t n = rnd_below(&seed, 5000); n > 0; n--)
            __atomic_signal_fence(__ATOMIC_SEQ_CST);
        CHECK_EQ(shoal_am_register(id, on_message, NULL), SHOAL_OK);
    }
    return arg;
}

static void turn(void)
{
    pthread_t thread;
    current = 0;
    handled = 0;
    memset(next, 0, sizeof next);
    for (int id = 1; id <= IDS; id++)
        CHECK_EQ(shoal_am_register(id, NULL, NULL), SHOAL_OK);
    shmem_barrier_all();
    CHECK_EQ(pthread_create(&thread, NULL, registrar, NULL), 0);
    for (int id = 1; id <= IDS; id++) {
        current = id;
        for (uint64_t i = 0; i < EACH; i++) {
            CHECK_EQ(shoal_am_request((me + 1) % npes, id, i, NULL, 0), SHOAL_OK);
            CHECK(shoal_progress() >= 0);
        }
    }
    CHECK_EQ(pthread_join(thread, NULL), 0);
    while (handled < (uint64_t)IDS * EACH)
        if (shoal_progress() == 0)
            sched_yield();
    shmem_barrier_all();
}

int main(void)
{
    check_start_threads();
    for (int t = 0; t < TURNS; t++)
        turn();
    return check_done();
}
