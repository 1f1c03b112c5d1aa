// SPDX-License-Identifier: BSD-3-Clause
// One call of shoal_progress takes in all that has come, from whomever: each PE has a ring to PE 0 by
// then. And a handler may be replaced while others are run: it never gets another's argument.
// PES: 1 2 4 7
// NODES: 1
#include "../check.h"

#include <pthread.h>
#include <shoal.h>

enum { MESSAGE = 1, REPLACED, TALK = 300, ROUNDS = 50, TIMES = 20000 };

static int got;
static long sent; // at PE 0

static void on_message(const shoal_am_t *am)
{
    (void)am;
    got++;
}

static void one_look(int round)
{
    shmem_barrier_all();
    while (me == 0 && shoal_progress() > 0)
        ;
    got = 0;
    shmem_barrier_all();
    if (me != 0) {
        CHECK_EQ(shoal_am_request(0, MESSAGE, 0, NULL, 0), SHOAL_OK);
        shmem_long_atomic_inc(&sent, 0);
        return;
    }
    while (__atomic_load_n(&sent, __ATOMIC_ACQUIRE) < (long)(npes - 1) * round)
        sched_yield(); // and no call of the library
    int before = got; // in the barrier, of those that had left it
    CHECK(shoal_progress() >= npes - 1 - before); // the library's own messages, of rings, count too
    CHECK_EQ(got, npes - 1);
}

// ---- Replaced
static int first, second;

static void on_first(const shoal_am_t *am)
{
    CHECK(am->user == &first);
    got++;
}

static void on_second(const shoal_am_t *am)
{
    CHECK(am->user == &second);
    got++;
}

static void *replace(void *unused)
{
    for (int i = 0; i < TIMES; i++) {
        CHECK_EQ(shoal_am_register(REPLACED, on_first, &first), SHOAL_OK);
        CHECK_EQ(shoal_am_register(REPLACED, on_second, &second), SHOAL_OK);
    }
    return unused;
}

static void while_replaced(void)
{
    pthread_t thread;
    got = 0;
    CHECK_EQ(shoal_am_register(REPLACED, on_first, &first), SHOAL_OK);
    CHECK_EQ(pthread_create(&thread, NULL, replace, NULL), 0);
    for (int i = 0; i < TIMES; i++) {
        CHECK_EQ(shoal_am_request(me, REPLACED, 0, NULL, 0), SHOAL_OK);
        while (got <= i)
            shoal_progress();
    }
    pthread_join(thread, NULL);
}

int main(void)
{
    check_start();
    shoal_init();
    CHECK_EQ(shoal_am_register(MESSAGE, on_message, NULL), SHOAL_OK);
    shmem_barrier_all();
    for (int i = 0; i < TALK && me != 0; i++)
        CHECK_EQ(shoal_am_request(0, MESSAGE, 0, NULL, 0), SHOAL_OK);
    for (int round = 1; round <= ROUNDS; round++)
        one_look(round);
    while_replaced();
    shoal_finalize();
    return check_done();
}
