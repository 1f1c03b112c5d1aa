// SPDX-License-Identifier: BSD-3-Clause
// TIMEOUT: 60
// The end of the library while messages are under way: handlers of PEs that wait for the others still
// send, more than there is room for, and count at others, which may be past all that already. None
// waits for ever, and the next life begins without any of it.
#include "../check.h"

#include <shoal.h>

enum { ASK = 41, ANSWER, LIVES = 6, ASKS = 100, ANSWERS = 6, COUNTS = 3 };

static shoal_ct_t counter;
static int life;
static const char payload[100];

static void on_ask(const shoal_am_t *am)
{
    CHECK_EQ(am->arg, (uint64_t)life);
    for (int i = 0; i < ANSWERS; i++)
        shoal_am_reply(am, ANSWER, am->arg, payload, i % 2 ? sizeof payload : 0);
    for (int i = 0; i < COUNTS; i++)
        CHECK_EQ(shoal_ct_inc(am->from, counter, (shoal_ct_value_t){1, 0}), SHOAL_OK);
}

static void on_answer(const shoal_am_t *am)
{
    CHECK_EQ(am->arg, (uint64_t)life);
}

static void live(void)
{
    check_start();
    CHECK_EQ(shoal_ct_alloc(SHMEM_TEAM_WORLD, &counter), SHOAL_OK);
    shmem_barrier_all();
    if (me % 2 == life % 2)
        for (int i = 0; i < ASKS; i++)
            CHECK_EQ(shoal_am_request((me + 1) % npes, ASK, (uint64_t)life, NULL, 0), SHOAL_OK);
    shmem_finalize();
}

int main(void)
{
    CHECK_EQ(shoal_am_register(ASK, on_ask, NULL), SHOAL_OK);
    CHECK_EQ(shoal_am_register(ANSWER, on_answer, NULL), SHOAL_OK);
    for (life = 1; life <= LIVES; life++)
        live();
    return check_done();
}
